// Command load launches thousands of nodes an hour on the local stage, and
// tells what that takes and costs, and whether each launch has one outcome.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/snapshot"
	"rollcall/shared/store"
	"rollcall/stage"
	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/router"
	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws"
	"rollcall/tools/bench/bill"
	"rollcall/tools/bench/harness"
	"rollcall/tools/binaries"
)

const usage = `Launches nodes on the local stage, as many an hour as you say, and writes docs/load.md:
what Rollcall took for them (table reads and writes, invocations, SQS requests), and what
that costs at public prices. Every launch must end with one outcome. Four minutes.

  go run ./tools/bench/load [-launches N] [-minutes M] [-rate R]
`

type options struct {
	launches int
	minutes  int
	rate     float64
	page     string
}

func main() {
	var o options
	flag.IntVar(&o.launches, "launches", 1_667, "launches")
	flag.IntVar(&o.minutes, "minutes", 10, "stage minutes over which they are spread")
	flag.Float64Var(&o.rate, "rate", 8, "how many times faster than the wall clock the stage runs")
	flag.StringVar(&o.page, "page", "docs/load.md", "file for the page; empty prints it alone")
	harness.Main(usage, func() bool { return o.launches >= 60 && o.minutes >= 5 && o.rate > 0 }, func(ctx context.Context) error { return run(ctx, o) })
}

func run(ctx context.Context, o options) error {
	logs, err := harness.LogTo("load.log")
	if err != nil {
		return err
	}
	defer logs.Close()
	t := &tally{invocations: map[string]int{}, failures: map[string]int{}, seconds: map[string]float64{}, logged: logs}
	meter := &simaws.Meter{}
	dir, err := binaries.Build(".")
	if err != nil {
		return err
	}
	s, err := stage.Start(ctx, stage.Options{Template: harness.Template, Binaries: dir, Log: slog.New(slog.NewTextHandler(logs.Aside(), nil)), World: "tools/bench/load/load.yaml", Rate: o.rate, Out: logs, Observe: t.observe, Meter: meter})
	if err != nil {
		return fmt.Errorf("start the stage: %w", err)
	}
	defer s.Close()
	began := s.Clock.Now()
	d := newDriver(s, o)
	if err := d.drive(ctx); err != nil {
		return err
	}
	truth, err := d.settle(ctx)
	if err != nil {
		return err
	}
	ran := s.Clock.Now().Sub(began)
	uses := usesOf(t, meter, s.Trace(), s.Cloud.Calls(), s.Template.Functions, ran)
	p := page{options: o, launches: len(truth) + len(d.refusals), ran: ran, uses: uses}
	p.outcomes, p.wrong, err = judge(ctx, s, truth, d.refusals)
	if err != nil {
		return err
	}
	if err := harness.Page(o.page, p.text()); err != nil {
		return err
	}
	if n := len(p.wrong); n > 0 {
		return fmt.Errorf("%d of %d launches have no outcome, or a wrong one", n, len(truth))
	}
	if p.launches < o.launches {
		return errors.New("fewer instances were launched than asked for")
	}
	return nil
}

// tally is what the functions took.
type tally struct {
	mu sync.Mutex
	// by function
	invocations map[string]int
	failures    map[string]int
	seconds     map[string]float64
	logged      *harness.Logs
}

func (t *tally) observe(i lambdaruntime.Invocation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invocations[i.Function]++
	if i.Result.FunctionError != "" {
		t.failures[i.Function]++
	}
	t.seconds[i.Function] += i.Result.Duration.Seconds()
}

// use is one line of the bill, for all launches of the run.
type use struct {
	what  string
	count float64
	// price is in US dollars for one.
	price float64
	note  string
}

// usesOf counts what a run took.
func usesOf(t *tally, meter *simaws.Meter, trace []router.Entry, calls []wire.Call, functions []template.Function, ran time.Duration) []use {
	memory := map[string]float64{}
	for _, f := range functions {
		memory[f.Name] = float64(f.Memory) / 1024
	}
	var list []use
	t.mu.Lock()
	invoked, gbs := 0, 0.0
	for _, name := range slices.Sorted(maps.Keys(t.invocations)) {
		n := t.invocations[name]
		invoked += n
		gbs += t.seconds[name] * memory[name]
		list = append(list, use{what: "invocations of " + name, count: float64(n), price: bill.Invocation, note: fmt.Sprintf("%.2f s each, %d failed", t.seconds[name]/float64(n), t.failures[name])})
	}
	t.mu.Unlock()
	list = append(list, use{what: "Lambda GB-seconds", count: gbs, price: bill.GBSecond, note: "measured on this machine, not on Lambda"})
	reads, writes := bill.Units(meter.Used())
	for op, u := range meter.Used() {
		kind := "read"
		switch op {
		case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem":
			kind = "write"
		}
		list = append(list, use{what: "table: " + op, count: float64(u.Calls), note: fmt.Sprintf("%.0f %s units", u.Units, kind)})
	}
	list = append(list, use{what: "table: write units", count: writes, price: bill.WriteUnit}, use{what: "table: read units", count: reads, price: bill.ReadUnit})
	list = append(list, requests(trace, calls, ran)...)
	events := 0
	for _, c := range calls {
		if c.Service == "eventbridge" && c.Operation == "PutEvents" {
			events++
		}
	}
	logged, _ := t.logged.Take()
	return append(list,
		use{what: "events on the Rollcall bus (calls)", count: float64(events), price: bill.Event},
		use{what: "log bytes", count: float64(logged), price: bill.LogByte},
	)
}

// perCall is how many messages one ReceiveMessage or DeleteMessageBatch has.
const perCall = 10

// requests counts what SQS bills: each event that a rule puts into a queue,
// each message that a function sends, and what Lambda's pollers take to
// receive and delete them, and to wait where there is nothing.
func requests(trace []router.Entry, calls []wire.Call, ran time.Duration) []use {
	var sent, batches, received int
	queues := map[string]bool{}
	for _, e := range trace {
		switch {
		case e.Kind == router.Delivered && strings.Contains(e.Target, ":sqs:"):
			sent++
		case e.Kind == router.BatchInvoked:
			queues[e.Target] = true
			batches++
			received += 2 * ((e.Count + perCall - 1) / perCall) // receive, delete
		}
	}
	ours := 0
	for _, c := range calls {
		if c.Service == "sqs" {
			ours++
		}
	}
	idle := float64(len(queues)*bill.Pollers) * float64(ran/bill.LongPoll)
	return []use{
		{what: "SQS: events put by rules", count: float64(sent), price: bill.Standard},
		{what: "SQS: messages sent by functions", count: float64(ours), price: bill.FIFO},
		{what: "SQS: receives and deletes", count: float64(received), price: bill.Standard, note: fmt.Sprintf("%d batches", batches)},
		{what: "SQS: empty receives of idle pollers", count: idle, price: bill.Standard, note: "at most; independent of the load"},
	}
}

const (
	cluster = "eks-workshop"
	// broken is the nodegroup whose nodes never join.
	broken      = "new_nodegroup_2"
	brokenGroup = "eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"
	// taken is the Spot nodegroup whose instances are taken back, refused the
	// one that gets none.
	taken      = "spot_taken"
	takenGroup = "eks-spot_taken-0000000a-1111-4222-8333-00000000000a"
	refused    = "spot_refused"
	// healthy is how many nodegroups there are besides, named load_1 and so on.
	healthy = 6
	// lives is how many minutes a node is kept: past its time to join.
	lives = 8
	// every is which of the launches goes to each of the nodegroups in trouble.
	every = 100
)

// driver scales the nodegroups up and down.
type driver struct {
	stage *stage.Stage
	eks   *eks.Client
	o     options
	size  map[string]int
	seen  int // events of the stage that were read
	truth map[string]launched
	// refusals are the activities that came to no instance.
	refusals map[string]bool
}

func newDriver(s *stage.Stage, o options) *driver {
	return &driver{stage: s, eks: eks.NewFromConfig(s.AsAdmin()), o: o, size: map[string]int{}, truth: map[string]launched{}, refusals: map[string]bool{}}
}

// drive launches a minute's share each minute, and takes back what was
// launched some minutes ago: a cluster that breathes.
func (d *driver) drive(ctx context.Context) error {
	type share struct {
		nodegroup string
		n         int
	}
	byMinute := map[int][]share{}
	left := d.o.launches
	for m := 0; m < d.o.minutes+lives; m++ {
		next := d.stage.Clock.Now().Add(time.Minute)
		if m < d.o.minutes {
			n := left / (d.o.minutes - m)
			left -= n
			bad := n / every
			byMinute[m] = []share{{broken, bad}, {taken, bad}, {refused, bad}, {fmt.Sprintf("load_%d", m%healthy+1), n - 2*bad}}
		}
		// One call for each: EKS refuses a second while the first is under way.
		by := map[string]int{}
		for _, s := range byMinute[m-lives] {
			by[s.nodegroup] -= s.n
		}
		for _, s := range byMinute[m] {
			by[s.nodegroup] += s.n
		}
		for _, nodegroup := range slices.Sorted(maps.Keys(by)) {
			if err := d.scale(ctx, nodegroup, by[nodegroup]); err != nil {
				return err
			}
		}
		fmt.Printf("  minute %2d: %5d launched, %4d running\n", m, d.o.launches-left, d.running())
		if err := d.wait(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) running() int {
	n := 0
	for _, size := range d.size {
		n += size
	}
	return n
}

func (d *driver) scale(ctx context.Context, nodegroup string, by int) error {
	if by == 0 {
		return nil
	}
	d.size[nodegroup] += by
	in := &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String(cluster), NodegroupName: aws.String(nodegroup),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(450), DesiredSize: aws.Int32(int32(d.size[nodegroup]))},
	}
	_, err := d.eks.UpdateNodegroupConfig(ctx, in)
	// The update before may still be under way: the stage falls behind where
	// the machine is busy.
	var inUse *ekstypes.ResourceInUseException
	for try := 0; try < 20 && errors.As(err, &inUse); try++ {
		if err := d.wait(ctx, d.stage.Clock.Now().Add(3*time.Second)); err != nil {
			return err
		}
		_, err = d.eks.UpdateNodegroupConfig(ctx, in)
	}
	if err != nil {
		return fmt.Errorf("scale %s to %d: %w", nodegroup, d.size[nodegroup], err)
	}
	return nil
}

func (d *driver) wait(ctx context.Context, until time.Time) error {
	for d.stage.Clock.Now().Before(until) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(d.stage.Clock.Wall(d.stage.Clock.Until(until)), 100*time.Millisecond) + time.Millisecond):
		}
		d.read()
	}
	return nil
}

// read takes in the events since the last time: each instance that ran is a
// launch.
func (d *driver) read() {
	events := d.stage.Events()
	for _, p := range events[d.seen:] {
		var e struct {
			Source string `json:"source"`
			Type   string `json:"detail-type"`
			Detail struct {
				Instance string `json:"instance-id"`
				State    string `json:"state"`
				Group    string `json:"AutoScalingGroupName"`
				Launched string `json:"EC2InstanceId"`
				Activity string `json:"ActivityId"`
			} `json:"detail"`
		}
		if json.Unmarshal(p.Event, &e) != nil {
			continue
		}
		switch {
		case e.Source == "aws.ec2" && e.Detail.State == "running":
			l := d.truth[e.Detail.Instance]
			d.truth[e.Detail.Instance] = l
		case e.Type == "EC2 Instance Launch Unsuccessful" && e.Detail.Launched == "":
			d.refusals[e.Detail.Activity] = true
		case e.Type == "EC2 Spot Instance Interruption Warning":
			l := d.truth[e.Detail.Instance]
			l.warned = true
			d.truth[e.Detail.Instance] = l
		case e.Source == "aws.autoscaling" && e.Detail.Launched != "":
			l := d.truth[e.Detail.Launched]
			l.group = e.Detail.Group
			d.truth[e.Detail.Launched] = l
		}
	}
	d.seen = len(events)
}

// settle waits until nothing is due any more: the last launches, and the sweep
// that finds what the events did not bring.
func (d *driver) settle(ctx context.Context) (map[string]launched, error) {
	fmt.Println("  waiting for the last outcomes")
	if err := d.wait(ctx, d.stage.Clock.Now().Add(12*time.Minute)); err != nil {
		return nil, err
	}
	return d.truth, nil
}

// judge holds what Rollcall remembers of each launch against what the world
// did. It gives how many ended how, and what is wrong.
func judge(ctx context.Context, s *stage.Stage, truth map[string]launched, refusals map[string]bool) (ends map[snapshot.End]int, wrong []string, err error) {
	table := s.Template.Tables[0].Name
	history, err := store.New(s.Table.Client(), table).WithClock(s.Clock.Now).History(ctx, cluster, s.Clock.Now().Add(-24*time.Hour))
	if err != nil {
		return nil, nil, fmt.Errorf("read the outcomes: %w", err)
	}
	ends = map[snapshot.End]int{}
	told := map[string][]snapshot.Past{}
	for _, p := range history {
		told[p.ID] = append(told[p.ID], p)
	}
	for _, id := range slices.Sorted(maps.Keys(truth)) {
		records := told[id]
		if len(records) != 1 {
			wrong = append(wrong, fmt.Sprintf("%s has %d outcomes", id, len(records)))
			continue
		}
		p := records[0]
		ends[p.End]++
		if want := truth[id].end(); !slices.Contains(want, p.End) {
			wrong = append(wrong, fmt.Sprintf("%s of %s is %q (%s), want one of %q", id, p.Nodegroup, p.End, p.Why, want))
		}
		delete(told, id)
	}
	for _, id := range slices.Sorted(maps.Keys(refusals)) {
		records := told[id]
		if len(records) != 1 || records[0].End != snapshot.Refused {
			wrong = append(wrong, fmt.Sprintf("the refused activity %s has the outcomes %+v", id, records))
			continue
		}
		ends[snapshot.Refused]++
		delete(told, id)
	}
	for _, id := range slices.Sorted(maps.Keys(told)) {
		wrong = append(wrong, fmt.Sprintf("an outcome of %s, which was never launched: %q", id, told[id][0].End))
	}
	return ends, wrong, nil
}

// launched is what the world did with a launch.
type launched struct {
	group string
	// warned is set where EC2 announced that it would take the instance back.
	warned bool
}

// end is how the launch must have ended. The broken nodegroup's have no route to the internet
// and end by a scale-in after their time to join; a scale-in may also be faster
// than Spot.
func (l launched) end() []snapshot.End {
	switch {
	case l.group == brokenGroup:
		return []snapshot.End{snapshot.NotJoined}
	case l.group == takenGroup && l.warned:
		return []snapshot.End{snapshot.Reclaimed, snapshot.Terminated}
	case l.group == takenGroup:
		return []snapshot.End{snapshot.Terminated, snapshot.Joined}
	}
	return []snapshot.End{snapshot.Joined}
}

// page is what a run gives.
type page struct {
	options  options
	launches int
	ran      time.Duration
	uses     []use
	outcomes map[snapshot.End]int
	wrong    []string
}

func (p page) text() string {
	var b strings.Builder
	hour := float64(p.launches) * 60 / float64(p.options.minutes)
	fmt.Fprintf(&b, "# Load\n\nWritten by `go run ./tools/bench/load`.\n\n%d launches in %d minutes of stage time (%.0f an hour), and %s until all was settled.\n\n", p.launches, p.options.minutes, hour, p.ran.Round(time.Minute))
	b.WriteString("| outcome | launches |\n|---|---|\n")
	for _, end := range slices.Sorted(maps.Keys(p.outcomes)) {
		fmt.Fprintf(&b, "| %s | %d |\n", end, p.outcomes[end])
	}
	fmt.Fprintf(&b, "| none, two, or a wrong one | %d |\n\n", len(p.wrong))
	for _, w := range p.wrong[:min(len(p.wrong), 10)] {
		fmt.Fprintf(&b, "- %s\n", w)
	}
	scale := hour / float64(p.launches) // of this run to an hour
	fmt.Fprintf(&b, "| what | per 1,000 launches | price of a million | a month at %.0f an hour | |\n|---|---|---|---|---|\n", hour)
	total := 0.0
	for _, u := range p.uses {
		price, cost := "", ""
		if u.price > 0 {
			dollars := u.count * u.price * scale * bill.Hours
			total += dollars
			price, cost = fmt.Sprintf("$%.4g", u.price*1e6), fmt.Sprintf("$%.2f", dollars)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", u.what, figure(u.count*1000/float64(p.launches)), price, cost, u.note)
	}
	fmt.Fprintf(&b, "| **together** | | | **$%.2f** | $%.4f per 1,000 launches |\n", total, total/(hour*bill.Hours)*1000)
	return b.String()
}

func figure(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
