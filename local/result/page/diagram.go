package page

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// State is how a way ends.
type State string

// The states.
const (
	Reaches State = "reaches"
	Stops   State = "stops"
	// Unseen is a way that leaves what could be read.
	Unseen State = "unseen"
)

// Diagram is how far packets get from subnets that share a route table.
type Diagram struct {
	Cluster string
	Table   string // the route table's id
	Main    bool   // the VPC's main table, without an association of its own
	Subnets []string
	// Instances are those in the subnets.
	Instances []string
	Ways      []Way
	// ACLs are the network ACLs by subnet, of the subnets on the ways too.
	ACLs map[string]string
	// Accused are security groups of the nodes and network ACLs that are a cause.
	Accused []string
}

// accused are the filters of some subnets that are a cause.
func (d Diagram) accused(subnets ...string) []string {
	var list []string
	for _, id := range subnets {
		if acl := d.ACLs[id]; slices.Contains(d.Accused, acl) && !slices.Contains(list, acl) {
			list = append(list, acl)
		}
	}
	return list
}

// Way leads to services that are reached alike.
type Way struct {
	Services []string // as a person calls them
	Means    string
	Hops     []Hop
	State    State
	Why      string // why it stops, or cannot be seen
}

// Hop is one step of a way after the subnet.
type Hop struct {
	ID, Note string
	// Via are the subnet and the route table by which packets go on from a gateway.
	Via []string
	// Row is the row of a route table by which packets go on from here.
	Row string
}

func (h Hop) equal(o Hop) bool {
	return h.ID == o.ID && h.Note == o.Note && h.Row == o.Row && slices.Equal(h.Via, o.Via)
}

// Diagrams draws the ways from the subnets of a snapshot's scope and of its
// instances, a diagram for each route table, those that stop somewhere first.
func Diagrams(s *snapshot.Snapshot) []Diagram {
	v := facts.NewView(s)
	scope := routes.Of(v)
	acls := map[string]string{}
	for _, subnet := range s.Subnets {
		if acl, known := v.Filters().ACL(subnet.ID); known {
			acls[subnet.ID] = acl.ID
		}
	}
	var list []Diagram
	for _, t := range scope.Lots {
		d := Diagram{Cluster: s.Cluster.Name, Table: t.Table.ID, Main: t.Table.Fallback, Subnets: t.IDs(), ACLs: acls}
		for _, id := range d.Subnets {
			for _, i := range scope.All[id] {
				d.Instances = append(d.Instances, i.ID)
			}
			for _, i := range scope.Fell[id] {
				d.Instances = append(d.Instances, i.ID)
			}
		}
		services := map[int][]path.Service{}
		for _, p := range t.Paths {
			n := d.add(p)
			services[n] = append(services[n], p.Service)
		}
		for n, list := range services {
			d.Ways[n].Services = path.Names(list)
		}
		list = append(list, d)
	}
	slices.SortStableFunc(list, func(a, b Diagram) int { return cmp.Compare(a.worst(), b.worst()) })
	return list
}

// add adds a service's path to the way that it shares with others, and returns which
// one it is.
func (d *Diagram) add(p path.Path) int {
	w := Way{Means: strings.TrimSuffix(string(p.Means), " of the cluster"), State: stateOf(p.Way), Why: p.Reason}
	if p.Verdict == path.NeedsPublicIP {
		w.Why = "only for nodes with a public address"
	}
	for _, h := range p.Hops {
		switch {
		case slices.Contains(d.Subnets, h.ID):
		case len(w.Hops) > 1 && (strings.HasPrefix(h.ID, "subnet-") || strings.HasPrefix(h.ID, "rtb-")):
			last := &w.Hops[len(w.Hops)-1]
			last.Via, last.Row = append(last.Via, h.ID), h.Row
		default:
			w.Hops = append(w.Hops, Hop{ID: h.ID, Note: h.Note, Row: h.Row})
		}
	}
	for i := range d.Ways {
		if o := &d.Ways[i]; o.Means == w.Means && o.State == w.State && o.Why == w.Why && slices.EqualFunc(o.Hops, w.Hops, Hop.equal) {
			return i
		}
	}
	d.Ways = append(d.Ways, w)
	return len(d.Ways) - 1
}

func stateOf(w path.Way) State {
	switch {
	case w.Good():
		return Reaches
	case w.Verdict == path.LeavesView:
		return Unseen
	}
	return Stops
}

// worst orders diagrams.
func (d Diagram) worst() int {
	worst := 2
	for _, w := range d.Ways {
		switch w.State {
		case Stops:
			return 0
		case Unseen:
			worst = min(worst, 1)
		}
	}
	return worst
}

// shows tells that a diagram is of the network that an incident is about.
func (d Diagram) shows(i Incident) bool {
	if !i.drawn() || !strings.HasPrefix(i.Where, d.Cluster) {
		return false
	}
	own := slices.Concat([]string{d.Table}, d.Subnets, d.Instances)
	return slices.ContainsFunc(slices.Concat(i.Resources, i.Instances), func(id string) bool { return slices.Contains(own, id) })
}

// Accuse marks the filters that causes accuse in the networks that they are about.
func Accuse(list []Diagram, incidents []Incident) {
	for n := range list {
		for _, i := range incidents {
			family, _, _ := strings.Cut(i.Check, "/")
			if i.Mark != Fault || family != "sg" && family != "nacl" || !list[n].shows(i) {
				continue
			}
			for _, id := range i.Resources {
				if (strings.HasPrefix(id, "sg-") || strings.HasPrefix(id, "acl-")) && !slices.Contains(list[n].Accused, id) {
					list[n].Accused = append(list[n].Accused, id)
				}
			}
		}
	}
}
