package enicleanup

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"rollcall/shared/network/leak"
)

// finished is a delete of which it is known what came of it.
type finished struct {
	// sighting holds what was written ahead.
	sighting leak.Sighting
	audit    leak.Audit
}

// finish audits deletes, tells of them, and only then drops what was written
// ahead: whoever comes after a run that ended in between does the rest. The
// audit record is written once; an event may be sent twice, with the same id.
func (v *visit) finish(ctx context.Context, list []finished) error {
	if len(list) == 0 {
		return nil
	}
	audits := make([]leak.Audit, len(list))
	var g errgroup.Group
	g.SetLimit(parallel)
	for i, f := range list {
		g.Go(func() error {
			a, created, err := v.memory.RecordAudit(ctx, f.audit)
			if err != nil {
				return fmt.Errorf("record what came of %s: %w", f.audit.Interface, err)
			}
			audits[i] = a
			if created && a.Result == leak.Deleted {
				v.Count("Deleted", 1)
				v.Count("AddressesReturned", a.Addresses())
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var events []leak.Event
	for _, a := range audits {
		if a.Result == leak.Deleted {
			events = append(events, a.Event())
		}
	}
	if len(events) > 0 {
		if err := v.bus.TellInterfaces(ctx, events); err != nil {
			return fmt.Errorf("tell of %d deletes: %w", len(events), err)
		}
	}
	for _, f := range list {
		if f.audit.Result == leak.WouldDelete {
			continue // it is still there, and still seen
		}
		g.Go(func() error { return unlessConflict(v.memory.ForgetSighting(ctx, v.vpc, f.sighting)) })
	}
	return g.Wait()
}
