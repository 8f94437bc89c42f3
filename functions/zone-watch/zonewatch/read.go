package zonewatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/store"

	"rollcall/shared/snapshot"
)

// past is how long back launches are read: what tells a zone in trouble, and a
// group that keeps failing in one, is of the last hour.
const past = time.Hour

// read reads a cluster's groups, nodes, volumes, claims and waiting pods.
func (h handler) read(ctx context.Context, cluster, account string) (*snapshot.Snapshot, error) {
	q := h.Query(cluster, account)
	q.AllNodegroups, q.Sources = true, gather.ZoneSources(checks.OfZones())
	var groups, instances *snapshot.Failure
	q.Groups, groups = h.finder.GroupsOf(ctx, cluster)
	q.Instances, instances = h.finder.FindTagged(ctx, cluster)
	q.Failed = detect.Failures(groups, instances)
	s, err := h.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	if s.Has(snapshot.Instances) {
		h.finder.Unshown(ctx, s, gather.NamedByVolumes(s))
	}
	return s, nil
}

// addHistory adds what became of the launches of the last hours.
func (h handler) addHistory(ctx context.Context, s *snapshot.Snapshot) error {
	history, err := h.history.History(ctx, s.Cluster.Name, s.Time.Add(-past))
	var newer *store.NewerFormat
	var older *store.OlderLeftOut
	switch {
	case errors.As(err, &newer):
		h.Log.WarnContext(ctx, "some launches were recorded by a newer version of Rollcall, they are left out", "cluster", s.Cluster.Name, "error", err.Error())
		h.Count("NewerRecords", 1)
	case errors.As(err, &older):
		h.Log.WarnContext(ctx, "there are more launches than are read, the oldest are left out", "cluster", s.Cluster.Name, "error", err.Error())
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
	of := lambda.Dimension{Name: "cluster", Value: s.Cluster.Name}
	if volumesKnown && volumes > 0 {
		h.gauge("StrandedVolumes", "Count", float64(volumes), of)
	}
	if podsKnown && pods > 0 {
		h.gauge("WaitingPods", "Count", float64(pods), of)
	}
}
