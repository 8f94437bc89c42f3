// Command leaks deletes thousands of network interfaces that nodes left
// behind, under EC2's request buckets: with Rollcall's eni-cleanup, and with a
// script that deletes one after the other.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"rollcall/shared/config"
	"rollcall/shared/network/leak"
	"rollcall/stage"
	"rollcall/stage/peerscript"
	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/bench/bill"
	"rollcall/tools/bench/harness"
	"rollcall/tools/binaries"
)

const usage = `Deletes network interfaces on the local stage under EC2's request buckets, with
eni-cleanup and with a sequential script, and writes docs/leaks.md: time, calls and memory.
It fails if not all were deleted. Eleven minutes.

  go run ./tools/bench/leaks [-interfaces N] [-rate R]
`

type options struct {
	interfaces int
	held       int
	latency    time.Duration
	rate       float64
	timed      bool // timeouts pass in stage time
	runs       int
	page       string
}

func main() {
	o := options{timed: true}
	flag.IntVar(&o.interfaces, "interfaces", 10_000, "interfaces left behind")
	flag.IntVar(&o.held, "held", 100_000, "interfaces of the VPC for the look at memory; 0 leaves it out")
	flag.DurationVar(&o.latency, "latency", 300*time.Millisecond, "what each EC2 call takes, in stage time")
	flag.Float64Var(&o.rate, "rate", 5, "how many times faster than the wall clock the stage runs")
	flag.IntVar(&o.runs, "runs", 8, "how often eni-cleanup is woken at most")
	flag.StringVar(&o.page, "page", "docs/leaks.md", "file for the page; empty prints it alone")
	harness.Main(usage, func() bool {
		return o.interfaces >= bucketSize && (o.held == 0 || o.held >= o.interfaces) && o.rate > 0 && o.runs >= 2
	}, func(ctx context.Context) error { return run(ctx, o) })
}

func run(ctx context.Context, o options) error {
	logs, err := harness.LogTo("leakload.log")
	if err != nil {
		return err
	}
	defer logs.Close()
	p := page{options: o}
	// A loop that is nearer to EC2 is throttled.
	for _, latency := range []time.Duration{o.latency, o.latency / 6} {
		r, err := byScript(ctx, o, latency)
		if err != nil {
			return fmt.Errorf("the script: %w", err)
		}
		p.script = append(p.script, r)
	}
	fmt.Printf("  eni-cleanup: %d interfaces, %s a call\n", o.interfaces, o.latency)
	if p.ours, err = byRollcall(ctx, o, o.interfaces, 0, logs); err != nil {
		return fmt.Errorf("eni-cleanup: %w", err)
	}
	if p.looks, err = measureLooks(ctx, o, logs); err != nil {
		return err
	}
	if err := harness.Page(o.page, p.text()); err != nil {
		return err
	}
	if p.ours.deleted != o.interfaces || p.ours.failed > 0 || p.ours.over() > tolerance {
		return fmt.Errorf("%d of %d deleted, %d failed, %.1f %% over the bucket's time", p.ours.deleted, o.interfaces, p.ours.failed, 100*p.ours.over())
	}
	return nil
}

// tolerance is how much longer than the bucket's own time we may take.
const tolerance = 0.05

// measureLooks has both functions look at a tenth of the interfaces, and at all: few
// to delete and many to look at.
func measureLooks(ctx context.Context, o options, logs *harness.Logs) ([]look, error) {
	// Nothing is timed here, and little is waited for but the next run: to look
	// takes so long on a stage this fast that the second may come too early.
	o.runs, o.rate, o.timed = 3, 60, false
	var list []look
	if o.held == 0 {
		return nil, nil
	}
	for _, held := range []int{o.held / 10, o.held} {
		fmt.Printf("  %d interfaces described\n", held)
		for _, by := range []func(context.Context, options, int, int, *harness.Logs) (result, error){byRollcall, byWatch} {
			r, err := by(ctx, o, bucketSize, held-bucketSize, logs)
			if err != nil {
				return nil, fmt.Errorf("look at %d interfaces: %w", held, err)
			}
			list = append(list, look{held: held, result: r})
		}
	}
	return list, nil
}

// use is one line of the bill.
type use struct {
	what  string
	count float64
	price float64 // in US dollars for one
}

// usesOf counts what runs took, with so many GB of memory.
func usesOf(r result, table map[string]simaws.Used, memory float64, logged int) []use {
	reads, writes := bill.Units(table)
	return []use{
		{"DynamoDB write units", writes, bill.WriteUnit},
		{"DynamoDB read units", reads, bill.ReadUnit},
		{"Lambda GB-seconds", r.worked.Seconds() * memory, bill.GBSecond},
		{"Lambda invocations", float64(r.runs), bill.Invocation},
		{"events on the bus, one for each delete", float64(r.deleted), bill.Event},
		{"messages to report", float64(r.by["sqs:SendMessage"]), bill.FIFO},
		{"log bytes", float64(logged), bill.LogByte},
	}
}

// cost is the sum in US dollars.
func cost(list []use) float64 {
	sum := 0.0
	for _, u := range list {
		sum += u.count * u.price
	}
	return sum
}

// EC2's bucket for deletes (API reference, request token bucket sizes).
const (
	bucketSize = 100
	refill     = 5 // a second
)

// bound is the least time in which so many deletes can be made.
func bound(n int) time.Duration {
	return time.Duration(max(n-bucketSize, 0)) * time.Second / refill
}

// result is what one way of deleting took.
type result struct {
	name string
	// interfaces were to be deleted, deleted are those that were.
	interfaces, deleted int
	// took is from the first delete to the last, in stage time.
	took time.Duration
	// calls are all calls to EC2, deletes those that delete; throttled of them
	// were refused by the bucket, failed for another reason.
	calls, deletes, throttled, failed int
	runs                              int
	// memory is the process's largest resident size in MB; 0 where it was not a
	// process of its own.
	memory int
	// worked is how long the runs took together, in stage time.
	worked time.Duration
	// by are all calls to AWS by API; bill is what it all costs.
	by   map[string]int
	bill []use
}

// over is how much longer it took than the bucket demands.
func (r result) over() float64 {
	if b := bound(r.interfaces); b > 0 {
		return float64(r.took)/float64(b) - 1
	}
	return 0
}

// measure reads the function's calls off the stage's record.
func measure(g *ground, r result) result {
	var times []time.Time
	r.by = map[string]int{}
	for _, c := range g.Cloud.Calls() {
		if c.Caller != g.function.Name {
			continue
		}
		r.by[c.Action()]++
		if c.Service != "ec2" {
			continue
		}
		r.calls++
		if c.Operation != "DeleteNetworkInterface" {
			continue
		}
		r.deletes++
		switch c.Code {
		case "":
			times = append(times, g.Clock.StageTime(c.Time))
		case "RequestLimitExceeded":
			r.throttled++
		default:
			r.failed++
		}
	}
	r.deleted = len(times)
	if len(times) > 0 {
		r.took = slices.MaxFunc(times, time.Time.Compare).Sub(slices.MinFunc(times, time.Time.Compare))
	}
	logged, _ := g.logged.Take()
	r.bill = usesOf(r, g.meter.Used(), float64(g.function.Memory)/1024, logged)
	return r
}

// page is docs/leaks.md.
type page struct {
	options options
	ours    result
	script  []result
	looks   []look
}

// look is a function's work in a VPC with so many interfaces.
type look struct {
	held int
	result
}

func (p page) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Deleting %d interfaces under EC2's buckets

Generated by `+"`go run ./tools/bench/leaks`"+`. Do not edit.

Nodes left %[1]d network interfaces behind. The simulated EC2 has the request buckets of the real one: %[2]d deletes at once and %[3]d a second from then on, so that %[1]d take %[4]s at the least. Each call takes %[5]s where nothing else is said. The script is that of the ips story: a loop that deletes one after the other and looks at no owner. eni-cleanup is the real process on the local stage, woken every quarter of an hour (the second time six minutes after the first, which only remembers), with cleanupCap=5000; the stage runs %[6]g times as fast as the clock on the wall, and its own work counts in the time. So does the time between runs: Lambda allows 15 minutes, and eni-cleanup stops deleting 20 seconds before that. The script's time is that of its calls and nothing else. A call that is throttled is made again as the SDKs do it, three times in all. Times are from the first delete to the last; each ran alone, in the same run of this program.

`, p.options.interfaces, bucketSize, refill, clock(bound(p.options.interfaces)), p.options.latency, p.options.rate)
	b.WriteString("| | deleted | time | beside the bucket's own | deletes asked for | throttled | failed | calls to EC2 | runs | memory |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range append([]result{p.ours}, p.script...) {
		if r.name == "" {
			continue
		}
		memory := ""
		if r.memory > 0 {
			memory = fmt.Sprintf("%d MB", r.memory)
		}
		fmt.Fprintf(&b, "| %s | %d of %d | %s | %+.1f %% | %d | %d | %d | %d | %d | %s |\n", r.name, r.deleted, r.interfaces, clock(r.took), 100*r.over(),
			r.deletes, r.throttled, r.failed, r.calls, r.runs, memory)
	}
	p.taken(&b)
	p.held(&b)
	return b.String()
}

// taken is what our deletes took beside their time.
func (p page) taken(b *strings.Builder) {
	if len(p.ours.bill) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Calls and cost\n\nAll calls of eni-cleanup's %d runs, by API, and what deleting %d interfaces costs in us-east-1: $%.3f. The first run only remembers what it saw; the others delete. Before a delete it is written ahead, after it there is an audit record and an event. Table units are as DynamoDB bills them, counted by the emulator; Lambda's time is stage time, in which the runs wait for the bucket.\n\n| call | calls |\n|---|---|\n", p.ours.runs, p.ours.deleted, cost(p.ours.bill))
	for _, name := range slices.Sorted(maps.Keys(p.ours.by)) {
		fmt.Fprintf(b, "| %s | %d |\n", name, p.ours.by[name])
	}
	b.WriteString("\n| | used | US$ |\n|---|---|---|\n")
	for _, u := range p.ours.bill {
		fmt.Fprintf(b, "| %s | %.0f | %.4f |\n", u.what, u.count, u.count*u.price)
	}
}

// held are the looks at a VPC that holds more and more.
func (p page) held(b *strings.Builder) {
	if len(p.looks) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Many interfaces to look at\n\nBoth functions that describe all interfaces of a VPC, each as its real process, in one that holds more and more, of which %d are left behind: memory is the largest resident size of the process.\n\n| interfaces of the VPC | | runs | calls to EC2 | deleted | memory |\n|---|---|---|---|---|---|\n", bucketSize)
	for _, l := range p.looks {
		fmt.Fprintf(b, "| %d | %s | %d | %d | %d | %d MB |\n", l.held, l.name, l.runs, l.calls, l.deleted, l.memory)
	}
}

// clock writes a time as minutes and seconds.
func clock(d time.Duration) string {
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
}

// every is how often eni-cleanup runs. The first run deletes nothing: the
// second follows it as soon as it may act on what the first one saw.
const (
	every = 15 * time.Minute
	first = leak.Apart + time.Minute
)

// room is what eni-cleanup keeps before its timeout (its handler.go).
const room = 20 * time.Second

// ground is a stage on which one function works.
type ground struct {
	*stage.Stage
	function template.Function
	meter    *simaws.Meter
	logged   *harness.Logs
}

// raise starts a stage with so many interfaces on it. Nothing wakes by itself:
// what is measured is alone, but for the latency of each call.
func raise(ctx context.Context, o options, folder string, leaked, inUse int, logs *harness.Logs) (*ground, error) {
	settings := map[string]string{
		string(config.Cleanup): cluster + "=" + string(config.Delete),
		// The interfaces that load adds are most of the VPC's.
		string(config.CleanupShare): "100", string(config.CleanupCap): "5000",
	}
	g := &ground{meter: &simaws.Meter{}, logged: logs}
	logs.Take()
	dir, err := binaries.Build(".")
	if err != nil {
		return nil, err
	}
	g.Stage, err = stage.Start(ctx, stage.Options{Template: harness.Template, Binaries: dir, Log: slog.New(slog.NewTextHandler(logs.Aside(), nil)),
		World: worldFile, Rate: o.rate, Quiet: true, StageTimeouts: o.timed, Room: room, Change: fill(leaked, inUse), Out: logs, Meter: g.meter,
		CallFaults: []simaws.FaultRule{{Call: "ec2:*", Latency: time.Duration(float64(o.latency) / o.rate)}},
		Settings:   settings,
	})
	if err != nil {
		return nil, fmt.Errorf("start the stage: %w", err)
	}
	var there bool
	if g.function, there = g.Function(folder); !there {
		g.Close()
		return nil, fmt.Errorf("the template has no function %s", folder)
	}
	return g, nil
}

// wake runs the function once, and adds what it took.
func (g *ground) wake(ctx context.Context, r *result) error {
	event, err := os.ReadFile("events/in/schedule-rule.json")
	if err != nil {
		return err
	}
	out, err := g.Runtime.Invoke(ctx, g.function.Name, event)
	if err != nil {
		return err
	}
	r.runs++
	r.worked += g.Clock.Stage(out.Duration)
	r.memory = max(r.memory, out.MaxMemoryMB)
	if out.FunctionError != "" {
		return errors.New("a run failed: " + string(out.Payload))
	}
	return nil
}

// byRollcall has eni-cleanup delete them, woken every quarter of an hour. more
// are in use beside them.
func byRollcall(ctx context.Context, o options, leaked, more int, logs *harness.Logs) (result, error) {
	g, err := raise(ctx, o, "eni-cleanup", leaked, more, logs)
	if err != nil {
		return result{}, err
	}
	defer g.Close()
	r := result{name: "Rollcall's eni-cleanup", interfaces: leaked}
	next := g.Clock.Now()
	for range o.runs {
		if err := g.wake(ctx, &r); err != nil {
			return result{}, err
		}
		if deleted := g.Buckets.Counts()["DeleteNetworkInterface"]; deleted.Calls-deleted.Throttled >= leaked {
			break
		}
		wait := every
		if r.runs == 1 {
			wait = first
		}
		next = next.Add(wait)
		if err := g.Clock.Sleep(ctx, g.Clock.Until(next)); err != nil {
			return result{}, err
		}
	}
	return measure(g, r), nil
}

// byWatch has subnet-watch count so many, of which some are left behind.
func byWatch(ctx context.Context, o options, leaked, more int, logs *harness.Logs) (result, error) {
	g, err := raise(ctx, o, "subnet-watch", leaked, more, logs)
	if err != nil {
		return result{}, err
	}
	defer g.Close()
	r := result{name: "subnet-watch"}
	if err := g.wake(ctx, &r); err != nil {
		return result{}, err
	}
	return measure(g, r), nil
}

// virtual is a world's EC2 for one caller who makes one call after the other:
// the time is what his calls take, and nothing else. A call that the bucket
// refuses is made again as the SDKs do it: three times in all, with waits that
// grow.
type virtual struct {
	world   *world.World
	buckets *simaws.Buckets
	latency time.Duration
	now     time.Time
	backoff *retry.ExponentialJitterBackoff
	result
	first, last time.Time
}

var _ peerscript.EC2 = (*virtual)(nil)

// attempts and longest are the defaults of the SDKs' standard retries.
const (
	attempts = 3
	longest  = 20 * time.Second
)

func newVirtual(w *world.World, latency time.Duration) *virtual {
	v := &virtual{world: w, latency: latency, now: w.Now(), backoff: retry.NewExponentialJitterBackoff(longest)}
	v.buckets = simaws.NewBuckets(func() time.Time { return v.now })
	return v
}

func (v *virtual) DescribeNetworkInterfaces(ctx context.Context, in *ec2.DescribeNetworkInterfacesInput, _ ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	if err := v.call(ctx, "DescribeNetworkInterfaces", in); err != nil {
		return nil, err
	}
	return v.world.EC2().DescribeNetworkInterfaces(in)
}

func (v *virtual) DeleteNetworkInterface(ctx context.Context, in *ec2.DeleteNetworkInterfaceInput, _ ...func(*ec2.Options)) (*ec2.DeleteNetworkInterfaceOutput, error) {
	if v.first.IsZero() {
		v.first = v.now
	}
	if err := v.call(ctx, "DeleteNetworkInterface", in); err != nil {
		v.failed++
		return nil, err
	}
	v.last = v.now
	out, err := v.world.EC2().DeleteNetworkInterface(in)
	if err != nil {
		v.failed++
		return nil, err
	}
	v.deleted++
	return out, nil
}

// call passes the time of a call, and of its repetitions.
func (v *virtual) call(ctx context.Context, operation string, in any) error {
	for attempt := range attempts {
		v.now = v.now.Add(v.latency)
		v.calls++
		if operation == "DeleteNetworkInterface" {
			v.deletes++
		}
		err := v.buckets.Admit(ctx, &wire.Call{Service: "ec2", Operation: operation}, in)
		if !errors.Is(err, wire.Throttled) {
			return err
		}
		v.throttled++
		wait, err := v.backoff.BackoffDelay(attempt, err)
		if err != nil {
			return err
		}
		v.now = v.now.Add(wait)
	}
	return &smithy.GenericAPIError{Code: "RequestLimitExceeded", Message: "Request limit exceeded."}
}

// byScript has the sequential script delete them, each call with a latency.
func byScript(ctx context.Context, o options, latency time.Duration) (result, error) {
	file, err := worldfile.Load(worldFile)
	if err != nil {
		return result{}, err
	}
	fill(o.interfaces, 0)(file)
	w, err := world.New(file, world.Options{Seed: 1})
	if err != nil {
		return result{}, err
	}
	v := newVirtual(w, latency)
	if _, err := peerscript.Run(ctx, v); err != nil {
		return result{}, err
	}
	v.name, v.interfaces, v.runs, v.took = "the story's script, "+latency.String()+" a call", o.interfaces, 1, v.last.Sub(v.first)
	return v.result, nil
}

// The world under the load: healthy, with the interfaces that load adds to it.
const (
	worldFile = "stage/worlds/healthy-nat.yaml"
	cluster   = "eks-workshop"
	vpc       = "vpc-0a1b2c3d4e5f60718"
	// perSubnet is how many interfaces go to a subnet of the added ones, each a
	// /16 of the VPC's secondary blocks.
	perSubnet = 60_000
)

// fill adds interfaces to a world: so many that nodes left behind, and so many
// besides that are in use. Two of each three nodes left one, the third two.
func fill(leaked, inUse int) func(*worldfile.File) {
	return func(f *worldfile.File) {
		n := leaked + inUse
		for i := range (n + perSubnet - 1) / perSubnet {
			f.EC2.Subnets = append(f.EC2.Subnets, types.Subnet{
				SubnetId: aws.String(subnetID(i)), VpcId: aws.String(vpc), AvailabilityZone: aws.String("us-west-2a"), AvailabilityZoneId: aws.String("usw2-az1"),
				CidrBlock: aws.String(fmt.Sprintf("100.%d.0.0/16", 64+i)),
			})
		}
		for i := range n {
			eni := types.NetworkInterface{
				NetworkInterfaceId: aws.String(fmt.Sprintf("eni-0a%015x", i)), SubnetId: aws.String(subnetID(i / perSubnet)),
				Status: types.NetworkInterfaceStatusAvailable, Groups: []types.GroupIdentifier{{GroupId: aws.String("sg-0e50000000000000f")}},
			}
			owner := fmt.Sprintf("i-0b%015x", i*3/4)
			eni.Description = aws.String("aws-K8S-" + owner)
			eni.TagSet = []types.Tag{
				{Key: aws.String("cluster.k8s.amazonaws.com/name"), Value: aws.String(cluster)},
				{Key: aws.String("eks:eni:owner"), Value: aws.String("amazon-vpc-cni")},
				{Key: aws.String("node.k8s.amazonaws.com/createdAt"), Value: aws.String(f.Time.Add(-time.Duration(3600+i%86_400) * time.Second).UTC().Format(time.RFC3339))},
				{Key: aws.String("node.k8s.amazonaws.com/instance_id"), Value: aws.String(owner)},
			}
			if i >= leaked { // of something else that the VPC holds
				eni.Status, eni.Description = types.NetworkInterfaceStatusInUse, aws.String("load balancer")
				eni.RequesterManaged, eni.TagSet = aws.Bool(true), nil
				eni.Attachment = &types.NetworkInterfaceAttachment{AttachmentId: aws.String(fmt.Sprintf("eni-attach-0a%015x", i)), InstanceOwnerId: aws.String("amazon-elb"), Status: types.AttachmentStatusAttached}
			}
			f.EC2.NetworkInterfaces = append(f.EC2.NetworkInterfaces, eni)
		}
	}
}

func subnetID(i int) string { return fmt.Sprintf("subnet-0e6%014x", i) }
