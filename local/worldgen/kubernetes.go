package worldgen

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// makeKubernetes makes what the cluster's API has: the Ready nodes and the
// network plugin on them.
func (w *World) makeKubernetes() {
	k := w.File.Kubernetes[cluster]
	env := []any{map[string]any{"name": "WARM_ENI_TARGET", "value": "1"}}
	if w.Shape.Prefixes {
		env = append(env, map[string]any{"name": "ENABLE_PREFIX_DELEGATION", "value": "true"})
	}
	if w.Shape.IPv6 {
		env = append(env, map[string]any{"name": "ENABLE_IPv6", "value": "true"}, map[string]any{"name": "ENABLE_IPv4", "value": "false"})
	}
	const image = "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.20.4-eksbuild.1"
	annotations := map[string]any{}
	if w.Shape.CNI == IRSA {
		annotations["eks.amazonaws.com/role-arn"] = w.cniRole
	}
	k.ServiceAccounts = []map[string]any{{"metadata": map[string]any{"name": "aws-node", "namespace": "kube-system", "annotations": annotations}}}
	for _, id := range append(append([]string{}, w.Veterans...), w.Young...) {
		node, pod := w.makeNode(id)
		k.Nodes = append(k.Nodes, node)
		if pod != nil {
			k.Pods = append(k.Pods, pod)
		}
	}
	k.DaemonSets = []map[string]any{{
		"metadata": map[string]any{"name": "aws-node", "namespace": "kube-system"},
		"spec":     map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "aws-node", "image": image, "env": env}}}}},
		"status":   map[string]any{"desiredNumberScheduled": len(k.Pods), "numberReady": len(k.Pods)},
	}}
	w.File.Kubernetes[cluster] = k
	if w.Shape.pooled() {
		w.makeNodePool()
	}
}

// nodeName is the name of an instance's node: Auto Mode's are called by the instance.
func (w *World) nodeName(id string) string {
	in := w.instance(id)
	if in.Operator != nil {
		return id
	}
	return *in.PrivateDnsName
}

// makeNode makes a Ready node, and the pod of the network plugin on it, which
// Windows nodes do not have.
func (w *World) makeNode(id string) (node, pod map[string]any) {
	in := w.instance(id)
	name := w.nodeName(id)
	system := "linux"
	if in.Platform != "" {
		system = "windows"
	}
	born := in.LaunchTime.Add(45 * time.Second).UTC().Format(time.RFC3339)
	zone := *w.subnet(*in.SubnetId).AvailabilityZone
	node = map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": name, "creationTimestamp": born, "labels": map[string]any{
			"kubernetes.io/os": system, "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "node.kubernetes.io/instance-type": string(in.InstanceType),
		}},
		"spec": map[string]any{"providerID": "aws:///" + zone + "/" + id},
		"status": map[string]any{
			"addresses":  []any{map[string]any{"type": "InternalIP", "address": aws.ToString(in.PrivateIpAddress)}},
			"capacity":   map[string]any{"pods": "29"},
			"nodeInfo":   map[string]any{"kubeletVersion": "v" + w.version + ".1-eks-113cf36", "operatingSystem": system},
			"conditions": []any{condition("Ready", "True", "KubeletReady", "kubelet is posting ready status", born)},
		},
	}
	if in.Operator != nil {
		node["metadata"].(map[string]any)["labels"].(map[string]any)["eks.amazonaws.com/compute-type"] = "auto"
	}
	if system == "windows" || in.Operator != nil {
		return node, nil
	}
	pod = map[string]any{
		"metadata": map[string]any{"name": "aws-node-" + id[len(id)-5:], "namespace": "kube-system", "labels": map[string]any{"k8s-app": "aws-node"}},
		"spec":     map[string]any{"nodeName": name},
		"status": map[string]any{"phase": "Running", "containerStatuses": []any{
			map[string]any{"name": "aws-node", "ready": true, "restartCount": 0, "state": map[string]any{"running": map[string]any{"startedAt": born}}},
		}},
	}
	return node, pod
}

func condition(kind, status, reason, message, since string) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since, "lastHeartbeatTime": since}
}

// Unjoin takes the nodes of the young instances away: nobody registered.
func (w *World) Unjoin() { w.unjoin(w.Young) }

func (w *World) unjoin(ids []string) {
	names := map[string]bool{}
	for _, id := range ids {
		names[w.nodeName(id)] = true
	}
	k := w.File.Kubernetes[cluster]
	k.Nodes = without(k.Nodes, func(n map[string]any) bool { return names[nameOf(n)] })
	k.Pods = without(k.Pods, func(p map[string]any) bool { return names[p["spec"].(map[string]any)["nodeName"].(string)] })
	for _, d := range k.DaemonSets {
		d["status"] = map[string]any{"desiredNumberScheduled": len(k.Pods), "numberReady": len(k.Pods)}
	}
	w.File.Kubernetes[cluster] = k
	w.unregister(ids)
	w.File.Expect.Healthy = false
}

func nameOf(object map[string]any) string {
	return object["metadata"].(map[string]any)["name"].(string)
}

// nodes runs over the nodes of the young instances and their pods.
func (w *World) nodes(do func(node, pod map[string]any)) {
	k := w.File.Kubernetes[cluster]
	for _, id := range w.Young {
		name := w.nodeName(id)
		node := find(k.Nodes, func(n *map[string]any) bool { return nameOf(*n) == name })
		pod := find(k.Pods, func(p *map[string]any) bool { return (*p)["spec"].(map[string]any)["nodeName"] == name })
		if node == nil {
			continue
		}
		if pod == nil {
			do(*node, nil)
			continue
		}
		do(*node, *pod)
	}
}
