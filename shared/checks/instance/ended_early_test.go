package instance

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// forget takes the names away that EC2 forgets of terminated instances.
func forget(s *snapshot.Snapshot) {
	i := snapshottest.Instance(s, snapshottest.Node)
	i.PrivateDNS, i.PrivateIP = "", netip.Addr{}
}

func byKarpenter(s *snapshot.Snapshot) { s.Instances[0].Tags["karpenter.sh/nodepool"] = "workers" }

func TestEndedEarly(t *testing.T) { checktest.RunCases(t, EndedEarly(), endedEarlyCases()) }

func endedEarlyCases() []checktest.Case {
	const user, itself = "Client.UserInitiatedShutdown", "Client.InstanceInitiatedShutdown"
	fail := []string{"fail workers [i-0node] [i-0node] i-0node ended before it was a node"}
	pass := []string{"pass prod [i-0node]"}
	const scaleIn = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0."
	return []checktest.Case{
		{"running", snapshottest.PrivateWithNAT(), pass},
		{"its own system", checktest.Ended(itself, 2*time.Minute), fail},
		{"Spot took it back", checktest.Ended("Server.SpotInstanceTermination", 2*time.Minute), pass},
		{"ended by a call after EC2's warning", checktest.Change(checktest.Ended(user, 3*time.Minute), checktest.Noticed(90*time.Second)), pass},
		{"its own system, past its time to join", checktest.Ended(itself, 8*time.Minute), fail},
		{"KMS key: launch/kms-key tells it", checktest.Ended("Client.InvalidKMSKey.InvalidState", 10*time.Second), nil},
		{"KMS key, and activities unread", checktest.Change(checktest.Ended("Client.InvalidKMSKey.InvalidState", 10*time.Second), checktest.Unread(snapshot.Activities)), []string{
			"fail (likely) workers [i-0node] [i-0node] i-0node ended before it was a node",
		}},
		{"an event says that it was a node", checktest.Change(checktest.Ended(itself, 4*time.Minute), checktest.Event("RegisteredNode", "ip-10-42-192-10.us-west-2.compute.internal", 7*time.Minute)), pass},
		{"an event says so, by the name that is made of its id", checktest.Change(checktest.Ended(itself, 4*time.Minute), checktest.Event("RemovingNode", "i-0node.us-west-2.compute.internal", 5*time.Minute)), pass},
		{"the event is of the one that had the address before", checktest.Change(checktest.Ended(itself, 4*time.Minute), checktest.Event("RegisteredNode", "ip-10-42-192-10.us-west-2.compute.internal", 20*time.Minute)), fail},
		{"a node registered meanwhile, and EC2 has forgotten the name", checktest.Change(checktest.Ended(itself, 4*time.Minute), forget, checktest.Event("RegisteredNode", "ip-10-42-192-99.us-west-2.compute.internal", 7*time.Minute)), pass},
		{"past its time, events could not be read", checktest.Change(checktest.Ended(itself, 8*time.Minute), checktest.Unread(snapshot.NodeEventsOf)), []string{
			"fail (possible) workers [i-0node] [i-0node] i-0node ended before it was a node",
		}},
		{"past its time its group took it out of service: it served", checktest.Change(checktest.Ended(itself, 8*time.Minute), checktest.Terminating("At 2026-11-20T14:58:00Z an instance was taken out of service in response to an EC2 instance termination notice.")), nil},
		{"it lived for hours: no event is left to tell", checktest.Change(checktest.Ended(itself, 8*time.Minute), func(s *snapshot.Snapshot) {
			s.Launches[0].Started, s.Launches[0].Due = s.Time.Add(-3*time.Hour), s.Time.Add(-3*time.Hour+5*time.Minute)
		}), pass},
		{"stopped", checktest.Change(checktest.Ended("Client.InstanceInitiatedShutdown", time.Minute), func(s *snapshot.Snapshot) { s.Instances[0].State = "stopped" }), fail},
		{"Karpenter's tag says that it had registered", checktest.Change(checktest.Ended(itself, 8*time.Minute), func(s *snapshot.Snapshot) {
			s.Instances[0].Tags["karpenter.sh/nodeclaim"] = "gpu-x7k2p"
		}), pass},
		{"Karpenter ended it past its time, nodes refused", checktest.Change(checktest.Ended(user, 15*time.Minute), byKarpenter, checktest.Unread(snapshot.Nodes)), []string{
			"fail (likely) workers [i-0node] [i-0node] i-0node ended before it was a node",
		}},
		{"Karpenter ended it past its time, nodes not asked for", checktest.Change(checktest.Ended(user, 15*time.Minute), byKarpenter, func(s *snapshot.Snapshot) { delete(s.Read, snapshot.Nodes) }), nil},
		{"it was a node", checktest.Change(checktest.Ended(itself, 8*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"somebody ended it at once", checktest.Ended(user, time.Minute), fail},
		{"somebody ended it at once; a scale-in cannot be told apart", checktest.Change(checktest.Ended(user, time.Minute), checktest.Unread(snapshot.Activities)), []string{
			"fail (possible) workers [i-0node] [i-0node] i-0node ended before it was a node",
		}},
		{"somebody ended it, or a scale-in that is not among the newest activities", checktest.Change(checktest.Ended(user, time.Minute), func(s *snapshot.Snapshot) {
			s.Activities[0].Instance, s.Activities[0].Started = "i-0other", s.Time.Add(-time.Minute)
		}), []string{"unknown prod [i-0node] scaling activities: not read: the scaling activities that were read do not go back to the launch: it may be a scale-in"}},
		{"ended with its group, which has no activities any more", checktest.Change(checktest.Ended(user, time.Minute), func(s *snapshot.Snapshot) { s.Activities = nil }), []string{
			"unknown prod [i-0node] scaling activities: not read: the scaling activities that were read do not go back to the launch: it may be a scale-in",
		}},
		{"somebody ended an instance that has no group", checktest.Change(checktest.Ended(user, time.Minute), func(s *snapshot.Snapshot) {
			s.Activities = nil
			snapshottest.Instance(s, snapshottest.Node).Tags = map[string]string{"karpenter.sh/nodepool": "workers"}
		}), fail},
		{"scale-in", checktest.Change(checktest.Ended(user, time.Minute), checktest.Terminating(scaleIn)), pass},
		{"replaced through its group", checktest.Change(checktest.Ended(user, time.Minute), checktest.Terminating("At 2026-11-20T14:52:00Z instance i-0node was taken out of service in response to a user request.")), pass},
		{"its group saw that somebody had ended it", checktest.Change(checktest.Ended(user, time.Minute), checktest.Terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")), fail},
		{"ended by a call after it had missed its time: nothing shows that it was a node", checktest.Ended(user, 8*time.Minute),
			[]string{"fail (likely) workers [i-0node] [i-0node] i-0node ended before it was a node"}},
		{"ended by a call after it had missed its time, events unread", checktest.Change(checktest.Ended(user, 8*time.Minute), checktest.Unread(snapshot.NodeEventsOf)), []string{"unknown prod [i-0node] node events: denied"}},
		{"ended by a call after it had missed its time, by its group", checktest.Change(checktest.Ended(user, 8*time.Minute), checktest.Terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")), nil},
		{"nobody waited for it", checktest.Change(checktest.Ended(itself, time.Minute), func(s *snapshot.Snapshot) { s.Launches = nil }), nil},
		{"in a warm pool", checktest.Change(checktest.Ended(user, time.Minute), func(s *snapshot.Snapshot) {
			s.Groups = []snapshot.Group{{Name: "eks-workers", Warm: []string{snapshottest.Node}}}
		}), pass},
		{"two of one group are one finding", checktest.Change(checktest.Ended(itself, time.Minute), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0two", snapshottest.Private, 4*time.Minute)
			i := snapshottest.Instance(s, "i-0two")
			i.State, i.StateReason = "shutting-down", snapshot.StateReason{Code: itself}
		}), []string{"fail workers [i-0node i-0two] [i-0node i-0two] 2 instances ended before they were nodes"}},
		{"nodes unread, ended in time: it may have been a node", checktest.Change(checktest.Ended(itself, time.Minute), checktest.Unread(snapshot.Nodes)),
			[]string{"fail (possible) workers [i-0node] [i-0node] i-0node ended before it was a node"}},
		{"nodes unread, ended past its time", checktest.Change(checktest.Ended(itself, 8*time.Minute), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [i-0node] nodes: denied"}},
		{"EC2 does not list it", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Instances = nil }), []string{
			"unknown prod [i-0node] instances: not read: EC2 does not list i-0node: too new, or gone for more than an hour",
		}},
		{"instances unread", checktest.Change(checktest.Ended(itself, time.Minute), checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestEndedEarlyWords(t *testing.T) {
	got := checktest.Failed(t, EndedEarly(), checktest.Ended("Client.InstanceInitiatedShutdown", 10*time.Second))
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
	got := checktest.Failed(t, EndedEarly(), checktest.Change(checktest.Ended("Client.InvalidKMSKey.InvalidState", 10*time.Second), checktest.Unread(snapshot.Activities)))
	if want := "AWSServiceRoleForAutoScaling"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Fix = %q, want %q in it", got.Fix.Text, want)
	}
}
