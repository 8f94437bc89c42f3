package zonewatch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/functions/zone-watch/spec"
	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/gather"
	"rollcall/shared/run"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// past is how long back launches are read: what tells a zone in trouble, and a
// group that keeps failing in one, is of the last hour.
const past = time.Hour

// watch looks at the zones of one cluster, and tells report what it finds. What
// Rollcall itself remembers is one of several things to go by: where it cannot
// be read the rest is told all the same.
func (h handler) watch(ctx context.Context, cluster, account string) error {
	s, err := h.look(ctx, cluster, account)
	if errors.Is(err, gather.ErrNoCluster) {
		h.log.WarnContext(ctx, "a cluster that EKS does not have", "cluster", cluster)
		h.count("ForeignClusters", 1)
		return nil
	}
	if err != nil {
		return err
	}
	unremembered := h.remember(ctx, s)
	list := checks.OfZones()
	d := diagnose.Rank(list, checks.Eval(list, s), s)
	o := detect.Observe(spec.Name, s, d, nil)
	for _, c := range d.Causes {
		h.log.InfoContext(ctx, "cause found", "cluster", cluster, "check", c.Check, "resource", c.Resource, "confidence", c.Confidence)
	}
	for _, f := range o.Blind {
		h.log.WarnContext(ctx, "could not look", "cluster", cluster, "source", f.Source, "call", f.Call, "reason", f.Reason, "code", f.Code)
	}
	h.measure(s)
	return errors.Join(h.send.SendResult(ctx, o), unremembered)
}

// look reads a cluster's groups, nodes, volumes, claims and waiting pods.
func (h handler) look(ctx context.Context, cluster, account string) (*snapshot.Snapshot, error) {
	q := gather.Query{Account: account, Region: h.region, Time: h.now(), Cluster: cluster, AllNodegroups: true, Sources: gather.ZoneSources(checks.OfZones())}
	groups, failed := h.reader.GroupsOf(ctx, cluster)
	if failed != nil {
		q.Failed = append(q.Failed, *failed)
	}
	instances, failed := h.reader.FindTagged(ctx, cluster)
	if failed != nil {
		q.Failed = append(q.Failed, *failed)
	}
	q.Groups, q.Instances = groups, instances
	s, err := h.reader.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	if s.Has(snapshot.Instances) {
		h.reader.Unshown(ctx, s, gather.NamedByVolumes(s))
	}
	s.Taken = h.now()
	const field = 4
	if part := strings.Split(s.Cluster.ARN, ":"); s.Account == "" && len(part) > field {
		s.Account = part[field]
	}
	return s, nil
}

// remember adds what became of the launches of the last hours.
func (h handler) remember(ctx context.Context, s *snapshot.Snapshot) error {
	history, err := h.history.History(ctx, s.Cluster.Name, s.Time.Add(-past))
	var newer *state.NewerFormat
	var older *state.OlderLeftOut
	switch {
	case errors.As(err, &newer):
		h.log.WarnContext(ctx, "some launches were recorded by a newer version of Rollcall, they are left out", "cluster", s.Cluster.Name, "error", err.Error())
		h.count("NewerRecords", 1)
	case errors.As(err, &older):
		h.log.WarnContext(ctx, "there are more launches than are read, the oldest are left out", "cluster", s.Cluster.Name, "error", err.Error())
	case err != nil:
		return fmt.Errorf("read the history: %w", err)
	}
	s.History, s.Read[snapshot.LaunchHistory] = history, true
	return nil
}

// measure writes the metrics of the cluster: what could not be read is left
// out, so that a hole in the curve is no zero.
func (h handler) measure(s *snapshot.Snapshot) {
	volumes, pods, volumesKnown, podsKnown := checks.ZoneCounts(s)
	of := run.Dimension{Name: "cluster", Value: s.Cluster.Name}
	if volumesKnown && volumes > 0 {
		h.gauge("StrandedVolumes", "Count", float64(volumes), of)
	}
	if podsKnown && pods > 0 {
		h.gauge("WaitingPods", "Count", float64(pods), of)
	}
}
