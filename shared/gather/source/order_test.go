package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// chain is a source that needs, and one that comes after.
func chain() []Source {
	return []Source{
		{Name: "fields", Needs: []snapshot.Source{"doors"}, After: []snapshot.Source{"hints"}},
		{Name: "doors"},
		{Name: "hints", After: []snapshot.Source{"more hints"}},
		{Name: "more hints"},
	}
}

func namesOf(waves ...[]Source) [][]string {
	var names [][]string
	for _, w := range waves {
		names = append(names, Each(w, func(s Source) string { return string(s.Name) }))
	}
	return names
}

// TestWith: what is needed is brought along, what only tells more is not, what
// is asked for twice is read once, and Rollcall's own history is nobody's here.
func TestWith(t *testing.T) {
	got := namesOf(With(chain(), "fields", "fields", "doors", snapshot.LaunchHistory))
	if diff := cmp.Diff([][]string{{"fields", "doors"}}, got); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}

// TestWaves: nothing is read before what it needs or comes after, and nothing
// waits for what nobody asked for.
func TestWaves(t *testing.T) {
	all := chain()
	for _, test := range []struct {
		name string
		list []Source
		want [][]string
	}{
		{"nothing", nil, nil},
		{"all", all, [][]string{{"doors", "more hints"}, {"hints"}, {"fields"}}},
		{"without what tells more", all[:2], [][]string{{"doors"}, {"fields"}}},
		{"what it needs was read before", all[:1], [][]string{{"fields"}}},
		{"a hint that waits for nobody", []Source{all[0], all[2]}, [][]string{{"hints"}, {"fields"}}},
	} {
		if diff := cmp.Diff(test.want, namesOf(Waves(test.list)...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
