// Package changecheck looks for who changed what an incident is about, in
// CloudTrail.
package changecheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/change-check/spec"
	"rollcall/shared/bus"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store"

	"rollcall/shared/snapshot"

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
	_ Memory = (*store.Store)(nil)
	_ Reader = (*gather.TrailReader)(nil)
	_ Sender = bus.Queues{}
)

type handler struct {
	detect.Detector
	memory Memory
	reader func() Reader
	send   Sender
	// own are the functions of this deployment that change things.
	own []trail.Function
	// spoke is whose incidents it looks at.
	spoke spoke.ID
}

// Build makes the handler of change-check from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	h := handler{
		Detector: detect.New(spec.Name, e, nil, nil), // it takes no snapshot, and tells changes alone
		memory:   store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now).In(e.Config.Spoke),
		reader:   func() Reader { return gather.NewTrail(e.Watched(), e.Sleep) },
		send:     bus.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Changes: e.Config.ChangeQueueURL, Spoke: e.Config.Spoke},
		own:      own(lambdacontext.FunctionName, e.Config.Spoke),
		spoke:    e.Config.Spoke,
	}
	return h.handle, nil
}

// own are the functions of the same deployment that change things. Lambda names
// a function's sessions after it, and its role has its name too (infra).
func own(name string, of spoke.ID) []trail.Function {
	prefix, ok := strings.CutSuffix(name, spec.Name)
	if !ok {
		return nil
	}
	if !of.Hub() { // there they are the spoke's roles
		return []trail.Function{{Session: prefix + "remediate", Role: "remediator"}, {Session: prefix + "eni-cleanup", Role: "cleaner"}}
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
	b := h.wakes(messages)
	cases, err := h.cases(ctx, b.wakes)
	if err != nil {
		return nil, err
	}
	answers := h.lookUp(ctx, cases)
	for _, c := range cases {
		if err := h.tell(ctx, c, answers); err != nil {
			h.Log.ErrorContext(ctx, "what was changed could not be told, the message goes back to the queue",
				"cluster", c.inc.Key.Cluster, "check", c.inc.Key.Check, "resource", c.inc.Key.Resource, "error", err.Error())
			h.Count("FailedLooks", 1)
			b.failed = append(b.failed, c.messages...)
		}
	}
	return event.Failures(b.failed), nil
}

// tell sends what was found, and asks for another look while CloudTrail may not
// have everything yet. Report is told before, so that a crash in between leads
// to telling twice, which it notices, not to silence.
func (h handler) tell(ctx context.Context, c incidentCase, answers map[trail.Lookup]answer) error {
	now := h.Now()
	found := c.found(answers, h.own)
	failed := c.failed(answers)
	next, delay := again(c, failed, now)
	// That a permission is missing is said at once: who gives it need not wait.
	found.Open = next > 0 && failed != snapshot.Denied
	if found.Blind != "" {
		h.Log.WarnContext(ctx, "could not look", "cluster", c.inc.Key.Cluster, "check", c.inc.Key.Check, "blind", found.Blind)
		h.Count("BlindLooks", 1)
	}
	h.Log.InfoContext(ctx, "looked for changes", "cluster", c.inc.Key.Cluster, "check", c.inc.Key.Check, "resource", c.inc.Key.Resource,
		"round", c.round, "from", found.From, "to", found.To, "changes", len(found.Changes), "open", found.Open)
	h.Count("ChangesFound", len(found.Changes))
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
