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
	"sync/atomic"
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

// cron is an expression with the six fields of EventBridge: minutes, hours,
// day of month, month, day of week, year.
type cron struct {
	where                         *time.Location
	minutes, hours, months, years map[int]bool
	// day tells if the schedule fires on a day.
	day func(time.Time) bool
}

// lastYear is where the year field of EventBridge ends.
const lastYear = 2199

func parseCron(body string, where *time.Location) (expression, error) {
	f := strings.Fields(body)
	if len(f) != 6 {
		return nil, fmt.Errorf("cron(%s): want 6 fields, found %d", body, len(f))
	}
	c := cron{where: where}
	for _, x := range []struct {
		into     *map[int]bool
		text     string
		from, to int
		names    []string
	}{
		{&c.minutes, f[0], 0, 59, nil},
		{&c.hours, f[1], 0, 23, nil},
		{&c.months, f[3], 1, 12, []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
		{&c.years, f[5], 1970, lastYear, nil},
	} {
		set, err := parseSet(x.text, x.from, x.to, x.names)
		if err != nil {
			return nil, fmt.Errorf("cron(%s): %w", body, err)
		}
		*x.into = set
	}
	var err error
	switch {
	case (f[2] == "?") == (f[4] == "?"):
		err = errors.New("one of day of month and day of week must be ?, and only one")
	case f[4] == "?":
		c.day, err = parseDayOfMonth(f[2])
	default:
		c.day, err = parseDayOfWeek(f[4])
	}
	if err != nil {
		return nil, fmt.Errorf("cron(%s): %w", body, err)
	}
	return c, nil
}

// parseSet reads *, a, a-b, a/n, */n, a-b/n and lists of them.
func parseSet(text string, from, to int, names []string) (map[int]bool, error) {
	set := make(map[int]bool)
	for _, part := range strings.Split(text, ",") {
		span, step, stepped := strings.Cut(part, "/")
		n := 1
		if stepped {
			var err error
			if n, err = strconv.Atoi(step); err != nil || n < 1 {
				return nil, fmt.Errorf("%q is not understood", part)
			}
		}
		low, high := from, to
		if span != "*" {
			a, b, ranged := strings.Cut(span, "-")
			var err error
			if low, err = number(a, from, to, names); err != nil {
				return nil, err
			}
			switch {
			case ranged:
				if high, err = number(b, from, to, names); err != nil {
					return nil, err
				}
			case !stepped:
				high = low
			}
		}
		if low > high {
			return nil, fmt.Errorf("%q runs backwards", part)
		}
		for i := low; i <= high; i += n {
			set[i] = true
		}
	}
	return set, nil
}

func number(text string, from, to int, names []string) (int, error) {
	for i, name := range names {
		if strings.EqualFold(name, text) {
			return from + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < from || n > to || text[0] == '+' {
		return 0, fmt.Errorf("%q is not between %d and %d", text, from, to)
	}
	return n, nil
}

func parseDayOfMonth(text string) (func(time.Time) bool, error) {
	if text == "L" {
		return func(t time.Time) bool { return t.AddDate(0, 0, 1).Day() == 1 }, nil
	}
	if day, ok := strings.CutSuffix(text, "W"); ok {
		n, err := number(day, 1, 31, nil)
		if err != nil {
			return nil, err
		}
		return func(t time.Time) bool { return t.Day() == nearestWeekday(t, n) }, nil
	}
	set, err := parseSet(text, 1, 31, nil)
	return func(t time.Time) bool { return set[t.Day()] }, err
}

// nearestWeekday returns the weekday nearest to day n of t's month, without
// leaving the month; 0 if the month has no day n.
func nearestWeekday(t time.Time, n int) int {
	at := time.Date(t.Year(), t.Month(), n, 0, 0, 0, 0, time.UTC)
	if at.Month() != t.Month() {
		return 0
	}
	last := at.AddDate(0, 0, 1).Day() == 1
	switch {
	case at.Weekday() == time.Saturday && n == 1:
		return 3
	case at.Weekday() == time.Saturday:
		return n - 1
	case at.Weekday() == time.Sunday && last:
		return n - 2
	case at.Weekday() == time.Sunday:
		return n + 1
	}
	return n
}

// parseDayOfWeek reads days from 1 (Sunday) to 7, with L (Saturday), 6L (the
// month's last Friday) and 3#2 (its second Tuesday).
func parseDayOfWeek(text string) (func(time.Time) bool, error) {
	names := []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
	if text == "L" {
		text = "7"
	}
	if day, ok := strings.CutSuffix(text, "L"); ok {
		n, err := number(day, 1, 7, names)
		return func(t time.Time) bool { return int(t.Weekday()) == n-1 && t.AddDate(0, 0, 7).Month() != t.Month() }, err
	}
	if day, nth, ok := strings.Cut(text, "#"); ok {
		n, err := number(day, 1, 7, names)
		if err != nil {
			return nil, err
		}
		which, err := number(nth, 1, 5, nil)
		return func(t time.Time) bool { return int(t.Weekday()) == n-1 && (t.Day()-1)/7+1 == which }, err
	}
	set, err := parseSet(text, 1, 7, names)
	return func(t time.Time) bool { return set[int(t.Weekday())+1] }, err
}

func (c cron) next(t, _ time.Time) (time.Time, bool) {
	t = t.In(c.where).Truncate(time.Minute).Add(time.Minute)
	for day := t; day.Year() <= lastYear; {
		if !c.years[day.Year()] {
			day = time.Date(day.Year()+1, 1, 1, 0, 0, 0, 0, c.where)
			continue
		}
		if !c.months[int(day.Month())] {
			day = time.Date(day.Year(), day.Month()+1, 1, 0, 0, 0, 0, c.where)
			continue
		}
		// Noon is on this day in every zone; midnight need not be.
		if c.day(time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, time.UTC)) {
			if at, ok := c.within(day, t); ok {
				return at, true
			}
		}
		day = time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, c.where)
	}
	return time.Time{}, false
}

// within returns the first time on a day that is not before t.
func (c cron) within(day, t time.Time) (time.Time, bool) {
	for h := range 24 {
		if !c.hours[h] {
			continue
		}
		for m := range 60 {
			at := time.Date(day.Year(), day.Month(), day.Day(), h, m, 0, 0, c.where)
			// In spring an hour does not exist; time.Date moves it on.
			if c.minutes[m] && !at.Before(t) && at.Hour() == h {
				return at, true
			}
		}
	}
	return time.Time{}, false
}

// delivery is one event for one target.
type delivery struct {
	event  Event
	by     string // the rule's or schedule's name
	arn    string // and ARN
	target template.Target
	// input is set for a schedule, whose input is no event.
	input []byte
}

// Limits that EventBridge has where a target sets none.
const (
	defaultAttempts = 185
	defaultMaxAge   = 24 * time.Hour
	// maxHops bounds how often an event goes on from one bus to the next.
	maxHops = 5
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
	var input *inputError
	return errors.Is(err, lambdaruntime.ErrNoFunction) || errors.Is(err, lambdaruntime.ErrClosed) || errors.Is(err, ErrNoBus) ||
		errors.Is(err, errHops) || errors.As(err, &refused) && refused.Status < 500 || errors.As(err, &input)
}

var errHops = fmt.Errorf("the event went over more than %d buses", maxHops)

func (r *Router) attempt(d delivery) error {
	body := d.input
	if body == nil {
		var err error
		body, err = input(d.target, d.event, d.arn, d.by, r.o.Clock.Now())
		if err != nil {
			return err
		}
	}
	switch service(d.target.ARN) {
	case "lambda":
		r.started.Add(1)
		_, name, _ := strings.Cut(d.target.ARN, ":function:")
		_, err := r.o.Functions.InvokeAsync(name, body)
		return err
	case "sqs":
		_, err := r.o.Queues.Send(d.target.ARN, queue.Outgoing{Body: string(body), Group: d.target.MessageGroupID, Dedup: d.dedup()})
		return err
	case "events":
		if d.event.hops >= maxHops {
			return errHops
		}
		return r.forward(d, body)
	}
	return &inputError{"no delivery to " + d.target.ARN}
}

// dedup is the deduplication id for a FIFO queue without content-based
// deduplication; EventBridge uses the event's id.
func (d delivery) dedup() string {
	if d.target.MessageGroupID == "" {
		return ""
	}
	return d.event.ID
}

// forward routes an event on another bus; a schedule makes a new one there.
func (r *Router) forward(d delivery, body []byte) error {
	bus := busName(d.target.ARN)
	if d.input != nil {
		_, err := r.Put(scheduledDetail(d.target, body), bus)
		return err
	}
	e, err := r.envelope(body, bus)
	if err != nil {
		return err
	}
	e.hops = d.event.hops + 1
	r.route(e)
	return nil
}

// giveUp sends the event to the target's dead-letter queue, if it has one.
func (r *Router) giveUp(d delivery, err error, reason string, retries int) {
	if d.target.DeadLetterARN == "" {
		r.trace(d.entry(Dropped, err.Error()))
		return
	}
	body := string(d.event.JSON)
	if d.input != nil {
		body = string(d.input)
	}
	code := "SDK_CLIENT_ERROR"
	var refused *wire.Error
	if errors.As(err, &refused) {
		code = refused.Code
	}
	// The attributes that EventBridge adds to dead letters.
	lost := r.o.Queues.SendText(d.target.DeadLetterARN, body, map[string]string{
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

// expression is a schedule expression: rate(…), cron(…) or at(…).
type expression interface {
	// next returns the first time after t at which the schedule fires; began
	// is when it was created. False means never again.
	next(t, began time.Time) (time.Time, bool)
}

var (
	_ expression = every(0)
	_ expression = once{}
	_ expression = cron{}
)

// parseExpression reads an expression. Only EventBridge Scheduler knows at()
// and time zones; for rules the location is UTC.
func parseExpression(source string, where *time.Location, scheduler bool) (expression, error) {
	kind, rest, ok := strings.Cut(source, "(")
	body, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return nil, fmt.Errorf("schedule %q is not understood", source)
	}
	switch {
	case kind == "rate":
		return parseRate(body)
	case kind == "cron":
		return parseCron(body, where)
	case kind == "at" && scheduler:
		t, err := time.ParseInLocation("2006-01-02T15:04:05", body, where)
		if err != nil {
			return nil, fmt.Errorf("schedule %q: %w", source, err)
		}
		return once{t}, nil
	}
	return nil, fmt.Errorf("schedule %q is not understood", source)
}

// every fires at even distances from its creation.
type every time.Duration

func (e every) next(t, began time.Time) (time.Time, bool) {
	n := t.Sub(began)/time.Duration(e) + 1
	if t.Before(began) {
		n = 1
	}
	return began.Add(n * time.Duration(e)), true
}

var rateForm = regexp.MustCompile(`^([0-9]{1,9}) (minute|minutes|hour|hours|day|days)$`)

func parseRate(body string) (expression, error) {
	m := rateForm.FindStringSubmatch(body)
	if m == nil {
		return nil, fmt.Errorf("rate(%s) is not understood", body)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 1 {
		return nil, fmt.Errorf("rate(%s): the value must be at least 1", body)
	}
	// EventBridge refuses "1 minutes" and "5 minute".
	if plural := strings.HasSuffix(m[2], "s"); plural == (n == 1) {
		return nil, fmt.Errorf("rate(%s): the unit must be singular for 1 and plural for more", body)
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[strings.TrimSuffix(m[2], "s")]
	if n > int(1<<62/unit) {
		return nil, fmt.Errorf("rate(%s): too long", body)
	}
	return every(time.Duration(n) * unit), nil
}

// once fires at one time.
type once struct{ at time.Time }

func (o once) next(t, _ time.Time) (time.Time, bool) { return o.at, o.at.After(t) }
