package replaceinstance

import (
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), healed, checks.Finding{Outcome: checks.Pass, Resource: snapshottest.PrivateRTB},
		snapshot.Clusters, snapshot.Instances, snapshot.Groups, snapshot.Nodes, snapshot.Nodegroups)
}

func TestIsForACauseThatIsGone(t *testing.T) {
	if !Remedy().AfterCause {
		t.Error("it is planned while the cause is there")
	}
}

// The limit of an hour counts each instance.
func TestThings(t *testing.T) {
	for n, want := range []int{1, 1, 2, 3} {
		if got := Remedy().Things(Plan{Instances: make([]Replaced, n)}); got != want {
			t.Errorf("%d instances are %d things, want %d", n, got, want)
		}
	}
}
