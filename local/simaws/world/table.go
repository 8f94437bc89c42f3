package world

import (
	"iter"
	"slices"
	"sort"
)

// table keeps resources by id in the order in which they came, which is the
// order in which they are described.
type table[T any] struct {
	order []entry
	byID  map[string]row[T]
	last  uint64
}

// entry is a resource's place in the order. Its number never changes, so a
// page can begin where the one before ended while resources come and go.
type entry struct {
	id     string
	number uint64
}

type row[T any] struct {
	v      *T
	number uint64
}

func newTable[T any]() *table[T] { return &table[T]{byID: map[string]row[T]{}} }

// put adds a resource, or replaces the one with this id in its place. An id
// that is used again after its resource was removed comes last.
func (t *table[T]) put(id string, v *T) {
	r, ok := t.byID[id]
	if !ok {
		t.last++
		r.number = t.last
		t.order = append(t.order, entry{id, r.number})
	}
	r.v = v
	t.byID[id] = r
}

// get is nil where there is none.
func (t *table[T]) get(id string) *T { return t.byID[id].v }

// number is a resource's place in the order, 0 where there is none.
func (t *table[T]) number(id string) uint64 { return t.byID[id].number }

func (t *table[T]) remove(id string) {
	if _, ok := t.byID[id]; !ok {
		return
	}
	delete(t.byID, id)
	// Entries stay in order until half of them are gone, so that removing many
	// does not move the rest each time.
	if len(t.order) >= 2*len(t.byID)+16 {
		t.order = slices.DeleteFunc(t.order, func(e entry) bool { return !t.lives(e) })
	}
}

func (t *table[T]) lives(e entry) bool { return t.byID[e.id].number == e.number }

// from are the resources in order, beginning with the first whose number is
// not below the one given. Finding it does not go over those before.
func (t *table[T]) from(number uint64) iter.Seq2[uint64, *T] {
	return func(yield func(uint64, *T) bool) {
		first := sort.Search(len(t.order), func(i int) bool { return t.order[i].number >= number })
		for _, e := range t.order[first:] {
			if r := t.byID[e.id]; r.number == e.number && !yield(e.number, r.v) {
				return
			}
		}
	}
}

// all are the resources in order.
func (t *table[T]) all() []*T {
	out := make([]*T, 0, len(t.byID))
	for _, v := range t.from(0) {
		out = append(out, v)
	}
	return out
}
