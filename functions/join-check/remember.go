package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/shared/outcome"
	"rollcall/shared/state"
)

// soon is how soon a launch that is not due yet is called again. Most nodes are
// Ready within two minutes: the sooner their outcome is known, the sooner an
// incident has its proof, and the fewer end unseen.
const soon = time.Minute

// writers bounds the writes at once: a burst of a thousand launches is recorded
// in some seconds, and the table is not flooded.
const writers = 16

// remember writes how each launch stands, and calls those that are not due
// yet again.
func (h handler) remember(ctx context.Context, r roll, verdicts []outcome.Verdict, now time.Time) error {
	var (
		mu    sync.Mutex
		again = map[time.Duration][]string{} // by when
		g     errgroup.Group
	)
	g.SetLimit(writers)
	for i, e := range r.entries {
		if e.silent {
			continue
		}
		v := verdicts[i]
		g.Go(func() error {
			l := e.launch
			waits := v.Standing == outcome.Waiting
			if !waits || !e.recorded {
				l.Standing, l.Registered, l.Ready, l.Ended, l.EndedWhy = v.Standing, v.Registered, v.Ready, v.Ended, v.EndedWhy
				l.Looks++
				if err := h.save(ctx, e.recorded, l); err != nil {
					return fmt.Errorf("record the launch of %s: %w", l.Instance, err)
				}
			}
			// The sweep looks again at those that missed it, and leaves those
			// that wait to the message that they have.
			if !waits || r.sweep && e.recorded {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			delay := min(l.Due.Sub(now), soon)
			again[delay] = append(again[delay], l.Instance)
			return nil
		})
	}
	failed := g.Wait()
	for _, delay := range slices.Sorted(maps.Keys(again)) {
		slices.Sort(again[delay])
		if err := h.send.LookAgain(ctx, again[delay], now, delay); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// save writes a launch. Losing the race against another invocation is fine:
// that one saw at least as much, and the next look will agree.
func (h handler) save(ctx context.Context, recorded bool, l state.Launch) error {
	if !recorded {
		_, err := h.launches.CreateLaunch(ctx, l)
		return err
	}
	err := h.launches.SaveLaunch(ctx, l)
	var conflict *state.Conflict
	if errors.As(err, &conflict) {
		h.count("LostRaces", 1)
		return nil
	}
	return err
}
