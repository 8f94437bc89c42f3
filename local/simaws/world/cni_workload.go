package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// placedBy marks the pods that the world itself put on nodes.
const placedBy = "pod-template-hash"

// placePods has the scheduler put each workload's pods on a Ready node. They
// wait for addresses.
func (w *World) placePods(k *cluster, in *ec2types.Instance, node map[string]any) {
	if len(w.podsOn(k, node)) > 0 {
		return
	}
	for _, load := range w.file.CNI.Workloads {
		if ng := w.nodegroupOf(aws.ToString(in.InstanceId)); load.Nodegroup != "" && (ng == nil || aws.ToString(ng.NodegroupName) != load.Nodegroup) {
			continue
		}
		for range load.PerNode {
			p := map[string]any{
				"apiVersion": "v1", "kind": "Pod",
				"metadata": map[string]any{
					"name": fmt.Sprintf("%s-5d4f8c7b9-%s", load.Name, w.ids.hex(5)), "namespace": "default", "creationTimestamp": kubeTime(w.now),
					"labels": map[string]any{"app": load.Name, placedBy: "5d4f8c7b9"}, "uid": w.ids.uuid(),
				},
				"spec": map[string]any{"nodeName": at(node, "metadata", "name"), "containers": []any{map[string]any{"name": load.Name}}},
			}
			podWaits(p, load.Name)
			k.objects["pods"] = append(k.objects["pods"], p)
			k.touch(p)
		}
	}
	w.wakePods(k, in)
}

// podsOn are the pods that the world put on a node.
func (w *World) podsOn(k *cluster, node map[string]any) []map[string]any {
	if len(w.file.CNI.Workloads) == 0 {
		return nil
	}
	name := at(node, "metadata", "name")
	var list []map[string]any
	for _, p := range k.objects["pods"] {
		if at(p, "spec", "nodeName") == name && at(p, "metadata", "labels", placedBy) != nil {
			list = append(list, p)
		}
	}
	return list
}

// wakePods gives the addresses that a node has to its pods that wait for one.
// Those that get none say so in an event, in the CNI's words.
func (w *World) wakePods(k *cluster, in *ec2types.Instance) {
	_, n := w.nodeOf(aws.ToString(in.InstanceId))
	if n == nil {
		return
	}
	pods := w.podsOn(k, *n)
	var free []string
	for _, eni := range w.interfacesOf(aws.ToString(in.InstanceId)) {
		for i, a := range eni.PrivateIpAddresses {
			taken := slices.ContainsFunc(pods, func(p map[string]any) bool { return at(p, "status", "podIP") == aws.ToString(a.PrivateIpAddress) })
			if i > 0 && !taken {
				free = append(free, aws.ToString(a.PrivateIpAddress))
			}
		}
	}
	for _, p := range pods {
		if at(p, "status", "podIP") != nil {
			continue
		}
		if len(free) == 0 {
			k.say(p, "Pod", "kubelet", "FailedCreatePodSandBox", "Warning", fmt.Sprintf("Failed to create pod sandbox: rpc error: code = Unknown desc = "+
				`failed to setup network for sandbox "%s": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container`, w.ids.hex(64)), w.now)
			continue
		}
		podRuns(p, free[0], w.now)
		free = free[1:]
		k.touch(p)
	}
}

func podWaits(p map[string]any, container string) {
	p["status"] = map[string]any{"phase": "Pending", "containerStatuses": []any{map[string]any{
		"name": container, "ready": false, "restartCount": 0, "state": map[string]any{"waiting": map[string]any{"reason": "ContainerCreating"}},
	}}}
}

func podRuns(p map[string]any, ip string, now time.Time) {
	p["status"] = map[string]any{"phase": "Running", "podIP": ip, "containerStatuses": []any{map[string]any{
		"name": at(p, "metadata", "labels", "app"), "ready": true, "restartCount": 0, "state": map[string]any{"running": map[string]any{"startedAt": kubeTime(now)}},
	}}}
}

// dropPods takes a node's pods away with it.
func (w *World) dropPods(k *cluster, node map[string]any) {
	if len(w.podsOn(k, node)) == 0 {
		return
	}
	name := at(node, "metadata", "name")
	k.objects["pods"] = slices.DeleteFunc(k.objects["pods"], func(p map[string]any) bool {
		return at(p, "spec", "nodeName") == name && at(p, "metadata", "labels", placedBy) != nil
	})
	k.version++
}
