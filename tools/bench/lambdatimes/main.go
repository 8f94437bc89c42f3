// Command lambdatimes measures what each function takes on a core of Lambda's
// size: its real program, held to the share of a core that its memory gives it,
// with 40 ms on every call of AWS and Kubernetes, cold and warm, at several
// sizes of memory. It writes the page from which the memory is chosen.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/config"
	"rollcall/shared/event/inbox"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/stage"
	"rollcall/stage/fakeslack"
	"rollcall/stage/payload"
	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/template"
	"rollcall/stage/simaws"
	"rollcall/tools/bench/bill"
	"rollcall/tools/bench/harness"
	"rollcall/tools/binaries"
)

const usage = `Measures each function with the CPU share of its memory and 40 ms a call, at its own
memory and at others, and writes docs/lambda.md (half an hour on an idle machine). It fails
if slack-actions takes too long.

  go run ./tools/bench/lambdatimes
  go run ./tools/bench/lambdatimes -own        at their own memory alone, printed
  go run ./tools/bench/lambdatimes -rounds 9   more rounds
`

// answerWithin is how long Slack waits for the answer to a press (docs.slack.dev,
// "Handling user interaction": 3 seconds).
const answerWithin = 3 * time.Second

// sizes are the sizes of memory, in MB, that are tried for each function.
func sizes() []int { return []int{128, 256, 512, 1024, lambdaruntime.MemoryOfOneCPU} }

type options struct {
	own    bool
	rounds int
	page   string
}

func main() {
	var o options
	flag.BoolVar(&o.own, "own", false, "at each function's own memory alone, printed")
	flag.IntVar(&o.rounds, "rounds", 5, "cold starts, and as many warm invocations, of each function")
	flag.StringVar(&o.page, "page", "docs/lambda.md", "file for the page")
	harness.Main(usage, func() bool { return o.rounds >= 1 }, func(ctx context.Context) error { return run(ctx, o) })
}

func run(ctx context.Context, o options) error {
	limiter := lambdaruntime.NewCPULimiter()
	var all []measured
	try := sizes()
	if o.own {
		try, o.page = nil, ""
	}
	for _, memory := range append([]int{0}, try...) { // 0 is each function's own
		if memory == 0 {
			fmt.Printf("each function at its own memory …\n")
		} else {
			fmt.Printf("all at %d MB …\n", memory)
		}
		list, err := measure(ctx, o, limiter, memory)
		if err != nil {
			return err
		}
		all = append(all, list...)
	}
	if err := harness.Page(o.page, write(all, limiter.How(), o.rounds)); err != nil {
		return err
	}
	return inTime(all)
}

// inTime holds that slack-actions answers within Slack's time at its own memory,
// cold, each time.
func inTime(all []measured) error {
	i := slices.IndexFunc(all, func(m measured) bool { return m.own && m.function == "slack-actions" })
	if i < 0 {
		return errors.New("slack-actions was not measured")
	}
	if slowest := slices.Max(all[i].cold); slowest > answerWithin {
		return fmt.Errorf("slack-actions took %s from a cold start: Slack waits for %s", slowest.Round(time.Millisecond), answerWithin)
	}
	return nil
}

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
		dir, err := binaries.Build(".")
		if err != nil {
			return nil, err
		}
		b.Stage, err = stage.Start(ctx, stage.Options{Template: harness.Template, Binaries: dir,
			World: "stage/worlds/samples.yaml", Quiet: true, Settings: settings(), CPU: limiter, Memory: memory, Observe: b.observe,
			CallFaults: []simaws.FaultRule{{Call: "*", Latency: harness.Latency}},
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
		b.file("launch-watch", launch), b.results,
		b.wakeByIncident("change-check"), b.wakeByIncident("remediate"), b.results, b.press,
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
		b.results, b.forget, b.file("launch-watch", launch), b.results, b.wakeByIncident("change-check"), b.wakeByIncident("remediate"), b.results, b.press,
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
	raw, err := inbox.SweepCluster(spoke.ID{}, b.World.Clusters()[0], b.Template.AccountID, b.Template.Region, b.Clock.Now())
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

// wakeByIncident wakes a function with the incident that was told on Rollcall's bus.
func (b *bench) wakeByIncident(name string) func(context.Context) error {
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

// press presses the button that approves, as an approver: slack-actions
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

// chosen says why each function has the memory that it has.
const chosen = `Chosen: 256 MB, the knee for most. With 128 MB a function takes up to half as long again for half the price, and a press in Slack, a launch and its message are what people wait for. eni-cleanup, subnet-watch and
spot-report have more for what this small world does not show: 100,000 interfaces to count ([leaks.md](leaks.md)), 300,000 launches to judge and charts to draw ([load.md](load.md)). change-check waits for
CloudTrail's two calls a second whatever its memory. slack-actions answers in time at every size.
`

// write is the page.
func write(all []measured, how string, rounds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<!-- Written by go run ./tools/bench/lambdatimes. -->
# What the functions take on Lambda's CPU

A function has a share of a core in proportion to its memory: memory / %d MB ([Lambda's guide](https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html)); 256 MB are %.0f %% of one core.
Here each function's real program ran with that share (%s), with %d ms on every call of AWS and Kubernetes, one after the other, on the world of the
[sample events](../events/in): a launch into a broken subnet, what follows from it to the approval in Slack, and each sweep. Medians of %d cold starts (a new process,
from its start to its answer) and of the warm invocations, in milliseconds; in brackets the slowest. The programs are this machine's (amd64), not Lambda's arm64, and the share is
held from the first instruction: Lambda is kinder to a function's start.

Other figures of the README and of this documentation were measured with whole cores and calls over loopback, unless they say that they come from this page.

`, lambdaruntime.MemoryOfOneCPU, 100*lambdaruntime.CPUShare(256), how, harness.Latency.Milliseconds(), rounds)
	own := slices.DeleteFunc(slices.Clone(all), func(m measured) bool { return !m.own })
	b.WriteString("## At its own memory\n\n| function | memory (MB) | cold | warm | resident (MB) | $ for 1,000 warm |\n|---|---|---|---|---|---|\n")
	for _, m := range own {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %d | %.4f |\n", m.function, m.memory, span(m.cold), span(m.warm), m.resident, 1000*cost(m))
	}
	if len(own) == len(all) {
		return b.String()
	}
	b.WriteString("\n## At other sizes\n\nCold / warm, and what 1,000 warm invocations cost. Waiting for calls costs memory too: past the point where the work is no longer what takes the time, more memory costs more and saves little.\n\n" + chosen + "\n| function |")
	for _, size := range sizes() {
		fmt.Fprintf(&b, " %d MB |", size)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(sizes())) + "\n")
	for _, m := range own {
		fmt.Fprintf(&b, "| %s |", m.function)
		for _, size := range sizes() {
			i := slices.IndexFunc(all, func(x measured) bool { return !x.own && x.function == m.function && x.memory == size })
			if i < 0 {
				b.WriteString(" |")
				continue
			}
			fmt.Fprintf(&b, " %d / %d, $%.4f |", median(all[i].cold).Milliseconds(), median(all[i].warm).Milliseconds(), 1000*cost(all[i]))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// cost is what a warm invocation costs, in dollars, without the request.
func cost(m measured) float64 {
	return median(m.warm).Seconds() * float64(m.memory) / 1024 * bill.GBSecond
}

// span is the median and the slowest.
func span(list []time.Duration) string {
	if len(list) == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%d (%d)", median(list).Milliseconds(), slices.Max(list).Milliseconds())
}

func median(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(list), cmp.Compare)
	return sorted[len(sorted)/2]
}
