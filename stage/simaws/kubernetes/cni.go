package kubernetes

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/simaws/addresses"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/state"
)

// cniCooldown is how long the CNI leaves a subnet alone that had no address
// for it (ipamd's insufficientCidrErrorCooldown).
const cniCooldown = 2 * time.Minute

// StartCNI has the VPC CNI take the addresses that it keeps on a node, as many
// as the subnet gives. It is false where there is not one address for pods: the
// CNI then does not come up. A node that got fewer than it wants asks again.
func StartCNI(w *state.State, k *kubestate.Cluster, in *ec2types.Instance) bool {
	if state.IsAutoMode(in) {
		return startAutoModeNetwork(w, in)
	}
	wants := cniWants(w, k, in)
	if len(wants) == 0 {
		return true
	}
	tagPrimary(w, k, in)
	// What the world lists on a node beside the first interface stays as it is.
	if len(ofCNI(w.InterfacesOf(aws.ToString(in.InstanceId)))) > 1 {
		wants = wants[:1]
	}
	got, short := takeSlots(w, k, in, wants)
	if k.CNISettings().PodENI {
		startTrunk(w, k, in)
	}
	up := got > 0 || w.File.CNI.ReadyWithoutAddresses
	if up && short {
		refillLater(w, k, aws.ToString(in.InstanceId))
	}
	return up
}

// cniWants is how many slots each of a node's interfaces should have; empty
// where the world does not know the type.
func cniWants(w *state.State, k *kubestate.Cluster, in *ec2types.Instance) []int {
	info := w.InstanceTypes.Get(string(in.InstanceType))
	if info == nil || info.NetworkInfo == nil || len(w.InterfacesOf(aws.ToString(in.InstanceId))) == 0 {
		return nil
	}
	settings, most := k.CNISettings(), int(aws.ToInt32(info.NetworkInfo.MaximumNetworkInterfaces))
	if settings.PodENI {
		most-- // one is kept for the trunk (amazon-vpc-cni-k8s pkg/ipamd, hasRoomForEni)
	}
	return settings.Wants(most, int(aws.ToInt32(info.NetworkInfo.Ipv4AddressesPerInterface)))
}

// refillLater has the CNI ask again for what it could not get.
func refillLater(w *state.State, k *kubestate.Cluster, id string) {
	w.After(cniCooldown, func() {
		in := w.Instances.Get(id)
		if _, n := w.NodeOf(id); n == nil || in == nil || state.Ended(in) {
			return
		}
		_, short := takeSlots(w, k, in, cniWants(w, k, in))
		wakePods(w, k, in)
		if short {
			refillLater(w, k, id)
		}
	})
}

// takeSlots fills a node's interfaces in turn, attaching those that are not
// there. It says how many slots the node has, and whether it wants more.
func takeSlots(w *state.State, k *kubestate.Cluster, in *ec2types.Instance, wants []int) (got int, short bool) {
	prefixes := k.CNISettings().Prefixes
	enis := ofCNI(heldBy(w, aws.ToString(in.InstanceId)))
	for i, want := range wants {
		if i == len(enis) {
			eni := addInterface(w, k, in, i)
			if eni == nil {
				return got, true
			}
			enis = append(enis, eni)
		}
		n := fillInterface(w, enis[i], want, prefixes)
		got += n
		if n < want {
			return got, true
		}
	}
	return got, false
}

// fillInterface gives an interface so many slots beside its own address, and
// says how many it has then. EC2 refuses a request for more than is free; the
// CNI then asks for one at a time.
func fillInterface(w *state.State, eni *ec2types.NetworkInterface, want int, prefixes bool) int {
	p := w.Pools[aws.ToString(eni.SubnetId)]
	if p == nil {
		return want
	}
	have := func() int {
		if prefixes {
			return len(eni.Ipv4Prefixes)
		}
		return len(eni.PrivateIpAddresses) - 1
	}
	if n := want - have(); n > 0 && !assign(w, p, eni, n, prefixes) {
		for have() < want && assign(w, p, eni, 1, prefixes) {
		}
	}
	return have()
}

// assign adds addresses or prefixes to an interface, all or none.
func assign(w *state.State, p *addresses.Pool, eni *ec2types.NetworkInterface, n int, prefixes bool) bool {
	var addrs []netip.Addr
	var blocks []netip.Prefix
	ok := false
	if prefixes {
		blocks, ok = p.AllocatePrefixes(n)
	} else {
		addrs, ok = p.Allocate(n)
	}
	if ok {
		w.AddAddresses(eni, addrs, blocks)
	}
	return ok
}

// addInterface attaches a further interface to a node, with its own address
// alone; nil where the subnet has none. It goes with the instance.
func addInterface(w *state.State, k *kubestate.Cluster, in *ec2types.Instance, index int) *ec2types.NetworkInterface {
	id := aws.ToString(in.InstanceId)
	eni, err := w.CreateInterface(state.InterfaceSpec{
		Subnet: aws.ToString(in.SubnetId), Description: "aws-K8S-" + id, Groups: state.InstanceGroups(in),
		Tags: cniTags(w, k, id),
	})
	if err != nil {
		return nil
	}
	// Nodes that were there before the start have theirs.
	if w.File.CNI.AttachSeconds > 0 && !w.Now.Before(w.Start) {
		attachLater(w, k, eni, id, index)
	} else {
		w.Attach(eni, id, int32(index), true)
	}
	return eni
}

// cniTags are the tags that the CNI gives what it makes: the cluster's name
// only where aws-node has it in its environment (CLUSTER_NAME).
func cniTags(w *state.State, k *kubestate.Cluster, instance string) []ec2types.Tag {
	var tags []ec2types.Tag
	if name := k.CNISettings().Cluster; name != "" {
		tags = append(tags,
			ec2types.Tag{Key: aws.String("cluster.k8s.amazonaws.com/name"), Value: aws.String(name)},
			ec2types.Tag{Key: aws.String("eks:eni:owner"), Value: aws.String("amazon-vpc-cni")})
	}
	return append(tags,
		ec2types.Tag{Key: aws.String("node.k8s.amazonaws.com/createdAt"), Value: aws.String(kubestate.Time(w.Now))},
		ec2types.Tag{Key: aws.String("node.k8s.amazonaws.com/instance_id"), Value: aws.String(instance)})
}

// tagPrimary tags a node's first interface where it has no tags yet, as ipamd
// does with all that is attached; without the date, as it did not make it. It
// is done for those alone that outlive their node: the others are not looked at.
func tagPrimary(w *state.State, k *kubestate.Cluster, in *ec2types.Instance) {
	id := aws.ToString(in.InstanceId)
	for _, eni := range w.InterfacesOf(id) {
		if aws.ToInt32(eni.Attachment.DeviceIndex) == 0 && !aws.ToBool(eni.Attachment.DeleteOnTermination) && len(eni.TagSet) == 0 {
			eni.TagSet = slices.DeleteFunc(cniTags(w, k, id), func(t ec2types.Tag) bool { return *t.Key == "node.k8s.amazonaws.com/createdAt" })
		}
	}
}

// LeaveBehind has a node that ends leave its further interfaces available, if
// that is its fate.
func LeaveBehind(w *state.State, id string) {
	if _, n := w.NodeOf(id); n == nil {
		return // ipamd ran on nodes only
	}
	g := w.GroupOf(id)
	for _, l := range w.File.CNI.Leaves {
		if l.AutoScalingGroup != "" && (g == nil || g.Name() != l.AutoScalingGroup) ||
			l.Nodegroup != "" && (g == nil || g.Tag("eks:nodegroup-name") != l.Nodegroup) {
			continue
		}
		if ids.Chance("leave", id) >= l.Share {
			return
		}
		for i, eni := range w.InterfacesOf(id) {
			if i > 0 {
				w.Detach(eni)
			}
		}
		return
	}
}

// attachLater has ipamd attach what it created. A node that ends meanwhile
// leaves it behind; one whose interface a user deleted asks for another.
func attachLater(w *state.State, k *kubestate.Cluster, eni *ec2types.NetworkInterface, instance string, index int) {
	id := aws.ToString(eni.NetworkInterfaceId)
	w.Attaching[instance] = append(w.Attaching[instance], id)
	w.After(time.Duration(w.File.CNI.AttachSeconds*float64(time.Second)), func() {
		w.Attaching[instance] = slices.DeleteFunc(w.Attaching[instance], func(s string) bool { return s == id })
		if len(w.Attaching[instance]) == 0 {
			delete(w.Attaching, instance)
		}
		in := w.Instances.Get(instance)
		if in == nil || state.Ended(in) {
			return
		}
		if w.Interfaces.Get(id) == nil {
			refillLater(w, k, instance)
			return
		}
		w.Attach(eni, instance, int32(index), true)
		wakePods(w, k, in)
	})
}

// heldBy are the interfaces on an instance, and behind them those that ipamd
// is about to attach to it.
func heldBy(w *state.State, instance string) []*ec2types.NetworkInterface {
	list := w.InterfacesOf(instance)
	for _, id := range w.Attaching[instance] {
		if eni := w.Interfaces.Get(id); eni != nil {
			list = append(list, eni)
		}
	}
	return list
}

// placedBy marks the pods that the world itself put on nodes.
const placedBy = "pod-template-hash"

// PlacePods has the scheduler put each workload's pods on a Ready node. They
// wait for addresses.
func PlacePods(w *state.State, k *kubestate.Cluster, in *ec2types.Instance, node map[string]any) {
	if len(podsOn(w, k, node)) > 0 {
		return
	}
	for _, load := range w.File.CNI.Workloads {
		if ng := w.NodegroupOf(aws.ToString(in.InstanceId)); load.Nodegroup != "" && (ng == nil || aws.ToString(ng.NodegroupName) != load.Nodegroup) {
			continue
		}
		for range load.PerNode {
			p := map[string]any{
				"apiVersion": "v1", "kind": "Pod",
				"metadata": map[string]any{
					"name": fmt.Sprintf("%s-5d4f8c7b9-%s", load.Name, w.IDs.Hex(5)), "namespace": "default", "creationTimestamp": kubestate.Time(w.Now),
					"labels": map[string]any{"app": load.Name, placedBy: "5d4f8c7b9"}, "uid": w.IDs.UUID(),
					// As of a Deployment: its ReplicaSet made the pod (kubernetes pkg/controller/controller_utils.go, GetPodFromTemplate).
					"ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": load.Name + "-5d4f8c7b9", "uid": "0b1c2d3e-0000-4000-8000-5d4f8c7b9000", "controller": true}},
				},
				"spec": map[string]any{"nodeName": kubestate.At(node, "metadata", "name"), "containers": []any{map[string]any{"name": load.Name}}},
			}
			kubestate.PodWaits(p, load.Name)
			k.Objects["pods"] = append(k.Objects["pods"], p)
			k.Touch(p)
		}
	}
	wakePods(w, k, in)
}

// podsOn are the pods that the world put on a node.
func podsOn(w *state.State, k *kubestate.Cluster, node map[string]any) []map[string]any {
	if len(w.File.CNI.Workloads) == 0 {
		return nil
	}
	name := kubestate.At(node, "metadata", "name")
	var list []map[string]any
	for _, p := range k.Objects["pods"] {
		if kubestate.At(p, "spec", "nodeName") == name && kubestate.At(p, "metadata", "labels", placedBy) != nil {
			list = append(list, p)
		}
	}
	return list
}

// wakePods gives the addresses that a node has to its pods that wait for one.
// Those that get none say so in an event, in the CNI's words.
func wakePods(w *state.State, k *kubestate.Cluster, in *ec2types.Instance) {
	_, n := w.NodeOf(aws.ToString(in.InstanceId))
	if n == nil {
		return
	}
	pods := podsOn(w, k, *n)
	var free []string
	for _, eni := range w.InterfacesOf(aws.ToString(in.InstanceId)) {
		for i, a := range eni.PrivateIpAddresses {
			taken := slices.ContainsFunc(pods, func(p map[string]any) bool {
				return kubestate.At(p, "status", "podIP") == aws.ToString(a.PrivateIpAddress)
			})
			if i > 0 && !taken {
				free = append(free, aws.ToString(a.PrivateIpAddress))
			}
		}
	}
	for _, p := range pods {
		if kubestate.At(p, "status", "podIP") != nil {
			continue
		}
		if len(free) == 0 {
			k.Say(p, "Pod", "kubelet", "FailedCreatePodSandBox", "Warning", fmt.Sprintf("Failed to create pod sandbox: rpc error: code = Unknown desc = "+
				`failed to setup network for sandbox "%s": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container`, w.IDs.Hex(64)), w.Now)
			continue
		}
		kubestate.PodRuns(p, free[0], w.Now)
		free = free[1:]
		k.Touch(p)
	}
}

// dropPods takes a node's pods away with it.
func dropPods(w *state.State, k *kubestate.Cluster, node map[string]any) {
	if len(podsOn(w, k, node)) == 0 {
		return
	}
	name := kubestate.At(node, "metadata", "name")
	k.Objects["pods"] = slices.DeleteFunc(k.Objects["pods"], func(p map[string]any) bool {
		return kubestate.At(p, "spec", "nodeName") == name && kubestate.At(p, "metadata", "labels", placedBy) != nil
	})
	k.Version++
}
