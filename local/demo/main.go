// Command demo plays stories on the local stage and ends with exit status 0
// only if everything that must be seen was seen.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rollcall/local/release"
	"rollcall/local/stage"
)

const usage = `Plays a story on the local stage:

  route  a nodegroup in a new subnet whose route table has only the local route;
         the fix is approved in Slack
  spot   four Spot nodegroups started at once in one small subnet, and two
         worlds that look like it and have another cause
  ips    a nodegroup that scales up and down in a small subnet, whose nodes
         leave network interfaces behind
  zone   a replaced nodegroup over three zones with two nodes, and a volume in
         the third
  karpenter
         NodePools whose launches a policy of the organisation refuses, whose class
         finds no subnet, and whose nodes have no way out
  all    all of them

  make demo [STORY=NAME] [KEEP=1]
  go run ./local/demo [-story NAME] [-keep] [-rate N] [-pictures DIR]

It needs the functions' binaries (make build-local) and Node. No AWS account is
touched. Exit status: 0 all was seen, 1 something was not, 2 wrong use.

`

type options struct {
	story    string
	keep     bool
	rate     float64
	template string
	binaries string
	logs     string
	pictures string
	samples  string
}

// play is a story: a world on a stage of its own, and what happens on it.
type play struct {
	name  string
	world string
	// rate is how many times faster than the wall clock it runs, while all wait, if
	// nobody says otherwise.
	rate float64
	act  func(context.Context, *stage.Stage, *narrator) error
	// settings are the operator's; nil leaves everything at its default.
	settings func() map[string]string
	// rights tells that the operator has applied the ClusterRole to the cluster.
	rights bool
	// then are stories played after it, that belong to it.
	then []play
}

// slow is how many times faster than the wall clock a stage runs while functions
// work, or the story itself does: a look of half a second takes some seconds.
const slow = 15

// clusterRole is what an operator applies to a cluster.
const clusterRole = "deploy/clusterrole.yaml"

func plays() []play {
	return []play{
		{name: "route", world: "route", rate: 60, act: route, settings: routeSettings},
		{name: "spot", world: "spot", rate: 200, act: spot, then: []play{
			{name: "spot, reclaimed", world: "spot-reclaimed", rate: 200, act: reclaimed},
			{name: "spot, no route", world: "spot-route", rate: 200, act: unrouted},
		}},
		{name: "ips", world: "ips", rate: 200, act: ips},
		{name: "zone", world: "zone", rate: 200, act: zone, settings: zoneSettings},
		{name: "karpenter", world: "karpenter", rate: 200, act: karpenter, settings: karpenterSettings, rights: true},
	}
}

// chosen are the plays of a name; none where there is no such story.
func chosen(name string) []play {
	var list []play
	for _, p := range plays() {
		if name == p.name || name == "all" {
			list = append(list, p)
		}
	}
	return list
}

func main() {
	var o options
	flag.StringVar(&o.story, "story", "all", "the story to play: route, spot, ips, zone, karpenter or all")
	flag.BoolVar(&o.keep, "keep", false, "leave the last story's stage up afterwards, until Ctrl-C")
	flag.Float64Var(&o.rate, "rate", 0, "how many times faster than the wall clock the stage runs while all wait; 0 takes the story's own")
	flag.StringVar(&o.template, "template", "infra/Rollcall.template.json", "the synthesised template")
	flag.StringVar(&o.binaries, "binaries", "build/local", "folder of the functions' binaries")
	flag.StringVar(&o.logs, "logs", "out/demo.log", "file for the functions' logs")
	flag.StringVar(&o.pictures, "pictures", "", "folder for pictures of the Slack page (needs Chromium)")
	flag.StringVar(&o.samples, "samples", "", "folder that keeps samples of the records and messages that the functions write (make release-samples)")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || o.rate < 0 || len(chosen(o.story)) == 0 {
		if len(chosen(o.story)) == 0 {
			fmt.Fprintf(os.Stderr, "demo: there is no story %q\n\n", o.story)
		}
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
	if o.pictures != "" {
		if err := os.MkdirAll(o.pictures, 0o755); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(o.logs), 0o755); err != nil {
		return err
	}
	logs, err := os.Create(o.logs)
	if err != nil {
		return err
	}
	defer logs.Close()
	list := chosen(o.story)
	for i, p := range list {
		if err := perform(ctx, o, p, logs, o.keep && i == len(list)-1); err != nil {
			if errors.Is(err, context.Canceled) {
				return errors.New("interrupted")
			}
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// perform plays a story, and what belongs to it on stages of their own. The
// story's own stage stays up until all is told, and on if it is to be kept.
func perform(ctx context.Context, o options, p play, logs io.Writer, keep bool) error {
	began := time.Now()
	n := &narrator{began: began, pictures: o.pictures}
	s, err := o.raise(ctx, p, n, logs)
	if err != nil {
		return err
	}
	defer s.Close()
	if err = p.act(ctx, s, n); err == nil {
		err = errors.Join(documented(n), n.keepSamples())
	}
	for _, next := range p.then {
		if err != nil {
			break
		}
		err = o.interlude(ctx, next, n, logs)
	}
	n.timeline()
	if err == nil {
		fmt.Printf("\nAll of it was seen, in %.1f s. The page: %s\n", time.Since(began).Seconds(), s.Slack.URL())
	}
	n.rest()
	if keep {
		fmt.Printf("\nThe stage stays up: %s\nUse the AWS CLI against it:\n\n%s\nCtrl-C ends it.\n", s.Slack.URL(), exports(s))
		<-ctx.Done()
	}
	return err
}

func (o options) interlude(ctx context.Context, p play, n *narrator, logs io.Writer) error {
	s, err := o.raise(ctx, p, n, logs)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := p.act(ctx, s, n); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	if err := errors.Join(documented(n), n.keepSamples()); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// raise starts a story's stage, which the narrator tells of from now on.
func (o options) raise(ctx context.Context, p play, n *narrator, logs io.Writer) (*stage.Stage, error) {
	rate := p.rate
	if o.rate > 0 {
		rate = o.rate
	}
	var settings map[string]string
	if p.settings != nil {
		settings = p.settings()
	}
	rights := ""
	if p.rights {
		rights = clusterRole
	}
	recorder := &release.Recorder{}
	s, err := stage.Start(ctx, stage.Options{
		World: "local/worlds/" + p.world + ".yaml", Template: o.template, Binaries: o.binaries,
		Rate: rate, Slow: slow, Settings: settings, Out: logs, Log: slog.New(slog.NewTextHandler(logs, nil)),
		Sent: recorder.Sent, Rights: rights,
	})
	if err != nil {
		return nil, fmt.Errorf("start the stage: %w", err)
	}
	if o.samples != "" {
		n.keep = keepSamples(ctx, recorder, s, o.samples)
	}
	n.stage, n.play, n.rest = s, p.name, s.Clock.Work()
	fmt.Printf("%s on the local stage, up to %g times as fast as the clock\n\n  Slack page   %s\n  AWS endpoint %s\n\n",
		strings.ToUpper(p.name[:1])+p.name[1:], rate, s.Slack.URL(), s.Cloud.Endpoint())
	return s, nil
}
