package node

import (
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// unready is a node that registered, with the given condition.
func unready(c snapshot.Condition) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	s.Nodes[0].Ready = c
	return s
}

func TestNotReady(t *testing.T) { checktest.RunCases(t, NotReady(), notReadyCases()) }

func notReadyCases() []checktest.Case {
	fail := []string{"fail i-0node [i-0node] [i-0node] i-0node registered and is not Ready"}
	down := snapshot.Condition{Status: "False", Reason: "KubeletNotReady", Message: "cni plugin not initialized"}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"not Ready", unready(down), fail},
		{"Unknown is not Ready", unready(snapshot.Condition{Status: "Unknown"}), fail},
		{"no condition yet", unready(snapshot.Condition{}), fail},
		{"Ready, and not initialised", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Nodes[0].Uninitialized = true }), fail},
		{"not due", checktest.Change(unready(down), func(s *snapshot.Snapshot) { s.Launches[0].Due = s.Time.Add(time.Second) }), nil},
		{"never registered is node/not-registered", checktest.Missed(), nil},
		{"it registered anew, its old node is still there", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			old := s.Nodes[0]
			old.Name, old.Created, old.Ready = "zz-old", old.Created.Add(-time.Hour), down
			s.Nodes = append(s.Nodes, old)
		}), []string{"pass prod [i-0node]"}},
		{"stopped under it", checktest.Change(unready(down), func(s *snapshot.Snapshot) { s.Instances[0].State = "stopped" }), fail},
		{"terminated: the node goes too", checktest.Change(unready(down), func(s *snapshot.Snapshot) { s.Instances[0].State = "terminated" }), nil},
		{"instances unread", checktest.Change(unready(down), checktest.Unread(snapshot.Instances)), fail},
		{"nodes unread", checktest.Change(unready(down), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [] nodes: denied"}},
	}
}

func TestNotReadyWords(t *testing.T) {
	s := unready(snapshot.Condition{Status: "False", Reason: "KubeletNotReady", Message: "cni plugin not initialized"})
	s.Nodes[0].Uninitialized = true
	got := checktest.Failed(t, NotReady(), s)
	want := `i-0node registered as i-0node.internal. Its condition Ready is False: KubeletNotReady ("cni plugin not initialized"). The cloud provider has not initialised it.`
	if got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
}
