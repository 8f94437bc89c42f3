package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"rollcall/functions/launch-watch/spec"
	"rollcall/shared/bus"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/inspect"
	"rollcall/shared/report"
	"rollcall/shared/run"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// Launches is what launch-watch remembers by.
type Launches interface {
	GetLaunches(ctx context.Context, instances []string) (map[string]state.Launch, error)
	CreateLaunch(ctx context.Context, l state.Launch) (created bool, err error)
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

func build(_ context.Context, e run.Env) (run.Handler, error) {
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
	if err := h.widen(ctx, b, &instances); err != nil {
		return err
	}
	groups, groupsFailed := h.reader.Groups(ctx, union(inspect.GroupsOf(instances), b.groups()))
	evidence := inspect.Evidence{Groups: groups, GroupsUnread: groupsFailed != nil, Recorded: b.known, Watches: h.watches}
	a := inspect.Assign(instances, evidence)
	if evidence.Named = h.named(ctx, b, instances, groups, a.Foreign); len(evidence.Named) > 0 {
		a = inspect.Assign(instances, evidence)
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
	s, err := h.reader.Read(ctx, c.query(cluster, h.region, now, h.joinTime, gather.LaunchSources(checks.AtLaunch())))
	if errors.Is(err, gather.ErrNoCluster) {
		// The tags of other Kubernetes distributions look the same.
		h.log.WarnContext(ctx, "instances of a cluster that EKS does not have", "cluster", cluster, "instances", len(c.instances))
		h.count("ForeignInstances", len(c.instances))
		return nil
	}
	if err != nil {
		return err
	}
	hear(s, c.told)
	list := checks.AtLaunch()
	d := diagnose.Rank(list, checks.Eval(list, s), s)
	launches := c.launches(now, h.joinTime)
	o := inspect.Observe(spec.Name, s, d, launches)
	if err := h.send.SendResult(ctx, o); err != nil {
		return err
	}
	for _, cause := range d.Causes {
		h.log.InfoContext(ctx, "cause found", "cluster", cluster, "check", cause.Check, "resource", cause.Resource, "instances", len(cause.Instances), "nodegroups", strings.Join(cause.Nodegroups, ","))
	}
	for _, f := range o.Blind {
		h.log.WarnContext(ctx, "could not look", "cluster", cluster, "source", f.Source, "call", f.Call, "reason", f.Reason, "code", f.Code)
	}
	return h.remember(ctx, cluster, c, launches, now)
}

// early is when the roll of a launch is first called. A healthy node is Ready
// in about a minute: then its outcome is known, an incident that waits for it
// closes, and if it is reclaimed a little later nobody takes it for one that
// never joined.
const early = time.Minute

// writers bounds the writes at once: a burst of a thousand launches is recorded
// in some seconds, and the table is not flooded.
const writers = 16

func (h handler) remember(ctx context.Context, cluster string, c clusterCase, launches []report.Launch, now time.Time) error {
	var (
		mu       sync.Mutex
		recorded []string
		g        errgroup.Group
	)
	g.SetLimit(writers)
	for _, l := range launches {
		if l.Standing.Final() {
			continue // join-check records how it ended: it sees whether it had been a node
		}
		g.Go(func() error {
			created, err := h.launches.CreateLaunch(ctx, c.record(cluster, l, h.joinTime))
			if err != nil {
				return fmt.Errorf("record the launch of %s: %w", l.Instance, err)
			}
			if created {
				mu.Lock()
				defer mu.Unlock()
				recorded = append(recorded, l.Instance)
			}
			return nil
		})
	}
	failed := g.Wait()
	// Those that were recorded are asked for even when others could not be:
	// their messages come again and will find them known.
	if len(recorded) > 0 {
		slices.Sort(recorded)
		if err := h.send.LookAgain(ctx, recorded, now, early); err != nil {
			return errors.Join(failed, err)
		}
	}
	h.count("Launches", len(recorded))
	return failed
}
