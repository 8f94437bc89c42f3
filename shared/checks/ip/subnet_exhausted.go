package ip

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/address"
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

func subnetExhausted(s *facts.View) []finding.Finding {
	c := routes.Of(s)
	var list []finding.Finding
	for _, f := range c.Blind {
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
func freeIn(c *routes.Scope, n taker, pods podNetwork, t snapshot.InstanceType) finding.Finding {
	subnet := n.subnet
	f := finding.Finding{Outcome: finding.Pass, Resource: subnet.ID, Covers: []string{subnet.ID}}
	if !subnet.CIDR.IsValid() {
		// EC2 says "0 free" of a subnet that has IPv6 addresses only.
		f.Evidence = []finding.Evidence{{What: subnet.ID, Value: "has no IPv4 range"}}
		return f
	}
	most := n.demand(pods, snapshot.InstanceType{Interfaces: 2, IPv4PerInterface: facts.MostFirst})
	if subnet.Free > 0 && subnet.Free < most.First && !c.S.Has(snapshot.InstanceTypes) {
		return finding.Unread(subnet.ID, f.Covers, c.S.Why(snapshot.InstanceTypes))
	}
	d := n.demand(pods, t)
	f.Evidence = []finding.Evidence{{What: "Addresses of " + subnet.ID, Value: n.sum(d, t)}}
	if pods.read || pods.IPv6 {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Settings of aws-node", Value: pods.words()})
	}
	if subnet.Free >= d.First || subnet.Free > 0 && len(n.spare) > 0 {
		return f
	}
	f.Outcome = finding.Fail
	if len(n.spare) == 0 {
		f.Instances = notReadyIn(c, n.from...)
	}
	f.Resources = []string{subnet.ID, subnet.VPC}
	f.Evidence = append(f.Evidence, finding.Evidence{What: subnet.ID, Value: fmt.Sprintf("%s, %s", subnet.CIDR, subnet.Zone)})
	f.Fix = finding.Fix{
		Text:    fmt.Sprintf("Delete what holds addresses without use (the command lists interfaces that nothing is attached to), or let the group launch into a subnet other than %s.", subnet.ID),
		Command: command.AWS(c.S, "ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+subnet.ID, "Name=status,Values=available"),
		Console: link.VPC(c.S, "SubnetDetails:subnetId="+subnet.ID),
	}
	if !n.node {
		f.Fix.Text = fmt.Sprintf("Delete what holds addresses without use (the command lists interfaces that nothing is attached to), or lead pods to a larger subnet than %s with new ENIConfigs, or the subnet tag kubernetes.io/role/cni.", subnet.ID)
	}
	f.Evidence = append(f.Evidence, holders(c.S, subnet.ID)...)
	// What is left behind explains it where giving that back would cure it.
	leaked, strays := facts.LeakedAddresses(c.S, subnet.ID), len(facts.StrayBranches(c.S, subnet.ID))
	f.Behind = []checkid.ID{checkid.SpotBurstExceedsSubnet}
	if leaked > 0 && subnet.Free+leaked >= d.First {
		f.Behind = append(f.Behind, checkid.IPLeakedInterfaces)
	}
	if strays > 0 && subnet.Free+strays >= d.First {
		f.Behind = append(f.Behind, checkid.IPBranchLeaked)
	}
	f.Title, f.Why = n.shortage(c, pods, d, t)
	switch {
	case d.Blocks > 0 && subnet.Free > 0:
		f.Confidence = finding.Possible
	case subnet.Free > 0, d.Blocks > 0 && len(f.Instances) > 0:
		f.Confidence = finding.Likely
		f.Unconditional = mayGrow(c, n.from)
	}
	return f
}

// holders are who has the addresses, as far as it was counted.
func holders(s *facts.View, subnet string) []finding.Evidence {
	var list []finding.Evidence
	if i := slices.IndexFunc(s.Uses, func(u snapshot.Use) bool { return u.Subnet == subnet }); i >= 0 {
		list = append(list, finding.Evidence{What: "Held in " + subnet, Value: fmt.Sprintf("%d addresses by %d interfaces, %d kept by reservations", s.Uses[i].Held, s.Uses[i].Interfaces, s.Uses[i].Kept)})
	}
	if n := facts.LeakedAddresses(s, subnet); n > 0 {
		list = append(list, finding.Evidence{What: "Held by interfaces of nodes that are gone", Value: fmt.Sprint(n)})
	}
	if n := len(facts.StrayBranches(s, subnet)); n > 0 {
		list = append(list, finding.Evidence{What: "Held by branch interfaces whose trunk is gone", Value: fmt.Sprint(n)})
	}
	return list
}

// mayGrow tells that a group, or a NodePool that is in use, can still launch a node
// into one of some subnets:
// then too little is a fault before somebody suffers of it. Where all groups are
// as large as they may be, it is how somebody has planned it.
func mayGrow(c *routes.Scope, subnets []string) bool {
	of := func(list []string) bool {
		return slices.ContainsFunc(subnets, func(id string) bool { return slices.Contains(list, id) })
	}
	return slices.ContainsFunc(c.S.Groups, func(g snapshot.Group) bool { return g.Max > len(g.Instances) && !zones.Stopped(g) && of(g.Subnets) }) ||
		slices.ContainsFunc(addressPools(c.S), func(p address.Pool) bool {
			return !p.Idle && (p.Nodes == nil || *p.Nodes > 0) && (p.CPUs == nil || *p.CPUs >= 1) && of(p.Subnets) && !roomInZone(c, p, subnets)
		})
}

// roomInZone tells that a NodePool has another subnet with plenty in the zone of each:
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
			why += fmt.Sprintf("Pods of nodes in %s take theirs here, and get none.", phrase.Some(n.from, 3))
		case len(n.from) == 0 || len(n.spare) > 0:
			why += "Nothing more can be launched there."
			if len(n.spare) > 0 {
				why += fmt.Sprintf(" Pods can still get addresses in %s.", phrase.Some(n.spare, 3))
			}
		case d.Blocks > 0:
			why += "Nothing more can be launched there, and pods on its nodes get no addresses, unless a CIDR reservation still has prefixes."
		default:
			why += "Nothing more can be launched there, and pods on its nodes get no addresses."
		}
		return phrase.Title("%s has no free address", subnet.ID), why
	}
	head = phrase.Title("%s has only %d free %s", subnet.ID, subnet.Free, phrase.Plural(subnet.Free, "address", "addresses"))
	with := "the VPC CNI's default settings"
	if pods.read {
		with = "the settings of aws-node"
	}
	why = fmt.Sprintf("%s has %d free, and one more %s takes %d with %s. It would start, and its pods would run short of addresses", place, subnet.Free, t.Name, d.First, with)
	if !n.node {
		why = fmt.Sprintf("%s has %d free. Pods of nodes in %s take theirs here, %d for one more %s: they would run short", place, subnet.Free, phrase.Some(n.from, 3), d.First, t.Name)
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
	// node tells that nodes stand in it.
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
		return fmt.Sprintf("%d free; one more %s takes %d: 1 for itself and a /28 for pods", free, t.Name, d.First)
	case !n.node:
		return fmt.Sprintf("%d free; the pods of one more %s take %d: 1 for an interface and %d on it", free, t.Name, d.First, d.First-1)
	}
	text := fmt.Sprintf("%d free; one more %s takes %d: 1 for itself and %d for pods on its first interface", free, t.Name, d.First, d.First-1)
	if d.Warm > 0 {
		text += fmt.Sprintf("; %d more are kept warm on a second one", d.Warm)
	}
	return text
}

// watched are the subnets that the scope names, and those of its instances.
func watched(c *routes.Scope) []string {
	ids := slices.Concat(c.S.Scope.Subnets, c.S.Scope.Launchable, slices.Collect(maps.Keys(c.All)))
	slices.Sort(ids)
	return slices.Compact(ids)
}

// freeAddresses judges every subnet of the scope, whatever its routes are, and
// those that the pods of its nodes take addresses of.
func freeAddresses(c *routes.Scope) []finding.Finding {
	pods := podNetworkOf(c.S)
	takers, list := takers(c, pods)
	for _, n := range takers {
		list = append(list, freeIn(c, n, pods, smallest(c, n, pods)))
	}
	return list
}

// takers sorts the scope's subnets by who takes addresses of them. The findings
// are the Unknowns: node subnets of which that cannot be told.
func takers(c *routes.Scope, pods podNetwork) (list []taker, blind []finding.Finding) {
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
			blind = append(blind, finding.Unread(id, []string{id}, why))
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
	return snapshot.Failure{Source: snapshot.ENIConfigsOf, Reason: snapshot.NotRead, Message: string(p.Doubt)}, true
}

// roomy are those of some subnets that have more free than the first interface
// of any node takes.
func roomy(c *routes.Scope, ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		n, _ := c.Net.Subnet(id)
		return n.Free < facts.MostFirst
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
		for _, i := range c.All[id] {
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
