package joincheck

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"rollcall/shared/detect"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

// recordRest keeps what a roll call brought beside the launches that were
// called: the refused ones, the nodes that were lost, and what the subnets had.
// The last fails nothing: it is for later.
func (h handler) recordRest(ctx context.Context, s *snapshot.Snapshot, r roll) error {
	var subnets []string
	for _, e := range r.entries {
		subnets = append(subnets, e.launch.Subnet)
	}
	if err := h.memory.RecordSamples(ctx, detect.Samples(s, detect.Distinct(subnets, s.Scope.Subnets, s.Scope.Launchable))); err != nil {
		h.Log.WarnContext(ctx, "could not record what the subnets had", "cluster", s.Cluster.Name, "error", err.Error())
	}
	if err := h.recordLost(ctx, s, r.lost); err != nil {
		return err
	}
	if !r.sweep || !s.Has(snapshot.Activities) {
		return nil
	}
	return h.recordRefused(ctx, s, r)
}

// recordLost records the ends of nodes that had joined.
func (h handler) recordLost(ctx context.Context, s *snapshot.Snapshot, lost []entry) error {
	var g errgroup.Group
	g.SetLimit(detect.Writers)
	for _, e := range lost {
		g.Go(func() error {
			l, f := e.launch, outcome.Merge(end(e.instance), endedBy(e.instance, s))
			if f.Ended.IsZero() {
				f.Ended = s.Time
			}
			l.Learn(f)
			if err := h.save(ctx, true, l); err != nil {
				return fmt.Errorf("record the end of %s: %w", l.Instance, err)
			}
			return nil
		})
	}
	h.Count("LostNodes", len(lost))
	return g.Wait()
}

// recordRefused records the launches of the last hour that came to nothing, and of
// which no event told: each once, by its scaling activity, or as the end of the
// instance that it names.
func (h handler) recordRefused(ctx context.Context, s *snapshot.Snapshot, r roll) error {
	list := detect.RefusedOf(s.Cluster.Name, s, r.learned)
	if len(list) == 0 {
		return nil
	}
	var ids []string
	for _, l := range list {
		ids = append(ids, l.ID())
	}
	known, err := h.launches.GetLaunches(ctx, ids)
	if err != nil {
		return fmt.Errorf("look up %d refused launches: %w", len(ids), err)
	}
	for _, l := range list {
		have, recorded := known[l.ID()]
		switch {
		case recorded && have.Activity == l.ID():
			continue // the event brought it, or an earlier sweep
		case recorded:
			if !have.Learn(l.Known()) {
				continue
			}
			l = have
		default:
			detect.Had(s, &l)
			h.Count("RefusedLaunches", 1)
		}
		if err := h.save(ctx, recorded, l); err != nil {
			return fmt.Errorf("record the refused launch %s: %w", l.ID(), err)
		}
	}
	return nil
}
