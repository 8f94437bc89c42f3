// Command load launches thousands of nodes an hour on the local stage, and
// tells what that takes and costs, and whether each launch has one outcome.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"rollcall/local/simaws"
	"rollcall/local/stage"
)

const usage = `Launches nodes on the local stage, as many an hour as you say, and tells what
Rollcall took for them: table reads and writes, invocations, SQS requests, and
what that costs at public prices. Every launch must end with one outcome.
  go run ./local/bench/load [-launches N] [-minutes M] [-rate R]
It needs the functions' binaries (make build-local) and Node. No AWS account is
touched. Exit status: 0 each launch has its outcome, 1 not, 2 wrong use.
`

type options struct {
	launches int
	minutes  int
	rate     float64
	template string
	binaries string
	world    string
	logs     string
	page     string
}

func main() {
	var o options
	flag.IntVar(&o.launches, "launches", 1_667, "launches")
	flag.IntVar(&o.minutes, "minutes", 10, "stage minutes over which they are spread")
	flag.Float64Var(&o.rate, "rate", 8, "how many times faster than the wall clock the stage runs")
	flag.StringVar(&o.template, "template", "infra/Rollcall.template.json", "the synthesised template")
	flag.StringVar(&o.binaries, "binaries", "build/local", "folder of the functions' binaries")
	flag.StringVar(&o.world, "world", "local/bench/load/load.yaml", "the world")
	flag.StringVar(&o.logs, "logs", "out/load.log", "file for the functions' logs")
	flag.StringVar(&o.page, "page", "", "file for the result as a page")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || o.launches < 60 || o.minutes < 5 || o.rate <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintf(os.Stderr, "\nload: %v\nThe functions' logs are in %s.\n", err, o.logs)
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
	t := &tally{invocations: map[string]int{}, failures: map[string]int{}, seconds: map[string]float64{}, logged: countingWriter{to: logs}}
	meter := &simaws.Meter{}
	s, err := stage.Start(ctx, stage.Options{
		World: o.world, Template: o.template, Binaries: o.binaries, Rate: o.rate,
		Out: &t.logged, Log: slog.New(slog.NewTextHandler(logs, nil)),
		Observe: t.observe, Meter: meter,
	})
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
	uses := bill(t, meter, s.Trace(), s.Cloud.Calls(), s.Template.Functions, ran)
	p := page{options: o, launches: len(truth) + len(d.refusals), ran: ran, uses: uses}
	p.outcomes, p.wrong, err = judge(ctx, s, truth, d.refusals)
	if err != nil {
		return err
	}
	text := p.text()
	fmt.Print("\n", text)
	if o.page != "" {
		if err := os.WriteFile(o.page, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if n := len(p.wrong); n > 0 {
		return fmt.Errorf("%d of %d launches have no outcome, or a wrong one", n, len(truth))
	}
	if p.launches < o.launches {
		return errors.New("fewer instances were launched than asked for")
	}
	return nil
}
