package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/stage"
	"rollcall/stage/fakeslack"
)

// The Spot story's numbers: four groups of three nodes, each of which takes
// two interfaces of 30 addresses, in a /24 without the five that AWS keeps.
const (
	batchSubnet = "subnet-0e50000000000024a"
	batchTotal  = 251
	each        = 60
	perGroup    = 3
	bursts      = 3
	betweenThem = 25 * time.Minute
	// rollCall is when all that began together has had its time to join.
	rollCall = 7 * time.Minute
)

func spotGroups() []string  { return []string{"spot-a", "spot-b", "spot-c", "spot-d"} }
func smallGroups() []string { return []string{"small-a", "small-b", "small-c", "small-d"} }

// launches is how many nodes a burst asks for.
func launches() int { return perGroup * len(spotGroups()) }

// spotStory is the Spot story's cast.
type spotStory struct {
	stage *stage.Stage
	ec2   *ec2.Client
	eks   *eks.Client
	// came is how many nodes came in the bursts.
	came int
}

func newSpotStory(s *stage.Stage) *spotStory {
	cfg := s.AsAdmin()
	return &spotStory{stage: s, ec2: ec2.NewFromConfig(cfg), eks: eks.NewFromConfig(cfg)}
}

// spot plays the Spot story: bursts, the control group, and one small type.
func spot(ctx context.Context, s *stage.Stage, n *narrator) error {
	st := newSpotStory(s)
	if err := st.setting(ctx, n); err != nil {
		return err
	}
	for i := range bursts {
		if err := st.burst(ctx, n, i+1); err != nil {
			return err
		}
		if err := n.pass(ctx, betweenThem); err != nil {
			return err
		}
	}
	if err := st.fits(ctx, n, "on demand, the same types, one group", []string{"on-demand"}, each); err != nil {
		return err
	}
	if err := st.fits(ctx, n, "Spot with one small type, four groups at once", smallGroups(), 12); err != nil {
		return err
	}
	failed := bursts*launches() - st.came
	return st.report(ctx, n, "spot-report", proof{
		says: []string{
			fmt.Sprintf(`%d of %d launches did not join, .*in \d+ bursts`, failed, (bursts+1)*launches()),
			fmt.Sprintf("%d nodes × 2 interfaces × %d addresses = %d; %s had %d", launches(), each/2, launches()*each, batchSubnet, batchTotal),
		},
		ruledOut: []string{
			fmt.Sprintf("Spot interruptions: none of the %d was interrupted", failed),
			fmt.Sprintf("No Spot capacity: none of the %d was refused for capacity", failed),
			fmt.Sprintf("Bad Spot pool: none of the %d", failed),
		},
	})
}

// setting looks at the world before anything happens.
func (st *spotStory) setting(ctx context.Context, n *narrator) error {
	ng, err := st.eks.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String("spot-a")})
	if err != nil {
		return err
	}
	free, err := freeAddresses(ctx, st.ec2, batchSubnet)
	if err != nil {
		return err
	}
	if free != batchTotal {
		return fmt.Errorf("%s has %d free addresses at the start, want %d", batchSubnet, free, batchTotal)
	}
	n.say("%s, %s: %s, %s, %d instance types each, in %s (%d free)", cluster, strings.Join(spotGroups(), " "), ng.Nodegroup.Status, ng.Nodegroup.CapacityType,
		len(ng.Nodegroup.InstanceTypes), batchSubnet, free)
	return nil
}

// burst starts the four groups at once. Some nodes come and some do not, and
// Rollcall names the subnet. Then all is taken down again.
func (st *spotStory) burst(ctx context.Context, n *narrator, which int) error {
	began := st.stage.Clock.Now()
	if err := st.scale(ctx, perGroup, spotGroups()); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the launches", func() (bool, error) { return st.launched(spotGroups()) == launches(), nil }); err != nil {
		return err
	}
	n.say("burst %d: aws eks update-nodegroup-config … desiredSize=%d, four times at once: %s", which, perGroup, st.types(spotGroups()))
	if err := n.wait(ctx, "waiting for the nodes to take their addresses", func() (bool, error) {
		free, err := freeAddresses(ctx, st.ec2, batchSubnet)
		return free == 0, err
	}); err != nil {
		return err
	}
	// Each launch has five minutes until its roll call.
	if err := n.pass(ctx, rollCall-st.stage.Clock.Now().Sub(began)); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the message about the nodes that failed the join check", func() (bool, error) {
		return st.missing(batchSubnet), nil
	}); err != nil {
		return err
	}
	ready := len(readyNodes(st.stage, spotGroups()...))
	if ready == 0 || ready == launches() {
		return fmt.Errorf("%d of %d nodes are Ready in the burst, want some of them", ready, launches())
	}
	st.came += ready
	n.say("%d of %d nodes are Ready, %s has none free: %d nodes x %d addresses need %d of %d", ready, launches(), batchSubnet, launches(), each, launches()*each, batchTotal)
	if which == 1 {
		n.say("Slack:")
		m, _ := messageWith(st.stage, batchSubnet, "cannot join")
		n.message(m)
		if err := n.picture(ctx, "spot-incident", "", 1200, 820); err != nil {
			return err
		}
	}
	return st.down(ctx, n, spotGroups())
}

// fits starts groups that the subnet has room for: all nodes come, and
// Rollcall has nothing new to say.
func (st *spotStory) fits(ctx context.Context, n *narrator, what string, groups []string, takes int) error {
	before := st.complaints()
	if err := st.scale(ctx, perGroup, groups); err != nil {
		return err
	}
	all := perGroup * len(groups)
	if err := n.wait(ctx, "waiting for the nodes: "+what, func() (bool, error) {
		return len(readyNodes(st.stage, groups...)) == all, nil
	}); err != nil {
		return err
	}
	free, err := freeAddresses(ctx, st.ec2, batchSubnet)
	if err != nil {
		return err
	}
	if want := batchTotal - all*takes; free != want {
		return fmt.Errorf("%s: %d addresses are free, want %d - %d x %d = %d", what, free, batchTotal, all, takes, want)
	}
	// The time that every launch has until its roll call, and some more.
	if err := n.pass(ctx, rollCall); err != nil {
		return err
	}
	if now := st.complaints(); now > before {
		return fmt.Errorf("%s: a message was posted:\n%s", what, channel(st.stage))
	}
	n.say("%s: %d of %d are Ready; %d x %d = %d of %d addresses, no message", what, all, all, all, takes, all*takes, batchTotal)
	return st.down(ctx, n, groups)
}

// down takes groups back to nothing and waits until the subnet is whole.
func (st *spotStory) down(ctx context.Context, n *narrator, groups []string) error {
	if err := st.scale(ctx, 0, groups); err != nil {
		return err
	}
	return n.wait(ctx, "waiting for the addresses to come back", func() (bool, error) {
		free, err := freeAddresses(ctx, st.ec2, batchSubnet)
		return free == batchTotal, err
	})
}

// reclaimed plays the world in which EC2 takes one pool back: Rollcall says
// that, with numbers, and blames neither subnet nor route.
func reclaimed(ctx context.Context, s *stage.Stage, n *narrator) error {
	st := newSpotStory(s)
	var id string
	if err := n.wait(ctx, "waiting for an interruption warning", func() (bool, error) {
		id = st.warned()
		return id != "", nil
	}); err != nil {
		return err
	}
	n.say("another cause: EC2 announces that it will reclaim %s, before the node is Ready", id)
	// Some launches more make a history.
	if err := n.pass(ctx, 2*rollCall); err != nil {
		return err
	}
	if err := st.others(func(text string) bool {
		return strings.Contains(text, "no free address") || strings.Contains(text, "cannot join: rtb-")
	}); err != nil {
		return err
	}
	return st.report(ctx, n, "", proof{
		says: []string{`did not join, .*reclaimed by EC2`, `Spot interruptions\. EC2 reclaimed \d+ of the \d+ before they joined, .*c5\.4xlarge in us-west-2b`},
		// The subnet is a /19: it has thousands.
		ruledOut: []string{`The subnet was too small for the burst: the largest needed [\d,]+ of 8,\d{3} addresses`},
	})
}

// unrouted plays the world in which one zone has no route to the internet: Rollcall names
// its route table, and neither Spot nor a lack of addresses.
func unrouted(ctx context.Context, s *stage.Stage, n *narrator) error {
	const badTable, badSubnet = "rtb-0cd20000000000003", "subnet-0e5000000000020cc"
	st := newSpotStory(s)
	names := func(text string) bool {
		return strings.Contains(text, badTable) && strings.Contains(text, badSubnet) && strings.Contains(text, "cannot join")
	}
	if err := n.wait(ctx, "waiting for the join check of the third zone's nodes", func() (bool, error) { return st.newestMessage(names) != "", nil }); err != nil {
		return err
	}
	// The message stands when the first has missed it: the others' roll calls,
	// of launches within the same minute, may come a minute or two later.
	if err := n.pass(ctx, 3*time.Minute); err != nil {
		return err
	}
	ready := len(readyNodes(st.stage, spotGroups()...))
	if ready == 0 || ready == launches() {
		return fmt.Errorf("%d of %d nodes are Ready, want those of two zones", ready, launches())
	}
	if err := st.others(func(text string) bool {
		return strings.Contains(text, "no free address") || strings.Contains(text, "SpotInstanceTermination")
	}); err != nil {
		return err
	}
	n.say("another cause: %d of %d are Ready, those of two zones. Slack: %s",
		ready, launches(), firstLine(st.newestMessage(names)))
	out := launches() - ready
	return st.report(ctx, n, "", proof{
		says: []string{fmt.Sprintf("%d of %d launches did not join, all of them in us-west-2c", out, launches()), badSubnet, `no route to the internet \(route/no-egress\)`},
		ruledOut: []string{
			fmt.Sprintf("Spot interruptions: none of the %d was interrupted", out),
			`The subnet was too small for the burst: the largest needed [\d,]+ of [\d,]+ addresses`,
		},
	})
}

// scale sets the desired size of nodegroups in the same moment.
func (st *spotStory) scale(ctx context.Context, desired int32, groups []string) error {
	for _, g := range groups {
		if err := scale(ctx, st.eks, g, 6, desired); err != nil {
			return err
		}
	}
	return nil
}

// instances are the live instances of nodegroups.
func (st *spotStory) instances(groups []string) []types.Instance {
	out, err := st.stage.World.EC2().DescribeInstances(&ec2.DescribeInstancesInput{Filters: []types.Filter{
		{Name: aws.String("tag:eks:nodegroup-name"), Values: groups},
		{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}},
	}})
	if err != nil {
		return nil
	}
	var list []types.Instance
	for _, r := range out.Reservations {
		list = append(list, r.Instances...)
	}
	return list
}

func (st *spotStory) launched(groups []string) int { return len(st.instances(groups)) }

// types tells what was launched: "2 m5.4xlarge, 1 c5.4xlarge".
func (st *spotStory) types(groups []string) string {
	count := map[string]int{}
	var names []string
	for _, in := range st.instances(groups) {
		name := string(in.InstanceType)
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", count[name], name)
	}
	return strings.Join(names, ", ")
}

// warned is an instance that EC2 said it takes back.
func (st *spotStory) warned() string {
	for _, p := range st.stage.Events() {
		var e struct {
			Type   string `json:"detail-type"`
			Detail struct {
				Instance string `json:"instance-id"`
			} `json:"detail"`
		}
		if json.Unmarshal(p.Event, &e) == nil && e.Type == "EC2 Spot Instance Interruption Warning" {
			return e.Detail.Instance
		}
	}
	return ""
}

// newestMessage is the newest message whose words fit, empty without one.
func (st *spotStory) newestMessage(fits func(text string) bool) string {
	for _, m := range slices.Backward(shown(st.stage)) {
		if text := everything(m); fits(text) {
			return text
		}
	}
	return ""
}

// others holds that no message names a cause that the world does not have.
func (st *spotStory) others(wrong func(text string) bool) error {
	if text := st.newestMessage(wrong); text != "" {
		return fmt.Errorf("a message names a cause that this world does not have:\n%s", text)
	}
	return nil
}

// missing reports whether a message names the subnet and nodes that do not join.
func (st *spotStory) missing(subnet string) bool {
	return st.newestMessage(func(text string) bool { return strings.Contains(text, subnet) && strings.Contains(text, "cannot join") }) != ""
}

// complaints counts the open messages about nodes that do not join.
func (st *spotStory) complaints() int {
	n := 0
	for _, m := range shown(st.stage) {
		if text := everything(m); strings.Contains(text, "cannot join") && !strings.Contains(firstLine(text), "✅") {
			n++
		}
	}
	return n
}

// reportFunction is the folder of the function that writes the Spot report.
const reportFunction = "spot-report"

// proof is what a Spot report must say, and what it must have ruled out, each
// with its numbers: regular expressions.
type proof struct {
	says     []string
	ruledOut []string
}

// report asks for the cluster's Spot report, as a person would with the AWS
// CLI, and holds what it says against the proof.
func (st *spotStory) report(ctx context.Context, n *narrator, picture string, want proof) error {
	f, ok := st.stage.Function(reportFunction)
	if !ok {
		return fmt.Errorf("the template has no function %s", reportFunction)
	}
	event := fmt.Sprintf(`{"source":"rollcall","detail-type":"Rollcall Spot Report Wanted","detail":{"cluster":%q,"hours":24}}`, cluster)
	res, err := st.stage.Runtime.Invoke(ctx, f.Name, []byte(event))
	if err != nil {
		return fmt.Errorf("ask for the Spot report: %w", err)
	}
	if res.FunctionError != "" {
		return fmt.Errorf("the Spot report failed: %s: %s", res.FunctionError, res.Payload)
	}
	n.say("requested: the Spot report of the last 24 hours")
	var m fakeslack.Message
	if err := n.wait(ctx, "waiting for the Spot report and its thread", func() (bool, error) {
		for _, m = range shown(st.stage) {
			if strings.Contains(m.Text, "Spot in the last 24 h") {
				return len(m.Replies) > 0 || strings.Contains(m.Text, "✅"), nil
			}
		}
		return false, nil
	}); err != nil {
		return err
	}
	if err := want.hold(m); err != nil {
		return err
	}
	n.say("Slack:")
	n.message(m)
	return st.pictures(ctx, n, picture, m)
}

// pictures are of the whole report, of its thread, and of what a phone shows; none
// of a report without a name for them.
func (st *spotStory) pictures(ctx context.Context, n *narrator, name string, m fakeslack.Message) error {
	if name == "" {
		return nil
	}
	for _, p := range []struct {
		name, query   string
		width, height int
	}{{name, "", 1200, 1000}, {name + "-thread", "&thread=" + m.TS, 640, 3250}, {name + "-narrow", "", 390, 1160}} {
		if err := n.picture(ctx, p.name, p.query, p.width, p.height); err != nil {
			return err
		}
	}
	return nil
}

// hold tells what a report does not say, or has not ruled out.
func (p proof) hold(m fakeslack.Message) error {
	text := plain(m)
	for _, w := range p.says {
		if !regexp.MustCompile(w).MatchString(text) {
			return fmt.Errorf("the Spot report does not say %q:\n%s", w, text)
		}
	}
	for _, w := range p.ruledOut {
		if !regexp.MustCompile(w).MatchString(ruledOut(text)) {
			return fmt.Errorf("the Spot report does not have %q among what is ruled out:\n%s", w, text)
		}
	}
	return nil
}

// ruledOut is the part of a report that says what needs no follow-up.
func ruledOut(text string) string {
	_, rest, _ := strings.Cut(text, "\nRuled out\n")
	for _, next := range []string{"\nChange\n", "\nWorst pools\n"} {
		rest, _, _ = strings.Cut(rest, next)
	}
	return rest
}

// plain is a message's blocks as people read them, a paragraph a line.
func plain(m fakeslack.Message) string {
	var blocks []block
	if json.Unmarshal(m.Blocks, &blocks) != nil {
		return m.Text
	}
	var b strings.Builder
	for _, e := range blocks {
		e.write(&b)
	}
	return b.String()
}

// block is a block of rich text or a part of one.
type block struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"`
	Elements []block         `json:"elements"`
}

func (e block) write(b *strings.Builder) {
	var text string
	if json.Unmarshal(e.Text, &text) == nil {
		b.WriteString(text)
	}
	for _, part := range e.Elements {
		part.write(b)
	}
	if e.Type == "rich_text_section" || e.Type == "rich_text_preformatted" {
		b.WriteString("\n")
	}
}
