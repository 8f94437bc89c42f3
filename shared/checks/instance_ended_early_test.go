package checks

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// ended is an instance that never was a node and ended some time after its
// launch ten minutes ago (it was due after five).
func ended(code string, after time.Duration) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	i := snapshottest.Instance(s, snapshottest.Node)
	i.State, i.Subnet = "terminated", ""
	i.StateReason = snapshot.StateReason{Code: code, Message: code + ": what EC2 says", When: i.Launched.Add(after)}
	s.Activities = []snapshot.Activity{{
		ID: "a-0", Group: "eks-workers", Instance: snapshottest.Node, About: "Launching a new EC2 instance: i-0node", Started: i.Launched,
	}}
	return s
}

func terminating(cause string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Activities = []snapshot.Activity{{
			ID: "a-1", Group: "eks-workers", Instance: snapshottest.Node, About: "Terminating EC2 instance: i-0node", Cause: cause,
		}}
	}
}

func endedEarlyCases() []testCase {
	const user, spot = "Client.UserInitiatedShutdown", "Server.SpotInstanceTermination"
	fail := []string{"fail workers [i-0node] [i-0node] i-0node ended before it was a node"}
	pass := []string{"pass prod [i-0node]"}
	const scaleIn = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0."
	return []testCase{
		{"running", snapshottest.PrivateWithNAT(), pass},
		{"Spot took it back", ended(spot, 2*time.Minute), fail},
		{"Spot took it back past its time to join", ended(spot, 8*time.Minute), fail},
		{"KMS key", ended("Client.InvalidKMSKey.InvalidState", 10*time.Second), fail},
		{"stopped", change(ended("Client.InstanceInitiatedShutdown", time.Minute), func(s *snapshot.Snapshot) { s.Instances[0].State = "stopped" }), fail},
		{"it was a node", change(ended(spot, 8*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"somebody ended it at once", ended(user, time.Minute), fail},
		{"somebody ended it at once; a scale-in cannot be told apart", change(ended(user, time.Minute), unread(snapshot.Activities)), []string{
			"fail (possible) workers [i-0node] [i-0node] i-0node ended before it was a node",
		}},
		{"somebody ended it, or a scale-in that is not among the newest activities", change(ended(user, time.Minute), func(s *snapshot.Snapshot) {
			s.Activities[0].Instance, s.Activities[0].Started = "i-0other", s.Time.Add(-time.Minute)
		}), []string{"unknown prod [i-0node] scaling activities: not read: the scaling activities that were read do not go back to the launch: it may be a scale-in"}},
		{"ended with its group, which has no activities any more", change(ended(user, time.Minute), func(s *snapshot.Snapshot) { s.Activities = nil }), []string{
			"unknown prod [i-0node] scaling activities: not read: the scaling activities that were read do not go back to the launch: it may be a scale-in",
		}},
		{"somebody ended an instance that has no group", change(ended(user, time.Minute), func(s *snapshot.Snapshot) {
			s.Activities = nil
			snapshottest.Instance(s, snapshottest.Node).Tags = map[string]string{"karpenter.sh/nodepool": "workers"}
		}), fail},
		{"scale-in", change(ended(user, time.Minute), terminating(scaleIn)), pass},
		{"replaced through its group", change(ended(user, time.Minute), terminating("At 2026-11-20T14:52:00Z instance i-0node was taken out of service in response to a user request.")), pass},
		{"its group saw that somebody had ended it", change(ended(user, time.Minute), terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")), fail},
		{"ended by a call after it had missed its time: a consequence", ended(user, 8*time.Minute), nil},
		{"nobody waited for it", change(ended(spot, time.Minute), func(s *snapshot.Snapshot) { s.Launches = nil }), nil},
		{"in a warm pool", change(ended(user, time.Minute), func(s *snapshot.Snapshot) {
			s.Groups = []snapshot.Group{{Name: "eks-workers", Warm: []string{snapshottest.Node}}}
		}), pass},
		{"two of one group are one finding", change(ended(spot, time.Minute), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0two", snapshottest.Private, 4*time.Minute)
			i := snapshottest.Instance(s, "i-0two")
			i.State, i.StateReason = "shutting-down", snapshot.StateReason{Code: spot}
		}), []string{"fail workers [i-0node i-0two] [i-0node i-0two] 2 instances ended before they were nodes"}},
		{"nodes unread, ended in time: it may have been a node", change(ended(spot, time.Minute), unread(snapshot.Nodes)),
			[]string{"fail (possible) workers [i-0node] [i-0node] i-0node ended before it was a node"}},
		{"nodes unread, ended past its time", change(ended(spot, 8*time.Minute), unread(snapshot.Nodes)), []string{"unknown prod [i-0node] nodes: denied"}},
		{"EC2 does not list it", change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Instances = nil }), []string{
			"unknown prod [i-0node] instances: not read: EC2 does not list i-0node: too new, or gone for more than an hour",
		}},
		{"instances unread", change(ended(spot, time.Minute), unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestEndedEarlyWords(t *testing.T) {
	got := failed(t, "instance/ended-early", ended("Client.InvalidKMSKey.InvalidState", 10*time.Second))
	want := `i-0node is terminated, 10s after its launch: the KMS key of an encrypted volume cannot be used. EC2: "Client.InvalidKMSKey.InvalidState: what EC2 says".`
	if got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if want := "AWSServiceRoleForAutoScaling"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Fix = %q, want %q in it", got.Fix.Text, want)
	}
}

func TestExplain(t *testing.T) {
	tests := map[string]string{
		"Server.SpotInstanceTermination":      "EC2 took the Spot capacity back",
		"Client.InvalidKMSKey.DisabledState":  "the KMS key of an encrypted volume cannot be used",
		"Client.InternalError":                "the launch failed on the client's side, nearly always because the KMS key of an encrypted volume may not be used",
		"Client.VolumeLimitExceeded":          "the account's limit for EBS volumes is reached",
		"Server.InsufficientInstanceCapacity": "EC2 had no capacity of this type in the zone",
		"Client.SomethingNew":                 "EC2 says Client.SomethingNew",
		"Client.InternalErrorOfAnotherKind":   "EC2 says Client.InternalErrorOfAnotherKind",
		"":                                    "EC2 gives no reason",
	}
	for code, want := range tests {
		if got := explain(code); got.meaning != want || got.next == "" {
			t.Errorf("explain(%q) = %q, %q, want %q and a next step", code, got.meaning, got.next, want)
		}
	}
}
