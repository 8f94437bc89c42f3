package ip

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/network/address"
	"rollcall/shared/snapshot"
)

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
			blind = append(blind, finding.Finding{Outcome: finding.Unknown, Resource: id, Covers: []string{id}, Blocked: []snapshot.Failure{why}})
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
