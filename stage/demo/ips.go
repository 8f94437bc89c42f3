package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/shared/config"
	"rollcall/stage"
	"rollcall/stage/fakeslack"
	"rollcall/stage/peerscript"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
)

// The ips story's numbers: a node takes 20 addresses of a /25 without the five
// that AWS keeps, and leaves an interface with ten of them behind.
const (
	ipsGroup    = "batch"
	ipsSubnet   = "subnet-0e5000000000025aa"
	ipsTotal    = 123
	ipsPerNode  = 20
	ipsLeft     = 10
	ipsRounds   = 3
	ipsNodes    = 3
	ipsShortage = 6
	ipsPods     = 3 // of a workload, on each node
	// ipsPause is between the scalings.
	ipsPause = 10 * time.Minute
)

// leaked is how many interfaces the rounds leave.
func leaked() int { return ipsRounds * ipsNodes }

// ipsStory is the ips story's cast.
type ipsStory struct {
	stage *stage.Stage
	ec2   *ec2.Client
	eks   *eks.Client
}

// ips plays the ips story: rounds that leave interfaces behind, the subnet at
// 0, what Rollcall says, what the script would have done, and the cure.
func ips(ctx context.Context, s *stage.Stage, n *narrator) error {
	cfg := s.AsAdmin()
	st := &ipsStory{stage: s, ec2: ec2.NewFromConfig(cfg), eks: eks.NewFromConfig(cfg)}
	for _, name := range []string{"subnet-watch", "eni-cleanup", "remediate", "slack-actions"} {
		if _, ok := s.Function(name); !ok {
			return fmt.Errorf("the template has no function %s", name)
		}
	}
	if err := st.setting(ctx, n); err != nil {
		return err
	}
	for i := range ipsRounds {
		if err := st.round(ctx, n, i+1); err != nil {
			return err
		}
	}
	if err := st.shortage(ctx, n); err != nil {
		return err
	}
	if err := st.explained(ctx, n); err != nil {
		return err
	}
	if err := st.beside(ctx, n); err != nil {
		return err
	}
	if err := st.approved(ctx, n); err != nil {
		return err
	}
	return st.cured(ctx, n)
}

// ipsSettings let a person approve that what is left behind is deleted; by itself
// eni-cleanup only reports.
func ipsSettings() map[string]string {
	return map[string]string{
		string(config.SlackActions): "on", string(config.Approvers): onCall,
		string(config.Remedies): cluster + "/delete-leaked-interfaces=approve",
	}
}

// approved waits until exactly the interfaces that are left behind are offered to be
// deleted, sees that nothing is deleted before, that not everybody may say yes, and has
// the one say it who may.
func (st *ipsStory) approved(ctx context.Context, n *narrator) error {
	left := st.left()
	var offer fakeslack.Message
	if err := n.wait(ctx, "waiting for the offer to delete them", func() (bool, error) {
		for _, m := range shown(st.stage) {
			if offers(m) && exactly(everything(m), left) {
				offer = m
				return true, nil
			}
		}
		return false, nil
	}); err != nil {
		return fmt.Errorf("%w; the channel says:\n%s", err, channel(st.stage))
	}
	if len(st.left()) != leaked() {
		return fmt.Errorf("%d interfaces are left before anybody approved, want all %d", len(st.left()), leaked())
	}
	n.say("Rollcall offers to delete exactly the %d interfaces; eni-cleanup alone only reports", len(left))
	if err := n.picture(ctx, "ips-offer", "", 1200, 880); err != nil {
		return err
	}
	if err := refusedTo(ctx, n, st.stage, offer, dev); err != nil {
		return err
	}
	return n.approved(ctx, offer)
}

// exactly reports whether a text names these interfaces and no others.
func exactly(text string, list []types.NetworkInterface) bool {
	named := regexp.MustCompile(`eni-[0-9a-f]{17}`).FindAllString(text, -1)
	slices.Sort(named)
	named = slices.Compact(named)
	var want []string
	for _, eni := range list {
		want = append(want, aws.ToString(eni.NetworkInterfaceId))
	}
	slices.Sort(want)
	return slices.Equal(named, want)
}

// setting looks at the world before anything happens.
func (st *ipsStory) setting(ctx context.Context, n *narrator) error {
	free, err := freeAddresses(ctx, st.ec2, ipsSubnet)
	if err != nil {
		return err
	}
	if free != ipsTotal {
		return fmt.Errorf("%s has %d free addresses at the start, want %d", ipsSubnet, free, ipsTotal)
	}
	n.say("%s, %s in %s: %d addresses, %d for a node; eni-cleanup only reports", cluster, ipsGroup, ipsSubnet, free, ipsPerNode)
	return nil
}

// round scales up and down once.
func (st *ipsStory) round(ctx context.Context, n *narrator, which int) error {
	before, err := freeAddresses(ctx, st.ec2, ipsSubnet)
	if err != nil {
		return err
	}
	if err := scale(ctx, st.eks, ipsGroup, ipsShortage, ipsNodes); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the nodes and their pods", func() (bool, error) {
		return len(readyNodes(st.stage, ipsGroup)) == ipsNodes && st.pods()["Running"] == ipsNodes*ipsPods, nil
	}); err != nil {
		return err
	}
	if err := n.pass(ctx, ipsPause); err != nil {
		return err
	}
	if err := scale(ctx, st.eks, ipsGroup, ipsShortage, 0); err != nil {
		return err
	}
	want := before - ipsNodes*ipsLeft
	if err := n.wait(ctx, "waiting for the nodes to go", func() (bool, error) {
		free, err := freeAddresses(ctx, st.ec2, ipsSubnet)
		return free == want, err
	}); err != nil {
		return err
	}
	n.say("round %d: %d nodes came and went; %d interfaces stay available, with %d addresses: %d free of %d", which, ipsNodes,
		len(st.left()), len(st.left())*ipsLeft, want, ipsTotal)
	return n.pass(ctx, ipsPause)
}

// shortage scales up once more: nodes are Ready, and their pods wait.
func (st *ipsStory) shortage(ctx context.Context, n *narrator) error {
	if err := scale(ctx, st.eks, ipsGroup, ipsShortage, ipsShortage); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the subnet to be empty and pods to wait", func() (bool, error) {
		free, err := freeAddresses(ctx, st.ec2, ipsSubnet)
		return free == 0 && len(readyNodes(st.stage, ipsGroup)) == ipsShortage && st.pods()["Pending"] > 0, err
	}); err != nil {
		return err
	}
	if got := len(st.left()); got != leaked() {
		return fmt.Errorf("%d interfaces are left behind, want %d", got, leaked())
	}
	n.say("%d nodes Ready, 0 addresses free: %d pods run, %d wait: failed to assign an IP address to container",
		len(readyNodes(st.stage, ipsGroup)), st.pods()["Running"], st.pods()["Pending"])
	return nil
}

// worldEC2 is a world's EC2 as the SDK's client has it.
type worldEC2 struct{ api world.API }

func (e worldEC2) DescribeNetworkInterfaces(_ context.Context, in *ec2.DescribeNetworkInterfacesInput, _ ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	return e.api.DescribeNetworkInterfaces(in)
}

func (e worldEC2) DeleteNetworkInterface(_ context.Context, in *ec2.DeleteNetworkInterfaceInput, _ ...func(*ec2.Options)) (*ec2.DeleteNetworkInterfaceOutput, error) {
	return e.api.DeleteNetworkInterface(in)
}

// copied is the ips story's world, played without Rollcall to the moment at
// which the subnet is full and a further node starts elsewhere.
func copied(path string) (*world.World, error) {
	file, err := worldfile.Load(path)
	if err != nil {
		return nil, err
	}
	w, err := world.New(file, world.Options{Seed: 1})
	if err != nil {
		return nil, err
	}
	scale := func(nodegroup string, n int) error {
		in, err := json.Marshal(map[string]any{"clusterName": cluster, "nodegroupName": nodegroup, "scalingConfig": map[string]int{"desiredSize": n}})
		if err == nil {
			_, err = w.Call("eks:UpdateNodegroupConfig", in)
		}
		return err
	}
	for range ipsRounds {
		for _, n := range []int{ipsNodes, 0} {
			if err := scale(ipsGroup, n); err != nil {
				return nil, err
			}
			w.Advance(w.Now().Add(ipsPause))
		}
	}
	if err := scale(ipsGroup, ipsShortage); err != nil {
		return nil, err
	}
	w.Advance(w.Now().Add(ipsPause))
	if err := scale("web", 1); err != nil {
		return nil, err
	}
	for range 600 {
		w.Advance(w.Now().Add(time.Second))
		for _, eni := range available(w) {
			if starting(w, eni) {
				return w, nil
			}
		}
	}
	return nil, fmt.Errorf("no interface is being attached in %s", file.Name)
}

func available(w *world.World) []types.NetworkInterface {
	out, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{Filters: []types.Filter{
		{Name: aws.String("status"), Values: []string{"available"}}, {Name: aws.String("description"), Values: []string{"aws-K8S-*"}},
	}})
	if err != nil {
		return nil
	}
	return out.NetworkInterfaces
}

// ownerOf is how EC2 says that an interface's node is; empty for one that it
// does not know.
func ownerOf(w *world.World, eni types.NetworkInterface) types.InstanceStateName {
	id := tagOf(eni, "node.k8s.amazonaws.com/instance_id")
	out, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil || len(out.Reservations) == 0 {
		return ""
	}
	return out.Reservations[0].Instances[0].State.Name
}

func starting(w *world.World, eni types.NetworkInterface) bool {
	return tagOf(eni, "cluster.k8s.amazonaws.com/name") == cluster && ownerOf(w, eni) == types.InstanceStateNameRunning
}

func tagOf(eni types.NetworkInterface, key string) string {
	for _, t := range eni.TagSet {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}

// toll is what the script deletes in the copy, by what it was.
type toll struct {
	what  string
	wrong bool
	count int
}

// tollOf plays the script on the copy.
func tollOf(ctx context.Context, w *world.World) ([]toll, error) {
	list := []toll{
		{what: "left behind by a node that is gone"},
		{what: "being attached to a node that starts", wrong: true},
		{what: "another cluster's, whose node runs", wrong: true},
		{what: "not the VPC CNI's, but described like its", wrong: true},
		{what: "of a node that is only stopped", wrong: true},
	}
	kinds := map[string]int{} // by interface: after the delete nothing tells
	for _, eni := range available(w) {
		kinds[aws.ToString(eni.NetworkInterfaceId)] = kindOf(w, eni)
	}
	r, err := peerscript.Run(ctx, worldEC2{w.API()})
	if err != nil {
		return nil, err
	}
	for _, eni := range r.Deleted {
		list[kinds[aws.ToString(eni.NetworkInterfaceId)]].count++
	}
	return list, nil
}

// kindOf is the place of an interface in the toll.
func kindOf(w *world.World, eni types.NetworkInterface) int {
	switch {
	case tagOf(eni, "node.k8s.amazonaws.com/instance_id") == "":
		return 3
	case tagOf(eni, "cluster.k8s.amazonaws.com/name") != cluster:
		return 2
	case ownerOf(w, eni) == types.InstanceStateNameStopped:
		return 4
	case starting(w, eni):
		return 1
	}
	return 0
}

// explained waits for the one message that names the leak, its addresses and
// its terminated nodes, with the shortage and the pods that wait.
func (st *ipsStory) explained(ctx context.Context, n *narrator) error {
	owners := st.owners()
	if err := n.wait(ctx, "waiting for the message that names the leak and the shortage", func() (bool, error) {
		text := st.newestWith(ipsSubnet, fmt.Sprintf("%d addresses", leaked()*ipsLeft), fmt.Sprintf("%d terminated nodes", len(owners)), "0 are free", "few are left", "to 0 of",
			fmt.Sprintf("%d pods are waiting: ", st.pods()["Pending"]))
		return text != "", nil
	}); err != nil {
		return fmt.Errorf("%w; the channel says:\n%s", err, channel(st.stage))
	}
	n.say("Slack:")
	n.message(shown(st.stage)[0])
	if err := n.picture(ctx, "ips-incident", "&message="+shown(st.stage)[0].TS, 1200, 1010); err != nil {
		return err
	}
	if err := n.picture(ctx, "ips-narrow", "&message="+shown(st.stage)[0].TS, 390, 1440); err != nil {
		return err
	}
	if !slices.ContainsFunc(owners, func(id string) bool { return strings.Contains(st.thread(), id) }) {
		return fmt.Errorf("no message names one of the terminated nodes %v:\n%s", owners, channel(st.stage))
	}
	// The shortage is in the leak's message, not one of its own.
	alone := 0
	for _, m := range shown(st.stage) {
		if strings.Contains(firstLine(everything(m)), ipsSubnet) {
			alone++
		}
	}
	if alone != 1 {
		return fmt.Errorf("%d messages are about %s, want one:\n%s", alone, ipsSubnet, channel(st.stage))
	}
	return nil
}

// beside plays the story's own script on a copy of the world.
func (st *ipsStory) beside(ctx context.Context, n *narrator) error {
	w, err := copied(worldFile(n.root, "ips"))
	if err != nil {
		return err
	}
	list, err := tollOf(ctx, w)
	if err != nil {
		return err
	}
	wrong := 0
	table := tabwriter.NewWriter(n.out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "\n    the script, on a copy of this world\tdeleted\twrongly\n")
	for _, t := range list {
		bad := 0
		if t.wrong {
			bad = t.count
		}
		wrong += bad
		fmt.Fprintf(table, "    %s\t%d\t%d\n", t.what, t.count, bad)
	}
	fmt.Fprintln(table)
	if err := table.Flush(); err != nil {
		return err
	}
	if wrong != len(list)-1 || list[0].count != leaked() {
		return fmt.Errorf("the script deleted %d of %d that are left behind, and %d wrongly, want %d", list[0].count, leaked(), wrong, len(list)-1)
	}
	n.say("the story's own script, on a copy of this world: %d interfaces of terminated nodes deleted, and %d still in use", list[0].count, wrong)
	return nil
}

// cured waits until the addresses are back and reach the pods, and the message
// closes itself. What only looks left behind is still there.
func (st *ipsStory) cured(ctx context.Context, n *narrator) error {
	if err := n.wait(ctx, "waiting for the interfaces to be deleted", func() (bool, error) { return len(st.left()) == 0, nil }); err != nil {
		return fmt.Errorf("%w; %d are left; the channel says:\n%s", err, len(st.left()), channel(st.stage))
	}
	n.say("eni-cleanup freed %d addresses of %d interfaces", leaked()*ipsLeft, leaked())
	if err := n.wait(ctx, "waiting for the pods", func() (bool, error) {
		return st.pods()["Running"] == ipsShortage*ipsPods, nil
	}); err != nil {
		return err
	}
	n.say("all %d pods run", ipsShortage*ipsPods)
	for _, id := range []string{"eni-0f100000000000001", "eni-0f200000000000002", "eni-0f300000000000003"} {
		if !slices.ContainsFunc(available(st.stage.World), func(eni types.NetworkInterface) bool { return aws.ToString(eni.NetworkInterfaceId) == id }) {
			return fmt.Errorf("%s is gone, and is nobody's to delete", id)
		}
	}
	freed := fmt.Sprintf("%d addresses back", leaked()*ipsLeft)
	if err := n.wait(ctx, "waiting for the message to be resolved", func() (bool, error) {
		// Whoever saw first that they are gone closes it; subnet-watch then says
		// what came back, and draws it.
		text := st.newestWith(ipsSubnet, "✅", fmt.Sprintf("%d addresses, %d interfaces of %d terminated nodes", leaked()*ipsLeft, leaked(), leaked()), fmt.Sprintf(": +%d.", leaked()*ipsLeft))
		return text != "" && st.replyWith(freed) != "", nil
	}); err != nil {
		return fmt.Errorf("%w; the channel says:\n%s", err, channel(st.stage))
	}
	n.say("Slack: %s", firstLine(st.newestWith(ipsSubnet, "✅")))
	n.say("In its thread: %s", firstLine(st.replyWith(freed)))
	if err := n.picture(ctx, "ips-thread", "&thread="+shown(st.stage)[0].TS, 640, 1320); err != nil {
		return err
	}
	return n.picture(ctx, "ips-resolved", "&message="+shown(st.stage)[0].TS, 1200, 760)
}

// left are the interfaces that batch's nodes left behind.
func (st *ipsStory) left() []types.NetworkInterface {
	return slices.DeleteFunc(available(st.stage.World), func(eni types.NetworkInterface) bool {
		return aws.ToString(eni.SubnetId) != ipsSubnet || starting(st.stage.World, eni)
	})
}

// owners are the dead nodes.
func (st *ipsStory) owners() []string {
	var ids []string
	for _, eni := range st.left() {
		ids = append(ids, tagOf(eni, "node.k8s.amazonaws.com/instance_id"))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// pods counts the workload's pods by phase.
func (st *ipsStory) pods() map[string]int {
	count := map[string]int{}
	pods, _ := objects(st.stage, "pods")
	for _, p := range pods {
		if p.Metadata.Labels["app"] == "worker" {
			count[p.Status.Phase]++
		}
	}
	return count
}

// newestWith is the newest message that has all of some words, empty without one.
func (st *ipsStory) newestWith(words ...string) string {
	return (&spotStory{stage: st.stage}).newestMessage(func(text string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
}

// replyWith is the newest reply in a thread that has the words; empty for none.
func (st *ipsStory) replyWith(words string) (text string) {
	for _, m := range shown(st.stage) {
		for _, r := range m.Replies {
			if reply := everything(r); strings.Contains(reply, words) {
				text = reply
			}
		}
	}
	return text
}

// thread is all that stands in the channel and in the threads.
func (st *ipsStory) thread() string {
	text := channel(st.stage)
	for _, m := range shown(st.stage) {
		for _, r := range m.Replies {
			text += "\n" + everything(r)
		}
	}
	return text
}
