package joincheck

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/bus"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/notify/outbox"
	"rollcall/shared/report"
	"rollcall/shared/run"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// Launches is what join-check remembers by.
type Launches interface {
	GetLaunches(ctx context.Context, instances []string) (map[string]state.Launch, error)
	OpenLaunches(ctx context.Context, cluster string) ([]state.Launch, error)
	CreateLaunch(ctx context.Context, l state.Launch) (created bool, err error)
	SaveLaunch(ctx context.Context, l state.Launch) error
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error)
}

// Memory is what it has seen of the past, and what it learns.
type Memory interface {
	History(ctx context.Context, cluster string, since time.Time) ([]snapshot.Past, error)
	Samples(ctx context.Context, subnet string, since time.Time) ([]snapshot.Sample, error)
	RecordSamples(ctx context.Context, samples []snapshot.Sample) error
	JoinTimes(ctx context.Context, cluster string) (map[string]state.JoinTimes, error)
	SaveJoinTimes(ctx context.Context, cluster string, t state.JoinTimes) error
}

// Reader reads AWS and Kubernetes.
type Reader interface {
	Find(ctx context.Context, ids, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure)
	Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error)
	More(ctx context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source)
	// Unshown notes which of the named instances EC2 does not show.
	Unshown(ctx context.Context, s *snapshot.Snapshot, named map[string]string)
}

// Searcher finds what no event told of.
type Searcher interface {
	Clusters(ctx context.Context) ([]string, *snapshot.Failure)
	// FindTaggedAll gives those of every state, as long as EC2 describes them.
	FindTaggedAll(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure)
	FindGrouped(ctx context.Context, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure)
	FindIn(ctx context.Context, vpc string) ([]snapshot.Instance, *snapshot.Failure)
	UserData(ctx context.Context, instances []snapshot.Instance) ([]snapshot.UserData, *snapshot.Failure)
}

// Sender is whom it tells.
type Sender interface {
	SendResult(ctx context.Context, o report.Observation) error
	LookAgain(ctx context.Context, instances []string, now time.Time, delay time.Duration) error
}

var (
	_ Launches = (*state.Store)(nil)
	_ Memory   = (*state.Store)(nil)
	_ Reader   = (*gather.Reader)(nil)
	_ Searcher = (*gather.Reader)(nil)
	_ Sender   = bus.Queues{}
)

type handler struct {
	launches Launches
	memory   Memory
	reader   Reader
	search   Searcher
	send     Sender
	watches  func(cluster string) bool
	clusters []string // nil: all of the region
	region   string
	joinTime time.Duration
	giveUp   time.Duration
	now      func() time.Time
	log      *slog.Logger
	count    func(name string, n int)
}

// Build makes the handler of join-check from what its invocations share.
func Build(_ context.Context, e run.Env) (run.Handler, error) {
	reader := gather.New(e.AWS).Through(e.Config.Doors.Of)
	store := state.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now)
	h := handler{
		launches: store,
		memory:   store,
		reader:   reader,
		search:   reader,
		send:     bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Joins: e.Config.JoinQueueURL},
		watches:  e.Config.Watches,
		clusters: e.Config.Clusters,
		region:   e.Config.Region,
		joinTime: e.Config.JoinTime,
		giveUp:   e.Config.GiveUp,
		now:      e.Now,
		log:      e.Log,
		count:    e.Metrics.Count,
	}
	return h.handle, nil
}

// handle takes a batch of launches whose time has come, a sweep, or the
// wish that a cluster be looked at now.
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
		return nil, h.sweepCluster(ctx, t.Cluster, t)
	}
	return nil, fmt.Errorf("join-check is woken by its queue, its schedule and by wishes, not by %s", t.Type)
}

// batch calls the roll of the launches in the messages.
func (h handler) batch(ctx context.Context, messages []event.Message) (any, error) {
	b := h.open(messages)
	if len(b.launched) == 0 {
		return event.Failures(b.failed), nil
	}
	ids := slices.Sorted(maps.Keys(b.launched))
	known, err := h.launches.GetLaunches(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look up %d launches: %w", len(ids), err)
	}
	// One that was called and missed it is the sweep's from then on: the other
	// events of the same launch come a little later, and bring no news.
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return known[id].Standing.Final() || known[id].Standing == outcome.Missed
	})
	if len(ids) == 0 {
		return event.Failures(b.failed), nil
	}
	instances, failed := h.reader.Find(ctx, ids, nil)
	if failed != nil {
		return nil, fmt.Errorf("find the launched instances: %s %s: %s", failed.Call, failed.Reason, failed.Message)
	}
	groups, groupsFailed := h.reader.Groups(ctx, detect.GroupsOf(instances))
	a := detect.Assign(instances, detect.Evidence{Groups: groups, GroupsUnread: groupsFailed != nil, Recorded: known, Watches: h.watches})
	h.count("ForeignInstances", len(a.Foreign))
	h.count("WarmPoolInstances", len(a.Warm))
	h.unsure(&b, a.Unsure)
	learned := map[string]detect.Learned{}
	for _, cluster := range a.Names() {
		learned[cluster] = h.learn(ctx, cluster)
	}
	rolls, unknown := b.rolls(a, known, ids, learned)
	if len(unknown) > 0 {
		h.log.WarnContext(ctx, "EC2 does not describe these instances, and no launch of theirs is recorded", "instances", unknown)
		h.count("UnknownInstances", len(unknown))
	}
	for _, name := range slices.Sorted(maps.Keys(rolls)) {
		r := rolls[name]
		r.groups, r.failed = groups, failures(groupsFailed)
		if r.incidents, err = h.launches.Incidents(ctx, name); err != nil {
			return nil, fmt.Errorf("read the incidents of cluster %s: %w", name, err)
		}
		if err := h.call(ctx, name, r); err != nil {
			return nil, fmt.Errorf("call the roll of cluster %s: %w", name, err)
		}
	}
	return event.Failures(b.failed), nil
}

func failures(list ...*snapshot.Failure) []snapshot.Failure {
	var all []snapshot.Failure
	for _, f := range list {
		if f != nil {
			all = append(all, *f)
		}
	}
	return all
}
