package ip

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/network/address"
	"rollcall/shared/network/leak"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func SubnetExhausted() check.Check {
	// What one more node takes matters only where little is free; instances
	// only where some are looked at; leaks only say what explains it.
	return check.New(checkid.IPSubnetExhausted, subnetExhausted, snapshot.Clusters, snapshot.Subnets).
		Using(snapshot.InstanceTypes, snapshot.Instances, snapshot.AWSNode, snapshot.ENIConfigsOf,
			snapshot.Unattached, snapshot.CreatorsOf, snapshot.NodePoolsOf, snapshot.NodeClaimsOf,
			snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf)
}

func subnetExhausted(s *check.View) []check.Finding {
	c := routes.ForView(s)
	var list []check.Finding
	for _, f := range c.Unreadable {
		if len(f.Blocked) > 0 && f.Blocked[0].Source != snapshot.RouteTables {
			list = append(list, f)
		}
	}
	return append(list, freeAddresses(c)...)
}

// freeIn holds the rule:
//
//	no free address            Fail, certain: no launch, no pod address
//	fewer than First           Fail, likely: a node starts, its pods run short
//	First or more              Pass: the warm interface can wait
//
// First is 1 where pods take nothing here: IPv6, custom networking, another
// plugin. With prefixes it is 1 and a /28; these may come out of a reservation,
// which the count leaves out: fewer than 17 is then possible, no more, and that
// an instance is not Ready likely at most.
//
// An instance that runs has its own address, so a full subnet does not keep
// it from registering. Those that did register and are not Ready (or whose
// pods have no network) are what the finding explains, unless their pods have
// another subnet to take addresses of.
func freeIn(c *routes.Scope, n taker, pods podNetwork, t snapshot.InstanceType) check.Finding {
	subnet := n.subnet
	f := check.Passed(subnet.ID, subnet.ID)
	if !subnet.CIDR.IsValid() {
		// EC2 says "0 free" of a subnet that has IPv6 addresses only.
		f.Evidence = []check.Evidence{{What: subnet.ID, Value: "has no IPv4 range"}}
		return f
	}
	most := n.demand(pods, snapshot.InstanceType{Interfaces: 2, IPv4PerInterface: check.MostFirst})
	if subnet.Free > 0 && subnet.Free < most.First && !c.S.Has(snapshot.InstanceTypes) {
		return check.Unread(subnet.ID, f.Covers, c.S.Why(snapshot.InstanceTypes))
	}
	d := n.demand(pods, t)
	f.Evidence = []check.Evidence{{What: "Addresses of " + subnet.ID, Value: n.sum(d, t)}}
	if pods.read || pods.IPv6 {
		f = f.Noting("Settings of aws-node", pods.words())
	}
	if subnet.Free >= d.First || subnet.Free > 0 && len(n.spare) > 0 {
		return f
	}
	f.Outcome = check.Fail
	if len(n.spare) == 0 {
		f.Instances = notReadyIn(c, n.from...)
	}
	f.Resources = []string{subnet.ID, subnet.VPC}
	f = f.Notingf(subnet.ID, "%s, %s", subnet.CIDR, subnet.Zone)
	f.Fix = check.Fix{
		Text:    fmt.Sprintf("Delete unused holders of addresses (the command lists interfaces that nothing is attached to), or have the group launch into a subnet other than %s.", subnet.ID),
		Command: c.S.AWSCommand("ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+subnet.ID, "Name=status,Values=available"),
		Console: c.S.VPCLink("SubnetDetails:subnetId=" + subnet.ID),
	}
	if !n.node {
		f.Fix.Text = fmt.Sprintf("Delete unused holders of addresses (the command lists interfaces that nothing is attached to), or move pods to a larger subnet than %s with new ENIConfigs, or the subnet tag kubernetes.io/role/cni.", subnet.ID)
	}
	f = f.Showing(holders(c.S, subnet.ID)...)
	// What is left behind explains it where giving that back would cure it.
	leaked, strays := check.LeakedAddresses(c.S, subnet.ID), len(check.StrayBranches(c.S, subnet.ID))
	f.NarrowedAfter = []checkid.ID{checkid.SpotBurstExceedsSubnet}
	if leaked > 0 && subnet.Free+leaked >= d.First {
		f.NarrowedAfter = append(f.NarrowedAfter, checkid.IPLeakedInterfaces)
	}
	if strays > 0 && subnet.Free+strays >= d.First {
		f.NarrowedAfter = append(f.NarrowedAfter, checkid.IPBranchLeaked)
	}
	f.Title, f.Why = n.shortage(c, pods, d, t)
	switch {
	case d.Blocks > 0 && subnet.Free > 0:
		f.Confidence = check.Possible
	case subnet.Free > 0, d.Blocks > 0 && len(f.Instances) > 0:
		f.Confidence = check.Likely
		f.Unconditional = mayGrow(c, n.from)
	}
	return f
}

// holders are who has the addresses, as far as it was counted.
func holders(s *check.View, subnet string) []check.Evidence {
	var list []check.Evidence
	if i := slices.IndexFunc(s.Uses, func(u snapshot.Use) bool { return u.Subnet == subnet }); i >= 0 {
		list = append(list, check.Evidence{What: "Held in " + subnet, Value: fmt.Sprintf("%d addresses by %d interfaces, %d kept by reservations", s.Uses[i].Held, s.Uses[i].Interfaces, s.Uses[i].Kept)})
	}
	if n := check.LeakedAddresses(s, subnet); n > 0 {
		list = append(list, check.Evidence{What: "Held by interfaces of terminated nodes", Value: fmt.Sprint(n)})
	}
	if n := len(check.StrayBranches(s, subnet)); n > 0 {
		list = append(list, check.Evidence{What: "Held by branch interfaces without a trunk", Value: fmt.Sprint(n)})
	}
	return list
}

// mayGrow reports whether a group, or a NodePool that is in use, can still launch a node
// into one of some subnets:
// then too little is a fault before a launch fails for it. Where all groups are
// as large as they may be, it is as planned.
func mayGrow(c *routes.Scope, subnets []string) bool {
	of := func(list []string) bool {
		return slices.ContainsFunc(subnets, func(id string) bool { return slices.Contains(list, id) })
	}
	return slices.ContainsFunc(c.S.Groups, func(g snapshot.Group) bool { return g.Max > len(g.Instances) && !zones.Stopped(g) && of(g.Subnets) }) ||
		slices.ContainsFunc(addressPools(c.S), func(p address.Pool) bool {
			return !p.Idle && (p.Nodes == nil || *p.Nodes > 0) && (p.CPUs == nil || *p.CPUs >= 1) && of(p.Subnets) && !roomInZone(c, p, subnets)
		})
}

// roomInZone reports whether a NodePool has another subnet with plenty in the zone of each:
// of a zone's subnets Karpenter takes the one with the most free addresses
// (aws/karpenter-provider-aws pkg/providers/subnet/subnet.go, ZonalSubnetsForLaunch).
func roomInZone(c *routes.Scope, p address.Pool, subnets []string) bool {
	return !slices.ContainsFunc(subnets, func(id string) bool {
		here, _ := c.Net.Subnet(id)
		return slices.Contains(p.Subnets, id) && !slices.ContainsFunc(roomy(c, p.Subnets), func(other string) bool {
			n, _ := c.Net.Subnet(other)
			return n.Zone == here.Zone
		})
	})
}

// shortage are the words of a subnet that has too little.
func (n taker) shortage(c *routes.Scope, pods podNetwork, d address.Demand, t snapshot.InstanceType) (head, why string) {
	subnet := n.subnet
	place := fmt.Sprintf("%s (%s, %s)", subnet.ID, subnet.CIDR, subnet.Zone)
	if subnet.Free == 0 {
		why = place + " has no free address. "
		switch {
		case !n.node:
			why += fmt.Sprintf("Pods of nodes in %s get theirs here, and get none.", check.Some(n.from, 3))
		case len(n.from) == 0 || len(n.spare) > 0:
			why += "Nothing more can be launched there."
			if len(n.spare) > 0 {
				why += fmt.Sprintf(" Pods can still get addresses in %s.", check.Some(n.spare, 3))
			}
		case d.Blocks > 0:
			why += "Nothing more can be launched there, and pods on its nodes get no addresses, unless a CIDR reservation still has prefixes."
		default:
			why += "Nothing more can be launched there, and pods on its nodes get no addresses."
		}
		return check.Title("%s has no free address", subnet.ID), why
	}
	head = check.Title("%s has only %d free %s", subnet.ID, subnet.Free, check.Plural(subnet.Free, "address", "addresses"))
	with := "the VPC CNI's default settings"
	if pods.read {
		with = "the settings of aws-node"
	}
	why = fmt.Sprintf("%s has %d free, and one more %s needs %d with %s. It would start, and its pods would run short of addresses", place, subnet.Free, t.Name, d.First, with)
	if !n.node {
		why = fmt.Sprintf("%s has %d free. Pods of nodes in %s get theirs here, %d for one more %s: they would run short", place, subnet.Free, check.Some(n.from, 3), d.First, t.Name)
	}
	if d.Blocks > 0 {
		return head, why + ", unless a CIDR reservation still has prefixes."
	}
	return head, why + "."
}

// prefixSize is how many addresses a delegated prefix has: a /28.
const prefixSize = 16

// taker is a subnet that nodes or their pods take addresses of.
type taker struct {
	subnet snapshot.Subnet
	// node reports whether nodes stand in it.
	node bool
	// from are the subnets of the nodes whose pods take addresses here.
	from []string
	// further are other subnets in which the plugin may make interfaces for
	// these; spare are those of them with plenty of free addresses.
	further []string
	spare   []string
}

// demand is what one more node takes here: with its pods elsewhere, its own
// address alone.
func (n taker) demand(pods podNetwork, t snapshot.InstanceType) address.Demand {
	if len(n.from) == 0 {
		return address.Demand{Own: 1, First: 1}
	}
	here := pods.Settings
	here.Elsewhere = false
	d := here.AtStart(t)
	if d.Blocks > 0 {
		// More than one prefix is a reserve.
		d.First, d.Warm = 1+prefixSize, d.Total()-1-prefixSize
	}
	return d
}

// sum is the arithmetic in words.
func (n taker) sum(d address.Demand, t snapshot.InstanceType) string {
	free := n.subnet.Free
	switch {
	case d.First <= 1:
		return fmt.Sprintf("%d free; one more node needs %d at start", free, d.First)
	case d.Blocks > 0:
		return fmt.Sprintf("%d free; one more %s needs %d: 1 for itself and a /28 for pods", free, t.Name, d.First)
	case !n.node:
		return fmt.Sprintf("%d free; the pods of one more %s need %d: 1 for an interface and %d on it", free, t.Name, d.First, d.First-1)
	}
	text := fmt.Sprintf("%d free; one more %s needs %d: 1 for itself and %d for pods on its first interface", free, t.Name, d.First, d.First-1)
	if d.Warm > 0 {
		text += fmt.Sprintf("; %d more are kept warm on a second one", d.Warm)
	}
	return text
}

// watched are the subnets that the scope names, and those of its instances.
func watched(c *routes.Scope) []string {
	ids := slices.Concat(c.S.Scope.Subnets, c.S.Scope.Launchable, slices.Collect(maps.Keys(c.RunningBySubnet)))
	slices.Sort(ids)
	return slices.Compact(ids)
}

// freeAddresses judges every subnet of the scope, whatever its routes are, and
// those that the pods of its nodes take addresses of.
func freeAddresses(c *routes.Scope) []check.Finding {
	pods := podNetworkOf(c.S)
	takers, list := takers(c, pods)
	for _, n := range takers {
		list = append(list, freeIn(c, n, pods, smallest(c, n, pods)))
	}
	return list
}

// takers sorts the scope's subnets by who takes addresses of them. The findings
// are the Unknowns: node subnets of which that cannot be told.
func takers(c *routes.Scope, pods podNetwork) (list []taker, blind []check.Finding) {
	of := map[string]*taker{}
	get := func(id string) *taker {
		if of[id] == nil {
			n, _ := c.Net.Subnet(id)
			of[id] = &taker{subnet: n}
		}
		return of[id]
	}
	for _, id := range watched(c) {
		node, known := c.Net.Subnet(id)
		if !known {
			continue
		}
		get(id).node = true
		p := pods.PodSubnets(node, c.S.Subnets, c.S.ENIConfigs)
		if why, unsure := unsure(c, pods, p); unsure {
			blind = append(blind, check.Unread(id, []string{id}, why))
			continue
		}
		if p.First {
			// Its first interface takes of its own subnet; where that has none, the
			// plugin makes another one elsewhere, if it may.
			n := get(id)
			n.from = append(n.from, id)
			n.also(p.Further, c)
			continue
		}
		for _, pod := range p.Further {
			n := get(pod)
			n.from = append(n.from, id)
			n.also(p.Further, c)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		list = append(list, *of[id])
	}
	return list, blind
}

// also adds the other subnets that pods may take addresses of.
func (n *taker) also(further []string, c *routes.Scope) {
	n.further = slices.DeleteFunc(slices.Clone(further), func(id string) bool { return id == n.subnet.ID })
	n.spare = roomy(c, n.further)
}

// unsure is why it cannot be told where pods take their addresses. Where all
// subnets that it may be have plenty, it does not matter.
func unsure(c *routes.Scope, pods podNetwork, p address.Places) (snapshot.Failure, bool) {
	if pods.Elsewhere && !c.S.Has(snapshot.ENIConfigsOf) {
		return c.S.Why(snapshot.ENIConfigsOf), true
	}
	if p.Doubt == address.NoDoubt || p.Doubt == address.NodesChoose && len(roomy(c, p.Further)) == len(p.Further) {
		return snapshot.Failure{}, false
	}
	return check.NotRead(snapshot.ENIConfigsOf, "%s", string(p.Doubt)), true
}

// roomy are those of some subnets that have more free than the first interface
// of any node takes.
func roomy(c *routes.Scope, ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		n, _ := c.Net.Subnet(id)
		return n.Free < check.MostFirst
	})
}

// smallest is the type with the smallest demand among the scope's instances
// in the subnet, else among all types that were read: one more node of the
// group may be of any of them, and the subnet is not to be accused wrongly.
func smallest(c *routes.Scope, n taker, pods podNetwork) snapshot.InstanceType {
	types := map[string]snapshot.InstanceType{}
	for _, t := range c.S.InstanceTypes {
		types[t.Name] = t
	}
	var list []snapshot.InstanceType
	for _, id := range append([]string{n.subnet.ID}, n.from...) {
		for _, i := range c.RunningBySubnet[id] {
			if t, known := types[i.Type]; known {
				list = append(list, t)
			}
		}
	}
	if len(list) == 0 {
		list = slices.Clone(c.S.InstanceTypes)
	}
	if len(list) == 0 {
		return snapshot.InstanceType{}
	}
	return slices.MinFunc(list, func(a, b snapshot.InstanceType) int {
		return cmp.Or(cmp.Compare(n.demand(pods, a).First, n.demand(pods, b).First), cmp.Compare(a.Name, b.Name))
	})
}

func LeakedInterfaces() check.Check {
	return check.New(checkid.IPLeakedInterfaces, runLeakedInterfaces, snapshot.Clusters, snapshot.Subnets,
		snapshot.Unattached, snapshot.CreatorsOf).
		Using(snapshot.InstanceTypes, snapshot.AWSNode, snapshot.ENIConfigsOf)
}

const (
	// muchLeaked addresses are worth a message, whatever the subnet's size: two
	// nodes' worth of a usual type.
	muchLeaked = 50
	// shareLeaked is the share of a subnet that is, in percent.
	shareLeaked = 10
)

// runLeakedInterfaces holds the rule:
//
//	none left behind                                                  Pass
//	less is free than one node takes; with what they hold, enough     Fail, certain
//	they hold more than 50 addresses or a tenth of the subnet         Fail, likely
//	fewer                                                             Fail, advice
//	owners that were not read, and none left behind                   Unknown
func runLeakedInterfaces(s *check.View) []check.Finding {
	l := s.Leaks()
	if l.Ground.Account == "" || l.Ground.VPC == "" {
		return []check.Finding{check.Unread(s.Cluster.Name, nil, check.Broken(snapshot.Clusters, "the cluster's account or VPC is unknown, so the owner of these interfaces is too"))}
	}
	var list []check.Finding
	var well, told []string
	for _, n := range s.Subnets {
		if n.VPC != s.Cluster.VPC {
			continue
		}
		here := l.Subnets[n.ID]
		back, returned := returned(l, n.ID)
		switch {
		case here != nil && len(here.Own) > 0:
			f := judge(l, n, here)
			told = append(told, f.Covers...)
			list = append(list, f)
		case here != nil && here.Spared[leak.OwnerUnread] > 0:
			list = append(list, check.Unread(n.ID, []string{n.ID}, check.NotRead(snapshot.CreatorsOf, "the state of the instances that created interfaces in %s was not checked", n.ID)))
		case returned:
			list = append(list, check.Passed(n.ID, n.ID).Showing(back))
		default:
			well = append(well, n.ID)
		}
	}
	// No leak keeps the other groups from launching.
	for _, g := range s.Groups {
		short := slices.ContainsFunc(list, func(f check.Finding) bool {
			return f.Outcome != check.Pass && slices.Contains(g.Subnets, f.Resource)
		})
		if !short && !slices.Contains(told, g.Name) {
			well = append(well, g.Name)
		}
	}
	return append(list, check.Passed(s.Cluster.Name, append(well, s.Cluster.Name)...))
}

func judge(l check.Leaks, n snapshot.Subnet, here *check.SubnetLeaks) check.Finding {
	f := leakFinding(l, n, here)
	held, w := here.Addresses(), l.Wants(n.ID)
	short := n.CIDR.IsValid() && launchable(l, n.ID) && n.Free < w.Count && n.Free+held >= w.Count && (!w.Block || here.Blocks() > 0)
	switch {
	// Of aws-node's settings nothing is known: no address at all is too few
	// with any of them.
	case short && (w.Sure || n.Free == 0):
		f.Instances = unready(l, n.ID)
		f.Covers = append(f.Covers, refused(l, n, held, w.Count)...)
		explain(l, &f, n, here, w)
	case held > muchLeaked, n.CIDR.IsValid() && held*100 > shareLeaked*address.Usable(n.CIDR):
		f.Confidence = check.Likely
	default:
		f.Confidence = check.Advice
	}
	return f
}

// launchable reports whether the cluster launches nodes in a subnet, or has its
// pods' addresses there.
func launchable(l check.Leaks, id string) bool {
	return slices.Contains(l.S.Scope.Launchable, id) || slices.Contains(l.S.Scope.Subnets, id) ||
		slices.ContainsFunc(l.S.Groups, func(g snapshot.Group) bool { return slices.Contains(g.Subnets, id) }) ||
		slices.ContainsFunc(l.S.Scoped(), func(i *snapshot.Instance) bool { return i.Subnet == id }) ||
		slices.ContainsFunc(l.S.ENIConfigs, func(c snapshot.ENIConfig) bool { return c.Subnet == id })
}

// unready are the scope's instances in a subnet that registered and are not
// Ready: an instance has its own address, which is all that registering takes.
func unready(l check.Leaks, subnet string) []string {
	nodes := l.S.Index()
	suspects, _ := nodes.Pending()
	var ids []string
	for _, i := range suspects {
		if i.Subnet == subnet && !i.Ended() && nodes.Nodes[i.ID] != nil {
			ids = append(ids, i.ID)
		}
	}
	for _, i := range l.S.Starving() {
		if i.Subnet == subnet {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// refused are the groups whose launches EC2 refused for want of addresses in a
// subnet, where what comes back is enough for all nodes that they still want
// there. A group spreads them over its subnets.
func refused(l check.Leaks, n snapshot.Subnet, held, each int) []string {
	if !l.S.Has(snapshot.Groups) || !l.S.Has(snapshot.Activities) {
		return nil
	}
	groups := map[string]bool{}
	for _, t := range l.S.Attempts().List {
		if t.Verdict.Class == checkid.LaunchSubnetFull && !t.Unsure && t.Subnet == n.ID {
			groups[t.Group] = true
		}
	}
	missing := 0
	for _, g := range l.S.Groups {
		if groups[g.Name] {
			parts := max(1, len(g.Subnets))
			missing += (max(1, g.Desired-len(g.Instances)) + parts - 1) / parts
		}
	}
	if n.Free+held < missing*each {
		return nil
	}
	return slices.Sorted(maps.Keys(groups))
}

// leakFinding tells what is left behind in a subnet, and what becomes of it.
func leakFinding(l check.Leaks, n snapshot.Subnet, here *check.SubnetLeaks) check.Finding {
	owners := here.Owners()
	held := here.Addresses()
	what := fmt.Sprintf("%d %s of %d terminated %s", len(here.Own), check.Plural(len(here.Own), "interface", "interfaces"), len(owners), check.Plural(len(owners), "node", "nodes"))
	since := since(l, here)
	f := check.Failed(n.ID, n.ID).Involving(n.ID, n.VPC).
		Titled("%d terminated %s %d %s of %s", len(owners), check.Plural(len(owners), "node holds", "nodes hold"), held, check.Plural(held, "address", "addresses"), n.ID).
		Because("%s %s %d %s of %s (%s, %s)%s. Nothing is attached to them, and EC2 reports their instances as terminated or unknown.", what, check.Plural(len(here.Own), "holds", "hold"), held, check.Plural(held, "address", "addresses"), n.ID, n.CIDR, n.Zone, since).
		Notingf("Leaked in "+n.ID, "%s, %d %s%s", what, held, check.Plural(held, "address", "addresses"), since).
		Noting("Interfaces", check.Some(ids(l, here.Own), 5)).
		Noting("Created by", check.Some(owners, 5)).
		Noting("Of cluster", clusters(l, here)).
		FixedBy(fix(l, n, here))
	f = f.Noting("eni-cleanup", fate(l, here))
	if here.Others > 0 {
		f = f.Notingf("Not counted", "%d %s of terminated nodes that name another cluster", here.Others, check.Plural(here.Others, "interface", "interfaces"))
	}
	if len(here.Spared) > 0 {
		f = f.Noting("Not leaked", reasons(here.Spared))
	}
	if back, returned := returned(l, n.ID); returned {
		back.What = "Given back to " + n.ID
		f = f.Showing(back)
	}
	return f
}

// explain says what the subnet lacks because of them.
func explain(l check.Leaks, f *check.Finding, n snapshot.Subnet, here *check.SubnetLeaks, w check.NextNode) {
	held := here.Addresses()
	one := "one more node"
	if w.Kind != "" {
		one = "one more " + w.Kind
	}
	f.Why = strings.TrimSuffix(f.Why, " Nothing is attached to them, and EC2 reports their instances as terminated or unknown.")
	if name := uncleaned(l); name != "" {
		f.Why += fmt.Sprintf(" aws-node will not clean these up: %s=true.", name)
	}
	if n.Free == 0 {
		// A remedy may be about fewer, those that were there for long: "them" would be its own.
		all := check.Plural(len(here.Own), "it", fmt.Sprintf("all %d", len(here.Own)))
		f.Why += fmt.Sprintf(" 0 are free: nothing can be launched there, and new pods of its nodes get no address. Deleting %s frees %d; %s needs %d.", all, held, one, w.Count)
	} else {
		f.Why += fmt.Sprintf(" %d %s free, and %s needs %d; deleting these leaves %d free.", n.Free, check.Plural(n.Free, "is", "are"), one, w.Count, n.Free+held)
	}
	f.Evidence = append([]check.Evidence{{What: "Addresses of " + n.ID, Value: fmt.Sprintf("%d free; %s needs %d at start; %d free once terminated nodes' interfaces are deleted", n.Free, one, w.Count, n.Free+held)}}, f.Evidence...)
}

// uncleaning are the settings with which aws-node deletes nothing that was left
// behind (amazon-vpc-cni-k8s, README).
func uncleaning() []string {
	return []string{"DISABLE_LEAKED_ENI_CLEANUP", "DISABLE_NETWORK_RESOURCE_PROVISIONING", "ENABLE_IMDS_ONLY_MODE"}
}

// uncleaned is the setting of aws-node that keeps it from deleting them itself;
// empty without one, and where that was not read.
func uncleaned(l check.Leaks) string {
	if !l.S.Has(snapshot.AWSNode) || l.S.CNI == nil {
		return ""
	}
	for _, name := range uncleaning() {
		if on, err := strconv.ParseBool(l.S.CNI.Env[name]); err == nil && on {
			return name
		}
	}
	return ""
}

// since is how long the oldest has been there, as far as dates can be read.
func since(l check.Leaks, here *check.SubnetLeaks) string {
	for _, v := range here.Own {
		if !v.Created.IsZero() {
			return fmt.Sprintf(", oldest created %s UTC", v.Created.UTC().Format(check.DayAndMinute))
		}
	}
	return ""
}

func ids(l check.Leaks, list []leak.Verdict) []string {
	ids := make([]string, len(list))
	for i, v := range list {
		ids[i] = v.Interface.ID
	}
	return ids
}

func clusters(l check.Leaks, here *check.SubnetLeaks) string {
	none := 0
	for _, v := range here.Own {
		if v.Cluster == "" {
			none++
		}
	}
	switch named := len(here.Own) - none; {
	case none == 0:
		return l.S.Cluster.Name
	case named == 0:
		return "they name none: created by aws-node without CLUSTER_NAME"
	default:
		return fmt.Sprintf("%d name %s, %d none", named, l.S.Cluster.Name, none)
	}
}

// sorted are those that eni-cleanup may delete by its own settings, and the
// reasons why it leaves the others.
func sorted(l check.Leaks, here *check.SubnetLeaks) (may []leak.Verdict, left map[leak.Reason]int) {
	g := l.Ground
	g.Grace, g.Untagged = l.S.Cleanup.Grace, l.S.Cleanup.Untagged
	left = map[leak.Reason]int{}
	for _, v := range here.Own {
		if again := leak.Judge(v.Interface, g); again.Why == leak.Leaked {
			may = append(may, again)
		} else {
			left[again.Why]++
		}
	}
	return may, left
}

// fate is what eni-cleanup does with them.
func fate(l check.Leaks, here *check.SubnetLeaks) string {
	may, left := sorted(l, here)
	text := ""
	switch l.S.Cleanup.Mode {
	case "delete":
		text = fmt.Sprintf("on: deletes %d of them, once it has seen them twice", len(may))
	case "dry-run":
		text = fmt.Sprintf("dry-run: would delete %d of them", len(may))
	case "report":
		text = fmt.Sprintf("off for %s: could delete %d of them", l.S.Cluster.Name, len(may))
	default:
		text = fmt.Sprintf("could delete %d of them, if enabled", len(may))
	}
	if n := len(may) - len(naming(may)); n > 0 {
		text += fmt.Sprintf("; %d %s no cluster, and %s only where all clusters of the VPC are watched and in mode delete", n, check.Plural(n, "names", "name"), check.Plural(n, "goes", "go"))
	}
	if len(left) > 0 {
		text += "; not " + reasons(left)
	}
	return text
}

// naming are those that name a cluster: whatever the operator opted in, the
// owner of the others cannot be seen here.
func naming(list []leak.Verdict) []leak.Verdict {
	return slices.DeleteFunc(slices.Clone(list), func(v leak.Verdict) bool { return v.Cluster == "" })
}

// fix is what to switch, or to paste.
func fix(l check.Leaks, n snapshot.Subnet, here *check.SubnetLeaks) check.Fix {
	may, left := sorted(l, here)
	f := check.Fix{
		Command: l.S.AWSCommand("ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+n.ID, "Name=status,Values=available", "Name=description,Values=aws-K8S-i-*"),
		Console: l.S.EC2Link("NIC:subnetId=" + n.ID),
	}
	named := naming(may)
	switch {
	case l.S.Cleanup.Mode == "delete" && len(named) > 0:
		f.Text = "Nothing: eni-cleanup runs every 15 minutes and deletes them."
	case len(named) > 0:
		f.Remedy = deleteLeakedInterfaces
		f.Text = fmt.Sprintf("Let eni-cleanup delete them: deploy with the setting cleanup=%s=delete. Or delete them by hand; EC2 refuses to delete one that is in use.", l.S.Cluster.Name)
		f.Command = deletes(l, named)
	case len(may) > 0:
		f.Text = fmt.Sprintf("Let eni-cleanup delete them: watch all clusters of %s, each in mode delete (settings clusters and cleanup). Or check each of them, and delete unused ones by hand (the command lists them).", l.S.Cluster.VPC)
	default:
		f.Text = "Check each of them, and delete unused ones by hand (the command lists them)."
	}
	if left[leak.Untagged] > 0 {
		f.Text += fmt.Sprintf(" %d %s no cluster: where all clusters of the VPC are watched, set cleanupUntagged=%s.", left[leak.Untagged], check.Plural(left[leak.Untagged], "names", "name"), l.S.Cluster.VPC)
	}
	return f
}

// deletes are the commands that delete the oldest: no more than a person looks
// through before pasting them.
func deletes(l check.Leaks, may []leak.Verdict) string {
	const most = 20
	ids := ids(l, may[:min(len(may), most)])
	if len(ids) == 1 {
		return l.S.AWSCommand("ec2 delete-network-interface", "--network-interface-id", ids[0])
	}
	return shell.Each(ids, "aws", "ec2", "delete-network-interface", "--region", l.S.Region, "--network-interface-id")
}

// reasons lists them with their numbers, most first.
func reasons(counts map[leak.Reason]int) string {
	list := slices.SortedFunc(maps.Keys(counts), func(a, b leak.Reason) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, r := range list {
		parts = append(parts, fmt.Sprintf("%d (%s)", counts[r], r))
	}
	return strings.Join(parts, ", ")
}

// returned is what eni-cleanup gave back to a subnet lately.
func returned(l check.Leaks, subnet string) (check.Evidence, bool) {
	for _, r := range l.S.Returned {
		if r.Subnet == subnet && r.Interfaces > 0 {
			return check.Evidence{What: subnet, Value: fmt.Sprintf("%d %s back; %d %s of %d terminated %s", r.Addresses, check.Plural(r.Addresses, "address", "addresses"),
				r.Interfaces, check.Plural(r.Interfaces, "interface", "interfaces"), r.Nodes, check.Plural(r.Nodes, "node", "nodes"))}, true
		}
	}
	return check.Evidence{}, false
}

// runwayHorizon is how long before a subnet runs out of addresses that is said,
// where the snapshot names no other time.
const runwayHorizon = 24 * time.Hour

func Runway() check.Check {
	// What one more node takes: without it, when no address is left.
	return check.New(checkid.IPRunway, runRunway, snapshot.Clusters, snapshot.LaunchHistory, snapshot.Subnets).
		Using(snapshot.InstanceTypes, snapshot.AWSNode, snapshot.Groups, snapshot.NodePoolsOf,
			snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf)
}

func runRunway(s *check.View) []check.Finding {
	c := routes.ForView(s)
	samples := map[string][]snapshot.Sample{}
	for _, x := range s.Samples {
		samples[x.Subnet] = append(samples[x.Subnet], x)
	}
	var list []check.Finding
	for _, id := range slices.Compact(slices.Sorted(slices.Values(s.Scope.Launchable))) {
		if subnet, known := c.Net.Subnet(id); known {
			list = append(list, runwayOf(c, subnet, samples[id]))
		}
	}
	if len(list) == 0 {
		list = append(list, check.Passed(s.Cluster.Name, s.Cluster.Name).
			Noting(s.Cluster.Name, "no group can launch into a subnet"))
	}
	return list
}

// runwayOf holds the rule:
//
//	no IPv4 range                                                Pass: nothing to foretell
//	too few readings, or no recent one                           Unknown
//	no more left than one node takes                             Fail, advice; ip/subnet-exhausted says it
//	no fall, or it leaves more than the horizon                  Pass
//	a fall of hours or days, all of its interval in the horizon  Fail, likely
//	any other within the horizon                                 Fail, possible
func runwayOf(c *routes.Scope, subnet snapshot.Subnet, samples []snapshot.Sample) check.Finding {
	pass := check.Passed(subnet.ID, subnet.ID)
	if !subnet.CIDR.IsValid() {
		pass.Evidence = []check.Evidence{{What: subnet.ID, Value: "has no IPv4 range"}}
		return pass
	}
	horizon := cmp.Or(c.S.Horizon, runwayHorizon)
	n := node(c, subnet.ID)
	p := pending(c, subnet.ID, n)
	r, warn := address.Warn(samples, n.takes+p.addresses, horizon, c.S.Time)
	if r.Reason == address.Reached && p.launches > 0 {
		// What is wanted may go elsewhere: it is no fall.
		r, warn = address.Warn(samples, n.takes, horizon, c.S.Time)
	}
	if r.Reason == address.TooFewSamples {
		return check.Unread(subnet.ID, []string{subnet.ID}, check.NotRead(snapshot.LaunchHistory, "the free addresses of %s were not recorded often enough lately (%d samples)", subnet.ID, len(samples)))
	}
	evidence := []check.Evidence{{What: "Free addresses of " + subnet.ID, Value: spokenRunway(r, c.S.Time)}}
	if p.launches > 0 {
		evidence = append(evidence, check.Evidence{What: "Launches wanted", Value: p.words(n)})
	}
	if !warn && r.Reason != address.Reached {
		pass.Evidence = evidence
		return pass
	}
	f := check.Failed(subnet.ID, subnet.ID).Involving(subnet.ID, subnet.VPC).WithConfidence(check.Possible).
		Titled("%s runs out of addresses at about %s", subnet.ID, clockMinute(r.Empty, c.S.Time)).
		Because("%s", runwayWhy(subnet, r, n, p, c.S.Time)).
		Showing(evidence...).
		Notingf(subnet.ID, "%s, %s", subnet.CIDR, subnet.Zone).
		ToFix("Find what uses the addresses (the command lists interfaces that nothing is attached to), or have the groups launch into a subnet other than %s.", subnet.ID).
		Command(c.S.AWSCommand("ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+subnet.ID, "Name=status,Values=available")).
		Console(c.S.VPCLink("SubnetDetails:subnetId=" + subnet.ID))
	if r.Reason == address.Reached {
		// ip/subnet-exhausted says it where a group may still launch there.
		f.Confidence = check.Advice
		f.Title = check.Title("%s has no addresses left for one more node", subnet.ID)
		f.Why = fmt.Sprintf("%s had %s free at %s, and %s.", subnet.ID, thousands(r.Free), clockMinute(r.At, c.S.Time), n.needs())
		return f
	}
	if r.Reason == address.Steady && !r.Latest.IsZero() && r.Latest.Sub(c.S.Time) <= horizon {
		f.Confidence = check.Likely
	}
	return f
}

// oneMore is what one more node takes in a subnet.
type oneMore struct {
	kind  string // instance type; empty where none is known
	takes int    // addresses
}

// node is the smallest that a group may launch there, with the settings of
// aws-node where they were read. Without its type all addresses count.
func node(c *routes.Scope, subnet string) oneMore {
	if !c.S.Has(snapshot.InstanceTypes) || len(c.S.InstanceTypes) == 0 {
		return oneMore{}
	}
	pods := podNetworkOf(c.S)
	n := taker{from: []string{subnet}}
	n.subnet, _ = c.Net.Subnet(subnet)
	takers, _ := takers(c, pods)
	if i := slices.IndexFunc(takers, func(o taker) bool { return o.subnet.ID == subnet }); i >= 0 {
		n = takers[i]
	}
	t := smallest(c, n, pods)
	// A node with less than its first interface's addresses is no use: one
	// address less than that is what must not be reached.
	return oneMore{kind: t.Name, takes: max(n.demand(pods, t).First-1, 0)}
}

func (n oneMore) needs() string {
	if n.kind == "" {
		return "each node needs at least one"
	}
	return fmt.Sprintf("one more %s needs %d", n.kind, n.takes+1)
}

// pendingLaunches are those that groups want and have not made.
type pendingLaunches struct {
	launches, addresses int
	groups              []string
}

// pending shares the launches that groups want among their subnets, as Auto
// Scaling does, and the nodes that NodePools have asked for among theirs.
func pending(c *routes.Scope, subnet string, n oneMore) pendingLaunches {
	var p pendingLaunches
	if !c.S.Has(snapshot.Groups) {
		return p
	}
	for _, g := range c.S.Groups {
		missing := g.Desired - len(g.Instances)
		if missing <= 0 || !slices.Contains(g.Subnets, subnet) || zones.Stopped(g) {
			continue
		}
		p.launches += int(math.Ceil(float64(missing) / float64(len(g.Subnets))))
		p.groups = append(p.groups, g.Name)
	}
	for _, pool := range addressPools(c.S) {
		if pool.Wanted > 0 && slices.Contains(pool.Subnets, subnet) {
			p.launches += int(math.Ceil(float64(pool.Wanted) / float64(len(pool.Subnets))))
			p.groups = append(p.groups, "NodePool "+pool.Name)
		}
	}
	p.addresses = p.launches * (n.takes + 1)
	return p
}

// runwayWhy says since when, how fast, and until when, with the interval.
func runwayWhy(subnet snapshot.Subnet, r address.Runway, n oneMore, p pendingLaunches, now time.Time) string {
	until := "some are left"
	if n.takes > 0 {
		until = fmt.Sprintf("one more %s fits (%d addresses)", n.kind, n.takes+1)
	}
	text := fmt.Sprintf("Since %s %s lost %s an hour, from %s to %s. At that pace %s until %s",
		clockMinute(r.Since, now), subnet.ID, addressesOf(r.PerHour), thousands(max(r.From, r.Free)), thousands(r.Free), until, clockMinute(r.Empty, now))
	if between := interval(r, now); between != "" {
		text += " (" + between + ")"
	}
	if p.launches > 0 {
		text += fmt.Sprintf("; of those, %d are for %d %s that %s wanted by %s", p.addresses, p.launches, check.Plural(p.launches, "launch", "launches"), check.Plural(p.launches, "is", "are"), check.Some(p.groups, 2))
	}
	return text + "."
}

// interval is the interval in words; empty where it is a minute.
func interval(r address.Runway, now time.Time) string {
	early := clockMinute(later(r.Earliest, now), now)
	switch {
	case r.Latest.IsZero():
		return "at the earliest " + early
	case clockMinute(r.Latest, now) == early:
		return ""
	}
	return early + " to " + clockMinute(r.Latest, now)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// spokenRunway is what was seen, in words.
func spokenRunway(r address.Runway, now time.Time) string {
	have := fmt.Sprintf("%s at %s", thousands(r.Free), clockMinute(r.At, now))
	switch r.Reason {
	case address.Reached:
		return have + ": no more than one node needs already"
	case address.Wave:
		return have + ": they declined as on other days, and came back then"
	case address.Rising:
		return have + ", and rising"
	case address.NoTrend:
		return have + ": no lasting decline"
	}
	return fmt.Sprintf("%s, %s, %s an hour since %s: %s left", have, r.Reason, addressesOf(-r.PerHour), clockMinute(r.Since, now), roughly(r.Empty.Sub(now)))
}

func (p pendingLaunches) words(n oneMore) string {
	return fmt.Sprintf("%d here, by %s: %d addresses of %s", p.launches, check.Some(p.groups, 4), p.addresses, cmp.Or(n.kind, "an unknown type"))
}

// addressesOf writes a pace: "42 addresses", "0.4 addresses".
func addressesOf(perHour float64) string {
	if math.Abs(perHour) < 10 {
		text := strconv.FormatFloat(perHour, 'f', 1, 64)
		return text + " " + check.Plural(int(math.Abs(perHour)*10+0.5)-9, "address", "addresses")
	}
	return thousands(int(math.Round(perHour))) + " addresses"
}

// roughly writes a long span: "7 h", "40 min".
func roughly(d time.Duration) string {
	if d < 2*time.Hour {
		return fmt.Sprintf("%d min", int(max(d, 0).Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

// clockMinute is a time to five minutes, which is how often subnets are looked
// at, and with its day if that is another than that of the look.
func clockMinute(t, now time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	t, now = t.UTC().Round(5*time.Minute), now.UTC()
	if t.Format(time.DateOnly) != now.Format(time.DateOnly) {
		return t.Format("2 Jan 15:04 UTC")
	}
	return t.Format("15:04 UTC")
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(max(n, -n))
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	if n < 0 {
		return "-" + text
	}
	return text
}
