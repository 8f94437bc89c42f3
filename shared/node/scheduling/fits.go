package scheduling

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/snapshot"
)

// fit tells whether Kubernetes would let a pod onto a node, as far as labels
// and taints decide.
type fit int

const (
	FitsNot fit = iota
	FitsMaybe
	fits
)

// Node is a node, or the node that a group would launch, as the scheduler
// judges it.
type Node struct {
	Name   string // of a node that is there
	Labels map[string]string
	Taints []snapshot.Taint
	// Whole tells that the labels and taints are all that it has.
	Whole bool
}

// Takes tells whether the pod may run there, and why not.
func (b Node) Takes(p *snapshot.WaitingPod) (fit, string) {
	if p == nil {
		return fits, ""
	}
	result := fits
	for _, key := range sortedKeys(p.Selector) {
		switch b.matches(snapshot.Requirement{Key: key, Operator: "In", Values: []string{p.Selector[key]}}) {
		case FitsNot:
			return FitsNot, "it asks for " + key + "=" + p.Selector[key]
		case FitsMaybe:
			result = FitsMaybe
		}
	}
	if len(p.Terms) > 0 {
		best := FitsNot
		for _, t := range p.Terms {
			best = max(best, b.term(t))
		}
		if best == FitsNot {
			return FitsNot, "its node affinity allows none of them"
		}
		result = min(result, best)
	}
	for _, t := range b.Taints {
		if !passing(t.Key) && t.Effect != "PreferNoSchedule" && !tolerated(p.Tolerations, t) {
			return FitsNot, "it does not tolerate the taint " + t.Key
		}
	}
	if !b.Whole {
		result = min(result, FitsMaybe)
	}
	return result, ""
}

// term is what one term of an affinity comes to. A term without a condition
// matches nothing (Kubernetes, NodeSelectorTerm).
func (b Node) term(t snapshot.NodeTerm) fit {
	if len(t.Labels)+len(t.Fields) == 0 {
		return FitsNot
	}
	result := fits
	for _, r := range t.Labels {
		result = min(result, b.matches(r))
	}
	for _, r := range t.Fields {
		// The only field is the node's name, which no new node will have.
		result = min(result, requires(r, b.Name, b.Name != "", true))
	}
	return result
}

func (b Node) matches(r snapshot.Requirement) fit {
	value, has := b.Labels[r.Key]
	return requires(r, value, has, b.Whole)
}

// requires judges one condition; whole tells that what it has not got is not
// there.
func requires(r snapshot.Requirement, value string, has, whole bool) fit {
	if !has && !whole {
		return FitsMaybe
	}
	ok := false
	switch r.Operator {
	case "In":
		ok = has && slices.Contains(r.Values, value)
	case "NotIn":
		ok = !has || !slices.Contains(r.Values, value)
	case "Exists":
		ok = has
	case "DoesNotExist":
		ok = !has
	case "Gt", "Lt", "Gte", "Lte":
		have, err := strconv.ParseInt(value, 10, 64)
		if err != nil || len(r.Values) != 1 {
			return FitsNot
		}
		want, err := strconv.ParseInt(r.Values[0], 10, 64)
		ok = err == nil && (r.Operator == "Gt" && have > want || r.Operator == "Lt" && have < want || r.Operator == "Gte" && have >= want || r.Operator == "Lte" && have <= want)
	default:
		return FitsMaybe // an operator newer than this code
	}
	if ok {
		return fits
	}
	return FitsNot
}

// passing tells a taint that says how the node is now, not what it is for.
func passing(key string) bool {
	for _, prefix := range []string{"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/", "ebs.csi.aws.com/agent-not-ready"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

func tolerated(list []snapshot.Toleration, t snapshot.Taint) bool {
	return slices.ContainsFunc(list, func(o snapshot.Toleration) bool {
		if o.Effect != "" && o.Effect != t.Effect {
			return false
		}
		if o.Key == "" {
			return o.Operator == "Exists"
		}
		return o.Key == t.Key && (o.Operator == "Exists" || o.Value == t.Value)
	})
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// In is the berth with the zone's own label.
func (b Node) In(zone string) Node {
	labels := maps.Clone(b.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, key := range []string{ZoneLabel, "topology.ebs.csi.aws.com/zone", "failure-domain.beta.kubernetes.io/zone"} {
		labels[key] = zone
	}
	b.Labels = labels
	return b
}
