package route

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func anyWay(path.Way) bool { return true }

// noEgressExempt is the finding on a table without a route to the internet that is no fault.
func noEgressExempt(c *routes.Scope, l routes.Table) (check.Finding, bool) {
	if some := c.Endpointed(l.Table.VPC); len(some) > 0 && routes.Rowless(l.Internet) {
		// Private by design: endpoint/* names what is missing.
		f := l.Pass()
		f.Evidence = []check.Evidence{{What: l.Table.VPC, Value: "has endpoints for " + check.And(path.Names(some))}}
		return f, true
	}
	if doubt := c.Doubt(l); doubt != "" {
		return c.Exempt(l, doubt)
	}
	return check.Finding{}, false
}

func noEgressFinding(c *routes.Scope, fault wayFault) check.Finding {
	l, subnets := fault.routeTables[0], fault.subnets()
	f := check.Failed(fault.id, subnets...).Affecting(c.Stranded(subnets)...).
		Involving(append([]string{l.Table.ID}, subnets...)...).
		Titled("%s %s no route to the internet", check.Subject(subnets, "subnet"), check.Verb(subnets, "has", "have")).
		Showing(fault.evidence()...)
	if slices.ContainsFunc(fault.routeTables, func(l routes.Table) bool { return c.Doubt(l) != "" }) {
		f.Confidence = check.Likely
	}
	against := c.Counter(l)
	if against != "" {
		f.Confidence = check.Possible
		f = f.Noting(against, "is a Ready node in the same subnets: it reaches what it needs, perhaps through a proxy")
	}
	if routes.Rowless(l.Internet) {
		f.Why = whyNoEgress(c, l, l.Outside())
		f.Fix = fixNoEgress(c, l)
		return f
	}
	return wrongWay(c, f, fault)
}

// wrongWay completes the finding on tables whose default route leads somewhere
// that is no way to the internet: a peering connection, a transit gateway
// whose table has no row for it, a VPC whose answers do not come back.
func wrongWay(c *routes.Scope, f check.Finding, fault wayFault) check.Finding {
	l, way := fault.routeTables[0], fault.way.Way
	f.Resources = way.Resources()
	f.Why = fmt.Sprintf("%s sends %s to %s, but %s. Nodes must reach %s.",
		check.Some(fault.tables(), 3), path.Destination(way.Row), way.Row.Target.ID, way.Reason, check.And(path.Names(fault.lost())))
	if doubt := c.Doubt(l); doubt != "" {
		f.Why += fmt.Sprintf(" Nothing more is visible: %s.", doubt)
	}
	if fault.id == l.Table.ID {
		f.Fix = leadElsewhere(c, l, fault.way)
		return f
	}
	f.Fix = check.Fix{
		Text:    fmt.Sprintf("Add the missing route in %s, or point %s of %s elsewhere.", fault.id, path.Destination(way.Row), check.Some(fault.tables(), 3)),
		Console: c.S.AnyRouteTableLink(fault.id),
	}
	return f
}

func whyNoEgress(c *routes.Scope, l routes.Table, outside []path.Service) string {
	where := l.Table.ID
	if l.Table.Fallback {
		where += ", the VPC's main table,"
	} else if zones := l.Zones(); len(zones) > 0 {
		where += " (" + check.Some(zones, 3) + ")"
	}
	has := "has no routes"
	switch n := len(l.Table.Routes); {
	case n == 1:
		has = "has only " + path.Row(l.Table.Routes[0])
	case n > 1 && n <= 4:
		list := make([]string, n)
		for i, r := range l.Table.Routes {
			list[i] = path.Row(r)
		}
		has = "has only " + check.And(list)
	case n > 4:
		has = fmt.Sprintf("has %d routes and none for 0.0.0.0/0", n)
	}
	why := fmt.Sprintf("%s %s. Nodes must reach %s; this VPC has no endpoints for them.", where, has, check.And(path.Names(outside)))
	if len(l.Inside()) > 0 {
		// Only the cluster API can be inside: there are no endpoints.
		why += " Only the cluster API is reachable, on its private endpoint."
	}
	if doubt := c.Doubt(l); doubt != "" {
		why += fmt.Sprintf(" Nothing more is visible: %s.", doubt)
	}
	return why
}

// fixNoEgress adds the default route, but not to a main table on which other
// subnets may rely: a subnet that only fell back to it is better associated
// with the table of its siblings.
func fixNoEgress(c *routes.Scope, l routes.Table) check.Fix {
	if l.Table.Fallback {
		if other, ok := sibling(c, l.Table, l.Zones()); ok {
			var commands []string
			for _, id := range l.IDs() {
				commands = append(commands, c.S.AWSCommand("ec2 associate-route-table", "--route-table-id", other.ID, "--subnet-id", id))
			}
			return check.Fix{
				Text:    fmt.Sprintf("%s: has a route to the internet, and %s uses it; %s has no association of its own", other.ID, other.Subnets[0], check.Subject(l.IDs(), "subnet")),
				Command: check.JoinCommands(commands),
				Console: c.S.RouteTableLink(other.ID),
			}
		}
	}
	fix := WayOut(c, l, "create-route", "")
	if l.Table.Main && fix.Command != "" {
		fix.Text += fmt.Sprintf(". %s is the main table: every subnet without an association of its own uses it", l.Table.ID)
	}
	return fix
}

const AddNATRoute = "add-nat-route"

// ToNAT is the best NAT gateway of a VPC that works, and why it is the best.
func ToNAT(c *routes.Scope, vpc string, zones []string, not string) (nat snapshot.NATGateway, why string, ok bool) {
	zone := ""
	if len(zones) > 0 {
		zone = zones[0]
	}
	for _, nat := range c.Net.WorkingNATs(vpc, zone) {
		switch {
		case nat.ID == not:
			continue
		case nat.RouteTable != "":
			return nat, nat.ID + ": available, regional", true
		case slices.Equal(zones, []string{nat.Zone}):
			return nat, nat.ID + ": available, same zone", true
		case nat.Zone == "":
			return nat, nat.ID + ": available", true
		}
		return nat, fmt.Sprintf("%s: available, in %s", nat.ID, nat.Zone), true
	}
	return snapshot.NATGateway{}, "", false
}

// sibling is another route table of the VPC whose way out works for subnets
// without public addresses, and which other subnets are associated with.
func sibling(c *routes.Scope, t path.Table, zones []string) (path.Table, bool) {
	var found path.Table
	for _, other := range c.S.RouteTables {
		if other.VPC != t.VPC || other.ID == t.ID || len(other.Subnets) == 0 {
			continue
		}
		subnet, ok := c.Net.Subnet(other.Subnets[0])
		if !ok || c.Net.Internet(subnet.ID).Verdict != path.Reaches {
			continue
		}
		if found.ID == "" || slices.Contains(zones, subnet.Zone) && !serves(c, found, zones) {
			found = path.Table{RouteTable: other}
		}
	}
	return found, found.ID != ""
}

// serves reports whether a table has a subnet in one of the zones.
func serves(c *routes.Scope, t path.Table, zones []string) bool {
	return slices.ContainsFunc(t.Subnets, func(id string) bool {
		subnet, ok := c.Net.Subnet(id)
		return ok && slices.Contains(zones, subnet.Zone)
	})
}

// WayOut is the fix for a table that needs a working default route. Action is
// "create-route" or "replace-route".
func WayOut(c *routes.Scope, l routes.Table, action, not string) check.Fix {
	fix := check.Fix{Console: c.S.RouteTableLink(l.Table.ID)}
	if nat, why, ok := ToNAT(c, l.Table.VPC, l.Zones(), not); ok {
		fix.Text = why
		fix.Command = c.S.SetRoute(action, l.Table.ID, "0.0.0.0/0", "--nat-gateway-id", nat.ID)
		if action == "create-route" {
			fix.Remedy = AddNATRoute
		}
		return fix
	}
	mode := c.Net.Mode(l.Subnets[0].ID, l.Table.VPC).Mode
	blocked := mode != "" && mode != snapshot.BlockOff
	igw, attached := c.Net.Gateway(l.Table.VPC)
	if attached && !blocked && !slices.ContainsFunc(l.Subnets, func(s snapshot.Subnet) bool { return !s.AssignPublicIP }) {
		fix.Text = fmt.Sprintf("%s is attached to %s, and %s public addresses", igw.ID, l.Table.VPC, check.Subject(l.IDs(), "subnet")+check.Verb(l.IDs(), " gives", " give"))
		fix.Command = c.S.SetRoute(action, l.Table.ID, "0.0.0.0/0", "--gateway-id", igw.ID)
		return fix
	}
	fix.Text = fmt.Sprintf("%s has no working NAT gateway. Create one in a public subnet and point 0.0.0.0/0 of %s to it, or create VPC endpoints for what nodes need.", l.Table.VPC, l.Table.ID)
	if mode := c.Net.Mode("", l.Table.VPC).Mode; mode == snapshot.BlockBidirectional {
		fix.Text = fmt.Sprintf("A route to the internet does not help: VPC Block Public Access (%s) drops the traffic of %s. Create VPC endpoints for what nodes need, or exclude a subnet with a NAT gateway (allow-egress) and point 0.0.0.0/0 of %s there.", mode, l.Table.VPC, l.Table.ID)
	} else if !c.S.Has(snapshot.NATGateways) {
		fix.Text = fmt.Sprintf("Point 0.0.0.0/0 of %s to a working NAT gateway. The existing ones could not be read.", l.Table.ID)
	}
	return fix
}

// byInterface is a way whose first hop is an interface, or is not known.
func byInterface(w path.Way) bool {
	return routes.Rowless(w) || w.Row.Target.Kind == snapshot.ToInterface
}

func natInstanceFinding(c *routes.Scope, f wayFault) check.Finding {
	subnets := f.subnets()
	return check.Failed(f.id, subnets...).Affecting(c.Stranded(subnets)...).Involving(f.way.Resources()...).
		Titled("%s forwards nothing", f.id).
		Because("The default route of %s points to %s, but %s. Nodes in %s cannot reach %s.",
			check.Some(f.tables(), 3), f.id, f.way.Reason, check.Some(subnets, 3), check.And(path.Names(f.lost()))).
		Showing(f.evidence()...).
		Showing(forwarderSeen(c, f.id)...).
		FixedBy(fixForwarder(c, f))
}

// forwards are the interface and the instance that a row leads to, as far as
// they were read.
func forwards(c *routes.Scope, id string) (snapshot.Interface, snapshot.Instance) {
	var e snapshot.Interface
	if i := slices.IndexFunc(c.S.Interfaces, func(e snapshot.Interface) bool { return e.ID == id }); i >= 0 {
		e = c.S.Interfaces[i]
	}
	for _, in := range c.S.Instances {
		if in.ID == id || in.ID == e.Instance && e.Instance != "" || slices.Contains(in.Interfaces, id) {
			return e, in
		}
	}
	return e, snapshot.Instance{}
}

func forwarderSeen(c *routes.Scope, id string) []check.Evidence {
	var list []check.Evidence
	e, i := forwards(c, id)
	if e.ID != "" {
		sourceCheck := "off"
		if e.SourceCheck {
			sourceCheck = "on"
		}
		value := fmt.Sprintf("%s, source/destination check %s", e.Status, sourceCheck)
		if e.Instance != "" {
			value += ", attached to " + e.Instance
		}
		list = append(list, check.Evidence{What: e.ID, Value: value})
	}
	if i.ID != "" {
		list = append(list, check.Evidence{What: i.ID, Value: i.State})
	}
	return list
}

// fixForwarder undoes what keeps the instance from forwarding: what is stopped
// is started first.
func fixForwarder(c *routes.Scope, f wayFault) check.Fix {
	e, i := forwards(c, f.id)
	instance := e.Instance
	if i.ID != "" {
		instance = i.ID
	}
	stopped := i.State == "stopped" || i.State == "" && !e.SourceCheck && instance != ""
	fix := check.Fix{Console: c.S.EC2Link("NetworkInterface:networkInterfaceId=" + f.id)}
	if strings.HasPrefix(f.id, "i-") {
		fix.Console = c.S.EC2Link("InstanceDetails:instanceId=" + f.id)
	}
	switch {
	case stopped:
		fix.Text = fmt.Sprintf("Start %s. A NAT gateway in its place cannot be stopped.", instance)
		fix.Command = c.S.AWSCommand("ec2 start-instances", "--instance-ids", instance)
	case e.SourceCheck:
		fix.Text = "Turn the source/destination check off, if the instance is meant to forward."
		fix.Command = c.S.AWSCommand("ec2 modify-network-interface-attribute", "--network-interface-id", e.ID, "--no-source-dest-check")
	case i.SourceCheck:
		fix.Text = "Turn the source/destination check off, if the instance is meant to forward."
		fix.Command = c.S.AWSCommand("ec2 modify-instance-attribute", "--instance-id", i.ID, "--no-source-dest-check")
	default:
		return leadElsewhere(c, f.routeTables[0], f.way)
	}
	return fix
}

func rowlessOrNAT(w path.Way) bool { return routes.Rowless(w) || byNAT(w) }

func natNoInternetFinding(c *routes.Scope, f wayFault) check.Finding {
	nat, _ := c.Net.NAT(f.id)
	ids := f.subnets()
	said := check.Failed(f.id, ids...).Affecting(c.Stranded(ids)...).Involving(f.way.Resources()...).
		Titled("%s has no route to the internet", f.id).
		Because("%s is available in %s, but %s. Nodes in %s cannot reach %s.",
			f.id, nat.Subnet, f.way.Reason, check.Some(ids, 3), check.And(path.Names(f.lost()))).
		Showing(f.evidence()...).
		FixedBy(fixStuckNAT(c, f, nat))
	if table, ok := c.Net.Table(nat.Subnet); ok && len(said.Evidence) > 0 {
		said.Evidence = slices.Insert(said.Evidence, 0, check.Evidence{
			What: fmt.Sprintf("Routes of %s, the table of %s", table.ID, nat.Subnet), Value: routes.Rows(table.Routes),
		})
	}
	return said
}

// fixStuckNAT gives the gateway's subnet a way to the internet gateway. A
// table that other subnets use too is left alone: they may rely on it.
func fixStuckNAT(c *routes.Scope, f wayFault, nat snapshot.NATGateway) check.Fix {
	fix := check.Fix{Console: c.S.VPCLink("NatGatewayDetails:natGatewayId=" + f.id)}
	table, known := c.Net.Table(nat.Subnet)
	igw, attached := c.Net.Gateway(nat.VPC)
	public, other := publicTable(c, nat.VPC)
	switch mode := c.Net.Mode(nat.Subnet, nat.VPC).Mode; {
	case mode == snapshot.BlockBidirectional:
		fix.Text = fmt.Sprintf("Point 0.0.0.0/0 of %s to an internet gateway, and exclude %s from VPC Block Public Access (%s) with allow-egress, which otherwise drops the traffic.", table.ID, nat.Subnet, mode)
	case !known || !attached:
		fix.Text = fmt.Sprintf("Attach an internet gateway to %s, and point 0.0.0.0/0 of the table of %s to it.", nat.VPC, nat.Subnet)
	case table.Fallback && other:
		fix.Text = fmt.Sprintf("%s: points to %s; %s has no association of its own", public.ID, igw.ID, nat.Subnet)
		fix.Command = c.S.AWSCommand("ec2 associate-route-table", "--route-table-id", public.ID, "--subnet-id", nat.Subnet)
	case !table.Fallback && slices.Equal(table.Subnets, []string{nat.Subnet}):
		fix.Text = fmt.Sprintf("%s: attached to %s; only %s uses %s", igw.ID, nat.VPC, nat.Subnet, table.ID)
		fix.Command = c.S.SetRoute(setRoute(table.Routes, "0.0.0.0/0"), table.ID, "0.0.0.0/0", "--gateway-id", igw.ID)
	default:
		fix.Text = fmt.Sprintf("Associate %s with its own table whose 0.0.0.0/0 points to %s. Other subnets use %s too, so do not change that.", nat.Subnet, igw.ID, table.ID)
	}
	return fix
}

// publicTable is a table of the VPC that leads to its internet gateway.
func publicTable(c *routes.Scope, vpc string) (snapshot.RouteTable, bool) {
	for _, t := range c.S.RouteTables {
		if t.VPC != vpc || len(t.Subnets) == 0 {
			continue
		}
		if _, known := c.Net.Subnet(t.Subnets[0]); known && c.Net.Internet(t.Subnets[0]).Verdict == path.NeedsPublicIP {
			return t, true
		}
	}
	return snapshot.RouteTable{}, false
}

// setRoute is the action that sets a table's route for a destination.
func setRoute(list []snapshot.Route, destination string) string {
	if slices.ContainsFunc(list, func(r snapshot.Route) bool { return path.Destination(r) == destination }) {
		return "replace-route"
	}
	return "create-route"
}

func natUnusable(c *routes.Scope) []check.Finding {
	open := func(w path.Way) bool { return maySpareNAT(c, w) }
	return wayCheck{fault: path.NATUnusable, id: atEnd, open: open, say: natUnusableFinding}.findings(c)
}

// maySpareNAT reports whether a way that leaves what is read may still end at an
// unusable NAT gateway. A public one that is available is usable, wherever it
// leads.
func maySpareNAT(c *routes.Scope, w path.Way) bool {
	nat, seen := c.Net.NAT(w.Row.Target.ID)
	return routes.Rowless(w) || byNAT(w) && !(seen && nat.Public)
}

func natUnusableFinding(c *routes.Scope, f wayFault) check.Finding {
	nat, _ := c.Net.NAT(f.id)
	state := path.NATState(nat.State)
	if nat.State == "available" {
		state = "is private and has no path to the internet"
	}
	ids := f.subnets()
	return check.Failed(f.id, ids...).Affecting(c.Stranded(ids)...).Involving(f.way.Resources()...).
		Titled("%s %s", f.id, state).
		Because("%s %s %s to %s, but %s. Nodes in %s cannot reach %s.",
			check.Some(f.tables(), 3), check.Verb(f.tables(), "sends", "send"), path.Destination(f.way.Row), f.way.Row.Target.ID,
			check.Clip(f.way.Reason), check.Some(ids, 3), check.And(path.Names(f.lost()))).
		Showing(f.evidence()...).
		FixedBy(fixNAT(c, f, nat))
}

func fixNAT(c *routes.Scope, f wayFault, nat snapshot.NATGateway) check.Fix {
	fix := check.Fix{Console: c.S.VPCLink("NatGatewayDetails:natGatewayId=" + f.id)}
	var commands []string
	for _, l := range f.routeTables {
		other, why, ok := ToNAT(c, l.Table.VPC, l.Zones(), f.id)
		if !ok {
			break
		}
		fix.Text = why
		commands = append(commands, c.S.SetRoute("replace-route", l.Table.ID, path.Destination(f.way.Row), "--nat-gateway-id", other.ID))
	}
	switch {
	case nat.State == "pending":
		return check.Fix{Text: "Wait: a new NAT gateway takes a few minutes to become available. Nodes that miss their join time then need replacing.", Console: fix.Console}
	case len(commands) == len(f.routeTables):
		fix.Command = check.JoinCommands(commands)
	default:
		fix.Text = fmt.Sprintf("Create a new public NAT gateway in a public subnet, and point %s of %s to it. No other NAT gateway of %s works.", path.Destination(f.way.Row), check.Some(f.tables(), 3), nat.VPC)
	}
	return fix
}

func detachedFinding(c *routes.Scope, f wayFault) check.Finding {
	subnets, vpc := f.subnets(), vpcOf(c, inTable(f.routeTables[0], f.way), f.routeTables[0])
	var attached []string
	for _, igw := range c.S.InternetGateways {
		if igw.ID == f.id {
			attached = igw.Attached
		}
	}
	where := "to no VPC"
	if len(attached) > 0 {
		where = "to " + check.And(attached)
	}
	return check.Failed(f.id, subnets...).Affecting(c.Stranded(subnets)...).Involving(f.way.Resources()...).
		Titled("%s is not attached to %s", f.id, vpc).
		Because("%s points to %s, which is attached %s. Nodes in %s cannot reach %s.",
			inTable(f.routeTables[0], f.way), f.id, where, check.Some(subnets, 3), check.And(path.Names(f.lost()))).
		Showing(f.evidence()...).
		Noting(f.id, "attached "+where).
		FixedBy(fixDetached(c, f, attached))
}

// fixDetached attaches a gateway that no VPC uses, where the VPC has no
// other: a VPC can have one (VPC quotas), so a second one cannot be attached.
func fixDetached(c *routes.Scope, f wayFault, attached []string) check.Fix {
	table := inTable(f.routeTables[0], f.way)
	vpc := vpcOf(c, table, f.routeTables[0])
	fix := check.Fix{Console: c.S.VPCLink("InternetGateway:internetGatewayId=" + f.id)}
	other, has := c.Net.Gateway(vpc)
	switch {
	case has:
		fix.Text = fmt.Sprintf("%s is attached to %s", other.ID, vpc)
		fix.Command = c.S.SetRoute("replace-route", table, destinationTo(c, table, f), "--gateway-id", other.ID)
	case len(attached) == 0:
		fix.Text = fmt.Sprintf("%s has no other internet gateway, and no other VPC uses %s", vpc, f.id)
		fix.Command = c.S.AWSCommand("ec2 attach-internet-gateway", "--internet-gateway-id", f.id, "--vpc-id", vpc)
	default:
		fix.Text = fmt.Sprintf("Create an internet gateway, attach it to %s, and point %s of %s to it. %s belongs to %s: leave it there.", vpc, destinationTo(c, table, f), table, f.id, check.And(attached))
	}
	return fix
}

// vpcOf is the VPC of the table that leads to the gateway: behind a transit
// gateway it is not the nodes'.
func vpcOf(c *routes.Scope, table string, l routes.Table) string {
	for _, t := range c.S.RouteTables {
		if t.ID == table {
			return t.VPC
		}
	}
	return l.Table.VPC
}

// destinationTo is the row of a table that leads to what ends the way.
func destinationTo(c *routes.Scope, table string, f wayFault) string {
	for _, t := range c.S.RouteTables {
		if t.ID != table {
			continue
		}
		if i := slices.IndexFunc(t.Routes, func(r snapshot.Route) bool { return r.Target.ID == f.way.At && r.PrefixList == "" }); i >= 0 {
			return path.Destination(t.Routes[i])
		}
	}
	return "0.0.0.0/0"
}

func igwNoPublicIP(c *routes.Scope) []check.Finding {
	var list []check.Finding
	list = append(list, c.Unreadable...)
	for _, l := range c.Tables {
		list = append(list, publicAddresses(c, l)...)
	}
	return list
}

func publicAddresses(c *routes.Scope, l routes.Table) []check.Finding {
	if w, away := l.Open(); away && routes.Rowless(w) {
		return []check.Finding{routes.BeyondView(l, w)}
	}
	if len(l.Outside()) == 0 || l.Internet.Verdict != path.NeedsPublicIP {
		return []check.Finding{l.Pass()}
	}
	var list []check.Finding
	for _, subnet := range l.Subnets {
		if f, judged := publicAddress(c, l, subnet); judged {
			list = append(list, f)
		}
	}
	return list
}

// publicAddress judges one subnet by its running instances: what they have
// counts, whatever the subnet's setting is, as a launch template overrides it.
// Where there is none, a subnet that assigns addresses is well, and of one that
// does not it is not known what the launch template does. An instance that is
// still pending may not show its address yet, and says nothing. In an IPv6
// cluster a way out over IPv6 may do.
func publicAddress(c *routes.Scope, l routes.Table, subnet snapshot.Subnet) (check.Finding, bool) {
	var without, waiting []string
	with := 0
	for _, i := range c.RunningBySubnet[subnet.ID] {
		switch {
		case i.PublicIP.IsValid():
			with++
		case i.State == "pending":
			waiting = append(waiting, i.ID)
		default:
			without = append(without, i.ID)
		}
	}
	if with == 0 && len(without) == 0 && len(waiting) == 0 {
		without = neverHad(c, subnet)
	}
	setting := "does not assign them"
	if subnet.AssignPublicIP {
		setting = "assigns them"
	}
	switch {
	case len(without) > 0:
	case with > 0, len(waiting) == 0 && subnet.AssignPublicIP:
		return check.Passed(subnet.ID, subnet.ID).
			Notingf(subnet.ID, "%s; public addresses: the subnet %s, %d instances have one", path.Row(l.Internet.Row), setting, with), true
	case len(waiting) > 0:
		return check.Finding{}, false
	default:
		return unsettled(c, subnet, "no instance runs there, and what the launch template assigns is not read"), true
	}
	if c.S.Cluster.IPv6 && slices.ContainsFunc(l.Table.Routes, routes.SixOut) {
		return unsettled(c, subnet, "the nodes may reach the internet over IPv6"), true
	}
	if l.Proven() {
		f := l.Works()
		f.Resource, f.Covers = subnet.ID, []string{subnet.ID}
		return f, true
	}
	one := routes.Table{S: l.S, Table: l.Table, Subnets: []snapshot.Subnet{subnet}, Paths: l.Paths, Internet: l.Internet}
	f := check.Failed(subnet.ID, subnet.ID).Affecting(c.Stranded([]string{subnet.ID})...).
		Involving(l.Internet.Resources()...).
		Titled("%s gives its nodes no public address", subnet.ID).
		Because("%s sends 0.0.0.0/0 to %s, which serves public addresses only, and %s does not assign them. Nodes cannot reach %s.",
			l.Table.ID, l.Internet.At, subnet.ID, check.And(path.Names(l.Outside()))).
		Showing(one.Evidence()...).
		Noting("Public addresses", subnet.ID+" "+setting).
		FixedBy(fixPublicAddress(c, l, subnet))
	f.Instances = slices.DeleteFunc(f.Instances, func(id string) bool { return !slices.Contains(without, id) })
	f.Evidence[len(f.Evidence)-1].Value += fmt.Sprintf("; none on %s", check.Some(without, 5))
	if l.ReadyNode != "" {
		f.Confidence = check.Likely
	}
	if subnet.AssignPublicIP {
		f.Title = check.Title("instances in %s have no public address", subnet.ID)
		f.Why = fmt.Sprintf("%s sends 0.0.0.0/0 to %s, which serves public addresses only. %s assigns them, but the launch template's network interface turns that off: %s %s none. Nodes cannot reach %s.",
			l.Table.ID, l.Internet.At, subnet.ID, check.Some(without, 3), check.Verb(without, "has", "have"), check.And(path.Names(l.Outside())))
	}
	return f, true
}

// neverHad are the instances that ended and, by their launch template and the
// subnet's setting, never had a public address; EC2 forgets it when they end.
// Nil when that is not sure of all of them.
func neverHad(c *routes.Scope, subnet snapshot.Subnet) []string {
	for _, i := range c.TerminatedBySubnet[subnet.ID] {
		t, known := c.Template(i)
		if !known || t.PublicIP == "true" || t.PublicIP == "" && subnet.AssignPublicIP {
			return nil
		}
	}
	return check.IDs(c.TerminatedBySubnet[subnet.ID])
}

// unsettled is the Unknown for a subnet whose public addresses cannot be judged.
func unsettled(c *routes.Scope, subnet snapshot.Subnet, why string) check.Finding {
	return check.Unread(subnet.ID, []string{subnet.ID}, check.NotRead(snapshot.Instances, "%s: %s", subnet.ID, why))
}

func fixPublicAddress(c *routes.Scope, l routes.Table, subnet snapshot.Subnet) check.Fix {
	fix := check.Fix{Console: c.S.VPCLink("SubnetDetails:subnetId=" + subnet.ID)}
	if subnet.AssignPublicIP {
		fix.Text = "Set AssociatePublicIpAddress to true in the launch template's network interface, or remove the interface from it; then replace the instances."
		return fix
	}
	fix.Text = fmt.Sprintf("Then replace the instances. If %s is meant to be private, associate it with a table that points to a NAT gateway instead.", subnet.ID)
	if other, ok := sibling(c, l.Table, []string{subnet.Zone}); ok {
		fix.Text = fmt.Sprintf("Then replace the instances. If %s is meant to be private, associate it with %s, which points to a NAT gateway, instead.", subnet.ID, other.ID)
	}
	fix.Command = c.S.AWSCommand("ec2 modify-subnet-attribute", "--subnet-id", subnet.ID, "--map-public-ip-on-launch")
	return fix
}

// overIPv6 settles a table that reaches a dual-stack endpoint over IPv6. Clients
// that are refused there try IPv4 too, so only an admission settles it.
func overIPv6(c *routes.Scope, l routes.Table) (check.Finding, bool) {
	if !c.S.Cluster.IPv6 || !dualStack(c.S.Cluster.Endpoint) || len(l.Subnets) == 0 {
		return check.Finding{}, false
	}
	w := c.Net.Internet6(l.Subnets[0].ID)
	open, partly := true, false
	for _, s := range l.Subnets {
		for _, block := range s.IPv6 {
			inside := slices.ContainsFunc(c.S.Cluster.PublicAccessCIDRs, func(p netip.Prefix) bool { return p.Bits() <= block.Bits() && p.Overlaps(block) })
			open = open && inside
			partly = partly || slices.ContainsFunc(c.S.Cluster.PublicAccessCIDRs, block.Overlaps)
		}
		open = open && len(s.IPv6) > 0
	}
	switch {
	case w.Good() && open:
		return admittedFinding(c, l), true
	case w.Verdict == path.LeavesView && partly:
		return routes.BeyondView(l, w), true
	case w.Good() && partly:
		return cannotTell(c, l, snapshot.Instances, "only a part of the subnet's IPv6 addresses is allowed"), true
	}
	return check.Finding{}, false
}

// dualStack tells the endpoint of an IPv6 cluster made after October 2024,
// which has IPv6 addresses too (EKS user guide, "Cluster API server endpoint").
func dualStack(endpoint string) bool {
	return strings.Contains(endpoint, ".api.aws") || strings.Contains(endpoint, ".api.amazonwebservices.com.cn")
}

func privateAPIFinding(c *routes.Scope, l routes.Table) check.Finding {
	p := l.API()
	if p.Means != path.ByPrivateAPI || l.Table.VPC == c.S.Cluster.VPC || p.Good() {
		f := l.Pass()
		f.Evidence = []check.Evidence{{What: "Path to " + path.API.Name(), Value: p.String()}}
		return f
	}
	if l.ReadyNode != "" && p.Verdict != path.LeavesView {
		return l.Works() // a Ready node reaches the API, whatever is seen of the way
	}
	if p.Verdict == path.LeavesView {
		return routes.BeyondView(l, p.Way)
	}
	decided := nearest(c, l, p)
	return check.Failed(decided, l.IDs()...).Affecting(c.Stranded(l.IDs())...).Involving(p.Resources()...).
		Titled("%s cannot reach the private API in %s", check.Subject(l.IDs(), "subnet"), c.S.Cluster.VPC).
		Because("%s has only a private endpoint, in %s. The path from %s in %s: %s.",
			c.S.Cluster.Name, c.S.Cluster.VPC, check.Some(l.IDs(), 3), l.Table.VPC, p.Reason).
		Showing(l.Evidence()...).
		FixedBy(fixAPIPrivate(c, l, decided))
}

// nearest is the table that decided, if it belongs to the nodes' VPC or to a
// transit gateway: what a NAT gateway's subnet does with private addresses is
// beside the point.
func nearest(c *routes.Scope, l routes.Table, p path.Path) string {
	for _, t := range c.S.RouteTables {
		if t.ID == p.Table && p.Row.Target.Kind != snapshot.ToTransitGateway && p.Row.Target.Kind != snapshot.ToPeering {
			return l.Table.ID
		}
	}
	return inTable(l, p)
}

// fixAPIPrivate leads the table to a peering connection between the two VPCs,
// if there is one. Where the table leads there already, it is the table that decided
// which must lead back.
func fixAPIPrivate(c *routes.Scope, l routes.Table, decided string) check.Fix {
	fix := check.Fix{Console: c.S.RouteTableLink(decided)}
	theirs := c.S.Cluster.VPC
	for _, p := range c.S.Peerings {
		for _, end := range [][2]snapshot.PeerVPC{{p.Requester, p.Accepter}, {p.Accepter, p.Requester}} {
			if p.State != "active" || end[0].VPC != l.Table.VPC || end[1].VPC != theirs || len(end[0].CIDRs) == 0 || len(end[1].CIDRs) == 0 {
				continue
			}
			table, to := l.Table.ID, end[1].CIDRs[0].String()
			fix.Text = fmt.Sprintf("%s connects %s and %s. The tables of the cluster's subnets must route back through it too.", p.ID, l.Table.VPC, theirs)
			if decided != table && leadsBy(l.Table.Routes, p.ID) {
				table, to = decided, end[0].CIDRs[0].String()
				fix.Text = fmt.Sprintf("%s routes to %s through %s. The route back is missing: %s must point %s to it.", l.Table.ID, theirs, p.ID, table, to)
			}
			fix.Command = c.S.SetRoute(setRoute(routesOf(c, table), to), table, to, "--vpc-peering-connection-id", p.ID)
			return fix
		}
	}
	fix.Text = fmt.Sprintf("Connect %s and %s by peering or a transit gateway, with routes both ways, or enable the cluster's public endpoint.", l.Table.VPC, theirs)
	return fix
}

// leadsBy reports whether a table has a route to a peering connection that works.
func leadsBy(list []snapshot.Route, peering string) bool {
	return slices.ContainsFunc(list, func(r snapshot.Route) bool { return r.Target.ID == peering && r.State == "active" })
}

func routesOf(c *routes.Scope, table string) []snapshot.Route {
	for _, t := range c.S.RouteTables {
		if t.ID == table {
			return t.Routes
		}
	}
	return nil
}

// excluded is a table whose addresses the public endpoint does not admit.
type excluded struct {
	table     routes.Table
	from      []string // addresses, as CIDRs
	instances []string
	partly    bool // another address of the same gateway is admitted
}

func publicCIDRs(c *routes.Scope) []check.Finding {
	list := slices.Clone(c.Unreadable)
	var out []excluded
	for _, l := range c.Tables {
		f, r := publicCIDR(c, l)
		if r != nil {
			out = append(out, *r)
			continue
		}
		list = append(list, f)
	}
	if len(out) > 0 {
		list = append(list, refusal(c, out))
	}
	return list
}

// publicCIDR judges one table.
func publicCIDR(c *routes.Scope, l routes.Table) (check.Finding, *excluded) {
	cluster := c.S.Cluster
	p := l.API()
	switch {
	case p.Means != path.ByInternet && p.Means != path.ByOwnName, l.ReadyNode != "", p.Verdict != path.LeavesView && !p.Good():
		return admittedFinding(c, l), nil
	case !cluster.EndpointPublic || len(cluster.PublicAccessCIDRs) == 0:
		return cannotTell(c, l, snapshot.Clusters, "EKS does not report the public endpoint's CIDRs"), nil
	case check.Anyone(cluster.PublicAccessCIDRs, false):
		return admittedFinding(c, l), nil
	case p.Verdict == path.LeavesView:
		return routes.BeyondView(l, p.Way), nil
	}
	if f, settled := overIPv6(c, l); settled {
		return f, nil
	}
	if p.Verdict == path.NeedsPublicIP {
		return byOwnAddress(c, l)
	}
	if len(p.From) == 0 {
		return cannotTell(c, l, snapshot.NATGateways, "the source address of the traffic is unknown: "+p.Way.String()), nil
	}
	r := excluded{table: l, instances: c.Stranded(l.IDs())}
	for _, a := range p.From {
		if check.Admits(cluster.PublicAccessCIDRs, a) {
			r.partly = true
			continue
		}
		r.from = append(r.from, check.Host(a))
	}
	if len(r.from) == 0 {
		return admittedFinding(c, l), nil
	}
	return check.Finding{}, &r
}

// byOwnAddress judges a table whose instances leave from their own addresses.
// One that has none is route/igw-no-public-ip.
func byOwnAddress(c *routes.Scope, l routes.Table) (check.Finding, *excluded) {
	r := excluded{table: l}
	admitted := 0
	for _, id := range l.IDs() {
		for _, i := range c.RunningBySubnet[id] {
			switch {
			case !i.PublicIP.IsValid():
			case check.Admits(c.S.Cluster.PublicAccessCIDRs, i.PublicIP):
				admitted++
			case !c.Ready[i.ID]:
				r.from = append(r.from, check.Host(i.PublicIP))
				r.instances = append(r.instances, i.ID)
			}
		}
	}
	switch {
	case len(r.from) > 0:
		return check.Finding{}, &r
	case admitted > 0:
		return admittedFinding(c, l), nil
	}
	return cannotTell(c, l, snapshot.Instances, "no instance there shows the source address"), nil
}

func admittedFinding(c *routes.Scope, l routes.Table) check.Finding {
	f := l.Pass()
	f.Evidence = []check.Evidence{
		{What: "Path to " + path.API.Name(), Value: l.API().String()},
		{What: "publicAccessCidrs", Value: check.Cidrs(c.S.Cluster.PublicAccessCIDRs)},
	}
	return f
}

func cannotTell(c *routes.Scope, l routes.Table, source snapshot.Source, why string) check.Finding {
	return check.Unread(l.Table.ID, l.IDs(), check.NotRead(source, "%s: %s", l.Table.ID, why))
}

// refusal is the finding on all tables that the public endpoint does not admit:
// one list of ranges refuses them all.
func refusal(c *routes.Scope, list []excluded) check.Finding {
	cluster := c.S.Cluster
	f := check.Finding{Outcome: check.Fail, Resource: cluster.Name}
	var from []string
	outside, partly := false, false
	for _, r := range list {
		f.Covers = append(f.Covers, r.table.IDs()...)
		f.Instances = append(f.Instances, r.instances...)
		f.Resources = append(f.Resources, r.table.API().Resources()...)
		f = f.Noting("Path to "+path.API.Name(), r.table.API().String())
		from = append(from, r.from...)
		outside = outside || r.table.Table.VPC != cluster.VPC
		partly = partly || r.partly
	}
	slices.Sort(from)
	from = slices.Compact(from)
	if partly {
		f.Confidence = check.Likely // a gateway with several addresses uses any of them
	}
	f = f.Noting("publicAccessCidrs", check.Cidrs(cluster.PublicAccessCIDRs)).
		Noting("Source address", check.Some(from, 10))
	f.Title = check.Title("the API of %s blocks %s", cluster.Name, check.Some(from, 1))
	f.Why = fmt.Sprintf("Private access is off, so nodes in %s use the public endpoint. Their source address is %s; publicAccessCidrs has only %s.",
		check.Some(f.Covers, 3), check.Some(from, 3), check.Cidrs(cluster.PublicAccessCIDRs))
	if cluster.EndpointPrivate {
		f.Why = fmt.Sprintf("Nodes in %s are outside %s and use the public endpoint. Their source address is %s; publicAccessCidrs has only %s.",
			check.Some(f.Covers, 3), cluster.VPC, check.Some(from, 3), check.Cidrs(cluster.PublicAccessCIDRs))
	}
	f.Fix = fixCIDR(c, from, outside)
	return f
}

// fixCIDR switches on private access, which needs no list of addresses; nodes
// in another VPC have no use for it, and their addresses are added.
func fixCIDR(c *routes.Scope, from []string, outside bool) check.Fix {
	cluster := c.S.Cluster
	fix := check.Fix{Console: fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s", c.S.ConsoleHost(), c.S.Region, cluster.Name)}
	change := "endpointPrivateAccess=true"
	fix.Text = fmt.Sprintf("Private access keeps the nodes' traffic in %s. Or add %s to publicAccessCidrs.", cluster.VPC, check.Some(from, 3))
	if outside {
		all := make([]string, 0, len(cluster.PublicAccessCIDRs)+len(from))
		for _, p := range cluster.PublicAccessCIDRs {
			all = append(all, p.String())
		}
		change = "publicAccessCidrs=" + strings.Join(append(all, from...), ",")
		fix.Text = fmt.Sprintf("Adds %s to the allowed CIDRs.", check.Some(from, 3))
	}
	fix.Command = c.S.AWSCommand("eks update-cluster-config", "--name", cluster.Name, "--resources-vpc-config", change)
	return fix
}
