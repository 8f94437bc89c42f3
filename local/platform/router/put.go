package router

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rollcall/local/platform/pattern"
	"rollcall/local/platform/template"
)

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

// Rules lists the names of the enabled rules of a bus that an event matches,
// without delivering anything.
func (r *Router) Rules(source json.RawMessage, bus string) ([]template.Rule, error) {
	var out []template.Rule
	for _, x := range r.rules {
		if !x.Enabled || x.Bus != busName(bus) || x.pattern == nil {
			continue
		}
		ok, err := x.pattern.Matches(source)
		if err != nil {
			return nil, fmt.Errorf("match rule %s: %w", x.Name, err)
		}
		if ok {
			out = append(out, x.Rule)
		}
	}
	return out, nil
}
