package spotreport

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/spot-report/spec"
	"rollcall/shared/bus"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/store"

	"rollcall/shared/snapshot"
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

// Build makes the handler of spot-report from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	reader := gather.New(e.AWS).WithEndpoints(e.Endpoints)
	queues := bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL}
	h := handler{
		Detector:   detect.New(spec.Name, e, reader, queues),
		history:    store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now),
		reader:     reader,
		send:       queues,
		reportHour: e.Config.ReportHour,
	}
	return h.handle, nil
}
