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
	"sync"
	"sync/atomic"
	"time"

	"rollcall/local/platform/lambdaruntime"
	"rollcall/local/platform/pattern"
	"rollcall/local/platform/queue"
	"rollcall/local/platform/template"
	"rollcall/local/simclock"
)

// Functions is what the router needs of the Lambda runtime.
type Functions interface {
	Invoke(ctx context.Context, name string, event []byte) (lambdaruntime.Result, error)
	InvokeAsync(name string, event []byte) (string, error)
	// Running counts invocations that run or wait for a process.
	Running() int
}

var _ Functions = (*lambdaruntime.Runtime)(nil)

// Queues is what the router needs of the queues.
type Queues interface {
	Send(arn string, m queue.Outgoing) (string, error)
	SendText(arn, body string, attributes map[string]string) error
	Receive(ctx context.Context, arn string, max int, window time.Duration) ([]queue.Message, error)
	Delete(arn string, batch ...queue.Message) error
	Return(arn string, batch ...queue.Message) error
	Depth(arn string) (queue.Depth, error)
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
	mappings  []mapping

	work chan func(context.Context) // what waits and retries, taken by Run
	done chan struct{}              // closed when Run has returned

	mu      sync.Mutex
	pending int    // events and deliveries that are not done and not delayed
	rest    func() // tells the clock that none is on its way
	held    []Event
	started atomic.Int64 // invocations so far
}

type rule struct {
	template.Rule
	pattern *pattern.Pattern // nil for a schedule
}

// New compiles the patterns, schedules, filters and inputs of a template and
// checks that deliveries are permitted.
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
			s, err := scheduleOfRule(x)
			if err != nil {
				errs = append(errs, fmt.Errorf("rule %s: %w", x.LogicalID, err))
			}
			r.schedules = append(r.schedules, s)
		}
	}
	for _, x := range o.Template.Schedules {
		s, err := scheduleOfScheduler(x)
		if err != nil {
			errs = append(errs, fmt.Errorf("schedule %s: %w", x.LogicalID, err))
			continue
		}
		if x.Enabled {
			r.schedules = append(r.schedules, s)
		}
	}
	for _, x := range o.Template.Mappings {
		m, err := compileMapping(x)
		if err != nil {
			errs = append(errs, fmt.Errorf("event source mapping %s: %w", x.LogicalID, err))
			continue
		}
		if x.Enabled {
			r.mappings = append(r.mappings, m)
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
	for _, t := range x.Targets {
		if err := checkInput(t); err != nil {
			return rule{}, fmt.Errorf("target %s: %w", t.ID, err)
		}
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

// Idle waits until nothing is on its way: no event or delivery, no
// invocation, and no message that could be received now or is in a poller's
// hand. Messages that are delayed or hidden, deliveries that wait for their
// next attempt and schedules to come do not count.
func (r *Router) Idle(ctx context.Context) error {
	// Wall time: this is for tests and the demo's driver, and cheap.
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		idle, err := r.idleNow()
		if err != nil || idle {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the stage to be idle: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// idleNow looks at invocations before and after the queues: if none ran and
// none was started in between, then none can have filled a queue that was
// already looked at.
func (r *Router) idleNow() (bool, error) {
	before := r.started.Load()
	if r.busy() {
		return false, nil
	}
	for _, m := range r.mappings {
		d, err := r.o.Queues.Depth(m.QueueARN)
		if err != nil {
			return false, fmt.Errorf("depth of %s: %w", m.QueueARN, err)
		}
		if d.Visible > 0 || d.Held > 0 {
			return false, nil
		}
	}
	return !r.busy() && r.started.Load() == before, nil
}

func (r *Router) busy() bool {
	r.mu.Lock()
	pending := r.pending
	r.mu.Unlock()
	return pending > 0 || r.o.Functions.Running() > 0
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
	Filtered      Kind = "filtered"
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

	hops int // from bus to bus
}
