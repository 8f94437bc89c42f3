package kubernetes

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// nodes are the cluster's.
func nodes() source.Source {
	return source.Source{
		Name: snapshot.Nodes,
		Kube: []spec.KubeRule{
			{Resources: []string{"nodes"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.Nodes(ctx)
			return source.Keep(source.Each(list, node), err, func(x snapshot.Node) string { return x.Name }, func(s *snapshot.Snapshot) *[]snapshot.Node { return &s.Nodes })
		}),
	}
}

const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"

func node(n kube.Node) snapshot.Node {
	out := snapshot.Node{
		Name:     n.Metadata.Name,
		Instance: instanceOf(n.Spec.ProviderID),
		Created:  n.Metadata.CreationTimestamp,
		Kubelet:  n.Status.NodeInfo.KubeletVersion,
		Labels:   n.Metadata.Labels, Annotations: n.Metadata.Annotations,
		Cordoned: n.Spec.Unschedulable,
		Zone:     zoneOfNode(n),
	}
	for _, t := range n.Spec.Taints {
		if t.Key == uninitialized {
			out.Uninitialized = true
		}
		out.Taints = append(out.Taints, t.Key)
		out.Repels = append(out.Repels, snapshot.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	slices.Sort(out.Taints)
	out.Taints = slices.Compact(out.Taints) // one key can have several effects
	for _, c := range n.Status.Conditions {
		if out.Conditions == nil {
			out.Conditions = map[string]snapshot.Condition{}
		}
		out.Conditions[c.Type] = snapshot.Condition{Status: c.Status, Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime}
	}
	out.Ready = out.Conditions["Ready"]
	if pods, err := strconv.Atoi(n.Status.Capacity.Pods); err == nil {
		out.MaxPods = pods
	}
	if branches, err := strconv.Atoi(n.Status.Capacity.Branches); err == nil {
		out.Branches = branches
	}
	for _, a := range n.Status.Addresses {
		ip, err := netip.ParseAddr(a.Address)
		// A dual-stack node has one of each family; the first is its own.
		if a.Type == "InternalIP" && err == nil && !out.InternalIP.IsValid() {
			out.InternalIP = ip
		}
	}
	return out
}

// zoneOfNode is what the node's label says, else its provider id: a node that
// has just registered has no label yet.
func zoneOfNode(n kube.Node) string {
	for _, label := range []string{"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"} {
		if zone := n.Metadata.Labels[label]; zone != "" {
			return zone
		}
	}
	path, ok := strings.CutPrefix(n.Spec.ProviderID, "aws:///")
	if !ok || instanceOf(n.Spec.ProviderID) == "" {
		return ""
	}
	return path[:strings.Index(path+"/", "/")]
}

// instanceOf takes the instance id from "aws:///us-west-2a/i-0ef3c1b2a4d5968f1".
// Fargate and hybrid nodes have other forms and no instance.
func instanceOf(providerID string) string {
	if !strings.HasPrefix(providerID, "aws://") {
		return ""
	}
	id := providerID[strings.LastIndex(providerID, "/")+1:]
	if !strings.HasPrefix(id, "i-") {
		return ""
	}
	return id
}
