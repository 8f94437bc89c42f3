package path

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// crossVPC is the way to the private endpoint of a cluster in another VPC.
// Without public access the name gives its private addresses everywhere, by
// public DNS too (EKS user guide, "Access a private only API server"): what
// decides is whether a route leads there.
func (n *Network) crossVPC(subnet string, table Table) Way {
	c := n.s.Cluster
	w := walk{to: n.controlPlane(), vpc: c.VPC, source: n.subnets[subnet].CIDR}
	if len(w.to) > 0 {
		return n.out(table, []Hop{{ID: subnet}}, w)
	}
	return Way{
		Verdict: LeavesView, At: c.VPC, Table: table.ID, Hops: []Hop{{ID: subnet}, {ID: table.ID, Note: mainNote(table)}},
		Reason: fmt.Sprintf("the cluster's private endpoint is in %s, whose addresses are not read", c.VPC),
	}
}

// controlPlane are the addresses at which the cluster's private endpoint can
// answer: its interfaces', else the ranges of the subnets where those stand,
// else the VPC's.
func (n *Network) controlPlane() []netip.Prefix {
	c := n.s.Cluster
	var list []netip.Prefix
	for _, e := range n.s.Interfaces {
		if e.VPC != c.VPC || !ControlPlane(e, c.Name) {
			continue
		}
		for _, a := range e.PrivateIPs {
			list = append(list, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, id := range c.Subnets {
		if s, ok := n.subnets[id]; ok && s.VPC == c.VPC && s.CIDR.IsValid() {
			list = append(list, s.CIDR)
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, v := range n.s.VPCs {
		if v.ID == c.VPC {
			return v.CIDRs
		}
	}
	return nil
}

// forwarder is an instance that forwards for others, as far as its interface
// and the instance itself could be read.
type forwarder struct {
	id, instance string
	subnet       string
	state        string // of the instance; empty when it is not known
	seen         bool   // at least one of the two was read
	free         bool   // the interface is attached to nothing
	checked      bool   // the source/destination check is on
	other        bool   // not an instance's own interface
	public       netip.Addr
}

// appliance judges a row to an instance's interface: a NAT instance, or a
// firewall of one's own. What it does inside cannot be read; that it runs, may
// forward, and itself has a way out can.
func (n *Network) appliance(row snapshot.Route, hops []Hop, w walk) Way {
	f := n.forwarder(row.Target)
	note := string(row.Target.Kind)
	if f.instance != "" {
		note += " of " + f.instance
	}
	if f.state != "" {
		note += ", " + f.state
	}
	way := Way{At: f.id, Hops: append(hops, Hop{ID: f.id, Note: note})}
	unusable := func(reason string) Way {
		way.Verdict, way.Reason = NATInstance, reason
		return way
	}
	switch {
	case row.State == blackhole && (!f.seen || f.state == "terminated"):
		way.Verdict, way.Reason = Blackhole, blackhole
		if !f.seen {
			way.Unread = n.unread(snapshot.Interfaces)
		}
		return way
	case !f.seen || f.other:
		way.Verdict, way.Reason, way.Unread = LeavesView, "what is behind the network interface is not read", n.unread(snapshot.Interfaces)
		return way
	case f.free:
		return unusable("it is not attached to an instance")
	case down(f.state):
		return unusable(fmt.Sprintf("%s is %s", cmp.Or(f.instance, "its instance"), f.state))
	case row.State == blackhole:
		return unusable("EC2 marks the route as a blackhole: its instance is not running")
	case f.checked:
		return unusable("its source/destination check is on, so EC2 drops what it forwards")
	case slices.Contains(w.passed, f.id):
		way.Verdict, way.Reason = NoRoute, "its own subnet's route points back to it"
		return way
	case f.subnet == "":
		way.Verdict, way.Reason = LeavesView, "the appliance's own subnet is unknown"
		return way
	}
	w.byNAT = false
	next := n.from(f.subnet, w.past(f.id))
	next.Hops = append(way.Hops, next.Hops...)
	if next.Verdict != NeedsPublicIP {
		return next
	}
	if !f.public.IsValid() {
		// It may have another interface outside.
		next.Verdict, next.At, next.Reason = LeavesView, f.id, "the appliance has no public address on this interface"
		return next
	}
	next.Verdict, next.From = Reaches, []netip.Addr{f.public}
	return next
}

// down reports whether an instance forwards nothing. One that is starting will, and
// a state newer than this code is no fault.
func down(state string) bool {
	switch state {
	case "stopped", "stopping", "shutting-down", "terminated":
		return true
	}
	return false
}

// forwarder is what is known of a row's interface. Old rows name only the
// instance; then its primary interface forwards.
func (n *Network) forwarder(t snapshot.Target) forwarder {
	f := forwarder{id: cmp.Or(t.ID, t.Instance), instance: t.Instance}
	e, seen := n.networkInterface(t.ID)
	if seen {
		f.seen = true
		f.subnet, f.checked, f.public = e.Subnet, e.SourceCheck, e.PublicIP
		f.instance = cmp.Or(e.Instance, f.instance)
		f.free = e.Status == "available"
		f.other = e.Kind != "" && e.Kind != "interface" && e.Kind != "efa"
	}
	i, known := n.instance(f.instance)
	if !known {
		return f
	}
	f.state = i.State
	primary := t.ID == "" || len(i.Interfaces) > 0 && i.Interfaces[0] == t.ID
	if !seen && (primary || down(i.State)) {
		f.seen = true
		f.subnet, f.checked, f.public = i.Subnet, primary && i.SourceCheck, i.PublicIP
	}
	return f
}

// Few ways lead through an interface, and a burst has thousands of instances:
// they are looked for when asked, and not indexed.

func (n *Network) networkInterface(id string) (snapshot.Interface, bool) {
	i := slices.IndexFunc(n.s.Interfaces, func(e snapshot.Interface) bool { return e.ID == id })
	if id == "" || i < 0 {
		return snapshot.Interface{}, false
	}
	return n.s.Interfaces[i], true
}

func (n *Network) instance(id string) (snapshot.Instance, bool) {
	for i := range n.s.Instances {
		if id != "" && n.s.Instances[i].ID == id {
			return n.s.Instances[i], true
		}
	}
	return snapshot.Instance{}, false
}

// A way through another VPC works only if answers find back: by the route
// table of the subnet that the answer leaves from, and by the route table that
// the transit gateway uses there. What is not read is taken for good.

// backThrough reports whether the transit gateway has no way back from an
// attachment to where the packet came from.
func (n *Network) backThrough(a snapshot.Attachment, w walk) (Way, bool) {
	rows := n.transits[a.Table]
	if a.Table == "" || len(rows) == 0 || !w.source.IsValid() {
		return Way{}, false
	}
	if _, lacks := n.s.Lacks(snapshot.TransitGateways, a.Table); lacks {
		return Way{}, false
	}
	row, ok := coveringTransit(rows, w.source)
	if ok && row.State != blackhole {
		return Way{}, false
	}
	return Way{
		Verdict: NoRoute, At: a.Table, Table: a.Table,
		Reason: fmt.Sprintf("%s, the route table for the responses, has no route back to %s", a.Table, w.source),
	}, true
}

// backFrom reports whether a table in another VPC does not send answers back
// through the transit gateway.
func (n *Network) backFrom(table Table, w walk) (Way, bool) {
	if w.via == "" || !w.source.IsValid() || n.returns(table, w) {
		return Way{}, false
	}
	return Way{
		Verdict: NoRoute, At: table.ID, Table: table.ID,
		Reason: fmt.Sprintf("%s has no route for responses to %s", table.ID, w.source),
	}, true
}

// returns reports whether a table may lead back to where the packet came from. A
// row to the internet, or the local one, never does.
func (n *Network) returns(table Table, w walk) bool {
	if slices.ContainsFunc(table.Routes, func(r snapshot.Route) bool {
		_, read := n.lists[r.PrefixList]
		return r.PrefixList != "" && !read
	}) {
		return true // the list may hold it
	}
	row, ok := covering(table.Routes, w.source, n.lists)
	if !ok {
		// More specific rows may hold it in parts.
		return slices.ContainsFunc(table.Routes, func(r snapshot.Route) bool {
			return r.Target.Kind != snapshot.ToLocal && r.State != filtered && r.Destination.IsValid() && r.Destination.Overlaps(w.source)
		})
	}
	if row.State == blackhole {
		return false
	}
	switch row.Target.Kind {
	case snapshot.ToInternetGateway, snapshot.ToEgressOnly, snapshot.ToNATGateway, snapshot.ToLocal:
		return false
	}
	return true
}

// answered judges the way back from the cluster's VPC, in whose subnets the
// control plane's interfaces stand.
func (n *Network) answered(way Way, w walk, via string) Way {
	if !w.source.IsValid() {
		return way
	}
	w.via = via
	var broken []Way
	known := 0
	for _, id := range n.s.Cluster.Subnets {
		table, ok := n.Table(id)
		if !ok {
			return way
		}
		known++
		if back, none := n.backFrom(table, w); none {
			broken = append(broken, back)
		}
	}
	if known == 0 || len(broken) < known {
		return way // at least one of the interfaces can answer
	}
	broken[0].Hops = way.Hops
	return broken[0]
}

// hop judges the target of a row and follows it.
func (n *Network) hop(table Table, row snapshot.Route, hops []Hop, w walk) Way {
	switch row.Target.Kind {
	case snapshot.ToLocal:
		return n.own(table, row, hops, w)
	case snapshot.ToNATGateway:
		return n.nat(row, hops, w)
	case snapshot.ToInternetGateway:
		return n.internetGateway(table, row, hops, w)
	case snapshot.ToEgressOnly:
		return n.egressOnly(table, row, hops, w)
	case snapshot.ToTransitGateway:
		return n.transit(table, row, hops, w)
	case snapshot.ToPeering:
		return n.peering(table, row, hops, w)
	case snapshot.ToInterface:
		return n.appliance(row, hops, w)
	case snapshot.ToEndpoint:
		return n.through(row, hops)
	case snapshot.ToCarrierGateway:
		if n.Mode(w.subnet, table.VPC).Mode == snapshot.BlockBidirectional && row.State != blackhole {
			return n.blocked(table, w, append(hops, Hop{ID: row.Target.ID, Note: string(row.Target.Kind)}))
		}
	}
	return n.beyondView(row, hops)
}

// beyondView is a hop behind which nothing can be read: a virtual private gateway,
// Direct Connect, a core network, a local or carrier gateway, a kind newer
// than this code.
func (n *Network) beyondView(row snapshot.Route, hops []Hop) Way {
	// A kind newer than this code may come without an id.
	id := cmp.Or(row.Target.ID, string(row.Target.Kind))
	w := Way{At: id, Hops: append(hops, Hop{ID: id, Note: string(row.Target.Kind)})}
	if row.State == blackhole {
		w.Verdict, w.Reason = Blackhole, blackhole
		return w
	}
	w.Verdict, w.Reason = LeavesView, fmt.Sprintf("what is behind the %s is not read", row.Target.Kind)
	return w
}

// own is the local row. It ends a walk into its own VPC; a walk elsewhere ends
// there too, where the two VPCs' ranges overlap.
func (n *Network) own(table Table, row snapshot.Route, hops []Hop, w walk) Way {
	if table.VPC == w.vpc {
		return Way{Verdict: Reaches, At: w.vpc, Hops: append(hops, Hop{ID: w.vpc})}
	}
	return Way{
		Verdict: NoRoute, At: table.ID, Hops: hops,
		Reason: fmt.Sprintf("its local route %s keeps these addresses in %s", Destination(row), table.VPC),
	}
}

// internetGateway judges a row to an internet gateway. One that EC2 still
// describes is judged by its attachments; the row's own state counts when it
// is gone.
func (n *Network) internetGateway(table Table, row snapshot.Route, hops []Hop, w walk) Way {
	id := row.Target.ID
	hops = append(hops, Hop{ID: id})
	igw, seen := n.igws[id]
	switch {
	case seen && !slices.Contains(igw.Attached, table.VPC):
		return Way{Verdict: Detached, At: id, Hops: hops, Reason: "it is not attached to " + table.VPC}
	case row.State == blackhole:
		return Way{Verdict: Blackhole, At: id, Hops: hops, Reason: blackhole, Unread: n.unread(snapshot.InternetGateways)}
	case w.vpc != "":
		return Way{Verdict: NoRoute, At: table.ID, Hops: hops, Reason: "an internet gateway carries no private addresses"}
	case w.via == "" && n.blocks(table, w):
		return n.blocked(table, w, hops)
	case w.six():
		// IPv6 addresses are public: nothing is translated.
		return Way{Verdict: Reaches, At: id, Hops: hops}
	}
	// One that is not among those read is another account's (a shared VPC):
	// EC2 calls its row active only while it is attached.
	return Way{Verdict: NeedsPublicIP, At: id, Hops: hops}
}

// egressOnly judges a row to an egress-only internet gateway, which carries
// IPv6 out. It is made with its attachment and lives with it.
func (n *Network) egressOnly(table Table, row snapshot.Route, hops []Hop, w walk) Way {
	id := row.Target.ID
	hops = append(hops, Hop{ID: id, Note: string(snapshot.ToEgressOnly)})
	gateway, seen := n.eigws[id]
	switch {
	case seen && !slices.Contains(gateway.Attached, table.VPC):
		return Way{Verdict: Detached, At: id, Hops: hops, Reason: "it is not attached to " + table.VPC}
	case row.State == blackhole:
		return Way{Verdict: Blackhole, At: id, Hops: hops, Reason: blackhole, Unread: n.unread(snapshot.EgressOnly)}
	case w.vpc != "" || !w.six():
		return Way{Verdict: NoRoute, At: table.ID, Hops: hops, Reason: "an egress-only internet gateway carries IPv6 to the internet only"}
	case n.Mode(w.subnet, table.VPC).Mode == snapshot.BlockBidirectional:
		return n.blocked(table, w, hops)
	}
	return Way{Verdict: Reaches, At: id, Hops: hops}
}

// through is a row to a gateway load balancer's or firewall's endpoint. What
// the appliances behind it let pass is not in what EC2 says.
func (n *Network) through(row snapshot.Route, hops []Hop) Way {
	id := row.Target.ID
	note := string(row.Target.Kind)
	if e, seen := n.endpoint(id); seen {
		note = fmt.Sprintf("%s endpoint, %s", e.Kind, e.State)
		if row.State != blackhole && gone(e.State) {
			return Way{Verdict: Blackhole, At: id, Hops: append(hops, Hop{ID: id, Note: note}), Reason: "the endpoint is " + e.State}
		}
	}
	w := n.beyondView(row, hops)
	w.Hops[len(w.Hops)-1].Note = note
	return w
}

// gone reports whether an endpoint passes nothing. A state newer than this code
// is no fault.
func gone(state string) bool {
	switch strings.ToLower(state) {
	case "pending", "pendingacceptance", "deleting", "deleted", "rejected", "failed", "expired":
		return true
	}
	return false
}

func (n *Network) endpoint(id string) (snapshot.Endpoint, bool) {
	i := slices.IndexFunc(n.s.Endpoints, func(e snapshot.Endpoint) bool { return e.ID == id })
	if i < 0 {
		return snapshot.Endpoint{}, false
	}
	return n.s.Endpoints[i], true
}

func (n *Network) gatewayEndpoint(id string) bool {
	e, seen := n.endpoint(id)
	return seen && strings.EqualFold(e.Kind, "Gateway")
}

// LeavesFrom are the public addresses that traffic of a subnet to the internet
// may leave from over IPv4: those of the NAT gateway or NAT instance on its
// way, or the node's own (which may be the zero value) where an internet
// gateway is next. They are empty where they are not known; the way says why.
func (n *Network) LeavesFrom(subnet string, own netip.Addr) ([]netip.Addr, Way) {
	w := n.Internet(subnet)
	switch w.Verdict {
	case Reaches:
		return slices.Clone(w.From), w
	case NeedsPublicIP:
		if own.IsValid() {
			return []netip.Addr{own}, w
		}
	}
	return nil, w
}

// Name is the DNS name of a service that nodes resolve before they join; empty where it is not
// known. Layers of images are in the bucket that ECR documents (ECR user guide, "Amazon ECR
// interface VPC endpoints": prod-region-starport-layer-bucket).
func (n *Network) Name(service Service) string {
	hosts := map[Service]string{
		EC2: "ec2.", ECRAPI: "api.ecr.", S3: "prod-" + n.s.Region + "-starport-layer-bucket.s3.", STS: "sts.", EKS: "eks.",
	}
	switch host := hosts[service]; {
	case service == API:
		u, err := url.Parse(n.s.Cluster.Endpoint)
		if err != nil {
			return ""
		}
		return strings.ToLower(u.Hostname())
	case service == ECRDKR:
		return n.registry()
	case host == "":
		return ""
	case strings.HasPrefix(n.s.Region, "cn-"):
		return host + n.s.Region + ".amazonaws.com.cn"
	default:
		return host + n.s.Region + ".amazonaws.com"
	}
}

// registry is where the cluster's images come from, by that of aws-node: EKS has an account
// of its own for it in many Regions (EKS user guide, "View Amazon container image
// registries for Amazon EKS add-ons"). It is empty where that is not known, or not ECR.
func (n *Network) registry() string {
	if n.s.CNI == nil {
		return ""
	}
	host, _, _ := strings.Cut(n.s.CNI.Image, "/")
	if !strings.Contains(host, ".dkr.ecr") {
		return ""
	}
	return strings.ToLower(host)
}

// Within reports whether a domain is the name, or one that the name is in; the root is "".
func Within(name, domain string) bool {
	return domain == "" || name == domain || strings.HasSuffix(name, "."+domain)
}

// ZoneOf returns the index of the zone that is searched for a name: the most specific one, the
// first of several; -1 for none.
func ZoneOf(zones []snapshot.PrivateZone, name string) int {
	best := -1
	for i, z := range zones {
		if z.Unread != nil && z.Domain == "" {
			continue // of a Profile: what it is for is not known
		}
		if Within(name, z.Domain) && (best < 0 || len(z.Domain) > len(zones[best].Domain)) {
			best = i
		}
	}
	return best
}

// HasRecord reports whether a zone has an address for a name, or delegates it.
func HasRecord(z snapshot.PrivateZone, name string, six bool) bool {
	return slices.ContainsFunc(z.Records, func(r snapshot.ZoneRecord) bool {
		tail, wild := strings.CutPrefix(r.Name, "*.")
		switch {
		case r.Type == "NS":
			return r.Name != z.Domain && Within(name, r.Name)
		case r.Type != "A" && r.Type != "CNAME" && !(six && r.Type == "AAAA"):
			return false
		}
		return r.Name == name || wild && strings.HasSuffix(name, "."+tail)
	})
}

// RuleOf returns the index of the resolver rule that wins for a name, the first of several for
// one domain; -1 for none.
func RuleOf(rules []snapshot.ResolverRule, name string) int {
	best := -1
	for i, r := range rules {
		if r.Unread == nil && Within(name, r.Domain) && (best < 0 || len(r.Domain) > len(rules[best].Domain)) {
			best = i
		}
	}
	return best
}

// named is the path to a service whose name is answered by what an account has put before
// public DNS, where that can lead to an address which its routes reach: the central endpoints
// of another VPC, or an endpoint of this one with private DNS off. Which of them is not read.
// A VPC's own endpoints with private DNS win over what a Profile brings (Route 53 developer
// guide, "How Route 53 Profile settings are prioritized").
func (n *Network) named(service Service, subnet string, table Table) (Path, bool) {
	at, by := n.answers(service, table.VPC)
	if at == "" || !n.reachesPrivately(service, table) {
		return Path{}, false
	}
	return Path{Means: ByOwnName, Way: Way{
		Verdict: LeavesView, At: at,
		Hops:   []Hop{{ID: subnet}, {ID: table.ID, Note: mainNote(table)}, {ID: at, Note: by}},
		Reason: "the " + by + " resolves names that nodes need, and its targets are not read",
	}}, true
}

// answers returns what answers for a service's name in a VPC in the place of public DNS, and
// what that is; empty for nothing that was read.
func (n *Network) answers(service Service, vpc string) (id, kind string) {
	name := n.Name(service)
	if service == ECRDKR && name == "" {
		// Of whichever account the images are: a wildcard answers for all of them.
		name = strings.Replace(n.Name(ECRAPI), "api.ecr.", "000000000000.dkr.ecr.", 1)
	}
	zones := slices.DeleteFunc(slices.Clone(n.s.PrivateZones), func(z snapshot.PrivateZone) bool { return z.VPC != vpc })
	rules := slices.DeleteFunc(slices.Clone(n.s.ResolverRules), func(r snapshot.ResolverRule) bool { return r.VPC != vpc })
	zone, rule := -1, -1
	if name != "" {
		zone, rule = ZoneOf(zones, name), RuleOf(rules, name)
	}
	forwards := rule >= 0 && rules[rule].Forward && rules[rule].Domain != ""
	switch {
	case forwards && (zone < 0 || len(rules[rule].Domain) >= len(zones[zone].Domain)):
		return rules[rule].ID, "resolver rule"
	case zone >= 0 && zones[zone].Service == "" && (zones[zone].Unread != nil || HasRecord(zones[zone], name, n.s.Cluster.IPv6)):
		// The records of another account's zone are never shown: a record or none, public DNS
		// is not asked.
		return zones[zone].ID, "private hosted zone"
	case service == API:
		return "", ""
	}
	for _, p := range n.s.DNSProfiles {
		for _, r := range p.Resources {
			_, endpoint, is := strings.Cut(r.ARN, ":vpc-endpoint/")
			if p.VPC == vpc && is && n.mayServe(endpoint, service) {
				return endpoint, "interface endpoint of the Route 53 Profile " + p.ID
			}
		}
	}
	return "", ""
}

// unreadNames is a source that failed, or of which a part did, and that could have told that a
// service's name leads elsewhere.
func (n *Network) unreadNames(service Service, vpc string) snapshot.Source {
	if slices.ContainsFunc(n.s.PrivateZones, func(z snapshot.PrivateZone) bool { return z.VPC == vpc && z.Unread != nil && z.Domain == "" }) {
		return snapshot.PrivateZonesOf
	}
	if slices.ContainsFunc(n.s.ResolverRules, func(r snapshot.ResolverRule) bool { return r.VPC == vpc && r.Unread != nil }) {
		return snapshot.ResolverRulesOf
	}
	sources := []snapshot.Source{snapshot.DNSProfilesOf, snapshot.PrivateZonesOf, snapshot.ResolverRulesOf}
	if n.Name(service) == "" {
		sources = append(sources, snapshot.AWSNode)
	}
	for _, s := range sources {
		if _, failed := n.s.Failures[s]; failed {
			return s
		}
	}
	return ""
}

// mayServe reports whether an endpoint may be one for a service. What one of another VPC is
// for is not read.
func (n *Network) mayServe(endpoint string, service Service) bool {
	for _, list := range n.endpoints {
		for _, e := range list {
			if e.ID == endpoint {
				return n.serves(e, service) && Available(e)
			}
		}
	}
	return true
}

// reachesPrivately reports whether a subnet can reach private addresses that may be those of a
// service: an interface endpoint of the VPC, or another network.
func (n *Network) reachesPrivately(service Service, table Table) bool {
	return slices.ContainsFunc(n.Endpoints(table.VPC, service), func(e snapshot.Endpoint) bool {
		return Available(e) && strings.EqualFold(e.Kind, "Interface")
	}) || slices.ContainsFunc(table.Routes, func(r snapshot.Route) bool { return r.Usable() && Elsewhere(r.Target.Kind) })
}

// Elsewhere reports whether a target leads to other private networks.
func Elsewhere(kind snapshot.TargetKind) bool {
	switch kind {
	case snapshot.ToTransitGateway, snapshot.ToPeering, snapshot.ToVPNGateway, snapshot.ToCoreNetwork, snapshot.ToInterface:
		return true
	}
	return false
}

// nat judges a row that leads to a NAT gateway. A gateway that EC2 still
// describes is judged by its state; the row's own state counts when it is gone.
func (n *Network) nat(row snapshot.Route, hops []Hop, w walk) Way {
	id := row.Target.ID
	nat, seen := n.nats[id]
	if !seen {
		hops = append(hops, Hop{ID: id})
		switch {
		case row.State == blackhole:
			return Way{Verdict: Blackhole, At: id, Hops: hops, Reason: blackhole, Unread: n.unread(snapshot.NATGateways)}
		case !n.s.Has(snapshot.NATGateways):
			return Way{Verdict: LeavesView, At: id, Hops: hops, Reason: "the NAT gateways were not read", Unread: snapshot.NATGateways}
		}
		return Way{Verdict: LeavesView, At: id, Hops: hops, Reason: "this account cannot see it"}
	}
	if nat.State == "available" && row.State == blackhole {
		return Way{Verdict: Blackhole, At: id, Hops: append(hops, n.natHop(nat)), Reason: blackhole}
	}
	way := n.onward(nat, w)
	way.Hops = append(hops, way.Hops...)
	return way
}

func (n *Network) natHop(nat snapshot.NATGateway) Hop {
	note := nat.State
	if !nat.Public {
		note += ", private"
	}
	if zone := n.Zone(nat); zone != "" {
		note += ", " + zone
	}
	return Hop{ID: nat.ID, Note: note}
}

// onward follows the way on from a NAT gateway. It begins with the gateway's
// own hop.
func (n *Network) onward(nat snapshot.NATGateway, w walk) Way {
	here := []Hop{n.natHop(nat)}
	bad := func(v Verdict, reason string) Way {
		return Way{Verdict: v, At: nat.ID, Reason: reason, Hops: here}
	}
	if nat.State != "available" {
		reason := "it " + NATState(nat.State)
		if nat.Failure != "" {
			reason += ": " + nat.Failure
		}
		return bad(NATUnusable, reason)
	}
	if slices.Contains(w.passed, nat.ID) {
		return bad(NATNoInternet, "its own subnet's route points back to it")
	}
	if table, ok := n.standsIn(nat); ok {
		if back, broken := n.backFrom(table, w); broken {
			back.Hops = here
			return back
		}
	}
	from := n.subnets[w.subnet]
	w = w.past(nat.ID)
	w.source, w.via, w.subnet, w.byNAT = n.subnets[nat.Subnet].CIDR, "", "", nat.Public // it translates
	next := n.after(nat, w)
	next.Hops = append(here, next.Hops...)
	switch {
	case w.vpc != "":
		return next
	case !nat.Public:
		return n.private(nat, next)
	}
	return n.public(nat, next, from)
}

// addresses are those from which a NAT gateway sends what comes from a subnet. Those of
// a regional one belong to a zone each. Until it has expanded to a zone it may serve it
// from any other (VPC user guide, "Regional NAT gateways for automatic multi-AZ
// expansion").
func addresses(nat snapshot.NATGateway, from snapshot.Subnet) []netip.Addr {
	var all, zonal []netip.Addr
	for _, a := range nat.Addresses {
		all = append(all, a.IP)
		if a.ZoneID != "" && a.ZoneID == from.ZoneID || a.Zone != "" && a.Zone == from.Zone {
			zonal = append(zonal, a.IP)
		}
	}
	if nat.RouteTable != "" && len(zonal) > 0 {
		return zonal
	}
	return all
}

// public judges a public NAT gateway by the way out of its own subnet.
func (n *Network) public(nat snapshot.NATGateway, next Way, from snapshot.Subnet) Way {
	switch next.Verdict {
	case NeedsPublicIP: // a public NAT gateway has one
		if nat.Proxy != "" {
			// Its rules pass traffic or drop it (EC2 API, NatGatewayAttachedAppliance).
			next.Verdict, next.At, next.Reason = LeavesView, nat.ID, "whether the proxy attached to it passes traffic is not read ("+nat.Proxy+")"
			return next
		}
		next.Verdict, next.From = Reaches, addresses(nat, from)
		return next
	case BlockedPublicAccess:
		if nat.RouteTable != "" && n.Mode(from.ID, from.VPC).Mode != snapshot.BlockBidirectional {
			next.Verdict, next.Reason = LeavesView, "whether the exclusion of a subnet applies to a regional NAT gateway is unknown"
		}
		return next
	case LeavesView, Detached, NATInstance:
		return next // the fault, or the doubt, is the next hop's
	case Reaches:
		if next.Row.Target.Kind != snapshot.ToNATGateway {
			return next // a transit gateway, or an appliance, takes it out
		}
		next.Reason = fmt.Sprintf("its own subnet's route points to %s and not to an internet gateway", next.Row.Target.ID)
	case NoRoute:
		next.Reason = fmt.Sprintf("the table of its own subnet (%s) has no route to an internet gateway", next.At)
	case Blackhole:
		next.Reason = fmt.Sprintf("the default route of its own subnet is a blackhole (%s)", next.At)
	default:
		next.Reason = fmt.Sprintf("its own subnet's route points to %s and not to an internet gateway", next.Row.Target.ID)
	}
	if next.At == nat.ID {
		next.Reason = "its own subnet's route points back to it"
	}
	next.Verdict, next.At, next.From = NATNoInternet, nat.ID, nil
	return next
}

// NATState is a gateway's state as the end of a sentence.
func NATState(state string) string {
	switch state {
	case "failed":
		return "has failed"
	case "deleting":
		return "is being deleted"
	}
	return "is " + state
}

// standsIn is the route table in force where a NAT gateway stands: that of its
// subnet, or the own one of a regional gateway, which has no subnet.
func (n *Network) standsIn(nat snapshot.NATGateway) (Table, bool) {
	if nat.RouteTable == "" {
		return n.Table(nat.Subnet)
	}
	table, ok := n.tables[nat.RouteTable]
	if !ok {
		return Table{}, false
	}
	return Table{RouteTable: *table}, true
}

// after is the way out of the place where a NAT gateway stands.
func (n *Network) after(nat snapshot.NATGateway, w walk) Way {
	table, ok := n.standsIn(nat)
	switch {
	case nat.RouteTable == "" && nat.Subnet == "":
		return Way{Verdict: LeavesView, At: nat.ID, Reason: "its route table is unknown"}
	case nat.RouteTable == "":
		return n.from(nat.Subnet, w)
	case !ok:
		return Way{Verdict: LeavesView, At: nat.RouteTable, Reason: "this route table was not read", Unread: n.unread(snapshot.RouteTables)}
	}
	return n.out(table, nil, w)
}

// private judges a private NAT gateway, which has no public address: only
// another NAT gateway or something beyond view can take its traffic out.
func (n *Network) private(nat snapshot.NATGateway, next Way) Way {
	switch next.Verdict {
	case Reaches, LeavesView, Detached, NATInstance:
		return next
	case BlockedPublicAccess:
		if slices.ContainsFunc(next.Hops, func(h Hop) bool { return h.ID != nat.ID && n.nats[h.ID].Public }) {
			return next // of another gateway, which has a public address
		}
	case NATUnusable, NATNoInternet:
		if next.At != nat.ID {
			return next // the fault is the other gateway's
		}
	}
	if next.Table != "" && next.At == next.Table && n.tables[next.Table] == nil {
		return next // the transit gateway's table is to blame
	}
	next.Verdict, next.At = NATUnusable, nat.ID
	next.Reason = "it is a private NAT gateway, and nothing behind it reaches the internet"
	return next
}
