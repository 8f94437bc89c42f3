package state

import (
	"container/heap"
	"time"
)

// due is something that happens by itself at a stage time.
type due struct {
	at  time.Time
	seq uint64
	// Exactly one of the two: run is called with the world locked, call with
	// it unlocked, because it makes an API call of its own.
	run  func()
	call func()
}

// agenda is what is due, earliest first; things due at the same time happen
// in the order in which they were entered.
type agenda struct {
	items dueHeap
	seq   uint64
}

func (a *agenda) add(d due) {
	a.seq++
	d.seq = a.seq
	heap.Push(&a.items, d)
}

// next is when the earliest is due.
func (a *agenda) next() (time.Time, bool) {
	if len(a.items) == 0 {
		return time.Time{}, false
	}
	return a.items[0].at, true
}

// pop takes the earliest if it is due by now.
func (a *agenda) pop(now time.Time) (due, bool) {
	if len(a.items) == 0 || a.items[0].at.After(now) {
		return due{}, false
	}
	return heap.Pop(&a.items).(due), true
}

type dueHeap []due

var _ heap.Interface = (*dueHeap)(nil)

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].seq < h[j].seq
}
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)   { *h = append(*h, x.(due)) }
func (h *dueHeap) Pop() any {
	old := *h
	n := len(old) - 1
	x := old[n]
	old[n] = due{}
	*h = old[:n]
	return x
}
