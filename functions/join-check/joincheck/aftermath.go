package joincheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/shared/detect"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// aftermath keeps what a roll call brought beside the launches that were
// called: the refused ones, the nodes that were lost, and what the subnets had.
// The last fails nothing: it is for later.
func (h handler) aftermath(ctx context.Context, s *snapshot.Snapshot, r roll) error {
	var subnets []string
	for _, e := range r.entries {
		subnets = append(subnets, e.launch.Subnet)
	}
	if err := h.memory.RecordSamples(ctx, detect.Samples(s, unique(slices.Concat(subnets, s.Scope.Subnets, s.Scope.Launchable)))); err != nil {
		h.log.WarnContext(ctx, "could not record what the subnets had", "cluster", s.Cluster.Name, "error", err.Error())
	}
	if err := h.lose(ctx, s, r.lost); err != nil {
		return err
	}
	if !r.sweep || !s.Has(snapshot.Activities) {
		return nil
	}
	return h.refused(ctx, s, r)
}

// teachAll keeps how long joining took. It comes before the outcomes are recorded:
// who is known to have joined is not called again, and what a run that was killed
// in between had not kept would be lost. Kept twice it counts once. It fails
// nothing: it is for later.
func (h handler) teachAll(ctx context.Context, s *snapshot.Snapshot, r roll) {
	for nodegroup, joins := range r.joins {
		if err := h.teach(ctx, s.Cluster.Name, r.learned.Times[nodegroup], nodegroup, joins, s.Time); err != nil {
			h.log.WarnContext(ctx, "could not record how long nodes took to join", "cluster", s.Cluster.Name, "nodegroup", nodegroup, "error", err.Error())
			h.count("JoinTimesUnsaved", 1)
		}
	}
}

// lose records the ends of nodes that had joined.
func (h handler) lose(ctx context.Context, s *snapshot.Snapshot, lost []entry) error {
	var g errgroup.Group
	g.SetLimit(writers)
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
	h.count("LostNodes", len(lost))
	return g.Wait()
}

// refused records the launches of the last hour that came to nothing, and of
// which no event told: each once, by its scaling activity, or as the end of the
// instance that it names.
func (h handler) refused(ctx context.Context, s *snapshot.Snapshot, r roll) error {
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
			h.count("RefusedLaunches", 1)
		}
		if err := h.save(ctx, recorded, l); err != nil {
			return fmt.Errorf("record the refused launch %s: %w", l.ID(), err)
		}
	}
	return nil
}

// joins are those of this roll that teach how long joining takes, by nodegroup.
func joins(entries []entry, verdicts []outcome.Verdict, s *snapshot.Snapshot) map[string][]outcome.Join {
	all := map[string][]outcome.Join{}
	for i, e := range entries {
		if e.silent || e.launch.Nodegroup == "" || e.launch.Standing.Final() || verdicts[i].Standing != outcome.Joined {
			continue
		}
		f := outcome.Merge(e.launch.Known(), known(e, verdicts[i], s, outcome.Root{}))
		if f.Teaches() {
			all[e.launch.Nodegroup] = append(all[e.launch.Nodegroup], outcome.Join{
				Instance: e.launch.Instance, At: f.Ready, Seconds: int(f.Ready.Sub(f.Started).Round(time.Second) / time.Second),
			})
		}
	}
	return all
}

// teach adds joins to what is remembered of a nodegroup, in one write.
func (h handler) teach(ctx context.Context, cluster string, t state.JoinTimes, nodegroup string, joins []outcome.Join, now time.Time) error {
	for range races {
		t.Nodegroup = nodegroup
		with := t.Joins.With(joins, now)
		if slices.Equal(with, t.Joins) {
			return nil
		}
		t.Joins = with
		err := h.memory.SaveJoinTimes(ctx, cluster, t)
		var conflict *state.Conflict
		if !errors.As(err, &conflict) {
			return err
		}
		times, err := h.memory.JoinTimes(ctx, cluster)
		if err != nil {
			return err
		}
		t = times[nodegroup]
	}
	return fmt.Errorf("somebody else wrote them %d times", races)
}
