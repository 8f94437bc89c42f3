package router

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/pattern"
	"rollcall/stage/platform/queue"
	"rollcall/stage/platform/template"
)

// targetError says that nothing can be delivered to a target.
type targetError struct{ arn string }

func (e *targetError) Error() string { return "no delivery to " + e.arn }

// defaultPollers is the number of concurrent batches with which Lambda starts
// to poll a queue. It scales up from there; the stage does not.
const defaultPollers = 5

// poll feeds a function from its queue. One batch is gathered at a time and
// up to the mapping's concurrency run at a time. (Lambda gathers with
// several pollers at once, so that a burst may be cut into more and smaller
// batches than here.)
func (r *Router) poll(ctx context.Context, m template.EventSourceMapping) {
	limit := m.MaximumConcurrency
	if limit == 0 {
		limit = defaultPollers
	}
	slots := make(chan struct{}, limit)
	var all sync.WaitGroup
	defer all.Wait()
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		batch, err := r.o.Queues.Receive(ctx, m.QueueARN, m.BatchSize, m.Window)
		if err != nil || len(batch) == 0 {
			// The context or the queues have ended; New has made sure that the
			// queue exists.
			return
		}
		all.Go(func() {
			defer func() { <-slots }()
			r.serve(ctx, m, batch)
		})
	}
}

// serve brings one batch to the function and settles its messages.
func (r *Router) serve(ctx context.Context, m template.EventSourceMapping, batch []queue.Message) {
	entry := Entry{Target: m.QueueARN, Function: m.FunctionName}
	event, err := sqsEvent(batch, m.QueueARN, r.o.Template.Region)
	if err != nil {
		entry.Kind, entry.Count, entry.Note = BatchFailed, len(batch), note(errors.Join(err, r.o.Queues.Return(m.QueueARN, batch...)))
		r.trace(entry)
		return
	}
	entry.Kind, entry.Count = BatchInvoked, len(batch)
	r.trace(entry)
	res, err := r.o.Functions.Invoke(ctx, m.FunctionName, event)
	failed, reason := all(batch), ""
	if err != nil {
		reason = err.Error()
	} else {
		failed, reason = failures(m.ReportFailures, res, batch)
	}
	done := without(batch, failed)
	err = errors.Join(r.o.Queues.Delete(m.QueueARN, done...), r.o.Queues.Return(m.QueueARN, pick(batch, failed)...))
	if len(failed) > 0 || err != nil {
		entry.Kind, entry.Count, entry.Note = BatchFailed, len(failed), reason+note(err)
		r.trace(entry)
		return
	}
	entry.Kind, entry.Count = BatchDone, len(done)
	r.trace(entry)
}

func note(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// failures tells which messages of a batch go back to the queue, and why.
//
// Without ReportBatchItemFailures a batch succeeds or fails as a whole. With
// it, an answer that is empty or null, or has a null or empty list, is full
// success; an id that is unknown, empty or null, or an answer that is no such
// object, fails the whole batch.
func failures(report bool, res lambdaruntime.Result, batch []queue.Message) (failed map[string]bool, reason string) {
	if res.FunctionError != "" {
		return all(batch), "function error: " + string(res.Payload)
	}
	if !report || len(res.Payload) == 0 {
		return nil, ""
	}
	var answer *struct {
		BatchItemFailures []struct {
			ItemIdentifier *string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(res.Payload, &answer); err != nil {
		return all(batch), "the answer is no batch response: " + err.Error()
	}
	if answer == nil {
		return nil, ""
	}
	ids := all(batch)
	failed = make(map[string]bool)
	for _, f := range answer.BatchItemFailures {
		if f.ItemIdentifier == nil || !ids[*f.ItemIdentifier] {
			return ids, "the batch response names a message that is not in the batch"
		}
		failed[*f.ItemIdentifier] = true
	}
	if len(failed) > 0 {
		reason = fmt.Sprintf("%d of %d reported as failed", len(failed), len(batch))
	}
	return failed, reason
}

func all(batch []queue.Message) map[string]bool {
	out := make(map[string]bool, len(batch))
	for _, m := range batch {
		out[m.ID] = true
	}
	return out
}

func pick(batch []queue.Message, ids map[string]bool) []queue.Message {
	var out []queue.Message
	for _, m := range batch {
		if ids[m.ID] {
			out = append(out, m)
		}
	}
	return out
}

func without(batch []queue.Message, ids map[string]bool) []queue.Message {
	var out []queue.Message
	for _, m := range batch {
		if !ids[m.ID] {
			out = append(out, m)
		}
	}
	return out
}

// checkPermissions finds deliveries that AWS would refuse at run time, or
// event source mappings that Lambda would refuse to create.
func checkPermissions(t *template.Template) error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, r := range t.Rules {
		for _, x := range r.Targets {
			switch {
			case service(x.ARN) == "lambda" && !mayInvoke(t, r.ARN, x.ARN):
				add("rule %s: no AWS::Lambda::Permission allows it to invoke %s", r.LogicalID, x.ARN)
			case service(x.ARN) == "sqs":
				errs = append(errs, maySend(t, r, x.ARN))
			}
			if x.DeadLetterARN != "" {
				errs = append(errs, maySend(t, r, x.DeadLetterARN))
			}
		}
	}
	role := func(what, roleARN, resource string, actions ...string) {
		for _, action := range actions {
			ok, err := roleAllows(t, roleARN, action, resource)
			if err != nil {
				add("%s: %w", what, err)
			} else if !ok {
				add("%s: its role may not %s on %s", what, action, resource)
			}
		}
	}
	for _, m := range t.Mappings {
		if f, ok := t.Function(m.FunctionName); ok {
			role("event source mapping "+m.LogicalID, f.RoleARN, m.QueueARN, "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
		}
	}
	for _, f := range t.Functions {
		if f.DeadLetterARN != "" {
			role("function "+f.LogicalID, f.RoleARN, f.DeadLetterARN, "sqs:SendMessage")
		}
	}
	for _, c := range t.InvokeConfigs {
		f, ok := t.Function(c.FunctionName)
		if ok && c.OnFailureARN != "" {
			role("event invoke config "+c.LogicalID, f.RoleARN, c.OnFailureARN, "sqs:SendMessage")
		}
	}
	return errors.Join(errs...)
}

// mayInvoke tells if a permission of the function lets the rule in.
func mayInvoke(t *template.Template, ruleARN, functionARN string) bool {
	f, ok := t.Function(functionARN)
	if !ok {
		return false
	}
	for _, p := range t.Permissions {
		if p.FunctionName == f.Name && p.Principal == "events.amazonaws.com" &&
			(p.Action == "lambda:InvokeFunction" || p.Action == "lambda:*") && (p.SourceARN == "" || p.SourceARN == ruleARN) {
			return true
		}
	}
	return false
}

// maySend says why the queue's policy does not let the rule's events in.
func maySend(t *template.Template, r template.Rule, queueARN string) error {
	q, ok := t.Queue(queueARN)
	if !ok {
		return fmt.Errorf("rule %s: queue %q is not in the template", r.LogicalID, queueARN)
	}
	var mine []template.Statement
	for _, p := range t.QueuePolicies {
		for _, url := range p.QueueURLs {
			if url != q.URL {
				continue
			}
			for _, s := range p.Statements {
				if s.Effect == "Deny" || forEvents(s.Principals) {
					mine = append(mine, s)
				}
			}
		}
	}
	allowed, err := template.Allows(mine, "sqs:SendMessage", queueARN, map[string][]string{
		"aws:SourceArn": {r.ARN}, "aws:SourceAccount": {t.AccountID}, "aws:SecureTransport": {"true"},
	})
	if err != nil {
		return fmt.Errorf("rule %s: policy of queue %s: %w", r.LogicalID, q.LogicalID, err)
	}
	if !allowed {
		return fmt.Errorf("rule %s: no AWS::SQS::QueuePolicy lets its events into queue %s", r.LogicalID, q.LogicalID)
	}
	return nil
}

func forEvents(principals []string) bool {
	for _, p := range principals {
		if p == "*" || p == "Service:events.amazonaws.com" || p == "AWS:*" {
			return true
		}
	}
	return false
}

func roleAllows(t *template.Template, roleARN, action, resource string) (bool, error) {
	for _, r := range t.Roles {
		if r.ARN == roleARN {
			return template.Allows(r.Statements, action, resource, map[string][]string{
				"aws:SecureTransport": {"true"}, "aws:RequestedRegion": {t.Region},
			})
		}
	}
	return false, fmt.Errorf("role %q is not in the template", strings.TrimSpace(roleARN))
}

// Fault is what goes wrong with one event between its service and the bus.
// AWS gives at-least-once delivery at best, and best effort for events of
// its services.
type Fault struct {
	// Lose drops the event.
	Lose bool
	// Copies are delivered beside the event itself.
	Copies int
	// Delay holds the event back, in stage time.
	Delay time.Duration
	// Reorder holds the event back until the next one has been delivered, or
	// for a minute of stage time if none comes.
	Reorder bool
}

// reorderLimit is how long an event waits for one that may overtake it.
const reorderLimit = time.Minute

// ErrNoBus says that there is no event bus of that name.
var ErrNoBus = errors.New("no such event bus")

// Put puts an event on a bus, by name or ARN, and returns its id. It makes the
// first attempt of each delivery and does not wait for more. What the envelope lacks of id, version, account, time,
// region and resources is filled in, as PutEvents does.
func (r *Router) Put(source json.RawMessage, bus string) (string, error) {
	e, err := r.envelope(source, bus)
	if err != nil {
		return "", fmt.Errorf("put event: %w", err)
	}
	r.begin()
	defer r.end()
	r.trace(Entry{Kind: EventPut, Event: e.ID, Bus: e.Bus, Source: e.Source, DetailType: e.DetailType})
	fault := r.o.Faults(e)
	if fault != (Fault{}) {
		r.trace(Entry{Kind: EventFault, Event: e.ID, Bus: e.Bus, Source: e.Source, DetailType: e.DetailType, Note: fmt.Sprintf("%+v", fault)})
	}
	switch {
	case fault.Lose:
	case fault.Reorder:
		r.mu.Lock()
		r.held = append(r.held, e)
		r.mu.Unlock()
		r.spawn(func(ctx context.Context) {
			if r.pause(ctx, reorderLimit+fault.Delay) == nil && r.unhold(e.ID) {
				r.arrive(e, fault)
			}
		})
	case fault.Delay > 0:
		r.spawn(func(ctx context.Context) {
			if r.pause(ctx, fault.Delay) == nil {
				r.arrive(e, fault)
			}
		})
	default:
		r.arrive(e, fault)
	}
	return e.ID, nil
}

// arrive routes an event with its copies, and then those it has overtaken.
func (r *Router) arrive(e Event, fault Fault) {
	for range 1 + fault.Copies {
		r.route(e)
	}
	for _, late := range r.takeHeld() {
		r.route(late)
	}
}

// spawn hands work to Run without making the caller wait for it. Once Run has
// returned the work is dropped.
func (r *Router) spawn(f func(context.Context)) {
	r.begin()
	go func() {
		select {
		case r.work <- func(ctx context.Context) { defer r.end(); f(ctx) }:
		case <-r.done:
			r.end()
		}
	}()
}

// unhold takes one event out of those held back; false if it was overtaken
// already.
func (r *Router) unhold(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, e := range r.held {
		if e.ID == id {
			r.held = append(r.held[:i], r.held[i+1:]...)
			return true
		}
	}
	return false
}

func (r *Router) takeHeld() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.held
	r.held = nil
	return out
}

func (r *Router) envelope(source json.RawMessage, bus string) (Event, error) {
	name := busName(bus)
	if !r.hasBus(name) {
		return Event{}, fmt.Errorf("bus %q: %w", bus, ErrNoBus)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(source, &fields); err != nil {
		return Event{}, fmt.Errorf("read the event: %w", err)
	}
	if fields == nil {
		return Event{}, errors.New("read the event: it is null")
	}
	t := r.o.Template
	for field, value := range map[string]any{
		"version": "0", "account": t.AccountID, "region": t.Region, "resources": []string{}, "detail": map[string]any{},
		"time": r.o.Clock.Now().UTC().Format("2006-01-02T15:04:05Z"),
	} {
		if len(fields[field]) > 0 {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return Event{}, err
		}
		fields[field] = raw
	}
	if len(fields["id"]) == 0 {
		raw, err := json.Marshal(r.o.NewID())
		if err != nil {
			return Event{}, err
		}
		fields["id"] = raw
	}
	e := Event{Bus: name}
	for field, into := range map[string]*string{"id": &e.ID, "source": &e.Source, "detail-type": &e.DetailType} {
		if err := json.Unmarshal(fields[field], into); err != nil || *into == "" {
			return Event{}, fmt.Errorf("the event's %q must be a string that is not empty", field)
		}
	}
	var whole bytes.Buffer
	enc := json.NewEncoder(&whole)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(fields); err != nil {
		return Event{}, fmt.Errorf("write the event: %w", err)
	}
	e.JSON = bytes.TrimSpace(whole.Bytes())
	return e, nil
}

func (r *Router) hasBus(name string) bool {
	if name == "default" {
		return true
	}
	for _, b := range r.o.Template.Buses {
		if b.Name == name {
			return true
		}
	}
	return false
}

// route finds the rules for an event and delivers to their targets. The first
// attempts are made here and now, so that without faults events arrive in the
// order of Put; AWS promises no order, which is what Fault.Reorder is for.
func (r *Router) route(e Event) {
	matched := false
	event, err := pattern.ReadEvent(e.JSON)
	for _, x := range r.rules {
		if !x.Enabled || x.Bus != e.Bus || x.pattern == nil {
			continue
		}
		if err != nil {
			r.trace(Entry{Kind: Dropped, Event: e.ID, Bus: e.Bus, Rule: x.Name, Note: err.Error()})
			continue
		}
		if !x.pattern.Match(event) {
			continue
		}
		matched = true
		r.trace(Entry{Kind: EventMatched, Event: e.ID, Bus: e.Bus, Source: e.Source, DetailType: e.DetailType, Rule: x.Name})
		for _, t := range x.Targets {
			r.deliver(delivery{event: e, by: x.Name, arn: x.ARN, target: t})
		}
	}
	if !matched {
		r.trace(Entry{Kind: NoRule, Event: e.ID, Bus: e.Bus, Source: e.Source, DetailType: e.DetailType})
	}
}

// record is a message as functions see it.
type record struct {
	MessageID         string                     `json:"messageId"`
	ReceiptHandle     string                     `json:"receiptHandle"`
	Body              string                     `json:"body"`
	Attributes        map[string]string          `json:"attributes"`
	MessageAttributes map[string]recordAttribute `json:"messageAttributes"`
	MD5OfBody         string                     `json:"md5OfBody"`
	EventSource       string                     `json:"eventSource"`
	EventSourceARN    string                     `json:"eventSourceARN"`
	Region            string                     `json:"awsRegion"`
}

type recordAttribute struct {
	StringValue *string  `json:"stringValue,omitempty"`
	BinaryValue []byte   `json:"binaryValue,omitempty"`
	Strings     []string `json:"stringListValues"`
	Binaries    []string `json:"binaryListValues"`
	DataType    string   `json:"dataType"`
}

func recordOf(m queue.Message, arn, region string) record {
	out := record{
		MessageID: m.ID, ReceiptHandle: m.Receipt, Body: m.Body, Attributes: m.System, MessageAttributes: map[string]recordAttribute{},
		MD5OfBody: m.BodyDigest(), EventSource: "aws:sqs", EventSourceARN: arn, Region: region,
	}
	for name, a := range m.Attributes {
		x := recordAttribute{StringValue: a.StringValue, BinaryValue: a.BinaryValue, Strings: []string{}, Binaries: []string{}}
		if a.DataType != nil {
			x.DataType = *a.DataType
		}
		out.MessageAttributes[name] = x
	}
	return out
}

// sqsEvent is the event with which a batch reaches its function.
func sqsEvent(batch []queue.Message, arn, region string) ([]byte, error) {
	var event struct {
		Records []record `json:"Records"`
	}
	for _, m := range batch {
		event.Records = append(event.Records, recordOf(m, arn, region))
	}
	raw, err := json.Marshal(event)
	if err != nil {
		return nil, fmt.Errorf("write the batch: %w", err)
	}
	return raw, nil
}

// schedule is a scheduled rule.
type schedule struct {
	name, arn string
	every     time.Duration
	targets   []template.Target
}

// keep fires a schedule until the context ends. Times that were missed
// because the stage runs faster than the machine are left out.
func (r *Router) keep(ctx context.Context, s schedule) {
	began := r.o.Clock.Now()
	for at := began; ; {
		next := s.next(at, began)
		if r.o.Clock.Sleep(ctx, r.o.Clock.Until(next)) != nil {
			return
		}
		r.fire(s, next)
		at = next
		if now := r.o.Clock.Now(); now.After(at) {
			at = now
		}
	}
}

// next returns the first time after t at which a schedule fires that began to count then.
func (s schedule) next(t, began time.Time) time.Time {
	return began.Add((t.Sub(began)/s.every + 1) * s.every)
}

func (r *Router) fire(s schedule, at time.Time) {
	r.begin()
	defer r.end()
	r.trace(Entry{Kind: ScheduleFired, Rule: s.name})
	id := r.o.NewID()
	event := scheduledEvent(s, id, r.o.Template.AccountID, r.o.Template.Region, at)
	for _, t := range s.targets {
		r.deliver(delivery{event: event, by: s.name, arn: s.arn, target: t})
	}
}

// scheduledEvent is the event of a scheduled rule.
func scheduledEvent(s schedule, id, account, region string, at time.Time) Event {
	e := Event{ID: id, Source: "aws.events", DetailType: "Scheduled Event", Bus: "default"}
	raw, err := json.Marshal(struct {
		Version    string   `json:"version"`
		ID         string   `json:"id"`
		DetailType string   `json:"detail-type"`
		Source     string   `json:"source"`
		Account    string   `json:"account"`
		Time       string   `json:"time"`
		Region     string   `json:"region"`
		Resources  []string `json:"resources"`
		Detail     struct{} `json:"detail"`
	}{"0", id, e.DetailType, e.Source, account, at.UTC().Format("2006-01-02T15:04:05Z"), region, []string{s.arn}, struct{}{}})
	if err != nil {
		panic(err) // strings and an empty struct cannot fail
	}
	e.JSON = raw
	return e
}
