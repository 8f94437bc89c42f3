package checks

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// missed is a healthy network and an instance that missed its time.
func missed() *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	return s
}

func TestNotRegistered(t *testing.T) { runCases(t, notRegistered(), notRegisteredCases()) }

func notRegisteredCases() []testCase {
	fail := []string{"fail i-0node [i-0node] [i-0node] i-0node has not registered as a node"}
	launched := func(ago time.Duration) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Launches[0].Started = s.Time.Add(-ago)
			s.Launches[0].Due = s.Launches[0].Started.Add(5 * time.Minute)
		}
	}
	return []testCase{
		{"registered", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"registered, not Ready", change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Nodes[0].Ready.Status = "False" }), []string{"pass prod [i-0node]"}},
		{"due", missed(), fail},
		{"due this second", change(missed(), launched(5*time.Minute)), fail},
		{"not due: nothing is said, and nothing is closed", change(missed(), launched(5*time.Minute-time.Second)), nil},
		{"a node that is no EC2 instance is not it", change(missed(), func(s *snapshot.Snapshot) { s.Nodes = []snapshot.Node{{Name: "fargate-1"}} }), fail},
		{"ended: it cannot register", change(missed(), func(s *snapshot.Snapshot) { s.Instances[0].State = "terminated" }), nil},
		{"in a warm pool", change(missed(), func(s *snapshot.Snapshot) {
			s.Groups = []snapshot.Group{{Instances: []snapshot.GroupInstance{{ID: snapshottest.Node, Lifecycle: "Warmed:Running"}}}}
		}), nil},
		{"nobody waited for it", change(missed(), func(s *snapshot.Snapshot) { s.Launches = nil }), nil},
		{"nodes unread", change(missed(), unread(snapshot.Nodes)), []string{"unknown prod [] nodes: denied"}},
	}
}

func TestNotRegisteredWords(t *testing.T) {
	got := failed(t, notRegistered(), missed())
	if want := "i-0node (m5.large) should have been a node 5 min after its launch at 14:50:00 UTC. No node of prod has its id."; got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
}

func TestNotRegisteredSaysWhatWasLearned(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	s.Launches[0].Samples, s.Launches[0].Usual = 192, 80*time.Second
	s.Launches[0].Due = s.Launches[0].Started.Add(2 * time.Minute)
	got := failed(t, notRegistered(), s)
	if want := "95 of 100 nodes of workers are Ready within 1 min 20 s (192 joins); it had 2 min."; !strings.HasSuffix(got.Why, want) {
		t.Errorf("Why = %q, want %q at its end", got.Why, want)
	}
}
