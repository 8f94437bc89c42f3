package subnetwatch

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/run"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// History is what subnets had, and what was said.
type History interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	Samples(ctx context.Context, subnet string, since time.Time) ([]snapshot.Sample, error)
	RecordSamples(ctx context.Context, samples []snapshot.Sample) error
	// CatchUp makes one record of each hour that is over.
	CatchUp(ctx context.Context, subnet string) (hours int, err error)
	Returned(ctx context.Context, cluster string, since time.Time) ([]snapshot.Returned, error)
}

// Reader reads AWS and Kubernetes.
type Reader interface {
	Clusters(ctx context.Context) ([]string, *snapshot.Failure)
	GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure)
	Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error)
	More(ctx context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source)
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
	history History
	// reader gives a reader for one sweep: it counts each VPC once.
	reader   func() Reader
	send     Sender
	watches  func(cluster string) bool
	clusters []string // nil: all of the region
	region   string
	// cleanup is what eni-cleanup may do in a cluster, in its VPC.
	cleanup func(cluster, vpc string) snapshot.Cleanup
	horizon time.Duration
	now     func() time.Time
	log     *slog.Logger
	count   func(name string, n int)
	gauge   func(name, unit string, value float64, of ...run.Dimension)
	// bySubnet writes metrics of each subnet, beside those of each cluster.
	bySubnet bool
}

// Build makes the handler of subnet-watch from what its invocations share.
func Build(_ context.Context, e run.Env) (run.Handler, error) {
	reader := gather.New(e.AWS).Through(e.Config.Doors.Of)
	h := handler{
		history:  state.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now),
		reader:   func() Reader { return reader.Counting() },
		send:     bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL},
		watches:  e.Config.Watches,
		clusters: e.Config.Clusters,
		region:   e.Config.Region,
		cleanup:  cleanup(e.Config),
		horizon:  e.Config.RunwayHorizon,
		now:      e.Now,
		log:      e.Log,
		count:    e.Metrics.Count,
		gauge:    e.Metrics.Gauge,
		bySubnet: e.Config.SubnetMetrics,
	}
	return h.handle, nil
}

// handle takes the schedule, which comes every five minutes, or the wish
// that a cluster be looked at now.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	reader := h.reader()
	switch t.Kind {
	case event.Sweep:
	case event.CheckWanted:
		if !h.watches(t.Cluster) {
			h.count("ForeignClusters", 1)
			return nil, nil
		}
		return nil, h.watch(ctx, reader, t.Cluster, t.Account)
	default:
		return nil, fmt.Errorf("subnet-watch is woken by its schedule and by wishes, not by %s", t.Type)
	}
	done, err := detect.Each(ctx, "watch the subnets of", h.clusters, reader, func(ctx context.Context, cluster string) error {
		return h.watch(ctx, reader, cluster, t.Account)
	})
	h.count("SweptClusters", done)
	return nil, err
}

func cleanup(c config.Config) func(cluster, vpc string) snapshot.Cleanup {
	return func(cluster, vpc string) snapshot.Cleanup {
		untagged := false
		for _, id := range c.CleanupUntagged {
			untagged = untagged || id == vpc
		}
		return snapshot.Cleanup{Mode: string(c.CleanupOf(cluster)), Grace: c.CleanupGrace, Untagged: untagged}
	}
}
