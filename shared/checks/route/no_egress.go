package route

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func anyWay(path.Way) bool { return true }

// noEgressExcuse is the finding on a lot without a route to the internet that is not accused.
func noEgressExcuse(c *routes.Scope, l routes.Table) (finding.Finding, bool) {
	if some := c.Endpointed(l.Table.VPC); len(some) > 0 && routes.Rowless(l.Internet) {
		// Private by design: endpoint/* names what is missing.
		f := l.Pass()
		f.Evidence = []finding.Evidence{{What: l.Table.VPC, Value: "has endpoints for " + phrase.And(path.Names(some))}}
		return f, true
	}
	if doubt := c.Doubt(l); doubt != "" {
		return c.Excused(l, doubt)
	}
	return finding.Finding{}, false
}

func noEgressFinding(c *routes.Scope, fault wayFault) finding.Finding {
	l, subnets := fault.lots[0], fault.subnets()
	f := finding.Finding{
		Outcome:   finding.Fail,
		Resource:  fault.id,
		Covers:    subnets,
		Instances: c.Stranded(subnets),
		Resources: append([]string{l.Table.ID}, subnets...),
		Title:     phrase.Title("%s %s no route to the internet", phrase.Subject(subnets, "subnet"), phrase.Verb(subnets, "has", "have")),
		Evidence:  fault.evidence(),
	}
	if slices.ContainsFunc(fault.lots, func(l routes.Table) bool { return c.Doubt(l) != "" }) {
		f.Confidence = finding.Likely
	}
	against := c.Counter(l)
	if against != "" {
		f.Confidence = finding.Possible
		f.Evidence = append(f.Evidence, finding.Evidence{What: against, Value: "is a Ready node in the same subnets: it reaches what it needs, by a proxy perhaps"})
	}
	if routes.Rowless(l.Internet) {
		f.Why = whyNoEgress(c, l, l.Outside())
		f.Fix = fixNoEgress(c, l)
		return f
	}
	return wrongWay(c, f, fault)
}

// wrongWay completes the finding on lots whose default route leads somewhere
// that is no way to the internet: a peering connection, a transit gateway
// whose table has no row for it, a VPC whose answers do not come back.
func wrongWay(c *routes.Scope, f finding.Finding, fault wayFault) finding.Finding {
	l, way := fault.lots[0], fault.way.Way
	f.Resources = way.Resources()
	f.Why = fmt.Sprintf("%s sends %s to %s, but %s. Nodes must reach %s.",
		phrase.Some(fault.tables(), 3), path.Destination(way.Row), way.Row.Target.ID, way.Reason, phrase.And(path.Names(fault.lost())))
	if doubt := c.Doubt(l); doubt != "" {
		f.Why += fmt.Sprintf(" That is all that can be seen: %s.", doubt)
	}
	if fault.id == l.Table.ID {
		f.Fix = leadElsewhere(c, l, fault.way)
		return f
	}
	f.Fix = finding.Fix{
		Text:    fmt.Sprintf("Add the row that is missing in %s, or lead %s of %s elsewhere.", fault.id, path.Destination(way.Row), phrase.Some(fault.tables(), 3)),
		Console: link.AnyRouteTable(c.S, fault.id),
	}
	return f
}

func whyNoEgress(c *routes.Scope, l routes.Table, outside []path.Service) string {
	where := l.Table.ID
	if l.Table.Fallback {
		where += ", the VPC's main table,"
	} else if zones := l.Zones(); len(zones) > 0 {
		where += " (" + phrase.Some(zones, 3) + ")"
	}
	has := "has no rows"
	switch n := len(l.Table.Routes); {
	case n == 1:
		has = "has only " + path.Row(l.Table.Routes[0])
	case n > 1 && n <= 4:
		list := make([]string, n)
		for i, r := range l.Table.Routes {
			list[i] = path.Row(r)
		}
		has = "has only " + phrase.And(list)
	case n > 4:
		has = fmt.Sprintf("has %d rows and none for 0.0.0.0/0", n)
	}
	why := fmt.Sprintf("%s %s. Nodes must reach %s; this VPC has no endpoints for them.", where, has, phrase.And(path.Names(outside)))
	if len(l.Inside()) > 0 {
		// Only the cluster API can be inside: there are no endpoints.
		why += " Only the cluster API is reached privately."
	}
	if doubt := c.Doubt(l); doubt != "" {
		why += fmt.Sprintf(" That is all that can be seen: %s.", doubt)
	}
	return why
}

// fixNoEgress adds the default route, but not to a main table on which other
// subnets may rely: a subnet that only fell back to it is better associated
// with the table of its siblings.
func fixNoEgress(c *routes.Scope, l routes.Table) finding.Fix {
	if l.Table.Fallback {
		if other, ok := sibling(c, l.Table, l.Zones()); ok {
			var commands []string
			for _, id := range l.IDs() {
				commands = append(commands, command.AWS(c.S, "ec2 associate-route-table", "--route-table-id", other.ID, "--subnet-id", id))
			}
			return finding.Fix{
				Text:    fmt.Sprintf("%s: has a route to the internet, and %s uses it; %s has no association of its own", other.ID, other.Subnets[0], phrase.Subject(l.IDs(), "subnet")),
				Command: command.Several(commands),
				Console: link.RouteTable(c.S, other.ID),
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

// serves tells that a table has a subnet in one of the zones.
func serves(c *routes.Scope, t path.Table, zones []string) bool {
	return slices.ContainsFunc(t.Subnets, func(id string) bool {
		subnet, ok := c.Net.Subnet(id)
		return ok && slices.Contains(zones, subnet.Zone)
	})
}

// WayOut is the fix for a table that needs a working default route. Action is
// "create-route" or "replace-route".
func WayOut(c *routes.Scope, l routes.Table, action, not string) finding.Fix {
	fix := finding.Fix{Console: link.RouteTable(c.S, l.Table.ID)}
	if nat, why, ok := ToNAT(c, l.Table.VPC, l.Zones(), not); ok {
		fix.Text = why
		fix.Command = command.Route(c.S, action, l.Table.ID, "0.0.0.0/0", "--nat-gateway-id", nat.ID)
		if action == "create-route" {
			fix.Remedy = AddNATRoute
		}
		return fix
	}
	mode := c.Net.Mode(l.Subnets[0].ID, l.Table.VPC).Mode
	blocked := mode != "" && mode != snapshot.BlockOff
	igw, attached := c.Net.Gateway(l.Table.VPC)
	if attached && !blocked && !slices.ContainsFunc(l.Subnets, func(s snapshot.Subnet) bool { return !s.AssignPublicIP }) {
		fix.Text = fmt.Sprintf("%s is attached to %s, and %s public addresses", igw.ID, l.Table.VPC, phrase.Subject(l.IDs(), "subnet")+phrase.Verb(l.IDs(), " gives", " give"))
		fix.Command = command.Route(c.S, action, l.Table.ID, "0.0.0.0/0", "--gateway-id", igw.ID)
		return fix
	}
	fix.Text = fmt.Sprintf("%s has no NAT gateway that works. Make one in a public subnet and lead 0.0.0.0/0 of %s to it, or make VPC endpoints for what nodes need.", l.Table.VPC, l.Table.ID)
	if mode := c.Net.Mode("", l.Table.VPC).Mode; mode == snapshot.BlockBidirectional {
		fix.Text = fmt.Sprintf("A route to the internet does not help: VPC Block Public Access (%s) drops the traffic of %s. Make VPC endpoints for what nodes need, or exclude a subnet with a NAT gateway (allow-egress) and lead 0.0.0.0/0 of %s there.", mode, l.Table.VPC, l.Table.ID)
	} else if !c.S.Has(snapshot.NATGateways) {
		fix.Text = fmt.Sprintf("Lead 0.0.0.0/0 of %s to a NAT gateway that works. Which there are could not be read.", l.Table.ID)
	}
	return fix
}
