package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// explained waits for the one message that names the leak, its addresses and
// its dead nodes, with the shortage that comes of it.
func (st *ipsStory) explained(ctx context.Context, n *narrator) error {
	owners := st.owners()
	var text string
	if err := n.wait(ctx, "waiting for the message that names the leak and the shortage", func() (bool, error) {
		text = st.says(ipsSubnet, fmt.Sprintf("%d addresses", leaked()*ipsLeft), fmt.Sprintf("%d dead nodes", len(owners)), "0 are free", "too few are left", "to 0 of")
		return text != "", nil
	}); err != nil {
		return fmt.Errorf("%w; the channel says:\n%s", err, st.channel())
	}
	n.say("Slack: %s", firstLine(text))
	if err := n.picture(ctx, "ips-incident", "&message="+shown(st.stage)[0].TS, 1200, 1010); err != nil {
		return err
	}
	if err := n.picture(ctx, "ips-narrow", "&message="+shown(st.stage)[0].TS, 390, 1440); err != nil {
		return err
	}
	if !slices.ContainsFunc(owners, func(id string) bool { return strings.Contains(st.thread(), id) }) {
		return fmt.Errorf("no message names one of the dead nodes %v:\n%s", owners, st.channel())
	}
	// The shortage is in the leak's message, not one of its own.
	alone := 0
	for _, m := range shown(st.stage) {
		if strings.Contains(firstLine(everything(m)), ipsSubnet) {
			alone++
		}
	}
	if alone != 1 {
		return fmt.Errorf("%d messages are about %s, want one:\n%s", alone, ipsSubnet, st.channel())
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
	n.say("the story's own script, on a copy of this world: %d interfaces of dead nodes deleted, and %d that live", list[0].count, wrong)
	return nil
}

// cured waits until the addresses are back and reach the pods, and the message
// closes itself. What only looks left behind is still there.
func (st *ipsStory) cured(ctx context.Context, n *narrator) error {
	if err := n.wait(ctx, "waiting for the interfaces to be deleted", func() (bool, error) { return len(st.left()) == 0, nil }); err != nil {
		return fmt.Errorf("%w; %d are left; the channel says:\n%s", err, len(st.left()), st.channel())
	}
	n.say("eni-cleanup gave %d addresses of %d interfaces back", leaked()*ipsLeft, leaked())
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
	if err := n.wait(ctx, "waiting for the message to be resolved", func() (bool, error) {
		// Whoever saw first that they are gone closes it; subnet-watch then says
		// what came back, and draws it.
		text := st.says(ipsSubnet, "✅", fmt.Sprintf("%d addresses, %d interfaces of %d dead nodes", leaked()*ipsLeft, leaked(), leaked()), fmt.Sprintf(": +%d.", leaked()*ipsLeft))
		return text != "" && st.says(fmt.Sprintf("%d addresses back", leaked()*ipsLeft)) != "", nil
	}); err != nil {
		return fmt.Errorf("%w; the channel says:\n%s", err, st.channel())
	}
	n.say("Slack: %s", firstLine(st.says(ipsSubnet, "✅")))
	n.say("Slack: %s", firstLine(st.says(fmt.Sprintf("%d addresses back", leaked()*ipsLeft))))
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

func (st *ipsStory) ready() int {
	return (&spotStory{stage: st.stage}).ready([]string{ipsGroup})
}

// pods counts the workload's pods by phase.
func (st *ipsStory) pods() map[string]int {
	count := map[string]int{}
	o, err := st.stage.World.Kubernetes(cluster, "pods")
	if err != nil {
		return count
	}
	for _, item := range o.Items {
		var p struct {
			Metadata struct{ Labels map[string]string }
			Status   struct{ Phase string }
		}
		if json.Unmarshal(item, &p) == nil && p.Metadata.Labels["app"] == "worker" {
			count[p.Status.Phase]++
		}
	}
	return count
}

// says is the newest message that has all of some words, empty without one.
func (st *ipsStory) says(words ...string) string {
	return (&spotStory{stage: st.stage}).says(func(text string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
}

// channel is all that stands in the channel.
func (st *ipsStory) channel() string {
	var lines []string
	for _, m := range shown(st.stage) {
		lines = append(lines, everything(m))
	}
	return strings.Join(lines, "\n")
}

// thread is all that stands in the channel and in the threads.
func (st *ipsStory) thread() string {
	text := st.channel()
	for _, m := range shown(st.stage) {
		for _, r := range m.Replies {
			text += "\n" + everything(r)
		}
	}
	return text
}
