package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/fakeslack"
)

// scale sets the desired size of nodegroups in the same moment.
func (st *spotStory) scale(ctx context.Context, desired int32, groups []string) error {
	for _, g := range groups {
		if _, err := st.eks.UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{
			ClusterName: aws.String(cluster), NodegroupName: aws.String(g),
			ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(6), DesiredSize: aws.Int32(desired)},
		}); err != nil {
			return fmt.Errorf("scale %s: %w", g, err)
		}
	}
	return nil
}

// free is how many addresses the story's subnet has left.
func (st *spotStory) free(ctx context.Context) (int, error) {
	out, err := st.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{batchSubnet}})
	if err != nil {
		return 0, err
	}
	return int(aws.ToInt32(out.Subnets[0].AvailableIpAddressCount)), nil
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

// ready counts the Ready nodes of nodegroups.
func (st *spotStory) ready(groups []string) int {
	o, err := st.stage.World.Kubernetes(cluster, "nodes")
	if err != nil {
		return 0
	}
	count := 0
	for _, item := range o.Items {
		var node struct {
			Metadata struct{ Labels map[string]string }
			Status   struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if json.Unmarshal(item, &node) != nil || !slices.Contains(groups, node.Metadata.Labels["eks.amazonaws.com/nodegroup"]) {
			continue
		}
		for _, c := range node.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" {
				count++
			}
		}
	}
	return count
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

func (st *spotStory) messages() []fakeslack.Message { return shown(st.stage) }

// says is the newest message whose words fit, empty without one.
func (st *spotStory) says(fits func(text string) bool) string {
	for _, m := range slices.Backward(st.messages()) {
		if text := everything(m); fits(text) {
			return text
		}
	}
	return ""
}

// others holds that no message names a cause that the world does not have.
func (st *spotStory) others(wrong func(text string) bool) error {
	if text := st.says(wrong); text != "" {
		return fmt.Errorf("a message names a cause that this world does not have:\n%s", text)
	}
	return nil
}

// missing tells that a message names the subnet and nodes that do not join.
func (st *spotStory) missing(subnet string) bool {
	return st.says(func(text string) bool { return strings.Contains(text, subnet) && strings.Contains(text, "cannot join") }) != ""
}

// saying is the first line of the newest message that names something.
func (st *spotStory) saying(name string) string {
	return firstLine(st.says(func(text string) bool { return strings.Contains(text, name) }))
}

// complaints counts the open messages about nodes that do not join.
func (st *spotStory) complaints() int {
	n := 0
	for _, m := range st.messages() {
		if text := everything(m); strings.Contains(text, "cannot join") && !strings.Contains(firstLine(text), "✅") {
			n++
		}
	}
	return n
}
