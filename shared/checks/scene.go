package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/path"
	"rollcall/shared/snapshot"
)

// scene is a snapshot's scope, sorted into what the route checks judge.
type scene struct {
	s   *snapshot.Snapshot
	net *path.Network
	// here are the running instances of the scope by subnet; those that are
	// Ready nodes are not in it: nothing keeps them from joining.
	here map[string][]*snapshot.Instance
	// all are the running instances of the scope by subnet, Ready nodes too.
	all  map[string][]*snapshot.Instance
	lots []lot
	// blind are the Unknowns: what of the scope cannot be judged at all.
	blind []Finding
}

// lot is the subnets of the scope that share a route table, and with it every
// path to what their nodes need.
type lot struct {
	table   path.Table
	subnets []snapshot.Subnet
	paths   []path.Path
	// internet is the way out, whether or not a service needs it.
	internet path.Way
}

// look sorts the scope.
func look(s *snapshot.Snapshot) *scene {
	c := &scene{s: s, net: path.New(s), here: map[string][]*snapshot.Instance{}, all: map[string][]*snapshot.Instance{}}
	subnets := slices.Clone(s.Scope.Subnets)
	subnets = append(subnets, c.place()...)
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
			c.lots = append(c.lots, lot{table: table, paths: paths, internet: c.net.Internet(id)})
		}
		c.lots[i].subnets = append(c.lots[i].subnets, subnet)
	}
	return c
}

// place finds the subnets of the scope's running instances.
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
	joined := joinedNodes(c.s)
	for _, i := range scoped(c.s) {
		if i.Subnet == "" || i.Ended() {
			continue
		}
		if c.all[i.Subnet] == nil {
			subnets = append(subnets, i.Subnet)
		}
		c.all[i.Subnet] = append(c.all[i.Subnet], i)
		if !joined[i.ID] {
			c.here[i.Subnet] = append(c.here[i.Subnet], i)
		}
	}
	return subnets
}

func (c *scene) cannot(id string, f snapshot.Failure) {
	c.blind = append(c.blind, Finding{Outcome: Unknown, Resource: id, Covers: []string{id}, Blocked: []snapshot.Failure{f}})
}

// beyond is the Unknown for paths that leave what is read.
func beyond(l lot, w path.Way) Finding {
	return Finding{
		Outcome: Unknown, Resource: w.At, Covers: l.ids(), Resources: w.Resources(),
		Title: title("%s leaves what can be read at %s", subject(l.ids(), "subnet"), w.At),
		Why:   w.String(),
		Blocked: []snapshot.Failure{{
			Source: snapshot.RouteTables, Reason: snapshot.NotRead,
			Message: fmt.Sprintf("%s: %s", w.At, w.Reason),
		}},
	}
}

// scoped are the instances of the scope that EC2 described.
func scoped(s *snapshot.Snapshot) []*snapshot.Instance {
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
func joinedNodes(s *snapshot.Snapshot) map[string]bool {
	joined := map[string]bool{}
	for _, n := range s.Nodes {
		if n.Instance != "" && n.Joined() {
			joined[n.Instance] = true
		}
	}
	return joined
}

func (l lot) ids() []string {
	ids := make([]string, len(l.subnets))
	for i, s := range l.subnets {
		ids[i] = s.ID
	}
	return ids
}

func (l lot) zones() []string {
	var zones []string
	for _, s := range l.subnets {
		if !slices.Contains(zones, s.Zone) && s.Zone != "" {
			zones = append(zones, s.Zone)
		}
	}
	return zones
}

// outside are the services that only the internet leads to.
func (l lot) outside() []path.Service {
	var list []path.Service
	for _, p := range l.paths {
		if p.Means == path.ByInternet {
			list = append(list, p.Service)
		}
	}
	return list
}

// inside are the services that are reached without the internet.
func (l lot) inside() []path.Service {
	var list []path.Service
	for _, p := range l.paths {
		if p.Means != path.ByInternet {
			list = append(list, p.Service)
		}
	}
	return list
}

// away is a path to a needed service that leaves what is read, if any.
func (l lot) away() (path.Way, bool) {
	for _, p := range l.paths {
		if p.Verdict == path.LeavesView {
			return p.Way, true
		}
	}
	return path.Way{}, false
}

// open is the way to the internet where a needed service takes it and it
// leaves what is read.
func (l lot) open() (path.Way, bool) {
	return l.internet, len(l.outside()) > 0 && l.internet.Verdict == path.LeavesView
}

// rowless is a way whose first row is not known.
func rowless(w path.Way) bool { return w.Row.Target.Kind == "" }

// stranded are the instances of the scope in the lot's subnets.
func (c *scene) stranded(subnets []string) []string {
	var ids []string
	for _, subnet := range subnets {
		for _, i := range c.here[subnet] {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// pass is the Pass of a lot: what wins, so that a closed incident can show it.
func (l lot) pass() Finding {
	value := "no internet needed: endpoints for " + and(path.Names(l.inside()))
	if len(l.outside()) > 0 {
		value = rows(l.table.Routes)
		if !rowless(l.internet) {
			value = path.Row(l.internet.Row)
		}
	}
	return Finding{
		Outcome: Pass, Resource: l.table.ID, Covers: l.ids(),
		Evidence: []Evidence{{What: l.table.ID, Value: value}},
	}
}

// rows writes a table's rows, at most twenty.
func rows(routes []snapshot.Route) string {
	const limit = 20
	list := make([]string, 0, min(len(routes), limit+1))
	for i, r := range routes {
		if i == limit {
			list = append(list, fmt.Sprintf("and %d more", len(routes)-limit))
			break
		}
		list = append(list, path.Row(r))
	}
	if len(list) == 0 {
		return "no rows"
	}
	return strings.Join(list, "; ")
}

// evidence is what a person would have looked up for a lot: the table, how
// the subnets came by it, the subnets, and the path to each service.
func (l lot) evidence() []Evidence {
	const limit = 5
	list := []Evidence{{What: "Routes of " + l.table.ID, Value: rows(l.table.Routes)}}
	for i, s := range l.subnets {
		if i == limit {
			list = append(list, Evidence{What: "Subnets", Value: fmt.Sprintf("and %d more", len(l.subnets)-limit)})
			break
		}
		how := "associated with " + l.table.ID
		if !slices.Contains(l.table.Subnets, s.ID) {
			how = fmt.Sprintf("no association of its own: uses the main table of %s", s.VPC)
		}
		list = append(list, Evidence{
			What:  s.ID,
			Value: fmt.Sprintf("%s, %s, %d free addresses; %s", s.CIDR, s.Zone, s.Free, how),
		})
	}
	return append(list, l.walked()...)
}

// walked is the path to each service, one line for those that share one.
func (l lot) walked() []Evidence {
	var order []string
	served := map[string][]path.Service{}
	for _, p := range l.paths {
		way := p.String()
		if served[way] == nil {
			order = append(order, way)
		}
		served[way] = append(served[way], p.Service)
	}
	var list []Evidence
	for _, way := range order {
		list = append(list, Evidence{What: "Path to " + and(path.Names(served[way])), Value: way})
	}
	return list
}
