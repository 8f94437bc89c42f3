// Package kubernetes is what runs in the account's clusters: Node objects, the
// VPC CNI with its interfaces and addresses, the pods of workloads and sets, the
// scheduler and the volumes. EKS Auto Mode's nodes have their own network.
package kubernetes

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/network/branch"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/worldfile"
)

// CNIMissing is the kubelet's message while there is no CNI configuration.
const CNIMissing = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"

// PutNode keeps the Node object of an instance.
func PutNode(w *state.State, k *kubestate.Cluster, in *ec2types.Instance, node map[string]any) {
	k.Nodes.Put(aws.ToString(in.InstanceId), &node)
	k.Touch(node)
}

// RemoveNode takes the Node object of an ended instance away, as the cloud
// controller does.
func RemoveNode(w *state.State, id string) {
	if k, n := w.NodeOf(id); n != nil {
		k.DropCNIPod(*n)
		dropPods(w, k, *n)
		dropSetPods(w, k, *n)
		k.Nodes.Remove(id)
		k.Version++
		// kubernetes/kubernetes pkg/controller/nodelifecycle/node_lifecycle_controller.go.
		if meta, ok := (*n)["metadata"].(map[string]any); ok {
			k.NodeEvent(*n, "node-controller", "RemovingNode", fmt.Sprintf("Node %v event: Removing Node %[1]v from Controller", meta["name"]), w.Now)
		}
		Schedule(w, k)
	}
}

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

// kubeletFlag is the value of a flag that an instance's user data gives its
// kubelet, empty for none.
func kubeletFlag(w *state.State, id, name string) string {
	data, err := base64.StdEncoding.DecodeString(w.UserData[id])
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if _, value, ok := strings.Cut(line, "- --"+name+"="); ok {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

// flagTaints are those that a kubelet registers its node with, as key[=value]:effect.
func flagTaints(w *state.State, id string) []any {
	var out []any
	for _, text := range strings.Split(kubeletFlag(w, id, "register-with-taints"), ",") {
		key, effect, ok := strings.Cut(text, ":")
		if !ok {
			continue
		}
		taint := map[string]any{"key": key, "effect": effect}
		if name, value, ok := strings.Cut(key, "="); ok {
			taint["key"], taint["value"] = name, value
		}
		out = append(out, taint)
	}
	return out
}

// flagLabels are those that a kubelet gives its node.
func flagLabels(w *state.State, id string) map[string]string {
	out := map[string]string{}
	for _, text := range strings.Split(kubeletFlag(w, id, "node-labels"), ",") {
		if key, value, ok := strings.Cut(text, "="); ok {
			out[key] = value
		}
	}
	return out
}

// Load keeps what the clusters' APIs have and makes the nodes that
// the file only names.
func Load(w *state.State, f *worldfile.File) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(f.Kubernetes)) {
		k := w.Kubernetes[name]
		if k == nil {
			errs = append(errs, fmt.Errorf("kubernetes: cluster %q is not in the world", name))
			continue
		}
		from := f.Kubernetes[name]
		k.Objects = map[string][]map[string]any{
			"pods": from.Pods, "persistentvolumes": from.PersistentVolumes, "persistentvolumeclaims": from.PersistentVolumeClaims,
			"daemonsets": from.DaemonSets, "serviceaccounts": from.ServiceAccounts, "configmaps": from.ConfigMaps, "events": from.Events,
			"certificatesigningrequests": from.CertificateSigningRequests, kubestate.ENIConfigs: from.ENIConfigs,
			"nodepools": from.NodePools, "nodeclaims": from.NodeClaims, "ec2nodeclasses": from.EC2NodeClasses, "nodeclasses": from.NodeClasses,
		}
		if c := w.Clusters.Get(name); c != nil {
			k.KubernetesVersion = aws.ToString(c.Version)
		}
		if from.ProvisionedVolumes {
			provisionVolumes(w, k)
		}
		for i, n := range from.Nodes {
			spec, _ := n["spec"].(map[string]any)
			provider, _ := spec["providerID"].(string)
			id := provider[strings.LastIndex(provider, "/")+1:]
			if id == "" {
				errs = append(errs, fmt.Errorf("kubernetes.%s.nodes[%d] has no spec.providerID", name, i))
				continue
			}
			k.Nodes.Put(id, &n)
			k.Version++
		}
		for _, id := range from.Joined {
			in := w.Instances.Get(id)
			if in == nil || w.ClusterOf(id) != name {
				errs = append(errs, fmt.Errorf("kubernetes.%s.joined: %s is not an instance of this cluster", name, id))
				continue
			}
			joinAtStart(w, k, in)
		}
	}
	return errors.Join(errs...)
}

// joinAtStart makes an instance a Ready node since its launch.
func joinAtStart(w *state.State, k *kubestate.Cluster, in *ec2types.Instance) {
	now := w.Now
	w.Now = in.LaunchTime.Add(time.Duration(w.File.Nodes.BootSeconds) * time.Second)
	node := NodeObject(w, in)
	PutNode(w, k, in, node)
	w.Now = w.Now.Add(time.Duration(w.File.Nodes.ReadySeconds) * time.Second)
	StartCNI(w, k, in)
	kubestate.SetReady(node, true, "KubeletReady", "kubelet is posting ready status", w.Now)
	w.Now = now
}

// LoadShifts cordons the nodes in zones that are shifted away from for their cluster, as
// long as that lasts: "All the nodes in the impacted AZ will be cordoned", and "will not be
// terminated and the Pods will not be evicted from these nodes" (EKS user guide, "Learn
// about ARC zonal shift in Amazon EKS").
func LoadShifts(w *state.State, f *worldfile.File) error {
	if len(f.ArcZonalShift.ZonalShifts)+len(f.ArcZonalShift.Autoshifts) == 0 {
		return nil
	}
	cordoned := map[string]bool{} // instances that a shift cordoned
	names := slices.Sorted(maps.Keys(w.Kubernetes))
	for _, name := range names {
		cordonShifted(w, w.Kubernetes[name], cordoned)
	}
	var times []time.Time
	for _, z := range f.ArcZonalShift.ZonalShifts {
		times = append(times, z.StartTime, z.ExpiryTime)
	}
	for _, a := range f.ArcZonalShift.Autoshifts {
		times = append(times, a.StartTime, a.EndTime)
	}
	for _, at := range times {
		if at.After(w.Now) {
			w.Schedule(at, func() {
				for _, name := range names {
					cordonShifted(w, w.Kubernetes[name], cordoned)
					Schedule(w, w.Kubernetes[name])
				}
			})
		}
	}
	return nil
}

func cordonShifted(w *state.State, k *kubestate.Cluster, cordoned map[string]bool) {
	const taint = "node.kubernetes.io/unschedulable"
	for _, in := range w.Instances.All() {
		id := aws.ToString(in.InstanceId)
		n := k.Nodes.Get(id)
		if n == nil || in.Placement == nil {
			continue
		}
		spec, _ := (*n)["spec"].(map[string]any)
		shifted := w.ClusterShifted(k.Name, aws.ToString(in.Placement.AvailabilityZoneId))
		switch {
		case spec == nil || shifted == cordoned[id] || shifted && spec["unschedulable"] == true:
			continue
		case shifted:
			spec["unschedulable"] = true
			kubestate.Taint(*n, taint, "NoSchedule")
		default:
			delete(spec, "unschedulable")
			kubestate.Untaint(*n, taint)
		}
		cordoned[id] = shifted
		k.Touch(*n)
	}
}

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
