package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"rollcall/local/platform/lambdaruntime"
	"rollcall/local/platform/pattern"
	"rollcall/local/platform/queue"
	"rollcall/local/platform/template"
)

// mapping is an event source mapping of a queue.
type mapping struct {
	template.EventSourceMapping
	filters []*pattern.Pattern
}

func compileMapping(x template.EventSourceMapping) (mapping, error) {
	m := mapping{EventSourceMapping: x}
	for i, f := range x.Filters {
		p, err := pattern.Compile(f)
		if err != nil {
			return mapping{}, fmt.Errorf("filter %d: %w", i, err)
		}
		m.filters = append(m.filters, p)
	}
	return m, nil
}

// defaultPollers is the number of concurrent batches with which Lambda starts
// to poll a queue. It scales up from there; the stage does not.
const defaultPollers = 5

// poll feeds a function from its queue. One batch is gathered at a time and
// up to the mapping's concurrency run at a time. (Lambda gathers with
// several pollers at once, so that a burst may be cut into more and smaller
// batches than here.)
func (r *Router) poll(ctx context.Context, m mapping) {
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
func (r *Router) serve(ctx context.Context, m mapping, batch []queue.Message) {
	entry := Entry{Target: m.QueueARN, Function: m.FunctionName}
	batch, filtered := m.filter(batch, r.o.Template.Region)
	if len(filtered) > 0 {
		entry := entry
		entry.Kind, entry.Count = Filtered, len(filtered)
		entry.Note = note(r.o.Queues.Delete(m.QueueARN, filtered...))
		r.trace(entry)
	}
	if len(batch) == 0 {
		return
	}
	event, err := sqsEvent(batch, m.QueueARN, r.o.Template.Region)
	if err != nil {
		entry.Kind, entry.Count, entry.Note = BatchFailed, len(batch), note(errors.Join(err, r.o.Queues.Return(m.QueueARN, batch...)))
		r.trace(entry)
		return
	}
	r.started.Add(1)
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
