package joincheck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// soon is how soon a launch that is not due yet is called again. Most nodes are
// Ready within two minutes: the sooner their outcome is known, the sooner an
// incident has its proof, and the fewer end unseen.
const soon = time.Minute

// writers bounds the writes at once: a burst of a thousand launches is recorded
// in some seconds, and the table is not flooded.
const writers = 16

// step is what a reminder is rounded up to: a burst is one message, not one for
// each launch.
const step = 5 * time.Second

// remember writes what is known of each launch, and calls those that are not
// due yet again.
func (h handler) remember(ctx context.Context, s *snapshot.Snapshot, d diagnose.Diagnosis, r roll, verdicts []outcome.Verdict) error {
	var (
		mu    sync.Mutex
		again = map[time.Duration][]string{} // by when
		g     errgroup.Group
		why   = roots(d.Causes, s.Time)
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
				l.Standing = v.Standing
				l.Looks++
				detect.Had(s, &l)
				l.Learn(known(e, v, s, why[l.Instance]))
				if err := h.save(ctx, e.recorded, l); err != nil {
					return fmt.Errorf("record the launch of %s: %w", l.Instance, err)
				}
			}
			// The sweep looks again at those that missed it, and leaves those
			// that wait to the message that they have.
			if !waits || e.recorded && (r.sweep || !e.reminded) {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			delay := min(l.Due.Sub(s.Time)+step-1, soon).Truncate(step)
			again[delay] = append(again[delay], l.Instance)
			return nil
		})
	}
	failed := g.Wait()
	for _, delay := range slices.Sorted(maps.Keys(again)) {
		slices.Sort(again[delay])
		if err := h.send.LookAgain(ctx, again[delay], s.Time, delay); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// races is how often a record is read again that somebody else has written.
const races = 3

// save writes a launch. Over a record that another invocation has written
// meanwhile what is known is added: facts only add up.
func (h handler) save(ctx context.Context, recorded bool, l state.Launch) error {
	if !recorded {
		created, err := h.launches.CreateLaunch(ctx, l)
		if err != nil || created {
			return err
		}
	} else {
		err := h.launches.SaveLaunch(ctx, l)
		var conflict *state.Conflict
		if !errors.As(err, &conflict) {
			return err
		}
	}
	for range races {
		h.count("LostRaces", 1)
		list, err := h.launches.GetLaunches(ctx, []string{l.ID()})
		if err != nil {
			return fmt.Errorf("read it again: %w", err)
		}
		other, ok := list[l.ID()]
		if !ok {
			return nil // expired
		}
		changed := other.Learn(l.Known())
		if !other.Standing.Final() && other.Standing != l.Standing && l.Standing == outcome.Missed {
			other.Standing, changed = l.Standing, true
		}
		if !changed {
			return nil
		}
		err = h.launches.SaveLaunch(ctx, other)
		var conflict *state.Conflict
		if !errors.As(err, &conflict) {
			return err
		}
	}
	return nil // the next look will agree: the launch is open, or its end is known
}
