// Command leaks deletes thousands of network interfaces that nodes left
// behind, under EC2's request buckets: with Rollcall's eni-cleanup, and with a
// script that deletes one after the other.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const usage = `Deletes network interfaces on the local stage under EC2's request buckets, with
eni-cleanup and with a sequential script, and tells time, calls and memory.
  go run ./local/bench/leaks [-interfaces N] [-rate R] [-page FILE]
It needs the functions' binaries (make build-local) and Node. No AWS account is
touched. Exit status: 0 all were deleted without a failure, 1 not, 2 wrong use.
`

type options struct {
	interfaces int
	held       int
	latency    time.Duration
	rate       float64
	timed      bool // timeouts pass in stage time
	runs       int
	template   string
	binaries   string
	logs       string
	page       string
}

func main() {
	var o options
	flag.IntVar(&o.interfaces, "interfaces", 10_000, "interfaces left behind")
	flag.IntVar(&o.held, "held", 100_000, "interfaces of the VPC for the look at memory; 0 leaves it out")
	flag.DurationVar(&o.latency, "latency", 300*time.Millisecond, "what each EC2 call takes, in stage time")
	flag.Float64Var(&o.rate, "rate", 5, "how many times faster than the wall clock the stage runs")
	flag.IntVar(&o.runs, "runs", 8, "how often eni-cleanup is woken at most")
	flag.StringVar(&o.template, "template", "infra/Rollcall.template.json", "the synthesised template")
	flag.StringVar(&o.binaries, "binaries", "build/local", "folder of the functions' binaries")
	flag.StringVar(&o.logs, "logs", "out/leakload.log", "file for the functions' logs")
	flag.StringVar(&o.page, "page", "", "file for the result as a page")
	o.timed = true
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || o.interfaces < bucketSize || o.held != 0 && o.held < o.interfaces || o.rate <= 0 || o.runs < 2 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintf(os.Stderr, "\nleaks: %v\nThe functions' logs are in %s.\n", err, o.logs)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if err := os.MkdirAll(filepath.Dir(o.logs), 0o755); err != nil {
		return err
	}
	logs, err := os.Create(o.logs)
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
	if p.looks, err = looks(ctx, o, logs); err != nil {
		return err
	}
	text := p.text()
	fmt.Print("\n", text)
	if o.page != "" {
		if err := os.WriteFile(o.page, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if p.ours.deleted != o.interfaces || p.ours.failed > 0 || p.ours.over() > tolerance {
		return fmt.Errorf("%d of %d deleted, %d failed, %.1f %% over the bucket's time", p.ours.deleted, o.interfaces, p.ours.failed, 100*p.ours.over())
	}
	return nil
}

// tolerance is how much longer than the bucket's own time we may take.
const tolerance = 0.05

// looks has both functions look at a tenth of the interfaces, and at all: few
// to delete and many to look at.
func looks(ctx context.Context, o options, logs *os.File) ([]look, error) {
	// Nothing is timed here, and little is waited for but the next run: to look
	// takes so long on a stage this fast that the second may come too early.
	o.runs, o.rate, o.timed = 3, 60, false
	var list []look
	if o.held == 0 {
		return nil, nil
	}
	for _, held := range []int{o.held / 10, o.held} {
		fmt.Printf("  %d interfaces described\n", held)
		for _, by := range []func(context.Context, options, int, int, *os.File) (result, error){byRollcall, byWatch} {
			r, err := by(ctx, o, bucketSize, held-bucketSize, logs)
			if err != nil {
				return nil, fmt.Errorf("look at %d interfaces: %w", held, err)
			}
			list = append(list, look{held: held, result: r})
		}
	}
	return list, nil
}
