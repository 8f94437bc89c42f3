package spotreport

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/spot-report/spec"
	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/digest"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
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
	detect.Reader
	GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure)
}

// Sender is whom it tells.
type Sender interface {
	detect.Sender
	SendSummary(ctx context.Context, s report.Summary) error
}

var (
	_ History = (*store.Store)(nil)
	_ Reader  = (*gather.Reader)(nil)
	_ Sender  = bus.Queues{}
)

type handler struct {
	detect.Detector
	history    History
	reader     Reader
	send       Sender
	reportHour int
}

// Parts are what the handler is made of. Build makes them of AWS; who looks at a
// cluster with nothing deployed has a memory of its own (local/diagnose/look).
type Parts struct {
	Detector detect.Detector
	Config   config.Config
	Table    History
	Reader   Reader
	Send     Sender
}

// New makes the handler of its parts.
func New(p Parts) lambda.Handler {
	h := handler{
		Detector:   p.Detector,
		history:    p.Table,
		reader:     p.Reader,
		send:       p.Send,
		reportHour: p.Config.ReportHour,
	}
	return h.handle
}

// Build makes the handler of spot-report from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep)
	queues := bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Spoke: e.Config.Spoke}
	table := store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now)
	detector := detect.New(spec.Name, e, reader, queues).Keeping(keep)
	if e.Config.Spoke.Hub() && e.Config.Weekly != nil && e.ForAll != nil {
		e.ForAll(weekly{
			Weekly: *e.Config.Weekly, Detector: detector, said: table, send: queues,
			watched: digest.All(e.Config, func(id spoke.ID) digest.Records { return table.In(id) }),
		}.handle)
	}
	return New(Parts{
		Detector: detector,
		Config:   e.Config,
		Table:    table.In(e.Config.Spoke),
		Reader:   reader,
		Send:     queues,
	}), nil
}
