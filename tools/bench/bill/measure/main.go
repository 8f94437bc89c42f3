// Command measure runs the functions on the local stage beside a healthy cluster
// in which nothing happens, counts what an hour takes, and writes docs/bill.md.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/simaws"
	"rollcall/tools/bench/bill"

	"rollcall/stage"

	relay "rollcall/functions/relay/spec"
)

const (
	cluster = "eks-workshop"
	// watched is how many subnets the world's nodegroups launch into.
	watched = 4
	// settle is how long the launches are given to be over, and told.
	settle = 25 * time.Minute
	hours  = 1
)

type options struct {
	page, usage, template, binaries, world string
	rate                                   float64
	keep                                   bool
}

func main() {
	var o options
	flag.StringVar(&o.page, "page", "docs/bill.md", "file for the page")
	flag.StringVar(&o.usage, "usage", "tools/bench/bill/usage.json", "file for what was counted")
	flag.StringVar(&o.template, "template", "infra/Rollcall.template.json", "the synthesised template")
	flag.StringVar(&o.binaries, "binaries", "build/local", "folder of the functions' binaries (make build-local)")
	flag.StringVar(&o.world, "world", "tools/bench/bill/idle.yaml", "the world")
	flag.Float64Var(&o.rate, "rate", 60, "how many times faster than the wall clock the stage runs while nothing works")
	flag.BoolVar(&o.keep, "keep", false, "write the page from what was counted before")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if !o.keep {
		var usages []bill.Usage
		for _, s := range bill.Sizes() {
			u, err := measure(ctx, o, (s.Nodes+s.Clusters-1)/s.Clusters)
			if err != nil {
				return err
			}
			usages = append(usages, u)
		}
		data, err := json.MarshalIndent(usages, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.usage, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	source, err := os.ReadFile(o.template)
	if err != nil {
		return err
	}
	t, err := bill.Count(source)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(o.usage)
	if err != nil {
		return err
	}
	var usages []bill.Usage
	if err := json.Unmarshal(data, &usages); err != nil {
		return fmt.Errorf("%s: %w", o.usage, err)
	}
	page, err := bill.Page(t, usages, bill.Relays{Count: 1, Memory: float64(relay.Spec().Memory)})
	if err != nil {
		return err
	}
	return os.WriteFile(o.page, []byte(page), 0o644)
}

// logs keeps what the functions write.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps it.
func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text.String()
	l.text.Reset()
	return text
}

// counter counts invocations.
type counter struct {
	mu sync.Mutex
	by map[string]int
}

func (c *counter) observe(i lambdaruntime.Invocation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by[i.Function]++
}

func (c *counter) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	by := c.by
	c.by = map[string]int{}
	return by
}

func measure(ctx context.Context, o options, nodes int) (bill.Usage, error) {
	out, invoked, meter := &logs{}, &counter{by: map[string]int{}}, &simaws.Meter{}
	s, err := stage.Start(ctx, stage.Options{
		World: o.world, Template: o.template, Binaries: o.binaries, Rate: o.rate, Slow: min(o.rate, 4),
		Out: out, Observe: invoked.observe, Meter: meter,
	})
	if err != nil {
		return bill.Usage{}, fmt.Errorf("start the stage: %w", err)
	}
	defer s.Close()
	// One node is in the other nodegroup.
	_, err = eks.NewFromConfig(s.AsAdmin()).UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String(cluster), NodegroupName: aws.String("default"),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(3), MaxSize: aws.Int32(60), DesiredSize: aws.Int32(int32(nodes - 1))},
	})
	if err != nil {
		return bill.Usage{}, fmt.Errorf("scale the cluster to %d nodes: %w", nodes, err)
	}
	if err := wait(ctx, s, settle); err != nil {
		return bill.Usage{}, err
	}
	out.take()
	invoked.take()
	before, calls, trace := meter.Used(), len(s.Cloud.Calls()), len(s.Trace())
	began := s.Clock.Now()
	if err := wait(ctx, s, hours*time.Hour); err != nil {
		return bill.Usage{}, err
	}
	u := bill.Usage{Nodes: nodes, Subnets: watched, Hours: s.Clock.Now().Sub(began).Hours(), Invocations: invoked.take(), Calls: map[string]int{}}
	u.Logged(out.take())
	u.Stored(before, meter.Used())
	u.Called(s.Cloud.Calls()[calls:])
	u.Routed(s.Trace()[trace:])
	fmt.Fprintf(os.Stderr, "%d nodes: %v\n", nodes, u)
	return u, nil
}

func wait(ctx context.Context, s *stage.Stage, d time.Duration) error {
	for until := s.Clock.Now().Add(d); s.Clock.Now().Before(until); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
