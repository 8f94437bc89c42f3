package kubernetes

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
)

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
