package facts

import (
	"iter"

	"rollcall/shared/snapshot"
)

// grouped are instances by what they have in common, in the order in which
// they came.
type grouped struct {
	Of    func(*snapshot.Instance) string
	order []string
	ids   map[string][]string
}

// NewGrouped groups by what a change of the instances' start would change.
func NewGrouped(st *BootConfig) *grouped {
	return &grouped{Of: st.Origin, ids: map[string][]string{}}
}

func (g *grouped) Add(i *snapshot.Instance) {
	key := g.Of(i)
	if g.ids[key] == nil {
		g.order = append(g.order, key)
	}
	g.ids[key] = append(g.ids[key], i.ID)
}

// All are the groups, in order.
func (g *grouped) All() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, key := range g.order {
			if !yield(key, g.ids[key]) {
				return
			}
		}
	}
}
