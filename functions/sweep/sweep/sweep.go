// Package sweep gives each cluster its turn in a tick: all detectors look at it, one
// after the other, and read once what they have in common.
package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/join-check/joincheck"
	joincheckspec "rollcall/functions/join-check/spec"
	"rollcall/functions/nodegroup-watch/nodegroupwatch"
	nodegroupwatchspec "rollcall/functions/nodegroup-watch/spec"
	subnetwatchspec "rollcall/functions/subnet-watch/spec"
	"rollcall/functions/subnet-watch/subnetwatch"
	"rollcall/functions/sweep/spec"
	zonewatchspec "rollcall/functions/zone-watch/spec"
	"rollcall/functions/zone-watch/zonewatch"
	"rollcall/shared/askonce"
	"rollcall/shared/awsconf"
	"rollcall/shared/backoff"
	"rollcall/shared/bus"
	"rollcall/shared/cloudwatchlogs"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/evidence"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/node/text"
	"rollcall/shared/overview"
	"rollcall/shared/queue"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Memory is what is remembered of clusters: which do not answer, and when each was last
// looked at.
type Memory interface {
	Backoff(ctx context.Context, cluster string) (backoff.Record, error)
	SaveBackoff(ctx context.Context, r backoff.Record) error
	Sweep(ctx context.Context, cluster string) (overview.Sweep, error)
	SaveSweep(ctx context.Context, s overview.Sweep) error
}

// Sender sends the turns of a tick.
type Sender interface {
	SendSweeps(ctx context.Context, list []queue.Sweep, now time.Time) error
}

var (
	_ Memory       = (*store.Store)(nil)
	_ detect.Known = (*store.Store)(nil)
	_ Sender       = queue.Sweeps{}
)

// watch is a detector's look at a cluster whose turn it is: by is its name.
type watch struct {
	by  string
	run lambda.Handler
}

type handler struct {
	detect.Detector
	known  detect.Known
	memory Memory
	turns  Sender
	naming *naming
	// watches makes the detectors for one turn. What subnet-watch finds of the subnet that
	// runs out of addresses first it tells.
	watches func(account string, c *gather.Contact, soonest func(overview.Subnet)) []watch
}

// handle takes the tick, which comes every five minutes, or the turn of a cluster.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	if messages, ok := inbox.Batch(raw); ok {
		var errs []error
		for _, m := range messages {
			errs = append(errs, h.turn(ctx, m))
		}
		return nil, errors.Join(errs...)
	}
	t, err := event.Parse(raw)
	if err != nil {
		return nil, err
	}
	if t.Kind != event.Sweep {
		return nil, fmt.Errorf("sweep is woken by its schedule and its queue, not by %s", t.Type)
	}
	return nil, h.tick(ctx, t)
}

// tick sends each watched cluster its turn.
func (h handler) tick(ctx context.Context, t event.Trigger) error {
	names, err := h.Watched(ctx, t.Account, h.known)
	if err != nil {
		return err
	}
	list := spread(names, phase(h.Spoke), t.Account, h.Region, t.Time, spec.Every)
	if len(list) == 0 {
		return nil
	}
	if err := h.turns.SendSweeps(ctx, list, h.Now()); err != nil {
		return err
	}
	h.Count("Turns", len(list))
	h.alias(ctx)
	return nil
}

// turn looks at a cluster. That it failed is an error, and the message is not worth
// another try: the cluster's next turn comes first.
func (h handler) turn(ctx context.Context, m inbox.Message) error {
	t, err := event.Parse([]byte(m.Body))
	if err != nil {
		return err
	}
	if t.Kind != event.ClusterSweep {
		return fmt.Errorf("the queue of sweep holds clusters' turns, not %s", t.Type)
	}
	if late(t.Time, h.Now(), spec.Every) {
		h.Log.WarnContext(ctx, "a turn is dropped, as the cluster's next has come", "cluster", t.Cluster, "due", t.Time, "received", m.Received)
		h.Count("LateSweeps", 1)
		return nil
	}
	if !h.Watches(t.Cluster) {
		h.Count("ForeignClusters", 1)
		return nil
	}
	known, err := h.memory.Backoff(ctx, t.Cluster)
	if err != nil {
		h.Log.WarnContext(ctx, "whether the cluster's API answers is not known: it is asked", "cluster", t.Cluster, "error", err.Error())
	}
	contact := gather.NewContact(known.Known(t.Time))
	turn := overview.ClusterSweep{}
	turn.Failed, err = h.look(ctx, h.watches(t.Account, contact, func(s overview.Subnet) { turn.Soonest = &s }), t.Cluster, json.RawMessage(m.Body))
	outcome, _ := contact.Outcome()
	turn.At, turn.Silent = h.Now(), outcome == backoff.Silent || outcome == backoff.NotAsked && known.Attempts > 0
	if err := h.note(ctx, t.Cluster, turn); err != nil {
		h.Log.WarnContext(ctx, "that the cluster was looked at could not be written down: /rollcall status will call it late", "cluster", t.Cluster, "error", err.Error())
	}
	return errors.Join(err, h.remember(ctx, known, contact, t.Time))
}

// note adds a turn to those of the cluster. What cannot be read is not written over: the
// next turn is five minutes away, and the looks of a week would be lost.
func (h handler) note(ctx context.Context, cluster string, turn overview.ClusterSweep) error {
	before, err := h.memory.Sweep(ctx, cluster)
	if err != nil {
		return err
	}
	return h.memory.SaveSweep(ctx, before.After(turn))
}

// remember keeps whether the cluster's API answered.
func (h handler) remember(ctx context.Context, known backoff.Record, c *gather.Contact, due time.Time) error {
	outcome, silence := c.Outcome()
	next, reason := backoff.After(known, outcome, silence, due, spec.Every)
	switch reason {
	case backoff.Unchanged:
		if outcome == backoff.NotAsked && known.Attempts > 0 {
			h.Log.InfoContext(ctx, "the cluster's API was not asked, as it has not answered", "cluster", known.Cluster, "since", known.Since, "next", known.Next)
		}
		return nil
	case backoff.Recovered:
		h.Log.InfoContext(ctx, "the cluster's API answers again", "cluster", known.Cluster, "since", known.Since)
	default:
		h.Count("SilentClusters", 1)
		h.Log.WarnContext(ctx, "the cluster's API does not answer", "cluster", next.Cluster, "attempts", next.Attempts, "since", next.Since, "next", next.Next, "error", silence.Message)
	}
	err := h.memory.SaveBackoff(ctx, next)
	var other *store.Conflict
	if errors.As(err, &other) {
		return nil // the same turn came twice, and the other one has said so
	}
	return err
}

// Names is where report looks up what people call an account.
type Names interface {
	Alias(ctx context.Context) (store.Alias, bool, error)
	SaveAlias(ctx context.Context, a store.Alias) error
}

var _ Names = (*store.Store)(nil)

const (
	// An alias is asked for once a day: it hardly ever changes.
	aliasEvery = 24 * time.Hour
	// Where there is none, or it may not be read, that may be about to change; and
	// what did not answer is not worth a tick's time earlier.
	aliasAgain = time.Hour
	// aliasPatience is how long a tick waits: the turns are sent.
	aliasPatience = 10 * time.Second
)

// naming gives people the account's alias. It is nil where the settings give the
// account a name, or there is no other to tell it from.
type naming struct {
	ask   func(ctx context.Context) (alias string, denied bool, failed *snapshot.Failure)
	names Names
	// next is when this process looks again whether it is time to ask.
	next time.Time
}

// dueAfter is when an alias is asked for again that was read.
func dueAfter(a store.Alias) time.Time {
	if a.Alias == "" {
		return a.At.Add(aliasAgain)
	}
	return a.At.Add(aliasEvery)
}

// alias asks for the account's alias if it is time, and writes it down. It is not reported that
// it cannot be read: the account's number is a name, too.
func (h handler) alias(ctx context.Context) {
	n, now := h.naming, h.Now()
	if n == nil || now.Before(n.next) {
		return
	}
	n.next = now.Add(aliasAgain)
	ctx, cancel := context.WithTimeout(ctx, aliasPatience)
	defer cancel()
	before, known, err := n.names.Alias(ctx)
	if err != nil {
		h.Log.WarnContext(ctx, "whether the account's alias is known could not be read", "error", err.Error())
		return
	}
	if due := dueAfter(before); known && now.Before(due) {
		n.next = due // another process has asked
		return
	}
	name, denied, failed := n.ask(ctx)
	if failed != nil {
		h.Log.InfoContext(ctx, "the account's alias could not be read: people see the one of before, or the account's number", "call", failed.Call, "error", failed.Message)
		return
	}
	if denied {
		h.Log.InfoContext(ctx, "the account's alias may not be read: people see the account's number", "call", "iam:ListAccountAliases")
	}
	read := store.Alias{At: now, Alias: name}
	if err := n.names.SaveAlias(ctx, read); err != nil {
		h.Log.WarnContext(ctx, "the account's alias could not be written down", "error", err.Error())
		return
	}
	n.next = dueAfter(read)
}

// look has each detector look at a cluster, one after the other. What happens to one does
// not keep the others from looking, and a failure is reported; a panic is passed on when all have: the process is
// not to be trusted any more.
func (h handler) look(ctx context.Context, list []watch, cluster string, turn json.RawMessage) (failed []string, _ error) {
	var errs []error
	var panicked any
	for i, w := range list {
		ctx, cancel := share(ctx, len(list)-i)
		p, err := guarded(ctx, w, turn)
		cancel()
		if p != nil && panicked == nil {
			panicked = fmt.Sprintf("%s: %v", w.by, p)
		}
		if err != nil {
			h.Log.ErrorContext(ctx, "a look failed, the others go on", "by", w.by, "cluster", cluster, "error", err.Error())
			failed = append(failed, w.by)
			errs = append(errs, fmt.Errorf("%s: %w", w.by, err))
		}
	}
	if panicked != nil {
		panic(panicked)
	}
	if len(errs) == 0 {
		h.Count("SweptClusters", 1)
	}
	return failed, errors.Join(errs...)
}

// guarded gives a detector the cluster's turn.
func guarded(ctx context.Context, w watch, turn json.RawMessage) (panicked any, err error) {
	defer func() {
		if panicked = recover(); panicked != nil {
			err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		}
	}()
	_, err = w.run(ctx, turn)
	return nil, err
}

// share is an equal part of the time that is left, for one of those who still have to
// look: who hangs takes nothing of the others'.
func share(ctx context.Context, of int) (context.Context, context.CancelFunc) {
	deadline, ends := ctx.Deadline()
	if !ends {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(of))
}

// spreadOver is over how much of a tick the clusters' turns are spread, in hundredths: the
// rest is for those that take longer, before the next tick begins.
const spreadOver = 80

// spread gives each cluster of a tick its turn: in the order of their names, evenly, so
// that a cluster's turns are a tick apart as long as the clusters are the same. The phase,
// from 0 up to 1, is by how much of the distance between two they begin later.
func spread(clusters []string, phase float64, account, region string, tick time.Time, every time.Duration) []queue.Sweep {
	names := slices.Clone(clusters)
	slices.Sort(names)
	names = slices.Compact(names)
	list := make([]queue.Sweep, len(names))
	for i, name := range names {
		offset := time.Duration(float64(every) * spreadOver / 100 * (float64(i) + phase) / float64(len(names)))
		list[i] = queue.Sweep{Cluster: name, Account: account, Region: region, Due: tick.Add(offset.Truncate(time.Second))}
	}
	return list
}

// phase is a spoke's: each has its clusters begin at another time, or all would at once.
func phase(of spoke.ID) float64 {
	if of.Hub() {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(of.String()))
	return float64(h.Sum32()) / (1 << 32)
}

// late reports a turn whose successor has come: what it would see that sees, and turns that
// are not received in time must not pile up.
func late(due, now time.Time, every time.Duration) bool { return now.Sub(due) >= every }

// What the detectors of one turn share is bounded: in bytes, beside what each makes of
// it, and in time, as a look that takes long must not end with what it began with.
const (
	mostShared = 16 << 20
	sharedFor  = time.Minute
)

// Build makes the handler of sweep from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	client := sqs.NewFromConfig(e.AWS)
	queues := queue.Queues{Client: client, Results: e.Config.ResultQueueURL, Joins: e.Config.JoinQueueURL, Nodegroups: e.Config.NodegroupQueueURL, Spoke: e.Config.Spoke}
	table := detect.Table(e)
	limits := &awsconf.Limits{Shares: e.Config.SweepConcurrency, Now: e.Now, Sleep: e.Sleep}
	if e.Config.Clock.Slower() {
		limits.Now, limits.Sleep = config.Clock{}.Now, config.Clock{}.Sleep
	}
	p := parts{env: e, limits: limits, queues: queues, table: table, bus: bus.New(eventbridge.NewFromConfig(e.AWS), e.Config.BusName), keepers: map[string]*evidence.Keeper{}}
	for _, by := range []string{joincheckspec.Name, nodegroupwatchspec.Name, subnetwatchspec.Name, zonewatchspec.Name} {
		p.keepers[by] = detect.KeepEvidence(e)
	}
	var names *naming
	if e.Config.WantsAlias() {
		names = &naming{ask: gather.Alias(e.Watched()), names: table}
	}
	return handler{
		Detector: detect.New(spec.Name, e, detect.NewReader(e, nil), queues),
		known:    table, memory: table,
		turns:   queue.Sweeps{Client: client, Queue: e.Config.SweepQueueURL, Spoke: e.Config.Spoke},
		watches: p.watches,
		naming:  names,
	}.handle, nil
}

// parts are what the detectors of all turns are made of.
type parts struct {
	env    lambda.Env
	limits *awsconf.Limits
	queues queue.Queues
	table  *store.Store
	bus    *bus.Bus
	// keepers keep the evidence of each detector, by its name.
	keepers map[string]*evidence.Keeper
}

// watches are the detectors of one turn, as their own functions make them, but that they
// ask each question once. join-check is the first: the others look up what it takes down.
func (p parts) watches(account string, c *gather.Contact, soonest func(overview.Subnet)) []watch {
	once := &askonce.Once{Most: mostShared, For: sharedFor, Now: p.env.Now}
	// What is known takes no token.
	read := p.env.Reading(func(cfg aws.Config) aws.Config { return once.Client(p.limits.Client(cfg, account)) })
	return []watch{
		p.watch(joincheckspec.Name, read, once, c, func(e lambda.Env, d detect.Detector, r *gather.Reader) lambda.Handler {
			r = r.Decoding(e.Config.DecodeDenied).ReadingLogs(cloudwatchlogs.New(e.Watched()), e.Config.AutoModeLogs, text.CauseOfKarpenter)
			d.Reader = r
			return joincheck.New(joincheck.Parts{Detector: d, Config: e.Config, Table: p.table, Reader: r, Remind: p.queues})
		}),
		p.watch(nodegroupwatchspec.Name, read, once, c, func(e lambda.Env, d detect.Detector, r *gather.Reader) lambda.Handler {
			return nodegroupwatch.New(nodegroupwatch.Parts{Detector: d, Config: e.Config, Table: p.table, Reader: r, Remind: p.queues, Tell: p.bus})
		}),
		p.watch(subnetwatchspec.Name, read, once, c, func(e lambda.Env, d detect.Detector, r *gather.Reader) lambda.Handler {
			return subnetwatch.New(subnetwatch.Parts{Detector: d, Config: e.Config, Table: p.table, Reader: func() subnetwatch.Reader { return r.Counting() }, Gauge: e.Metrics.Gauge, Soonest: soonest})
		}),
		p.watch(zonewatchspec.Name, read, once, c, func(e lambda.Env, d detect.Detector, r *gather.Reader) lambda.Handler {
			return zonewatch.New(zonewatch.Parts{Detector: d, Table: p.table, Reader: r, Gauge: e.Metrics.Gauge})
		}),
	}
}

// watch makes a detector when it is its turn, so that what one has read is not held while
// another looks.
func (p parts) watch(by string, reading lambda.Env, once *askonce.Once, c *gather.Contact, build func(lambda.Env, detect.Detector, *gather.Reader) lambda.Handler) watch {
	return watch{by, func(ctx context.Context, turn json.RawMessage) (any, error) {
		e, keep := p.env, p.keepers[by]
		e.Log = e.Log.With("by", by)
		keep.Begin(turn)
		reader := detect.NewReader(reading, keep).Sharing(once.Cluster).Contacting(c)
		out, err := build(e, detect.New(by, e, reader, p.queues).Keeping(keep), reader)(ctx, turn)
		keep.Flush(ctx)
		keep.Begin(nil)
		return out, err
	}}
}
