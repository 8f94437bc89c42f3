package spot

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func recommended(after time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Launches[0].Rebalance = s.Launches[0].Started.Add(after) }
}

func explained(by checkid.ID) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Launches[0].Cause = by }
}

func TestReclaimedBeforeJoin(t *testing.T) {
	checktest.RunCases(t, ReclaimedBeforeJoin(), reclaimedBeforeJoinCases())
}

func reclaimedBeforeJoinCases() []checktest.Case {
	const user, spot = "Client.UserInitiatedShutdown", "Server.SpotInstanceTermination"
	fail := []string{"fail workers [i-0node] [i-0node] i-0node was taken back by EC2 before it was a node"}
	pass := []string{"pass prod [i-0node]"}
	terminate := checktest.Terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 instance rebalance recommendation.")
	scaleIn := checktest.Terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0.")
	running := func() *snapshot.Snapshot {
		s := snapshottest.PrivateWithNAT()
		snapshottest.Unjoin(s, snapshottest.Node)
		return s
	}
	return []checktest.Case{
		{"running", snapshottest.PrivateWithNAT(), pass},
		{"running, no node yet", running(), pass},
		{"EC2's reason", checktest.Ended(spot, 2*time.Minute), fail},
		{"EC2's reason, past its time to join, no cause found", checktest.Ended(spot, 8*time.Minute), fail},
		{"EC2's reason, past its time to join, for a cause that was found", checktest.Change(checktest.Ended(spot, 8*time.Minute), explained("route/no-egress")), nil},
		{"EC2's reason, past its time to join, nodes unread", checktest.Change(checktest.Ended(spot, 8*time.Minute), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [i-0node] nodes: denied"}},
		{"its group took it out of service past its time: it served", checktest.Change(checktest.Ended(spot, 8*time.Minute), terminate), nil},
		{"nobody waited for it", checktest.Change(checktest.Ended(spot, time.Minute), func(s *snapshot.Snapshot) { s.Launches = nil }), nil},
		{"it was a node", checktest.Change(checktest.Ended(spot, 3*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"an event says that it was a node", checktest.Change(checktest.Ended(spot, 4*time.Minute), checktest.Event("RegisteredNode", "ip-10-42-192-10.us-west-2.compute.internal", 7*time.Minute)), pass},
		{"warned, then ended by a call", checktest.Change(checktest.Ended(user, 3*time.Minute), checktest.Noticed(90*time.Second)), fail},
		{"warned, and still there", checktest.Change(running(), checktest.Noticed(9*time.Minute)), fail},
		{"warned long ago, and still there", checktest.Change(running(), func(s *snapshot.Snapshot) { s.Launches[0].Noticed = s.Time.Add(-11 * time.Minute) }), pass},
		{"ended by a call", checktest.Ended(user, time.Minute), pass},
		{"replaced as EC2 recommended", checktest.Change(checktest.Ended(user, 3*time.Minute), recommended(time.Minute), terminate), fail},
		{"recommended, and scaled in", checktest.Change(checktest.Ended(user, 3*time.Minute), recommended(time.Minute), scaleIn), pass},
		{"recommended, and nothing more", checktest.Change(running(), recommended(time.Minute)), pass},
		{"recommended, and ended by its group or by a person", checktest.Change(checktest.Ended(user, 3*time.Minute), recommended(time.Minute), checktest.Unread(snapshot.Activities)), []string{
			"unknown prod [i-0node] scaling activities: denied",
		}},
		{"recommended, ended, and the activities do not reach back", checktest.Change(checktest.Ended(user, 3*time.Minute), recommended(time.Minute), func(s *snapshot.Snapshot) { s.Activities = nil }), []string{
			"unknown prod [i-0node] scaling activities: not read: the scaling activities that were read do not go back to the launch: its group may have replaced it as EC2 recommended",
		}},
	}
}

func TestReclaimedWords(t *testing.T) {
	got := checktest.Failed(t, ReclaimedBeforeJoin(), checktest.Change(checktest.Ended("Client.UserInitiatedShutdown", 3*time.Minute), checktest.Noticed(90*time.Second)))
	if want := "EC2 warned at 14:51:30 UTC"; !strings.Contains(got.Why, want) {
		t.Errorf("Why = %q, want %q in it", got.Why, want)
	}
	if want := "More instance types and zones"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Fix = %q, want %q in it", got.Fix.Text, want)
	}
}
