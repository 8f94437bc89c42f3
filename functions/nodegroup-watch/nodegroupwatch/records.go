package nodegroupwatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"rollcall/shared/nodegroup"
	"rollcall/shared/store"
)

const (
	// soon is how soon a nodegroup that is on its way is looked at again: EKS
	// takes minutes for anything.
	soon = time.Minute
	// patience is how long it is followed by the minute; after that the sweep
	// is enough.
	patience = time.Hour
)

// keep remembers what was seen, and tells what has changed. Events stand in
// the record until the bus took them: a crash loses none, and tells none anew
// under another id.
func (h handler) keep(ctx context.Context, records, next map[string]nodegroup.Record, now time.Time) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(next)) {
		r := next[name]
		if !r.Known() {
			continue
		}
		if err := h.keepOne(ctx, records[name], r, now); err != nil {
			errs = append(errs, fmt.Errorf("nodegroup %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func (h handler) keepOne(ctx context.Context, last, r nodegroup.Record, now time.Time) (err error) {
	r, again := followed(r, now)
	if !r.Same(last) {
		if r, err = h.memory.SaveNodegroup(ctx, r); err != nil {
			return h.lost(err)
		}
	}
	if again {
		if err := h.remind.LookAtNodegroup(ctx, r.Cluster, r.Nodegroup, now, soon); err != nil {
			return err
		}
	}
	if len(r.Untold) == 0 || r.Events == last.Events && beingTold(r, now) {
		return nil
	}
	if err := h.tell.TellNodegroups(ctx, r.Untold); err != nil {
		return err
	}
	h.Count("NodegroupEvents", len(r.Untold))
	for _, e := range r.Untold {
		h.Log.InfoContext(ctx, "nodegroup changed", "cluster", e.Cluster, "nodegroup", e.Nodegroup, "reason", e.Reason, "previous", e.Previous, "status", e.Status, "sequence", e.Sequence)
	}
	r.Untold = nil
	_, err = h.memory.SaveNodegroup(ctx, r)
	return h.lost(err)
}

// telling is how long an invocation that put events into a record may be
// telling them: as long as it may run.
const telling = time.Minute

// beingTold tells that another invocation, which found what is untold, is at
// it. Where it died meanwhile, a later look tells it.
func beingTold(r nodegroup.Record, now time.Time) bool {
	return now.Sub(r.Untold[len(r.Untold)-1].At) < telling
}

// lost makes nothing of a lost race: the other invocation saw at least as
// much, told it, and reminds itself.
func (h handler) lost(err error) error {
	var conflict *store.Conflict
	if errors.As(err, &conflict) {
		h.Count("LostRaces", 1)
		return nil
	}
	return err
}

// followed decides whether to look again soon. The record holds when: of two
// looks because of one doubled event only the first asks for another, so that
// there is one chain of reminders, whatever comes twice.
func followed(r nodegroup.Record, now time.Time) (nodegroup.Record, bool) {
	if !r.OnItsWay() {
		r.Again = time.Time{}
		return r, false
	}
	since := r.Since
	if r.Status != nodegroup.Creating && r.Status != nodegroup.Updating && r.Status != nodegroup.Deleting {
		since = r.Updates[0].Created
	}
	if now.Sub(since) >= patience || now.Before(r.Again) {
		return r, false
	}
	r.Again = now.Add(soon)
	return r, true
}
