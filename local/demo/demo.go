// Package demo plays stories on the local stage: the functions' programs, the rules,
// queues and schedules of the template, a simulated AWS and a stand-in for Slack. A story
// has gone well only if everything that must be seen was seen.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/fakeslack"
	"rollcall/local/release"
	"rollcall/local/simaws/worldfile"
	"rollcall/local/stage"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/spoke"
)

// About tells the stories.
const About = `  route      a nodegroup in a new subnet whose route table has only the local route;
             the fix is approved in Slack
  spot       four Spot nodegroups started at once in one small subnet, and two
             worlds that look like it and have another cause
  ips        a nodegroup that scales up and down in a small subnet, whose nodes
             leave network interfaces behind
  zone       a replaced nodegroup over three zones with two nodes, and a volume in
             the third
  karpenter  NodePools whose launches a policy of the organisation refuses, whose
             class finds no subnet, and whose nodes have no route to the internet
  organisation
             two accounts, alike down to the ids, with the same broken route, one of
             them with a private cluster, which is read through its relay; and the
             role by which that account is looked at deleted and made again`

// Options say what is played, and how.
type Options struct {
	// Story is a story's name, or all.
	Story string
	// Keep leaves the last story's stage up until the context ends. Somebody looks: the
	// fixes of that story are left to them to approve.
	Keep bool
	// Rate is how many times faster than the wall clock the stage runs while all wait;
	// 0 takes the story's own.
	Rate float64
	// Functions is the folder that has <function>/bootstrap for each function.
	Functions string
	// Files are the repository's, with the template, the worlds and the schemas.
	Files fs.FS
	// Logs takes the functions' logs, Out what is told.
	Logs, Out io.Writer
	// Pictures is a folder for pictures of the Slack page; it takes the repository, Go
	// and Chromium. Samples is one that keeps samples of the records and messages that
	// the functions write. Empty is none.
	Pictures, Samples string

	root string // of the files, on this machine
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
	// spokes are other accounts and regions with the same world, watched from the first.
	spokes []spoke.ID
	// private are clusters whose API has a private endpoint only, each with its relay.
	private []spoke.Cluster
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
		{name: "ips", world: "ips", rate: 200, act: ips, settings: ipsSettings},
		{name: "zone", world: "zone", rate: 200, act: zone, settings: zoneSettings},
		{name: "karpenter", world: "karpenter", rate: 200, act: karpenter, settings: karpenterSettings, rights: true},
		{name: "organisation", world: "route", rate: 200, act: organisation, settings: organisationSettings, rights: true, spokes: []spoke.ID{paymentsSpoke}, private: []spoke.Cluster{{ID: paymentsSpoke, Name: cluster}}},
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

// Stories are the names of the stories.
func Stories() []string {
	var names []string
	for _, p := range plays() {
		names = append(names, p.name)
	}
	return names
}

// Play plays stories. It fails where something that must be seen was not.
func Play(ctx context.Context, o Options) error {
	if o.Pictures != "" {
		if err := os.MkdirAll(o.Pictures, 0o755); err != nil {
			return err
		}
	}
	var err error
	if o.root, err = os.MkdirTemp("", "rollcall-demo-"); err != nil {
		return fmt.Errorf("make a folder for the stage: %w", err)
	}
	defer os.RemoveAll(o.root)
	// Worlds extend each other by their paths.
	if err := os.CopyFS(o.root, o.Files); err != nil {
		return fmt.Errorf("write the stage's files: %w", err)
	}
	list := chosen(o.Story)
	for i, p := range list {
		if err := o.perform(ctx, p, o.Keep && i == len(list)-1); err != nil {
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
func (o Options) perform(ctx context.Context, p play, keep bool) error {
	began := time.Now()
	n := &narrator{began: began, pictures: o.Pictures, out: o.Out, root: o.root, person: keep}
	s, err := o.raise(ctx, p, n)
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
		err = o.interlude(ctx, next, n)
	}
	n.timeline()
	if errors.Is(err, errRefused) && keep {
		fmt.Fprintf(o.Out, "\nYou refused it: the story ends here.\n")
		return o.stay(ctx, s, n)
	}
	fmt.Fprintf(o.Out, "\nIn the channel: %s.\n", inWords(n.tally.Add(fakeslack.TallyOf(s.Slack.Messages(stage.Channel)))))
	if t := n.tally.Add(fakeslack.TallyOf(s.Slack.Messages(stage.Channel))); err == nil && t.Unseen > 0 {
		err = fmt.Errorf("%d edits show nothing new", t.Unseen)
	}
	if err == nil {
		fmt.Fprintf(o.Out, "\nAll of it was seen, in %.1f s. The page: %s\n", time.Since(began).Seconds(), s.Slack.URL())
	}
	if keep {
		return errors.Join(err, o.stay(ctx, s, n))
	}
	n.rest()
	return err
}

// stay leaves a stage up for the person who looks: its time goes as the clock does.
func (o Options) stay(ctx context.Context, s *stage.Stage, n *narrator) error {
	s.Clock.SetPace(1, 1)
	n.rest()
	fmt.Fprintf(o.Out, "\nThe stage stays up: %s\nIts time goes as the clock does. Use the AWS CLI against it:\n\n%s\nCtrl-C ends it.\n", s.Slack.URL(), exports(s))
	<-ctx.Done()
	return nil
}

func (o Options) interlude(ctx context.Context, p play, n *narrator) error {
	s, err := o.raise(ctx, p, n)
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
	n.tally = n.tally.Add(fakeslack.TallyOf(s.Slack.Messages(stage.Channel)))
	return nil
}

// inVPC leaves the private clusters of a spoke their private endpoint alone.
func (p play) inVPC(id spoke.ID) func(*worldfile.File) {
	return func(f *worldfile.File) {
		for i, c := range f.EKS.Clusters {
			if slices.Contains(p.private, spoke.Cluster{ID: id, Name: aws.ToString(c.Name)}) {
				f.EKS.Clusters[i].ResourcesVpcConfig.EndpointPublicAccess, f.EKS.Clusters[i].ResourcesVpcConfig.EndpointPrivateAccess = false, true
			}
		}
	}
}

// world is the file of a world.
func (o Options) world(name string) string { return worldFile(o.root, name) }

func worldFile(root, name string) string {
	return filepath.Join(root, "local", "worlds", name+".yaml")
}

// inWords tells what the channel was given.
func inWords(t fakeslack.Tally) string {
	replies := fmt.Sprintf("%d replies", t.Replies)
	if t.Replies == 1 {
		replies = "1 reply"
	}
	return fmt.Sprintf("%s, %s, %s, of which %d show nothing new", slacktext.Count(t.Lines, "new line"), replies, slacktext.Count(t.Edits, "edit"), t.Unseen)
}

// raise starts a story's stage, which the narrator tells of from now on.
func (o Options) raise(ctx context.Context, p play, n *narrator) (*stage.Stage, error) {
	rate := p.rate
	if o.Rate > 0 {
		rate = o.Rate
	}
	var settings map[string]string
	if p.settings != nil {
		settings = p.settings()
	}
	rights := ""
	if p.rights {
		rights = filepath.Join(o.root, clusterRole)
	}
	var spokes []stage.Spoke
	for _, id := range p.spokes {
		spokes = append(spokes, stage.Spoke{ID: id, World: o.world(p.world), Change: p.inVPC(id)})
	}
	private := ""
	if len(p.private) > 0 {
		private = filepath.Join(o.root, relayTemplate)
	}
	recorder := &release.Recorder{}
	s, err := stage.Start(ctx, stage.Options{
		World: o.world(p.world), Template: filepath.Join(o.root, "infra", "Rollcall.template.json"), Binaries: o.Functions,
		Rate: rate, Slow: slow, Settings: settings, Out: o.Logs, Log: slog.New(slog.NewTextHandler(o.Logs, nil)),
		Sent: recorder.Sent, Rights: rights, Spokes: spokes, SpokeTemplate: filepath.Join(o.root, spokeTemplate),
		Relays: p.private, RelayTemplate: private,
	})
	if err != nil {
		return nil, fmt.Errorf("start the stage: %w", err)
	}
	if o.Samples != "" {
		n.keep = keepSamples(ctx, recorder, s, o.Samples)
	}
	n.stage, n.play, n.rest, n.rate = s, p.name, s.Clock.Work(), rate
	fmt.Fprintf(o.Out, "%s on the local stage, up to %g times as fast as the clock\n\n  Slack page   %s\n  AWS endpoint %s\n\n",
		strings.ToUpper(p.name[:1])+p.name[1:], rate, s.Slack.URL(), s.Cloud.Endpoint())
	return s, nil
}
