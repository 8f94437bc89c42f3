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
