// Command measure runs the functions on the local stage beside a healthy cluster
// in which nothing happens, counts what an hour takes, and writes docs/bill.md.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	relay "rollcall/functions/relay/spec"
	"rollcall/stage"
	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/simaws"
	"rollcall/tools/bench/bill"
	"rollcall/tools/bench/harness"
	"rollcall/tools/binaries"
)

const (
	cluster = "eks-workshop"
	// watched is how many subnets the world's nodegroups launch into.
	watched = 4
	// settle is how long the launches are given to be over, and told.
	settle = 25 * time.Minute
	hours  = 1
)

const (
	usage = `Runs the functions on the local stage beside a healthy cluster in which nothing happens,
counts what an hour takes, and writes docs/bill.md. Six minutes.

  go run ./tools/bench/bill/measure [-keep]
`
	pageFile  = "docs/bill.md"
	usageFile = "tools/bench/bill/usage.json" // what was counted
)

func main() {
	keep := flag.Bool("keep", false, "write the page from what was counted before")
	rate := flag.Float64("rate", 60, "how many times faster than the wall clock the stage runs while nothing works")
	harness.Main(usage, func() bool { return *rate > 0 }, func(ctx context.Context) error { return run(ctx, *keep, *rate) })
}

func run(ctx context.Context, keep bool, rate float64) error {
	if !keep {
		var usages []bill.Usage
		for _, s := range bill.Sizes() {
			u, err := measure(ctx, rate, (s.Nodes+s.Clusters-1)/s.Clusters)
			if err != nil {
				return err
			}
			usages = append(usages, u)
		}
		data, err := json.MarshalIndent(usages, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(usageFile, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	source, err := os.ReadFile(harness.Template)
	if err != nil {
		return err
	}
	t, err := bill.Count(source)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(usageFile)
	if err != nil {
		return err
	}
	var usages []bill.Usage
	if err := json.Unmarshal(data, &usages); err != nil {
		return fmt.Errorf("%s: %w", usageFile, err)
	}
	page, err := bill.Page(t, usages, bill.Relays{Count: 1, Memory: float64(relay.Spec().Memory)})
	if err != nil {
		return err
	}
	return harness.Page(pageFile, page)
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

func measure(ctx context.Context, rate float64, nodes int) (bill.Usage, error) {
	out, invoked, meter := harness.Remember(), &counter{by: map[string]int{}}, &simaws.Meter{}
	dir, err := binaries.Build(".")
	if err != nil {
		return bill.Usage{}, err
	}
	s, err := stage.Start(ctx, stage.Options{Template: harness.Template, Binaries: dir, World: "tools/bench/bill/idle.yaml", Rate: rate, Slow: min(rate, 4), Out: out, Observe: invoked.observe, Meter: meter})
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
	out.Take()
	invoked.take()
	before, calls, trace := meter.Used(), len(s.Cloud.Calls()), len(s.Trace())
	began := s.Clock.Now()
	if err := wait(ctx, s, hours*time.Hour); err != nil {
		return bill.Usage{}, err
	}
	u := bill.Usage{Nodes: nodes, Subnets: watched, Hours: s.Clock.Now().Sub(began).Hours(), Invocations: invoked.take(), Calls: map[string]int{}}
	_, logged := out.Take()
	u.Logged(logged)
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
