package kubernetes

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
	"rollcall/shared/network/branch"
)

// startTrunk is what the VPC resource controller does with a node whose aws-node asks
// for security groups of pods: it makes the trunk interface where the world lists none,
// and the node then says how many branch interfaces it carries. A type without a
// trunk gets a label that says so, and so does a node whose subnet has no address
// (amazon-vpc-resource-controller-k8s pkg/provider/branch/provider.go, InitResource and
// UpdateResourceCapacity; pkg/node/manager).
func startTrunk(w *state.State, k *kubestate.Cluster, in *ec2types.Instance) {
	id := aws.ToString(in.InstanceId)
	node := k.Nodes.Get(id)
	limit, _ := branch.Limit(string(in.InstanceType))
	if node == nil {
		return
	}
	labels, _ := kubestate.At(*node, "metadata", "labels").(map[string]any)
	switch {
	case limit == 0:
		labels[trunkLabel] = "not-supported"
	case !hasTrunk(w, id) && !addTrunk(w, k, in):
		labels[trunkLabel] = "false"
	default:
		labels[trunkLabel] = "true"
		for _, amounts := range []string{"capacity", "allocatable"} {
			if m, ok := kubestate.At(*node, "status", amounts).(map[string]any); ok {
				m[branch.Resource] = fmt.Sprint(limit)
			}
		}
	}
	k.Touch(*node)
}

const trunkLabel = "vpc.amazonaws.com/has-trunk-attached"

// ofCNI are the interfaces of a node that the CNI fills: all but the trunk.
func ofCNI(list []*ec2types.NetworkInterface) []*ec2types.NetworkInterface {
	return slices.DeleteFunc(slices.Clone(list), func(e *ec2types.NetworkInterface) bool { return e.InterfaceType == ec2types.NetworkInterfaceTypeTrunk })
}

func hasTrunk(w *state.State, instance string) bool {
	return slices.ContainsFunc(w.InterfacesOf(instance), func(e *ec2types.NetworkInterface) bool {
		return e.InterfaceType == ec2types.NetworkInterfaceTypeTrunk
	})
}

// addTrunk makes a node's trunk interface, on the highest device index that is free.
func addTrunk(w *state.State, k *kubestate.Cluster, in *ec2types.Instance) bool {
	eni, err := w.CreateInterface(state.InterfaceSpec{
		Subnet: aws.ToString(in.SubnetId), Description: "aws-k8s-trunk-eni", Groups: state.InstanceGroups(in), Kind: ec2types.NetworkInterfaceTypeTrunk,
		Tags: []ec2types.Tag{
			{Key: aws.String("eks:eni:owner"), Value: aws.String("eks-vpc-resource-controller")},
			{Key: aws.String("kubernetes.io/cluster/" + k.Name), Value: aws.String("owned")},
			{Key: aws.String("node.k8s.amazonaws.com/instance_id"), Value: in.InstanceId},
		},
	})
	if err != nil {
		return false
	}
	index := int32(1)
	if info := w.InstanceTypes.Get(string(in.InstanceType)); info != nil && info.NetworkInfo != nil {
		index = max(1, aws.ToInt32(info.NetworkInfo.MaximumNetworkInterfaces)-1)
	}
	w.Attach(eni, aws.ToString(in.InstanceId), index, true)
	return true
}
