package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/local/stage"
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
			fmt.Sprintf("Spot took them back: EC2 took back none of the %d", failed),
			fmt.Sprintf("EC2 had no capacity: it refused none of the %d", failed),
			fmt.Sprintf("One pool does not work: none of the %d", failed),
		},
	})
}

// setting looks at the world before anything happens.
func (st *spotStory) setting(ctx context.Context, n *narrator) error {
	ng, err := st.eks.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String("spot-a")})
	if err != nil {
		return err
	}
	free, err := st.free(ctx)
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
		free, err := st.free(ctx)
		return free == 0, err
	}); err != nil {
		return err
	}
	// Each launch has five minutes until its roll call.
	if err := n.pass(ctx, rollCall-st.stage.Clock.Now().Sub(began)); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the message about the nodes that missed the roll call", func() (bool, error) {
		return st.missing(batchSubnet), nil
	}); err != nil {
		return err
	}
	ready := st.ready(spotGroups())
	if ready == 0 || ready == launches() {
		return fmt.Errorf("%d of %d nodes are Ready in the burst, want some of them", ready, launches())
	}
	st.came += ready
	n.say("%d of %d nodes are Ready, %s has none free: %d nodes x %d addresses want %d of %d", ready, launches(), batchSubnet, launches(), each, launches()*each, batchTotal)
	if which == 1 {
		n.say("Slack: %s", st.saying(batchSubnet))
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
	if err := n.wait(ctx, "waiting for the nodes: "+what, func() (bool, error) { return st.ready(groups) == all, nil }); err != nil {
		return err
	}
	free, err := st.free(ctx)
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
		return fmt.Errorf("%s: there is a complaint: %s", what, st.saying("cannot join"))
	}
	n.say("%s: %d of %d are Ready; %d x %d = %d of %d addresses, and no complaint", what, all, all, all, takes, all*takes, batchTotal)
	return st.down(ctx, n, groups)
}

// down takes groups back to nothing and waits until the subnet is whole.
func (st *spotStory) down(ctx context.Context, n *narrator, groups []string) error {
	if err := st.scale(ctx, 0, groups); err != nil {
		return err
	}
	return n.wait(ctx, "waiting for the addresses to come back", func() (bool, error) {
		free, err := st.free(ctx)
		return free == batchTotal, err
	})
}
