package nodegroupwatch

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/bus"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/nodegroup"
	"rollcall/shared/report"
	"rollcall/shared/run"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// Memory is what nodegroup-watch remembers by.
type Memory interface {
	Nodegroups(ctx context.Context, cluster string) (map[string]nodegroup.Record, error)
	SaveNodegroup(ctx context.Context, r nodegroup.Record) (nodegroup.Record, error)
	GetLaunches(ctx context.Context, instances []string) (map[string]state.Launch, error)
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
}

// Reader is how it looks.
type Reader interface {
	Clusters(ctx context.Context) ([]string, *snapshot.Failure)
	Find(ctx context.Context, ids, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	FindGrouped(ctx context.Context, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure)
	Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error)
	More(ctx context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source)
}

// Sender is whom it tells of what it found, and by which it is reminded.
type Sender interface {
	SendResult(ctx context.Context, o report.Observation) error
	LookAtNodegroup(ctx context.Context, cluster, name string, now time.Time, delay time.Duration) error
}

// Teller tells anyone of what has changed.
type Teller interface {
	TellNodegroups(ctx context.Context, events []nodegroup.Event) error
}

var (
	_ Memory = (*state.Store)(nil)
	_ Reader = (*gather.Reader)(nil)
	_ Sender = bus.Queues{}
	_ Teller = (*bus.Bus)(nil)
)

type handler struct {
	memory   Memory
	reader   Reader
	send     Sender
	tell     Teller
	watches  func(cluster string) bool
	clusters []string // nil: all of the region
	region   string
	joinTime time.Duration
	now      func() time.Time
	log      *slog.Logger
	count    func(name string, n int)
}

// Build makes the handler of nodegroup-watch from what its invocations share.
func Build(_ context.Context, e run.Env) (run.Handler, error) { return newHandler(e).handle, nil }

func newHandler(e run.Env) handler {
	return handler{
		memory:   state.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now),
		reader:   gather.New(e.AWS).Through(e.Config.Doors.Of),
		send:     bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Nodegroups: e.Config.NodegroupQueueURL},
		tell:     bus.New(eventbridge.NewFromConfig(e.AWS), e.Config.BusName),
		watches:  e.Config.Watches,
		clusters: e.Config.Clusters,
		region:   e.Config.Region,
		joinTime: e.Config.JoinTime,
		now:      e.Now,
		log:      e.Log,
		count:    e.Metrics.Count,
	}
}

// handle takes a batch of events and reminders, a sweep, or the wish that
// a cluster be looked at now.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	if messages, ok := event.Batch(raw); ok {
		return h.batch(ctx, messages)
	}
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	switch t.Kind {
	case event.Sweep:
		return nil, h.sweep(ctx, t)
	case event.CheckWanted:
		if !h.watches(t.Cluster) {
			h.count("ForeignClusters", 1)
			return nil, nil
		}
		return nil, h.visit(ctx, t.Cluster, visit{account: t.Account, sweep: true})
	}
	return nil, fmt.Errorf("nodegroup-watch is woken by its queue, its schedule and by wishes, not by %s", t.Type)
}

// batch looks at what the messages are about, each cluster once. The messages
// of a cluster that could not be looked at go back; the others do not wait.
func (h handler) batch(ctx context.Context, messages []event.Message) (any, error) {
	b := h.open(messages)
	for _, cluster := range b.clusters() {
		v := b.visits[cluster]
		if err := h.visit(ctx, cluster, *v); err != nil {
			h.log.ErrorContext(ctx, "a cluster could not be looked at, its messages go back to the queue", "cluster", cluster, "error", err.Error())
			h.count("FailedLooks", 1)
			b.failed = append(b.failed, v.messages...)
		}
	}
	return event.Failures(b.failed), nil
}

// sweep looks at every watched cluster: EKS sends no event when a nodegroup
// degrades.
func (h handler) sweep(ctx context.Context, t event.Trigger) error {
	done, err := detect.Each(ctx, "sweep", h.clusters, h.reader, func(ctx context.Context, name string) error {
		return h.visit(ctx, name, visit{account: t.Account, sweep: true})
	})
	h.count("SweptClusters", done)
	return err
}
