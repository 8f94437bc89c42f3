package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/network/path"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// Remedies (package remedy) that a fix may name.
const (
	addNATRoute            = "add-nat-route"
	deleteLeakedInterfaces = "delete-leaked-interfaces"
)

// console is a link into the VPC console, such as "RouteTableDetails:RouteTableId=rtb-0cd2".
func console(s *View, view string) string {
	return fmt.Sprintf("%s/vpcconsole/home?region=%s#%s", consoleHost(s), s.Region, view)
}

// ec2Console is a link into the EC2 console.
func ec2Console(s *View, view string) string {
	return fmt.Sprintf("%s/ec2/home?region=%s#%s", consoleHost(s), s.Region, view)
}

func consoleHost(s *View) string {
	switch s.Partition {
	case "aws-cn":
		return fmt.Sprintf("https://%s.console.amazonaws.cn", s.Region)
	case "aws-us-gov":
		return fmt.Sprintf("https://%s.console.amazonaws-us-gov.com", s.Region)
	}
	return fmt.Sprintf("https://%s.console.aws.amazon.com", s.Region)
}

func tableLink(s *View, id string) string {
	return console(s, "RouteTableDetails:RouteTableId="+id)
}

// farTableLink is a link to a route table, or to a transit gateway's.
func farTableLink(s *View, id string) string {
	if strings.HasPrefix(id, "tgw-") {
		return console(s, "TransitGatewayRouteTables:transitGatewayRouteTableId="+id)
	}
	return tableLink(s, id)
}

// aws is a command of the AWS CLI in the snapshot's region: "ec2 create-route"
// and its options, each word quoted.
func aws(s *View, operation string, words ...any) string {
	return shell.Command(append([]any{"aws", strings.Fields(operation), "--region", s.Region}, words...)...)
}

// route is the command that sets a row of a route table to a target, which an
// option names.
func route(s *View, action, table, destination, option, target string) string {
	return aws(s, "ec2 "+action, "--route-table-id", table, "--destination-cidr-block", destination, option, target)
}

// route6 is the command that sets a row for IPv6.
func route6(s *View, action, table, option, target string) string {
	return aws(s, "ec2 "+action, "--route-table-id", table, "--destination-ipv6-cidr-block", "::/0", option, target)
}

// toNAT is the best NAT gateway of a VPC that works, and why it is the best.
func (c *scene) toNAT(vpc string, zones []string, not string) (nat snapshot.NATGateway, why string, ok bool) {
	zone := ""
	if len(zones) > 0 {
		zone = zones[0]
	}
	for _, nat := range c.net.WorkingNATs(vpc, zone) {
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
func (c *scene) sibling(t path.Table, zones []string) (path.Table, bool) {
	var found path.Table
	for _, other := range c.s.RouteTables {
		if other.VPC != t.VPC || other.ID == t.ID || len(other.Subnets) == 0 {
			continue
		}
		subnet, ok := c.net.Subnet(other.Subnets[0])
		if !ok || c.net.Internet(subnet.ID).Verdict != path.Reaches {
			continue
		}
		if found.ID == "" || slices.Contains(zones, subnet.Zone) && !c.serves(found, zones) {
			found = path.Table{RouteTable: other}
		}
	}
	return found, found.ID != ""
}

// serves tells that a table has a subnet in one of the zones.
func (c *scene) serves(t path.Table, zones []string) bool {
	return slices.ContainsFunc(t.Subnets, func(id string) bool {
		subnet, ok := c.net.Subnet(id)
		return ok && slices.Contains(zones, subnet.Zone)
	})
}

// wayOut is the fix for a table that needs a working default route. Action is
// "create-route" or "replace-route".
func (c *scene) wayOut(l lot, action, not string) Fix {
	fix := Fix{Console: tableLink(c.s, l.table.ID)}
	if nat, why, ok := c.toNAT(l.table.VPC, l.zones(), not); ok {
		fix.Text = why
		fix.Command = route(c.s, action, l.table.ID, "0.0.0.0/0", "--nat-gateway-id", nat.ID)
		if action == "create-route" {
			fix.Remedy = addNATRoute
		}
		return fix
	}
	igw, attached := c.net.Gateway(l.table.VPC)
	if attached && !slices.ContainsFunc(l.subnets, func(s snapshot.Subnet) bool { return !s.AssignPublicIP }) {
		fix.Text = fmt.Sprintf("%s is attached to %s, and %s public addresses", igw.ID, l.table.VPC, subject(l.ids(), "subnet")+verb(l.ids(), " gives", " give"))
		fix.Command = route(c.s, action, l.table.ID, "0.0.0.0/0", "--gateway-id", igw.ID)
		return fix
	}
	fix.Text = fmt.Sprintf("%s has no NAT gateway that works. Make one in a public subnet and lead 0.0.0.0/0 of %s to it, or make VPC endpoints for what nodes need.", l.table.VPC, l.table.ID)
	if !c.s.Has(snapshot.NATGateways) {
		fix.Text = fmt.Sprintf("Lead 0.0.0.0/0 of %s to a NAT gateway that works. Which there are could not be read.", l.table.ID)
	}
	return fix
}
