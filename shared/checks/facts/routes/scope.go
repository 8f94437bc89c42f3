// Package routes is the scope's subnets by route table, and how far packets get from
// each: what the checks of routes, endpoints and addresses share.
package routes

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// Scope is a snapshot's scope, sorted into what the route checks judge.
type Scope struct {
	S      *facts.View
	Net    *path.Network
	starts *facts.BootConfig
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
	Lots  []Table
	// Blind are the Unknowns: what of the scope cannot be judged at all.
	Blind []finding.Finding
}

// Of is the scope by route table.
func Of(s *facts.View) *Scope {
	return facts.Derive(s, "routes", func(s *facts.View) *Scope { return NewScope(s, s.Scope.Subnets) })
}

// NewScope sorts the given subnets, beside those of the scope's instances.
func NewScope(s *facts.View, subnets []string) *Scope {
	c := &Scope{
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
		key := table.ID + c.Net.Class(id)
		i, ok := index[key]
		if !ok {
			i = len(c.Lots)
			index[key] = i
			paths, _ := c.Net.Needs(id)
			c.Lots = append(c.Lots, Table{S: s, Table: table, Paths: paths, Internet: c.Net.Internet(id)})
		}
		c.Lots[i].Subnets = append(c.Lots[i].Subnets, subnet)
	}
	for i := range c.Lots {
		l := &c.Lots[i]
		l.Witness = c.witness(*l)
		if more := c.starts.Describing(c.waiting(l.IDs())); len(more) > 0 {
			l.Paths, _ = c.Net.Needs(l.Subnets[0].ID, more...)
		} else {
			l.Asking = c.asking(*l)
		}
	}
	return c
}

// asking is why it is not known whether an instance that waits asks EKS about the cluster,
// where EKS has no endpoint.
func (c *Scope) asking(l Table) *snapshot.Failure {
	for _, i := range c.waiting(l.IDs()) {
		why, denied := c.starts.Denied(i)
		if !denied {
			continue
		}
		paths, _ := c.Net.Needs(l.Subnets[0].ID, path.EKS)
		if slices.ContainsFunc(paths, func(p path.Path) bool { return p.Service == path.EKS && p.Means == path.ByInternet }) {
			return &why
		}
	}
	return nil
}

// place finds the subnets of the scope's instances.
func (c *Scope) place() []string {
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
		subnet := facts.SubnetOf(c.S, i)
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
func (c *Scope) witness(l Table) string {
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

func (c *Scope) cannot(id string, f snapshot.Failure) {
	c.Blind = append(c.Blind, finding.Finding{Outcome: finding.Unknown, Resource: id, Covers: []string{id}, Blocked: []snapshot.Failure{f}})
}

// Stranded are the instances of the scope in the lot's subnets that have not
// joined: those that wait, and those that ended meanwhile.
func (c *Scope) Stranded(subnets []string) []string { return facts.IDs(c.waiting(subnets)) }

func (c *Scope) waiting(subnets []string) []*snapshot.Instance {
	var list []*snapshot.Instance
	for _, subnet := range subnets {
		list = append(list, c.Here[subnet]...)
		list = append(list, c.Fell[subnet]...)
	}
	return list
}

// Each judges every lot, and adds what cannot be judged.
func (c *Scope) Each(judge func(*Scope, Table) finding.Finding) []finding.Finding {
	list := slices.Clone(c.Blind)
	for _, l := range c.Lots {
		list = append(list, judge(c, l))
	}
	return list
}
