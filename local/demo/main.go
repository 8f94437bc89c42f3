// Command demo plays a story on the local stage and ends with exit status 0
// only if everything that must be seen was seen.
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
	"time"

	"rollcall/local/stage"
)

const usage = `Plays the route story on the local stage: a nodegroup in a new subnet whose
route table has only the local route.

  go run ./local/demo [-keep] [-rate N] [-pictures DIR]

It needs the functions' binaries (make build-local) and Node. No AWS account is
touched. Exit status: 0 all was seen, 1 something was not, 2 wrong use.

`

type options struct {
	keep     bool
	rate     float64
	template string
	binaries string
	logs     string
	pictures string
}

func main() {
	var o options
	flag.BoolVar(&o.keep, "keep", false, "leave the stage up afterwards, until Ctrl-C")
	flag.Float64Var(&o.rate, "rate", 20, "how many times faster than the wall clock the stage runs")
	flag.StringVar(&o.template, "template", "infra/Rollcall.template.json", "the synthesised template")
	flag.StringVar(&o.binaries, "binaries", "build/local", "folder of the functions' binaries")
	flag.StringVar(&o.logs, "logs", "out/demo.log", "file for the functions' logs")
	flag.StringVar(&o.pictures, "pictures", "", "folder for pictures of the Slack page (needs Chromium)")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || o.rate <= 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo: %v\nThe functions' logs are in %s.\n", err, o.logs)
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
	began := time.Now()
	fmt.Printf("Rollcall on the local stage, %g times as fast as the clock\n\n", o.rate)
	s, err := stage.Start(ctx, stage.Options{
		World: "local/worlds/route.yaml", Template: o.template, Binaries: o.binaries,
		Rate: o.rate, Out: logs, Log: slog.New(slog.NewTextHandler(logs, nil)),
	})
	if err != nil {
		return fmt.Errorf("start the stage: %w", err)
	}
	defer s.Close()
	fmt.Printf("  Slack page   %s\n  AWS endpoint %s\n\n", s.Slack.URL(), s.Cloud.Endpoint())
	n := &narrator{stage: s, began: began, pictures: o.pictures}
	err = route(ctx, s, n)
	n.timeline()
	if err == nil {
		fmt.Printf("\nAll of it was seen, in %.1f s. The page: %s\n", time.Since(began).Seconds(), s.Slack.URL())
	}
	if o.keep {
		fmt.Printf("\nThe stage stays up: %s\nUse the AWS CLI against it:\n\n%s\nCtrl-C ends it.\n", s.Slack.URL(), exports(s))
		<-ctx.Done()
		return err
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}
