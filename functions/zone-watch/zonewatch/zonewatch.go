// Package zonewatch watches the volumes of the clusters and the zones in which
// they live.
package zonewatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/zone-watch/spec"
	"rollcall/shared/checks"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/queue"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// History is what became of launches.
type History interface {
	History(ctx context.Context, cluster string, since time.Time) ([]snapshot.Past, error)
}

// Finder finds what a look begins with.
type Finder interface {
	GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure)
	FindTagged(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure)
	// Unshown notes which of the named instances EC2 does not show.
	Unshown(ctx context.Context, s *snapshot.Snapshot, named map[string]string)
}

var (
	_ History       = (*store.Store)(nil)
	_ Finder        = (*gather.Reader)(nil)
	_ detect.Reader = (*gather.Reader)(nil)
	_ detect.Sender = queue.Queues{}
)

// Parts are what the handler is made of. Build makes them of AWS; who looks at a
// cluster with nothing deployed has a memory of its own (command/diagnose/look).
type Parts struct {
	detect.Detector
	Table  History
	Reader Finder
	Gauge  func(name, unit string, value float64, of ...lambda.Dimension)
}

type handler Parts

// New makes the handler of its parts.
func New(p Parts) lambda.Handler { return handler(p).handle }

// Build makes the handler of zone-watch from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep)
	return New(Parts{
		Detector: detect.New(spec.Name, e, reader, queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Spoke: e.Config.Spoke}).Keeping(keep),
		Table:    detect.Table(e),
		Reader:   reader,
		Gauge:    e.Metrics.Gauge,
	}), nil
}

// handle takes a cluster's turn to be swept, the word that a nodegroup has changed, or
// the wish that the cluster be looked at now.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	watch := func(ctx context.Context, cluster string) error { return h.watch(ctx, cluster, t.Account) }
	switch t.Kind {
	case event.ClusterSweep, event.StatusChanged, event.CheckWanted:
		return nil, h.One(ctx, t.Cluster, watch)
	}
	return nil, fmt.Errorf("zone-watch is woken by sweeps, by changes of nodegroups and by wishes, not by %s", t.Type)
}

// watch looks at the zones of one cluster, and tells report what it finds. What
// Rollcall itself remembers is one of several things to go by: where it cannot
// be read the rest is reported all the same.
func (h handler) watch(ctx context.Context, cluster, account string) error {
	s, err := h.read(ctx, cluster, account)
	if err != nil {
		return h.IgnoreNoCluster(ctx, cluster, err)
	}
	unread := h.addHistory(ctx, s)
	_, err = h.Run(ctx, s, detect.Look{Checks: checks.OfZones()})
	h.measure(s)
	return errors.Join(err, unread)
}

// past is how long back launches are read: what tells a zone in trouble, and a
// group that keeps failing in one, is of the last hour.
const past = time.Hour

// read reads a cluster's groups, nodes, volumes, claims and waiting pods.
func (h handler) read(ctx context.Context, cluster, account string) (*snapshot.Snapshot, error) {
	q := h.Query(cluster, account)
	q.AllNodegroups, q.Sources = true, gather.ZoneSources(checks.OfZones())
	var groups, instances *snapshot.Failure
	q.Groups, groups = h.Reader.GroupsOf(ctx, cluster)
	q.Instances, instances = h.Reader.FindTagged(ctx, cluster)
	q.Failed = detect.Failures(groups, instances)
	s, err := h.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	if s.Has(snapshot.Instances) {
		h.Reader.Unshown(ctx, s, gather.NamedByVolumes(s))
	}
	return s, nil
}

// addHistory adds what became of the launches of the last hours.
func (h handler) addHistory(ctx context.Context, s *snapshot.Snapshot) error {
	history, err := h.Table.History(ctx, s.Cluster.Name, s.Time.Add(-past))
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
	volumes, pods, volumesKnown, podsKnown := zones.Counts(s)
	of := lambda.Dimension{Name: "cluster", Value: s.Cluster.Name}
	if volumesKnown && volumes > 0 {
		h.Gauge("StrandedVolumes", "Count", float64(volumes), of)
	}
	if podsKnown && pods > 0 {
		h.Gauge("WaitingPods", "Count", float64(pods), of)
	}
}
