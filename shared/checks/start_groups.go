package checks

import (
	"iter"

	"rollcall/shared/snapshot"
)

// grouped are instances by what they have in common, in the order in which
// they came.
type grouped struct {
	of    func(*snapshot.Instance) string
	order []string
	ids   map[string][]string
}

// newGrouped groups by what a change of the instances' start would change.
func newGrouped(st *starts) *grouped {
	return &grouped{of: st.origin, ids: map[string][]string{}}
}

func (g *grouped) add(i *snapshot.Instance) {
	key := g.of(i)
	if g.ids[key] == nil {
		g.order = append(g.order, key)
	}
	g.ids[key] = append(g.ids[key], i.ID)
}

// all are the groups, in order.
func (g *grouped) all() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, key := range g.order {
			if !yield(key, g.ids[key]) {
				return
			}
		}
	}
}
