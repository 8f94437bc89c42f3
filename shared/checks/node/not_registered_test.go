package node

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestNotRegistered(t *testing.T) { checktest.RunCases(t, NotRegistered(), notRegisteredCases()) }

func notRegisteredCases() []checktest.Case {
	fail := []string{"fail i-0node [i-0node] [i-0node] i-0node has not registered as a node"}
	launched := func(ago time.Duration) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Launches[0].Started = s.Time.Add(-ago)
			s.Launches[0].Due = s.Launches[0].Started.Add(5 * time.Minute)
		}
	}
	lifecycle := func(state string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Groups = []snapshot.Group{{Instances: []snapshot.GroupInstance{{ID: snapshottest.Node, Lifecycle: state}}}}
		}
	}
	return []checktest.Case{
		{"registered", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"registered, not Ready", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Nodes[0].Ready.Status = "False" }), []string{"pass prod [i-0node]"}},
		{"due", checktest.Missed(), fail},
		{"due this second", checktest.Change(checktest.Missed(), launched(5*time.Minute)), fail},
		{"not due: nothing is said, and nothing is closed", checktest.Change(checktest.Missed(), launched(5*time.Minute-time.Second)), nil},
		{"a node that is no EC2 instance is not it", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Nodes = []snapshot.Node{{Name: "fargate-1"}} }), fail},
		{"ended: it cannot register", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Instances[0].State = "terminated" }), nil},
		{"in a warm pool", checktest.Change(checktest.Missed(), lifecycle("Warmed:Running")), nil},
		{"retained after its end", checktest.Change(checktest.Missed(), lifecycle("Terminating:Retained")), nil},
		{"retained in the warm pool", checktest.Change(checktest.Missed(), lifecycle("Warmed:Terminating:Retained")), nil},
		{"its root volume is being replaced", checktest.Change(checktest.Missed(), lifecycle("ReplacingRootVolume:Wait")), nil},
		{"its root volume was replaced", checktest.Change(checktest.Missed(), lifecycle("RootVolumeReplaced")), nil},
		{"its end waits for a hook", checktest.Change(checktest.Missed(), lifecycle("Terminating:Wait")), fail},
		{"nobody waited for it", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Launches = nil }), nil},
		{"nodes unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [] nodes: denied"}},
	}
}

func TestNotRegisteredWords(t *testing.T) {
	got := checktest.Failed(t, NotRegistered(), checktest.Missed())
	if want := "i-0node (m5.large) should have been a node 5 min after its launch at 14:50:00 UTC. No node of prod has its id."; got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
}

func TestNotRegisteredSaysWhatWasLearned(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	s.Launches[0].Samples, s.Launches[0].Usual = 192, 80*time.Second
	s.Launches[0].Due = s.Launches[0].Started.Add(2 * time.Minute)
	got := checktest.Failed(t, NotRegistered(), s)
	if want := "95 of 100 nodes of workers are Ready within 1 min 20 s (192 joins); it had 2 min."; !strings.HasSuffix(got.Why, want) {
		t.Errorf("Why = %q, want %q at its end", got.Why, want)
	}
}
