package checks

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// A check finds the same alone, among all others, and after them: none of them
// changes a fact that they share.
func TestSharedFactsChangeNoVerdict(t *testing.T) {
	list := All()
	backwards := slices.Clone(list)
	slices.Reverse(backwards)
	of := func(results []finding.Result, id checkid.ID) (own []finding.Result) {
		for _, r := range results {
			if r.Check == id {
				own = append(own, r)
			}
		}
		return own
	}
	worlds := healthy()
	worlds["a node that did not join"] = checktest.Missed()
	for name, world := range worlds {
		forwards, back := check.Eval(list, world), check.Eval(backwards, world)
		for _, c := range list {
			alone := check.Eval([]check.Check{c}, world)
			for _, shared := range [][]finding.Result{of(forwards, c.ID), of(back, c.ID)} {
				if !reflect.DeepEqual(shared, alone) {
					t.Errorf("%s: %s (-with the others +alone):\n%s", name, c.ID, cmp.Diff(shared, alone))
				}
			}
		}
	}
}

// In one Eval of all checks each fact is derived once.
func TestFactsAreDerivedOnce(t *testing.T) {
	most := map[string]int{}
	for _, s := range []*snapshot.Snapshot{snapshottest.PrivateWithNAT(), checktest.Missed()} {
		v := facts.NewView(s)
		for _, c := range All() {
			check.Run(c, v)
		}
		for fact, times := range v.Derived() {
			most[fact] = max(most[fact], times)
		}
	}
	for fact, times := range most {
		if times != 1 {
			t.Errorf("%s: derived %d times, want once", fact, times)
		}
	}
}

// A fact whose derivation breaks breaks every check that asks for it, not only
// the first.
func TestBrokenFactBreaksEveryCheckThatAsks(t *testing.T) {
	var f facts.Fact[int]
	ask := func(*facts.View) []finding.Finding {
		f.Of(func() int { panic("index out of range") })
		return nil
	}
	got := checktest.Lines(check.Eval([]check.Check{{ID: "test/one", Run: ask}, {ID: "test/two", Run: ask}}, &snapshot.Snapshot{Cluster: snapshot.Cluster{Name: "prod"}}))
	want := []string{
		"unknown prod [] check test/one: broken: the check itself broke: index out of range",
		"unknown prod [] check test/two: broken: the check itself broke: index out of range",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("Eval (-got +want):\n%s", diff)
	}
}

// What a finding covers may be a fact's own list: Eval sorts a copy.
func TestEvalSortsACopy(t *testing.T) {
	fact := []string{"subnet-b", "subnet-a"}
	c := check.Check{ID: "test/shares", Run: func(*facts.View) []finding.Finding {
		return []finding.Finding{{Outcome: finding.Pass, Resource: "prod", Covers: fact}}
	}}
	got := check.Eval([]check.Check{c}, &snapshot.Snapshot{})
	if diff := cmp.Diff(got[0].Covers, []string{"subnet-a", "subnet-b"}); diff != "" {
		t.Errorf("Covers (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(fact, []string{"subnet-b", "subnet-a"}); diff != "" {
		t.Errorf("the fact itself (-got +want):\n%s", diff)
	}
}
