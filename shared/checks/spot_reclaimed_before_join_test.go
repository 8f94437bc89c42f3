package checks

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// noticed is a warning some time after the launch, rebalanced a recommendation.
func noticed(after time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Launches[0].Noticed = s.Launches[0].Started.Add(after) }
}

func recommended(after time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Launches[0].Rebalance = s.Launches[0].Started.Add(after) }
}

func explained(by string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Launches[0].Cause = by }
}

func TestReclaimedBeforeJoin(t *testing.T) {
	runCases(t, reclaimedBeforeJoin(), reclaimedBeforeJoinCases())
}

func reclaimedBeforeJoinCases() []testCase {
	const user, spot = "Client.UserInitiatedShutdown", "Server.SpotInstanceTermination"
	fail := []string{"fail workers [i-0node] [i-0node] i-0node was taken back by EC2 before it was a node"}
	pass := []string{"pass prod [i-0node]"}
	terminate := terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 instance rebalance recommendation.")
	scaleIn := terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0.")
	running := func() *snapshot.Snapshot {
		s := snapshottest.PrivateWithNAT()
		snapshottest.Unjoin(s, snapshottest.Node)
		return s
	}
	return []testCase{
		{"running", snapshottest.PrivateWithNAT(), pass},
		{"running, no node yet", running(), pass},
		{"EC2's reason", ended(spot, 2*time.Minute), fail},
		{"EC2's reason, past its time to join, no cause found", ended(spot, 8*time.Minute), fail},
		{"EC2's reason, past its time to join, for a cause that was found", change(ended(spot, 8*time.Minute), explained("route/no-egress")), nil},
		{"EC2's reason, past its time to join, nodes unread", change(ended(spot, 8*time.Minute), unread(snapshot.Nodes)), []string{"unknown prod [i-0node] nodes: denied"}},
		{"its group took it out of service past its time: it served", change(ended(spot, 8*time.Minute), terminate), nil},
		{"nobody waited for it", change(ended(spot, time.Minute), func(s *snapshot.Snapshot) { s.Launches = nil }), nil},
		{"it was a node", change(ended(spot, 3*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"an event says that it was a node", change(ended(spot, 4*time.Minute), event("RegisteredNode", "ip-10-42-192-10.us-west-2.compute.internal", 7*time.Minute)), pass},
		{"warned, then ended by a call", change(ended(user, 3*time.Minute), noticed(90*time.Second)), fail},
		{"warned, and still there", change(running(), noticed(9*time.Minute)), fail},
		{"warned long ago, and still there", change(running(), func(s *snapshot.Snapshot) { s.Launches[0].Noticed = s.Time.Add(-11 * time.Minute) }), pass},
		{"ended by a call", ended(user, time.Minute), pass},
		{"replaced as EC2 recommended", change(ended(user, 3*time.Minute), recommended(time.Minute), terminate), fail},
		{"recommended, and scaled in", change(ended(user, 3*time.Minute), recommended(time.Minute), scaleIn), pass},
		{"recommended, and nothing more", change(running(), recommended(time.Minute)), pass},
		{"recommended, and ended by its group or by a person", change(ended(user, 3*time.Minute), recommended(time.Minute), unread(snapshot.Activities)), []string{
			"unknown prod [i-0node] scaling activities: denied",
		}},
		{"recommended, ended, and the activities do not reach back", change(ended(user, 3*time.Minute), recommended(time.Minute), func(s *snapshot.Snapshot) { s.Activities = nil }), []string{
			"unknown prod [i-0node] scaling activities: not read: the scaling activities that were read do not go back to the launch: its group may have replaced it as EC2 recommended",
		}},
	}
}

// Nothing else accuses an instance that EC2 took back, and it is no end to look
// into.
func TestNothingAccusesWhatEC2TookBack(t *testing.T) {
	const user, spot = "Client.UserInitiatedShutdown", "Server.SpotInstanceTermination"
	worlds := map[string]func() *snapshot.Snapshot{
		"EC2's reason": func() *snapshot.Snapshot { return ended(spot, 2*time.Minute) },
		"warned":       func() *snapshot.Snapshot { return change(ended(user, 3*time.Minute), noticed(90*time.Second)) },
		"still there": func() *snapshot.Snapshot {
			s := snapshottest.PrivateWithNAT()
			snapshottest.Unjoin(s, snapshottest.Node)
			return change(s, noticed(9*time.Minute))
		},
	}
	for name, world := range worlds {
		s := world()
		for i := range s.RouteTables {
			s.RouteTables[i].Routes = s.RouteTables[i].Routes[:0]
		}
		told := false
		for _, r := range Eval(All(), s) {
			if r.Outcome != Fail {
				continue
			}
			told = told || r.Check == reclaimed
			if r.Check != reclaimed && (len(r.Instances) > 0) {
				t.Errorf("%s: %s accuses %v", name, r.Check, r.Instances)
			}
		}
		if !told {
			t.Errorf("%s: spot/reclaimed-before-join says nothing", name)
		}
	}
}

func TestReclaimedWords(t *testing.T) {
	got := failed(t, reclaimedBeforeJoin(), change(ended("Client.UserInitiatedShutdown", 3*time.Minute), noticed(90*time.Second)))
	if want := "EC2 warned at 14:51:30 UTC"; !strings.Contains(got.Why, want) {
		t.Errorf("Why = %q, want %q in it", got.Why, want)
	}
	if want := "More instance types and zones"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Fix = %q, want %q in it", got.Fix.Text, want)
	}
}
