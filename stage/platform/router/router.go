// Package router is the event machinery of the local stage: event buses with
// their rules, schedules, and event source mappings, all as the synthesised
// template has them, on the stage clock.
//
// What AWS would only show by events that never arrive (a function that a
// rule may not invoke, a queue whose policy does not let events in) is an
// error of New here.
package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/pattern"
	"rollcall/stage/platform/queue"
	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simclock"
)

// Functions is what the router needs of the Lambda runtime.
type Functions interface {
	Invoke(ctx context.Context, name string, event []byte) (lambdaruntime.Result, error)
	InvokeAsync(name string, event []byte) (string, error)
}

var _ Functions = (*lambdaruntime.Runtime)(nil)

// Queues is what the router needs of the queues.
type Queues interface {
	Send(arn string, m queue.Outgoing) (string, error)
	SendText(arn, body string, attributes map[string]string) error
	Receive(ctx context.Context, arn string, max int, window time.Duration) ([]queue.Message, error)
	Delete(arn string, batch ...queue.Message) error
	Return(arn string, batch ...queue.Message) error
}

var _ Queues = (*queue.Queues)(nil)

// Options are the parts that a router works with.
type Options struct {
	Template  *template.Template
	Functions Functions
	Queues    Queues
	Clock     *simclock.Clock
	// NewID makes event ids.
	NewID func() string
	// Faults decides what goes wrong with an event; nil means nothing. It is
	// called once for each event that is put, also from several goroutines.
	Faults func(Event) Fault
	// Trace takes what happens, for the timeline. It must not block.
	Trace func(Entry)
}

// Router routes events. Make one with New, and let Run work until its
// context ends.
type Router struct {
	o         Options
	rules     []rule
	schedules []schedule
	mappings  []template.EventSourceMapping

	work chan func(context.Context) // what waits and retries, taken by Run
	done chan struct{}              // closed when Run has returned

	mu      sync.Mutex
	pending int    // events and deliveries that are not done and not delayed
	rest    func() // tells the clock that none is on its way
	held    []Event
}

type rule struct {
	template.Rule
	pattern *pattern.Pattern // nil for a schedule
}

// New compiles the patterns and schedules of a template and checks that
// deliveries are permitted.
func New(o Options) (*Router, error) {
	if o.Trace == nil {
		o.Trace = func(Entry) {}
	}
	if o.Faults == nil {
		o.Faults = func(Event) Fault { return Fault{} }
	}
	r := &Router{o: o, work: make(chan func(context.Context)), done: make(chan struct{})}
	errs := []error{checkPermissions(o.Template)}
	for _, x := range o.Template.Rules {
		compiled, err := compileRule(x)
		if err != nil {
			errs = append(errs, fmt.Errorf("rule %s: %w", x.LogicalID, err))
			continue
		}
		r.rules = append(r.rules, compiled)
		if x.Schedule != "" && x.Enabled {
			every, err := parseRate(x.Schedule)
			if err != nil {
				errs = append(errs, fmt.Errorf("rule %s: %w", x.LogicalID, err))
			}
			r.schedules = append(r.schedules, schedule{name: x.Name, arn: x.ARN, every: every, targets: x.Targets})
		}
	}
	for _, x := range o.Template.Mappings {
		if x.Enabled {
			r.mappings = append(r.mappings, x)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("router: %w", err)
	}
	return r, nil
}

func compileRule(x template.Rule) (rule, error) {
	out := rule{Rule: x}
	if len(x.Pattern) > 0 {
		p, err := pattern.Compile(x.Pattern)
		if err != nil {
			return rule{}, err
		}
		out.pattern = p
	}
	return out, nil
}

// Run delivers, polls and keeps schedules until the context ends, and returns
// when all that it started has ended. It can be called once.
func (r *Router) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, m := range r.mappings {
		all.Go(func() { r.poll(ctx, m) })
	}
	for _, s := range r.schedules {
		all.Go(func() { r.keep(ctx, s) })
	}
	for {
		select {
		case f := <-r.work:
			all.Go(func() { f(ctx) })
		case <-ctx.Done():
			all.Wait()
			close(r.done)
			return
		}
	}
}

// begin and end count what is on its way.
func (r *Router) begin() { r.count(1) }
func (r *Router) end()   { r.count(-1) }

func (r *Router) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.pending
	r.pending += n
	switch {
	case before == 0:
		r.rest = r.o.Clock.Work()
	case r.pending == 0:
		r.rest()
	}
}

// pause is a Sleep during which the sleeper does not count as busy.
func (r *Router) pause(ctx context.Context, d time.Duration) error {
	r.end()
	defer r.begin()
	return r.o.Clock.Sleep(ctx, d)
}

// Entry is one thing that happened.
type Entry struct {
	At   time.Time // stage time
	Kind Kind
	// Event, Bus and Source tell what it was about.
	Event, Bus, Source, DetailType string
	// Rule, Target and Function tell where it went.
	Rule, Target, Function string
	// Count is the number of messages of a batch.
	Count int
	// Note is for people.
	Note string
}

// Kind is what an Entry tells.
type Kind string

// The kinds of entries.
const (
	EventPut      Kind = "event put"
	EventFault    Kind = "fault"
	EventMatched  Kind = "matched"
	NoRule        Kind = "no rule"
	Delivered     Kind = "delivered"
	Retrying      Kind = "retrying"
	DeadLettered  Kind = "dead letter"
	Dropped       Kind = "dropped"
	ScheduleFired Kind = "schedule"
	BatchInvoked  Kind = "batch"
	BatchDone     Kind = "batch done"
	BatchFailed   Kind = "batch failed"
)

func (r *Router) trace(e Entry) {
	e.At = r.o.Clock.Now()
	r.o.Trace(e)
}

// Event is an event on its way.
type Event struct {
	ID         string
	Source     string
	DetailType string
	Bus        string
	// JSON is the whole event.
	JSON json.RawMessage
}

// delivery is one event for one target.
type delivery struct {
	event  Event
	by     string // the rule's or schedule's name
	arn    string // and ARN
	target template.Target
}

// Limits that EventBridge has where a target sets none.
const (
	defaultAttempts = 185
	defaultMaxAge   = 24 * time.Hour
)

// deliver makes the first attempt, and leaves the others to Run.
func (r *Router) deliver(d delivery) {
	began := r.o.Clock.Now()
	err := r.attempt(d)
	if err == nil {
		r.trace(d.entry(Delivered, ""))
		return
	}
	if final(err) {
		r.giveUp(d, err, "", 0)
		return
	}
	r.spawn(func(ctx context.Context) { r.again(ctx, d, began, err) })
}

// again tries until it works or the target's retry policy is exhausted.
func (r *Router) again(ctx context.Context, d delivery, began time.Time, err error) {
	for attempt := 0; ; attempt++ {
		wait := backoff(attempt)
		reason, more := d.retry(err, attempt, r.o.Clock.Now().Add(wait).Sub(began))
		if !more {
			r.giveUp(d, err, reason, attempt)
			return
		}
		r.trace(d.entry(Retrying, err.Error()))
		if r.pause(ctx, wait) != nil {
			return
		}
		if err = r.attempt(d); err == nil {
			r.trace(d.entry(Delivered, ""))
			return
		}
	}
}

func (d delivery) entry(kind Kind, note string) Entry {
	e := Entry{Kind: kind, Event: d.event.ID, Bus: d.event.Bus, Source: d.event.Source, DetailType: d.event.DetailType,
		Rule: d.by, Target: d.target.ARN, Note: note}
	if _, name, ok := strings.Cut(d.target.ARN, ":function:"); ok {
		e.Function = name
	}
	return e
}

// backoff doubles from one second to five minutes. EventBridge does not
// publish its steps, only that they grow and are jittered.
func backoff(attempt int) time.Duration {
	return min(time.Second<<min(attempt, 20), 5*time.Minute)
}

// retry decides what comes after a failed attempt (counted from 0); age is
// how old the delivery will be at the next one.
func (d delivery) retry(err error, attempt int, age time.Duration) (reason string, more bool) {
	attempts, maxAge := d.target.MaxAttempts, d.target.MaxAge
	if attempts < 0 {
		attempts = defaultAttempts
	}
	if maxAge == 0 {
		maxAge = defaultMaxAge
	}
	switch {
	case final(err):
		return "", false
	case attempt >= attempts:
		return "MaximumRetryAttempts", false
	case age > maxAge:
		return "MaximumEventAgeInSeconds", false
	}
	return "", true
}

// final tells errors that EventBridge does not try again: the target is not
// there, or will never take this.
func final(err error) bool {
	var refused *wire.Error
	var target *targetError
	return errors.Is(err, lambdaruntime.ErrNoFunction) || errors.Is(err, lambdaruntime.ErrClosed) || errors.Is(err, ErrNoBus) ||
		errors.As(err, &refused) && refused.Status < 500 || errors.As(err, &target)
}

func (r *Router) attempt(d delivery) error {
	switch service(d.target.ARN) {
	case "lambda":
		_, name, _ := strings.Cut(d.target.ARN, ":function:")
		_, err := r.o.Functions.InvokeAsync(name, d.event.JSON)
		return err
	case "sqs":
		_, err := r.o.Queues.Send(d.target.ARN, queue.Outgoing{Body: string(d.event.JSON)})
		return err
	}
	return &targetError{d.target.ARN}
}

// giveUp sends the event to the target's dead-letter queue, if it has one.
func (r *Router) giveUp(d delivery, err error, reason string, retries int) {
	if d.target.DeadLetterARN == "" {
		r.trace(d.entry(Dropped, err.Error()))
		return
	}
	code := "SDK_CLIENT_ERROR"
	var refused *wire.Error
	if errors.As(err, &refused) {
		code = refused.Code
	}
	// The attributes that EventBridge adds to dead letters.
	lost := r.o.Queues.SendText(d.target.DeadLetterARN, string(d.event.JSON), map[string]string{
		"RULE_ARN": d.arn, "TARGET_ARN": d.target.ARN, "ERROR_CODE": code, "ERROR_MESSAGE": err.Error(),
		"RETRY_ATTEMPTS": strconv.Itoa(retries), "EXHAUSTED_RETRY_CONDITION": reason,
	})
	if lost != nil {
		r.trace(d.entry(Dropped, errors.Join(err, lost).Error()))
		return
	}
	r.trace(d.entry(DeadLettered, err.Error()))
}

// service returns the service of an ARN.
func service(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return ""
	}
	return parts[2]
}

func busName(nameOrARN string) string {
	if _, name, ok := strings.Cut(nameOrARN, ":event-bus/"); ok {
		return name
	}
	return nameOrARN
}

var rateForm = regexp.MustCompile(`^rate\(([0-9]{1,9}) (minute|minutes|hour|hours|day|days)\)$`)

// parseRate reads a schedule expression. The rules of Rollcall have no cron(…).
func parseRate(source string) (time.Duration, error) {
	m := rateForm.FindStringSubmatch(source)
	if m == nil {
		return 0, fmt.Errorf("schedule %q is not understood", source)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s: the value must be at least 1", source)
	}
	// EventBridge refuses "1 minutes" and "5 minute".
	if plural := strings.HasSuffix(m[2], "s"); plural == (n == 1) {
		return 0, fmt.Errorf("%s: the unit must be singular for 1 and plural for more", source)
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[strings.TrimSuffix(m[2], "s")]
	if n > int(1<<62/unit) {
		return 0, fmt.Errorf("%s: too long", source)
	}
	return time.Duration(n) * unit, nil
}
