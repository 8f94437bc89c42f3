package router

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rollcall/local/platform/template"
)

// schedule is a scheduled rule or a schedule of EventBridge Scheduler.
type schedule struct {
	name, arn  string
	when       expression
	start, end time.Time
	targets    []template.Target
	scheduler  bool
}

func scheduleOfRule(x template.Rule) (schedule, error) {
	when, err := parseExpression(x.Schedule, time.UTC, false)
	return schedule{name: x.Name, arn: x.ARN, when: when, targets: x.Targets}, err
}

func scheduleOfScheduler(x template.Schedule) (schedule, error) {
	where := time.UTC
	if x.Timezone != "" {
		var err error
		if where, err = time.LoadLocation(x.Timezone); err != nil {
			return schedule{}, fmt.Errorf("time zone: %w", err)
		}
	}
	when, err := parseExpression(x.Expression, where, true)
	if err != nil {
		return schedule{}, err
	}
	if x.Target.Input != "" && service(x.Target.ARN) == "events" && !json.Valid([]byte(x.Target.Input)) {
		return schedule{}, &inputError{"Input for an event bus must be JSON"}
	}
	return schedule{name: x.Name, arn: x.ARN, when: when, start: x.Start, end: x.End, targets: []template.Target{x.Target}, scheduler: true}, nil
}

// keep fires a schedule until the context ends. Times that were missed
// because the stage runs faster than the machine are left out.
func (r *Router) keep(ctx context.Context, s schedule) {
	began := r.o.Clock.Now()
	if s.start.After(began) {
		began = s.start
	}
	at := began
	for {
		next, ok := s.when.next(at, began)
		if !ok || !s.end.IsZero() && next.After(s.end) {
			return
		}
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

// Fire fires the enabled schedule or scheduled rule of that name now, beside
// its own times.
func (r *Router) Fire(name string) error {
	for _, s := range r.schedules {
		if s.name == name {
			r.fire(s, r.o.Clock.Now())
			return nil
		}
	}
	return fmt.Errorf("no enabled schedule %q", name)
}

func (r *Router) fire(s schedule, at time.Time) {
	r.begin()
	defer r.end()
	r.trace(Entry{Kind: ScheduleFired, Rule: s.name})
	id := r.o.NewID()
	event := scheduledEvent(s, id, r.o.Template.AccountID, r.o.Template.Region, at)
	for _, t := range s.targets {
		d := delivery{event: event, by: s.name, arn: s.arn, target: t}
		if s.scheduler && t.Input != "" {
			// Exactly the input, with no envelope around it.
			d.input = []byte(contextual(t.Input, s.arn, id, at))
		} else if s.scheduler {
			d.input = event.JSON
		}
		r.deliver(d)
	}
}

// scheduledEvent is the event of a schedule without an input of its own. The
// detail of EventBridge Scheduler is "{}", a string, where that of a rule is
// an object: a trap for decoders, and so kept here.
func scheduledEvent(s schedule, id, account, region string, at time.Time) Event {
	source, detail := "aws.events", any(struct{}{})
	if s.scheduler {
		source, detail = "aws.scheduler", "{}"
	}
	e := Event{ID: id, Source: source, DetailType: "Scheduled Event", Bus: "default"}
	raw, err := json.Marshal(struct {
		Version    string   `json:"version"`
		ID         string   `json:"id"`
		DetailType string   `json:"detail-type"`
		Source     string   `json:"source"`
		Account    string   `json:"account"`
		Time       string   `json:"time"`
		Region     string   `json:"region"`
		Resources  []string `json:"resources"`
		Detail     any      `json:"detail"`
	}{"0", id, e.DetailType, source, account, at.UTC().Format("2006-01-02T15:04:05Z"), region, []string{s.arn}, detail})
	if err != nil {
		panic(err) // strings and an empty struct cannot fail
	}
	e.JSON = raw
	return e
}

// contextual replaces the context attributes that Scheduler knows.
func contextual(input, arn, id string, at time.Time) string {
	return strings.NewReplacer(
		"<aws.scheduler.schedule-arn>", arn,
		"<aws.scheduler.scheduled-time>", at.UTC().Format("2006-01-02T15:04:05Z"),
		"<aws.scheduler.execution-id>", id,
		"<aws.scheduler.attempt-number>", strconv.Itoa(1),
	).Replace(input)
}

// scheduledDetail is the event that Scheduler puts on a bus.
func scheduledDetail(t template.Target, input []byte) json.RawMessage {
	raw, err := json.Marshal(map[string]any{"source": t.Source, "detail-type": t.DetailType, "detail": json.RawMessage(input)})
	if err != nil {
		return nil // Put refuses it; the input was checked at load
	}
	return raw
}
