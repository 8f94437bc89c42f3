package world

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// The roles that are linked to services, and the services.
const (
	scalingRole      = "AWSServiceRoleForAutoScaling"
	scalingPrincipal = "autoscaling.amazonaws.com"
	nodegroupRole    = "AWSServiceRoleForAmazonEKSNodegroup"
	eksPrincipal     = "eks-nodegroup.amazonaws.com"
)

// groupLaunched is Auto Scaling's own call for an instance. It is found by the
// subnet and the security groups too, as launches are.
func (w *World) groupLaunched(in *ec2types.Instance, groups []string) {
	var items []any
	for _, g := range groups {
		items = append(items, map[string]any{"groupId": g})
	}
	instance := map[string]any{"instanceId": aws.ToString(in.InstanceId), "imageId": aws.ToString(in.ImageId), "subnetId": aws.ToString(in.SubnetId), "vpcId": aws.ToString(in.VpcId)}
	w.serviceCall("ec2:RunInstances", scalingRole, scalingPrincipal,
		map[string]any{"subnetId": aws.ToString(in.SubnetId), "instanceType": string(in.InstanceType), "groupSet": map[string]any{"items": items}},
		map[string]any{"instancesSet": map[string]any{"items": []any{instance}}})
}

// endForGroup ends an instance as Auto Scaling does.
func (w *World) endForGroup(id string) {
	w.serviceCall("ec2:TerminateInstances", scalingRole, scalingPrincipal,
		map[string]any{"instancesSet": map[string]any{"items": []any{map[string]any{"instanceId": id}}}}, nil)
	w.terminate(id, userShutdown())
}

// groupResized is EKS's own call for the group of a nodegroup whose size
// somebody changed.
func (w *World) groupResized(g *group) {
	number := func(n *int32) float64 { return float64(aws.ToInt32(n)) }
	w.serviceCall("autoscaling:UpdateAutoScalingGroup", nodegroupRole, eksPrincipal, map[string]any{
		"autoScalingGroupName": g.name(), "minSize": number(g.MinSize), "maxSize": number(g.MaxSize), "desiredCapacity": number(g.DesiredCapacity),
	}, nil)
}
