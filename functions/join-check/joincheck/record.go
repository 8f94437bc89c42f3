package joincheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// record writes what is known of each launch, and asks for those to be called
// again that are not due yet.
func (h handler) record(ctx context.Context, s *snapshot.Snapshot, d diagnose.Diagnosis, r roll, verdicts []outcome.Verdict) error {
	var reminders detect.Reminders
	var g errgroup.Group
	g.SetLimit(detect.Writers)
	why := roots(d.Causes, s.Time)
	for i, e := range r.entries {
		if e.silent {
			continue
		}
		v := verdicts[i]
		g.Go(func() error {
			l := e.launch
			waits := v.Status == outcome.Waiting
			if !waits || !e.recorded {
				l.Status = v.Status
				l.Looks++
				detect.Had(s, &l)
				detect.KeepClaim(s, &l)
				l.Learn(known(e, v, s, why[l.Instance]))
				if err := h.save(ctx, e.recorded, l); err != nil {
					return fmt.Errorf("record the launch of %s: %w", l.Instance, err)
				}
				if v.Status.Final() && !e.launch.Status.Final() {
					h.logEnd(ctx, s.Cluster.Name, l)
				}
			}
			// The sweep looks again at those that missed it, and leaves those
			// that wait to the message that they have.
			if waits && (!e.recorded || !r.sweep && e.reminded) {
				reminders.Add(l.Instance, l.Due, s.Time)
			}
			return nil
		})
	}
	failed := g.Wait()
	_, err := reminders.Send(ctx, h.remind, s.Time)
	return errors.Join(failed, err)
}

// logEnd tells how a launch ended, once; where a run was killed in between, twice. The
// dashboard counts these lines by their instance (infra, dashboard).
func (h handler) logEnd(ctx context.Context, cluster string, l store.LaunchRecord) {
	attrs := []any{"cluster", cluster, "nodegroup", l.Nodegroup, "instance", l.Instance, "status", l.Status}
	if f := l.Known(); l.Status == outcome.Joined && f.Ready.After(f.Started) && !f.Started.IsZero() {
		attrs = append(attrs, "seconds", int(f.Ready.Sub(f.Started).Round(time.Second)/time.Second))
	}
	h.Log.InfoContext(ctx, "launch ended", attrs...)
}

// save writes a launch. Where others write it each time the next look will
// agree: the launch is open, or its end is known.
func (h handler) save(ctx context.Context, recorded bool, l store.LaunchRecord) error {
	err := h.SaveLaunch(ctx, h.launches, recorded, l)
	if lost := new(detect.LostRaces); errors.As(err, &lost) {
		return nil
	}
	return err
}
