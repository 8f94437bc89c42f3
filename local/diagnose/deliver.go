package diagnose

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"rollcall/local/exit"
	"rollcall/local/platform/router"
	"rollcall/local/platform/template"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/report"
)

// playEvent puts the capture's event on the default bus. The template's rules
// take it to their queues, and what waits there goes to the functions. What a
// queue holds back for later (the roll call of a launch) is the sweep's.
func (r *run) playEvent(ctx context.Context) error {
	if r.event == nil {
		return nil
	}
	var e struct{ Time time.Time }
	if json.Unmarshal(r.event, &e) == nil && !e.Time.IsZero() && r.stage.Clock.Now().Sub(e.Time) > history {
		fmt.Fprintf(r.notes, "note: event.json is of %s, more than an hour before the capture: it is not played\n", e.Time.UTC().Format(time.RFC3339))
		return nil
	}
	if _, err := r.stage.Router.Put(r.event, "default"); err != nil {
		return exit.Misuse("event.json: %w", err)
	}
	matched := false
	for _, t := range r.stage.Trace() {
		matched = matched || t.Kind == router.Delivered
	}
	if !matched {
		fmt.Fprintln(r.notes, "note: no rule of Rollcall takes the event of event.json")
	}
	for _, m := range r.stage.Template.Mappings {
		if err := r.pump(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// playRefused gives the functions what a world told its bus of calls for instances
// that were refused: no API has it afterwards, as it is what launch-watch keeps. All
// else that happened to a world can still be seen, and is the sweep's.
func (r *run) playRefused(ctx context.Context) error {
	if r.capture != nil {
		return nil
	}
	for _, m := range r.stage.Template.Mappings {
		for _, f := range r.stage.Template.Functions {
			if f.Name != m.FunctionName && f.ARN != m.FunctionName {
				continue
			}
			if f, ok := r.detector(f.ARN); ok {
				if err := r.pumpRefused(ctx, f, m.QueueARN); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *run) pumpRefused(ctx context.Context, f template.Function, queue string) error {
	batch, err := r.drain(ctx, queue)
	if err != nil {
		return err
	}
	batch = slices.DeleteFunc(batch, func(m events.SQSMessage) bool {
		t, err := event.Parse([]byte(m.Body))
		return err != nil || t.Kind != event.LaunchRefused
	})
	if len(batch) == 0 {
		return nil
	}
	raw, err := json.Marshal(events.SQSEvent{Records: batch})
	if err != nil {
		return fmt.Errorf("write the batch: %w", err)
	}
	return r.invoke(ctx, f, raw)
}

// pump gives what waits in a queue to the detector that reads it.
func (r *run) pump(ctx context.Context, m template.EventSourceMapping) error {
	for _, f := range r.stage.Template.Functions {
		if f.Name != m.FunctionName && f.ARN != m.FunctionName {
			continue
		}
		if f, ok := r.detector(f.ARN); ok {
			batch, err := r.drain(ctx, m.QueueARN)
			if err != nil || len(batch) == 0 {
				return err
			}
			raw, err := json.Marshal(events.SQSEvent{Records: batch})
			if err != nil {
				return fmt.Errorf("write the batch: %w", err)
			}
			return r.invoke(ctx, f, raw)
		}
	}
	return nil
}

// drain takes all messages that a queue gives now.
func (r *run) drain(ctx context.Context, arn string) ([]events.SQSMessage, error) {
	var all []events.SQSMessage
	for {
		depth, err := r.stage.Queues.Depth(arn)
		if err != nil {
			return nil, fmt.Errorf("queue %s: %w", arn, err)
		}
		if depth.Visible == 0 {
			return all, nil
		}
		batch, err := r.stage.Queues.Receive(ctx, arn, depth.Visible, 0)
		if err != nil {
			return nil, fmt.Errorf("receive from %s: %w", arn, err)
		}
		for _, m := range batch {
			all = append(all, events.SQSMessage{
				MessageId: m.ID, ReceiptHandle: m.Receipt, Body: m.Body, Attributes: m.System,
				EventSource: "aws:sqs", EventSourceARN: arn, AWSRegion: r.stage.Template.Region,
			})
		}
		if err := r.stage.Queues.Delete(arn, batch...); err != nil {
			return nil, fmt.Errorf("delete from %s: %w", arn, err)
		}
	}
}

// collect reads what the functions found.
func (r *run) collect(ctx context.Context) error {
	for _, q := range r.stage.Template.Queues {
		if !r.isResults(q) {
			continue
		}
		messages, err := r.drain(ctx, q.ARN)
		if err != nil {
			return err
		}
		for _, m := range messages {
			said, err := report.DecodeMessage([]byte(m.Body))
			if err != nil {
				return err
			}
			// A summary counts what was; it finds nothing.
			if said.Observation != nil {
				r.seen = append(r.seen, *said.Observation)
			}
		}
	}
	return nil
}

// isResults tells the queue to which the detectors send.
func (r *run) isResults(q template.Queue) bool {
	for _, f := range r.stage.Template.Functions {
		if f.Environment[string(config.ResultQueueURL)] == q.URL {
			return true
		}
	}
	return false
}
