package changecheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/change-check/spec"
	"rollcall/shared/bus"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/run"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
	"rollcall/shared/trail"
)

// Memory is what is known of incidents and launches.
type Memory interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	History(ctx context.Context, cluster string, since time.Time) ([]snapshot.Past, error)
}

// Reader reads CloudTrail.
type Reader interface {
	Records(ctx context.Context, l trail.Lookup) ([]trail.Record, *snapshot.Failure)
}

// Sender is whom it tells, and by which it is reminded.
type Sender interface {
	SendChanges(ctx context.Context, c report.Changes) error
	LookForChanges(ctx context.Context, key report.Key, opened time.Time, round int, now time.Time, delay time.Duration) error
}

var (
	_ Memory = (*state.Store)(nil)
	_ Reader = (*gather.TrailReader)(nil)
	_ Sender = bus.Queues{}
)

type handler struct {
	memory  Memory
	reader  func() Reader
	send    Sender
	watches func(cluster string) bool
	// own are the functions of this deployment that change things.
	own   []trail.Function
	now   func() time.Time
	log   *slog.Logger
	count func(name string, n int)
}

// Build makes the handler of change-check from what its invocations share.
func Build(_ context.Context, e run.Env) (run.Handler, error) {
	h := handler{
		memory:  state.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now),
		reader:  func() Reader { return gather.NewTrail(e.AWS, e.Sleep) },
		send:    bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Changes: e.Config.ChangeQueueURL},
		watches: e.Config.Watches,
		own:     own(lambdacontext.FunctionName),
		now:     e.Now,
		log:     e.Log,
		count:   e.Metrics.Count,
	}
	return h.handle, nil
}

// own are the functions of the same deployment that change things. Lambda names
// a function's sessions after it, and its role has its name too (infra).
func own(name string) []trail.Function {
	prefix, ok := strings.CutSuffix(name, spec.Name)
	if !ok {
		return nil
	}
	return []trail.Function{{Session: prefix + "remediate", Role: "remediate"}, {Session: prefix + "eni-cleanup", Role: "enicleanup"}}
}

// errNoBatch: change-check is woken by its queue alone.
var errNoBatch = errors.New("the event is not a batch of SQS messages: change-check is woken by its queue")

// handle takes a batch of incidents that were opened, and of reminders.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	messages, ok := event.Batch(raw)
	if !ok {
		return nil, errNoBatch
	}
	b := h.open(messages)
	cases, err := h.cases(ctx, b.wakes)
	if err != nil {
		return nil, err
	}
	answers := h.lookUp(ctx, cases)
	for _, c := range cases {
		if err := h.tell(ctx, c, answers); err != nil {
			h.log.ErrorContext(ctx, "what was changed could not be told, the message goes back to the queue", "cluster", c.inc.Key.Cluster, "check", c.inc.Key.Check, "resource", c.inc.Key.Resource, "error", err.Error())
			h.count("FailedLooks", 1)
			b.failed = append(b.failed, c.messages...)
		}
	}
	return event.Failures(b.failed), nil
}

// batch is what the messages ask for.
type batch struct {
	wakes  []wake
	failed []string
}

// wake is an incident to look at, once however many messages name it.
type wake struct {
	key      report.Key
	opened   time.Time // zero: as the event has just told
	round    int
	messages []string
}

func (h handler) open(messages []event.Message) (b batch) {
	for _, m := range messages {
		t, err := event.Parse([]byte(m.Body))
		if err != nil {
			h.log.Error("message cannot be read, it goes back to the queue", "message", m.ID, "received", m.Received, "error", err.Error())
			h.count("MalformedEvents", 1)
			b.failed = append(b.failed, m.ID)
			continue
		}
		begins := t.Kind == event.IncidentTold && (t.Told == string(incident.EventOpened) || t.Told == string(incident.EventReopened))
		if !begins && t.Kind != event.Reminder || t.Check == "" || !h.watches(t.Cluster) {
			h.log.Info("event ignored", "event", t.ID, "type", t.Type, "why", t.Why)
			h.count("ForeignEvents", 1)
			continue
		}
		b.add(wake{key: keyOf(t), opened: t.Opened, round: t.Round, messages: []string{m.ID}})
	}
	return b
}

func (b *batch) add(w wake) {
	for i := range b.wakes {
		if same := &b.wakes[i]; same.key == w.key && same.opened.Equal(w.opened) {
			same.round = max(same.round, w.round)
			same.messages = append(same.messages, w.messages...)
			return
		}
	}
	b.wakes = append(b.wakes, w)
}

// tell sends what was found, and asks for another look while CloudTrail may not
// have everything yet. Report is told before, so that a crash in between leads
// to telling twice, which it notices, not to silence.
func (h handler) tell(ctx context.Context, c incidentCase, answers map[trail.Lookup]answer) error {
	now := h.now()
	found := c.found(answers, h.own)
	failed := c.failed(answers)
	next, delay := again(c, failed, now)
	// That a permission is missing is said at once: who gives it need not wait.
	found.Open = next > 0 && failed != snapshot.Denied
	if found.Blind != "" {
		h.log.WarnContext(ctx, "could not look", "cluster", c.inc.Key.Cluster, "check", c.inc.Key.Check, "blind", found.Blind)
		h.count("BlindLooks", 1)
	}
	h.log.InfoContext(ctx, "looked for changes", "cluster", c.inc.Key.Cluster, "check", c.inc.Key.Check, "resource", c.inc.Key.Resource,
		"round", c.round, "from", found.From, "to", found.To, "changes", len(found.Changes), "open", found.Open)
	h.count("ChangesFound", len(found.Changes))
	if err := h.send.SendChanges(ctx, report.Changes{
		ID: fmt.Sprintf("%s/%s/%s/%s/%d", c.inc.Key.Cluster, c.inc.Key.Check, c.inc.Key.Resource, c.inc.Opened.UTC().Format(time.RFC3339Nano), c.round),
		At: now, Cluster: c.inc.Key.Cluster, Key: c.inc.Key, Opened: c.inc.Opened, Found: found,
	}); err != nil {
		return err
	}
	if next == 0 {
		return nil
	}
	return h.send.LookForChanges(ctx, c.inc.Key, c.inc.Opened, next, now, delay)
}
