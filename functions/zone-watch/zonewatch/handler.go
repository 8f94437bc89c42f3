package zonewatch

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/bus"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/report"
	"rollcall/shared/run"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// History is what became of launches.
type History interface {
	History(ctx context.Context, cluster string, since time.Time) ([]snapshot.Past, error)
}

// Reader reads AWS and Kubernetes.
type Reader interface {
	Clusters(ctx context.Context) ([]string, *snapshot.Failure)
	GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure)
	FindTagged(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure)
	Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error)
	// Unshown notes which of the named instances EC2 does not show.
	Unshown(ctx context.Context, s *snapshot.Snapshot, named map[string]string)
}

// Sender is whom it tells.
type Sender interface {
	SendResult(ctx context.Context, o report.Observation) error
}

var (
	_ History = (*state.Store)(nil)
	_ Reader  = (*gather.Reader)(nil)
	_ Sender  = bus.Queues{}
)

type handler struct {
	history  History
	reader   Reader
	send     Sender
	watches  func(cluster string) bool
	clusters []string // nil: all of the region
	region   string
	now      func() time.Time
	log      *slog.Logger
	count    func(name string, n int)
	gauge    func(name, unit string, value float64, of ...run.Dimension)
}

// Build makes the handler of zone-watch from what its invocations share.
func Build(_ context.Context, e run.Env) (run.Handler, error) {
	h := handler{
		history:  state.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now),
		reader:   gather.New(e.AWS).Through(e.Config.Doors.Of),
		send:     bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL},
		watches:  e.Config.Watches,
		clusters: e.Config.Clusters,
		region:   e.Config.Region,
		now:      e.Now,
		log:      e.Log,
		count:    e.Metrics.Count,
		gauge:    e.Metrics.Gauge,
	}
	return h.handle, nil
}

// handle takes the schedule, which comes every five minutes, the word that a nodegroup
// has changed, or the wish that a cluster be looked at now.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	switch t.Kind {
	case event.Sweep:
		done, err := detect.Each(ctx, "watch the zones of", h.clusters, h.reader, func(ctx context.Context, cluster string) error {
			return h.watch(ctx, cluster, t.Account)
		})
		h.count("SweptClusters", done)
		return nil, err
	case event.StatusChanged, event.CheckWanted:
		if !h.watches(t.Cluster) {
			h.count("ForeignClusters", 1)
			return nil, nil
		}
		return nil, h.watch(ctx, t.Cluster, t.Account)
	}
	return nil, fmt.Errorf("zone-watch is woken by its schedule, by changes of nodegroups and by wishes, not by %s", t.Type)
}
