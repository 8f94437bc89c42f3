// Package enicleanup deletes the network interfaces that dead nodes left behind,
// by rules that each have a reason, and only where the operator opted in.
package enicleanup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
)

// room is kept before the deadline to write down what was done, and to tell:
// a delete that was sent is answered or given up within ten seconds. What is
// not told in it the next run tells. EC2's bucket is full after 20 seconds in
// which nobody deletes: more room is time lost.
const room = 20 * time.Second

// handle takes the schedule, or an approval of what it may delete. VPCs come one after the other: the cap and EC2's
// bucket are for all of them. One VPC's trouble does not keep the others from
// being cleaned up.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Kind == event.Sweep:
		return nil, h.everywhere(ctx, t, nil, nil)
	case t.Told == string(incident.EventApproved):
		return nil, h.approved(ctx, t)
	}
	return nil, fmt.Errorf("eni-cleanup is woken by its schedule and by approvals, not by %s", t.Type)
}

// everywhere cleans up in all VPCs, or in those alone that are wanted, and only
// the interfaces that are named, if any are.
func (h handler) everywhere(ctx context.Context, t event.Trigger, wanted func(place) bool, only map[string]bool) error {
	work := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		work, cancel = context.WithDeadline(ctx, deadline.Add(-room))
		defer cancel()
	}
	places, err := h.places(ctx, t)
	errs := []error{err}
	r := &tour{handler: h, work: work, id: cmp.Or(t.ID, h.Now().UTC().Format(time.RFC3339Nano)), left: h.limit, only: only}
	for _, p := range places {
		if wanted != nil && !wanted(p) {
			continue
		}
		if err := r.clean(ctx, p); err != nil {
			errs = append(errs, fmt.Errorf("clean up in %s: %w", p.vpc, err))
		}
	}
	return errors.Join(append(errs, r.rest(ctx))...)
}

// tour is one run over all VPCs.
type tour struct {
	handler
	// work ends some time before the context of the run.
	work context.Context
	id   string
	left int // of the cap
	// only are the interfaces that the run is about; nil: all.
	only map[string]bool
	// pace is nil until the first delete.
	pace *pacer
	// account is whose bucket it is.
	account string
}

// paced gives the pace. It is read from the table once it is needed.
func (r *tour) paced(ctx context.Context, account string) (*pacer, error) {
	if r.pace != nil {
		return r.pace, nil
	}
	last, err := r.notes.Pace(ctx, account, r.Region)
	if err != nil {
		return nil, err
	}
	r.account = account
	r.pace = &pacer{pace: leak.Begin(last, r.Now()), now: r.Now, sleep: r.sleep}
	return r.pace, nil
}

// rest leaves the pace to the next run.
func (r *tour) rest(ctx context.Context) error {
	if r.pace == nil {
		return nil
	}
	return r.notes.SavePace(ctx, r.account, r.Region, r.pace.left())
}
