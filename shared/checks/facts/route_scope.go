package facts

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/finding"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// RouteScope is a snapshot's scope, sorted into what the route checks judge.
type RouteScope struct {
	S      *View
	Net    *path.Network
	starts *BootConfig
	// Here are the running instances of the scope by subnet that have not
	// joined and could have; those that are Ready nodes are not in it: nothing
	// keeps them from joining.
	Here map[string][]*snapshot.Instance
	// All are the running instances of the scope by subnet, Ready nodes too.
	All map[string][]*snapshot.Instance
	// Fell are the instances of the scope by subnet that ended before they
	// joined, and not because somebody asked or EC2 took them back.
	Fell map[string][]*snapshot.Instance
	// Ready are the instances that are Ready nodes.
	Ready map[string]bool
	Lots  []RouteTableScope
	// Blind are the Unknowns: what of the scope cannot be judged at all.
	Blind []finding.Finding
}

// RoutesOf is the scope by route table.
func RoutesOf(s *View) *RouteScope {
	return Derive(s, "routes", func(s *View) *RouteScope { return NewRouteScope(s, s.Scope.Subnets) })
}

// NewRouteScope sorts the given subnets, beside those of the scope's instances.
func NewRouteScope(s *View, subnets []string) *RouteScope {
	c := &RouteScope{
		S: s, Net: s.Network(), starts: s.Boot(), Ready: s.Ready(),
		Here: map[string][]*snapshot.Instance{}, All: map[string][]*snapshot.Instance{}, Fell: map[string][]*snapshot.Instance{},
	}
	subnets = append(slices.Clone(subnets), c.place()...)
	slices.Sort(subnets)
	index := map[string]int{}
	for _, id := range slices.Compact(subnets) {
		subnet, known := c.Net.Subnet(id)
		if !known {
			c.cannot(id, snapshot.Failure{Source: snapshot.Subnets, Reason: snapshot.NotRead, Message: id + " is not among the subnets that EC2 lists"})
			continue
		}
		table, known := c.Net.Table(id)
		if !known {
			c.cannot(id, snapshot.Failure{
				Source: snapshot.RouteTables, Reason: snapshot.NotRead,
				Message: fmt.Sprintf("no route table is associated with %s, and the main table of %s is not among those that EC2 lists", id, subnet.VPC),
			})
			continue
		}
		i, ok := index[table.ID]
		if !ok {
			i = len(c.Lots)
			index[table.ID] = i
			paths, _ := c.Net.Needs(id)
			c.Lots = append(c.Lots, RouteTableScope{S: s, Table: table, Paths: paths, Internet: c.Net.Internet(id)})
		}
		c.Lots[i].Subnets = append(c.Lots[i].Subnets, subnet)
	}
	for i := range c.Lots {
		l := &c.Lots[i]
		l.Witness = c.witness(*l)
		if more := c.starts.describing(c.waiting(l.IDs())); len(more) > 0 {
			l.Paths, _ = c.Net.Needs(l.Subnets[0].ID, more...)
		}
	}
	return c
}

// place finds the subnets of the scope's instances.
func (c *RouteScope) place() []string {
	if !c.S.Has(snapshot.Instances) {
		if len(c.S.Scope.Instances) > 0 {
			c.Blind = append(c.Blind, finding.Finding{
				Outcome: finding.Unknown, Resource: c.S.Cluster.Name, Covers: slices.Clone(c.S.Scope.Instances),
				Blocked: []snapshot.Failure{c.S.Why(snapshot.Instances)},
			})
		}
		return nil
	}
	var subnets []string
	suspects, well := c.S.Suspects()
	for _, i := range suspects {
		subnet := subnetOf(c.S, i)
		if subnet == "" {
			continue
		}
		subnets = append(subnets, subnet)
		if i.Ended() {
			c.Fell[subnet] = append(c.Fell[subnet], i)
			continue
		}
		c.Here[subnet] = append(c.Here[subnet], i)
		c.All[subnet] = append(c.All[subnet], i)
	}
	for _, i := range well {
		if i.Subnet != "" && !i.Ended() {
			subnets = append(subnets, i.Subnet)
			c.All[i.Subnet] = append(c.All[i.Subnet], i)
		}
	}
	return subnets
}

// witness is a Ready node in a lot's subnets, where no instance waits beside
// it: whatever cannot be seen of the lot's ways, they work.
func (c *RouteScope) witness(l RouteTableScope) string {
	found := ""
	for _, id := range l.IDs() {
		if len(c.Here[id]) > 0 || len(c.Fell[id]) > 0 {
			return ""
		}
		for _, i := range c.All[id] {
			if found == "" && c.Ready[i.ID] {
				found = i.ID
			}
		}
	}
	return found
}

func (c *RouteScope) cannot(id string, f snapshot.Failure) {
	c.Blind = append(c.Blind, finding.Finding{Outcome: finding.Unknown, Resource: id, Covers: []string{id}, Blocked: []snapshot.Failure{f}})
}

// scoped are the instances of the scope that EC2 described.
func scoped(s *View) []*snapshot.Instance {
	wanted := make(map[string]bool, len(s.Scope.Instances))
	for _, id := range s.Scope.Instances {
		wanted[id] = true
	}
	list := make([]*snapshot.Instance, 0, len(wanted))
	for i := range s.Instances {
		if wanted[s.Instances[i].ID] {
			list = append(list, &s.Instances[i])
		}
	}
	return list
}

// joinedNodes are the instances that are Ready nodes.
func joinedNodes(s *View) map[string]bool {
	joined := map[string]bool{}
	for _, n := range s.Nodes {
		if n.Instance != "" && n.Joined() {
			joined[n.Instance] = true
		}
	}
	return joined
}

// Stranded are the instances of the scope in the lot's subnets that have not
// joined: those that wait, and those that ended meanwhile.
func (c *RouteScope) Stranded(subnets []string) []string { return IDs(c.waiting(subnets)) }

func (c *RouteScope) waiting(subnets []string) []*snapshot.Instance {
	var list []*snapshot.Instance
	for _, subnet := range subnets {
		list = append(list, c.Here[subnet]...)
		list = append(list, c.Fell[subnet]...)
	}
	return list
}

// Each judges every lot, and adds what cannot be judged.
func (c *RouteScope) Each(judge func(*RouteScope, RouteTableScope) finding.Finding) []finding.Finding {
	list := slices.Clone(c.Blind)
	for _, l := range c.Lots {
		list = append(list, judge(c, l))
	}
	return list
}
