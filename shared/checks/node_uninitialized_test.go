package checks

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func tainted(s *snapshot.Snapshot) {
	for i := range s.Nodes {
		s.Nodes[i].Uninitialized = true
	}
}

func TestUninitialized(t *testing.T) { runCases(t, uninitialized(), uninitializedCases()) }

func uninitializedCases() []testCase {
	return []testCase{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"not Ready, and initialised", change(missed(), notReadyNode("x")), []string{"pass prod [i-0node]"}},
		{"no node", missed(), nil},
		{"tainted", change(snapshottest.PrivateWithNAT(), tainted), []string{
			"fail workers [i-0node] [i-0node] i-0node is not initialised by the cloud provider",
		}},
		{"tainted, not due", change(snapshottest.PrivateWithNAT(), tainted, notDueYet), nil},
		{"terminated", change(snapshottest.PrivateWithNAT(), tainted, func(s *snapshot.Snapshot) { s.Instances[0].State = "terminated" }), nil},
		{"two of a group", change(snapshottest.PrivateWithNAT(), launchedToo("i-0second", 10*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Join(s, "i-0second") }, tainted), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 nodes are not initialised by the cloud provider",
		}},
		{"instances unread", change(snapshottest.PrivateWithNAT(), tainted, unread(snapshot.Instances)), []string{
			"fail i-0node [i-0node] [i-0node] i-0node is not initialised by the cloud provider",
		}},
		{"unread", change(snapshottest.PrivateWithNAT(), unread(snapshot.Nodes)), []string{"unknown prod [] nodes: denied"}},
	}
}

func TestUninitializedWords(t *testing.T) {
	got := failed(t, uninitialized(), change(snapshottest.PrivateWithNAT(), tainted))
	if want := "Its name is not the instance's private DNS name, ip-10-42-192-10.us-west-2.compute.internal."; !strings.HasSuffix(got.Why, want) {
		t.Errorf("Why = %q, want it to end with %q", got.Why, want)
	}
}
