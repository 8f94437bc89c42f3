package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// scene is a snapshot's scope, sorted into what the route checks judge.
type scene struct {
	s      *View
	net    *path.Network
	starts *starts
	// here are the running instances of the scope by subnet that have not
	// joined and could have; those that are Ready nodes are not in it: nothing
	// keeps them from joining.
	here map[string][]*snapshot.Instance
	// all are the running instances of the scope by subnet, Ready nodes too.
	all map[string][]*snapshot.Instance
	// fell are the instances of the scope by subnet that ended before they
	// joined, and not because somebody asked or EC2 took them back.
	fell map[string][]*snapshot.Instance
	// ready are the instances that are Ready nodes.
	ready map[string]bool
	lots  []lot
	// blind are the Unknowns: what of the scope cannot be judged at all.
	blind []Finding
}

// lookInto sorts the given subnets, beside those of the scope's instances.
func lookInto(s *View, subnets []string) *scene {
	c := &scene{
		s: s, net: s.Network(), starts: s.Boot(), ready: s.Ready(),
		here: map[string][]*snapshot.Instance{}, all: map[string][]*snapshot.Instance{}, fell: map[string][]*snapshot.Instance{},
	}
	subnets = append(slices.Clone(subnets), c.place()...)
	slices.Sort(subnets)
	index := map[string]int{}
	for _, id := range slices.Compact(subnets) {
		subnet, known := c.net.Subnet(id)
		if !known {
			c.cannot(id, snapshot.Failure{Source: snapshot.Subnets, Reason: snapshot.NotRead, Message: id + " is not among the subnets that EC2 lists"})
			continue
		}
		table, known := c.net.Table(id)
		if !known {
			c.cannot(id, snapshot.Failure{
				Source: snapshot.RouteTables, Reason: snapshot.NotRead,
				Message: fmt.Sprintf("no route table is associated with %s, and the main table of %s is not among those that EC2 lists", id, subnet.VPC),
			})
			continue
		}
		i, ok := index[table.ID]
		if !ok {
			i = len(c.lots)
			index[table.ID] = i
			paths, _ := c.net.Needs(id)
			c.lots = append(c.lots, lot{s: s, table: table, paths: paths, internet: c.net.Internet(id)})
		}
		c.lots[i].subnets = append(c.lots[i].subnets, subnet)
	}
	for i := range c.lots {
		l := &c.lots[i]
		l.witness = c.witness(*l)
		if more := c.starts.describing(c.waiting(l.ids())); len(more) > 0 {
			l.paths, _ = c.net.Needs(l.subnets[0].ID, more...)
		}
	}
	return c
}

// place finds the subnets of the scope's instances.
func (c *scene) place() []string {
	if !c.s.Has(snapshot.Instances) {
		if len(c.s.Scope.Instances) > 0 {
			c.blind = append(c.blind, Finding{
				Outcome: Unknown, Resource: c.s.Cluster.Name, Covers: slices.Clone(c.s.Scope.Instances),
				Blocked: []snapshot.Failure{c.s.Why(snapshot.Instances)},
			})
		}
		return nil
	}
	var subnets []string
	suspects, well := c.s.Suspects()
	for _, i := range suspects {
		subnet := c.stood(i)
		if subnet == "" {
			continue
		}
		subnets = append(subnets, subnet)
		if i.Ended() {
			c.fell[subnet] = append(c.fell[subnet], i)
			continue
		}
		c.here[subnet] = append(c.here[subnet], i)
		c.all[subnet] = append(c.all[subnet], i)
	}
	for _, i := range well {
		if i.Subnet != "" && !i.Ended() {
			subnets = append(subnets, i.Subnet)
			c.all[i.Subnet] = append(c.all[i.Subnet], i)
		}
	}
	return subnets
}

// stood is the subnet of an instance. EC2 forgets that of a terminated one;
// its group's activity still names it, and a group with one subnet leaves no
// choice.
func (c *scene) stood(i *snapshot.Instance) string {
	if i.Subnet != "" {
		return i.Subnet
	}
	for _, a := range c.s.Activities {
		if a.Instance == i.ID && a.Subnet != "" {
			return a.Subnet
		}
	}
	for _, g := range c.s.Groups {
		if g.Name == i.Tags["aws:autoscaling:groupName"] && len(g.Subnets) == 1 {
			return g.Subnets[0]
		}
	}
	return ""
}

// witness is a Ready node in a lot's subnets, where no instance waits beside
// it: whatever cannot be seen of the lot's ways, they work.
func (c *scene) witness(l lot) string {
	found := ""
	for _, id := range l.ids() {
		if len(c.here[id]) > 0 || len(c.fell[id]) > 0 {
			return ""
		}
		for _, i := range c.all[id] {
			if found == "" && c.ready[i.ID] {
				found = i.ID
			}
		}
	}
	return found
}

func (c *scene) cannot(id string, f snapshot.Failure) {
	c.blind = append(c.blind, Finding{Outcome: Unknown, Resource: id, Covers: []string{id}, Blocked: []snapshot.Failure{f}})
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

// stranded are the instances of the scope in the lot's subnets that have not
// joined: those that wait, and those that ended meanwhile.
func (c *scene) stranded(subnets []string) []string { return ids(c.waiting(subnets)) }

func (c *scene) waiting(subnets []string) []*snapshot.Instance {
	var list []*snapshot.Instance
	for _, subnet := range subnets {
		list = append(list, c.here[subnet]...)
		list = append(list, c.fell[subnet]...)
	}
	return list
}

// each judges every lot, and adds what cannot be judged.
func (c *scene) each(judge func(*scene, lot) Finding) []Finding {
	list := slices.Clone(c.blind)
	for _, l := range c.lots {
		list = append(list, judge(c, l))
	}
	return list
}
