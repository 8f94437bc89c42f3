package demo

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/fakeslack"
	"rollcall/local/stage"
	"rollcall/shared/config"
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
		return fmt.Errorf("%w; the channel says:\n%s", err, st.channel())
	}
	if len(st.left()) != leaked() {
		return fmt.Errorf("%d interfaces are left before anybody approved, want all %d", len(st.left()), leaked())
	}
	n.say("offered for approval, though eni-cleanup only reports: exactly the %d interfaces", len(left))
	if err := n.picture(ctx, "ips-offer", "", 1200, 880); err != nil {
		return err
	}
	if err := refusedTo(ctx, n, st.stage, offer, dev); err != nil {
		return err
	}
	return n.approved(ctx, offer)
}

// exactly tells that a text names these interfaces and no others.
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
	free, err := st.free(ctx)
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
	before, err := st.free(ctx)
	if err != nil {
		return err
	}
	if err := st.scale(ctx, ipsNodes); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the nodes and their pods", func() (bool, error) {
		return st.ready() == ipsNodes && st.pods()["Running"] == ipsNodes*ipsPods, nil
	}); err != nil {
		return err
	}
	if err := n.pass(ctx, ipsPause); err != nil {
		return err
	}
	if err := st.scale(ctx, 0); err != nil {
		return err
	}
	want := before - ipsNodes*ipsLeft
	if err := n.wait(ctx, "waiting for the nodes to go", func() (bool, error) {
		free, err := st.free(ctx)
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
	if err := st.scale(ctx, ipsShortage); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the subnet to be empty and pods to wait", func() (bool, error) {
		free, err := st.free(ctx)
		return free == 0 && st.ready() == ipsShortage && st.pods()["Pending"] > 0, err
	}); err != nil {
		return err
	}
	if got := len(st.left()); got != leaked() {
		return fmt.Errorf("%d interfaces are left behind, want %d", got, leaked())
	}
	n.say("%d nodes Ready, 0 addresses free: %d pods run, %d wait: failed to assign an IP address to container", st.ready(), st.pods()["Running"], st.pods()["Pending"])
	return nil
}

func (st *ipsStory) scale(ctx context.Context, desired int32) error {
	_, err := st.eks.UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String(cluster), NodegroupName: aws.String(ipsGroup),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(ipsShortage), DesiredSize: aws.Int32(desired)},
	})
	if err != nil {
		return fmt.Errorf("scale %s to %d: %w", ipsGroup, desired, err)
	}
	return nil
}

func (st *ipsStory) free(ctx context.Context) (int, error) {
	out, err := st.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{ipsSubnet}})
	if err != nil {
		return 0, err
	}
	return int(aws.ToInt32(out.Subnets[0].AvailableIpAddressCount)), nil
}
