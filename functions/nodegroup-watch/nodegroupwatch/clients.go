package nodegroupwatch

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/nodegroup-watch/spec"
	"rollcall/shared/bus"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/nodegroup"
	"rollcall/shared/store"

	"rollcall/shared/snapshot"
)

// Memory is what nodegroup-watch remembers by.
type Memory interface {
	Nodegroups(ctx context.Context, cluster string) (map[string]nodegroup.Record, error)
	SaveNodegroup(ctx context.Context, r nodegroup.Record) (nodegroup.Record, error)
	GetLaunches(ctx context.Context, instances []string) (map[string]store.LaunchRecord, error)
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
}

// Reader is how it looks.
type Reader interface {
	Find(ctx context.Context, ids, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	FindGrouped(ctx context.Context, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure)
	More(ctx context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source)
}

// Reminder wakes it again.
type Reminder interface {
	LookAtNodegroup(ctx context.Context, cluster, name string, now time.Time, delay time.Duration) error
}

// Teller tells anyone of what has changed.
type Teller interface {
	TellNodegroups(ctx context.Context, events []nodegroup.Event) error
}

var (
	_ Memory        = (*store.Store)(nil)
	_ Reader        = (*gather.Reader)(nil)
	_ detect.Reader = (*gather.Reader)(nil)
	_ detect.Sender = bus.Queues{}
	_ Reminder      = bus.Queues{}
	_ Teller        = (*bus.Bus)(nil)
)

type handler struct {
	detect.Detector
	memory   Memory
	reader   Reader
	remind   Reminder
	tell     Teller
	joinTime time.Duration
}

// Parts are what the handler is made of. Build makes them of AWS; who looks at a
// cluster with nothing deployed has a memory of its own (local/diagnose/look).
type Parts struct {
	Detector detect.Detector
	Config   config.Config
	Table    Memory
	Reader   Reader
	Remind   Reminder
	Tell     Teller
}

// New makes the handler of its parts.
func New(p Parts) lambda.Handler { return p.handler().handle }

func (p Parts) handler() handler {
	return handler{
		Detector: p.Detector,
		memory:   p.Table,
		reader:   p.Reader,
		remind:   p.Remind,
		tell:     p.Tell,
		joinTime: p.Config.JoinTime,
	}
}

// Build makes the handler of nodegroup-watch from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	return newHandler(e).handle, nil
}

func newHandler(e lambda.Env) handler {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep)
	queues := bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Nodegroups: e.Config.NodegroupQueueURL, Spoke: e.Config.Spoke}
	return Parts{
		Detector: detect.New(spec.Name, e, reader, queues).Keeping(keep),
		Config:   e.Config,
		Table:    store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now).In(e.Config.Spoke),
		Reader:   reader,
		Remind:   queues,
		Tell:     bus.New(eventbridge.NewFromConfig(e.AWS), e.Config.BusName),
	}.handler()
}
