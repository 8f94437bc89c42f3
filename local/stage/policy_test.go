package stage

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
)

// TestByChoiceIsComplete: the stage gives each function that has grants by settings those
// of its own settings. One that is left out here would be refused what it is granted.
func TestByChoiceIsComplete(t *testing.T) {
	var got, want []string
	for _, f := range byChoice() {
		got = append(got, f.Name)
	}
	for _, f := range specs.All() {
		if f.Chosen != nil {
			want = append(want, f.Name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-specs +stage):\n%s", diff)
	}
}
