package karpenter

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// NodePoolLimit: Karpenter leaves out every instance type that has more of a
// resource than the pool's limit leaves (kubernetes-sigs/karpenter
// pkg/controllers/provisioning/scheduling/scheduler.go, filterByRemainingResources;
// karpenter.sh "spec.limits"). It is no condition of the NodePool: only events of
// the pods say so.
func NodePoolLimit() check.Check {
	return check.Check{
		ID:         "karpenter/nodepool-limit",
		Title:      "A NodePool has reached its limit, and pods wait for its nodes",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.JoinCheck, check.Sweep},
		Breaks:     check.Pods,
		Proof:      check.ByPassing,
		CoversToo:  check.NodePools,
		Needs:      []snapshot.Source{snapshot.Clusters},
		Uses:       []snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf, snapshot.Nodes, snapshot.WaitingPods},
		Cause:      "The nodes of a NodePool have as much CPU, memory or whatever else its limits name as they may, or what is left is less than the next node needs; pods that its nodes would take wait, and no other NodePool takes them. A limit that is reached while nobody waits is no fault: it is what it is for.",
		Fix:        "Raise the limit, free what the NodePool's nodes hold, or let another NodePool take the pods.",
		Links: []string{
			"https://karpenter.sh/docs/concepts/nodepools/#speclimits",
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-pool.html",
		},
		Run: nodePoolLimit,
	}
}

// waits is how long the scheduler must have found no node for a pod: what
// Karpenter launches is Ready in a minute or two.
const waits = 5 * time.Minute

func nodePoolLimit(s *facts.View) []finding.Finding {
	if blocked, unread := facts.KarpenterUnread(s, snapshot.NodePoolsOf); unread {
		return []finding.Finding{{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name}, Blocked: blocked}}
	}
	if !s.Has(snapshot.NodePoolsOf) {
		return nil // nothing tells of Karpenter here
	}
	var v finding.Verdicts
	waiting := facts.Unschedulable(s, waits)
	for _, p := range s.NodePools {
		covers := []string{facts.PoolKey(p.Name)}
		if p.Deleting || !usable(s, p) {
			continue // its limit keeps nobody waiting
		}
		if !s.Has(snapshot.WaitingPods) {
			if len(exhausted(p, nil)) > 0 {
				v.Unknown(p.Name, covers, s.Why(snapshot.WaitingPods))
			}
			continue
		}
		var pods []*snapshot.WaitingPod
		by := map[string]bool{}
		for _, w := range waiting {
			kept := exhausted(p, w)
			if len(kept) == 0 || !scheduling.PoolTakes(p, w) || takenElsewhere(s, p, w) {
				continue
			}
			pods = append(pods, w)
			for _, name := range kept {
				by[name] = true
			}
		}
		if len(pods) > 0 {
			v.Fail(limitReached(s, p, pods, slices.Sorted(maps.Keys(by))))
			continue
		}
		v.Pass(p.Name, covers, finding.Evidence{What: "NodePool " + p.Name, Value: "keeps no pod waiting by its limits"})
	}
	if len(s.NodePools) == 0 {
		v.Pass(s.Cluster.Name, []string{s.Cluster.Name})
	}
	return v.Findings()
}

// usable tells that a NodePool could launch if it had room: one whose class is
// not ready launches nothing, whatever its limits are.
func usable(s *facts.View, p snapshot.NodePool) bool {
	class := use{ref: p.Class, resource: p.Class.Name, pools: []snapshot.NodePool{p}}
	return !judgeClass(s, class).bad
}

// takenElsewhere tells that another NodePool has room for a pod: then it is not
// the limit that keeps it waiting.
func takenElsewhere(s *facts.View, p snapshot.NodePool, w *snapshot.WaitingPod) bool {
	return slices.ContainsFunc(s.NodePools, func(o snapshot.NodePool) bool {
		return o.Name != p.Name && !o.Deleting && scheduling.PoolTakes(o, w) && len(exhausted(o, w)) == 0 && usable(s, o)
	})
}

// exhausted are the resources of which a pool's limit leaves too little for a
// node that takes a pod; for no pod, for any node at all.
func exhausted(p snapshot.NodePool, w *snapshot.WaitingPod) []string {
	asks := map[string]*big.Rat{}
	if w != nil {
		asks = scheduling.Asks(w)
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(p.Limits)) {
		left, ok := scheduling.Remaining(p.Limits[name], p.Used[name])
		if !ok {
			continue
		}
		least := new(big.Rat)
		switch name {
		case "cpu":
			least = scheduling.LeastCPUs(p)
		case "nodes":
			least.SetInt64(1)
		}
		if n := asks[name]; n != nil && n.Cmp(least) > 0 {
			least = n
		}
		// Every node has CPU, memory, disk and room for pods. Of anything else only
		// those that ask for it need a node that has it.
		every := slices.Contains([]string{"cpu", "memory", "nodes", "pods", "ephemeral-storage"}, name)
		if left.Cmp(least) < 0 || every && left.Sign() <= 0 {
			list = append(list, name)
		}
	}
	return list
}

func limitReached(s *facts.View, p snapshot.NodePool, pods []*snapshot.WaitingPod, by []string) finding.Finding {
	var names []string
	for _, w := range pods {
		names = append(names, w.Key())
	}
	slices.Sort(names)
	var told []string
	for _, name := range by {
		told = append(told, fmt.Sprintf("%s of %s %s", orZero(p.Used[name]), p.Limits[name], name))
	}
	f := finding.Finding{
		Outcome: finding.Fail, Resource: p.Name, Covers: []string{facts.PoolKey(p.Name)}, Unconditional: true,
		Pods:  names[:min(len(names), zones.MostPods)],
		Title: phrase.Title("NodePool %s has reached its limit: %s", p.Name, phrase.And(told)),
		Why: fmt.Sprintf("%s for a node of NodePool %s, whose limit leaves too little for one: its nodes have %s. %s no other NodePool.",
			waitingPods(names), p.Name, phrase.And(told), phrase.Plural(len(names), "The pod fits", "The pods fit")),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Raise spec.limits of NodePool %s (%s), or move pods off its nodes so that Karpenter removes some.", p.Name, strings.Join(by, ", ")),
			Command: shell.Command("kubectl", "edit", "nodepool", p.Name),
			Console: link.Cluster(s),
		},
	}
	for _, name := range slices.Sorted(maps.Keys(p.Limits)) {
		value := fmt.Sprintf("%s of %s", orZero(p.Used[name]), p.Limits[name])
		if left, ok := scheduling.Remaining(p.Limits[name], p.Used[name]); ok && left.Sign() <= 0 {
			value += ", nothing left"
		}
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Limit of " + phrase.Clip(name), Value: value})
	}
	const most = 5
	for i, w := range pods {
		if i == most {
			f.Evidence = append(f.Evidence, finding.Evidence{What: "More pods", Value: fmt.Sprint(len(pods) - most)})
			break
		}
		value := "waits since " + phrase.ClockTime(w.Since())
		if asks := asked(w); asks != "" {
			value += ", asks for " + asks
		}
		f.Evidence = append(f.Evidence, finding.Evidence{What: w.Key(), Value: value + ": " + phrase.Clip(w.Scheduled.Message)})
	}
	return f
}

func waitingPods(names []string) string {
	if len(names) == 1 {
		return "Pod " + names[0] + " waits"
	}
	return fmt.Sprintf("Pod %s and %d more wait", names[0], len(names)-1)
}

// asked is what the pod's first container asks for, where it has one: sums are
// not written as anybody wrote them.
func asked(w *snapshot.WaitingPod) string {
	if len(w.Requests) == 0 {
		return ""
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(w.Requests[0])) {
		words = append(words, w.Requests[0][name]+" "+name)
	}
	text := phrase.And(words)
	if more := len(w.Requests) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more %s)", more, phrase.Plural(more, "container", "containers"))
	}
	return phrase.Clip(text)
}

func orZero(text string) string {
	if text == "" {
		return "0"
	}
	return text
}
