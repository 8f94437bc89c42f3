package karpenter

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"rollcall/shared/checkid"
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
		ID:         checkid.KarpenterNodepoolLimit,
		Title:      "A NodePool has reached its limit, and pods wait for its nodes",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.JoinCheck, check.Sweep},
		Breaks:     check.Pods,
		Proof:      check.ByPassing,
		CoversToo:  check.NodePools,
		Needs:      []snapshot.Source{snapshot.Clusters},
		Uses:       []snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf, snapshot.Nodes, snapshot.WaitingPods, snapshot.PoolEventsOf, snapshot.InstanceTypes},
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
			if names, _ := exhausted(s, p, nil); len(names) > 0 {
				v.Unknown(p.Name, covers, s.Why(snapshot.WaitingPods))
			}
			continue
		}
		var pods []*snapshot.WaitingPod
		by, certain := map[string]bool{}, false
		for _, w := range waiting {
			if !scheduling.PoolTakes(p, w) {
				continue
			}
			kept, sure := exhausted(s, p, w)
			if said := karpenterSays(s, p, w); said {
				if sure = true; len(kept) == 0 {
					kept = slices.Sorted(maps.Keys(p.Limits))
				}
			} else if len(kept) == 0 || takenElsewhere(s, p, w) {
				continue
			}
			pods, certain = append(pods, w), certain || sure
			for _, name := range kept {
				by[name] = true
			}
		}
		if len(pods) > 0 {
			f := limitReached(s, p, pods, slices.Sorted(maps.Keys(by)))
			if !certain {
				f.Confidence = finding.Likely
			}
			v.Fail(f)
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
		if o.Name == p.Name || o.Deleting || !scheduling.PoolTakes(o, w) || !usable(s, o) {
			return false
		}
		names, _ := exhausted(s, o, w)
		return len(names) == 0
	})
}

// saidFor is how long an event of Karpenter counts: it repeats it every five minutes for as
// long as the pod waits (kubernetes-sigs/karpenter
// pkg/controllers/provisioning/scheduling/events.go).
const saidFor = 10 * time.Minute

// limitForm is Karpenter's own word for it, of both forms (serrors.Wrap since v1.4:
// pkg/controllers/provisioning/scheduling/scheduler.go, addToNewNodeClaim).
var limitForm = regexp.MustCompile(`(?:all available instance types exceed limits for|node limits have been exhausted for) nodepool:? (?:\(NodePool=([a-z0-9.-]+)|"([a-z0-9.-]+)")`)

// karpenterSays reports whether Karpenter says of a pod that a pool's limits keep it.
func karpenterSays(s *facts.View, p snapshot.NodePool, w *snapshot.WaitingPod) bool {
	return slices.ContainsFunc(s.PoolEvents, func(e snapshot.PoolEvent) bool {
		return e.Kind == "Pod" && e.Name == w.Key() && s.Time.Sub(e.Last) <= saidFor &&
			slices.ContainsFunc(limitForm.FindAllStringSubmatch(e.Message, -1), func(m []string) bool { return m[1]+m[2] == p.Name })
	})
}

// exhausted are the resources of which a pool's limit leaves too little for each node that
// it may launch for a pod; for no pod, for any node at all. Sure is false where that rests
// on the sizes that families had when the table of types was made.
func exhausted(s *facts.View, p snapshot.NodePool, w *snapshot.WaitingPod) (names []string, sure bool) {
	if len(p.Limits) == 0 {
		return nil, false
	}
	if names = over(p, scheduling.SmallestNodes(p, w, s.InstanceTypes, false)); len(names) > 0 {
		return names, true
	}
	if !scheduling.NamesFamilies(p) {
		return nil, false
	}
	return over(p, scheduling.SmallestNodes(p, w, s.InstanceTypes, true)), false
}

// over are the resources of which each of some nodes has more than a pool's limits leave;
// none where one of them fits.
func over(p snapshot.NodePool, nodes []map[string]*big.Rat) []string {
	names := map[string]bool{}
	for _, node := range nodes {
		fits := true
		for name := range p.Limits {
			left, ok := scheduling.Remaining(p.Limits[name], p.Used[name])
			// Every node has CPU, memory, disk and room for pods. Of anything else only
			// those that ask for it need a node that has it.
			every := slices.Contains([]string{"cpu", "memory", "nodes", "pods", "ephemeral-storage"}, name)
			if ok && (node[name] != nil && left.Cmp(node[name]) < 0 || every && left.Sign() <= 0) {
				fits, names[name] = false, true
			}
		}
		if fits {
			return nil
		}
	}
	return slices.Sorted(maps.Keys(names))
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
		switch left, ok := scheduling.Remaining(p.Limits[name], p.Used[name]); {
		case ok && left.Sign() <= 0:
			value += ", nothing left"
		case ok && name == "cpu" && slices.Contains(by, name):
			if left.IsInt() {
				value += ", " + left.FloatString(0) + " left"
			}
			value += leastCPU(s, p, pods[0])
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

// leastCPU is how many CPUs the smallest node has that a pool may launch for a pod.
func leastCPU(s *facts.View, p snapshot.NodePool, w *snapshot.WaitingPod) string {
	var least *big.Rat
	for _, node := range scheduling.SmallestNodes(p, w, s.InstanceTypes, scheduling.NamesFamilies(p)) {
		if least == nil || node["cpu"].Cmp(least) < 0 {
			least = node["cpu"]
		}
	}
	if least == nil || !least.IsInt() {
		return ""
	}
	return "; a node for " + w.Key() + " has at least " + least.FloatString(0)
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
