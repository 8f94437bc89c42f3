package subnetwatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rollcall/functions/subnet-watch/spec"
	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/gather"
	"rollcall/shared/incident"

	"rollcall/shared/snapshot"
)

// watch looks at the subnets of one cluster, tells report what it finds, and
// keeps what they have now. What is told does not wait for what is kept, nor
// the other way round.
func (h handler) watch(ctx context.Context, reader Reader, cluster, account string) error {
	s, err := h.look(ctx, reader, cluster, account)
	if errors.Is(err, gather.ErrNoCluster) {
		h.log.WarnContext(ctx, "a cluster that EKS does not have", "cluster", cluster)
		h.count("ForeignClusters", 1)
		return nil
	}
	if err != nil {
		return err
	}
	subnets := watched(s)
	unremembered := h.remember(ctx, s, subnets)
	list := checks.OfAddresses()
	d := diagnose.Rank(list, checks.Eval(list, s), s)
	incidents, err := h.history.Incidents(ctx, cluster)
	if err != nil {
		unremembered = errors.Join(unremembered, fmt.Errorf("read the incidents: %w", err))
	}
	d.Causes = untold(list, d.Causes, incidents)
	o := detect.Observe(spec.Name, s, d, nil)
	o.Charts = h.charts(ctx, s, d)
	for _, c := range d.Causes {
		h.log.InfoContext(ctx, "cause found", "cluster", cluster, "check", c.Check, "resource", c.Resource, "confidence", c.Confidence)
	}
	for _, f := range o.Blind {
		h.log.WarnContext(ctx, "could not look", "cluster", cluster, "source", f.Source, "call", f.Call, "reason", f.Reason, "code", f.Code)
	}
	h.measure(s, subnets)
	return errors.Join(h.send.SendResult(ctx, o), unremembered, h.keep(ctx, s, subnets))
}

// keep notes what the subnets have now.
func (h handler) keep(ctx context.Context, s *snapshot.Snapshot, subnets []string) error {
	samples := detect.Samples(s, subnets)
	if len(samples) == 0 {
		return nil
	}
	if err := h.history.RecordSamples(ctx, samples); err != nil {
		return fmt.Errorf("note what the subnets have: %w", err)
	}
	for _, id := range subnets {
		if _, err := h.history.CatchUp(ctx, id); err != nil {
			return fmt.Errorf("roll up what %s had: %w", id, err)
		}
	}
	return nil
}

// untold leaves out what an open incident explains already: others see the
// launches (a burst, a refusal), and have said why the subnet is empty.
func untold(list []checks.Check, causes []diagnose.Cause, incidents []incident.Incident) []diagnose.Cause {
	return slices.DeleteFunc(causes, func(c diagnose.Cause) bool {
		k := slices.IndexFunc(list, func(x checks.Check) bool { return x.ID == c.Check })
		return k >= 0 && slices.ContainsFunc(incidents, func(i incident.Incident) bool {
			explains := slices.Contains(list[k].After, i.Key.Check) || slices.Contains(list[k].Adds, i.Key.Check)
			// What this look itself judges has been ranked with it.
			own := slices.ContainsFunc(list, func(x checks.Check) bool { return x.ID == i.Key.Check })
			return i.State != incident.Closed && explains && !own && (i.Key.Resource == c.Resource || slices.Contains(i.Covers, c.Resource))
		})
	})
}
