package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
)

// What is said of no instance is said once, in the first part: facts, and what
// is absent. (Pictures are left out of what needs parts.) What could and could not be read stands in each.
func TestSplitSaysWhatIsOfNoInstanceOnce(t *testing.T) {
	obs := incidenttest.Crowd(4000, "node/not-registered", checks.Certain)
	obs.Absent = []string{"subnet-gone"}
	parts, err := obs.Split(1 << 20)
	if err != nil || len(parts) < 2 {
		t.Fatalf("%d parts, %v; want some", len(parts), err)
	}
	type once struct {
		Facts  []report.Fact
		Absent []string
	}
	for k, p := range parts {
		want := once{}
		if k == 0 {
			want = once{obs.Facts, obs.Absent}
		}
		if diff := cmp.Diff(want, once{p.Facts, p.Absent}); diff != "" {
			t.Errorf("part %d (-want +got):\n%s", k, diff)
		}
		if diff := cmp.Diff(obs.Read, p.Read); diff != "" {
			t.Errorf("part %d, what was read (-want +got):\n%s", k, diff)
		}
	}
}
