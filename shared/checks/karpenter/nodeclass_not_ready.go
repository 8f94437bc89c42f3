package karpenter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// NodeClassNotReady: Karpenter makes no node of a class whose condition Ready is
// not True: the NodeClaim is deleted at once, and no event says so
// (kubernetes-sigs/karpenter pkg/controllers/nodeclaim/lifecycle/launch.go; what
// the conditions mean: aws/karpenter-provider-aws pkg/controllers/nodeclass).
func NodeClassNotReady() check.Check {
	return check.Check{
		ID:         checkid.KarpenterNodeclassNotReady,
		Title:      "The class of a NodePool is not ready: it gets no nodes",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.JoinCheck, check.Sweep},
		Breaks:     check.Pods,
		Proof:      check.ByPassing,
		CoversToo:  check.NodePools,
		Needs:      []snapshot.Source{snapshot.Clusters},
		Uses: []snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf, snapshot.ClassAccess, snapshot.Nodes, snapshot.WaitingPods, snapshot.Subnets,
			snapshot.SecurityGroups},
		// Why the cluster refuses the node role of a class.
		After: []checkid.ID{checkid.IAMAccessMissing, checkid.IAMAccessWrongType, checkid.IAMAccessWrongARN, checkid.IAMAccessStale, checkid.IAMAccessPolicyMissing},
		Cause: "The EC2NodeClass of Karpenter, or the NodeClass of EKS Auto Mode, that a NodePool names is not ready: no subnet, security group, AMI, instance profile or placement group fits what it selects, or Karpenter may not launch with it. Karpenter launches nothing for the NodePool, makes no event of it, and pods wait.",
		Fix:   "Correct what the class selects, or give what it selects the tags that it looks for. The condition of the class says which it is; Karpenter looks again by itself.",
		Links: []string{
			"https://karpenter.sh/docs/concepts/nodeclasses/#statusconditions",
			"https://karpenter.sh/docs/troubleshooting/",
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html",
		},
		Run: nodeClassNotReady,
	}
}

// reconciles is how long a condition may be Unknown. A reconciliation takes seconds, and
// comes again each minute; without the right to make the instance profile it
// stays so for ever (aws/karpenter-provider-aws#8223).
const reconciles = 10 * time.Minute

// nodeClassNotReady judges the classes that NodePools name. A class that nobody
// names, one that is being deleted, and a NodePool that is being deleted are
// nobody's trouble.
func nodeClassNotReady(s *facts.View) []finding.Finding {
	blocked, unread := facts.KarpenterUnread(s, snapshot.NodePoolsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf)
	if unread && len(s.NodePools) == 0 {
		return []finding.Finding{{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name}, Blocked: blocked}}
	}
	if !s.Has(snapshot.NodePoolsOf) {
		return nil // nothing tells of Karpenter here
	}
	var v finding.Verdicts
	var unseen []finding.Finding
	for _, u := range classesInUse(s) {
		switch w := judgeClass(s, u); {
		case w.bad:
			v.Fail(notReady(s, u, w))
		case w.good:
			v.Pass(u.resource, u.covers(), finding.Evidence{What: u.title(), Value: "is ready"})
		case unread && !standingKnown(s, u):
			unseen = append(unseen, finding.Finding{Outcome: finding.Unknown, Resource: u.resource, Covers: u.covers(), Blocked: blocked})
		}
	}
	if len(s.NodePools) == 0 {
		v.Pass(s.Cluster.Name, []string{s.Cluster.Name})
	}
	// What EC2 refused Karpenter is written in the NodeClaims alone, where CloudTrail is not read.
	if blocked, unread := facts.KarpenterUnread(s, snapshot.NodeClaimsOf); unread {
		unseen = append(unseen, finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name}, Blocked: blocked})
	}
	return append(v.Findings(), unseen...)
}

// standingKnown tells that something says how a class stands: it itself, or a NodePool.
func standingKnown(s *facts.View, u use) bool {
	_, known := facts.Class(s, u.ref)
	return known || slices.ContainsFunc(u.pools, func(p snapshot.NodePool) bool {
		status := p.Conditions["NodeClassReady"].Status
		return status == "True" || status == "False"
	})
}

// use is a class and the NodePools that name it.
type use struct {
	ref      snapshot.ClassRef
	resource string
	pools    []snapshot.NodePool
}

func classesInUse(s *facts.View) []use {
	byRef := map[snapshot.ClassRef][]snapshot.NodePool{}
	names := map[string]int{}
	for _, p := range s.NodePools {
		if p.Deleting || p.Class.Name == "" {
			continue
		}
		if byRef[p.Class] == nil {
			names[p.Class.Name]++
		}
		byRef[p.Class] = append(byRef[p.Class], p)
	}
	var list []use
	for ref, pools := range byRef {
		u := use{ref: ref, resource: ref.Name, pools: pools}
		if names[ref.Name] > 1 { // Karpenter's and Auto Mode's, both often "default"
			u.resource = facts.ClassKey(ref)
		}
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b use) int { return strings.Compare(facts.ClassKey(a.ref), facts.ClassKey(b.ref)) })
	return list
}

func (u use) poolNames() []string {
	var names []string
	for _, p := range u.pools {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

func (u use) covers() []string {
	list := []string{facts.ClassKey(u.ref)}
	for _, p := range u.pools {
		list = append(list, facts.PoolKey(p.Name))
	}
	return list
}

func (u use) title() string { return kindOf(u.ref) + " " + u.ref.Name }

// kindOf is the kind as people write it.
func kindOf(r snapshot.ClassRef) string {
	switch r.Group {
	case snapshot.KarpenterGroup:
		return "EC2NodeClass"
	case snapshot.AutoModeGroup:
		return "NodeClass"
	}
	return cmp.Or(r.Kind, "NodeClass")
}

// state is how a class stands.
type state struct {
	good, bad bool
	gone      bool
	class     *snapshot.NodeClass
	// of is the condition that says why, and its type.
	of   string
	says snapshot.ObservedCondition
}

// judgeClass goes by the class's own condition, and where the class was not read
// by what its NodePools say of it.
func judgeClass(s *facts.View, u use) state {
	class, known := facts.Class(s, u.ref)
	switch {
	case class == nil && known:
		return judgeGone(s, u)
	case class == nil:
		return judgeByPools(s, u)
	case class.Deleting:
		return state{}
	}
	ready := class.Conditions["Ready"]
	w := state{class: class}
	w.of, w.says = because(*class)
	switch {
	case ready.Status == "True" && ready.Current(class.Generation):
		w.good = true
	case ready.Status == "False":
		w.bad = facts.Held(s, ready, class.Generation, facts.ClassSettles) && w.says.Current(class.Generation)
	case ready.Status == "Unknown":
		w.bad = facts.Held(s, ready, class.Generation, reconciles) && facts.Held(s, w.says, class.Generation, reconciles)
	}
	return w
}

// judgeGone is for a class that is not there. A NodePool that nobody uses may
// name one that is to come.
func judgeGone(s *facts.View, u use) state {
	for _, p := range u.pools {
		c := p.Conditions["NodeClassReady"]
		if c.Status == "False" && c.Reason == "NodeClassNotFound" && facts.Held(s, c, p.Generation, facts.ClassSettles) && inUse(s, p) {
			return state{bad: true, gone: true, of: "NodeClassReady", says: c}
		}
	}
	return state{}
}

// inUse tells that a NodePool has nodes, or has asked for some, or that a pod
// waits for it.
func inUse(s *facts.View, p snapshot.NodePool) bool {
	used, _ := scheduling.ParseAmount(p.Used["nodes"])
	return used.Sign() > 0 || slices.ContainsFunc(s.NodeClaims, func(c snapshot.NodeClaim) bool { return c.Pool == p.Name && !c.Deleting }) ||
		slices.ContainsFunc(s.Nodes, func(n snapshot.Node) bool { return n.Labels[scheduling.PoolLabel] == p.Name }) ||
		slices.ContainsFunc(s.WaitingPods, func(w snapshot.WaitingPod) bool { return scheduling.PoolTakes(p, &w) && !w.Gated })
}

func judgeByPools(s *facts.View, u use) state {
	var w state
	for _, p := range u.pools {
		c := p.Conditions["NodeClassReady"]
		switch {
		case c.Status == "True" && c.Current(p.Generation):
			w.good = true
		case c.Reason == "NodeClassTerminating":
			return state{}
		case c.Status == "False" && c.Reason == "NodeClassReadinessUnknown":
			w.bad = w.bad || facts.Held(s, c, p.Generation, reconciles)
		case c.Status == "False":
			w.bad = w.bad || facts.Held(s, c, p.Generation, facts.ClassSettles) && (c.Reason != "NodeClassNotFound" || inUse(s, p))
		}
		if w.bad && w.of == "" {
			w.of, w.says = "NodeClassReady", c
		}
	}
	w.good = w.good && !w.bad
	return w
}

// because is the condition of a class that says why it is not ready: Ready
// itself only adds them up. One that waits for the others (DependenciesNotReady)
// says nothing of its own.
func because(class snapshot.NodeClass) (string, snapshot.ObservedCondition) {
	rank := func(name string) int {
		c := class.Conditions[name]
		switch {
		case c.Reason == "DependenciesNotReady":
			return 2
		case c.Status == "False":
			return 0
		}
		return 1
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(class.Conditions)) {
		if status := class.Conditions[name].Status; name != "Ready" && (status == "False" || status == "Unknown") {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return "Ready", class.Conditions["Ready"]
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return list[0], class.Conditions[list[0]]
}

func notReady(s *facts.View, u use, w state) finding.Finding {
	pools := u.poolNames()
	f := finding.Finding{
		Outcome: finding.Fail, Resource: u.resource, Covers: u.covers(), Resources: pools, Unconditional: true,
		Title: phrase.Title("%s no nodes: %s %s", subject(pools), u.title(), short(w)),
		Why:   fmt.Sprintf("%s launches no node for %s: %s %s.", maker(u.ref), named(pools), u.title(), long(w)),
		Fix: finding.Fix{
			Text:    next(u.ref, w),
			Command: shell.Command("kubectl", "describe", facts.ClassKind(u.ref), u.ref.Name),
			Console: link.Cluster(s),
		},
	}
	if f.Pods = waitFor(s, u); len(f.Pods) > 0 {
		f.Why += fmt.Sprintf(" %s for %s, and %s no other NodePool.", waitingPods(f.Pods), phrase.Plural(len(pools), "it", "them"), phrase.Plural(len(f.Pods), "fits", "fit"))
	}
	if w.gone {
		f.Fix.Command = shell.Command("kubectl", "get", "nodepool", pools[0], "-o", "yaml")
	}
	f.Evidence = append(f.Evidence, finding.Evidence{What: u.title(), Value: conditionText(w.of, w.says)})
	if w.class != nil {
		for _, name := range slices.Sorted(maps.Keys(w.class.Conditions)) {
			if c := w.class.Conditions[name]; name != w.of && name != "Ready" && c.Status != "True" && c.Reason != "DependenciesNotReady" {
				f.Evidence = append(f.Evidence, finding.Evidence{What: "Also", Value: conditionText(name, c)})
			}
		}
		f.Evidence = append(f.Evidence, instead(s, *w.class, w.of)...)
		f.Evidence = append(f.Evidence, accessUnread(s, *w.class)...)
	}
	f.Evidence = append(f.Evidence, finding.Evidence{What: "NodePools", Value: phrase.Some(pools, 10)})
	if w.of == "SubnetsReady" || w.of == "SecurityGroupsReady" {
		f.Fix.Command = cmp.Or(listing(s, w.of), f.Fix.Command)
	}
	return f
}

// accessUnread names what would have shown why the cluster refuses a class's node role.
func accessUnread(s *facts.View, class snapshot.NodeClass) []finding.Evidence {
	if _, refused := class.Unauthorized(); !refused {
		return nil
	}
	var list []string
	for _, f := range append([]snapshot.Failure{s.Failures[snapshot.ClassAccess]}, slices.Collect(maps.Values(s.Missing[snapshot.ClassAccess]))...) {
		if text := fmt.Sprintf("%s (%s: %s)", snapshot.ClassAccess, f.Reason, f.Call); f.Call != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return []finding.Evidence{{What: "Not checked", Value: strings.Join(list, ", ")}}
}

// waitFor are the pods that only NodePools of the class would take, and that the
// scheduler has found no node for since minutes.
func waitFor(s *facts.View, u use) []string {
	var names []string
	for _, w := range facts.Unschedulable(s, waits) {
		takes := func(list []snapshot.NodePool) bool {
			return slices.ContainsFunc(list, func(p snapshot.NodePool) bool { return scheduling.PoolTakes(p, w) })
		}
		others := slices.DeleteFunc(slices.Clone(s.NodePools), func(p snapshot.NodePool) bool {
			names, _ := exhausted(s, p, w)
			return p.Class == u.ref || p.Deleting || !usable(s, p) || len(names) > 0
		})
		if takes(u.pools) && !takes(others) {
			names = append(names, w.Key())
		}
	}
	slices.Sort(names)
	return names[:min(len(names), zones.MostPods)]
}

func listing(s *facts.View, of string) string {
	if s.Cluster.VPC == "" {
		return ""
	}
	if of == "SubnetsReady" {
		return command.AWS(s, "ec2 describe-subnets", "--filters", "Name=vpc-id,Values="+s.Cluster.VPC, "--query", "Subnets[].[SubnetId,AvailabilityZone,Tags]")
	}
	return command.AWS(s, "ec2 describe-security-groups", "--filters", "Name=vpc-id,Values="+s.Cluster.VPC, "--query", "SecurityGroups[].[GroupId,GroupName,Tags]")
}

// conditionText is a condition as it is, cut: anybody who may write the object's status
// wrote it.
func conditionText(name string, c snapshot.ObservedCondition) string {
	text := name + " is " + cmp.Or(c.Status, "not said")
	if c.Reason != "" {
		text += ", " + phrase.Clip(c.Reason)
	}
	if c.Message != "" {
		text += ": " + phrase.Clip(strings.TrimSuffix(c.Message, "."))
	}
	if !c.Since.IsZero() {
		text += " (since " + phrase.ClockTime(c.Since) + ")"
	}
	return text
}

func subject(pools []string) string {
	if len(pools) == 1 {
		return "NodePool " + pools[0] + " gets"
	}
	return fmt.Sprintf("%d NodePools get", len(pools))
}

func named(pools []string) string {
	return phrase.Plural(len(pools), "NodePool ", "NodePools ") + phrase.Some(pools, 3)
}

func maker(r snapshot.ClassRef) string {
	if r.Group == snapshot.AutoModeGroup {
		return "EKS Auto Mode"
	}
	return "Karpenter"
}
