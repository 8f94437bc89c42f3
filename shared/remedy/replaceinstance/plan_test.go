package replaceinstance

import (
	"fmt"
	"net/netip"

	"testing"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"

	"github.com/google/go-cmp/cmp"
)

func TestWrongTargets(t *testing.T) {
	standing := func(x outcome.LaunchStatus) func(*snapshot.Snapshot, *action.Subject) {
		return func(_ *snapshot.Snapshot, of *action.Subject) { of.Launches[0].Status = x }
	}
	p := remedytest.Refuses(t, Remedy(), healed, checks.All(), []remedytest.Wrong{
		{"the incident's cause is there", func(_ *snapshot.Snapshot, of *action.Subject) { of.Cleared = time.Time{} }, action.CauseIsThere},
		{"the cause is back", func(s *snapshot.Snapshot, _ *action.Subject) {
			snapshottest.Table(s, snapshottest.PrivateRTB).Routes = []snapshot.Route{snapshottest.Local()}
		}, action.CauseIsThere},
		{"what the check needs was not read", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Without(s, snapshot.RouteTables) }, action.CouldNotLook},
		{"the check judges nothing", func(_ *snapshot.Snapshot, of *action.Subject) { of.Check = "x/y" }, action.CouldNotLook},
		{"it is gone since a minute", func(s *snapshot.Snapshot, of *action.Subject) { of.Cleared = s.Time.Add(-time.Minute) }, action.TooSoon},

		{"no launch", func(_ *snapshot.Snapshot, of *action.Subject) { of.Launches = nil }, action.NothingToDo},
		{"it is waited for", standing(outcome.Waiting), action.NothingToDo},
		{"it joined", standing(outcome.Joined), action.NothingToDo},
		{"it is gone", standing(outcome.Gone), action.NothingToDo},
		{"a standing that is not known", standing("resting"), action.NothingToDo},
		{"EC2 does not describe it", remedytest.Instance(func(i *snapshot.Instance) { i.ID = "i-0other" }), action.Gone},
		{"it stops", remedytest.Instance(func(i *snapshot.Instance) { i.State = "stopping" }), NotRunning},
		{"it has ended", remedytest.Instance(func(i *snapshot.Instance) { i.State = "terminated" }), NotRunning},
		{"it is another cluster's", remedytest.Instance(func(i *snapshot.Instance) { delete(i.Tags, "kubernetes.io/cluster/prod") }), action.OtherCluster},
		{"it was launched after the cause was gone", remedytest.Instance(func(i *snapshot.Instance) { i.Launched = snapshottest.Now().Add(-4 * time.Minute) }), LaterLaunch},
		{"when it was launched is not known", remedytest.Instance(func(i *snapshot.Instance) { i.Launched = time.Time{} }), LaterLaunch},
		{"it is in no group", remedytest.Instance(func(i *snapshot.Instance) { delete(i.Tags, "aws:autoscaling:groupName") }), action.NotTheGroups},
		{"its group was not read", remedytest.Instance(func(i *snapshot.Instance) { i.Tags["aws:autoscaling:groupName"] = "eks-other" }), action.CouldNotLook},

		{"it is a Ready node", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Join(s, remedytest.Stuck) }, IsNode},
		{"it is a node that is not Ready", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "n", Instance: remedytest.Stuck})
		}, IsNode},
		{"a node without an instance has its address", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "n", InternalIP: netip.MustParseAddr("10.42.192.10")})
		}, IsNode},
		{"a node without an instance has its name", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "IP-10-42-192-10.us-west-2.compute.internal"})
		}, IsNode},

		{"the group is not the cluster's", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Groups[0].Tags["kubernetes.io/cluster/prod"] = "shared"
		}, action.OtherCluster},
		{"the group does not have it", remedytest.Member(func(m *snapshot.GroupInstance) { m.ID = "i-0other" }), action.NotTheGroups},
		{"it is in the warm pool", func(s *snapshot.Snapshot, _ *action.Subject) { s.Groups[0].Warm = []string{remedytest.Stuck} }, action.NotTheGroups},
		{"it waits for a lifecycle hook", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Pending:Wait" }), NotInGroup},
		{"it ends", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Terminating:Wait" }), NotInGroup},
		{"it is on standby", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Standby" }), NotInGroup},
		{"its lifecycle is not known", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "" }), NotInGroup},
		{"it is protected", remedytest.Member(func(m *snapshot.GroupInstance) { m.Protected = true }), Protected},
		{"the group is at zero", func(s *snapshot.Snapshot, _ *action.Subject) { s.Groups[0].Desired = 0 }, action.GroupScales},
		{"the group shrinks", func(s *snapshot.Snapshot, _ *action.Subject) { s.Groups[0].Desired = 1 }, action.GroupScales},
		{"Launch is suspended", remedytest.Suspended("Launch"), action.Suspended},
		{"Terminate is suspended", remedytest.Suspended("Terminate"), action.Suspended},
		{"ReplaceUnhealthy is suspended", remedytest.Suspended("ReplaceUnhealthy"), action.Suspended},
		{"the nodegroup is updated", func(s *snapshot.Snapshot, _ *action.Subject) { s.Nodegroups[0].Status = "UPDATING" }, action.AnotherChange},
	})
	want := &Plan{Instances: []Replaced{{Instance: remedytest.Stuck, Group: "eks-workers", Nodegroup: "workers", Zone: "us-west-2a"}}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	w := remedytest.Words(t, Remedy(), p)
	if got, want := w.Commands[0], "aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 --instance-id i-0stuck --no-should-decrement-desired-capacity"; got != want {
		t.Errorf("command %s", got)
	}
}

// healed is a world whose route is there again, and an instance that missed the
// roll call before.
func healed() (*snapshot.Snapshot, action.Subject) {
	s := snapshottest.PrivateWithNAT()
	remedytest.Missed(s)
	s.Groups[0].Desired = 2
	s.Groups[0].Instances = []snapshot.GroupInstance{{ID: snapshottest.Node, Lifecycle: "InService"}, {ID: remedytest.Stuck, Lifecycle: "InService"}}
	return s, action.Subject{
		Cluster: snapshottest.ClusterName, Check: "route/no-egress", Resource: snapshottest.PrivateRTB,
		Covers: []string{snapshottest.Private}, Cleared: s.Time.Add(-5 * time.Minute), Launches: remedytest.LaunchOf(s, outcome.Missed),
	}
}

// The oldest come first, and no more than five at once; one that may not be
// ended does not keep the others.
func TestTakesTheOldest(t *testing.T) {
	s, of := healed()
	of.Launches = nil
	for i := range 8 {
		id := fmt.Sprintf("i-0stuck%d", i)
		snapshottest.Launch(s, id, snapshottest.Private, time.Duration(60-i)*time.Minute)
		s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: id, Lifecycle: "InService"})
		of.Launches = append([]outcome.Launch{{Instance: id, Started: s.Time.Add(-time.Duration(60-i) * time.Minute), Status: outcome.GivenUp}}, of.Launches...)
	}
	s.Groups[0].Desired = 10
	s.Groups[0].Instances[3].Protected = true // i-0stuck1
	p, no := remedytest.Make(Remedy(), s, of, checks.All())
	if no != nil {
		t.Fatal(no.Says)
	}
	var got []string
	for _, r := range p.Instances {
		got = append(got, r.Instance)
	}
	if diff := cmp.Diff([]string{"i-0stuck0", "i-0stuck2", "i-0stuck3", "i-0stuck4", "i-0stuck5"}, got); diff != "" {
		t.Errorf("instances (-want +got):\n%s", diff)
	}
	remedytest.Words(t, Remedy(), p)
	of.Cleared = s.Time.Add(-time.Minute)
	if _, no := remedytest.Make(Remedy(), s, of, checks.All()); no == nil || !no.Again.Equal(of.Cleared.Add(Settle)) {
		t.Errorf("too soon: %+v", no)
	}
}
