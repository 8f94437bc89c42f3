package facts

import (
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/snapshot"
)

// fit tells whether Kubernetes would let a pod onto a node, as far as labels
// and taints decide.
type fit int

const (
	fitsNot fit = iota
	fitsMaybe
	fits
)

// schedulingFit is a node, or the node that a group would launch, as the scheduler
// judges it.
type schedulingFit struct {
	name   string // of a node that is there
	labels map[string]string
	taints []snapshot.Taint
	// whole tells that the labels and taints are all that it has.
	whole bool
}

// takes tells whether the pod may run there, and why not.
func (b schedulingFit) takes(p *snapshot.WaitingPod) (fit, string) {
	if p == nil {
		return fits, ""
	}
	result := fits
	for _, key := range sortedKeys(p.Selector) {
		switch b.matches(snapshot.Requirement{Key: key, Operator: "In", Values: []string{p.Selector[key]}}) {
		case fitsNot:
			return fitsNot, "it asks for " + key + "=" + p.Selector[key]
		case fitsMaybe:
			result = fitsMaybe
		}
	}
	if len(p.Terms) > 0 {
		best := fitsNot
		for _, t := range p.Terms {
			best = max(best, b.term(t))
		}
		if best == fitsNot {
			return fitsNot, "its node affinity allows none of them"
		}
		result = min(result, best)
	}
	for _, t := range b.taints {
		if !passing(t.Key) && t.Effect != "PreferNoSchedule" && !tolerated(p.Tolerations, t) {
			return fitsNot, "it does not tolerate the taint " + t.Key
		}
	}
	if !b.whole {
		result = min(result, fitsMaybe)
	}
	return result, ""
}

// term is what one term of an affinity comes to. A term without a condition
// matches nothing (Kubernetes, NodeSelectorTerm).
func (b schedulingFit) term(t snapshot.NodeTerm) fit {
	if len(t.Labels)+len(t.Fields) == 0 {
		return fitsNot
	}
	result := fits
	for _, r := range t.Labels {
		result = min(result, b.matches(r))
	}
	for _, r := range t.Fields {
		// The only field is the node's name, which no new node will have.
		result = min(result, requires(r, b.name, b.name != "", true))
	}
	return result
}

func (b schedulingFit) matches(r snapshot.Requirement) fit {
	value, has := b.labels[r.Key]
	return requires(r, value, has, b.whole)
}

// requires judges one condition; whole tells that what it has not got is not
// there.
func requires(r snapshot.Requirement, value string, has, whole bool) fit {
	if !has && !whole {
		return fitsMaybe
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
	case "Gt", "Lt":
		have, err := strconv.ParseInt(value, 10, 64)
		if err != nil || len(r.Values) != 1 {
			return fitsNot
		}
		want, err := strconv.ParseInt(r.Values[0], 10, 64)
		ok = err == nil && (r.Operator == "Gt" && have > want || r.Operator == "Lt" && have < want)
	default:
		return fitsMaybe // an operator newer than this code
	}
	if ok {
		return fits
	}
	return fitsNot
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
