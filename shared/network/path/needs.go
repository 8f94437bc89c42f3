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
	"fmt"
	"net/netip"
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
	// Fallback reports whether the subnet has no association of its own and uses
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
	// NamesUnread is a source that failed and could have told that the service's name leads to
	// another network; empty for none.
	NamesUnread snapshot.Source
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
				p.NamesUnread = n.unreadNames(service, table.VPC)
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
	return Path{Means: ByPrivateAPI, Way: n.crossVPC(subnet, table)}, true
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

// insideVPC reports whether a range is a part of one of the VPC's own, which are
// the destinations of its local rows.
func (n *Network) insideVPC(p netip.Prefix, table Table) bool {
	return p.IsValid() && slices.ContainsFunc(table.Routes, func(local snapshot.Route) bool {
		return local.Target.Kind == snapshot.ToLocal && local.Destination.IsValid() &&
			local.Destination.Bits() < p.Bits() && local.Destination.Contains(p.Addr())
	})
}

// replacesLocal reports whether a row stands in the place of the local one: it
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

// Available reports whether an endpoint passes traffic. EC2 writes the state in
// either case.
func Available(e snapshot.Endpoint) bool { return strings.EqualFold(e.State, "available") }

// InTable reports whether a gateway endpoint is associated with a route table.
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

// peering judges a row to a peering connection. Peering is not transitive: it
// leads to the addresses of the other VPC and nowhere else, so never to the
// internet (VPC peering guide, "How VPC peering connections work").
func (n *Network) peering(table Table, row snapshot.Route, hops []Hop, w walk) Way {
	id := row.Target.ID
	p, seen := n.peers[id]
	note := string(row.Target.Kind)
	if seen {
		note += ", " + p.State
	}
	way := Way{At: id, Hops: append(hops, Hop{ID: id, Note: note})}
	dead := seen && !strings.EqualFold(p.State, "active")
	switch {
	case row.State == blackhole:
		way.Verdict, way.Reason = Blackhole, blackhole
	case dead:
		way.Verdict, way.Reason = Blackhole, "the peering connection is "+p.State
	case w.vpc == "":
		way.Verdict, way.At, way.Reason = NoRoute, table.ID, id+" is a peering connection, which never reaches the internet"
	case !seen:
		way.Verdict, way.Reason, way.Unread = LeavesView, "the other end of the peering connection is not read", n.unread(snapshot.Peerings)
	case p.Requester.VPC != w.vpc && p.Accepter.VPC != w.vpc:
		way.Verdict, way.At, way.Reason = NoRoute, table.ID, fmt.Sprintf("%s does not reach %s, and peering connections do not forward further", id, w.vpc)
	default:
		way.Verdict, way.At = Reaches, w.vpc
		way.Hops = append(way.Hops, Hop{ID: w.vpc})
		return n.answered(way, w, id)
	}
	return way
}

// Blocking is what VPC Block Public Access does in a place.
type Blocking struct {
	Mode snapshot.BlockMode
	// Unsure reports that the mode may be another: it is changing, or an exclusion of
	// which nothing was read may exempt the subnet.
	Unsure bool
}

// Mode returns what VPC Block Public Access does in a subnet, or in a VPC where the
// subnet is empty (a regional NAT gateway). A subnet's own mode counts, then its VPC's,
// then the account's. An exclusion of a VPC holds for all its subnets; one that allows
// egress only makes block-bidirectional into block-ingress (VPC user guide, "VPC BPA
// basics" and "Advanced example", scenarios 4 to 6).
func (n *Network) Mode(subnet, vpc string) Blocking {
	var b Blocking
	b.Mode = n.subnets[subnet].BlockMode
	if b.Mode == "" {
		i := slices.IndexFunc(n.s.VPCs, func(v snapshot.VPC) bool { return v.ID == vpc })
		if i >= 0 {
			b.Mode = n.s.VPCs[i].BlockMode
		}
		b.Unsure = n.s.PublicAccess == nil && subnet != ""
	}
	access := n.s.PublicAccess
	if access == nil || b.Mode == snapshot.BlockOff {
		return b
	}
	if b.Mode == "" {
		b.Mode = access.Mode
	}
	b.Unsure = b.Unsure || access.Changing
	for _, e := range access.Exclusions {
		switch {
		case e.Resource != subnet && e.Resource != vpc || e.Resource == "":
		case e.Changing:
			b.Unsure = true
		case !e.Active:
		case !e.Egress:
			return Blocking{Mode: snapshot.BlockOff}
		case b.Mode == snapshot.BlockBidirectional:
			b.Mode = snapshot.BlockIngress
		}
	}
	return b
}

// blocks reports whether the mode where a table is in force drops what its row to an
// internet gateway carries. In block-ingress only NAT gateways pass it.
func (n *Network) blocks(table Table, w walk) bool {
	switch n.Mode(w.subnet, table.VPC).Mode {
	case snapshot.BlockBidirectional:
		return true
	case snapshot.BlockIngress:
		return !w.byNAT
	}
	return false
}

// blocked is a way that ends at VPC Block Public Access: at the subnet where it leaves
// the VPC, or at the VPC where it leaves from none.
func (n *Network) blocked(table Table, w walk, hops []Hop) Way {
	where := w.subnet
	if where == "" {
		where = table.VPC
	}
	return Way{
		Verdict: BlockedPublicAccess, At: where, Hops: hops,
		Reason: fmt.Sprintf("VPC Block Public Access (%s) drops it in %s", n.Mode(w.subnet, table.VPC).Mode, where),
	}
}

// Class is what decides about a subnet's ways beside its route table: subnets of one
// table and class have the same ways.
func (n *Network) Class(subnet string) string {
	s := n.subnets[subnet]
	class := ""
	if m := n.Mode(subnet, s.VPC).Mode; m != "" && m != snapshot.BlockOff {
		class = string(m)
	}
	table, _ := n.Table(subnet)
	for _, r := range table.Routes {
		// A regional NAT gateway has addresses for each zone.
		if r.Target.Kind == snapshot.ToNATGateway && n.nats[r.Target.ID].RouteTable != "" {
			return class + " " + s.Zone
		}
	}
	return class
}

// Lists are the entries of prefix lists, by id. A list that is not in it has
// not been read, and matches nothing.
type Lists map[string][]netip.Prefix

// Best is the row of a table that wins for an address: the longest prefix
// that holds it. Of two rows with the same prefix EC2 prefers the static one
// to the propagated one (VPC user guide, "Route priority").
func Best(rows []snapshot.Route, to netip.Addr, lists Lists) (snapshot.Route, bool) {
	return covering(rows, netip.PrefixFrom(to, to.BitLen()), lists)
}

// covering is the most specific row that holds all of a range.
func covering(rows []snapshot.Route, all netip.Prefix, lists Lists) (snapshot.Route, bool) {
	var best snapshot.Route
	longest := -1
	for _, row := range rows {
		bits, ok := matches(row, all, lists)
		if !ok || bits < longest || row.State == filtered {
			continue
		}
		if bits > longest || propagated(best) && !propagated(row) {
			best, longest = row, bits
		}
	}
	return best, longest >= 0
}

// propagated rows come from a virtual private gateway or a VPC Route Server (EC2 API,
// Route, origin).
func propagated(row snapshot.Route) bool {
	return row.Origin == "EnableVgwRoutePropagation" || row.Origin == "Advertisement"
}

// matches gives the length of the row's longest prefix that holds the range.
func matches(row snapshot.Route, all netip.Prefix, lists Lists) (bits int, ok bool) {
	prefixes := []netip.Prefix{row.Destination}
	if row.PrefixList != "" {
		prefixes = lists[row.PrefixList]
	}
	bits = -1
	for _, p := range prefixes {
		if p.IsValid() && contains(p, all) {
			bits = max(bits, p.Bits())
		}
	}
	return bits, bits >= 0
}

func contains(outer, inner netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// Row writes a row as an operator would: "0.0.0.0/0 → nat-0aa4 (blackhole)".
func Row(row snapshot.Route) string {
	text := fmt.Sprintf("%s → %s", Destination(row), row.Target.ID)
	if row.Target.ID == "" {
		text = fmt.Sprintf("%s → %s", Destination(row), row.Target.Kind)
	}
	if row.State == blackhole || row.State == filtered {
		text += " (" + row.State + ")"
	}
	return text
}

// Destination is the row's left side.
func Destination(row snapshot.Route) string {
	if row.PrefixList != "" {
		return row.PrefixList
	}
	return row.Destination.String()
}

// blackhole is the state of a row whose target is gone or cannot be used.
const blackhole = "blackhole"

// filtered is the state of a row that a table has and does not use (EC2 API, RouteState).
const filtered = "filtered"

// The internet is recognized by its two halves: a table that sends 0.0.0.0/1 and
// 128.0.0.0/1 somewhere has a way out without having a default route.
func halves() []netip.Prefix {
	return []netip.Prefix{
		netip.PrefixFrom(netip.AddrFrom4([4]byte{0}), 1),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{128}), 1),
	}
}

// globalUnicast is the range from which all public IPv6 addresses are given
// out (IANA, "IPv6 Global Unicast Address Space").
func globalUnicast() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3)
}

// public reports whether a row is for addresses of the internet, and not only for
// private ones (RFC 1918, RFC 6598, link-local; for IPv6 what is no global
// unicast address, among it the NAT64 range 64:ff9b::/96).
func public(p netip.Prefix) bool {
	if !p.IsValid() {
		return false
	}
	if p.Addr().Is6() {
		return p.Overlaps(globalUnicast())
	}
	for _, private := range []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16"} {
		if contains(netip.MustParsePrefix(private), p) {
			return false
		}
	}
	return true
}

// Service is something that a node must reach before it can join.
type Service string

// The services, by the last part of their endpoint's service name.
const (
	API    Service = "cluster API"
	EC2    Service = "ec2"
	ECRAPI Service = "ecr.api"
	ECRDKR Service = "ecr.dkr"
	S3     Service = "s3"
	STS    Service = "sts"
	// EKS is needed by bootstraps that ask it about the cluster.
	EKS Service = "eks"
)

// Needed is what every node needs: the cluster API to register, EC2 and STS
// to learn and prove who it is, ECR and S3 (where ECR keeps image layers) for
// the pause, CNI and kube-proxy images (EKS user guide, "Deploy private
// clusters with limited internet access").
func Needed() []Service { return []Service{API, EC2, ECRAPI, ECRDKR, S3, STS} }

// Name is how a person calls the service.
func (s Service) Name() string {
	switch s {
	case API:
		return "the cluster API"
	case EC2:
		return "EC2"
	case ECRAPI:
		return "ECR (api)"
	case ECRDKR:
		return "ECR (dkr)"
	case S3:
		return "S3"
	case STS:
		return "STS"
	case EKS:
		return "EKS"
	}
	return string(s)
}

// Names lists services for a sentence; the two halves of ECR are one word
// when both are there.
func Names(list []Service) []string {
	var api, dkr bool
	for _, s := range list {
		api = api || s == ECRAPI
		dkr = dkr || s == ECRDKR
	}
	var names []string
	for _, s := range list {
		switch {
		case s == ECRAPI && dkr:
			names = append(names, "ECR")
		case s == ECRDKR && api:
		default:
			names = append(names, s.Name())
		}
	}
	return names
}

// Stop is a place on a path, after the node itself, at which network ACLs and
// security groups judge the packet, or where it ends.
type Stop struct {
	// ID is the endpoint, the NAT gateway, the NAT instance's interface, the
	// transit gateway's attachment, the cluster; empty for the internet.
	ID string
	// Subnets are where its interfaces stand, as far as they are known. A
	// packet meets one of them, which one is not known.
	Subnets []string
	// Groups are its security groups; nil where none applies. They judge what
	// arrives; those of a NAT instance also judge what it sends on.
	Groups []string
	// Ranges are the addresses that the node talks to at this stop.
	Ranges []netip.Prefix
	// Ends reports whether the connection ends here: Groups must admit it.
	Ends bool
}

// Stops are the places that a path passes, in order. The last one is where
// the connection ends: an endpoint's interfaces, the control plane's, or the
// internet. A path that leaves what is read has the stops up to there, and
// the end that it would have.
func (n *Network) Stops(p Path) []Stop {
	switch p.Means {
	case ByPrivateAPI:
		end := n.controlPlaneStop()
		return append(n.passing(p.Way, end.Ranges), end)
	case ByInterface:
		e, seen := n.endpoint(p.At)
		if !seen || !p.Good() { // something in front of it cannot be looked behind
			return nil
		}
		return []Stop{{ID: e.ID, Subnets: e.Subnets, Groups: e.Groups, Ranges: n.cidrs(e.Subnets), Ends: true}}
	case ByGateway:
		// S3's gateway endpoint answers on the service's public addresses.
		ranges := n.lists[p.Row.PrefixList]
		if len(ranges) == 0 {
			ranges = everywhere(p.Way)
		}
		return []Stop{{ID: p.At, Ranges: ranges, Ends: true}}
	case ByOwnName:
		return nil // where it ends is not read
	}
	ranges := everywhere(p.Way)
	return append(n.passing(p.Way, ranges), Stop{Ranges: ranges, Ends: true})
}

// everywhere is the whole address family of a way.
func everywhere(w Way) []netip.Prefix {
	if d := w.Row.Destination; d.IsValid() && d.Addr().Is6() {
		return []netip.Prefix{netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
	}
	return []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0)}
}

// passing are the stops between the node and the end. An internet gateway, a
// peering connection and a regional NAT gateway have no subnet.
func (n *Network) passing(w Way, ranges []netip.Prefix) []Stop {
	var stops []Stop
	for _, h := range w.Hops {
		s := Stop{ID: h.ID, Ranges: ranges}
		if nat, ok := n.nats[h.ID]; ok && nat.Subnet != "" {
			s.Subnets = []string{nat.Subnet}
		}
		if e, ok := n.networkInterface(h.ID); ok && e.Subnet != "" {
			s.Subnets, s.Groups = []string{e.Subnet}, e.Groups
		} else if i, ok := n.instance(h.ID); ok && i.Subnet != "" { // an old row names only the instance
			s.Subnets, s.Groups = []string{i.Subnet}, i.Groups
		}
		for _, a := range n.s.Attachments {
			if a.ID != h.ID {
				continue
			}
			if subnets, known := n.stands(a); known {
				s.Subnets = subnets
			}
		}
		if len(s.Subnets) > 0 {
			stops = append(stops, s)
		}
	}
	return stops
}

// controlPlaneStop is where the private endpoint answers. Its interfaces are
// in one of the cluster's subnets each.
func (n *Network) controlPlaneStop() Stop {
	c := n.s.Cluster
	s := Stop{ID: c.Name, Ends: true}
	if c.SecurityGroup != "" {
		s.Groups = append(s.Groups, c.SecurityGroup)
	}
	s.Groups = append(s.Groups, c.SecurityGroups...)
	for _, e := range n.s.Interfaces {
		if !ControlPlane(e, c.Name) {
			continue
		}
		s.Subnets = append(s.Subnets, e.Subnet)
		for _, a := range e.PrivateIPs {
			s.Ranges = append(s.Ranges, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	if len(s.Subnets) == 0 {
		s.Subnets = slices.Clone(c.Subnets)
		s.Ranges = n.cidrs(s.Subnets)
	}
	slices.Sort(s.Subnets)
	s.Subnets = slices.Compact(s.Subnets)
	return s
}

// ControlPlane reports whether an interface is one of the cluster's own: EKS
// describes them as "Amazon EKS <cluster name>".
func ControlPlane(e snapshot.Interface, cluster string) bool {
	return strings.EqualFold(e.Description, "Amazon EKS "+cluster)
}
