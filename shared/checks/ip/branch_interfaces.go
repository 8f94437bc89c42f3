package ip

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/branch"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

// BranchInterfaces: a pod that a SecurityGroupPolicy selects asks for one
// vpc.amazonaws.com/pod-eni, which the webhook of the VPC resource controller adds
// whether or not a node has any (webhooks/core/pod_webhook.go, HandleLinuxPod). A node
// has as many as its type carries, once its trunk interface is there
// (pkg/provider/branch/provider.go, UpdateResourceCapacity). At the limit the controller
// says nothing and tries again (CreateAndAnnotateResources, ErrCurrentlyAtMaxCapacity);
// all of github.com/aws/amazon-vpc-resource-controller-k8s.
func BranchInterfaces() check.Check {
	return check.Check{
		ID:         checkid.IPBranchInterfaces,
		Title:      "Pods with security groups of their own get no branch interface",
		Confidence: finding.Likely,
		WatchedBy:  []check.Detector{check.JoinCheck, check.Sweep},
		Breaks:     check.Pods,
		Proof:      check.ByPassing,
		CoversToo:  check.NodePools,
		Needs:      []snapshot.Source{snapshot.Clusters},
		// Each tells one of the reasons; without it another one is told, or none.
		Uses:       []snapshot.Source{snapshot.WaitingPods, snapshot.Nodes, snapshot.AWSNode, snapshot.NodeEventsOf, snapshot.TrunksOf, snapshot.Subnets, snapshot.NodeClaimsOf},
		After:      []checkid.ID{checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.IPLeakedInterfaces},
		Predictive: true,
		Cause: "Pods that a SecurityGroupPolicy selects wait for minutes for a branch interface. Either no node has a trunk interface (aws-node does not ask for one, the cluster's role may not make it, no instance type of the cluster carries one, or all interfaces of the nodes were in use before), or the trunks carry as many as their types can, or the subnet of the trunk has no address left. " +
			"Nodes join all the same. Branch interfaces whose trunk is gone are counted: they hold an address each until the controller takes them away.",
		Fix: "Let aws-node ask for trunks (ENABLE_POD_ENI), attach AmazonEKSVPCResourceController to the cluster's role, use instance types that carry more branch interfaces, or more nodes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/security-groups-for-pods.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/security-groups-pods-deployment.html",
			"https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/pkg/aws/vpc/limits.go",
		},
		Run: runBranchInterfaces,
	}
}

// branchPatience is how long a pod must have waited: a new node has its trunk and is
// Ready in two or three minutes, and a branch interface that was given back is given
// out again after a cooldown of 30 s (pkg/config/type.go, CoolDownPeriod).
const branchPatience = 5 * time.Minute

// noBranch is why pods get no branch interface.
type noBranch int

const (
	// trunkNotAsked is that aws-node does not ask for trunks.
	trunkNotAsked noBranch = iota + 1
	// trunkRefused is that EC2 did not let the controller make one.
	trunkRefused
	// trunkUnsupported is that no node's type carries one.
	trunkUnsupported
	// trunkMissing is that no node has one, and nothing above tells why.
	trunkMissing
	// branchesTaken is that the trunks carry as many as they can.
	branchesTaken
	// branchSubnetEmpty is that the trunk's subnet has no address left.
	branchSubnetEmpty
	// branchUntold is that none of these tells why.
	branchUntold
)

// runBranchInterfaces holds the rule:
//
//	the pods were not read, and pods have branch interfaces      Unknown
//	a pod waits, the nodes were not read, and nothing else tells  Unknown
//	no pod waits for one for minutes                            Pass
//	the scheduler says that nodes lack them, none has any:      Fail: why no trunk is there
//	some have: all are taken                                    Fail
//	a pod's node has a trunk, and the trunk's limit is reached  Fail
//	or its subnet has no address                                Fail
//	or neither                                                  Fail, possible
//	where other resources lack too                              possible
func runBranchInterfaces(s *facts.View) []finding.Finding {
	b := newBranchScope(s)
	if !s.Has(snapshot.WaitingPods) {
		var v finding.Verdicts
		if b.used() {
			v.Unknown(s.Cluster.Name, []string{s.Cluster.Name}, s.Why(snapshot.WaitingPods))
		}
		return v.Findings()
	}
	pass := finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name}, Evidence: b.trunkEvidence()}
	for _, n := range s.Subnets {
		pass.Covers = append(pass.Covers, n.ID)
	}
	var list []finding.Finding
	switch pods, doubt := b.unscheduled(); {
	case len(pods) > 0 && !s.Has(snapshot.Nodes) && b.whyNoNode() == trunkMissing:
		// Whether a node has one, nobody could look.
		list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name}, Blocked: []snapshot.Failure{s.Why(snapshot.Nodes)}})
	case len(pods) > 0:
		f := b.noNodeHas(pods)
		if doubt {
			f.Confidence = finding.Possible
		}
		list = append(list, f)
	}
	list = append(list, b.unserved()...)
	for _, f := range list {
		pass.Covers = slices.DeleteFunc(pass.Covers, func(id string) bool { return slices.Contains(f.Covers, id) })
	}
	if len(pass.Covers) > 0 {
		list = append(list, pass)
	}
	return list
}

// branchScope is what is known of branch interfaces in the cluster.
type branchScope struct {
	s     *facts.View
	nodes map[string]snapshot.Node // by name
	trunk map[string]*snapshot.Trunk
	kinds map[string]string // instance types, by instance
	// carried is how many branch interfaces an instance type carries, of those asked for.
	carried map[string]int
}

func newBranchScope(s *facts.View) *branchScope {
	b := &branchScope{s: s, nodes: map[string]snapshot.Node{}, trunk: map[string]*snapshot.Trunk{}, kinds: map[string]string{}, carried: map[string]int{}}
	for _, i := range s.Instances {
		b.kinds[i.ID] = i.Type
	}
	for i := range s.Trunks {
		b.trunk[s.Trunks[i].Instance] = &s.Trunks[i]
	}
	for _, n := range s.Nodes {
		b.nodes[n.Name] = n
		if kind := n.Labels["node.kubernetes.io/instance-type"]; kind != "" && n.Instance != "" {
			b.kinds[n.Instance] = kind
		}
	}
	return b
}

// used tells that something here says that pods have branch interfaces.
func (b *branchScope) used() bool {
	return b.s.CNI != nil && strings.EqualFold(b.s.CNI.Env["ENABLE_POD_ENI"], "true") || len(b.s.Trunks) > 0 || len(b.s.BranchWaits) > 0 ||
		slices.ContainsFunc(b.s.Nodes, func(n snapshot.Node) bool { return n.Branches > 0 })
}

// unscheduled are the pods for which the scheduler finds no node, for want of branch
// interfaces; doubt tells that nodes lack other things too, for all of them.
func (b *branchScope) unscheduled() (pods []*snapshot.WaitingPod, doubt bool) {
	doubt = true
	for _, w := range facts.Unschedulable(b.s, branchPatience) {
		if !w.AsksFor(branch.Resource) {
			continue
		}
		lacks, more := false, false
		for _, o := range scheduling.Obstacles(w.Scheduled.Message) {
			switch {
			case strings.HasSuffix(o.Text, "Insufficient "+branch.Resource):
				lacks = true
			case strings.Contains(o.Text, "Insufficient "):
				more = true
			}
		}
		if lacks {
			pods, doubt = append(pods, w), doubt && more
		}
	}
	return pods, doubt
}

// noNodeHas tells why no node has a branch interface for pods.
func (b *branchScope) noNodeHas(pods []*snapshot.WaitingPod) finding.Finding {
	reason := b.whyNoNode()
	var names []string
	var asked []time.Time
	for _, w := range pods {
		names, asked = append(names, w.Key()), append(asked, w.Since())
	}
	f := b.finding(reason, names, slices.MinFunc(asked, time.Time.Compare))
	f.Covers = append([]string{b.s.Cluster.Name}, b.claims()...)
	f.Evidence = append([]finding.Evidence{{What: pods[0].Key(), Value: "waits since " + phrase.ClockTime(pods[0].Since()) + ": " + phrase.Clip(pods[0].Scheduled.Message)}}, f.Evidence...)
	return f
}

func (b *branchScope) whyNoNode() noBranch {
	hosts := b.hosts()
	switch {
	case slices.ContainsFunc(hosts, func(n snapshot.Node) bool { return n.Branches > 0 }):
		return branchesTaken
	case b.s.Has(snapshot.AWSNode) && b.s.CNI != nil && !strings.EqualFold(b.s.CNI.Env["ENABLE_POD_ENI"], "true"):
		return trunkNotAsked
	case b.refused() != nil:
		return trunkRefused
	case len(hosts) > 0 && !slices.ContainsFunc(hosts, func(n snapshot.Node) bool { return !b.carriesNone(n) }):
		return trunkUnsupported
	}
	return trunkMissing
}

// hosts are the nodes that are instances with Linux: only these have trunks.
func (b *branchScope) hosts() []snapshot.Node {
	var list []snapshot.Node
	for _, n := range b.s.Nodes {
		if n.Instance != "" && n.Labels["kubernetes.io/os"] != "windows" {
			list = append(list, n)
		}
	}
	return list
}

func (b *branchScope) carriesNone(n snapshot.Node) bool {
	most, known := branch.Limit(b.kinds[n.Instance])
	return known && most == 0 || facts.UnsupportedByController(b.s, n.Name) != nil || n.Labels["vpc.amazonaws.com/has-trunk-attached"] == "not-supported"
}

// refused is the newest event of the controller about a trunk that it could not make,
// on a node that has none.
func (b *branchScope) refused() *snapshot.NodeEvent {
	var newest *snapshot.NodeEvent
	for i := range b.s.NodeEvents {
		e := &b.s.NodeEvents[i]
		if e.Reason == "TrunkENICreationFailed" && b.nodes[e.Node].Branches == 0 && (newest == nil || e.Last.After(newest.Last)) {
			newest = e
		}
	}
	return newest
}

// claims are the NodeClaims that Karpenter does not call initialized for want of
// branch interfaces.
func (b *branchScope) claims() []string {
	var keys []string
	for _, c := range b.s.NodeClaims {
		if i := c.Conditions["Initialized"]; i.Status != "True" && strings.Contains(i.Message, branch.Resource) {
			keys = append(keys, facts.ClaimKey(c.Name))
		}
	}
	return keys
}

// unserved are the findings on pods that a node took and that have no branch
// interface: one for each subnet without addresses, one for the trunks that are
// full, one for the rest.
func (b *branchScope) unserved() []finding.Finding {
	type group struct {
		reason noBranch
		subnet string
	}
	var order []group
	waits := map[group][]snapshot.BranchWait{}
	for _, w := range b.s.BranchWaits {
		if b.s.Time.Sub(w.Since) < branchPatience {
			continue
		}
		g := group{reason: branchUntold}
		if trunk := b.trunk[b.nodes[w.Node].Instance]; trunk != nil {
			switch {
			case b.limit(b.nodes[w.Node]) > 0 && trunk.Branches >= b.limit(b.nodes[w.Node]):
				g.reason = branchesTaken
			case b.empty(trunk.Subnet):
				g = group{branchSubnetEmpty, trunk.Subnet}
			}
		}
		if waits[g] == nil {
			order = append(order, g)
		}
		waits[g] = append(waits[g], w)
	}
	slices.SortFunc(order, func(x, y group) int {
		return cmp.Or(cmp.Compare(x.reason, y.reason), strings.Compare(x.subnet, y.subnet))
	})
	var list []finding.Finding
	for _, g := range order {
		var names, hosts []string
		var since []time.Time
		for _, w := range waits[g] {
			names, hosts, since = append(names, w.Pod), append(hosts, w.Node), append(since, w.Since)
		}
		f := b.finding(g.reason, names, slices.MinFunc(since, time.Time.Compare))
		slices.Sort(hosts)
		f.Resources = slices.Compact(hosts)
		f.Covers = []string{b.s.Cluster.Name}
		if g.subnet != "" {
			f.Resource, f.Covers = g.subnet, []string{g.subnet}
			f.Title, f.Why, f.Fix = b.subnetWords(g.subnet, names)
		}
		list = append(list, f)
	}
	return list
}

// limit is how many branch interfaces a node carries: its capacity, else its type's.
func (b *branchScope) limit(n snapshot.Node) int {
	if n.Branches > 0 {
		return n.Branches
	}
	kind := b.kinds[n.Instance]
	most, asked := b.carried[kind]
	if !asked {
		most, _ = branch.Limit(kind)
		b.carried[kind] = most
	}
	return most
}

func (b *branchScope) empty(subnet string) bool {
	return slices.ContainsFunc(b.s.Subnets, func(n snapshot.Subnet) bool { return n.ID == subnet && n.CIDR.IsValid() && n.Free == 0 })
}
