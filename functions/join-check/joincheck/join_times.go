package joincheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// teachAll keeps how long joining took. It comes before the outcomes are recorded:
// who is known to have joined is not called again, and what a run that was killed
// in between had not kept would be lost. Kept twice it counts once. It fails
// nothing: it is for later.
func (h handler) teachAll(ctx context.Context, s *snapshot.Snapshot, r roll) {
	for nodegroup, joins := range r.joins {
		if err := h.teach(ctx, s.Cluster.Name, r.learned.Times[nodegroup], nodegroup, joins, s.Time); err != nil {
			h.Log.WarnContext(ctx, "could not record how long nodes took to join", "cluster", s.Cluster.Name, "nodegroup", nodegroup, "error", err.Error())
			h.Count("JoinTimesUnsaved", 1)
		}
	}
}

// joins are those of this roll that teach how long joining takes, by nodegroup.
func joins(entries []entry, verdicts []outcome.Verdict, s *snapshot.Snapshot) map[string][]outcome.Join {
	all := map[string][]outcome.Join{}
	for i, e := range entries {
		if e.silent || e.launch.Nodegroup == "" || e.launch.Status.Final() || verdicts[i].Status != outcome.Joined {
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

// tries is how often what is remembered of a nodegroup is read again that
// somebody else has written.
const tries = 3

// teach adds joins to what is remembered of a nodegroup, in one write.
func (h handler) teach(ctx context.Context, cluster string, t store.JoinTimes, nodegroup string, joins []outcome.Join, now time.Time) error {
	for range tries {
		t.Nodegroup = nodegroup
		with := t.Joins.With(joins, now)
		if slices.Equal(with, t.Joins) {
			return nil
		}
		t.Joins = with
		err := h.memory.SaveJoinTimes(ctx, cluster, t)
		var conflict *store.Conflict
		if !errors.As(err, &conflict) {
			return err
		}
		times, err := h.memory.JoinTimes(ctx, cluster)
		if err != nil {
			return err
		}
		t = times[nodegroup]
	}
	return fmt.Errorf("somebody else wrote them %d times", tries)
}
