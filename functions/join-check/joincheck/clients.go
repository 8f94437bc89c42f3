package joincheck

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/join-check/spec"
	"rollcall/shared/bus"
	"rollcall/shared/cloudwatchlogs"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/node/text"
	"rollcall/shared/outbox"
	"rollcall/shared/store"

	"rollcall/shared/snapshot"
)

// Launches is what join-check remembers by.
type Launches interface {
	detect.Launches
	OpenLaunches(ctx context.Context, cluster string) ([]store.LaunchRecord, error)
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error)
}

// Memory is what it has seen of the past, and what it learns.
type Memory interface {
	detect.Times
	SaveJoinTimes(ctx context.Context, cluster string, t store.JoinTimes) error
	RecentHistory(ctx context.Context, cluster string, since time.Time, most int) ([]snapshot.Past, error)
	Samples(ctx context.Context, subnet string, since time.Time) ([]snapshot.Sample, error)
	RecordSamples(ctx context.Context, samples []snapshot.Sample) error
}

// Reader reads the instances that events name, and more of a cluster.
type Reader interface {
	Find(ctx context.Context, ids, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure)
	More(ctx context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source)
	// Unshown notes which of the named instances EC2 does not show.
	Unshown(ctx context.Context, s *snapshot.Snapshot, named map[string]string)
}

// Searcher finds what no event told of.
type Searcher interface {
	// FindTaggedAll gives those of every state, as long as EC2 describes them.
	FindTaggedAll(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure)
	FindGrouped(ctx context.Context, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure)
	FindIn(ctx context.Context, vpc string) ([]snapshot.Instance, *snapshot.Failure)
	UserData(ctx context.Context, instances []snapshot.Instance) ([]snapshot.UserData, *snapshot.Failure)
}

var (
	_ Launches = (*store.Store)(nil)
	_ Memory   = (*store.Store)(nil)

	_ detect.RefusedTable = (*store.Store)(nil)

	_ Reader          = (*gather.Reader)(nil)
	_ Searcher        = (*gather.Reader)(nil)
	_ detect.Reader   = (*gather.Reader)(nil)
	_ detect.Sender   = bus.Queues{}
	_ detect.Reminder = bus.Queues{}
)

type handler struct {
	detect.Detector
	launches Launches
	memory   Memory
	refused  detect.RefusedTable
	reader   Reader
	search   Searcher
	remind   detect.Reminder
	joinTime time.Duration
	giveUp   time.Duration
}

// Parts are what the handler is made of. Build makes them of AWS; who looks at a
// cluster with nothing deployed has a memory of its own (local/diagnose/look).
type Parts struct {
	Detector detect.Detector
	Config   config.Config
	Table    interface {
		Launches
		Memory
		detect.RefusedTable
	}
	Reader interface {
		Reader
		Searcher
	}
	Remind detect.Reminder
}

// New makes the handler of its parts.
func New(p Parts) lambda.Handler {
	h := handler{
		Detector: p.Detector,
		launches: p.Table,
		memory:   p.Table,
		refused:  p.Table,
		reader:   p.Reader,
		search:   p.Reader,
		remind:   p.Remind,
		joinTime: p.Config.JoinTime,
		giveUp:   p.Config.GiveUp,
	}
	return h.handle
}

// Build makes the handler of join-check from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	keep := detect.KeepEvidence(e)
	reader := detect.NewReader(e, keep).Decoding(e.Config.DecodeDenied).
		ReadingLogs(cloudwatchlogs.New(e.Watched()), e.Config.AutoModeLogs, text.CauseOfKarpenter)
	queues := bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Joins: e.Config.JoinQueueURL, Spoke: e.Config.Spoke}
	return New(Parts{
		Detector: detect.New(spec.Name, e, reader, queues).Keeping(keep),
		Config:   e.Config,
		Table:    store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now).In(e.Config.Spoke),
		Reader:   reader,
		Remind:   queues,
	}), nil
}
