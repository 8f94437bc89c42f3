package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rollcall/local/stage"
)

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
	n.say("another cause: EC2 warns that it takes %s back, before the node is Ready", id)
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
		says: []string{`did not join, .*taken back by EC2`, `Spot took them back\. EC2 took back \d+ of the \d+ before they joined, .*c5\.4xlarge in us-west-2b`},
		// The subnet is a /19: it has thousands.
		ruledOut: []string{`The subnet was too small for the burst: the largest asked [\d,]+ of 8,\d{3} addresses`},
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
	if err := n.wait(ctx, "waiting for the roll call that the third zone's nodes miss", func() (bool, error) { return st.says(names) != "", nil }); err != nil {
		return err
	}
	// The message stands when the first has missed it: the others' roll calls,
	// of launches within the same minute, may come a minute or two later.
	if err := n.pass(ctx, 3*time.Minute); err != nil {
		return err
	}
	ready := st.ready(spotGroups())
	if ready == 0 || ready == launches() {
		return fmt.Errorf("%d of %d nodes are Ready, want those of two zones", ready, launches())
	}
	if err := st.others(func(text string) bool {
		return strings.Contains(text, "no free address") || strings.Contains(text, "SpotInstanceTermination")
	}); err != nil {
		return err
	}
	n.say("another cause: %d of %d are Ready, those of two zones. Slack: %s", ready, launches(), firstLine(st.says(names)))
	out := launches() - ready
	return st.report(ctx, n, "", proof{
		says: []string{fmt.Sprintf("%d of %d launches did not join, all of them in us-west-2c", out, launches()), badSubnet, `no route to the internet \(route/no-egress\)`},
		ruledOut: []string{
			fmt.Sprintf("Spot took them back: EC2 took back none of the %d", out),
			`The subnet was too small for the burst: the largest asked [\d,]+ of [\d,]+ addresses`,
		},
	})
}
