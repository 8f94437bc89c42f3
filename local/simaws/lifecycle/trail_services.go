package lifecycle

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/state"
	"rollcall/local/simaws/trail"
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
func groupLaunched(w *state.State, in *ec2types.Instance, groups []string) {
	var items []any
	for _, g := range groups {
		items = append(items, map[string]any{"groupId": g})
	}
	instance := map[string]any{"instanceId": aws.ToString(in.InstanceId), "imageId": aws.ToString(in.ImageId), "subnetId": aws.ToString(in.SubnetId), "vpcId": aws.ToString(in.VpcId)}
	trail.RecordServiceCall(w, "ec2:RunInstances", scalingRole, scalingPrincipal,
		map[string]any{"subnetId": aws.ToString(in.SubnetId), "instanceType": string(in.InstanceType), "groupSet": map[string]any{"items": items}},
		map[string]any{"instancesSet": map[string]any{"items": []any{instance}}})
}

// endForGroup ends an instance as Auto Scaling does.
func endForGroup(w *state.State, id string) {
	trail.RecordServiceCall(w, "ec2:TerminateInstances", scalingRole, scalingPrincipal,
		map[string]any{"instancesSet": map[string]any{"items": []any{map[string]any{"instanceId": id}}}}, nil)
	Terminate(w, id, UserShutdown())
}

// GroupResized is EKS's own call for the group of a nodegroup whose size
// somebody changed.
func GroupResized(w *state.State, g *state.Group) {
	number := func(n *int32) float64 { return float64(aws.ToInt32(n)) }
	trail.RecordServiceCall(w, "autoscaling:UpdateAutoScalingGroup", nodegroupRole, eksPrincipal, map[string]any{
		"autoScalingGroupName": g.Name(), "minSize": number(g.MinSize), "maxSize": number(g.MaxSize), "desiredCapacity": number(g.DesiredCapacity),
	}, nil)
}
