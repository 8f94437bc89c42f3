package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/local/fakeslack"
	"rollcall/local/platform/lambdaruntime"
	"rollcall/local/platform/template"
	"rollcall/local/simaws"

	"rollcall/local/payload"

	"rollcall/local/stage"

	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

// measured is what a function took at a size of memory.
type measured struct {
	function string
	memory   int // MB
	own      bool
	// cold is from the start of the process to the answer, warm the work alone.
	cold, warm []time.Duration
	resident   int // MB, at most
}

// bench is a stage on which functions are invoked one after the other.
type bench struct {
	*stage.Stage
	memory int // of all functions; 0 is each one's own
	mu     sync.Mutex
	seen   map[string]*measured
}

// settings let each function do its work: the route is offered, and may be
// approved.
func settings() map[string]string {
	return map[string]string{
		string(config.SlackActions): "on", string(config.Approvers): stage.Approvers,
		string(config.Remedies): "eks-workshop/add-nat-route=approve", string(config.RemedyVPCs): "vpc-0a1b2c3d4e5f60718",
		string(config.Targets): "sns",
	}
}

// measure plays rounds with all functions at a size of memory, each round on a
// stage of its own, so that nothing has been seen before: first each function
// from a cold start, then again while its process is warm.
func measure(ctx context.Context, o options, limiter lambdaruntime.CPULimiter, memory int) ([]measured, error) {
	seen := map[string]*measured{}
	for range o.rounds {
		b := &bench{seen: seen, memory: memory}
		var err error
		b.Stage, err = stage.Start(ctx, stage.Options{
			World: "local/worlds/samples.yaml", Template: o.template, Binaries: o.binaries, Quiet: true,
			Settings: settings(), CPU: limiter, Memory: memory, Observe: b.observe,
			CallFaults: []simaws.FaultRule{{Call: "*", Latency: latency}},
		})
		if err != nil {
			return nil, fmt.Errorf("start the stage: %w", err)
		}
		err = b.round(ctx)
		b.Close()
		if err != nil {
			return nil, err
		}
	}
	var list []measured
	for _, m := range seen {
		m.own = memory == 0
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b measured) int { return strings.Compare(a.function, b.function) })
	return list, nil
}

// observe takes an invocation.
func (b *bench) observe(i lambdaruntime.Invocation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := strings.TrimPrefix(i.Function, "rollcall-")
	m := b.seen[name]
	if m == nil {
		m = &measured{function: name}
		b.seen[name] = m
	}
	if i.Result.Init > 0 {
		m.cold = append(m.cold, i.Result.Init+i.Result.Duration)
	} else {
		m.warm = append(m.warm, i.Result.Duration)
	}
	m.resident = max(m.resident, i.Result.MaxMemoryMB)
}

// round invokes each function cold, then warm, on what it would be woken by.
func (b *bench) round(ctx context.Context) error {
	const launch, sweep = "events/in/autoscaling-launch-lifecycle-action.json", "events/in/schedule-scheduler.json"
	for _, f := range b.Template.Functions {
		b.setMemory(f)
	}
	// The launch, what it leads to, and the press that approves the fix.
	for _, step := range []func(context.Context) error{
		b.file("launch-watch", launch), b.results, b.told("change-check"), b.told("remediate"), b.results, b.press,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	// A cluster's turn is all four watchers'; what else wakes them is like it.
	for _, name := range []string{"join-check", "nodegroup-watch", "subnet-watch", "zone-watch", "sweep"} {
		for range 2 { // cold, then warm
			if err := b.turn(ctx, name); err != nil {
				return err
			}
		}
	}
	if err := b.targets(ctx); err != nil {
		return err
	}
	for _, name := range []string{"eni-cleanup", "spot-report"} {
		for range 2 {
			if err := b.file(name, sweep)(ctx); err != nil {
				return err
			}
		}
	}
	// What was cold above, warm: a launch that is known already is no look.
	for _, step := range []func(context.Context) error{
		b.results, b.forget, b.file("launch-watch", launch), b.results, b.told("change-check"), b.told("remediate"), b.results, b.press,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// turn gives a function the turn of the world's cluster: sweep by its queue, the watchers
// directly.
func (b *bench) turn(ctx context.Context, name string) error {
	raw, err := event.SweepCluster(spoke.ID{}, b.World.Clusters()[0], b.Template.AccountID, b.Template.Region, b.Clock.Now())
	if err != nil {
		return fmt.Errorf("write the turn: %w", err)
	}
	if name == "sweep" {
		return b.invoke(ctx, name, raw)
	}
	return b.hand(ctx, name, raw)
}

// setMemory notes the memory that a function runs with.
func (b *bench) setMemory(f template.Function) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := stage.Folder(f)
	if b.seen[name] == nil {
		b.seen[name] = &measured{function: name}
	}
	b.seen[name].memory = f.Memory
	if b.memory > 0 {
		b.seen[name].memory = b.memory
	}
}

// invoke hands an event to a function as Lambda would.
func (b *bench) invoke(ctx context.Context, name string, raw []byte) error {
	f, ok := b.Function(name)
	if !ok {
		return fmt.Errorf("no function %s in the template", name)
	}
	wrapped, _, err := payload.Wrap(raw, f, b.Template, b.Clock.Now())
	if err != nil {
		return fmt.Errorf("invoke %s: %w", name, err)
	}
	return b.hand(ctx, name, wrapped)
}

// hand gives a function an event as it is.
func (b *bench) hand(ctx context.Context, name string, raw []byte) error {
	f, ok := b.Function(name)
	if !ok {
		return fmt.Errorf("no function %s in the template", name)
	}
	result, err := b.Runtime.Invoke(ctx, f.Name, raw)
	if err != nil {
		return fmt.Errorf("invoke %s: %w", name, err)
	}
	if result.FunctionError != "" {
		return fmt.Errorf("%s failed: %s", name, result.Payload)
	}
	return nil
}

func (b *bench) file(name, path string) func(context.Context) error {
	return func(ctx context.Context) error {
		raw, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		return b.invoke(ctx, name, raw)
	}
}

// targets has notify-targets queue what was told on Rollcall's bus, cold, and deliver it,
// warm.
func (b *bench) targets(ctx context.Context) error {
	const name = "notify-targets"
	for _, put := range b.Events() {
		if !strings.Contains(string(put.Event), `"Rollcall Incident Opened"`) {
			continue
		}
		if err := b.hand(ctx, name, put.Event); err != nil { // past the queue, as its rule does
			return err
		}
	}
	n, err := b.drain(ctx, "targets", name)
	if err == nil && n == 0 {
		return fmt.Errorf("nothing is to be told, so %s has nothing to do", name)
	}
	return err
}

// results hands what waits in the results queue to report, message by message.
func (b *bench) results(ctx context.Context) error {
	_, err := b.drain(ctx, "results", "report")
	return err
}

// drain hands what waits in a queue to the function that reads it, message by message, and
// counts them.
func (b *bench) drain(ctx context.Context, queue, function string) (n int, _ error) {
	for _, q := range b.Template.Queues {
		if !strings.Contains(q.Name, queue) || q.DeadLetterARN == "" {
			continue
		}
		for {
			depth, err := b.Queues.Depth(q.ARN)
			if err != nil {
				return n, fmt.Errorf("look at %s: %w", q.Name, err)
			}
			if depth.Visible == 0 {
				break
			}
			batch, err := b.Queues.Receive(ctx, q.ARN, 1, 0)
			if err != nil {
				return n, fmt.Errorf("receive from %s: %w", q.Name, err)
			}
			for _, m := range batch {
				n++
				if err := b.invoke(ctx, function, []byte(m.Body)); err != nil {
					return n, err
				}
			}
			if err := b.Queues.Delete(q.ARN, batch...); err != nil {
				return n, fmt.Errorf("delete from %s: %w", q.Name, err)
			}
		}
	}
	return n, nil
}

// told wakes a function with the incident that was told on Rollcall's bus.
func (b *bench) told(name string) func(context.Context) error {
	return func(ctx context.Context) error {
		put := b.Events()
		for i := range put { // the newest
			put := put[len(put)-1-i]
			if strings.Contains(string(put.Event), `"Rollcall Incident Opened"`) {
				return b.invoke(ctx, name, put.Event)
			}
		}
		return fmt.Errorf("no incident was opened, so %s has nothing to do", name)
	}
}

// press presses the button that approves, as somebody who may: slack-actions
// answers.
func (b *bench) press(ctx context.Context) error {
	list := b.Slack.Messages(stage.Channel)
	slices.Reverse(list) // the newest first
	for _, m := range list {
		if !strings.Contains(string(m.Blocks), string(report.ApprovePlan)) {
			continue
		}
		return b.Slack.Press(ctx, fakeslack.Press{Channel: stage.Channel, TS: m.TS, ActionID: string(report.ApprovePlan), User: stage.OnCall})
	}
	return fmt.Errorf("no message offers anything to approve")
}

// forget empties the table: to all functions everything is new again.
func (b *bench) forget(ctx context.Context) error {
	items, err := b.Records(ctx)
	if err != nil {
		return err
	}
	for _, item := range items {
		for _, t := range b.Template.Tables {
			key := map[string]types.AttributeValue{"pk": item["pk"], "sk": item["sk"]}
			if _, err := b.Table.Client().DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &t.Name, Key: key}); err != nil {
				return fmt.Errorf("empty the table: %w", err)
			}
		}
	}
	return nil
}
