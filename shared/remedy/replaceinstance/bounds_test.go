package replaceinstance

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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
		}, action.CouldNotLook},
		{"HealthCheck is suspended", remedytest.Suspended("HealthCheck"), action.Suspended},
		{"an instance refresh: the nodegroup is being made", func(s *snapshot.Snapshot, _ *action.Subject) { s.Nodegroups[0].Status = "CREATING" }, action.AnotherChange},
		{"a status that is not known", func(s *snapshot.Snapshot, _ *action.Subject) { s.Nodegroups[0].Status = "WOBBLING" }, action.AnotherChange},
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
