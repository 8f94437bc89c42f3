package checks

import (
	"net/netip"
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

// event adds an event about a node some time ago.
func event(reason, node string, ago time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.NodeEvents = append(s.NodeEvents, snapshot.NodeEvent{Node: node, Reason: reason, Last: s.Time.Add(-ago)})
	}
}

// forget takes the names away that EC2 forgets of terminated instances.
func forget(s *snapshot.Snapshot) {
	i := snapshottest.Instance(s, snapshottest.Node)
	i.PrivateDNS, i.PrivateIP = "", netip.Addr{}
}

func terminating(cause string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Activities = []snapshot.Activity{{
			ID: "a-1", Group: "eks-workers", Instance: snapshottest.Node, About: "Terminating EC2 instance: i-0node", Cause: cause,
		}}
	}
}

func TestEndedEarly(t *testing.T) { runCases(t, endedEarly(), endedEarlyCases()) }

func endedEarlyCases() []testCase {
	const user, itself = "Client.UserInitiatedShutdown", "Client.InstanceInitiatedShutdown"
	fail := []string{"fail workers [i-0node] [i-0node] i-0node ended before it was a node"}
	pass := []string{"pass prod [i-0node]"}
	const scaleIn = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0."
	return []testCase{
		{"running", snapshottest.PrivateWithNAT(), pass},
		{"its own system", ended(itself, 2*time.Minute), fail},
		{"Spot took it back", ended("Server.SpotInstanceTermination", 2*time.Minute), pass},
		{"ended by a call after EC2's warning", change(ended(user, 3*time.Minute), noticed(90*time.Second)), pass},
		{"its own system, past its time to join", ended(itself, 8*time.Minute), fail},
		{"KMS key: launch/kms-key tells it", ended("Client.InvalidKMSKey.InvalidState", 10*time.Second), nil},
		{"KMS key, and activities unread", change(ended("Client.InvalidKMSKey.InvalidState", 10*time.Second), unread(snapshot.Activities)), fail},
		{"an event says that it was a node", change(ended(itself, 4*time.Minute), event("RegisteredNode", "ip-10-42-192-10.us-west-2.compute.internal", 7*time.Minute)), pass},
		{"an event says so, by the name that is made of its id", change(ended(itself, 4*time.Minute), event("RemovingNode", "i-0node.us-west-2.compute.internal", 5*time.Minute)), pass},
		{"the event is of the one that had the address before", change(ended(itself, 4*time.Minute), event("RegisteredNode", "ip-10-42-192-10.us-west-2.compute.internal", 20*time.Minute)), fail},
		{"some node registered meanwhile, and EC2 has forgotten the name", change(ended(itself, 4*time.Minute), forget, event("RegisteredNode", "ip-10-42-192-99.us-west-2.compute.internal", 7*time.Minute)), []string{
			"fail (possible) workers [i-0node] [i-0node] i-0node ended before it was a node",
		}},
		{"past its time, events could not be read", change(ended(itself, 8*time.Minute), unread(snapshot.NodeEventsOf)), []string{
			"fail (possible) workers [i-0node] [i-0node] i-0node ended before it was a node",
		}},
		{"past its time its group took it out of service: it served", change(ended(itself, 8*time.Minute), terminating("At 2026-11-20T14:58:00Z an instance was taken out of service in response to an EC2 instance termination notice.")), nil},
		{"it lived for hours: no event is left to tell", change(ended(itself, 8*time.Minute), func(s *snapshot.Snapshot) {
			s.Launches[0].Started, s.Launches[0].Due = s.Time.Add(-3*time.Hour), s.Time.Add(-3*time.Hour+5*time.Minute)
		}), nil},
		{"stopped", change(ended("Client.InstanceInitiatedShutdown", time.Minute), func(s *snapshot.Snapshot) { s.Instances[0].State = "stopped" }), fail},
		{"it was a node", change(ended(itself, 8*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
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
		{"ended by a call after it had missed its time: nothing shows that it was a node", ended(user, 8*time.Minute),
			[]string{"fail (likely) workers [i-0node] [i-0node] i-0node ended before it was a node"}},
		{"ended by a call after it had missed its time, events unread", change(ended(user, 8*time.Minute), unread(snapshot.NodeEventsOf)), nil},
		{"ended by a call after it had missed its time, by its group", change(ended(user, 8*time.Minute), terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")), nil},
		{"nobody waited for it", change(ended(itself, time.Minute), func(s *snapshot.Snapshot) { s.Launches = nil }), nil},
		{"in a warm pool", change(ended(user, time.Minute), func(s *snapshot.Snapshot) {
			s.Groups = []snapshot.Group{{Name: "eks-workers", Warm: []string{snapshottest.Node}}}
		}), pass},
		{"two of one group are one finding", change(ended(itself, time.Minute), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0two", snapshottest.Private, 4*time.Minute)
			i := snapshottest.Instance(s, "i-0two")
			i.State, i.StateReason = "shutting-down", snapshot.StateReason{Code: itself}
		}), []string{"fail workers [i-0node i-0two] [i-0node i-0two] 2 instances ended before they were nodes"}},
		{"nodes unread, ended in time: it may have been a node", change(ended(itself, time.Minute), unread(snapshot.Nodes)),
			[]string{"fail (possible) workers [i-0node] [i-0node] i-0node ended before it was a node"}},
		{"nodes unread, ended past its time", change(ended(itself, 8*time.Minute), unread(snapshot.Nodes)), []string{"unknown prod [i-0node] nodes: denied"}},
		{"EC2 does not list it", change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Instances = nil }), []string{
			"unknown prod [i-0node] instances: not read: EC2 does not list i-0node: too new, or gone for more than an hour",
		}},
		{"instances unread", change(ended(itself, time.Minute), unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestEndedEarlyWords(t *testing.T) {
	got := failed(t, endedEarly(), ended("Client.InstanceInitiatedShutdown", 10*time.Second))
	want := `i-0node is terminated, 10s after its launch: its own operating system shut it down. EC2: "Client.InstanceInitiatedShutdown: what EC2 says".`
	if got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if want := "Read the console output"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Fix = %q, want %q in it", got.Fix.Text, want)
	}
}

// Where nothing can be read of the group, what EC2 says of the instance still
// names the cause.
func TestEndedEarlyKnowsFailedLaunches(t *testing.T) {
	got := failed(t, endedEarly(), change(ended("Client.InvalidKMSKey.InvalidState", 10*time.Second), unread(snapshot.Activities)))
	if want := "AWSServiceRoleForAutoScaling"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Fix = %q, want %q in it", got.Fix.Text, want)
	}
}
