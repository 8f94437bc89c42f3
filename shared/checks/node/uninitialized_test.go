package node

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func tainted(s *snapshot.Snapshot) {
	for i := range s.Nodes {
		s.Nodes[i].Uninitialized = true
	}
}

func TestUninitialized(t *testing.T) { checktest.RunCases(t, Uninitialized(), uninitializedCases()) }

func uninitializedCases() []checktest.Case {
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"not Ready, and initialised", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x")), []string{"pass prod [i-0node]"}},
		{"no node", checktest.Missed(), nil},
		{"tainted", checktest.Change(snapshottest.PrivateWithNAT(), tainted), []string{
			"fail workers [i-0node] [i-0node] i-0node is not initialised by the cloud provider",
		}},
		{"tainted, not due", checktest.Change(snapshottest.PrivateWithNAT(), tainted, checktest.NotDueYet), nil},
		{"terminated", checktest.Change(snapshottest.PrivateWithNAT(), tainted, func(s *snapshot.Snapshot) { s.Instances[0].State = "terminated" }), nil},
		{"two of a group", checktest.Change(snapshottest.PrivateWithNAT(), checktest.LaunchedToo("i-0second", 10*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Join(s, "i-0second") }, tainted), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 nodes are not initialised by the cloud provider",
		}},
		{"instances unread", checktest.Change(snapshottest.PrivateWithNAT(), tainted, checktest.Unread(snapshot.Instances)), []string{
			"fail i-0node [i-0node] [i-0node] i-0node is not initialised by the cloud provider",
		}},
		{"unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [] nodes: denied"}},
	}
}

func TestUninitializedWords(t *testing.T) {
	got := checktest.Failed(t, Uninitialized(), checktest.Change(snapshottest.PrivateWithNAT(), tainted))
	if want := "Its name is not the instance's private DNS name, ip-10-42-192-10.us-west-2.compute.internal."; !strings.HasSuffix(got.Why, want) {
		t.Errorf("Why = %q, want it to end with %q", got.Why, want)
	}
}
