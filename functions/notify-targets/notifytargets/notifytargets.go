// Package notifytargets tells targets besides Slack what happens on Rollcall's bus. An
// event becomes a message for each target; a message is delivered, held back while its
// target is away, or set aside with what the target says.
package notifytargets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/outbox"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store/outgoing"
	"rollcall/shared/store/table"
	"rollcall/shared/target"
	"rollcall/shared/target/deliver"
	"rollcall/shared/target/message"
)

// Memory is what targets were told.
type Memory interface {
	Delivery(ctx context.Context, target, about string) (outgoing.DeliveryRecord, error)
	SaveDelivery(ctx context.Context, r outgoing.DeliveryRecord) error
	AllTold(ctx context.Context, target string) ([]outgoing.DeliveryRecord, error)
}

// Results takes what responders did with alerts.
type Results interface {
	SendAlertChange(ctx context.Context, a report.AlertChange) error
}

// Records reads the incidents of a cluster, as report alone writes them.
type Records func(ctx context.Context, of spoke.ID, cluster string) ([]incident.Incident, error)

// Queue holds what targets are to be told.
type Queue interface {
	Put(ctx context.Context, target, about, id string, raw json.RawMessage) error
	SetAside(ctx context.Context, m inbox.Message, reason string) error
	HoldBack(ctx context.Context, m inbox.Message, wait time.Duration) error
}

// Secret reads secrets.
type Secret interface {
	Read(ctx context.Context, target, name string) (string, error)
	Forget(name string)
}

type handler struct {
	targets []target.Target
	// topic is the ARN of the stack's topic.
	topic   string
	memory  Memory
	records Records
	// weeks reads the weekly messages, as report alone writes them.
	weeks   func(context.Context) ([]outbox.Posting, error)
	now     func() time.Time
	queue   Queue
	results Results
	secrets Secret
	mail    deliver.Publisher
	send    deliver.Sender
	log     *slog.Logger
	count   func(string, int)
}

// handle takes an event of the bus, messages of the queue, or a tick.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	messages, ok := inbox.Batch(raw)
	if !ok && isTick(raw) {
		return nil, h.readBack(ctx)
	}
	if !ok {
		return nil, h.fan(ctx, raw)
	}
	var failed []string
	for _, m := range messages {
		if err := h.deliver(ctx, m); err != nil {
			h.notTold(ctx, m, err)
			failed = append(failed, m.ID)
		}
	}
	return inbox.Failures(failed), nil
}

// fan queues an event for each target that may want it. An error has Lambda bring the
// event again; what was queued already is there once.
func (h handler) fan(ctx context.Context, raw json.RawMessage) error {
	n, err := message.Parse(raw)
	if err != nil {
		return err
	}
	if n.Future(h.now()) {
		h.foreign(ctx, n, "its time is in the future")
		return nil
	}
	var wrong []error
	for _, t := range h.targets {
		if message.Wants(t, n) {
			wrong = append(wrong, h.queue.Put(ctx, t.Name(), n.Subject(), n.ID, raw))
		} else if n.Week != nil {
			_, _, reason := message.Decide(t, n, message.Told{})
			h.log.InfoContext(ctx, "weekly report not sent", "target", t.Name(), "event", n.ID, "reason", reason)
		}
	}
	return errors.Join(wrong...)
}

// deliver tells one target of one event. What can never be told is set aside and done
// with; an error has the message come again.
func (h handler) deliver(ctx context.Context, m inbox.Message) error {
	var to queue.ToTarget
	if err := json.Unmarshal([]byte(m.Body), &to); err != nil {
		return h.aside(ctx, m, fmt.Errorf("the message cannot be read: %w", err))
	}
	n, err := message.Parse(to.Event)
	if err != nil {
		return h.aside(ctx, m, fmt.Errorf("target %s: %w", to.Target, err))
	}
	log := h.log.With("target", to.Target, "event", n.ID, "about", n.Subject())
	i := slices.IndexFunc(h.targets, func(t target.Target) bool { return t.Name() == to.Target })
	if i < 0 {
		log.InfoContext(ctx, "target is no longer in the settings; not notified")
		return nil
	}
	t := h.targets[i]
	n, why, err := h.recorded(ctx, n, m.Received)
	if err != nil {
		return err
	}
	if why != "" {
		h.foreign(ctx, n, why)
		return nil
	}
	record, err := h.memory.Delivery(ctx, t.Name(), n.Subject())
	if err != nil {
		return err
	}
	actions, next, reason := message.Decide(t, n, record.Told)
	if len(actions) == 0 {
		log.InfoContext(ctx, "not notified", "reason", reason)
		return nil
	}
	for _, a := range actions {
		if err := h.tell(ctx, t, n, a); err != nil {
			var refused *deliver.Error
			if errors.As(err, &refused) && refused.Kind == deliver.Refused {
				h.secrets.Forget(t.Secret)
				return h.aside(ctx, m, err)
			}
			return err
		}
	}
	log.InfoContext(ctx, "told", "actions", actions)
	h.count("TargetsTold", 1)
	if n.Incident == nil && n.Week == nil {
		return nil // a test is sent at each try
	}
	record.Told = next
	// It has it: that must be recorded even if time is running out, or it is sent twice.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	return h.memory.SaveDelivery(ctx, record)
}

// foreign notes an event that is dropped: whoever may put events on the bus can say anything.
func (h handler) foreign(ctx context.Context, n message.Event, why string) {
	h.log.WarnContext(ctx, "dropped an event without a matching record", "event", n.ID, "about", n.Subject(), "reason", why)
	h.count("ForeignEvents", 1)
}

// unrecorded is from which attempt on an event that the record does not know is sent in the
// record's own words: report puts it on the bus before it notes that it did.
const unrecorded = 4

// errNotRecorded has a message come again.
var errNotRecorded = errors.New("the incident's record does not contain the event yet")

// recorded returns what the incident's record confirms of an event, or why nothing is sent
// of it: the event itself proves nothing but which incident it is about.
func (h handler) recorded(ctx context.Context, n message.Event, received int) (_ message.Event, why string, _ error) {
	if n.Future(h.now()) {
		return n, "its time is in the future", nil
	}
	if n.Week != nil {
		return h.recordedWeek(ctx, n)
	}
	if n.Incident == nil {
		return n, "", nil
	}
	e := *n.Incident
	inc, err := h.incident(ctx, e)
	switch {
	case err != nil:
		return n, "", err
	case inc == nil:
		return n, "no such incident", nil
	}
	if !inc.WasPublished(e) {
		made, ok := inc.FromRecord(e)
		switch {
		case !ok:
			return n, "the incident's record differs", nil
		case received < unrecorded && len(inc.Published)+len(inc.PendingEvents) > 0:
			return n, "", errNotRecorded
		}
		e = made
	}
	n, err = n.WithEvent(e)
	return n, "", err
}

// recordedWeek returns what the record of a week confirms of its event.
func (h handler) recordedWeek(ctx context.Context, n message.Event) (_ message.Event, why string, _ error) {
	list, err := h.weeks(ctx)
	if err != nil {
		return n, "", err
	}
	i := slices.IndexFunc(list, func(p outbox.Posting) bool { return p.Summary.ID == n.ID && p.Event != "" })
	if i < 0 {
		return n, "no such week", nil
	}
	told, same, err := n.WithWeek(list[i].Event)
	switch {
	case err != nil:
		return n, "", err
	case !same:
		return n, "the week's record differs", nil
	}
	return told, "", nil
}

// incident is the record of the incident that an event names: among the hub's own, which have
// no account in their keys, or those of its account and region.
func (h handler) incident(ctx context.Context, e incident.Event) (*incident.Incident, error) {
	for _, of := range []spoke.ID{{}, {Account: e.Account, Region: e.Region}} {
		list, err := h.records(ctx, of, e.Cluster)
		if err != nil {
			return nil, err
		}
		for i, inc := range list {
			if inc.Key.Check == e.Check && inc.Key.Resource == e.Resource && inc.Account == e.Account && inc.Region == e.Region {
				return &list[i], nil
			}
		}
	}
	return nil, nil
}

// tell has a target take one action.
func (h handler) tell(ctx context.Context, t target.Target, n message.Event, a message.Action) error {
	name := t.Name()
	if t.Kind == target.SNS {
		topic := t.Topic
		if topic == "" {
			topic = h.topic
		}
		return deliver.Publish(ctx, h.mail, name, topic, message.ToMail(n))
	}
	if t.Kind == target.AmazonQ {
		body, err := message.ToAmazonQ(n)
		if err != nil {
			return err
		}
		return deliver.Publish(ctx, h.mail, name, t.Topic, message.Mail{Body: string(body), Attributes: message.ToMail(n).Attributes})
	}
	secret, err := h.secrets.Read(ctx, name, t.Secret)
	if err != nil {
		return err
	}
	switch t.Kind {
	case target.PagerDuty, target.JSM:
		by, wrong := deliver.ParseAlerting(t, secret)
		switch err = wrong; {
		case err != nil:
		case t.Kind == target.JSM:
			err = h.send.Alert(ctx, name, by.Key, message.ToJSM(n, a))
		default:
			err = h.send.Page(ctx, name, by.Key, message.ToPagerDuty(n, a))
		}
	case target.Teams:
		var body []byte
		if body, err = message.ToTeams(n); err == nil {
			err = h.send.Post(ctx, name, secret, body)
		}
	case target.SlackWebhook:
		var body []byte
		if body, err = message.ToSlack(n); err == nil {
			err = deliver.CheckSlackHook(name, secret)
		}
		if err == nil {
			err = h.send.Post(ctx, name, secret, body)
		}
	case target.Webhook:
		var to deliver.Webhook
		if to, err = deliver.ParseWebhook(name, secret); err == nil {
			err = h.send.Hook(ctx, name, to, n.ID, n.Raw)
		}
	}
	return err
}

// isTick reports whether an event is the function's schedule
// (EventBridge user guide, "Scheduled Event": source aws.events).
func isTick(raw json.RawMessage) bool {
	var e struct {
		Type string `json:"detail-type"`
	}
	return json.Unmarshal(raw, &e) == nil && e.Type == "Scheduled Event"
}

// mostRead bounds the alerts that are read back of a target in a tick, and perTick is its
// length: where more are open, each has its turn. PagerDuty allows 960 calls in a minute
// (developer.pagerduty.com/docs/rest-api-rate-limits).
const (
	mostRead = 10
	perTick  = 5 * time.Minute
	// readTime is how long targets may take together: less than the function's time.
	readTime = 20 * time.Second
)

// allAlerts is the record of whether a target's alerts could be read.
const allAlerts = "alerts"

// errNotAsked names readTime: targets that did not respond took the time of those after them.
var errNotAsked = errors.New("not asked: no time left of the 20 s that the targets share in a tick")

// readBack reads the alerts of open incidents that no responder has acknowledged. A target that
// fails keeps no other from its turn, unless it takes all of the time.
func (h handler) readBack(ctx context.Context) error {
	reading, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	var wrong []error
	for _, t := range h.targets {
		if t.Kind.HasAlerts() {
			wrong = append(wrong, h.readTarget(ctx, reading, t))
		}
	}
	return errors.Join(wrong...)
}

// readTarget reads a target's alerts in the time of reading; what is found is recorded in
// the invocation's own.
func (h handler) readTarget(ctx, reading context.Context, t target.Target) error {
	records, err := h.memory.AllTold(ctx, t.Name())
	if err != nil {
		return err
	}
	before := outgoing.DeliveryRecord{Target: t.Name(), About: allAlerts}
	if i := slices.IndexFunc(records, func(r outgoing.DeliveryRecord) bool { return r.About == allAlerts }); i >= 0 {
		before = records[i]
	}
	records = turns(records, h.now())
	if len(records) == 0 {
		return nil
	}
	unread := ""
	secret, err := h.secrets.Read(ctx, t.Name(), t.Secret)
	var by deliver.Alerting
	if err == nil {
		by, err = deliver.ParseAlerting(t, secret)
	}
	if err == nil && !by.ReadsBack(t.Kind) {
		return nil // the secret has no token for it, which doctor says
	}
	for _, r := range records {
		var alerts []message.Alert
		if err == nil && reading.Err() != nil {
			err = errNotAsked
		}
		if err == nil {
			alerts, err = h.send.Alerts(reading, t, by, message.Key(r.About))
		}
		if err != nil { // whoever refuses or is away is not asked again in this tick
			unread = whyUnread(err)
			if !errors.Is(err, errNotAsked) {
				h.secrets.Forget(t.Secret) // it may be a new one by then
			}
			break
		}
		if err := h.respond(ctx, t, r, alerts); err != nil {
			return err
		}
	}
	if unread == before.Unread {
		return nil
	}
	if before.Unread = unread; unread == "" {
		h.log.InfoContext(ctx, "alerts are read back again", "target", t.Name())
	} else {
		h.log.WarnContext(ctx, "could not read alerts back: acknowledgements are unknown", "target", t.Name(), "error", err.Error())
		h.count("AlertsUnread", 1)
	}
	return h.memory.SaveDelivery(ctx, before)
}

// whyUnread is the same for each tick in which the same is wrong, so that it is logged once.
func whyUnread(err error) string {
	var e *deliver.Error
	switch {
	case errors.Is(err, errNotAsked):
		return err.Error()
	case errors.As(err, &e) && e.Status != 0:
		return fmt.Sprintf("HTTP %d", e.Status)
	case e != nil && e.Says != "":
		return e.Says
	}
	return "no answer"
}

// turns are the records whose alerts are read in this tick.
func turns(records []outgoing.DeliveryRecord, now time.Time) []outgoing.DeliveryRecord {
	records = slices.DeleteFunc(records, func(r outgoing.DeliveryRecord) bool {
		_, named := message.Named(r.About)
		return !named || !r.Awaits()
	})
	slices.SortFunc(records, func(a, b outgoing.DeliveryRecord) int { return strings.Compare(a.About, b.About) })
	if len(records) <= mostRead {
		return records
	}
	first := int(now.Unix()/int64(perTick/time.Second)) * mostRead % len(records)
	return slices.Concat(records[first:], records[:first])[:mostRead]
}

// respond sends report what a responder did with the alert of an incident. It is sent before
// it is recorded: sent again, it has the same id.
func (h handler) respond(ctx context.Context, t target.Target, r outgoing.DeliveryRecord, alerts []message.Alert) error {
	alert, next, reason := message.Respond(r.Told, alerts, h.now())
	log := h.log.With("target", t.Name(), "about", r.About)
	log.DebugContext(ctx, "alerts were read back", "reason", reason)
	if reason != message.ToTell {
		return nil
	}
	of, _ := message.Named(r.About)
	inc, err := h.incident(ctx, of)
	switch {
	case err != nil:
		return err
	case inc == nil || inc.State == incident.Closed || !inc.Opened.Equal(r.Opened):
		log.InfoContext(ctx, "an alert is of an incident that is over", "state", alert.State)
	default:
		id := message.Delivery(t.Name(), r.About+"/"+r.Opened.UTC().Format(time.RFC3339Nano)+"/"+string(alert.State))
		change := report.AlertChange{Head: report.Head{ID: id, At: h.now(), Key: inc.Key}, Opened: inc.Opened, In: t.Kind.Service(), State: alert.State, By: message.Responder(alert.By), When: alert.Changed}
		if err := h.results.SendAlertChange(ctx, change); err != nil {
			return err
		}
		log.InfoContext(ctx, "an alert was taken", "state", alert.State, "by", change.By)
		h.count("AlertsTaken", 1)
	}
	r.Told = next
	return h.memory.SaveDelivery(ctx, r)
}

// aside puts a message that can never be delivered where a person finds it, which rings.
func (h handler) aside(ctx context.Context, m inbox.Message, why error) error {
	h.log.ErrorContext(ctx, "a target rejects a message; moved it to the dead-letter queue", "message", m.ID, "error", why.Error())
	h.count("TargetsRefused", 1)
	return h.queue.SetAside(ctx, m, why.Error())
}

// The times until a message comes again: they double from the first to the last, so that
// a target that is back is notified within five minutes, in an hour as in a day.
const (
	firstRetry = 5 * time.Second
	lastRetry  = 5 * time.Minute
)

// late is from which attempt on people should know: after some ten minutes.
const late = 8

// retryIn is how long a message is held back after so many attempts, and at least as long
// as its target asks for.
func retryIn(received int, asked time.Duration) time.Duration {
	return max(asked, min(firstRetry<<min(max(received-1, 0), 10), lastRetry))
}

// notTold has a message come again when its time is there.
func (h handler) notTold(ctx context.Context, m inbox.Message, err error) {
	var e *deliver.Error
	asked := time.Duration(0)
	if errors.As(err, &e) {
		asked = e.After
	}
	wait := retryIn(m.Received, asked)
	h.log.WarnContext(ctx, "could not notify a target; will retry", "message", m.ID, "attempt", m.Received, "in", wait.String(), "error", err.Error())
	h.count("TargetRetries", 1)
	if m.Received >= late {
		h.count("TargetsUndelivered", 1)
	}
	if err := h.queue.HoldBack(ctx, m, wait); err != nil {
		// It comes again when the queue's own time is over.
		h.log.WarnContext(ctx, "could not delay a message", "message", m.ID, "error", err.Error())
	}
}

var (
	_ Memory  = outgoing.Outgoing{}
	_ Queue   = queue.TargetQueue{}
	_ Results = queue.Queues{}
	_ Secret  = (*deliver.Secrets)(nil)
)

// Build makes the handler of notify-targets from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	records := table.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).WithClock(e.Now)
	memory := outgoing.New(records)
	h := handler{
		records: func(ctx context.Context, of spoke.ID, cluster string) ([]incident.Incident, error) {
			return outgoing.New(records.ForSpoke(of)).Incidents(ctx, cluster)
		},
		weeks:   func(ctx context.Context) ([]outbox.Posting, error) { return memory.Postings(ctx, report.AllClusters) },
		now:     e.Now,
		targets: e.Config.Targets, topic: e.Config.TargetTopic,
		memory:  memory,
		queue:   queue.TargetQueue{Client: sqs.NewFromConfig(e.AWS), URL: e.Config.TargetQueueURL, Dead: e.Config.TargetDeadURL},
		results: queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL},
		secrets: deliver.NewSecrets(secretsmanager.NewFromConfig(e.AWS), e.Now),
		mail:    sns.NewFromConfig(e.AWS),
		send:    deliver.Sender{HTTP: deliver.Client(e.HTTP), PagerDuty: e.Config.PagerDutyAPI, JSM: deliver.Atlassian, Now: e.Now},
		log:     e.Log, count: e.Metrics.Count,
	}
	return h.handle, nil
}
