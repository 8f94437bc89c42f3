package spotreport

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
	"rollcall/shared/notify/outbox"
	"rollcall/shared/report"
	"rollcall/shared/run"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// History is what Rollcall remembers of launches and subnets.
type History interface {
	History(ctx context.Context, cluster string, since time.Time) ([]snapshot.Past, error)
	Samples(ctx context.Context, subnet string, since time.Time) ([]snapshot.Sample, error)
	RecordSamples(ctx context.Context, samples []snapshot.Sample) error
	// Postings are the summaries that report has.
	Postings(ctx context.Context, cluster string) ([]outbox.Posting, error)
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
	SendSummary(ctx context.Context, s report.Summary) error
}

var (
	_ History = (*state.Store)(nil)
	_ Reader  = (*gather.Reader)(nil)
	_ Sender  = bus.Queues{}
)

type handler struct {
	history    History
	reader     Reader
	send       Sender
	watches    func(cluster string) bool
	clusters   []string // nil: all of the region
	region     string
	reportHour int
	now        func() time.Time
	log        *slog.Logger
	count      func(name string, n int)
}

// Build makes the handler of spot-report from what its invocations share.
func Build(_ context.Context, e run.Env) (run.Handler, error) {
	h := handler{
		history:    state.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now),
		reader:     gather.New(e.AWS).Through(e.Config.Doors.Of),
		send:       bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL},
		watches:    e.Config.Watches,
		clusters:   e.Config.Clusters,
		region:     e.Config.Region,
		reportHour: e.Config.ReportHour,
		now:        e.Now,
		log:        e.Log,
		count:      e.Metrics.Count,
	}
	return h.handle, nil
}

// answer tells a person who asked what came of it.
type answer struct {
	// Sent are the ids of the summaries that report was sent.
	Sent []string `json:"sent,omitempty"`
	// WithoutSpot are the clusters that launched no Spot instance in that time.
	WithoutSpot []string `json:"withoutSpot,omitempty"`
}

// handle takes the hourly schedule, or somebody's wish.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	switch t.Kind {
	case event.Sweep:
		return nil, h.each(ctx, t, h.hourly)
	case event.Asked:
		if t.Cluster != "" && !h.watches(t.Cluster) {
			return nil, fmt.Errorf("cluster %s is not watched (setting clusters)", t.Cluster)
		}
		a := &answer{}
		return a, h.each(ctx, t, func(ctx context.Context, cluster string, t event.Trigger) error {
			return h.asked(ctx, cluster, t, a)
		})
	}
	return nil, fmt.Errorf("spot-report is woken by its schedule, or asked for a report, not by %s", t.Type)
}

// each does something for every watched cluster, or for the one that was named.
func (h handler) each(ctx context.Context, t event.Trigger, do func(context.Context, string, event.Trigger) error) error {
	names := h.clusters
	if t.Cluster != "" {
		names = []string{t.Cluster}
	}
	_, err := detect.Each(ctx, "report on", names, h.reader, func(ctx context.Context, name string) error { return do(ctx, name, t) })
	return err
}
