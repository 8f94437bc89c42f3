package launchwatch

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/launch-watch/spec"
	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/store"

	"rollcall/shared/snapshot"
)

// Launches is what launch-watch remembers by.
type Launches interface {
	detect.Launches
	detect.Times
	RecordSamples(ctx context.Context, samples []snapshot.Sample) error
}

// Reader is how it finds instances, and whose they are.
type Reader interface {
	Find(ctx context.Context, ids, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	FindTagged(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure)
	Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure)
	UserData(ctx context.Context, instances []snapshot.Instance) ([]snapshot.UserData, *snapshot.Failure)
	// TemplateTags gives the tags that launch templates put on instances.
	TemplateTags(ctx context.Context, refs []snapshot.TemplateRef) (map[snapshot.TemplateRef]map[string]string, *snapshot.Failure)
	// Decode decodes the message of a call that was denied.
	Decode(ctx context.Context, message string) snapshot.DecodedMessage
}

var (
	_ Launches = (*store.Store)(nil)

	_ detect.RefusedTable = (*store.Store)(nil)

	_ Reader          = (*gather.Reader)(nil)
	_ detect.Reader   = (*gather.Reader)(nil)
	_ detect.Sender   = bus.Queues{}
	_ detect.Reminder = bus.Queues{}
)

type handler struct {
	detect.Detector
	launches Launches
	refused  detect.RefusedTable
	reader   Reader
	remind   detect.Reminder
	joinTime time.Duration
}

// Parts are what the handler is made of. Build makes them of AWS; who looks at a
// cluster with nothing deployed has a memory of its own (local/diagnose/look).
type Parts struct {
	Detector detect.Detector
	Config   config.Config
	Table    interface {
		Launches
		detect.RefusedTable
	}
	Reader Reader
	Remind detect.Reminder
}

// New makes the handler of its parts.
func New(p Parts) lambda.Handler {
	h := handler{
		Detector: p.Detector,
		launches: p.Table,
		refused:  p.Table,
		reader:   p.Reader,
		remind:   p.Remind,
		joinTime: p.Config.JoinTime,
	}
	return h.handle
}

// Build makes the handler of launch-watch from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep).Decoding(e.Config.DecodeDenied)
	queues := bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Joins: e.Config.JoinQueueURL, Spoke: e.Config.Spoke}
	return New(Parts{
		Detector: detect.New(spec.Name, e, reader, queues).Keeping(keep),
		Config:   e.Config,
		Table:    store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now).In(e.Config.Spoke),
		Reader:   reader,
		Remind:   queues,
	}), nil
}
