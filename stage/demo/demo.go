// Package demo plays stories on the local stage: the functions' programs, the rules,
// queues and schedules of the template, a simulated AWS and a stand-in for Slack. A story
// has gone well only if everything that must be seen was seen.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"golang.org/x/term"

	"rollcall/events"
	"rollcall/shared/config"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/stage"
	"rollcall/stage/fakeslack"
	"rollcall/stage/release"
	"rollcall/stage/simaws/worldfile"
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
  karpenter  NodePools whose launches a policy of the organization refuses, whose
             class matches no subnet, and whose nodes have no route to the internet
  organization
             two accounts, alike down to the ids, with the same broken route, one of
             them with a private cluster, which is read through its relay; and the
             role that reads that account, deleted and created again`

// Options say what is played, and how.
type Options struct {
	// Story is a story's name, or all.
	Story string
	// Keep leaves the last story's stage up until the context ends. A person looks: the
	// fixes of that story are left to them to approve.
	Keep bool
	// Rate is how many times faster than the wall clock the stage runs while all wait;
	// 0 takes the story's own.
	Rate float64
	// Functions is the folder that has <function>/bootstrap for each function.
	Functions string
	// Files are the repository's, with the template, the worlds and the schemas.
	Files fs.FS
	// Logs takes the functions' logs, Out the narration.
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
	// not set otherwise.
	rate float64
	act  func(context.Context, *stage.Stage, *narrator) error
	// settings are the operator's; nil leaves everything at its default.
	settings func() map[string]string
	// rights reports whether the operator has applied the ClusterRole to the cluster.
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
		{name: "organization", world: "route", rate: 200, act: organization, settings: organizationSettings, rights: true, spokes: []spoke.ID{paymentsSpoke}, private: []spoke.Cluster{{ID: paymentsSpoke, Name: cluster}}},
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

// ErrInterrupted is that a person ended a story before its end.
var ErrInterrupted = errors.New("interrupted")

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
			if ctx.Err() != nil {
				return ErrInterrupted
			}
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if !o.Keep {
		fmt.Fprintf(o.Out, "Add --keep to press the button yourself and look at the Slack page.\n")
	}
	return nil
}

// perform plays a story, and what belongs to it on stages of their own. The
// story's own stage stays up until it has ended, and on if it is to be kept.
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
	tally := n.tally.Add(fakeslack.TallyOf(s.Slack.Messages(stage.Channel)))
	if err == nil && tally.Unseen > 0 {
		err = fmt.Errorf("%d edits show nothing new", tally.Unseen)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errRefused) && keep:
		fmt.Fprintf(o.Out, "\nYou refused it: the story ends here.\n")
		err = nil
	case err == nil:
		fmt.Fprintf(o.Out, "\nChannel: %s\nAll steps verified in %.1f s.\n", inWords(tally), time.Since(began).Seconds())
	case keep:
		fmt.Fprintf(o.Out, "\nFailed: %s\n", err)
	}
	if keep {
		o.stay(ctx, s, n)
		return err
	}
	n.rest()
	return err
}

// stay leaves a stage up for the person who looks: its time goes as the clock does.
func (o Options) stay(ctx context.Context, s *stage.Stage, n *narrator) {
	s.Clock.SetPace(1, 1)
	n.rest()
	fmt.Fprintf(o.Out, "\nThe stage stays up, in real time: %s\n", s.Slack.URL())
	n.credentials()
	fmt.Fprint(o.Out, "Ctrl-C ends it.\n")
	<-ctx.Done()
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
	return filepath.Join(root, "stage", "worlds", name+".yaml")
}

// inWords is what was posted in the channel.
func inWords(t fakeslack.Tally) string {
	replies := fmt.Sprintf("%d thread replies", t.Replies)
	if t.Replies == 1 {
		replies = "1 thread reply"
	}
	return fmt.Sprintf("%s, %s, %s", slacktext.Count(t.Lines, "message"), replies, slacktext.Count(t.Edits, "edit"))
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
	n.stage, n.rest, n.rate, n.shown = s, s.Clock.Work(), rate, false
	fmt.Fprintf(o.Out, "\nStory: %s (simulated AWS, up to %g times real time)\n\n  Slack page, while it runs: %s\n\n", p.name, rate, s.Slack.URL())
	return s, nil
}

// schemaFolder is what is promised to those who read the bus.
const schemaFolder = "events/schema"

// documented holds that every event that a story put on Rollcall's own bus is
// as its schema says: other people's rules read them.
func documented(n *narrator) error {
	schemas, err := events.ReadSchemas(filepath.Join(n.root, schemaFolder))
	if err != nil {
		return err
	}
	kinds, err := follow(schemas, n.stage.Events())
	if err != nil {
		return err
	}
	total := 0
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		total += kinds[kind]
		list = append(list, fmt.Sprintf("%d %s", kinds[kind], strings.TrimPrefix(kind, "Rollcall ")))
	}
	n.say("%d events on the rollcall bus, each valid by its schema: %s", total, strings.Join(list, ", "))
	return nil
}

// follow counts the events on other buses than the account's default one, by
// detail-type. The error names each event that is not as documented, and where.
func follow(schemas events.Schemas, put []stage.Put) (map[string]int, error) {
	kinds := map[string]int{}
	var errs []error
	for i, p := range put {
		if p.Bus == "default" {
			continue
		}
		kind, err := schemas.Validate(p.Event)
		if err != nil {
			errs = append(errs, fmt.Errorf("event %d, %s %s of %s: %w", i+1, kind, idOf(p.Event), p.Stage.Format("15:04:05"), err))
			continue
		}
		kinds[kind]++
	}
	if len(kinds) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("no event was put on the rollcall bus"))
	}
	return kinds, errors.Join(errs...)
}

// idOf is an event's own id, if it has one.
func idOf(event []byte) string {
	var e struct {
		Detail struct {
			ID string `json:"id"`
		} `json:"detail"`
	}
	if err := json.Unmarshal(event, &e); err != nil || e.Detail.ID == "" {
		return "without an id"
	}
	return e.Detail.ID
}

// narrator prints a line for each step.
type narrator struct {
	stage *stage.Stage
	began time.Time
	// rest lets the stage's time run: telling a story is work too, and only while
	// it waits does the time fly.
	rest func()
	// rate is how many times faster than the wall clock the stage runs while all wait.
	rate float64
	// person reports whether a person looks, and approves what a story would approve itself.
	person bool
	// shown reports whether the credentials of this stage were printed.
	shown bool
	// tally is what the channels of the stages before this one were given.
	tally fakeslack.Tally
	// pictures is where pictures of the page go; none if it is empty.
	pictures string
	// out takes the narration; root is where the repository's files are.
	out  io.Writer
	root string
	// keep ends the watching of what the functions write, and keeps samples of it;
	// nil where that was not asked for.
	keep func() error
}

// say prints a step that has happened, with its stage time.
func (n *narrator) say(format string, args ...any) {
	const indent = "              "
	fmt.Fprintf(n.out, "  ✓ %s  %s\n", n.stage.Clock.Now().Format(time.TimeOnly), folded(fmt.Sprintf(format, args...), indent))
}

// message prints a message as its readers see it.
func (n *narrator) message(m fakeslack.Message) {
	const indent = "    "
	var b strings.Builder
	for _, line := range strings.Split(n.stage.Slack.Text(m), "\n") {
		if !strings.HasPrefix(line, " ") { // a command is pasted as one line
			line = folded(line, indent)
		}
		b.WriteString(strings.TrimRight(indent+line, " ") + "\n")
	}
	fmt.Fprintf(n.out, "\n%s\n", b.String())
}

// width is how long a line is at most, if it can be broken.
const width = 98

// folded breaks a line at its blanks; what goes on is indented.
func folded(line, indent string) string {
	var b strings.Builder
	at := len(indent)
	for i, word := range strings.Split(line, " ") {
		switch n := utf8.RuneCountInString(word); {
		case i == 0:
			at += n
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = len(indent) + n
		default:
			b.WriteByte(' ')
			at += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}

// credentials prints what the AWS CLI needs to reach this stage, once.
func (n *narrator) credentials() {
	if !n.shown {
		fmt.Fprintf(n.out, "\nTo use the AWS CLI or rollcall with this stage, in another terminal:\n\n%s\n", exports(n.stage))
	}
	n.shown = true
}

// stepTimeout is how long a step may take, in wall time: many times what it
// takes on a slow machine.
const stepTimeout = 4 * time.Minute

// wait waits until something is seen. Meanwhile a terminal shows what is awaited.
func (n *narrator) wait(ctx context.Context, what string, seen func() (bool, error)) error {
	return n.waitFor(ctx, stepTimeout, what, seen)
}

// waitFor waits for some wall time at most; 0 is until the context ends.
func (n *narrator) waitFor(ctx context.Context, most time.Duration, what string, seen func() (bool, error)) error {
	if n.terminal() {
		fmt.Fprintf(n.out, "  … %s", what)
		defer fmt.Fprint(n.out, "\r\x1b[K") // the step's own line takes its place
	}
	if most > 0 {
		within, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		ctx = within
	}
	for {
		rest := n.stage.Clock.Work()
		n.rest()
		n.rest = rest
		ok, err := seen()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if ok {
			return nil
		}
		n.rest()
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return fmt.Errorf("%s: not seen within %s: %w", what, most, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// pass lets a span of stage time go by.
func (n *narrator) pass(ctx context.Context, d time.Duration) error {
	n.rest()
	defer func() { n.rest = n.stage.Clock.Work() }()
	return n.stage.Clock.Sleep(ctx, d)
}

// terminal reports whether a person watches, or a log.
func (n *narrator) terminal() bool {
	f, ok := n.out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// picture takes a picture of the page, wide or narrow.
func (n *narrator) picture(ctx context.Context, name, query string, width, height int) error {
	if n.pictures == "" {
		return nil
	}
	file := filepath.Join(n.pictures, name+".png")
	shot := exec.CommandContext(ctx, "go", "run", "./stage/fakeslack/shot", "--width", strconv.Itoa(width), "--height", strconv.Itoa(height),
		n.stage.Slack.URL()+"/?static=1"+query, file)
	if out, err := shot.CombinedOutput(); err != nil {
		return fmt.Errorf("take the picture %s: %w: %s", file, err, out)
	}
	return nil
}

// exports is what a shell needs to use the AWS CLI on the stage.
func exports(s *stage.Stage) string {
	env := s.AdminEnv()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(env)) {
		fmt.Fprintf(&b, "  export %s=%s\n", name, env[name])
	}
	return b.String()
}

// The other account, in another region; with whom the messages say that the clusters are.
var paymentsSpoke = spoke.ID{Account: "222233334444", Region: "eu-west-1"}

const (
	shopName     = "shop, us-west-2"
	paymentsName = "payments, eu-west-1"
)

// spokeTemplate is what is deployed in an account that is watched from another.
const spokeTemplate = "infra/RollcallSpoke.template.json"

// relayTemplate is what is deployed beside a cluster that only its VPC reaches.
const relayTemplate = "infra/RollcallRelay.template.json"

// organizationSettings name both accounts.
func organizationSettings() map[string]string {
	return map[string]string{
		string(config.Spokes):     "111122223333/us-west-2=shop," + paymentsSpoke.String() + "=payments",
		string(config.ExternalID): stage.SpokeExternalID,
	}
}

// account is one of the two, with its own clients: a story as the route story is.
type account struct {
	story
	name string // as messages have it
}

// organizationStory is the cast.
type organizationStory struct {
	stage          *stage.Stage
	shop, payments account
}

// organization plays the same broken route in two accounts that have everything alike, down
// to the ids. Then one of them loses the role by which it is looked at.
func organization(ctx context.Context, s *stage.Stage, n *narrator) error {
	if err := needs(s, "launch-watch", "join-check", "sweep"); err != nil {
		return err
	}
	in := func(cfg aws.Config, name string) account {
		return account{story{stage: s, ec2: ec2.NewFromConfig(cfg), eks: eks.NewFromConfig(cfg), groups: autoscaling.NewFromConfig(cfg)}, name}
	}
	st := &organizationStory{stage: s, shop: in(s.AsAdmin(), shopName), payments: in(s.AsAdminIn(paymentsSpoke), paymentsName)}
	for _, act := range []func(context.Context, *narrator) error{st.setting, st.breaks, st.mended, st.lost, st.returns} {
		if err := act(ctx, n); err != nil {
			return fmt.Errorf("%w; the channel says:\n%s", err, st.channel())
		}
	}
	return nil
}

// setting looks at both accounts before anything happens.
func (st *organizationStory) setting(ctx context.Context, n *narrator) error {
	for _, a := range []*account{&st.shop, &st.payments} {
		n.say("account %s:", a.name)
		if err := a.setting(ctx, n); err != nil {
			return err
		}
	}
	if st.shop.table != st.payments.table || st.shop.subnet != st.payments.subnet {
		return fmt.Errorf("%s and %s are not alike", st.shop.table, st.payments.table)
	}
	told, err := st.payments.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(cluster)})
	if err != nil {
		return err
	}
	if vpc := told.Cluster.ResourcesVpcConfig; vpc.EndpointPublicAccess || !vpc.EndpointPrivateAccess {
		return fmt.Errorf("the cluster of %s can be reached from outside its VPC", paymentsName)
	}
	n.say("the cluster of payments has a private endpoint only: Rollcall reads it through a relay in its VPC")
	return nil
}

// relayed waits until all that was read in the private cluster is known to have come through
// its relay: a list for each invocation. What came another way has none, and is not waited out.
func (st *organizationStory) relayed(ctx context.Context, n *narrator) (lists int, err error) {
	err = n.wait(ctx, "counting what was read through the relay", func() (bool, error) {
		invokes := 0
		lists = 0
		for _, c := range st.stage.SpokeCalls(paymentsSpoke) {
			switch {
			case c.Service == "kubernetes":
				lists++
			case c.Action() == "lambda:InvokeFunction" && c.Code == "":
				invokes++
			}
		}
		return lists > 0 && lists == invokes, nil
	})
	return lists, err
}

// breaks scales both groups up: the same two ids are named in two messages, each of which
// says in its first line whose they are.
func (st *organizationStory) breaks(ctx context.Context, n *narrator) error {
	for _, a := range []*account{&st.shop, &st.payments} {
		if err := scale(ctx, a.eks, nodegroup, 1, 1); err != nil {
			return err
		}
	}
	n.say("aws eks update-nodegroup-config … desiredSize=1, in both accounts: an instance is launched in each")
	for i, a := range []*account{&st.shop, &st.payments} {
		other := []string{paymentsName, shopName}[i]
		var m fakeslack.Message
		if err := n.wait(ctx, "waiting for the join check of "+a.name, func() (bool, error) {
			var said bool
			m, said = st.messageFor(a.name, "cannot join", a.table, a.subnet)
			return said, st.most(2)
		}); err != nil {
			return err
		}
		if all := everything(m) + thread(m); strings.Contains(all, other) {
			return fmt.Errorf("the message of %s names %s:\n%s", a.name, other, all)
		}
		n.say("Slack:")
		n.message(m)
	}
	n.say("two messages about the same ids; each first line says whose they are")
	return n.picture(ctx, "organization", "", 1200, 1060)
}

// mended adds the route in the other account, as its people do: its message closes, and the
// one of the hub's own account stays as it is.
func (st *organizationStory) mended(ctx context.Context, n *narrator) error {
	if err := st.payments.addRoute(ctx, n); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the proof in "+paymentsName, func() (bool, error) {
		_, said := st.messageFor(paymentsName, "fixed after")
		return said, st.most(2)
	}); err != nil {
		return err
	}
	if _, open := st.messageFor(shopName, "cannot join"); !open {
		return fmt.Errorf("the message of %s is closed with the other", shopName)
	}
	n.say("payments is resolved; shop, with the same route table id, is not: nothing changed there")
	return nil
}

// addRoute makes the route by hand, and ends the instance that does not try again.
func (a *account) addRoute(ctx context.Context, n *narrator) error {
	if _, err := a.ec2.CreateRoute(ctx, &ec2.CreateRouteInput{RouteTableId: &a.table, DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(newNAT)}); err != nil {
		return err
	}
	n.say("account %s: aws ec2 create-route --route-table-id %s --destination-cidr-block 0.0.0.0/0 --nat-gateway-id %s", a.name, a.table, newNAT)
	out, err := a.groups.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{a.group}})
	if err != nil {
		return err
	}
	for _, g := range out.AutoScalingGroups {
		for _, i := range g.Instances {
			if _, err := a.groups.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
				InstanceId: i.InstanceId, ShouldDecrementDesiredCapacity: aws.Bool(false),
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// lost is what the people of payments do by mistake: they delete the stack by which they
// are watched. It is said once, with what to do, and the hub's own account goes on.
func (st *organizationStory) lost(ctx context.Context, n *narrator) error {
	st.stage.LoseSpoke(paymentsSpoke)
	n.say("account %s: aws cloudformation delete-stack --stack-name rollcall-spoke", paymentsName)
	if err := n.wait(ctx, "waiting for the message that payments cannot be read", func() (bool, error) {
		m, said := st.messageFor(paymentsName, "role there is denied")
		return said && strings.Contains(everything(m), "make deploy-spoke"), st.most(3)
	}); err != nil {
		return err
	}
	m, _ := st.messageFor(paymentsName, "role there is denied")
	n.say("Slack: %s", firstLine(everything(m)))
	if err := n.picture(ctx, "organization-role", "", 1200, 1180); err != nil {
		return err
	}
	if err := st.shop.addRoute(ctx, n); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the proof in "+shopName, func() (bool, error) {
		_, said := st.messageFor(shopName, "fixed after")
		return said, st.most(3)
	}); err != nil {
		return err
	}
	n.say("shop is still watched, and resolved, while payments cannot be read")
	// Two more ticks in which nothing of payments can be read.
	if err := n.pass(ctx, 11*time.Minute); err != nil {
		return err
	}
	if err := st.most(3); err != nil {
		return err
	}
	n.say("ten minutes later: still one message, and nothing in payments is reported healthy")
	return nil
}

// returns deploys the stack again: what was said is taken back. The clusters there do not know
// the new role, whose access entry is still that of the old one, until it is made again.
func (st *organizationStory) returns(ctx context.Context, n *narrator) error {
	if err := st.stage.Redeploy(paymentsSpoke, nil); err != nil {
		return err
	}
	n.say("account %s: make deploy-spoke HUB=111122223333/us-west-2 EXTERNAL_ID=…", paymentsName)
	if err := n.wait(ctx, "waiting for that message to be resolved", func() (bool, error) {
		m, said := st.messageFor(paymentsName, "all clusters")
		return said && strings.Contains(everything(m), "✅"), st.most(3)
	}); err != nil {
		return err
	}
	m, _ := st.messageFor(paymentsName, "all clusters")
	n.say("the same message, resolved: %s", firstLine(everything(m)))
	if err := st.admitted(ctx, n); err != nil {
		return err
	}
	for _, m := range shown(st.stage) {
		if !strings.Contains(everything(m), "✅") {
			return fmt.Errorf("a message is not resolved: %s", firstLine(everything(m)))
		}
	}
	reads := []string{"Describe", "Get", "List", "list", "get", "Lookup"}
	for _, c := range st.stage.SpokeCalls(paymentsSpoke) {
		if strings.HasPrefix(c.Caller, "rollcall-") && c.Action() != "lambda:InvokeFunction" && !slices.ContainsFunc(reads, func(verb string) bool { return strings.HasPrefix(c.Operation, verb) }) {
			return fmt.Errorf("%s called %s in payments, which opted in to nothing", c.Caller, c.Action())
		}
	}
	lists, err := st.relayed(ctx, n)
	if err != nil {
		return err
	}
	n.say("four messages, each resolved; Rollcall changed nothing in payments, and read %d lists from its private cluster, each through the relay", lists)
	return n.picture(ctx, "organization-after", "", 1200, 1130)
}

// admitted makes the access entry again, as the message says: EKS keeps the id of the role
// with it, and that is another one.
func (st *organizationStory) admitted(ctx context.Context, n *narrator) error {
	var m fakeslack.Message
	if err := n.wait(ctx, "waiting for the message that the cluster of payments rejects the new role", func() (bool, error) {
		var said bool
		m, said = st.messageFor(paymentsName, "rejects Rollcall's credentials", "older than a redeployed reader stack")
		return said, st.most(4)
	}); err != nil {
		return err
	}
	n.say("Slack: %s", firstLine(everything(m)))
	role := config.SpokeRoleARN("rollcall", spec.SpokeReader, paymentsSpoke)
	if _, err := st.payments.eks.DeleteAccessEntry(ctx, &eks.DeleteAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: &role}); err != nil {
		return err
	}
	if _, err := st.payments.eks.CreateAccessEntry(ctx, &eks.CreateAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: &role, KubernetesGroups: []string{"rollcall"}}); err != nil {
		return err
	}
	n.say("account %s: aws eks delete-access-entry … && aws eks create-access-entry … --kubernetes-groups rollcall", paymentsName)
	return n.wait(ctx, "waiting until the cluster is read again", func() (bool, error) {
		m, said := st.messageFor(paymentsName, "rejects Rollcall's credentials")
		return said && strings.Contains(everything(m), "✅"), st.most(4)
	})
}

// messageFor is the channel's message of an account that says all of it; that it is of the account
// its first line says.
func (st *organizationStory) messageFor(name string, parts ...string) (fakeslack.Message, bool) {
	for _, m := range shown(st.stage) {
		text := everything(m)
		if strings.Contains(firstLine(text), "("+name+")") && !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) }) {
			return m, true
		}
	}
	return fakeslack.Message{}, false
}

// most holds that there are no more messages.
func (st *organizationStory) most(want int) error {
	if n := len(shown(st.stage)); n > want {
		return fmt.Errorf("there are %d messages in the channel, want at most %d", n, want)
	}
	return nil
}

// channel is what the channel says, a line for each message.
func (st *organizationStory) channel() string {
	var lines []string
	for _, m := range shown(st.stage) {
		lines = append(lines, firstLine(everything(m)))
	}
	return strings.Join(lines, "\n")
}

// kubeObject is what the stories look at of an object.
type kubeObject struct {
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string
	}
	Spec struct {
		NodeName, ProviderID string
		NodeClassRef         struct{ Name string }
	}
	Status struct {
		Phase      string
		Conditions []struct{ Type, Status, Reason, Message string }
	}
	InvolvedObject struct{ Name string }
	Type           string
}

// conditionLine is a condition with its reason.
func (o kubeObject) conditionLine(kind string) string {
	for _, c := range o.Status.Conditions {
		if c.Type == kind {
			return c.Status + " " + c.Reason
		}
	}
	return ""
}

// objects are those of the stories' cluster, of one kind.
func objects(s *stage.Stage, plural string) ([]kubeObject, error) {
	list, err := s.World.Kubernetes(cluster, plural)
	if err != nil {
		return nil, err
	}
	var out []kubeObject
	for _, item := range list.Items {
		var o kubeObject
		if err := json.Unmarshal(item, &o); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// readyNodes are the Ready nodes of nodegroups; none if they cannot be read.
func readyNodes(s *stage.Stage, groups ...string) []kubeObject {
	nodes, _ := objects(s, "nodes")
	return slices.DeleteFunc(nodes, func(o kubeObject) bool {
		group := o.Metadata.Labels["eks.amazonaws.com/nodegroup"]
		return !slices.Contains(groups, group) || !strings.HasPrefix(o.conditionLine("Ready"), "True ")
	})
}

// scale sets the desired size of a nodegroup.
func scale(ctx context.Context, api *eks.Client, group string, most, desired int32) error {
	_, err := api.UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String(cluster), NodegroupName: &group,
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: &most, DesiredSize: &desired},
	})
	if err != nil {
		return fmt.Errorf("scale %s to %d: %w", group, desired, err)
	}
	return nil
}

// freeAddresses is how many addresses a subnet has left.
func freeAddresses(ctx context.Context, api *ec2.Client, subnet string) (int, error) {
	out, err := api.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{subnet}})
	if err != nil {
		return 0, err
	}
	return int(aws.ToInt32(out.Subnets[0].AvailableIpAddressCount)), nil
}
