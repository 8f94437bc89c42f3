package replaceinstance

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/checks/finding"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/shared/spec"
)

func TestWrongTargets(t *testing.T) {
	standing := func(x outcome.LaunchStatus) func(*snapshot.Snapshot, *action.Subject) {
		return func(_ *snapshot.Snapshot, of *action.Subject) { of.Launches[0].Status = x }
	}
	p := remedytest.Refuses(t, Remedy(), healed, checks.All(), []remedytest.Wrong{
		{"the incident's cause is there", func(_ *snapshot.Snapshot, of *action.Subject) { of.Cleared = time.Time{} }, remedy.CauseIsThere},
		{"the cause is back", func(s *snapshot.Snapshot, _ *action.Subject) {
			snapshottest.Table(s, snapshottest.PrivateRTB).Routes = []snapshot.Route{snapshottest.Local()}
		}, remedy.CauseIsThere},
		{"what the check needs was not read", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Without(s, snapshot.RouteTables) }, remedy.CouldNotLook},
		{"the check judges nothing", func(_ *snapshot.Snapshot, of *action.Subject) { of.Check = "x/y" }, remedy.CouldNotLook},
		{"it is gone since a minute", func(s *snapshot.Snapshot, of *action.Subject) { of.Cleared = s.Time.Add(-time.Minute) }, remedy.TooSoon},

		{"no launch", func(_ *snapshot.Snapshot, of *action.Subject) { of.Launches = nil }, remedy.NothingToDo},
		{"it is waited for", standing(outcome.Waiting), remedy.NothingToDo},
		{"it joined", standing(outcome.Joined), remedy.NothingToDo},
		{"it is gone", standing(outcome.Gone), remedy.NothingToDo},
		{"a standing that is not known", standing("resting"), remedy.NothingToDo},
		{"EC2 no longer returns it", remedytest.Instance(func(i *snapshot.Instance) { i.ID = "i-0other" }), remedy.Gone},
		{"it stops", remedytest.Instance(func(i *snapshot.Instance) { i.State = "stopping" }), NotRunning},
		{"it has ended", remedytest.Instance(func(i *snapshot.Instance) { i.State = "terminated" }), NotRunning},
		{"it is another cluster's", remedytest.Instance(func(i *snapshot.Instance) { delete(i.Tags, "kubernetes.io/cluster/prod") }), remedy.OtherCluster},
		{"it was launched after the cause was gone", remedytest.Instance(func(i *snapshot.Instance) { i.Launched = snapshottest.Now().Add(-4 * time.Minute) }), LaterLaunch},
		{"when it was launched is not known", remedytest.Instance(func(i *snapshot.Instance) { i.Launched = time.Time{} }), LaterLaunch},
		{"it is in no group", remedytest.Instance(func(i *snapshot.Instance) { delete(i.Tags, "aws:autoscaling:groupName") }), remedy.NotTheGroups},
		{"its group was not read", remedytest.Instance(func(i *snapshot.Instance) { i.Tags["aws:autoscaling:groupName"] = "eks-other" }), remedy.CouldNotLook},

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
		}, remedy.OtherCluster},
		{"the group does not have it", remedytest.Member(func(m *snapshot.GroupInstance) { m.ID = "i-0other" }), remedy.NotTheGroups},
		{"it is in the warm pool", func(s *snapshot.Snapshot, _ *action.Subject) { s.Groups[0].Warm = []string{remedytest.Stuck} }, remedy.NotTheGroups},
		{"it waits for a lifecycle hook", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Pending:Wait" }), NotInGroup},
		{"it ends", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Terminating:Wait" }), NotInGroup},
		{"it is on standby", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "Standby" }), NotInGroup},
		{"its lifecycle is not known", remedytest.Member(func(m *snapshot.GroupInstance) { m.Lifecycle = "" }), NotInGroup},
		{"it is protected", remedytest.Member(func(m *snapshot.GroupInstance) { m.Protected = true }), Protected},
		{"the group is at zero", func(s *snapshot.Snapshot, _ *action.Subject) { s.Groups[0].Desired = 0 }, remedy.GroupScales},
		{"the group shrinks", func(s *snapshot.Snapshot, _ *action.Subject) { s.Groups[0].Desired = 1 }, remedy.GroupScales},
		{"Launch is suspended", remedytest.Suspended("Launch"), remedy.Suspended},
		{"Terminate is suspended", remedytest.Suspended("Terminate"), remedy.Suspended},
		{"ReplaceUnhealthy is suspended", remedytest.Suspended("ReplaceUnhealthy"), remedy.Suspended},
		{"the nodegroup is updated", func(s *snapshot.Snapshot, _ *action.Subject) { s.Nodegroups[0].Status = "UPDATING" }, remedy.AnotherChange},
	})
	want := &remedy.ReplaceInstance{Instances: []remedy.Replaced{{Instance: remedytest.Stuck, Group: "eks-workers", Nodegroup: "workers", Zone: "us-west-2a"}}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	w := remedytest.Words(t, p)
	if got, want := w.Commands[0], "aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 --instance-id i-0stuck --no-should-decrement-desired-capacity"; got != want {
		t.Errorf("command %s", got)
	}
}

func TestBounds(t *testing.T) {
	second := func(s *snapshot.Snapshot, of *action.Subject) *snapshot.Instance {
		snapshottest.Launch(s, "i-0second", snapshottest.Private, 15*time.Minute)
		s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: "i-0second", Lifecycle: "InService"})
		s.Groups[0].Desired = 3
		of.Launches = append(of.Launches, outcome.Launch{Instance: "i-0second", Started: s.Time.Add(-15 * time.Minute), Status: outcome.Missed})
		return snapshottest.Instance(s, "i-0second")
	}
	remedytest.Refuses(t, Remedy(), healed, checks.All(), []remedytest.Wrong{
		{"report saw it start after the cause was gone", func(s *snapshot.Snapshot, of *action.Subject) { of.Launches[0].Started = s.Time.Add(-time.Minute) }, LaterLaunch},
		{"a node has its id for a name", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: remedytest.Stuck})
		}, IsNode},
		{"the group of another one was not read", func(s *snapshot.Snapshot, of *action.Subject) {
			second(s, of).Tags["aws:autoscaling:groupName"] = "eks-other"
		}, remedy.CouldNotLook},
		{"HealthCheck is suspended", remedytest.Suspended("HealthCheck"), remedy.Suspended},
		{"an instance refresh: the nodegroup is being made", func(s *snapshot.Snapshot, _ *action.Subject) { s.Nodegroups[0].Status = "CREATING" }, remedy.AnotherChange},
		{"a status that is not known", func(s *snapshot.Snapshot, _ *action.Subject) { s.Nodegroups[0].Status = "WOBBLING" }, remedy.AnotherChange},
	})
	remedytest.Allows(t, Remedy(), healed, checks.All(), []remedytest.Harmless{
		{"the check finds the cause elsewhere", func(s *snapshot.Snapshot, _ *action.Subject) {
			sub := *snapshottest.Subnet(s, snapshottest.Private)
			sub.ID = "subnet-0new"
			s.Subnets = append(s.Subnets, sub)
			s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: "rtb-0new", VPC: snapshottest.VPC, Subnets: []string{"subnet-0new"}, Routes: []snapshot.Route{snapshottest.Local()}})
			snapshottest.Launch(s, "i-0lost", "subnet-0new", 20*time.Minute)
		}},
		{"a Fargate node", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "fargate-ip-10-42-1-1", InternalIP: netip.MustParseAddr("10.42.1.1")}, snapshot.Node{Name: "hybrid"})
		}},
		{"another instance's node has its address and its name", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Nodes = append(s.Nodes, snapshot.Node{
				Name: "ip-10-42-192-10.us-west-2.compute.internal", Instance: "i-0other", InternalIP: netip.MustParseAddr("10.42.192.10"),
			})
		}},
		{"neither it nor a node has an address", func(s *snapshot.Snapshot, _ *action.Subject) {
			snapshottest.Instance(s, remedytest.Stuck).PrivateIP = netip.Addr{}
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "hybrid"})
		}},
		{"neither it nor a node has a name", func(s *snapshot.Snapshot, _ *action.Subject) {
			snapshottest.Instance(s, remedytest.Stuck).PrivateDNS = ""
			s.Nodes = append(s.Nodes, snapshot.Node{InternalIP: netip.MustParseAddr("10.42.1.1")})
		}},
		{"one that joined was launched before", func(s *snapshot.Snapshot, of *action.Subject) {
			joined := outcome.Launch{Instance: snapshottest.Node, Started: s.Time.Add(-time.Hour), Status: outcome.Joined}
			of.Launches = append([]outcome.Launch{joined}, of.Launches...)
		}},
		{"it is named twice", func(_ *snapshot.Snapshot, of *action.Subject) { of.Launches = append(of.Launches, of.Launches[0]) }},
		{"another one may not be ended", func(s *snapshot.Snapshot, of *action.Subject) { second(s, of).State = "stopping" }},
		{"another nodegroup is being updated", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Nodegroups = append(s.Nodegroups, snapshot.Nodegroup{Name: "other", Status: "UPDATING", Groups: []string{"eks-other"}})
		}},
		{"its nodegroup is degraded", func(s *snapshot.Snapshot, _ *action.Subject) { s.Nodegroups[0].Status = "DEGRADED" }},
	})
}

// Which node it is is said, however it was known.
func TestSaysWhichNode(t *testing.T) {
	for _, test := range []struct {
		name string
		node snapshot.Node
	}{
		{"by its id", snapshot.Node{Name: "n", Instance: remedytest.Stuck}},
		{"by its address", snapshot.Node{Name: "n", InternalIP: netip.MustParseAddr("10.42.192.10")}},
		{"by its name", snapshot.Node{Name: "IP-10-42-192-10.us-west-2.compute.internal"}},
	} {
		s, of := healed()
		s.Nodes = append(s.Nodes, test.node)
		p, no := remedytest.Make(Remedy(), s, of, checks.All())
		want := &action.Refusal{Reason: IsNode, Says: "i-0stuck has registered as node " + test.node.Name + "."}
		if diff := cmp.Diff(want, no); diff != "" {
			t.Errorf("%s: planned %+v (-want +got):\n%s", test.name, p, diff)
		}
	}
}

// Where none of several may be ended, why the oldest may not is said.
func TestSaysOfTheOldest(t *testing.T) {
	s, of := healed()
	snapshottest.Launch(s, "i-0older", snapshottest.Private, time.Hour)
	snapshottest.Instance(s, "i-0older").State = "stopping"
	of.Launches = append(of.Launches, outcome.Launch{Instance: "i-0older", Started: s.Time.Add(-time.Hour), Status: outcome.Missed})
	s.Groups[0].Instances[1].Protected = true
	p, no := remedytest.Make(Remedy(), s, of, checks.All())
	if diff := cmp.Diff(&action.Refusal{Reason: NotRunning, Says: "i-0older is stopping."}, no); diff != "" {
		t.Errorf("planned %+v (-want +got):\n%s", p, diff)
	}
}

// A plan takes no more than the limit of an hour leaves, and never more than five;
// how many are left is known.
func TestMostAndLeft(t *testing.T) {
	for _, test := range []struct {
		stuck, most, want, left int
	}{
		{7, 0, 5, 2}, {7, 9, 5, 2}, {7, 2, 2, 5}, {5, 0, 5, 0}, {1, 0, 1, 0}, {1, 1, 1, 0},
	} {
		s, of := healed()
		of.Launches, of.Most = nil, test.most
		for n := range test.stuck {
			id := fmt.Sprintf("i-0n%d", n)
			snapshottest.Launch(s, id, snapshottest.Private, time.Hour)
			s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: id, Lifecycle: "InService"})
			of.Launches = append(of.Launches, outcome.Launch{Instance: id, Started: s.Time.Add(-time.Hour), Status: outcome.Missed})
		}
		s.Groups[0].Desired = len(s.Groups[0].Instances)
		p, no := remedytest.Make(Remedy(), s, of, checks.All())
		if no != nil {
			t.Fatalf("%+v: %s", test, no.Says)
		}
		left := Remedy().Left(action.Look{Snapshot: s, Subject: of, Checks: checks.All()})
		if len(p.Instances) != test.want || left != test.left {
			t.Errorf("%+v: %d planned, %d left", test, len(p.Instances), left)
		}
	}
	s, of := healed()
	of.Cleared = time.Time{}
	if left := Remedy().Left(action.Look{Snapshot: s, Subject: of, Checks: checks.All()}); left != 0 {
		t.Errorf("the cause is there: %d left, want none", left)
	}
}

// There is a choice to be made in this world.
func TestSameInAnyOrder(t *testing.T) {
	remedytest.SameInAnyOrder(t, Remedy(), healed, checks.All())
}

func TestApplied(t *testing.T) {
	remedytest.Applied(t, Remedy(), healed, snapshot.Instances,
		func(s *snapshot.Snapshot) { snapshottest.Instance(s, remedytest.Stuck).State = "shutting-down" },
		func(s *snapshot.Snapshot) { snapshottest.Instance(s, remedytest.Stuck).State = "stopping" })
	remedytest.Applied(t, Remedy(), healed, snapshot.Instances,
		func(s *snapshot.Snapshot) { snapshottest.Instance(s, remedytest.Stuck).State = "terminated" },
		func(s *snapshot.Snapshot) { snapshottest.Instance(s, remedytest.Stuck).State = "stopped" })
	// As its group has it.
	remedytest.Applied(t, Remedy(), healed, snapshot.Instances,
		func(s *snapshot.Snapshot) { s.Groups[0].Instances[1].Lifecycle = "Terminating:Wait" },
		func(s *snapshot.Snapshot) { s.Groups[0].Instances[0].Lifecycle = "Terminating" })
}

// ended keeps which instances were ended; from a number of them on, an answer is
// another one.
type ended struct {
	ids    []string
	from   int
	answer action.Answer
}

func (e *ended) EndInGroup(_ context.Context, id string) action.Answer {
	e.ids = append(e.ids, id)
	a := action.Answer{Outcome: action.Done}
	if len(e.ids) >= e.from {
		a = e.answer
	}
	a.Request = fmt.Sprintf("r-%d", len(e.ids))
	return a
}

// The first instance that AWS does not end stops the rest; what was ended before is
// said.
func TestDo(t *testing.T) {
	three := remedy.ReplaceInstance{Instances: []remedy.Replaced{{Instance: "i-1"}, {Instance: "i-2"}, {Instance: "i-3"}}}
	const nothing, unknown = "Nothing was changed: AWS returned Broken: because", "No response confirms whether it was done."
	for _, test := range []struct {
		outcome action.Outcome
		from    int
		want    action.Result
	}{
		{action.Done, 9, action.Result{Status: remedy.Done, Changed: []string{"i-1", "i-2", "i-3"}, Requests: []string{"r-1", "r-2", "r-3"}}},
		{action.Refused, 1, action.Result{Status: remedy.Failed, Reason: "Broken", Says: nothing, Requests: []string{"r-1"}}},
		{action.Refused, 2, action.Result{
			Status: remedy.Partly, Reason: "Broken", Says: "1 of 3 instances were terminated; then AWS returned Broken.", Changed: []string{"i-1"}, Requests: []string{"r-1", "r-2"},
		}},
		{action.Denied, 3, action.Result{
			Status: remedy.Partly, Reason: "Broken", Says: "2 of 3 instances were terminated; then AWS returned Broken.", Changed: []string{"i-1", "i-2"}, Requests: []string{"r-1", "r-2", "r-3"},
		}},
		{action.Uncertain, 1, action.Result{Status: remedy.Uncertain, Reason: "Broken", Says: unknown, Requests: []string{"r-1"}}},
		{action.Uncertain, 2, action.Result{Status: remedy.Uncertain, Reason: "Broken", Says: unknown, Changed: []string{"i-1"}, Requests: []string{"r-1", "r-2"}}},
	} {
		e := &ended{from: test.from, answer: action.Answer{Outcome: test.outcome, Code: "Broken", Message: "because"}}
		got := do(t.Context(), e, three, remedy.Place{}, "token")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s at %d (-want +got):\n%s", test.outcome, test.from, diff)
		}
		if diff := cmp.Diff([]string{"i-1", "i-2", "i-3"}[:min(test.from, 3)], e.ids); diff != "" {
			t.Errorf("%s at %d: asked (-want +got):\n%s", test.outcome, test.from, diff)
		}
	}
}

func TestGrants(t *testing.T) {
	got := grants(action.OptIn{Clusters: []string{"prod"}, Any: []string{"prod"}})
	want := []spec.Grant{{
		Sid: "ChangeGroups1", Why: "replace-instance terminates instances that did not join through their Auto Scaling group, which launches replacements.",
		Actions: []string{"autoscaling:TerminateInstanceInAutoScalingGroup"}, Resources: []spec.Resource{"arn:${Partition}:autoscaling:${Region}:${Account}:autoScalingGroup:*"},
		Conditions: map[string]map[string][]string{"StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/prod": {"owned"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
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
	remedytest.Words(t, p)
	of.Cleared = s.Time.Add(-time.Minute)
	if _, no := remedytest.Make(Remedy(), s, of, checks.All()); no == nil || !no.Again.Equal(of.Cleared.Add(Settle)) {
		t.Errorf("too soon: %+v", no)
	}
}

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), healed, finding.Finding{Outcome: finding.Pass, Resource: snapshottest.PrivateRTB},
		snapshot.Clusters, snapshot.Instances, snapshot.Groups, snapshot.Nodes, snapshot.Nodegroups)
}

func TestWords(t *testing.T) {
	three := []remedy.Replaced{
		{Instance: "i-1", Group: "eks-workers", Nodegroup: "workers", Zone: "us-west-2a"},
		{Instance: "i-2", Group: "eks-workers", Nodegroup: "workers", Zone: "us-west-2b"},
		{Instance: "i-3", Group: "eks-workers", Nodegroup: "workers", Zone: "us-west-2c"},
	}
	steps := []string{
		"Terminate i-1 (workers, us-west-2a) through its Auto Scaling group eks-workers, which launches a replacement: desired capacity is unchanged.",
		"Terminate i-2 (workers, us-west-2b) through its Auto Scaling group eks-workers, which launches a replacement: desired capacity is unchanged.",
		"Terminate i-3 (workers, us-west-2c) through its Auto Scaling group eks-workers, which launches a replacement: desired capacity is unchanged.",
	}
	commands := []string{
		"aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 --instance-id i-1 --no-should-decrement-desired-capacity",
		"aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 --instance-id i-2 --no-should-decrement-desired-capacity",
		"aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 --instance-id i-3 --no-should-decrement-desired-capacity",
	}
	for n, title := range map[int]string{1: "Replace i-1", 2: "Replace i-1 and i-2", 3: "Replace 3 instances that did not join"} {
		want := remedy.Words{
			Title: title, Steps: steps[:n], Commands: commands[:n],
			Undo: []string{"A terminated instance cannot be restored; its group launches a replacement."},
			Cost: "Everything on the instance is lost. No pods run on it, because it never became a node.",
		}
		if diff := cmp.Diff(want, remedy.ReplaceInstance{Instances: three[:n]}.Words(remedy.Place{Region: "us-west-2", Cluster: "prod"})); diff != "" {
			t.Errorf("%d (-want +got):\n%s", n, diff)
		}
	}
}
