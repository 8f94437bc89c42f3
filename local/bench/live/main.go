// Command live measures how long rollcall diagnose --cluster takes, and how many calls
// it makes, for clusters of several sizes: the built command, with 40 ms on every call
// of AWS and Kubernetes, as from a desk in the region.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"rollcall/local/bench/grown"
	"rollcall/local/simaws"
	"rollcall/local/stage"
)

const usage = `Measures rollcall diagnose --cluster with 40 ms a call, by the size of the cluster.

  go build -o build/rollcall ./cmd/rollcall
  go run ./local/bench/live [-binary build/rollcall] [-sizes 20,200,2000] [-rounds 3]

Exit status: 0 measured, 1 it could not be, or the cause was not named first, 2 wrong use.

`

// latency is what a call takes on its way, there and back (as in lambdatimes).
const latency = 40 * time.Millisecond

// settled is when the broken nodes are past their join time.
const settled = 12 * time.Minute

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	binary := flag.String("binary", "build/rollcall", "the command")
	sizes := flag.String("sizes", "20,200,2000", "nodes of the clusters")
	rounds := flag.Int("rounds", 3, "of each size; the median is printed")
	flag.Parse()
	var list []int
	if err := json.Unmarshal([]byte("["+*sizes+"]"), &list); err != nil || flag.NArg() > 0 || *rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Println("| nodes | of which not joined | seconds | calls of AWS | of Kubernetes | printed lines |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, n := range list {
		m, err := measure(ctx, *binary, n, *rounds)
		if err != nil {
			fmt.Fprintln(os.Stderr, "live:", err)
			stop()
			os.Exit(1)
		}
		fmt.Printf("| %d | %d | %.1f | %d | %d | %d |\n", n, m.broken, m.took.Seconds(), m.aws, m.kubernetes, m.lines)
	}
}

// measured is what one size came to.
type measured struct {
	broken, aws, kubernetes, lines int
	took                           time.Duration
}

// measure looks at a cluster of n nodes, a tenth of which cannot join.
func measure(ctx context.Context, binary string, n, rounds int) (m measured, err error) {
	m.broken = max(1, n/10)
	s, err := stage.Start(ctx, stage.Options{
		World: grown.World, Change: grown.Grow(n-m.broken, m.broken), Template: "infra/Rollcall.template.json", Quiet: true,
		At: grown.Start().Add(settled), CallFaults: []simaws.FaultRule{{Call: "*", Latency: latency}},
	})
	if err != nil {
		return m, fmt.Errorf("start the stage: %w", err)
	}
	defer s.Close()
	var times []time.Duration
	for range rounds {
		before := len(s.Cloud.Calls())
		took, out, err := diagnose(ctx, binary, s)
		if err != nil {
			return m, err
		}
		times = append(times, took)
		m.aws, m.kubernetes, m.lines = 0, 0, strings.Count(out, "\n")
		for _, c := range s.Cloud.Calls()[before:] {
			if c.Service == "kubernetes" {
				m.kubernetes++
			} else {
				m.aws++
			}
		}
		if !strings.HasPrefix(out, "FAULT eks-workshop / new_nodegroup_2 · rtb-0cd20000000000002") {
			return m, fmt.Errorf("the cause is not named first:\n%s", out)
		}
		// EC2's buckets are full again by then (100 at most, 20 a second).
		time.Sleep(5 * time.Second)
	}
	slices.Sort(times)
	m.took = times[len(times)/2]
	return m, nil
}

// diagnose runs the command as a person does.
func diagnose(ctx context.Context, binary string, s *stage.Stage) (time.Duration, string, error) {
	c := exec.CommandContext(ctx, binary, "diagnose", "--cluster", "eks-workshop", "--at", s.Clock.Now().UTC().Format(time.RFC3339))
	c.Env = []string{"HOME=/nonexistent", "AWS_EC2_METADATA_DISABLED=true"}
	for k, v := range s.AdminEnv() {
		c.Env = append(c.Env, k+"="+v)
	}
	c.Stderr = os.Stderr
	began := time.Now()
	out, err := c.Output()
	took := time.Since(began)
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return 0, "", fmt.Errorf("run %s: %w\n%s", binary, err, out)
	}
	return took, string(out), nil
}
