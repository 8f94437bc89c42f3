package replaceinstance

import (
	"net/netip"

	"testing"
	"time"

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
		{"it is named twice", func(_ *snapshot.Snapshot, of *action.Subject) { of.Launches = append(of.Launches, of.Launches[0]) }},
		{"another one may not be ended", func(s *snapshot.Snapshot, of *action.Subject) { second(s, of).State = "stopping" }},
		{"another nodegroup is being updated", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Nodegroups = append(s.Nodegroups, snapshot.Nodegroup{Name: "other", Status: "UPDATING", Groups: []string{"eks-other"}})
		}},
		{"its nodegroup is degraded", func(s *snapshot.Snapshot, _ *action.Subject) { s.Nodegroups[0].Status = "DEGRADED" }},
	})
}

// There is a choice to be made in this world.
func TestSameInAnyOrder(t *testing.T) {
	remedytest.SameInAnyOrder(t, Remedy(), healed, checks.All())
}

func TestApplied(t *testing.T) {
	remedytest.Applied(t, Remedy(), healed, snapshot.Instances,
		func(s *snapshot.Snapshot) { snapshottest.Instance(s, remedytest.Stuck).State = "shutting-down" },
		func(s *snapshot.Snapshot) { snapshottest.Instance(s, remedytest.Stuck).State = "stopping" })
	// As its group has it.
	remedytest.Applied(t, Remedy(), healed, snapshot.Instances,
		func(s *snapshot.Snapshot) { s.Groups[0].Instances[1].Lifecycle = "Terminating:Wait" },
		func(s *snapshot.Snapshot) { s.Groups[0].Instances[0].Lifecycle = "Terminating" })
}
