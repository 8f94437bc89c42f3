package checks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
)

// A kind stands for the checks that are of it, but for the one that is asked about, and
// each is named once.
func TestExplaining(t *testing.T) {
	list := []check.Check{
		{ID: "route/a", Explains: []checkid.ID{checkid.AnyJoinCause}},
		{ID: "route/b", Explains: []checkid.ID{checkid.AnyJoinCause}},
		{ID: "node/c", After: []checkid.ID{"route/b", checkid.AnyJoinCause, "sg/d"}},
	}
	if diff := cmp.Diff([]checkid.ID{"route/b", "route/a", "sg/d"}, Explaining(list, list[2])); diff != "" {
		t.Errorf("Explaining (-want +got):\n%s", diff)
	}
	list[0].After = []checkid.ID{checkid.AnyJoinCause}
	if diff := cmp.Diff([]checkid.ID{"route/b"}, Explaining(list, list[0])); diff != "" {
		t.Errorf("of one of the kind (-want +got):\n%s", diff)
	}
}
