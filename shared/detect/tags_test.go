package detect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/diagnose"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

func TestTagsOfThoseNamed(t *testing.T) {
	team := func(name string) map[string]string { return map[string]string{"team": name} }
	s := &snapshot.Snapshot{
		Nodegroups: []snapshot.Nodegroup{{Name: "caused", Tags: team("a")}, {Name: "launched", Tags: team("b")}, {Name: "other", Tags: team("c")}, {Name: "bare"}},
		Groups:     []snapshot.Group{{Name: "own", Tags: team("d")}, {Name: "eks-launched", Tags: team("e")}, {Name: "idle", Tags: team("f")}},
	}
	d := diagnose.Diagnosis{Causes: []diagnose.Cause{{Nodegroups: []string{"caused", "bare", "gone"}}}}
	launches := []report.Launch{{Nodegroup: "launched", Group: "eks-launched"}, {Group: "own"}, {}}
	want := map[string]map[string]string{"caused": team("a"), "launched": team("b"), "own": team("d")}
	if diff := cmp.Diff(want, tags(s, d, launches)); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	if got := tags(s, diagnose.Diagnosis{}, nil); got != nil {
		t.Errorf("nobody is named, and %v are told", got)
	}
}
