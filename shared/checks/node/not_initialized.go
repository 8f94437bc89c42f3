package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/branch"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// NotInitialized: a NodeClaim is initialized when its node is Ready, has none of
// the startup taints, none of the taints of a cloud provider or a kubelet that
// starts, and all resources that were asked for (kubernetes-sigs/karpenter
// pkg/controllers/nodeclaim/lifecycle/initialization.go). Nothing ends the wait:
// only launch and registration have a clock (liveness.go).
func NotInitialized() check.Check {
	return check.Check{
		ID:         checkid.NodeNotInitialized,
		Title:      "The node is Ready, and Karpenter does not call it initialized",
		Confidence: finding.Likely,
		WatchedBy:  []check.Detector{check.JoinCheck, check.Sweep},
		Breaks:     check.Pods,
		Proof:      check.ByPassing,
		CoversToo:  check.NodePools,
		Needs:      []snapshot.Source{snapshot.Clusters},
		Uses:       []snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.Nodes, snapshot.NodeEventsOf},
		After:      []checkid.ID{checkid.NodeUninitialized, checkid.IPBranchInterfaces},
		Predictive: true,
		Cause:      "The node of a NodeClaim registered and is Ready, and for minutes Karpenter waits for it: a startup taint that nobody takes away keeps pods off it, or a resource that was asked for (a GPU, a pod network interface) is not there, because its device plugin or its driver does not run. Karpenter neither replaces nor consolidates such a node.",
		Fix:        "Look at who is to take the taint away, or at the DaemonSet of the device plugin: whether it runs on this node, and what its log says.",
		Links: []string{
			"https://karpenter.sh/docs/concepts/nodepools/#spectemplatespecstartuptaints",
			"https://karpenter.sh/docs/concepts/nodeclaims/",
		},
		Run: notInitialized,
	}
}

// How long a node that is Ready may wait: agents that take a startup taint away
// need a minute or two, the driver of a GPU may be compiled first.
const (
	taintStays  = 5 * time.Minute
	driverComes = 10 * time.Minute
)

func notInitialized(s *facts.View) []finding.Finding {
	if blocked, unread := facts.KarpenterUnread(s, snapshot.NodePoolsOf, snapshot.NodeClaimsOf); unread {
		return []finding.Finding{{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name}, Blocked: blocked}}
	}
	if !s.Has(snapshot.NodeClaimsOf) || !s.Has(snapshot.Nodes) {
		return nil // nothing tells of Karpenter here, or the nodes have a failure of their own
	}
	nodes := map[string]*snapshot.Node{}
	for i := range s.Nodes {
		nodes[s.Nodes[i].Name] = &s.Nodes[i]
	}
	type group struct{ pool, reason, message string }
	var v finding.Verdicts
	var order []group
	stuck := map[group][]snapshot.NodeClaim{}
	for _, c := range s.NodeClaims {
		covers := []string{facts.ClaimKey(c.Name)}
		initialized := c.Conditions["Initialized"]
		switch {
		case initialized.Status == "True":
			v.Pass(cmp.Or(c.Pool, c.Name), covers, finding.Evidence{What: c.Node, Value: "is initialized"})
		case waitsTooLong(s, c, nodes[c.Node]):
			g := group{cmp.Or(c.Pool, c.Name), initialized.Reason, initialized.Message}
			if stuck[g] == nil {
				order = append(order, g)
			}
			stuck[g] = append(stuck[g], c)
		}
	}
	// One finding for each pool, by what most of its nodes wait for.
	slices.SortStableFunc(order, func(a, b group) int {
		return cmp.Or(strings.Compare(a.pool, b.pool), cmp.Compare(len(stuck[b]), len(stuck[a])), strings.Compare(a.message, b.message))
	})
	for from := 0; from < len(order); {
		to := from
		var list []snapshot.NodeClaim
		for ; to < len(order) && order[to].pool == order[from].pool; to++ {
			list = append(list, stuck[order[to]]...)
		}
		v.Fail(notInitializedFinding(s, order[from].pool, list))
		from = to
	}
	if len(s.NodeClaims) == 0 {
		v.Pass(s.Cluster.Name, []string{s.Cluster.Name})
	}
	return v.Findings()
}

// waitsTooLong tells that a claim's node is Ready, and Karpenter has waited for
// something else for minutes.
func waitsTooLong(s *facts.View, c snapshot.NodeClaim, n *snapshot.Node) bool {
	registered, initialized := c.Conditions["Registered"], c.Conditions["Initialized"]
	if c.Deleting || n == nil || n.Ready.Status != "True" || registered.Status != "True" {
		return false
	}
	span := taintStays
	switch initialized.Reason {
	case "StartupTaintsExist", "KnownEphemeralTaintsExist":
	case "ResourceNotRegistered", "DRADriverPoolsNotPublished":
		span = driverComes
	default:
		return false // Karpenter waits for the node itself, or has not looked yet
	}
	// The condition may have been Unknown since the claim was made: the node
	// tells since when nothing else is waited for.
	return initialized.Current(c.Generation) && s.Time.Sub(n.Ready.Since) >= span && s.Time.Sub(registered.Since) >= span
}

func notInitializedFinding(s *facts.View, pool string, list []snapshot.NodeClaim) finding.Finding {
	first := list[0]
	c := first.Conditions["Initialized"]
	var hosts, covers, resources []string
	for _, claim := range list {
		// A title is cut at its end; the domain tells nothing there.
		host, _, _ := strings.Cut(claim.Node, ".")
		hosts = append(hosts, host)
		covers = append(covers, facts.ClaimKey(claim.Name))
		resources = append(resources, claim.Node)
		if claim.Instance != "" && claim.Instance != claim.Node {
			resources = append(resources, claim.Instance)
		}
	}
	what, next := waitedFor(c.Reason)
	f := finding.Finding{
		Outcome: finding.Fail, Resource: pool, Covers: covers, Resources: resources, Unconditional: true,
		Title: phrase.Title("%s %s not initialized: %s", phrase.Subject(hosts, "node"), phrase.Verb(hosts, "is", "are"), what),
		Why: fmt.Sprintf("%s (NodeClaim %s of NodePool %s) is Ready since %s, but not initialized: %s.",
			first.Node, first.Name, pool, phrase.ClockTime(readySince(s, first.Node)), phrase.Clip(strings.TrimSuffix(cmp.Or(c.Message, c.Reason), "."))),
		Fix: finding.Fix{
			Text:    next,
			Command: shell.Command("kubectl", "describe", "node", first.Node),
			Console: link.Cluster(s),
		},
	}
	if more := len(list) - 1; more > 0 {
		f.Why += fmt.Sprintf(" So are %d more.", more)
	}
	if e := facts.UnsupportedByController(s, first.Node); e != nil && strings.Contains(c.Message, branch.Resource) {
		// It says why itself; what pods lack of branch interfaces is what follows from it.
		f.Behind = []checkid.ID{checkid.NodeUninitialized}
		f.Title = phrase.Title("%s %s not initialized: the VPC resource controller does not support the type", phrase.Subject(hosts, "node"), phrase.Verb(hosts, "is", "are"))
		f.Why += fmt.Sprintf(" The VPC resource controller says of it: %q.", phrase.Clip(strings.TrimSuffix(e.Message, ".")))
		f.Fix.Text = "Leave this instance type out of the NodePool's requirements, or Karpenter launches it again; other types carry branch interfaces."
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Event of " + e.Node, Value: e.Reason + ": " + phrase.Clip(e.Message)})
	}
	const most = 5
	for i, claim := range list {
		if i == most {
			f.Evidence = append(f.Evidence, finding.Evidence{What: "More", Value: fmt.Sprintf("%d NodeClaims", len(list)-most)})
			break
		}
		c := claim.Conditions["Initialized"]
		value := "Initialized is " + c.Status + ", " + phrase.Clip(c.Reason)
		if c.Message != "" {
			value += ": " + phrase.Clip(c.Message)
		}
		f.Evidence = append(f.Evidence, finding.Evidence{What: "NodeClaim " + claim.Name, Value: strings.TrimSpace("node " + claim.Node + "; " + value)})
	}
	return f
}

// waitedFor is what Karpenter waits for, and what to look at.
func waitedFor(reason string) (what, next string) {
	switch reason {
	case "StartupTaintsExist":
		return "a startup taint stays", "Find the agent that should remove the startup taint: does it run on this node, and does it tolerate the taint? If nothing removes the taint, delete it from startupTaints of the NodePool."
	case "KnownEphemeralTaintsExist":
		return "a taint of its start stays", "Look at what should remove the taint: the cloud controller, or the kubelet."
	case "DRADriverPoolsNotPublished":
		return "a DRA driver has published nothing", "Look at the DRA driver's pods on the node, and at their logs."
	}
	return "a requested resource is missing", "Look at the device plugin's pod on the node and at its log, and check that the AMI has the driver."
}

func readySince(s *facts.View, node string) time.Time {
	for _, n := range s.Nodes {
		if n.Name == node {
			return n.Ready.Since
		}
	}
	return time.Time{}
}
