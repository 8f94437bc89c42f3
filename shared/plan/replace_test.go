package plan

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// healed is a world whose route is there again, and an instance that missed the
// roll call before.
func healed() (*snapshot.Snapshot, Subject) {
	s := snapshottest.PrivateWithNAT()
	missed(s)
	s.Groups[0].Desired = 2
	s.Groups[0].Instances = []snapshot.GroupInstance{{ID: snapshottest.Node, Lifecycle: "InService"}, {ID: stuck, Lifecycle: "InService"}}
	return s, Subject{
		Remedy: ReplaceInstance, Cluster: snapshottest.ClusterName, Check: "route/no-egress", Resource: snapshottest.PrivateRTB,
		Covers: []string{snapshottest.Private}, Cleared: s.Time.Add(-5 * time.Minute), Launches: launchOf(s, outcome.Missed),
	}
}

func member(change func(*snapshot.GroupInstance)) func(*snapshot.Snapshot, *Subject) {
	return func(s *snapshot.Snapshot, _ *Subject) { change(&s.Groups[0].Instances[1]) }
}

func suspended(process string) func(*snapshot.Snapshot, *Subject) {
	return func(s *snapshot.Snapshot, _ *Subject) {
		s.Groups[0].Suspended = []snapshot.Suspended{{Process: process}}
	}
}

func instance(change func(*snapshot.Instance)) func(*snapshot.Snapshot, *Subject) {
	return func(s *snapshot.Snapshot, _ *Subject) { change(snapshottest.Instance(s, stuck)) }
}

func TestReplaceInstanceRefuses(t *testing.T) {
	standing := func(x outcome.Standing) func(*snapshot.Snapshot, *Subject) {
		return func(_ *snapshot.Snapshot, of *Subject) { of.Launches[0].Standing = x }
	}
	p := refuses(t, healed, checks.All(), []wrong{
		{"the incident's cause is there", func(_ *snapshot.Snapshot, of *Subject) { of.Cleared = time.Time{} }, CauseIsThere},
		{"the cause is back", func(s *snapshot.Snapshot, _ *Subject) {
			snapshottest.Table(s, snapshottest.PrivateRTB).Routes = []snapshot.Route{snapshottest.Local()}
		}, CauseIsThere},
		{"what the check needs was not read", func(s *snapshot.Snapshot, _ *Subject) { snapshottest.Without(s, snapshot.RouteTables) }, CouldNotLook},
		{"the check judges nothing", func(_ *snapshot.Snapshot, of *Subject) { of.Check = "x/y" }, CouldNotLook},
		{"it is gone since a minute", func(s *snapshot.Snapshot, of *Subject) { of.Cleared = s.Time.Add(-time.Minute) }, TooSoon},

		{"no launch", func(_ *snapshot.Snapshot, of *Subject) { of.Launches = nil }, NothingToDo},
		{"it is waited for", standing(outcome.Waiting), NothingToDo},
		{"it joined", standing(outcome.Joined), NothingToDo},
		{"it is gone", standing(outcome.Gone), NothingToDo},
		{"a standing that is not known", standing("resting"), NothingToDo},
		{"EC2 does not describe it", instance(func(i *snapshot.Instance) { i.ID = "i-0other" }), Gone},
		{"it stops", instance(func(i *snapshot.Instance) { i.State = "stopping" }), NotRunning},
		{"it has ended", instance(func(i *snapshot.Instance) { i.State = "terminated" }), NotRunning},
		{"it is another cluster's", instance(func(i *snapshot.Instance) { delete(i.Tags, "kubernetes.io/cluster/prod") }), OtherCluster},
		{"it was launched after the cause was gone", instance(func(i *snapshot.Instance) { i.Launched = snapshottest.Now().Add(-4 * time.Minute) }), LaterLaunch},
		{"when it was launched is not known", instance(func(i *snapshot.Instance) { i.Launched = time.Time{} }), LaterLaunch},
		{"it is in no group", instance(func(i *snapshot.Instance) { delete(i.Tags, "aws:autoscaling:groupName") }), NotTheGroups},
		{"its group was not read", instance(func(i *snapshot.Instance) { i.Tags["aws:autoscaling:groupName"] = "eks-other" }), CouldNotLook},

		{"it is a Ready node", func(s *snapshot.Snapshot, _ *Subject) { snapshottest.Join(s, stuck) }, IsNode},
		{"it is a node that is not Ready", func(s *snapshot.Snapshot, _ *Subject) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "n", Instance: stuck})
		}, IsNode},
		{"a node without an instance has its address", func(s *snapshot.Snapshot, _ *Subject) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "n", InternalIP: netip.MustParseAddr("10.42.192.10")})
		}, IsNode},
		{"a node without an instance has its name", func(s *snapshot.Snapshot, _ *Subject) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "IP-10-42-192-10.us-west-2.compute.internal"})
		}, IsNode},

		{"the group is not the cluster's", func(s *snapshot.Snapshot, _ *Subject) { s.Groups[0].Tags["kubernetes.io/cluster/prod"] = "shared" }, OtherCluster},
		{"the group does not have it", member(func(m *snapshot.GroupInstance) { m.ID = "i-0other" }), NotTheGroups},
		{"it is in the warm pool", func(s *snapshot.Snapshot, _ *Subject) { s.Groups[0].Warm = []string{stuck} }, NotTheGroups},
		{"it waits for a lifecycle hook", member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Pending:Wait" }), NotInGroup},
		{"it ends", member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Terminating:Wait" }), NotInGroup},
		{"it is on standby", member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Standby" }), NotInGroup},
		{"its lifecycle is not known", member(func(m *snapshot.GroupInstance) { m.Lifecycle = "" }), NotInGroup},
		{"it is protected", member(func(m *snapshot.GroupInstance) { m.Protected = true }), Protected},
		{"the group is at zero", func(s *snapshot.Snapshot, _ *Subject) { s.Groups[0].Desired = 0 }, GroupScales},
		{"the group shrinks", func(s *snapshot.Snapshot, _ *Subject) { s.Groups[0].Desired = 1 }, GroupScales},
		{"Launch is suspended", suspended("Launch"), Suspended},
		{"Terminate is suspended", suspended("Terminate"), Suspended},
		{"ReplaceUnhealthy is suspended", suspended("ReplaceUnhealthy"), Suspended},
		{"the nodegroup is updated", func(s *snapshot.Snapshot, _ *Subject) { s.Nodegroups[0].Status = "UPDATING" }, AnotherChange},
	})
	want := &Replace{Instances: []Replaced{{Instance: stuck, Group: "eks-workers", Nodegroup: "workers", Zone: "us-west-2a"}}}
	if diff := cmp.Diff(want, p.Replace); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	wordsAreWhole(t, p)
	if got, want := p.Commands()[0], "aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 --instance-id i-0stuck --no-should-decrement-desired-capacity"; got != want {
		t.Errorf("command %s", got)
	}
}

// The oldest come first, and no more than five at once; one that may not be
// ended does not keep the others.
func TestReplaceInstanceTakesTheOldest(t *testing.T) {
	s, of := healed()
	of.Launches = nil
	for i := range 8 {
		id := fmt.Sprintf("i-0stuck%d", i)
		snapshottest.Launch(s, id, snapshottest.Private, time.Duration(60-i)*time.Minute)
		s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: id, Lifecycle: "InService"})
		of.Launches = append([]Launch{{Instance: id, Started: s.Time.Add(-time.Duration(60-i) * time.Minute), Standing: outcome.GivenUp}}, of.Launches...)
	}
	s.Groups[0].Desired = 10
	s.Groups[0].Instances[3].Protected = true // i-0stuck1
	p, no := Make(s, of)
	if no != nil {
		t.Fatal(no.Says)
	}
	var got []string
	for _, r := range p.Replace.Instances {
		got = append(got, r.Instance)
	}
	if diff := cmp.Diff([]string{"i-0stuck0", "i-0stuck2", "i-0stuck3", "i-0stuck4", "i-0stuck5"}, got); diff != "" {
		t.Errorf("instances (-want +got):\n%s", diff)
	}
	wordsAreWhole(t, p)
	of.Cleared = s.Time.Add(-time.Minute)
	if _, no := Make(s, of); no == nil || !no.Again.Equal(of.Cleared.Add(Settle)) {
		t.Errorf("too soon: %+v", no)
	}
}
