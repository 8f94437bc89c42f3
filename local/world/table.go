package world

import "slices"

// table keeps resources by id in the order in which they came, which is the
// order in which they are described.
type table[T any] struct {
	order []string
	byID  map[string]*T
	// gone are removed ids that are still in order.
	gone map[string]bool
}

func newTable[T any]() *table[T] {
	return &table[T]{byID: map[string]*T{}, gone: map[string]bool{}}
}

// put adds a resource, or replaces the one with this id in its place.
func (t *table[T]) put(id string, v *T) {
	if _, ok := t.byID[id]; !ok {
		if t.gone[id] {
			// A name that is used again comes last, once.
			t.order = slices.DeleteFunc(t.order, func(other string) bool { return other == id })
			delete(t.gone, id)
		}
		t.order = append(t.order, id)
	}
	t.byID[id] = v
}

// get is nil where there is none.
func (t *table[T]) get(id string) *T { return t.byID[id] }

func (t *table[T]) remove(id string) {
	if _, ok := t.byID[id]; !ok {
		return
	}
	delete(t.byID, id)
	t.gone[id] = true
	// Ids stay in order until half of them are gone, so that removing many
	// does not move the rest each time.
	if len(t.order) < 2*len(t.byID)+16 {
		return
	}
	kept := t.order[:0]
	for _, id := range t.order {
		if _, ok := t.byID[id]; ok {
			kept = append(kept, id)
		}
	}
	clear(t.order[len(kept):])
	t.order = kept
	clear(t.gone)
}

// all are the resources in order.
func (t *table[T]) all() []*T {
	out := make([]*T, 0, len(t.byID))
	for _, id := range t.order {
		if v, ok := t.byID[id]; ok {
			out = append(out, v)
		}
	}
	return out
}
