// Package subnetwatch watches the addresses of the subnets in which nodes are
// launched.
package subnetwatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/subnet-watch/spec"
	"rollcall/shared/bus"
	"rollcall/shared/checks"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/overview"
	"rollcall/shared/store"

	"rollcall/shared/snapshot"
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
	detect.Reader
	GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure)
	More(ctx context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source)
}

var (
	_ History       = (*store.Store)(nil)
	_ Reader        = (*gather.Reader)(nil)
	_ detect.Sender = bus.Queues{}
)

type handler struct {
	detect.Detector
	history History
	// reader gives a reader for one invocation: it counts each VPC once.
	reader func() Reader
	// cleanup is what eni-cleanup may do in a cluster, in its VPC.
	cleanup func(cluster, vpc string) snapshot.Cleanup
	horizon time.Duration
	gauge   func(name, unit string, value float64, of ...lambda.Dimension)
	// soonest is told which subnet of a cluster runs out of addresses first; it may be nil.
	soonest func(overview.Subnet)
	// bySubnet writes metrics of each subnet, beside those of each cluster.
	bySubnet bool
	noCharts bool
}

// Parts are what the handler is made of. Build makes them of AWS; who looks at a
// cluster with nothing deployed has a memory of its own (local/diagnose/look).
type Parts struct {
	Detector detect.Detector
	Config   config.Config
	Table    History
	// Reader gives a reader for one invocation.
	Reader func() Reader
	Gauge  func(name, unit string, value float64, of ...lambda.Dimension)
	// Soonest is told which subnet runs out first; it may be nil.
	Soonest func(overview.Subnet)
	// NoCharts leaves out the charts of subnets, which only Slack shows.
	NoCharts bool
}

// New makes the handler of its parts.
func New(p Parts) lambda.Handler {
	h := handler{
		Detector: p.Detector,
		history:  p.Table,
		reader:   p.Reader,
		cleanup:  cleanup(p.Config),
		horizon:  p.Config.RunwayHorizon,
		gauge:    p.Gauge,
		soonest:  p.Soonest,
		bySubnet: p.Config.SubnetMetrics,
		noCharts: p.NoCharts,
	}
	return h.handle
}

// Build makes the handler of subnet-watch from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep)
	return New(Parts{
		Detector: detect.New(spec.Name, e, reader, bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Spoke: e.Config.Spoke}).Keeping(keep),
		Config:   e.Config,
		Table:    store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now).In(e.Config.Spoke),
		Reader:   func() Reader { return reader.Counting() },
		Gauge:    e.Metrics.Gauge,
	}), nil
}

// handle takes a cluster's turn to be swept, or the wish that it be looked at now.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	reader := h.reader()
	h.Reader = reader // of this invocation
	watch := func(ctx context.Context, cluster string) error { return h.watch(ctx, reader, cluster, t.Account) }
	switch t.Kind {
	case event.ClusterSweep, event.CheckWanted:
		return nil, h.One(ctx, t.Cluster, watch)
	}
	return nil, fmt.Errorf("subnet-watch is woken by sweeps and by wishes, not by %s", t.Type)
}

// watch looks at the subnets of one cluster, tells report what it finds, and
// keeps what they have now. What is told does not wait for what is kept, nor
// the other way round.
func (h handler) watch(ctx context.Context, reader Reader, cluster, account string) error {
	s, err := h.read(ctx, reader, cluster, account)
	if err != nil {
		return h.IgnoreNoCluster(ctx, cluster, err)
	}
	subnets := watched(s)
	unread := h.addHistory(ctx, s, subnets)
	incidents, err := h.history.Incidents(ctx, cluster)
	if err != nil {
		unread = errors.Join(unread, fmt.Errorf("read the incidents: %w", err))
	}
	list := checks.OfAddresses()
	o := detect.Judge(spec.Name, s, detect.Look{Checks: list, Untold: explained(list, incidents)})
	if !h.noCharts {
		o.Charts = h.charts(ctx, s, o.Diagnosis)
	}
	told := h.Tell(ctx, o)
	h.measure(s, subnets)
	return errors.Join(told, unread, h.keep(ctx, s, subnets))
}

// explained tells a cause that an open incident explains already: others see the
// launches (a burst, a refusal), and have said why the subnet is empty.
func explained(list []checks.Check, incidents []incident.Incident) func(diagnose.Cause) bool {
	return func(c diagnose.Cause) bool {
		k := slices.IndexFunc(list, func(x checks.Check) bool { return x.ID == c.Check })
		return k >= 0 && slices.ContainsFunc(incidents, func(i incident.Incident) bool {
			explains := slices.Contains(list[k].After, i.Key.Check) || slices.Contains(list[k].Adds, i.Key.Check)
			// What this look itself judges has been ranked with it.
			own := slices.ContainsFunc(list, func(x checks.Check) bool { return x.ID == i.Key.Check })
			return i.State != incident.Closed && explains && !own && (i.Key.Resource == c.Resource || slices.Contains(i.Covers, c.Resource))
		})
	}
}
