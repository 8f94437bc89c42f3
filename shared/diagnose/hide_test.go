package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

// TestWhatHides holds what may stand before a fault: what its After and its own
// Behind name, what is not weaker than likely or than itself, and never advice
// or what stands behind it already.
func TestWhatHides(t *testing.T) {
	list := []checks.Check{
		{ID: "a/cause", Confidence: checks.Certain, After: []checks.ID{"b/cause"}},
		{ID: "b/cause", Confidence: checks.Certain, After: []checks.ID{"a/cause"}},
		{ID: "c/sign", Confidence: checks.Certain, After: []checks.ID{"a/cause", "d/weak"}},
		{ID: "d/weak", Confidence: checks.Likely},
		{ID: "e/weaker", Confidence: checks.Possible, After: []checks.ID{"d/weak"}},
		{ID: "f/symptom", Confidence: checks.Symptom},
	}
	of := func(id checks.ID, confidence checks.Confidence, behind ...checks.ID) checks.Result {
		r := fail(id, "r-"+string(id), ids("i-1"), ids("i-1"))
		r.Confidence, r.Behind = confidence, behind
		return r
	}
	symptom := fail("f/symptom", "i-1", ids("i-1"), ids("i-1"))
	tests := []struct {
		name    string
		results []checks.Result
		want    map[checks.ID][]checks.ID // by cause, what is hidden
	}{
		{"what After names", []checks.Result{of("c/sign", ""), of("a/cause", ""), symptom}, map[checks.ID][]checks.ID{"a/cause": {"c/sign"}}},
		{"what After does not name", []checks.Result{of("c/sign", ""), of("b/cause", ""), symptom}, map[checks.ID][]checks.ID{"b/cause": nil, "c/sign": nil}},
		{"each after the other: one of them stays", []checks.Result{of("a/cause", ""), of("b/cause", ""), symptom}, map[checks.ID][]checks.ID{"b/cause": {"a/cause"}}},
		{"Behind names it", []checks.Result{of("c/sign", "", "a/cause"), of("a/cause", ""), symptom}, map[checks.ID][]checks.ID{"a/cause": {"c/sign"}}},
		{"Behind names another", []checks.Result{of("c/sign", "", "d/weak"), of("a/cause", ""), symptom}, map[checks.ID][]checks.ID{"a/cause": nil, "c/sign": nil}},
		{"a likely cause before a certain sign", []checks.Result{of("c/sign", ""), of("d/weak", ""), symptom}, map[checks.ID][]checks.ID{"d/weak": {"c/sign"}}},
		{"a possible one is none", []checks.Result{of("c/sign", ""), of("d/weak", checks.Possible), symptom}, map[checks.ID][]checks.ID{"c/sign": nil}},
		{"a possible one before a possible one", []checks.Result{of("e/weaker", ""), of("d/weak", checks.Possible), symptom}, map[checks.ID][]checks.ID{"d/weak": {"e/weaker"}}},
		{"advice before nothing", []checks.Result{of("c/sign", ""), of("d/weak", checks.Advice), symptom}, map[checks.ID][]checks.ID{"c/sign": nil, "d/weak": nil}},
		{"advice before no advice", []checks.Result{of("e/weaker", checks.Advice), of("d/weak", checks.Advice), symptom}, map[checks.ID][]checks.ID{"e/weaker": nil, "d/weak": nil, "f/symptom": nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := map[checks.ID][]checks.ID{}
			for _, c := range Rank(list, tt.results, &snapshot.Snapshot{}).Causes {
				got[c.Check] = nil
				for _, h := range c.Hidden {
					got[c.Check] = append(got[c.Check], h.Check)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("causes and what they hide (-want +got):\n%s", diff)
			}
		})
	}
}
