// Package ip holds the checks of ip: addresses.
package ip

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/network/address"
	"rollcall/shared/network/leak"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// fitSum is the arithmetic of a subnet in words: "2 groups may launch 14 more
// nodes here: 9 m5.4xlarge x 60 + 5 m5.large x 20 = 640; 251 free".
func fitSum(f address.Fit) string {
	groups := map[string]bool{}
	var parts []string
	here := "whose pods get addresses here"
	for _, t := range f.Terms {
		if t.Nodes.Least == 0 || t.Start.Least == 0 {
			continue
		}
		groups[t.Group] = true
		part := fmt.Sprintf("%d %s x %d", t.Nodes.Least, t.Small, t.Start.Least)
		if t.Large != t.Small {
			part = fmt.Sprintf("%d of %s (the smallest) x %d", t.Nodes.Least, t.Small, t.Start.Least)
		}
		if !t.Pods {
			here = "here"
		} else if len(f.Terms) > 1 {
			part += " for pods"
		}
		parts = append(parts, part)
	}
	if f.Owed > 0 {
		parts = append(parts, fmt.Sprintf("%d that %s now %s still to get", f.Owed, check.Plural(f.Starting, "a node that starts", fmt.Sprintf("%d nodes that start", f.Starting)), check.Plural(f.Starting, "has", "have")))
	}
	if len(parts) == 0 {
		return fmt.Sprintf("no more nodes for certain; %d free", f.Subnet.Free)
	}
	n := f.Nodes().Least
	who := fmt.Sprintf("%s can launch %d more %s %s", launcherNoun(groups), n, check.Plural(n, "node", "nodes"), here)
	if len(groups) == 0 {
		who = "nodes that start now"
	}
	return fmt.Sprintf("%s: %s = %d; %d free", who, strings.Join(parts, " + "), f.Start().Least, f.Subnet.Free)
}

// fitEvidence is what a fit was judged by.
func fitEvidence(s *check.View, f address.Fit, pods podNetwork) []check.Evidence {
	list := []check.Evidence{{What: "Addresses of " + f.Subnet.ID, Value: fitSum(f)}}
	if n, start, full := f.Nodes(), f.Start(), f.Full(); n.Most > 0 {
		if n.Most > n.Least {
			list = append(list, check.Evidence{What: "If no other zone has capacity", Value: fmt.Sprintf("%d more %s, %d addresses at start", n.Most, check.Plural(n.Most, "node", "nodes"), start.Most)})
		}
		list = append(list, check.Evidence{What: "When pods fill the nodes", Value: fmt.Sprintf("%s addresses", between(full))})
	}
	if len(f.Unbounded) > 0 {
		list = append(list, check.Evidence{What: "Without a limit", Value: "NodePool " + check.Some(f.Unbounded, 3) + ": how much it can launch here is unknown"})
	}
	if f.Blocks() > 0 && f.Counted {
		list = append(list, check.Evidence{What: "Blocks of " + f.Subnet.ID, Value: fmt.Sprintf("%d /28 blocks needed at start, %d free", f.Blocks(), f.Use.Blocks)})
	}
	list = append(list, check.Evidence{What: "Settings of aws-node", Value: pods.words()})
	for _, i := range s.Instances {
		if i.Tags["karpenter.sh/nodepool"] != "" {
			return append(list, check.Evidence{What: "Karpenter", Value: "what its node pools can launch is not counted"})
		}
	}
	return list
}

func between(s address.Span) string {
	if s.Least == s.Most {
		return fmt.Sprint(s.Least)
	}
	return fmt.Sprintf("%d to %d", s.Least, s.Most)
}

func Fragmented() check.Check {
	return check.New(checkid.IPFragmented, runFragmented, snapshot.Clusters, snapshot.Subnets, snapshot.AWSNode).
		Using(snapshot.Usage, snapshot.CIDRsKept, snapshot.ENIConfigsOf, snapshot.InstanceTypes)
}

func runFragmented(s *check.View) []check.Finding {
	c := routes.ForView(s)
	pods := podNetworkOf(s)
	covers := watched(c)
	if !pods.Prefixes || pods.IPv6 || xen(c) {
		covers = append(covers, s.Cluster.Name)
		return []check.Finding{check.Passed(s.Cluster.Name, covers...).
			Noting("Pods of "+s.Cluster.Name, "use no /28 blocks of subnets")}
	}
	if !s.Has(snapshot.Usage) {
		return []check.Finding{check.Unread(s.Cluster.Name, nil, s.Why(snapshot.Usage))}
	}
	takers, list := takers(c, pods)
	for _, n := range takers {
		if len(n.from) > 0 {
			list = append(list, blocksIn(c, n, pods))
		}
	}
	if len(list) == 0 {
		list = append(list, check.Passed(s.Cluster.Name, append(covers, s.Cluster.Name)...))
	}
	return list
}

// xen reports whether no type that was read can have prefixes.
func xen(c *routes.Scope) bool {
	return c.S.Has(snapshot.InstanceTypes) && len(c.S.InstanceTypes) > 0 && !slices.ContainsFunc(c.S.InstanceTypes, address.Prefixed)
}

// blocksIn holds the rule:
//
//	not counted                                                   Unknown
//	a free block, reservations not read                           Unknown: it may be kept
//	a free block                                                  Pass
//	none                                                          Fail, certain
//	none, and the types are not known                             Fail, likely
//	none, and pods can take addresses in another subnet as well   Fail, possible
//
// Reservations that were not read make blocks fewer, never more: that there is
// none is certain without them.
func blocksIn(c *routes.Scope, n taker, pods podNetwork) check.Finding {
	s, id := c.S, n.subnet.ID
	f := check.Passed(id, id)
	if !n.subnet.CIDR.IsValid() {
		f.Evidence = []check.Evidence{{What: id, Value: "has no IPv4 range"}}
		return f
	}
	i := slices.IndexFunc(s.Uses, func(u snapshot.Use) bool { return u.Subnet == id })
	if i < 0 {
		f.Outcome = check.Unknown
		f.Blocked = []snapshot.Failure{check.NotRead(snapshot.Usage, "the addresses of %s were not counted", id)}
		return f
	}
	u := s.Uses[i]
	f.Evidence = []check.Evidence{{What: "Blocks of " + id, Value: fmt.Sprintf("%d of %d whole /28 blocks free; %d addresses free, %d held by %d interfaces, %d kept by reservations",
		u.Blocks, wholeBlocks(n.subnet), n.subnet.Free, u.Held, u.Interfaces, u.Kept)}}
	if u.Blocks > 0 {
		if !s.Has(snapshot.CIDRsKept) {
			return check.Unread(id, f.Covers, s.Why(snapshot.CIDRsKept))
		}
		return f
	}
	f.Outcome = check.Fail
	f.Instances = notReadyIn(c, n.from...)
	switch {
	case len(n.further) > 0:
		f.Confidence, f.Instances = check.Possible, nil
	case !s.Has(snapshot.InstanceTypes):
		f.Confidence = check.Likely
	}
	// With custom networking the nodes stand in other subnets than this one.
	elsewhere := slices.DeleteFunc(slices.Clone(n.from), func(node string) bool { return node == id })
	f.Resources = slices.Concat([]string{id}, elsewhere, []string{n.subnet.VPC})
	f.Title = check.Title("%s has no free /28 for a prefix", id)
	f.Why = fmt.Sprintf("%s (%s, %s) has %d free %s, but none of its %d /28 blocks is whole: aws-node takes addresses for pods in whole blocks (ENABLE_PREFIX_DELEGATION) and gets no more here.",
		id, n.subnet.CIDR, n.subnet.Zone, n.subnet.Free, check.Plural(n.subnet.Free, "address", "addresses"), wholeBlocks(n.subnet))
	if len(n.further) > 0 {
		f.Why += fmt.Sprintf(" More interfaces can be created in %s.", check.Some(n.further, 3))
	}
	f = f.Noting("Settings of aws-node", pods.words())
	f = f.Showing(breakers(u)...)
	f.Fix = mend(c, n, u)
	return f
}

// breakers are the addresses that break the blocks that are nearly free.
func breakers(u snapshot.Use) []check.Evidence {
	var list []check.Evidence
	for _, b := range u.Nearest {
		names := make([]string, len(b.Used))
		for i, a := range b.Used {
			names[i] = a.String()
		}
		list = append(list, check.Evidence{What: "Breaks " + b.CIDR.String(), Value: fmt.Sprintf("%d of 16 in use: %s", len(names), check.Some(names, 8))})
	}
	return list
}

// wholeBlocks is how many /28 blocks of a subnet hold none of the addresses
// that AWS keeps: all but the first and the last.
func wholeBlocks(n snapshot.Subnet) int { return max(0, 1<<max(0, 28-n.CIDR.Bits())-2) }

// mend is the advice, and the command that names who holds the block that is
// nearest to being free.
func mend(c *routes.Scope, n taker, u snapshot.Use) check.Fix {
	id := n.subnet.ID
	fix := check.Fix{
		Text:    fmt.Sprintf("%s is fragmented throughout: give pods a new subnet, or drain nodes. A CIDR reservation of type prefix keeps freed addresses for prefixes.", id),
		Console: c.S.VPCLink("SubnetDetails:subnetId=" + id),
	}
	if len(u.Nearest) == 0 {
		return fix
	}
	b := u.Nearest[0]
	names := make([]string, len(b.Used))
	for i, a := range b.Used {
		names[i] = a.String()
	}
	fix.Text = fmt.Sprintf("Reserve a range of %s for prefixes (aws ec2 create-subnet-cidr-reservation, type prefix), so that freed addresses in it are not given out singly again; then drain the nodes whose addresses break its blocks. The nearest is %s: the command lists who holds its %s. Or give pods a new subnet.",
		id, b.CIDR, check.Plural(len(names), "address", fmt.Sprintf("%d addresses", len(names))))
	fix.Command = c.S.AWSCommand("ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+id, "Name=addresses.private-ip-address,Values="+strings.Join(names, ","))
	return fix
}

func LeakCause() check.Check {
	return check.New(checkid.IPLeakCause, leakCause, snapshot.Clusters, snapshot.LaunchTemplates).
		Using(snapshot.AWSNode, snapshot.Subnets, snapshot.Unattached, snapshot.CreatorsOf)
}

func leakCause(s *check.View) []check.Finding {
	l := s.Leaks()
	return append(templates(l), plugin(l)...)
}

// where tells for which subnets something is left behind: to that the cause
// contributes.
func where(l check.Leaks) []string {
	var ids []string
	for id, here := range l.Subnets {
		if len(here.Own) > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// kept are idle interfaces that an instance had, is tagged for, and that the
// VPC CNI did not make, of instances that are gone: first interfaces.
func kept(l check.Leaks) (list []snapshot.Interface) {
	for _, i := range l.S.Idle {
		id := i.Tags[leak.TagInstance]
		c, asked := l.Ground.Creators[id]
		cluster := i.Tags[leak.TagCluster]
		if id != "" && asked && (c.State == "" || c.State == "terminated") && leak.Owner(i) == "" && i.Kind == "interface" && !i.RequesterManaged &&
			!i.Attached && i.Status == "available" && i.Account == l.Ground.Account && i.VPC == l.Ground.VPC && (cluster == "" || cluster == l.S.Cluster.Name) {
			list = append(list, i)
		}
	}
	return list
}

// templates judges the launch templates, one finding each.
func templates(l check.Leaks) []check.Finding {
	var list []check.Finding
	well := []string{l.S.Cluster.Name}
	kept := kept(l)
	for _, t := range l.S.LaunchTemplates {
		if !t.KeepsInterface {
			well = append(well, t.ID)
			continue
		}
		// Of several versions that are in use one finding tells.
		if slices.ContainsFunc(list, func(f check.Finding) bool { return f.Resource == t.ID }) {
			continue
		}
		name := cmp.Or(t.Name, t.ID)
		f := check.Failed(t.ID, t.ID).Involving(append([]string{t.ID}, where(l)...)...).WithConfidence(check.Advice).
			Titled("%s keeps the primary interface of terminated instances", name).
			Because("Version %s of launch template %s (%s) sets DeleteOnTermination=false on the primary interface: it stays, with its addresses, when its instance ends.", t.Version, name, t.ID).
			Noting(t.ID+" version "+t.Version, "primary interface: DeleteOnTermination=false").
			// No command to make it: a list of interfaces replaces the whole list,
			// with the security groups in it.
			ToFix("Create a version with DeleteOnTermination=true on the primary interface, and use it in the group (the command shows what the interface has now).").
			Command(l.S.AWSCommand("ec2 describe-launch-template-versions", "--launch-template-id", t.ID, "--versions", t.Version)).
			Console(l.S.EC2Link("LaunchTemplateDetails:launchTemplateId=" + t.ID))
		if len(kept) > 0 {
			f.Confidence = weight(l, kept)
			var ids []string
			held := 0
			for _, i := range kept {
				ids = append(ids, i.ID)
				held += len(i.PrivateIPs)
			}
			f = f.Notingf("Kept", "%d %s of terminated instances, %d %s: %s", len(kept), check.Plural(len(kept), "interface", "interfaces"), held, check.Plural(held, "address", "addresses"), check.Some(ids, 5))
		}
		list = append(list, f)
	}
	for key, f := range l.S.Missing[snapshot.LaunchTemplates] {
		list = append(list, check.Unread(key, []string{key}, f))
	}
	well = slices.DeleteFunc(well, func(id string) bool {
		return slices.ContainsFunc(list, func(f check.Finding) bool { return slices.Contains(f.Covers, id) })
	})
	return check.Passing(list, l.S.Cluster.Name, well)
}

// weight is likely where they hold as much as leaks that are reported.
func weight(l check.Leaks, kept []snapshot.Interface) check.Confidence {
	held := map[string]int{}
	for _, i := range kept {
		held[i.Subnet] += len(i.PrivateIPs)
	}
	for _, n := range l.S.Subnets {
		if h := held[n.ID]; h > muchLeaked || n.CIDR.IsValid() && h*100 > shareLeaked*address.Usable(n.CIDR) {
			return check.Likely
		}
	}
	return check.Advice
}

// plugin judges aws-node's settings.
func plugin(l check.Leaks) []check.Finding {
	s := l.S
	f := check.Passed(check.AWSNode, check.AWSNode)
	switch {
	case !s.Has(snapshot.AWSNode):
		f.Outcome, f.Blocked = check.Unknown, []snapshot.Failure{s.Why(snapshot.AWSNode)}
		return []check.Finding{f}
	case s.CNI == nil:
		return []check.Finding{f} // another plugin, or a part of the system
	}
	where := where(l)
	var heads, say []string
	add := func(head, text string) { heads, say = append(heads, head), append(say, text) }
	const nobody = "aws-node will not clean these up"
	for _, name := range uncleaning() {
		if on, err := strconv.ParseBool(s.CNI.Env[name]); err == nil && on {
			add("aws-node has "+name+"=true", name+"=true: "+nobody)
		}
	}
	// A value that comes from elsewhere is listed, and empty here.
	if _, set := s.CNI.Env["CLUSTER_NAME"]; !set {
		add("aws-node has no CLUSTER_NAME", "no CLUSTER_NAME: the interfaces that aws-node creates name no cluster")
	}
	// What is not worth changing for its own sake is reported only of leaks.
	six, _ := strconv.ParseBool(s.CNI.Env["ENABLE_IPv6"])
	if len(where) > 0 && (s.Cluster.IPv6 || six) {
		add("aws-node does not clean up in an IPv6 cluster", "an IPv6 cluster: "+nobody)
	}
	if len(where) > 0 && s.CNI.Desired == 0 {
		add("aws-node runs on no node", "aws-node runs on no node, so nothing deletes leaked interfaces")
	}
	if len(say) == 0 {
		return []check.Finding{f}
	}
	f.Outcome, f.Confidence, f.Resources = check.Fail, check.Advice, append([]string{check.AWSNode}, where...)
	f.Title = check.Title("%s", heads[0])
	f.Why = fmt.Sprintf("Leaked interfaces stay: %s.", check.And(say))
	for _, line := range say {
		f = f.Noting("aws-node", line)
	}
	f.Fix = check.Fix{
		Text:    "Set CLUSTER_NAME and keep aws-node's own cleanup enabled; if the add-on is managed, in its configuration values.",
		Command: shell.Command("kubectl", "-n", "kube-system", "set", "env", "daemonset", "aws-node", "CLUSTER_NAME="+s.Cluster.Name, "DISABLE_LEAKED_ENI_CLEANUP=false"),
		Console: fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s", s.ConsoleHost(), s.Region, s.Cluster.Name),
	}
	return []check.Finding{f}
}

func PodWithoutAddress() check.Check {
	return check.New(checkid.IPPodWithoutAddress, runPodWithoutAddress, snapshot.Clusters, snapshot.Nodes).
		Using(snapshot.WaitingPods, snapshot.PodEventsOf, snapshot.PodsOnNodes)
}

// runPodWithoutAddress holds the rule:
//
//	the waiting pods were not read                                     Unknown
//	a pod has no sandbox on a Ready node for minutes, events unread    Unknown
//	a warning says that it gets no sandbox                             Fail, a finding for each node
//	a warning says that it waits for a volume                          Pass; Fail where that waits for metadata
//	no warning is about it, for a quarter of an hour                   Fail
//	none                                                               Pass
func runPodWithoutAddress(s *check.View) []check.Finding {
	var v check.Verdicts
	if !s.Has(snapshot.WaitingPods) {
		v.Unknown(s.Cluster.Name, []string{s.Cluster.Name}, s.Why(snapshot.WaitingPods))
		return v.Findings()
	}
	if stuck := check.StuckOnReady(s.Snapshot); len(stuck) > 0 && !s.Has(snapshot.PodEventsOf) {
		covers := []string{s.Cluster.Name}
		for _, w := range stuck {
			if w.Instance != "" {
				covers = append(covers, w.Instance)
			}
		}
		v.Unknown(s.Cluster.Name, covers, s.Why(snapshot.PodEventsOf))
		return v.Findings()
	}
	var nodes []string
	on := map[string][]check.PodWait{}
	for _, w := range s.PodWaits() {
		if on[w.Node] == nil {
			nodes = append(nodes, w.Node)
		}
		on[w.Node] = append(on[w.Node], w)
	}
	failed := map[string]bool{}
	for _, node := range nodes {
		v.Fail(podsWithoutAddress(s, on[node]))
		failed[on[node][0].Instance] = true
	}
	well := []string{s.Cluster.Name}
	if len(nodes) > 0 {
		well = nil
	}
	for _, n := range s.Nodes {
		if n.Instance != "" && n.Joined() && !failed[n.Instance] {
			well = append(well, n.Instance)
		}
	}
	v.Pass(s.Cluster.Name, well, check.Evidence{What: "Pods without a sandbox", Value: fmt.Sprintf("%d, none on the other Ready nodes for lack of an address", len(s.StuckPods))})
	return v.Findings()
}

// podsWithoutAddress is the finding on one node's pods.
func podsWithoutAddress(s *check.View, list []check.PodWait) check.Finding {
	first, names := list[0], make([]string, len(list))
	for i, w := range list {
		names[i] = w.Pod
		if w.Since.Before(first.Since) {
			first = w
		}
	}
	f := check.Failed(first.Node, first.Node).Involving(first.Node).
		WithPods(names[:min(len(names), zones.MostPods)]...).
		Titled("%s %s for an address on %s", check.Subject(names, "pod"), check.Verb(names, "waits", "wait"), cmp.Or(first.Instance, first.Node)).
		Console(s.ClusterLink())
	f.Since = first.Since
	if first.Instance != "" {
		f.Covers, f.Instances, f.Resources = []string{first.Instance}, []string{first.Instance}, append(f.Resources, first.Instance)
		if i := slices.IndexFunc(s.Instances, func(i snapshot.Instance) bool { return i.ID == first.Instance }); i >= 0 {
			f.Resources = append(f.Resources, s.Instances[i].Subnet)
		}
	}
	namespace, name, _ := strings.Cut(first.Pod, "/")
	f.Fix.Command = shell.Command("kubectl", "-n", namespace, "describe", "pod", name)
	f.Why = fmt.Sprintf("%s is Ready, and %s %s no sandbox there since %s: ", first.Node, check.Some(names, 2), check.Verb(names, "has", "have"), check.ClockTime(first.Since))
	switch {
	case first.Event.Reason == "":
		f.Title = check.Title("%s %s on %s, and no event explains it", check.Subject(names, "pod"), check.Verb(names, "waits", "wait"), cmp.Or(first.Instance, first.Node))
		f.Why += "no address and no container. No warning is about them."
		f.Fix.Text = "Check the kubelet and the container runtime of the node: they report nothing about the pods."
	case first.ForMetadata() && !first.ForNetwork():
		f.Title = check.Title("%s %s for instance metadata on %s", check.Subject(names, "pod"), check.Verb(names, "waits", "wait"), cmp.Or(first.Instance, first.Node))
		f.Why += "a volume cannot be mounted, because its driver cannot read the instance's metadata."
		f.Fix.Text = "Check the metadata options of the instance: a driver outside the host network needs a hop limit of 2 where tokens are required."
	case first.ForAddress():
		f.Why += "the network plugin has no address to give."
		f.Fix.Text = "Read the log of aws-node on the node (/var/log/aws-routed-eni/ipamd.log): it has EC2's response to the request for more addresses."
	case first.ForNetwork():
		f.Why += "the network plugin fails."
		f.Fix.Text = "Check the aws-node pod on the node and read its log: the plugin did not respond, or could not set the network up."
	default:
		f.Title = check.Title("%s %s for a sandbox on %s", check.Subject(names, "pod"), check.Verb(names, "waits", "wait"), cmp.Or(first.Instance, first.Node))
		f.Why += "the container runtime cannot create it."
		f.Fix.Text = "The event has the container runtime's error; its log is on the node (journalctl -u containerd)."
	}
	for i, w := range list {
		if i == 3 {
			f = f.Noting("More pods", fmt.Sprint(len(list)-i))
			break
		}
		value := "no warning is about it"
		if w.Event.Reason != "" {
			value = w.Event.Reason + ": " + check.Clip(w.Event.Message)
		}
		f = f.Noting("Pod "+w.Pod, value)
	}
	if n := slices.IndexFunc(s.NodePods, func(n snapshot.NodePods) bool { return n.Node == first.Node }); n >= 0 {
		f = f.Notingf(first.Node, "runs %d pods with addresses of their own", s.NodePods[n].Addressed)
	}
	return f
}

// addressPools are what the NodePools may still launch, the heaviest first, which
// Karpenter tries first. One whose subnets are not known is left out.
func addressPools(s *check.View) []address.Pool {
	var list []address.Pool
	pools := slices.SortedStableFunc(slices.Values(s.NodePools), func(a, b snapshot.NodePool) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, p := range pools {
		subnets, known := check.PoolSubnets(s, p)
		if p.Deleting || !known || len(subnets) == 0 {
			continue
		}
		pool := address.Pool{Name: p.Name, Types: check.PoolTypes(s.Snapshot, p), Auto: p.Class.Group == snapshot.AutoModeGroup, Idle: true}
		for _, n := range subnets {
			pool.Subnets = append(pool.Subnets, n.ID)
		}
		pool.Nodes, pool.CPUs = leftOf(p)
		for _, c := range s.NodeClaims {
			if c.Pool != p.Name || c.Deleting {
				continue
			}
			pool.Idle = false
			if c.Instance == "" {
				pool.Wanted++
			}
		}
		list = append(list, pool)
	}
	return list
}

// leftOf is what the limits of a NodePool leave that tell how many nodes may come.
func leftOf(p snapshot.NodePool) (nodes *int, cpus *float64) {
	if limit, has := p.Limits["nodes"]; has {
		if left, ok := scheduling.Remaining(limit, cmp.Or(p.Used["nodes"], "0")); ok {
			f, _ := left.Float64()
			n := int(f)
			nodes = &n
		}
	}
	if limit, has := p.Limits["cpu"]; has {
		if left, ok := scheduling.Remaining(limit, cmp.Or(p.Used["cpu"], "0")); ok {
			f, _ := left.Float64()
			cpus = &f
		}
	}
	return nodes, cpus
}

// judgePools holds the rule of NodePools with several subnets:
//
//	they do not fit in all of them together, asked for now or room for less than two   Fail, likely
//	they do not fit                                                                    Fail, advice
//	they fit                                                                           Pass
func judgePools(s *check.View, pools []address.Pool, with podNetwork) []check.Finding {
	var list []check.Finding
	for _, fit := range address.FittingPools(s.Snapshot, with.Settings, pools) {
		n := fit.Nodes.Least
		sum := fmt.Sprintf("%d more %s x %d = %d; %s have %d free", n, fit.Small, fit.Each, n*fit.Each, check.Some(fit.Subnets, 3), fit.Free)
		f := check.Passed(fit.Pool, check.PoolKey(fit.Pool)).
			Noting("Addresses of NodePool "+fit.Pool, sum)
		if fit.Fits() {
			list = append(list, f)
			continue
		}
		f.Outcome = check.Fail
		if !fit.Imminent() {
			f.Confidence = check.Advice
		}
		f.Resources = slices.Clone(fit.Subnets)
		f.NarrowedAfter = []checkid.ID{} // what explains a subnet does not explain all of them
		f.Title = check.Title("NodePool %s has no addresses for %d more %s", fit.Pool, n, check.Plural(n, "node", "nodes"))
		f.Why = fmt.Sprintf("NodePool %s can launch %d more %s within its limits, in %s: %s.", fit.Pool, n, check.Plural(n, "node", "nodes"), check.Some(fit.Subnets, 3), sum)
		if fit.Wanted > 0 {
			f.Why += fmt.Sprintf(" It requests %d now.", fit.Wanted)
		}
		f.Fix = check.Fix{
			Text:    fmt.Sprintf("Select larger subnets or more of them in the class of NodePool %s, lower its limits to what fits, or reserve fewer addresses per node (WARM_IP_TARGET and MINIMUM_IP_TARGET of aws-node).", fit.Pool),
			Command: shell.Command("kubectl", "get", "nodepool", fit.Pool, "-o", "yaml"), Console: s.ClusterLink(),
		}
		list = append(list, f)
	}
	return list
}

// launcherNoun names what launches into a subnet: its groups, its NodePools, or both.
func launcherNoun(units map[string]bool) string {
	pools := 0
	for unit := range units {
		if strings.HasPrefix(unit, snapshot.PoolKey("")) {
			pools++
		}
	}
	switch groups := len(units) - pools; {
	case pools == 0:
		return fmt.Sprintf("%d %s", groups, check.Plural(groups, "group", "groups"))
	case groups == 0:
		return fmt.Sprintf("%d %s", pools, check.Plural(pools, "NodePool", "NodePools"))
	default:
		return fmt.Sprintf("%d %s and %d %s", groups, check.Plural(groups, "group", "groups"), pools, check.Plural(pools, "NodePool", "NodePools"))
	}
}

const deleteLeakedInterfaces = "delete-leaked-interfaces"

func ScaleOutWillNotFit() check.Check {
	return check.New(checkid.IPScaleOutWillNotFit, runScaleOutWillNotFit, snapshot.Clusters, snapshot.Subnets,
		snapshot.Groups, snapshot.InstanceTypes, snapshot.AWSNode).
		Using(snapshot.LaunchTemplates, snapshot.Usage, snapshot.ENIConfigsOf, snapshot.Unattached,
			snapshot.CreatorsOf, snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf,
			snapshot.AutoNodeClassesOf)
}

func runScaleOutWillNotFit(s *check.View) []check.Finding {
	pods := podNetworkOf(s)
	c := routes.ForView(s)
	scope := watched(c)
	own := addressPools(s)
	list := judgePools(s, own, pods)
	told := map[string]bool{}
	for _, fit := range address.Fitting(s.Snapshot, pods.Settings, own) {
		// Pods' subnets come in with the nodes that are in scope.
		ofPods := slices.ContainsFunc(fit.Terms, func(t address.Term) bool { return t.Pods })
		if !slices.Contains(scope, fit.Subnet.ID) && !ofPods {
			continue
		}
		told[fit.Subnet.ID] = true
		list = append(list, judgeFit(s, fit, pods))
	}
	rest := slices.DeleteFunc(scope, func(id string) bool { return told[id] })
	if blocked, unread := check.KarpenterUnread(s, append([]snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf}, classesOf(s)...)...); unread {
		list = append(list, check.Unread(s.Cluster.Name, []string{s.Cluster.Name}, blocked...))
	} else if len(rest) > 0 || len(list) == 0 {
		rest = append(rest, s.Cluster.Name)
	}
	if len(rest) > 0 {
		list = append(list, check.Passed(s.Cluster.Name, rest...).Noting(s.Cluster.Name, "no group can launch there"))
	}
	return list
}

// classesOf are the sources of the classes that NodePools name: without its class the
// subnets of a pool are not known.
func classesOf(s *check.View) []snapshot.Source {
	var list []snapshot.Source
	for _, p := range s.NodePools {
		source := snapshot.EC2NodeClassesOf
		if p.Class.Group == snapshot.AutoModeGroup {
			source = snapshot.AutoNodeClassesOf
		}
		if !p.Deleting && !slices.Contains(list, source) {
			list = append(list, source)
		}
	}
	return list
}

// judgeFit holds the rule:
//
//	it does not fit, wanted now or room for less than two nodes   Fail, likely
//	it does not fit                                               Fail, advice
//	it fits, and something is not known                           Unknown
//	nodes take blocks, and the free ones were not counted         Unknown
//	it fits                                                       Pass
//
// What is not known only adds to the need: what does not fit without it, does
// not fit.
func judgeFit(s *check.View, fit address.Fit, pods podNetwork) check.Finding {
	id := fit.Subnet.ID
	f := check.Passed(id, id).Showing(fitEvidence(s, fit, pods)...)
	verdict := fit.Judge()
	switch {
	case verdict == address.NotCounted:
		return check.Unread(id, f.Covers, notCounted(s, id))
	case verdict == address.Fits && len(fit.Gaps) > 0:
		return check.Unread(id, f.Covers, unknowns(s, fit.Gaps)...)
	case verdict == address.Fits:
		return f
	}
	f.Outcome = check.Fail
	if !fit.Imminent() {
		f.Confidence = check.Advice
	}
	if !fitsWithout(fit, s.Leaks().Subnets[id]) {
		f.NarrowedAfter = []checkid.ID{checkid.IPSubnetExhausted, checkid.IPFragmented} // giving the leaked addresses back would not cure it
	}
	f.Resources = []string{id}
	for _, t := range fit.Terms {
		f.Resources = append(f.Resources, t.Group)
	}
	f.Title = check.Title("%s has no room for %d more %s", id, fit.Nodes().Least, check.Plural(fit.Nodes().Least, "node", "nodes"))
	if fit.Nodes().Least == 0 {
		f.Title = check.Title("%s has not enough for the nodes that are starting", id)
	}
	f.Why = fmt.Sprintf("%s (%s, %s): %s.", id, fit.Subnet.CIDR, fit.Subnet.Zone, fitSum(fit))
	if verdict == address.TooFewBlocks {
		f.Title = check.Title("%s has too few /28 blocks for %d more %s", id, fit.Nodes().Least, check.Plural(fit.Nodes().Least, "node", "nodes"))
		f.Why += fmt.Sprintf(" They take these in /28 blocks: %d, and %d %s free.", fit.Blocks(), fit.Use.Blocks, check.Plural(fit.Use.Blocks, "is", "are"))
	}
	f.Fix = check.Fix{
		Text:    fmt.Sprintf("Give %s larger subnets, or more of them; or lower the maximum to what fits; or reserve fewer addresses per node (WARM_IP_TARGET and MINIMUM_IP_TARGET of aws-node).", check.Some(f.Resources[1:], 3)),
		Console: s.VPCLink("SubnetDetails:subnetId=" + id),
	}
	return f
}

// fitsWithout reports whether all would fit once what dead nodes left behind is
// deleted. What is wanted may have its first address, as for Imminent.
func fitsWithout(fit address.Fit, here *check.SubnetLeaks) bool {
	if here == nil {
		return false
	}
	fit.Subnet.Free += here.Addresses()
	for _, t := range fit.Terms {
		fit.Subnet.Free += t.Wanted
	}
	fit.Use.Blocks += here.Blocks()
	return fit.Judge() == address.Fits
}

func notCounted(s *check.View, id string) snapshot.Failure {
	if !s.Has(snapshot.Usage) {
		return s.Why(snapshot.Usage)
	}
	return check.NotRead(snapshot.Usage, "the addresses of %s were not counted", id)
}

// unknowns are what would tell of gaps, each source once.
func unknowns(s *check.View, gaps []address.Gap) []snapshot.Failure {
	var list []snapshot.Failure
	for _, g := range gaps {
		why := check.NotRead(g.Source, "%s", g.Why)
		if lacks, is := s.Lacks(g.Source, g.Key); is {
			why = lacks
		}
		if !s.Has(g.Source) {
			why = s.Why(g.Source)
		}
		if !slices.Contains(list, why) {
			list = append(list, why)
		}
	}
	return list
}

// podNetwork is how nodes of a cluster take addresses, as far as it is known.
type podNetwork struct {
	address.Settings
	// read reports whether aws-node was looked at: otherwise these are its defaults.
	read bool
	// foreign reports whether there is no aws-node: another plugin gives pods their
	// addresses, and only a node's own is known of.
	foreign bool
}

func podNetworkOf(s *check.View) podNetwork {
	p := podNetwork{Settings: address.SettingsOf(s.CNI), read: s.Has(snapshot.AWSNode)}
	switch {
	case s.Cluster.IPv6:
		p.IPv6 = true
	case p.read && s.CNI == nil:
		p.Settings, p.foreign = address.OwnOnly(), true
	}
	// A card with an EFA-only interface and no other is not the plugin's (amazon-vpc-cni-k8s,
	// README, ENABLE_MULTI_NIC), and of which kind an adapter is is not read.
	p.Cards = p.Cards && !slices.ContainsFunc(s.Instances, func(i snapshot.Instance) bool { return len(i.EFAs) > 0 })
	return p
}

// words are the settings that count.
func (p podNetwork) words() string {
	switch {
	case p.foreign:
		return "no aws-node: another plugin gives pods their addresses"
	case !p.read && !p.IPv6:
		return "not read: the plugin's defaults are assumed"
	}
	return SettingsWords(p.Settings)
}

// SettingsWords are the settings that decide how many addresses a node takes.
func SettingsWords(st address.Settings) string {
	switch {
	case st.IPv6:
		return "pods have IPv6 addresses"
	case st.Elsewhere:
		return "custom networking: pods have addresses in other subnets"
	case st.Prefixes:
		return fmt.Sprintf("prefix delegation, WARM_PREFIX_TARGET=%d, WARM_IP_TARGET=%d, MINIMUM_IP_TARGET=%d", st.WarmPrefixes, st.WarmAddresses, st.MinimumAddresses)
	case st.WarmAddresses > 0 || st.MinimumAddresses > 0:
		return fmt.Sprintf("WARM_IP_TARGET=%d, MINIMUM_IP_TARGET=%d", st.WarmAddresses, st.MinimumAddresses)
	}
	return fmt.Sprintf("WARM_ENI_TARGET=%d", st.WarmInterfaces)
}

// notReadyIn are the scope's instances in some subnets that registered and are
// not Ready, and the Ready nodes whose pods get no address.
func notReadyIn(c *routes.Scope, subnets ...string) []string {
	registered := map[string]bool{}
	for _, n := range c.S.Nodes {
		registered[n.Instance] = true
	}
	var ids []string
	for _, subnet := range subnets {
		for _, i := range c.PendingBySubnet[subnet] {
			if registered[i.ID] {
				ids = append(ids, i.ID)
			}
		}
	}
	for _, i := range c.S.Starving() {
		if slices.Contains(subnets, i.Subnet) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}
