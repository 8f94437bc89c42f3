package scheduling

import (
	"math/big"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// PoolTakes tells that the nodes of a NodePool would take a pod, as far as
// labels and taints decide (kubernetes-sigs/karpenter pkg/scheduling/requirements.go:
// what neither the template nor a well-known label gives cannot be asked for).
func PoolTakes(p snapshot.NodePool, w *snapshot.WaitingPod) bool {
	for _, key := range sortedKeys(w.Selector) {
		if !PoolAllows(p, snapshot.Requirement{Key: key, Operator: "In", Values: []string{w.Selector[key]}}) {
			return false
		}
	}
	if len(w.Terms) > 0 && !slices.ContainsFunc(w.Terms, func(t snapshot.NodeTerm) bool {
		return len(t.Labels) > 0 && len(t.Fields) == 0 && !slices.ContainsFunc(t.Labels, func(r snapshot.Requirement) bool { return !PoolAllows(p, r) })
	}) {
		return false
	}
	return !slices.ContainsFunc(p.Taints, func(t snapshot.Taint) bool { return t.Effect != "PreferNoSchedule" && !tolerated(w.Tolerations, t) })
}

// PoolAllows tells that some node of the pool meets one condition of a pod.
func PoolAllows(p snapshot.NodePool, r snapshot.Requirement) bool {
	if r.Key == PoolLabel {
		return requires(r, p.Name, true, true) == fits
	}
	if value, has := p.Labels[r.Key]; has {
		return requires(r, value, true, true) == fits
	}
	given := false
	for _, own := range p.Requirements {
		if own.Key != r.Key {
			continue
		}
		given = true
		switch {
		case own.Operator == "DoesNotExist":
			return requires(r, "", false, true) == fits
		case own.Operator == "In" && !slices.ContainsFunc(own.Values, func(v string) bool { return requires(r, v, true, true) == fits }):
			return false
		case r.Operator == "In" && !slices.ContainsFunc(r.Values, func(v string) bool { return requires(own, v, true, true) == fits }):
			return false
		}
	}
	// What the pool leaves open a node may have in any value, if it has it at all.
	return given || wellKnown(r.Key) || requires(r, "", false, true) == fits
}

// wellKnown tells a label that Karpenter gives every node (pkg/apis/v1/labels.go of
// both repositories; those of EKS Auto Mode are under eks.amazonaws.com).
func wellKnown(key string) bool {
	return slices.Contains([]string{ZoneLabel, "topology.k8s.aws/zone-id", "topology.kubernetes.io/region", "node.kubernetes.io/instance-type",
		"kubernetes.io/arch", "kubernetes.io/os", "karpenter.sh/capacity-type"}, key) ||
		strings.HasPrefix(key, "karpenter.k8s.aws/instance-") || strings.HasPrefix(key, "eks.amazonaws.com/instance-")
}

// Asks are what a pod's containers ask for together: at least so much its node
// must have.
func Asks(w *snapshot.WaitingPod) map[string]*big.Rat {
	sum := map[string]*big.Rat{}
	for _, c := range w.Requests {
		for name, text := range c {
			if n, ok := ParseAmount(text); ok {
				if sum[name] == nil {
					sum[name] = new(big.Rat)
				}
				sum[name].Add(sum[name], n)
			}
		}
	}
	return sum
}
