package path

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// Means is what carries a path.
type Means string

// The means.
const (
	ByPrivateAPI Means = "private endpoint of the cluster"
	ByInterface  Means = "interface endpoint"
	ByGateway    Means = "gateway endpoint"
	ByInternet   Means = "internet"
	// ByOwnName: an account's zone, rule or Profile answers for the name.
	ByOwnName Means = "name of its own"
)

// Path is the way that wins for one service.
type Path struct {
	Service Service
	Means   Means
	// Unnamed is a source that failed and could have told that the service's name leads to
	// another network; empty for none.
	Unnamed snapshot.Source
	Way
}

// Needs are the paths from a subnet to everything that a node needs, in the
// order of Needed, and to what else some nodes need. It is false when the
// subnet's route table is not known.
func (n *Network) Needs(subnet string, more ...Service) ([]Path, bool) {
	table, ok := n.Table(subnet)
	if !ok {
		return nil, false
	}
	internet := n.Internet(subnet)
	services := append(Needed(), more...)
	paths := make([]Path, 0, len(services))
	for _, service := range services {
		p, ok := n.inside(service, subnet, table)
		if !ok {
			p, ok = n.named(service, subnet, table)
		}
		if !ok {
			p = Path{Means: ByInternet, Way: n.outside(service, subnet, table, internet)}
			if n.reachesPrivately(service, table) {
				p.Unnamed = n.unreadNames(service)
			}
		}
		p.Service = service
		paths = append(paths, p)
	}
	return paths, true
}

// inside is the path to a service that does not leave the VPC, if one wins.
func (n *Network) inside(service Service, subnet string, table Table) (Path, bool) {
	if service == API {
		return n.api(subnet, table)
	}
	var gateway *snapshot.Endpoint
	for _, e := range n.Endpoints(table.VPC, service) {
		switch {
		case !Available(e):
		case strings.EqualFold(e.Kind, "Interface") && e.PrivateDNS:
			// Its private DNS answers for the service's name in the whole VPC.
			return n.local(Path{Means: ByInterface}, subnet, table, n.cidrs(e.Subnets), Hop{ID: e.ID, Note: "private DNS"}), true
		case strings.EqualFold(e.Kind, "Gateway") && InTable(e, table.RouteTable):
			gateway = &e
		}
	}
	if gateway == nil {
		return Path{}, false
	}
	w := Way{Verdict: Reaches, At: gateway.ID, Hops: []Hop{{ID: subnet}, {ID: table.ID, Note: mainNote(table)}, {ID: gateway.ID}}}
	for _, row := range table.Routes {
		if row.Target.ID != gateway.ID {
			continue
		}
		w.Row = row
		w.Hops[1].Row = Destination(row)
		if row.State == blackhole {
			w.Verdict, w.Reason = Blackhole, blackhole
		}
	}
	return Path{Means: ByGateway, Way: w}, true
}

// outside is the way to a service's public addresses. S3 has a prefix list of
// its own, and a row for it that leads to no gateway endpoint (to a firewall,
// say) wins over the default route.
func (n *Network) outside(service Service, subnet string, table Table, internet Way) Way {
	if service != S3 {
		return internet
	}
	for _, row := range table.Routes {
		if row.PrefixList == "" || !strings.HasSuffix(n.names[row.PrefixList], "."+n.s.Region+".s3") || n.gatewayEndpoint(row.Target.ID) {
			continue
		}
		hops := []Hop{{ID: subnet}, {ID: table.ID, Note: mainNote(table), Row: Destination(row)}}
		way := n.hop(table, row, hops, walk{to: halves()[:1], source: n.subnets[subnet].CIDR, subnet: subnet})
		way.Row = row
		if way.Table == "" {
			way.Table = table.ID
		}
		return way
	}
	return internet
}

// api is the path to the cluster's private endpoint. With private access on,
// its name resolves to addresses in the cluster's VPC, and nothing else wins.
func (n *Network) api(subnet string, table Table) (Path, bool) {
	c := n.s.Cluster
	if !c.EndpointPrivate {
		return Path{}, false
	}
	if c.VPC == "" || table.VPC == "" || c.VPC == table.VPC {
		return n.local(Path{Means: ByPrivateAPI}, subnet, table, nil, Hop{ID: c.Name, Note: "private endpoint"}), true
	}
	if c.EndpointPublic {
		// The private hosted zone serves the cluster's VPC alone: outside of
		// it the name leads to the public addresses.
		return Path{}, false
	}
	return Path{Means: ByPrivateAPI, Way: n.abroad(subnet, table)}, true
}

// local ends a path inside the VPC. Rows more specific than the local one
// (middlebox routing) can take it elsewhere: if one overlaps where the target
// can be, what is behind it is not read. No ranges means anywhere in the VPC.
func (n *Network) local(p Path, subnet string, table Table, ranges []netip.Prefix, end Hop) Path {
	hops := []Hop{{ID: subnet}, {ID: table.ID, Note: mainNote(table), Row: "local"}}
	p.Way = Way{Verdict: Reaches, At: end.ID, Hops: append(hops, end)}
	for _, row := range table.Routes {
		if row.Target.Kind == snapshot.ToLocal || !n.insideVPC(row.Destination, table) && !n.replacesLocal(row, subnet, table) {
			continue
		}
		if len(ranges) > 0 && !slices.ContainsFunc(ranges, row.Destination.Overlaps) {
			continue
		}
		hops[1].Row = Destination(row)
		p.Way = Way{
			Verdict: LeavesView, At: row.Target.ID, Row: row,
			Hops:   append(hops, Hop{ID: row.Target.ID, Note: string(row.Target.Kind)}),
			Reason: fmt.Sprintf("what is behind the %s is not read", row.Target.Kind),
		}
		return p
	}
	return p
}

// insideVPC tells that a range is a part of one of the VPC's own, which are
// the destinations of its local rows.
func (n *Network) insideVPC(p netip.Prefix, table Table) bool {
	return p.IsValid() && slices.ContainsFunc(table.Routes, func(local snapshot.Route) bool {
		return local.Target.Kind == snapshot.ToLocal && local.Destination.IsValid() &&
			local.Destination.Bits() < p.Bits() && local.Destination.Contains(p.Addr())
	})
}

// replacesLocal tells that a row stands in the place of the local one: it
// holds the subnet itself, and no local row does (VPC user guide, "Replace or
// restore the target for a local route").
func (n *Network) replacesLocal(row snapshot.Route, subnet string, table Table) bool {
	own := n.subnets[subnet].CIDR
	if !own.IsValid() || !row.Destination.IsValid() || row.Destination.Bits() == 0 || !contains(row.Destination, own) {
		return false
	}
	best, found := covering(table.Routes, own, nil)
	return found && best.Target.Kind != snapshot.ToLocal && best.Destination == row.Destination
}

func (n *Network) cidrs(subnets []string) []netip.Prefix {
	var list []netip.Prefix
	for _, id := range subnets {
		if s, ok := n.subnets[id]; ok && s.CIDR.IsValid() {
			list = append(list, s.CIDR)
		}
	}
	return list
}

// Available tells that an endpoint passes traffic. EC2 writes the state in
// either case.
func Available(e snapshot.Endpoint) bool { return strings.EqualFold(e.State, "available") }

// InTable tells that a gateway endpoint is associated with a route table.
func InTable(e snapshot.Endpoint, table snapshot.RouteTable) bool {
	return slices.Contains(e.RouteTables, table.ID) ||
		slices.ContainsFunc(table.Routes, func(r snapshot.Route) bool { return r.Target.ID == e.ID })
}

func mainNote(t Table) string {
	if t.Fallback {
		return "main table"
	}
	return ""
}
