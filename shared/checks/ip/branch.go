package ip

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/network/address"
	"rollcall/shared/network/branch"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/shell"
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
	// Each shows one of the reasons; without it another one is reported, or none.
	return check.New(checkid.IPBranchInterfaces, runBranchInterfaces, snapshot.Clusters).
		Using(snapshot.WaitingPods, snapshot.Nodes, snapshot.AWSNode, snapshot.NodeEventsOf, snapshot.TrunksOf,
			snapshot.Subnets, snapshot.NodeClaimsOf)
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
func runBranchInterfaces(s *check.View) []check.Finding {
	b := newBranchScope(s)
	if !s.Has(snapshot.WaitingPods) {
		var v check.Verdicts
		if b.used() {
			v.Unknown(s.Cluster.Name, []string{s.Cluster.Name}, s.Why(snapshot.WaitingPods))
		}
		return v.Findings()
	}
	pass := check.Passed(s.Cluster.Name, s.Cluster.Name).Showing(b.trunkEvidence()...)
	for _, n := range s.Subnets {
		pass.Covers = append(pass.Covers, n.ID)
	}
	var list []check.Finding
	switch pods, doubt := b.unscheduled(); {
	case len(pods) > 0 && !s.Has(snapshot.Nodes) && b.whyNoNode() == trunkMissing:
		// Whether a node has one is not known.
		list = append(list, check.Unread(s.Cluster.Name, []string{s.Cluster.Name}, s.Why(snapshot.Nodes)))
	case len(pods) > 0:
		f := b.noNodeHas(pods)
		if doubt {
			f.Confidence = check.Possible
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
	s     *check.View
	nodes map[string]snapshot.Node // by name
	trunk map[string]*snapshot.Trunk
	kinds map[string]string // instance types, by instance
	// carried is how many branch interfaces an instance type carries, of those asked for.
	carried map[string]int
}

func newBranchScope(s *check.View) *branchScope {
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

// used reports whether something here says that pods have branch interfaces.
func (b *branchScope) used() bool {
	return b.s.CNI != nil && strings.EqualFold(b.s.CNI.Env["ENABLE_POD_ENI"], "true") || len(b.s.Trunks) > 0 || len(b.s.BranchWaits) > 0 ||
		slices.ContainsFunc(b.s.Nodes, func(n snapshot.Node) bool { return n.Branches > 0 })
}

// unscheduled are the pods for which the scheduler finds no node, for want of branch
// interfaces; doubt reports whether nodes lack other things too, for all of them.
func (b *branchScope) unscheduled() (pods []*snapshot.WaitingPod, doubt bool) {
	doubt = true
	for _, w := range check.Unschedulable(b.s, branchPatience) {
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
func (b *branchScope) noNodeHas(pods []*snapshot.WaitingPod) check.Finding {
	reason := b.whyNoNode()
	var names []string
	var asked []time.Time
	for _, w := range pods {
		names, asked = append(names, w.Key()), append(asked, w.Since())
	}
	f := b.finding(reason, names, slices.MinFunc(asked, time.Time.Compare))
	f.Covers = append([]string{b.s.Cluster.Name}, b.claims()...)
	f.Evidence = append([]check.Evidence{{What: pods[0].Key(), Value: "waiting since " + check.ClockTime(pods[0].Since()) + ": " + check.Clip(pods[0].Scheduled.Message)}}, f.Evidence...)
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
	return known && most == 0 || check.UnsupportedByController(b.s, n.Name) != nil || n.Labels["vpc.amazonaws.com/has-trunk-attached"] == "not-supported"
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
			keys = append(keys, check.ClaimKey(c.Name))
		}
	}
	return keys
}

// unserved are the findings on pods that a node took and that have no branch
// interface: one for each subnet without addresses, one for the trunks that are
// full, one for the rest.
func (b *branchScope) unserved() []check.Finding {
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
	var list []check.Finding
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

// vpcResourcePolicy is the managed policy by which the controller makes trunks, with
// the cluster's own role (EKS user guide, "Configure the Amazon VPC CNI plugin for
// Kubernetes for security groups for Amazon EKS Pods").
const vpcResourcePolicy = "AmazonEKSVPCResourceController"

// finding is what is said of pods that wait for one reason.
func (b *branchScope) finding(reason noBranch, pods []string, since time.Time) check.Finding {
	slices.Sort(pods)
	f := check.Finding{
		Outcome: check.Fail, Resource: b.s.Cluster.Name, Covers: []string{b.s.Cluster.Name}, Unconditional: true,
		Pods: pods[:min(len(pods), zones.MostPods)], Since: since, Evidence: b.trunkEvidence(),
	}
	wait := fmt.Sprintf("%s %s for a branch interface (%s), which a SecurityGroupPolicy gives %s", check.Some(pods, 2), check.Plural(len(pods), "waits", "wait"), branch.Resource, check.Plural(len(pods), "it", "them"))
	who := check.Subject(pods, "pod")
	switch reason {
	case trunkNotAsked:
		f.Resource = check.AWSNode
		f.Title = check.Title("aws-node requests no trunk interface, and %s %s one", who, check.Plural(len(pods), "needs", "need"))
		f.Why = wait + ". No node has any: ENABLE_POD_ENI of aws-node is not true, so no trunk interface is created."
		f.Fix = check.Fix{
			Text:    "Set ENABLE_POD_ENI (of the managed add-on in its configuration values). A node whose interfaces are all in use gets no trunk: replace such nodes.",
			Command: shell.Command("kubectl", "-n", "kube-system", "set", "env", "daemonset", "aws-node", "ENABLE_POD_ENI=true"), Console: b.s.ClusterLink(),
		}
	case trunkRefused:
		event := b.refused()
		f.Resource = cmp.Or(b.s.Cluster.Role, b.s.Cluster.Name)
		f.Title = check.Title("No trunk interface can be created, and %s %s one", who, check.Plural(len(pods), "needs", "need"))
		f.Why = fmt.Sprintf("%s. No node has any: EC2 refused the trunk interface of %s.", wait, event.Node)
		f.Evidence = append([]check.Evidence{{What: "Event of " + event.Node, Value: event.Reason + ": " + check.Clip(event.Message)}}, f.Evidence...)
		f.Fix = check.Fix{Text: fmt.Sprintf("Attach %s to the cluster's role: EKS uses it to create trunk interfaces.", vpcResourcePolicy), Console: b.s.ClusterLink()}
		if role := b.s.Cluster.Role; role != "" {
			f.Fix.Console = b.s.RoleLink(role)
			f.Fix.Command = b.s.AWSCommand("iam attach-role-policy", "--role-name", role[strings.LastIndex(role, "/")+1:],
				"--policy-arn", fmt.Sprintf("arn:%s:iam::aws:policy/%s", cmp.Or(b.s.Partition, "aws"), vpcResourcePolicy))
		}
	case trunkUnsupported:
		f.Title = check.Title("No instance type here supports branch interfaces")
		f.Why = fmt.Sprintf("%s. The nodes are %s: no such instance has a trunk interface.", wait, check.And(b.types()))
		f.Evidence = append(b.unsupportedEvidence(), f.Evidence...)
		f.Fix = check.Fix{Text: "Use types that support branch interfaces" + b.exceptUnsupported() + ": most of the Nitro system (m5.large 9, m5.xlarge 18, c6i.4xlarge 54), and none of the t family.", Console: b.s.ClusterLink()}
	case trunkMissing:
		f.Title = check.Title("No node has a trunk interface, and %s %s one", who, check.Plural(len(pods), "needs", "need"))
		f.Why = wait + ". No node has any, which needs a free interface: a node with all of them in use when trunks were requested gets none."
		f.Fix = check.Fix{
			Text:    "Replace the nodes with all their interfaces in use, and check their events for the controller's messages about trunks.",
			Command: shell.Command("kubectl", "get", "events", "-n", "default", "--field-selector", "involvedObject.kind=Node,source=vpc-resource-controller"), Console: b.s.ClusterLink(),
		}
	case branchesTaken:
		f.Title = check.Title("No branch interface is left for %s", who)
		f.Why = fmt.Sprintf("%s. The nodes that could run %s carry no more: the instance type sets the number, not the network plugin's other settings.", wait, check.Plural(len(pods), "it", "them"))
		f.Evidence = append(b.unsupportedEvidence(), f.Evidence...)
		f.Fix = check.Fix{Text: "Add nodes, or use larger types" + b.larger() + ".", Console: b.s.ClusterLink()}
		if types := b.unsupportedTypes(); len(types) > 0 {
			f.Why += fmt.Sprintf(" The VPC resource controller does not support %s: such nodes carry none.", check.Some(types, 3))
			f.Fix.Text = "Add nodes of types that the VPC resource controller supports" + b.exceptUnsupported() + ": remove these from the NodePool's or nodegroup's types, or Karpenter launches them again."
		}
	case branchUntold:
		f.Confidence = check.Possible
		f.Title = check.Title("%s %s for a branch interface", who, check.Plural(len(pods), "waits", "wait"))
		f.Why = wait + ". A node took " + check.Plural(len(pods), "it", "them") + " and none was created: neither the trunk's limit nor its subnet explains it."
		namespace, name, _ := strings.Cut(pods[0], "/")
		f.Fix = check.Fix{
			Text:    "Read the pod's events: BranchAllocationFailed has EC2's reason (a security group that does not exist, a missing permission, no address).",
			Command: shell.Command("kubectl", "-n", namespace, "describe", "pod", name), Console: b.s.ClusterLink(),
		}
	}
	return f
}

// unsupportedTypes are the types that the controller says it does not support.
func (b *branchScope) unsupportedTypes() (types []string) {
	for _, n := range b.hosts() {
		if kind := b.kinds[n.Instance]; kind != "" && check.UnsupportedByController(b.s, n.Name) != nil {
			types = append(types, kind)
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

func (b *branchScope) exceptUnsupported() string {
	if types := b.unsupportedTypes(); len(types) > 0 {
		return " (not " + check.Some(types, 3) + ")"
	}
	return ""
}

// unsupportedEvidence is one of the controller's events that say so.
func (b *branchScope) unsupportedEvidence() []check.Evidence {
	for _, n := range b.hosts() {
		if e := check.UnsupportedByController(b.s, n.Name); e != nil {
			return []check.Evidence{{What: "Event of " + e.Node, Value: e.Reason + ": " + check.Clip(e.Message)}}
		}
	}
	return nil
}

// subnetWords are those of a trunk's subnet that has no address for branches.
func (b *branchScope) subnetWords(id string, pods []string) (title, why string, fix check.Fix) {
	title = check.Title("%s has no address for branch interfaces", id)
	why = fmt.Sprintf("%s %s for a branch interface. Each takes an address of the trunk's subnet, %s, which has none left.", check.Some(pods, 2), check.Plural(len(pods), "waits", "wait"), id)
	fix = check.Fix{Text: fmt.Sprintf("Free addresses of %s, or have nodes launch into another subnet.", id), Console: b.s.VPCLink("SubnetDetails:subnetId=" + id)}
	if strays := check.StrayBranches(b.s, id); len(strays) > 0 {
		why += fmt.Sprintf(" %s %s one each, and %s trunk no longer exists.", check.Some(strays, 2), check.Plural(len(strays), "holds", "hold"), check.Plural(len(strays), "its", "their"))
		fix.Text = fmt.Sprintf("The controller deletes the %d leftover branch interfaces within an hour while it runs; check again then, or give nodes another subnet.", len(strays))
		fix.Command = listStrays(b.s, id)
	}
	return title, why, fix
}

// trunkEvidence is how many branch interfaces the nodes have, and carry.
func (b *branchScope) trunkEvidence() []check.Evidence {
	const most = 5
	var list []check.Evidence
	shown := 0
	left := func(n snapshot.Node) int {
		if trunk := b.trunk[n.Instance]; trunk != nil {
			return b.limit(n) - trunk.Branches
		}
		return b.limit(n)
	}
	hosts := slices.DeleteFunc(b.hosts(), func(n snapshot.Node) bool { return b.trunk[n.Instance] == nil && n.Branches == 0 })
	slices.SortStableFunc(hosts, func(x, y snapshot.Node) int { return cmp.Compare(left(x), left(y)) })
	for _, n := range hosts {
		trunk, limit := b.trunk[n.Instance], b.limit(n)
		if shown++; shown > most {
			continue
		}
		value := fmt.Sprintf("%s, carries %d", cmp.Or(b.kinds[n.Instance], "type unknown"), limit)
		if trunk != nil {
			value = fmt.Sprintf("%s, %d of %d branch interfaces on %s", cmp.Or(b.kinds[n.Instance], "type unknown"), trunk.Branches, limit, trunk.ID)
		}
		list = append(list, check.Evidence{What: n.Name, Value: value})
	}
	if shown > most {
		list = append(list, check.Evidence{What: "More nodes with a trunk", Value: fmt.Sprint(shown - most)})
	}
	if n := len(b.s.StrayBranches); n > 0 {
		list = append(list, check.Evidence{What: "Left over", Value: fmt.Sprintf("%d branch %s without a trunk", n, check.Plural(n, "interface", "interfaces"))})
	}
	return list
}

// types are the instance types of the nodes.
func (b *branchScope) types() []string {
	var list []string
	for _, n := range b.hosts() {
		list = append(list, cmp.Or(b.kinds[n.Instance], "of unknown type"))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// larger tells what the next sizes of the nodes' types carry, for one of them.
func (b *branchScope) larger() string {
	for _, n := range b.hosts() {
		family, _, _ := strings.Cut(b.kinds[n.Instance], ".")
		for _, size := range []string{"large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "24xlarge"} {
			if more, known := branch.Limit(family + "." + size); known && more > b.limit(n) && b.limit(n) > 0 {
				return fmt.Sprintf(" (%s carries %d, %s.%s %d; as of %s)", b.kinds[n.Instance], b.limit(n), family, size, more, branch.AsOf)
			}
		}
	}
	return ""
}

// BranchLeaked: the controller deletes the branch interfaces of a node that is gone, and
// looks for what it missed every hour (amazon-vpc-resource-controller-k8s
// pkg/aws/ec2/api/cleanup/eni_cleanup.go). Rollcall never deletes one: it knows only by a
// tag which trunk it was made for.
func BranchLeaked() check.Check {
	return check.New(checkid.IPBranchLeaked, runBranchLeaked, snapshot.Clusters, snapshot.Subnets,
		snapshot.TrunksOf).Using(snapshot.InstanceTypes)
}

func runBranchLeaked(s *check.View) []check.Finding {
	well := []string{s.Cluster.Name}
	var list []check.Finding
	for _, n := range s.Subnets {
		strays := check.StrayBranches(s, n.ID)
		f := branchLeaked(s, n, strays)
		w := s.Leaks().Wants(n.ID)
		switch {
		case len(strays) == 0 || !n.CIDR.IsValid():
			well = append(well, n.ID)
			continue
		case n.Free < w.Count && n.Free+len(strays) >= w.Count && (w.Sure || n.Free == 0):
			f.Instances = unready(s.Leaks(), n.ID)
		case len(strays) > muchLeaked, len(strays)*100 > shareLeaked*address.Usable(n.CIDR):
			f.Confidence = check.Likely
		default:
			well = append(well, n.ID)
			continue
		}
		list = append(list, f)
	}
	return append(list, check.Passed(s.Cluster.Name, well...))
}

func branchLeaked(s *check.View, n snapshot.Subnet, strays []string) check.Finding {
	return check.Failed(n.ID, n.ID).Involving(append([]string{n.ID}, strays[:min(len(strays), 3)]...)...).
		Titled("%s without a trunk %s addresses of %s", check.Subject(strays, "branch interface"), check.Verb(strays, "holds", "hold"), n.ID).
		Because("%s (%s, %s) has %d free, and %s %s one address each: %s trunk no longer exists, nor does its node.",
			n.ID, n.CIDR, n.Zone, n.Free, check.Some(strays, 3), check.Verb(strays, "holds", "hold"), check.Verb(strays, "its", "their")).
		Noting("Branch interfaces in "+n.ID+" without a trunk", fmt.Sprint(len(strays))).
		Noting("Free in "+n.ID, fmt.Sprint(n.Free)).
		ToFix("The VPC resource controller deletes them within an hour. If they stay, check that the cluster's role allows it (AmazonEKSVPCResourceController), and delete them by hand once no pod uses them. The command lists them.").
		Command(listStrays(s, n.ID)).Console(s.VPCLink("SubnetDetails:subnetId=" + n.ID))
}

// listStrays lists the controller's interfaces in a subnet that nothing is attached to.
func listStrays(s *check.View, subnet string) string {
	return s.AWSCommand("ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+subnet, "Name=status,Values=available", "Name=tag:eks:eni:owner,Values=eks-vpc-resource-controller")
}
