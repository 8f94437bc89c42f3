package kubernetes

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/state"
)

// EKS Auto Mode's nodes, as an account shows them:
//   - Instance, interfaces and volumes are managed by eks.amazonaws.com, and no
//     Auto Scaling group has them.
//   - The tags are those that AmazonEKSComputePolicy and AmazonEKSNetworkingPolicy
//     let the cluster's role set: eks:eks-cluster-name,
//     eks:kubernetes-node-pool-name, eks:kubernetes-node-class-name and
//     kubernetes.io/cluster/<name> on what a fleet starts, eks:eks-cluster-name
//     and eks:kubernetes-cni-node-name on interfaces. None is karpenter.sh's.
//   - The node is called as the instance (aws/aws-cdk#33373), bears the label
//     eks.amazonaws.com/compute-type=auto, and takes at most 110 pods (EKS user
//     guide, "Automate cluster infrastructure with EKS Auto Mode").
//   - The network plugin, kube-proxy and CoreDNS are parts of the system: there
//     is no pod of aws-node. Pods get addresses out of /28 prefixes, single
//     ones where a subnet has no /28 left.
const (
	tagAutoNodePool = "eks:kubernetes-node-pool-name"
	tagAutoClass    = "eks:kubernetes-node-class-name"
	// autoModePods is the most pods of an Auto Mode node.
	autoModePods = "110"
)

// autoModeLabels are the labels of an Auto Mode node beside every node's.
func autoModeLabels(in *ec2types.Instance) map[string]string {
	capacity := "on-demand"
	if in.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot {
		capacity = "spot"
	}
	return map[string]string{
		"eks.amazonaws.com/compute-type": "auto", "eks.amazonaws.com/nodeclass": state.TagValue(in.Tags, tagAutoClass),
		"karpenter.sh/capacity-type": capacity, "karpenter.sh/initialized": "true", "karpenter.sh/nodepool": state.TagValue(in.Tags, tagAutoNodePool),
		"karpenter.sh/registered": "true",
	}
}

// startAutoModeNetwork gives an Auto Mode node addresses for pods; false where
// the subnet has none.
func startAutoModeNetwork(w *state.State, in *ec2types.Instance) bool {
	interfaces := w.InterfacesOf(aws.ToString(in.InstanceId))
	if len(interfaces) == 0 {
		return false
	}
	eni := interfaces[0]
	p := w.Pools[aws.ToString(eni.SubnetId)]
	if len(eni.Ipv4Prefixes) > 0 || len(eni.PrivateIpAddresses) > 1 || p == nil {
		return true
	}
	return assign(w, p, eni, 1, true) || assign(w, p, eni, 1, false)
}
