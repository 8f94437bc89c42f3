// Command evidence measures what keeping evidence adds to a look at a cluster, by the
// cluster's size, and computes what a month of it costs; it writes docs/evidence.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"rollcall"
	"rollcall/local/bench/bill"
	"rollcall/local/bench/grown"
	"rollcall/local/programs"
	"rollcall/local/replay"
	"rollcall/local/stage"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/spoke"
)

// settled is when the broken nodes are past their join time.
const settled = 12 * time.Minute

func main() {
	page := flag.String("page", "", "write the page here; without it to standard output")
	rounds := flag.Int("rounds", 3, "looks of each kind; the median counts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	text, err := run(ctx, *rounds)
	if err == nil && *page != "" {
		err = os.WriteFile(*page, []byte(text), 0o644)
	} else if err == nil {
		fmt.Print(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		stop()
		os.Exit(1)
	}
}

// look is what looks at a cluster came to.
type look struct {
	took time.Duration // of the processor's time, with the stage's own
	// allocated are bytes in all, and bytes those of the object.
	allocated, bytes int64
	// leftOut is how many files did not fit.
	leftOut int
}

func run(ctx context.Context, rounds int) (string, error) {
	var b strings.Builder
	b.WriteString(intro)
	sizes := map[int]int64{}
	for _, n := range []int{20, 200, 2000} {
		without, err := measure(ctx, n, rounds, "off")
		if err != nil {
			return "", err
		}
		with, err := measure(ctx, n, rounds, "30")
		if err != nil {
			return "", err
		}
		sizes[n] = with.bytes
		fmt.Fprintf(&b, "| %d | %d ms | %d ms | %.1f MB | %.1f MB | %.0f KB | %d |\n", n, without.took.Milliseconds(), with.took.Milliseconds(),
			float64(without.allocated)/1e6, float64(with.allocated)/1e6, float64(with.bytes)/1e3, with.leftOut)
	}
	b.WriteString(costs)
	for _, c := range []struct {
		what  string
		nodes int
		bill.Incidents
	}{
		{"a quiet month: 5 incidents of 2 hours, 20 nodes", 20, bill.Incidents{Opened: 5, Hours: 2}},
		{"a bad month: 50 incidents of 6 hours, 200 nodes", 200, bill.Incidents{Opened: 50, Hours: 6}},
		{"20 clusters of 2,000 nodes: 200 incidents of 12 hours", 2000, bill.Incidents{Opened: 200, Hours: 12}},
		{"one that nobody mends, all month, 200 nodes", 200, bill.Incidents{Opened: 1, Hours: bill.Hours}},
	} {
		c.Days, c.Bytes = 30, float64(sizes[c.nodes])
		lines := bill.Evidence(c.Incidents)
		fmt.Fprintf(&b, "| %s | %.0f | %.3f | $%.2f |\n", c.what, lines[0].Count, lines[1].Count, bill.Total(lines))
	}
	return b.String(), nil
}

// measure takes the median of some looks, each the first of a process of the function.
func measure(ctx context.Context, n, rounds int, evidence string) (look, error) {
	var took []time.Duration
	var allocated []int64
	var found look
	for range rounds {
		one, err := first(ctx, n, evidence)
		if err != nil {
			return look{}, fmt.Errorf("%d nodes: %w", n, err)
		}
		found.bytes, found.leftOut = one.bytes, one.leftOut
		took, allocated = append(took, one.took), append(allocated, one.allocated)
	}
	slices.Sort(took)
	slices.Sort(allocated)
	found.took, found.allocated = took[len(took)/2], allocated[len(allocated)/2]
	return found, nil
}

// first has join-check sweep a cluster of n nodes, a tenth of which cannot join.
func first(ctx context.Context, n int, evidence string) (found look, err error) {
	broken := max(1, n/10)
	s, err := stage.Start(ctx, stage.Options{
		World: grown.World, Change: grown.Grow(n-broken, broken), At: grown.Start().Add(settled), Quiet: true, Rate: 1e-3, Unlimited: true,
		Programs: programs.All(), Files: rollcall.Files(), Template: "infra/Rollcall.template.json", Rights: "deploy/clusterrole.yaml",
		Settings: map[string]string{string(config.Evidence): evidence},
	})
	if err != nil {
		return look{}, err
	}
	defer s.Close()
	f, _ := s.Function("join-check")
	sweep, err := event.SweepCluster(spoke.ID{}, s.World.Clusters()[0], s.Template.AccountID, s.Template.Region, s.Clock.Now())
	if err != nil {
		return look{}, err
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := processor()
	r, err := s.Runtime.Invoke(ctx, f.Name, sweep)
	if err != nil || r.FunctionError != "" {
		return look{}, fmt.Errorf("join-check: %w %s", err, r.Payload)
	}
	found.took = processor() - began
	runtime.ReadMemStats(&after)
	found.allocated = int64(after.TotalAlloc - before.TotalAlloc)
	bucket := s.Template.S3Buckets[0].Name
	for _, key := range s.S3.Keys(bucket) {
		found.bytes = int64(len(s.S3.Object(bucket, key)))
	}
	if found.leftOut, err = leftOut(s, bucket); err != nil {
		return look{}, err
	}
	if (evidence == "off") != (found.bytes == 0) {
		return look{}, fmt.Errorf("with evidence %s an object has %d bytes", evidence, found.bytes)
	}
	return found, nil
}

// leftOut is how many files are listed as left out.
func leftOut(s *stage.Stage, bucket string) (int, error) {
	n := 0
	for _, key := range s.S3.Keys(bucket) {
		dir, err := os.MkdirTemp("", "rollcall-evidence-")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		if _, err := replay.Unpack(s.S3.Object(bucket, key), dir); err != nil {
			return 0, err
		}
		raw, err := os.ReadFile(filepath.Join(dir, "left-out.json"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		var list []json.RawMessage
		if err := errors.Join(err, json.Unmarshal(raw, &list)); err != nil {
			return 0, err
		}
		n += len(list)
	}
	return n, nil
}

// processor is how much of a processor this process has taken.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const intro = `# What keeping evidence costs

Measured by ` + "`make evidence`" + `: join-check sweeps a cluster, a tenth of whose nodes cannot join, with evidence off and on, in one process
with the simulated AWS (processor time and bytes allocated are of both; the difference is the recording, the packing and the request).

| nodes | processor, off | on, and packed | allocated, off | on | one object | files left out |
|---|---|---|---|---|---|---|
`

const costs = `
Packing comes once an hour for the same causes, after the message is sent; the object is written when all of the invocation's work is done.

What a month costs at most, kept for 30 days: S3 Standard at $0.023 a GB and month, and $5.00 a million requests (us-east-1, November 2026). In each hour that an incident
is open one object is written, and each of twelve looks asks for it (a request that finds one there writes nothing, and is billed).

| | requests | GB-months | a month |
|---|---|---|---|
`
