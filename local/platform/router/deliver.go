package router

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rollcall/local/platform/lambdaruntime"
	"rollcall/local/platform/queue"
	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
)

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
