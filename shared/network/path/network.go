// Package path follows, on paper, the way from a node's subnet to each
// service that the node needs: which route table is in force, which row wins,
// and whether the hop behind it leads anywhere. It is DNS-aware: an interface
// endpoint with private DNS takes the service's name, so it wins over any
// route; a gateway endpoint wins by its prefix list.
//
// A path that leaves what was read is neither good nor bad: LeavesView.
package path

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// Network is a snapshot's network, indexed.
type Network struct {
	s         *snapshot.Snapshot
	subnets   map[string]snapshot.Subnet
	explicit  map[string]*snapshot.RouteTable // by subnet
	main      map[string]*snapshot.RouteTable // by VPC
	tables    map[string]*snapshot.RouteTable
	nats      map[string]snapshot.NATGateway
	igws      map[string]snapshot.InternetGateway
	endpoints map[string][]snapshot.Endpoint // by VPC, in the snapshot's order

	eigws    map[string]snapshot.EgressOnlyGateway
	peers    map[string]snapshot.Peering
	transits map[string][]snapshot.TransitRoute // by transit gateway route table
	lists    Lists
	names    map[string]string // of prefix lists
}

// New indexes the network of a snapshot.
func New(s *snapshot.Snapshot) *Network {
	n := &Network{
		s:         s,
		subnets:   map[string]snapshot.Subnet{},
		explicit:  map[string]*snapshot.RouteTable{},
		main:      map[string]*snapshot.RouteTable{},
		tables:    map[string]*snapshot.RouteTable{},
		nats:      map[string]snapshot.NATGateway{},
		igws:      map[string]snapshot.InternetGateway{},
		endpoints: map[string][]snapshot.Endpoint{},

		eigws:    map[string]snapshot.EgressOnlyGateway{},
		peers:    map[string]snapshot.Peering{},
		transits: map[string][]snapshot.TransitRoute{},
		lists:    Lists{},
		names:    map[string]string{},
	}
	n.further()
	for _, subnet := range s.Subnets {
		n.subnets[subnet.ID] = subnet
	}
	for i := range s.RouteTables {
		t := &s.RouteTables[i]
		n.tables[t.ID] = t
		if t.Main {
			n.main[t.VPC] = t
		}
		for _, subnet := range t.Subnets {
			n.explicit[subnet] = t
		}
	}
	for _, nat := range s.NATGateways {
		n.nats[nat.ID] = nat
	}
	for _, igw := range s.InternetGateways {
		n.igws[igw.ID] = igw
	}
	for _, e := range s.Endpoints {
		n.endpoints[e.VPC] = append(n.endpoints[e.VPC], e)
	}
	return n
}

// further indexes what only some ways lead through.
func (n *Network) further() {
	for _, g := range n.s.EgressOnly {
		n.eigws[g.ID] = g
	}
	for _, p := range n.s.Peerings {
		n.peers[p.ID] = p
	}
	for _, r := range n.s.TransitRoutes {
		n.transits[r.Table] = append(n.transits[r.Table], r)
	}
	for _, l := range n.s.PrefixLists {
		n.names[l.ID] = l.Name
		if _, lacks := n.s.Lacks(snapshot.PrefixListEntries, l.ID); !lacks {
			n.lists[l.ID] = l.CIDRs
		}
	}
}

// Table is the route table in force for a subnet.
type Table struct {
	snapshot.RouteTable
	// Fallback tells that the subnet has no association of its own and uses
	// the VPC's main table.
	Fallback bool
}

// Subnet is a subnet by its id.
func (n *Network) Subnet(id string) (snapshot.Subnet, bool) {
	s, ok := n.subnets[id]
	return s, ok
}

// Table is a subnet's effective route table: its explicit association, else
// the VPC's main table. It is false when neither is known.
func (n *Network) Table(subnet string) (Table, bool) {
	if t, ok := n.explicit[subnet]; ok {
		return Table{RouteTable: *t}, true
	}
	if t, ok := n.main[n.subnets[subnet].VPC]; ok {
		return Table{RouteTable: *t, Fallback: true}, true
	}
	return Table{}, false
}

// NAT is a NAT gateway by its id.
func (n *Network) NAT(id string) (snapshot.NATGateway, bool) {
	nat, ok := n.nats[id]
	return nat, ok
}

// WorkingNATs are the NAT gateways of a VPC that themselves reach the
// internet: those of the given zone first, then by id.
func (n *Network) WorkingNATs(vpc, zone string) []snapshot.NATGateway {
	var list []snapshot.NATGateway
	for _, nat := range n.s.NATGateways {
		if nat.VPC != vpc || !nat.Public || n.onward(nat, walk{to: halves()}).Verdict != Reaches {
			continue
		}
		nat.Zone = n.Zone(nat)
		list = append(list, nat)
	}
	slices.SortStableFunc(list, func(a, b snapshot.NATGateway) int {
		// A regional gateway is at home in every zone.
		here := func(g snapshot.NATGateway) int {
			if g.Zone == zone || g.RouteTable != "" {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(here(a), here(b)), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Zone is a NAT gateway's zone; empty for a regional one, and where it is not
// known.
func (n *Network) Zone(nat snapshot.NATGateway) string {
	if nat.Zone != "" {
		return nat.Zone
	}
	return n.subnets[nat.Subnet].Zone
}

// Gateway is an internet gateway attached to a VPC.
func (n *Network) Gateway(vpc string) (snapshot.InternetGateway, bool) {
	for _, igw := range n.s.InternetGateways {
		if slices.Contains(igw.Attached, vpc) {
			return igw, true
		}
	}
	return snapshot.InternetGateway{}, false
}

// Endpoints are the endpoints of a VPC for a service, whatever their state
// and settings. The service's name ends in the region and the service in
// every partition ("com.amazonaws.us-west-2.ecr.api",
// "cn.com.amazonaws.cn-north-1.ecr.api").
func (n *Network) Endpoints(vpc string, service Service) []snapshot.Endpoint {
	var list []snapshot.Endpoint
	for _, e := range n.endpoints[vpc] {
		if n.serves(e, service) {
			list = append(list, e)
		}
	}
	return list
}

func (n *Network) serves(e snapshot.Endpoint, service Service) bool {
	return strings.HasSuffix(e.Service, "."+n.s.Region+"."+string(service))
}
