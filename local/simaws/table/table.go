// Package table keeps the resources of one kind in the order in which they
// came, and answers describe calls from it: filters, ids, pages and tokens as
// EC2 has them.
package table

import (
	"iter"
	"slices"
	"sort"
)

// Table keeps resources by id in the order in which they came, which is the
// order in which they are described.
type Table[T any] struct {
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

// New is a table without resources.
func New[T any]() *Table[T] { return &Table[T]{byID: map[string]row[T]{}} }

// Put adds a resource, or replaces the one with this id in its place. An id
// that is used again after its resource was removed comes last.
func (t *Table[T]) Put(id string, v *T) {
	r, ok := t.byID[id]
	if !ok {
		t.last++
		r.number = t.last
		t.order = append(t.order, entry{id, r.number})
	}
	r.v = v
	t.byID[id] = r
}

// Get is nil where there is none.
func (t *Table[T]) Get(id string) *T { return t.byID[id].v }

// Number is a resource's place in the order, 0 where there is none.
func (t *Table[T]) Number(id string) uint64 { return t.byID[id].number }

func (t *Table[T]) Remove(id string) {
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

func (t *Table[T]) lives(e entry) bool { return t.byID[e.id].number == e.number }

// from are the resources in order, beginning with the first whose number is
// not below the one given. Finding it does not go over those before.
func (t *Table[T]) from(number uint64) iter.Seq2[uint64, *T] {
	return func(yield func(uint64, *T) bool) {
		first := sort.Search(len(t.order), func(i int) bool { return t.order[i].number >= number })
		for _, e := range t.order[first:] {
			if r := t.byID[e.id]; r.number == e.number && !yield(e.number, r.v) {
				return
			}
		}
	}
}

// All are the resources in order.
func (t *Table[T]) All() []*T {
	out := make([]*T, 0, len(t.byID))
	for _, v := range t.from(0) {
		out = append(out, v)
	}
	return out
}
