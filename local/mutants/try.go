package main

import (
	"context"
	"fmt"
	"time"
)

// fate is what came of a mutant.
type fate int

const (
	lived fate = iota
	killed
	timedOut
)

// result is a mutant, and what came of it.
type result struct {
	mutant
	Fate  fate
	Tests int // that reach it
	// Reason is why it is excused; empty where it is not.
	Reason string
}

// batch is how long the tests of one process may take together: to start a
// process costs more than most tests.
const batch = 500 * time.Millisecond

// try runs the tests that reach a mutant, quickest first, until one fails.
func try(ctx context.Context, m mutant, tests []*test) (result, error) {
	r := result{mutant: m}
	var reaching []*test
	for _, t := range tests {
		if t.Reaches[m.ID] {
			reaching = append(reaching, t)
		}
	}
	r.Tests = len(reaching)
	for len(reaching) > 0 {
		b := reaching[0].Binary
		var names []string
		var together time.Duration
		n := 0
		for n < len(reaching) && reaching[n].Binary == b && (n == 0 || together+reaching[n].Takes <= batch) {
			names = append(names, reaching[n].Name)
			together += reaching[n].Takes
			n++
		}
		how, _, _, err := run(ctx, b, names, together, fmt.Sprintf("MUTANT=%d", m.ID))
		if err != nil {
			return r, fmt.Errorf("%s: %w", m, err)
		}
		switch how {
		case failed:
			r.Fate = killed
			return r, nil
		case outOfTime:
			r.Fate = timedOut
			return r, nil
		}
		reaching = reaching[n:]
	}
	return r, nil
}
