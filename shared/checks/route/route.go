// Package route holds the checks of route: the way out of a subnet, and the way
// to the cluster's API.
package route

import (
	"fmt"
	"net/netip"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/network/path"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// Checks are the checks of the family.
func Checks() []check.Check {
	return []check.Check{
		// Endpoints play no part: the control plane's interfaces are no VPC
		// endpoint. Peerings and transit gateways are asked for where a row
		// leads to one.
		routeCheck(checkid.RouteAPIPrivateUnreachable, func(c *routes.Scope) []check.Finding {
			return c.Each(privateAPIFinding)
		}),
		routeCheck(checkid.RouteAPIPublicCIDR, publicCIDRs, snapshot.NATGateways, snapshot.Instances),
		wayCheck{fault: path.Detached, id: atEnd, open: routes.Rowless, say: detachedFinding}.
			check(checkid.RouteIGWDetached, snapshot.InternetGateways),
		// Launch templates may turn public addresses off.
		routeCheck(checkid.RouteIGWNoPublicIP, igwNoPublicIP, snapshot.Endpoints, snapshot.Instances),
		// The interface is asked for where a row leads to one: most VPCs have
		// no NAT instance.
		wayCheck{fault: path.NATInstance, id: atEnd, open: byInterface, say: natInstanceFinding}.
			check(checkid.RouteNATInstanceSourceCheck, snapshot.Instances),
		wayCheck{fault: path.NATNoInternet, id: atEnd, open: rowlessOrNAT, say: natNoInternetFinding}.
			check(checkid.RouteNATNoInternet, snapshot.NATGateways, snapshot.InternetGateways),
		routeCheck(checkid.RouteNATUnusable, natUnusable, snapshot.Endpoints, snapshot.NATGateways),
		wayCheck{fault: path.NoRoute, id: inTable, exempt: noEgressExempt, open: anyWay, say: noEgressFinding}.
			check(checkid.RouteNoEgress),
		// The targets are not needed: where they were read, one that EC2 still
		// describes has a check of its own; where not, the row's own state shows
		// that nothing passes, and not why.
		wayCheck{fault: path.Blackhole, id: inTable, open: routes.Rowless, say: blackholeFinding}.
			check(checkid.RouteBlackhole),
		routeCheck(checkid.RouteBlockedPublicAccess, blockedPublicAccess, snapshot.Endpoints).
			Using(snapshot.PublicAccessOf),
		routeCheck(checkid.RouteCrossZoneNAT, crossZoneNAT, snapshot.Endpoints, snapshot.NATGateways),
		// Egress-only gateways are asked for where a row leads to one.
		routeCheck(checkid.RouteIPv6NoEgress, ipv6NoEgress, snapshot.Endpoints),
		routeCheck(checkid.RouteLeavesView, leavesViewFinding, snapshot.Endpoints),
	}
}

// routeCheck is a check of the route tables of subnets. Whether an instance gets a public
// address may stand in its template.
func routeCheck(id checkid.ID, run func(*routes.Scope) []check.Finding, more ...snapshot.Source) check.Check {
	needs := append([]snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables}, more...)
	c := check.New(id, func(s *check.View) []check.Finding { return run(routes.ForView(s)) }, needs...)
	return c.WithPathSources().Using(snapshot.LaunchTemplates)
}

func blackholeFinding(c *routes.Scope, f wayFault) check.Finding {
	l, p := f.routeTables[0], f.way
	subnets := f.subnets()
	said := check.Failed(f.id, subnets...).Affecting(c.Stranded(subnets)...).Involving(p.Resources()...).
		Titled("%s points to %s, which no longer exists", f.id, p.At).
		Showing(f.evidence()...).
		FixedBy(leadElsewhere(c, l, p))
	what := "which was deleted or detached: EC2 marks the route as a blackhole"
	switch {
	case p.Unread != "":
		what = fmt.Sprintf("which passes nothing: EC2 marks the route as a blackhole. Whether it was deleted, detached or stopped is unknown: the %s were not read", p.Unread)
	case p.Reason != "blackhole":
		what = "but " + p.Reason
	}
	if p.Unread != "" || p.Reason != "blackhole" {
		said.Title = check.Title("%s points to %s, which passes nothing", f.id, p.At)
	}
	lost := check.And(path.Names(f.lost()))
	said.Why = fmt.Sprintf("%s sends %s to %s, %s. Nodes in %s cannot reach %s.", l.Table.ID, path.Destination(p.Row), p.At, what, check.Some(subnets, 3), lost)
	if f.id != l.Table.ID {
		said.Why = fmt.Sprintf("The default route of %s goes through %s to %s, %s. Nodes in %s cannot reach %s.",
			check.Some(f.tables(), 3), p.Row.Target.ID, p.At, what, check.Some(subnets, 3), lost)
		said.Fix = check.Fix{Text: fmt.Sprintf("Point the route of %s to a target that exists.", f.id), Console: c.S.AnyRouteTableLink(f.id)}
	}
	if p.At == f.id {
		said.Title = check.Title("%s has a blackhole for the internet", f.id)
	}
	return said
}

// leadElsewhere leads the row that was taken to something that works. Only a
// default route can be led to any NAT gateway.
func leadElsewhere(c *routes.Scope, l routes.Table, p path.Path) check.Fix {
	switch {
	case p.Row.Target.Kind == snapshot.ToInternetGateway:
		return toGateway(c, l, p)
	case path.Destination(p.Row) == "0.0.0.0/0":
		return WayOut(c, l, "replace-route", p.At)
	}
	return check.Fix{
		Text:    fmt.Sprintf("Point %s of %s to a target that works, or delete the route.", path.Destination(p.Row), l.Table.ID),
		Console: c.S.RouteTableLink(l.Table.ID),
	}
}

// toGateway leads a public subnet back to an internet gateway: a NAT gateway
// would cut off what is reached from outside.
func toGateway(c *routes.Scope, l routes.Table, p path.Path) check.Fix {
	fix := check.Fix{Console: c.S.RouteTableLink(l.Table.ID)}
	igw, attached := c.Net.Gateway(l.Table.VPC)
	if p.Unread != "" {
		fix.Text = fmt.Sprintf("Point %s of %s to the internet gateway attached to %s, or attach %s to it. The existing gateways could not be read.", path.Destination(p.Row), l.Table.ID, l.Table.VPC, p.At)
		return fix
	}
	if !attached || igw.ID == p.At {
		fix.Text = fmt.Sprintf("Attach an internet gateway to %s (the route names %s), and point %s of %s to it.", l.Table.VPC, p.At, path.Destination(p.Row), l.Table.ID)
		return fix
	}
	fix.Text = fmt.Sprintf("%s is attached to %s", igw.ID, l.Table.VPC)
	fix.Command = c.S.SetRoute("replace-route", l.Table.ID, path.Destination(p.Row), "--gateway-id", igw.ID)
	return fix
}

// BlockedPublicAccess is VPC Block Public Access, which drops what the routes would
// carry (VPC user guide, "VPC BPA basics"). It counts where the traffic leaves the VPC:
// in the NAT gateway's subnet, or in the node's own.
func blockedPublicAccess(c *routes.Scope) []check.Finding {
	list := wayCheck{
		fault: path.BlockedPublicAccess, say: blockedFinding, open: routes.Rowless,
		id: func(l routes.Table, p path.Path) string { return blockedVPC(c, p.At) },
	}.findings(c)
	six := blockedOverIPv6(c)
	list = slices.DeleteFunc(list, func(f check.Finding) bool {
		return f.Outcome == check.Pass && slices.ContainsFunc(six, func(s check.Finding) bool { return slices.Equal(s.Covers, f.Covers) })
	})
	return append(list, six...)
}

// blockedVPC is the VPC of the place where the traffic is dropped.
func blockedVPC(c *routes.Scope, at string) string {
	if s, ok := c.Net.Subnet(at); ok {
		return s.VPC
	}
	return at
}

// blockedOverIPv6 are the findings on tables of an IPv6 cluster that get out over IPv4 and
// not over IPv6.
func blockedOverIPv6(c *routes.Scope) []check.Finding {
	var list []check.Finding
	for _, l := range c.Tables {
		_, four := l.Ends(path.BlockedPublicAccess)
		if four || !c.S.Cluster.IPv6 || l.ReadyNode != "" || len(l.Outside()) == 0 {
			continue
		}
		w := c.Net.Internet6(l.Subnets[0].ID)
		if w.Verdict != path.BlockedPublicAccess {
			continue
		}
		f := blockedFinding(c, wayFault{id: blockedVPC(c, w.At), routeTables: []routes.Table{l}, way: path.Path{Way: w}})
		if l.API().Means == path.ByPrivateAPI {
			f.Confidence = check.Likely // only what else answers over IPv6 is lost
		}
		list = append(list, f)
	}
	return list
}

func blockedFinding(c *routes.Scope, f wayFault) check.Finding {
	subnets := f.subnets()
	var at, direct []string
	unsure := false
	for _, l := range f.routeTables {
		w := f.way.Way
		if p, ok := l.Ends(path.BlockedPublicAccess); ok {
			w = p.Way
		}
		at = check.Adding(at, w.At)
		if !translated(c, w) {
			direct = check.Adding(direct, w.At)
		}
		unsure = unsure || c.Net.Mode(subnetAt(c, w.At), f.id).Unsure
	}
	mode := c.Net.Mode(subnetAt(c, at[0]), f.id).Mode
	said := check.Failed(f.id, subnets...).Affecting(c.Stranded(subnets)...).
		Involving(append(f.way.Resources(), at...)...).
		Titled("Block Public Access drops the traffic of %s", check.Subject(subnets, "subnet")).
		Because("%s points to %s, and VPC Block Public Access (%s) drops the traffic in %s. Nodes in %s cannot reach %s. %s",
			check.Some(f.tables(), 3), f.way.Row.Target.ID, mode, check.Some(at, 3), check.Some(subnets, 3), check.And(path.Names(lostTo(f))), whoBlocks(c)).
		Showing(f.evidence()...).
		Showing(blockedEvidence(c, at, f.id)...).
		FixedBy(fixBlocked(c, f, at, direct))
	if unsure {
		said.Confidence = check.Likely
	}
	return said
}

// lostTo are the services that a fault takes away; over IPv6 those that need the
// internet.
func lostTo(f wayFault) []path.Service {
	if lost := f.lost(); len(lost) > 0 {
		return lost
	}
	return f.routeTables[0].Outside()
}

// translated reports whether a way leaves by a gateway that only lets connections out,
// for which an exclusion that allows egress is enough.
func translated(c *routes.Scope, w path.Way) bool {
	return w.Row.Target.Kind == snapshot.ToEgressOnly || slices.ContainsFunc(w.Hops, func(h path.Hop) bool {
		nat, ok := c.Net.NAT(h.ID)
		return ok && nat.Public
	})
}

// subnetAt is a place where traffic leaves, where that is a subnet.
func subnetAt(c *routes.Scope, at string) string {
	if _, ok := c.Net.Subnet(at); ok {
		return at
	}
	return ""
}

// whoBlocks says who set the mode, as far as that was read.
func whoBlocks(c *routes.Scope) string {
	switch a := c.S.PublicAccess; {
	case a == nil:
		return "Routes and gateways are correct."
	case a.ByPolicy:
		return "A declarative policy of the organization sets the mode."
	case a.Changing:
		return "The mode is being changed."
	}
	return "The account sets the mode."
}

func blockedEvidence(c *routes.Scope, at []string, vpc string) []check.Evidence {
	var list []check.Evidence
	for _, id := range at {
		list = append(list, check.Evidence{What: "Block Public Access of " + id, Value: string(c.Net.Mode(subnetAt(c, id), vpc).Mode)})
	}
	if a := c.S.PublicAccess; a != nil {
		for _, e := range a.Exclusions {
			if e.Resource != vpc && !slices.Contains(at, e.Resource) {
				continue
			}
			value := "allow-bidirectional"
			if e.Egress {
				value = "allow-egress"
			}
			if !e.Active {
				value += ", not in force"
			}
			list = append(list, check.Evidence{What: fmt.Sprintf("Exclusion %s of %s", e.ID, e.Resource), Value: value})
		}
	}
	return list
}

// fixBlocked gives a command only for what lets connections out and none in: whether
// nodes with public addresses may be reached from the internet is a decision.
func fixBlocked(c *routes.Scope, f wayFault, at, direct []string) check.Fix {
	fix := check.Fix{Console: c.S.VPCLink("VpcDetails:VpcId=" + f.id)}
	endpoints := fmt.Sprintf("give %s endpoints for what nodes need, and the cluster private access",
		f.routeTables[0].Table.VPC)
	exclusion := " in a subnet that is excluded with allow-egress"
	if c.Net.Mode("", f.id).Mode == snapshot.BlockIngress {
		exclusion = ""
	}
	who := ""
	if a := c.S.PublicAccess; a != nil && a.ByPolicy {
		who = " The mode is the organization's: contact whoever manages its declarative policy."
	}
	switch {
	case c.S.PublicAccess != nil && c.S.PublicAccess.NoExclusions:
		fix.Text = fmt.Sprintf("The organization's policy allows no exclusions: %s.%s", endpoints, who)
	case len(direct) > 0:
		fix.Text = fmt.Sprintf("Move the nodes of %s behind a NAT gateway%s, or %s. Or, where nodes can be reachable from the internet, exclude %s with allow-bidirectional.%s",
			check.Some(f.subnets(), 3), exclusion, endpoints, check.Some(direct, 3), who)
	default:
		var commands []string
		for _, id := range at {
			kind := "--subnet-id"
			if subnetAt(c, id) == "" {
				kind = "--vpc-id"
			}
			commands = append(commands, c.S.AWSCommand("ec2 create-vpc-block-public-access-exclusion", kind, id, "--internet-gateway-exclusion-mode", "allow-egress"))
		}
		fix.Text = fmt.Sprintf("Allows %s out and nothing in. Or %s.%s", check.Some(at, 3), endpoints, who)
		fix.Command = check.JoinCommands(commands)
	}
	return fix
}

func crossZoneNAT(c *routes.Scope) []check.Finding {
	// It works, so no instance is in trouble because of it: the subnets
	// that the groups launch into are judged.
	judged := routes.NewScope(c.S, slices.Concat(c.S.Scope.Subnets, c.S.Scope.Launchable))
	return judged.Each(crossZoneFinding)
}

// crossZone judges one table: only a way that works, and begins with a NAT
// gateway whose zone is known.
func crossZoneFinding(c *routes.Scope, l routes.Table) check.Finding {
	if len(l.Outside()) == 0 || l.Internet.Verdict != path.Reaches || !byNAT(l.Internet) {
		return l.Pass()
	}
	nat, _ := c.Net.NAT(l.Internet.Row.Target.ID)
	zone := c.Net.Zone(nat)
	var far []string
	var zones []string
	for _, s := range l.Subnets {
		if zone == "" || s.Zone == "" || s.Zone == zone {
			continue
		}
		far = append(far, s.ID)
		if !slices.Contains(zones, s.Zone) {
			zones = append(zones, s.Zone)
		}
	}
	if len(far) == 0 {
		return l.Pass()
	}
	return check.Failed(l.Table.ID, far...).Involving(l.Internet.Resources()...).
		Titled("%s %s out through %s in %s", check.Subject(far, "subnet"), check.Verb(far, "goes", "go"), nat.ID, zone).
		Because("%s sends %s to %s in %s; %s %s in %s. Nodes join, but their traffic is charged between zones, and stops when %s fails.",
			l.Table.ID, path.Destination(l.Internet.Row), nat.ID, zone, check.Some(far, 3), check.Verb(far, "is", "are"), check.And(zones), zone).
		Showing(l.Evidence()...).
		FixedBy(fixCrossZone(c, l, nat, zones))
}

// fixCrossZone leads a table whose subnets all stand in one zone to that
// zone's gateway; other tables have to be split first.
func fixCrossZone(c *routes.Scope, l routes.Table, nat snapshot.NATGateway, zones []string) check.Fix {
	fix := check.Fix{Console: c.S.RouteTableLink(l.Table.ID)}
	if len(l.Zones()) == 1 && len(zones) == 1 {
		for _, other := range c.Net.WorkingNATs(l.Table.VPC, zones[0]) {
			if other.ID == nat.ID || other.Zone != zones[0] && other.RouteTable == "" {
				continue
			}
			fix.Text = fmt.Sprintf("%s: available, same zone", other.ID)
			fix.Command = c.S.SetRoute("replace-route", l.Table.ID, path.Destination(l.Internet.Row), "--nat-gateway-id", other.ID)
			return fix
		}
		fix.Text = fmt.Sprintf("Create a NAT gateway in a public subnet of %s, and point %s of %s to it.", zones[0], path.Destination(l.Internet.Row), l.Table.ID)
		return fix
	}
	fix.Text = fmt.Sprintf("Give each of %s its own route table and NAT gateway. %s serves %s.", check.And(zones), l.Table.ID, check.And(l.Zones()))
	return fix
}

// wayFault is what ends the ways of some tables: a NAT gateway, a table, an
// instance. It is one finding however many tables lead there: it is what must
// change.
type wayFault struct {
	id          string
	routeTables []routes.Table
	way         path.Path // of the first lot
}

// wayCheck tells how a check of ways judges the tables.
type wayCheck struct {
	fault path.Verdict
	// id is what a fix would change.
	id func(routes.Table, path.Path) string
	// exempt is the finding on a table that has the fault and is not accused; nil
	// for none.
	exempt func(*routes.Scope, routes.Table) (check.Finding, bool)
	// open reports whether a way that leaves what is read may still end in the
	// fault: then the table is Unknown.
	open func(path.Way) bool
	say  func(*routes.Scope, wayFault) check.Finding
}

func (w wayCheck) check(id checkid.ID, more ...snapshot.Source) check.Check {
	return routeCheck(id, w.findings, append([]snapshot.Source{snapshot.Endpoints}, more...)...)
}

// findings sorts the tables by the fault that their ways end in, and judges each.
func (w wayCheck) findings(c *routes.Scope) []check.Finding {
	list := slices.Clone(c.Unreadable)
	var faults []wayFault
	for _, l := range c.Tables {
		p, found := l.Ends(w.fault)
		if !found {
			f := l.Pass()
			if way, away := l.Open(); away && w.open(way) {
				f = routes.BeyondView(l, way)
			}
			list = append(list, f)
			continue
		}
		if l.Proven() {
			list = append(list, l.Works())
			continue
		}
		if w.exempt != nil {
			if f, excused := w.exempt(c, l); excused {
				list = append(list, f)
				continue
			}
		}
		id := w.id(l, p)
		k := slices.IndexFunc(faults, func(f wayFault) bool { return f.id == id })
		if k < 0 {
			k = len(faults)
			faults = append(faults, wayFault{id: id, way: p})
		}
		faults[k].routeTables = append(faults[k].routeTables, l)
	}
	for _, f := range faults {
		said := w.say(c, f)
		if !slices.ContainsFunc(f.routeTables, func(l routes.Table) bool { return l.ReadyNode == "" }) {
			said.Confidence = check.Likely // their nodes are Ready: what they needed once may come from elsewhere
		}
		if f.way.Unread != "" && said.Confidence == "" {
			said.Confidence = check.Likely // what was not read could be another fault of the same hop
		}
		if f.way.NamesUnread != "" {
			if said.Confidence == "" {
				said.Confidence = check.Likely
			}
			said = said.Noting(string(f.way.NamesUnread), "were not read: names may resolve to another network")
		}
		list = append(list, said)
	}
	return list
}

// atEnd is the hop at which a way ends.
func atEnd(_ routes.Table, p path.Path) string { return p.At }

// inTable is the table whose row, or lack of one, decided.
func inTable(l routes.Table, p path.Path) string {
	if p.Table == "" {
		return l.Table.ID
	}
	return p.Table
}

func (f wayFault) subnets() []string {
	var ids []string
	for _, l := range f.routeTables {
		ids = append(ids, l.IDs()...)
	}
	slices.Sort(ids)
	return ids
}

// tables are the route tables that lead to the fault.
func (f wayFault) tables() []string {
	ids := make([]string, len(f.routeTables))
	for i, l := range f.routeTables {
		ids[i] = l.Table.ID
	}
	return ids
}

func (f wayFault) evidence() []check.Evidence {
	const limit = 3
	var list []check.Evidence
	for _, l := range f.routeTables[:min(len(f.routeTables), limit)] {
		list = append(list, l.Evidence()...)
	}
	return list
}

// lost are the services that end at the fault.
func (f wayFault) lost() []path.Service {
	var list []path.Service
	for _, p := range f.routeTables[0].Paths {
		if p.Verdict == f.way.Verdict && p.Means != path.ByPrivateAPI {
			list = append(list, p.Service)
		}
	}
	return list
}

// byNAT is a way whose first hop is a NAT gateway.
func byNAT(w path.Way) bool { return w.Row.Target.Kind == snapshot.ToNATGateway }

func ipv6NoEgress(c *routes.Scope) []check.Finding {
	list := slices.Clone(c.Unreadable)
	for _, l := range c.Tables {
		list = append(list, ipv6(c, l)...)
	}
	return list
}

// ipv6 judges a table: first each subnet's range, then the way out of those that
// have one. A VPC that reaches all it needs by endpoints needs none.
func ipv6(c *routes.Scope, l routes.Table) []check.Finding {
	if !c.S.Cluster.IPv6 || l.ReadyNode != "" {
		return []check.Finding{l.Pass()}
	}
	var list []check.Finding
	with := l
	with.Subnets = nil
	for _, s := range l.Subnets {
		if len(s.IPv6) > 0 || readyIn(c, routes.Table{Subnets: []snapshot.Subnet{s}}) {
			with.Subnets = append(with.Subnets, s)
			continue
		}
		list = append(list, noIPv6Range(c, l, s))
	}
	if len(with.Subnets) == 0 {
		return list
	}
	w := c.Net.Internet6(with.Subnets[0].ID)
	switch {
	case len(l.Outside()) == 0, readyIn(c, with):
		return append(list, with.Pass())
	case w.Good():
		f := with.Pass()
		f.Evidence = []check.Evidence{{What: "IPv6 route to the internet", Value: w.String()}}
		return append(list, f)
	case w.Verdict == path.BlockedPublicAccess:
		return append(list, with.Pass()) // route/blocked-public-access
	case w.Verdict == path.LeavesView:
		return append(list, routes.BeyondView(with, w))
	}
	return append(list, noIPv6Way(c, with, w))
}

// readyIn reports whether a table has a Ready node: joining needs no more there than
// there is.
func readyIn(c *routes.Scope, l routes.Table) bool {
	return slices.ContainsFunc(l.IDs(), func(subnet string) bool {
		return slices.ContainsFunc(c.RunningBySubnet[subnet], func(i *snapshot.Instance) bool { return c.Ready[i.ID] })
	})
}

func noIPv6Range(c *routes.Scope, l routes.Table, s snapshot.Subnet) check.Finding {
	one := l
	one.Subnets = []snapshot.Subnet{s}
	return check.Failed(s.ID, s.ID).Affecting(c.Stranded([]string{s.ID})...).Involving(s.ID, l.Table.ID).
		Titled("%s has no IPv6 range, and the cluster is IPv6", s.ID).
		Because("%s gives its pods IPv6 addresses, and %s has only %s. The network plugin finds no addresses there, and nodes do not become Ready.", c.S.Cluster.Name, s.ID, s.CIDR).
		Showing(one.Evidence()...).
		Noting("IPv6 ranges of "+s.VPC, check.Cidrs(ranges6(c, s.VPC))).
		FixedBy(fixIPv6Range(c, s))
}

func ranges6(c *routes.Scope, vpc string) []netip.Prefix {
	for _, v := range c.S.VPCs {
		if v.ID == vpc {
			return v.IPv6
		}
	}
	return nil
}

// fixIPv6Range gives the subnet the first /64 of its VPC that no subnet has.
func fixIPv6Range(c *routes.Scope, s snapshot.Subnet) check.Fix {
	fix := check.Fix{
		Text:    fmt.Sprintf("Give %s an IPv6 range, then give %s a /64 of it and enable auto-assignment. Then replace the instances.", s.VPC, s.ID),
		Console: c.S.VPCLink("SubnetDetails:subnetId=" + s.ID),
	}
	for _, block := range ranges6(c, s.VPC) {
		free, ok := free64(c, block)
		if !ok {
			continue
		}
		fix.Text = fmt.Sprintf("%s is a free /64 of %s. Then replace the instances.", free, s.VPC)
		fix.Command = shell.All(c.S.AWSCommand("ec2 associate-subnet-cidr-block", "--subnet-id", s.ID, "--ipv6-cidr-block", free),
			c.S.AWSCommand("ec2 modify-subnet-attribute", "--subnet-id", s.ID, "--assign-ipv6-address-on-creation"))
		return fix
	}
	return fix
}

// free64 is the first /64 of a block that overlaps no subnet. A VPC's block is
// a /44 to a /60; of the larger ones the first 256 are looked at.
func free64(c *routes.Scope, block netip.Prefix) (netip.Prefix, bool) {
	if !block.IsValid() || !block.Addr().Is6() || block.Bits() > 64 {
		return netip.Prefix{}, false
	}
	b := block.Masked().Addr().As16()
	for range 256 {
		p := netip.PrefixFrom(netip.AddrFrom16(b), 64)
		if !block.Contains(p.Addr()) {
			break
		}
		if !slices.ContainsFunc(c.S.Subnets, func(s snapshot.Subnet) bool { return slices.ContainsFunc(s.IPv6, p.Overlaps) }) {
			return p, true
		}
		if b[7]++; b[7] == 0 {
			break
		}
	}
	return netip.Prefix{}, false
}

// noIPv6Way is the finding on a table without a route to the internet over IPv6. Where the API
// is reached privately, the rest goes over IPv4 by default,
// and nodes may well join: then it is likely only.
func noIPv6Way(c *routes.Scope, l routes.Table, w path.Way) check.Finding {
	f := check.Failed(l.Table.ID, l.IDs()...).Affecting(c.Stranded(l.IDs())...).Involving(w.Resources()...).
		Titled("%s %s no IPv6 route to the internet", check.Subject(l.IDs(), "subnet"), check.Verb(l.IDs(), "has", "have")).
		Because("%s is an IPv6 cluster, and %s has no IPv6 route out: %s. It has %s.",
			c.S.Cluster.Name, l.Table.ID, w.Reason, routes.Rows(l.Table.Routes)).
		Showing(l.Evidence()...).
		Noting("IPv6 path", w.String()).
		FixedBy(fixIPv6Way(c, l, w))
	if l.API().Means == path.ByPrivateAPI {
		f.Confidence = check.Likely
		f.Why += " Nodes reach the API on its private endpoint, so they need IPv6 only for other services that use it."
	}
	return f
}

// fixIPv6Way leads ::/0 out the way the subnet goes over IPv4: by the internet
// gateway where it is public, else by an egress-only one.
func fixIPv6Way(c *routes.Scope, l routes.Table, w path.Way) check.Fix {
	fix := check.Fix{Console: c.S.RouteTableLink(l.Table.ID)}
	if mode := c.Net.Mode(l.Subnets[0].ID, l.Table.VPC).Mode; mode == snapshot.BlockBidirectional {
		fix.Text = fmt.Sprintf("A route for ::/0 alone does not help: VPC Block Public Access (%s) drops the traffic of %s. Exclude it with allow-egress, then point ::/0 of %s to an egress-only internet gateway.", mode, check.Some(l.IDs(), 3), l.Table.ID)
		return fix
	}
	action := "create-route"
	if !routes.Rowless(w) && path.Destination(w.Row) == "::/0" {
		action = "replace-route"
	}
	if igw, attached := c.Net.Gateway(l.Table.VPC); attached && l.Internet.Verdict == path.NeedsPublicIP {
		fix.Text = fmt.Sprintf("%s is attached to %s", igw.ID, l.Table.VPC)
		fix.Command = c.S.SetRoute6(action, l.Table.ID, "--gateway-id", igw.ID)
		return fix
	}
	i := slices.IndexFunc(c.S.EgressOnly, func(g snapshot.EgressOnlyGateway) bool { return slices.Contains(g.Attached, l.Table.VPC) })
	switch {
	case i >= 0:
		fix.Text = fmt.Sprintf("%s is attached to %s", c.S.EgressOnly[i].ID, l.Table.VPC)
		fix.Command = c.S.SetRoute6(action, l.Table.ID, "--egress-only-internet-gateway-id", c.S.EgressOnly[i].ID)
	case !c.S.Has(snapshot.EgressOnly):
		fix.Text = fmt.Sprintf("Point ::/0 of %s to an egress-only internet gateway of %s. The existing ones could not be read.", l.Table.ID, l.Table.VPC)
	default:
		fix.Text = fmt.Sprintf("%s has no egress-only internet gateway. Create one, then point ::/0 of %s to it.", l.Table.VPC, l.Table.ID)
		fix.Command = c.S.AWSCommand("ec2 create-egress-only-internet-gateway", "--vpc-id", l.Table.VPC)
	}
	return fix
}

// LeavesView never fails: that a way cannot be followed is no fault of the
// network. It is Unknown once for each hop, and names it.
func leavesViewFinding(c *routes.Scope) []check.Finding {
	list := slices.Clone(c.Unreadable)
	var away []check.Finding
	for _, l := range c.Tables {
		var hops []check.Finding
		for _, p := range l.Paths {
			if p.Verdict != path.LeavesView || l.ReadyNode != "" {
				continue
			}
			f := routes.BeyondView(l, p.Way)
			f.Evidence = check.Walked(l.Paths)
			if !slices.ContainsFunc(hops, func(o check.Finding) bool { return o.Resource == f.Resource }) {
				hops = append(hops, f)
			}
		}
		if len(hops) == 0 {
			f := l.Pass()
			f.Evidence = check.Walked(l.Paths)
			if w, leaves := l.Away(); leaves {
				f = f.Notingf(l.ReadyNode, "is a Ready node: what is behind %s works", w.At)
			}
			list = append(list, f)
			continue
		}
		for _, f := range hops {
			away = merge(away, f)
		}
	}
	return append(list, away...)
}

// merge adds an Unknown; what is unknown for one reason at one hop is one.
func merge(list []check.Finding, f check.Finding) []check.Finding {
	i := slices.IndexFunc(list, func(o check.Finding) bool { return o.Resource == f.Resource && slices.Equal(o.Blocked, f.Blocked) })
	if i < 0 {
		return append(list, f)
	}
	list[i].Covers = append(list[i].Covers, f.Covers...)
	list[i].Title = check.Title("%s: path cannot be followed beyond %s", check.Subject(list[i].Covers, "subnet"), f.Resource)
	return list
}
