package main

import "time"

// Score is what a rule does to the world.
type Score struct {
	Rule Rule
	// Deleted counts by class, in the order of classes.
	Deleted []int
	// Wrong are those deleted that ought to be kept, Left those kept that are
	// left behind with proof, Unsure those deleted of which either is right.
	Wrong, Left, Unsure int
	// Refused are those that EC2 did not let it delete.
	Refused int
}

// score plays a rule on the world.
func score(r Rule, world []Item, now time.Time) Score {
	s := Score{Rule: r, Deleted: make([]int, len(classes()))}
	place := map[string]int{}
	for n, c := range classes() {
		place[c.Name] = n
	}
	for _, i := range world {
		deletes := r.Deletes(i, now)
		if deletes && refuses(i.Now, r.Forces) {
			s.Refused++
			deletes = false
		}
		switch {
		case !deletes && i.Class.Truth == Free:
			s.Left++
		case !deletes:
		case i.Class.Truth == Keep:
			s.Wrong++
		case i.Class.Truth == Either:
			s.Unsure++
		}
		if deletes {
			s.Deleted[place[i.Class.Name]]++
		}
	}
	return s
}
