package launchwatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/launch-watch/spec"
	"rollcall/shared/bus"
	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/report"
	"rollcall/shared/run"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// Launches is what launch-watch remembers by.
type Launches interface {
	GetLaunches(ctx context.Context, instances []string) (map[string]state.Launch, error)
	CreateLaunch(ctx context.Context, l state.Launch) (created bool, err error)
	SaveLaunch(ctx context.Context, l state.Launch) error
	JoinTimes(ctx context.Context, cluster string) (map[string]state.JoinTimes, error)
	RecordSamples(ctx context.Context, samples []snapshot.Sample) error
}

// Reader is how it looks.
type Reader interface {
	Find(ctx context.Context, ids, groups []string) ([]snapshot.Instance, *snapshot.Failure)
	Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure)
	Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error)
	UserData(ctx context.Context, instances []snapshot.Instance) ([]snapshot.UserData, *snapshot.Failure)
}

// Sender is whom it tells.
type Sender interface {
	SendResult(ctx context.Context, o report.Observation) error
	LookAgain(ctx context.Context, instances []string, now time.Time, delay time.Duration) error
}

var (
	_ Launches = (*state.Store)(nil)
	_ Reader   = (*gather.Reader)(nil)
	_ Sender   = bus.Queues{}
)

type handler struct {
	launches Launches
	reader   Reader
	send     Sender
	watches  func(cluster string) bool
	region   string
	joinTime time.Duration
	now      func() time.Time
	log      *slog.Logger
	count    func(name string, n int)
}

// Build makes the handler of launch-watch from what its invocations share.
func Build(_ context.Context, e run.Env) (run.Handler, error) {
	h := handler{
		launches: state.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now),
		reader:   gather.New(e.AWS).Through(e.Config.Doors.Of),
		send:     bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Joins: e.Config.JoinQueueURL},
		watches:  e.Config.Watches,
		region:   e.Config.Region,
		joinTime: e.Config.JoinTime,
		now:      e.Now,
		log:      e.Log,
		count:    e.Metrics.Count,
	}
	return h.handle, nil
}

// errNoBatch: launch-watch is woken by its queue alone.
var errNoBatch = errors.New("the event is not a batch of SQS messages: launch-watch is woken by its queue")

// handle takes a batch of events. A message that cannot be read, or whose
// launch could not be looked at, goes back to the queue and in the end to the
// dead-letter queue; the others of its batch do not wait for it.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	messages, ok := event.Batch(raw)
	if !ok {
		return nil, errNoBatch
	}
	b := h.open(messages)
	if err := h.skipKnown(ctx, &b); err != nil {
		return nil, err
	}
	if b.empty() {
		return event.Failures(b.failed), nil
	}
	if err := h.look(ctx, &b); err != nil {
		return nil, err
	}
	return event.Failures(b.failed), nil
}

// look finds whose the launches are and looks at each cluster.
func (h handler) look(ctx context.Context, b *batch) error {
	instances, failed := h.reader.Find(ctx, b.ids(), b.groups())
	if failed != nil {
		// Without the instances nothing can be told apart: the messages come again.
		return fmt.Errorf("find the launched instances: %s %s: %s", failed.Call, failed.Reason, failed.Message)
	}
	instances, err := h.lose(ctx, b, h.young(b, instances))
	if err != nil {
		return err
	}
	if err := h.widen(ctx, b, &instances); err != nil {
		return err
	}
	groups, groupsFailed := h.reader.Groups(ctx, union(detect.GroupsOf(instances), b.groups()))
	evidence := detect.Evidence{Groups: groups, GroupsUnread: groupsFailed != nil, Recorded: b.known, Watches: h.watches}
	a := detect.Assign(instances, evidence)
	if evidence.Named = h.named(ctx, b, instances, groups, a.Foreign); len(evidence.Named) > 0 {
		a = detect.Assign(instances, evidence)
	}
	h.count("ForeignInstances", b.named(a.Foreign))
	h.count("WarmPoolInstances", b.named(a.Warm))
	h.unseen(b, instances)
	h.unsure(b, a.Unsure)
	cases := h.cases(b, a, groups, groupsFailed != nil)
	for _, name := range sortedKeys(cases) {
		c := cases[name]
		if groupsFailed != nil {
			c.failed = append(c.failed, *groupsFailed)
		}
		if err := h.inspect(ctx, name, c); err != nil {
			return fmt.Errorf("look at cluster %s: %w", name, err)
		}
	}
	return nil
}

// inspect looks at one cluster's launches, tells report, and remembers them.
// Telling comes first: what is remembered is not looked at again, so a crash
// in between must lead to telling twice (which report notices), not to silence.
func (h handler) inspect(ctx context.Context, cluster string, c clusterCase) error {
	now := h.now()
	learned, err := detect.Learn(ctx, h.launches, cluster, h.joinTime, now)
	if err != nil {
		h.log.WarnContext(ctx, "could not read how long nodes take to join: the setting counts", "cluster", cluster, "error", err.Error())
	}
	s, err := h.reader.Read(ctx, c.query(cluster, h.region, now, learned, gather.LaunchSources(checks.AtLaunch())))
	if errors.Is(err, gather.ErrNoCluster) {
		// The tags of other Kubernetes distributions look the same.
		h.log.WarnContext(ctx, "instances of a cluster that EKS does not have", "cluster", cluster, "instances", len(c.instances))
		h.count("ForeignInstances", len(c.instances))
		return nil
	}
	if err != nil {
		return err
	}
	s.Taken = h.now()
	hear(s, c.told)
	list := checks.AtLaunch()
	d := diagnose.Rank(list, checks.Eval(list, s), s)
	launches := c.launches(cluster, now, learned)
	o := detect.Observe(spec.Name, s, d, launches)
	if err := h.send.SendResult(ctx, o); err != nil {
		return err
	}
	for _, cause := range d.Causes {
		h.log.InfoContext(ctx, "cause found", "cluster", cluster, "check", cause.Check, "resource", cause.Resource, "instances", len(cause.Instances), "nodegroups", strings.Join(cause.Nodegroups, ","))
	}
	for _, f := range o.Blind {
		h.log.WarnContext(ctx, "could not look", "cluster", cluster, "source", f.Source, "call", f.Call, "reason", f.Reason, "code", f.Code)
	}
	if err := h.launches.RecordSamples(ctx, detect.Samples(s, s.Scope.Subnets)); err != nil {
		// They only tell later how full a subnet was: no launch waits for them.
		h.log.WarnContext(ctx, "could not record what the subnets had", "cluster", cluster, "error", err.Error())
	}
	return errors.Join(h.remember(ctx, s, c, launches, learned), h.refused(ctx, s, c, learned))
}
