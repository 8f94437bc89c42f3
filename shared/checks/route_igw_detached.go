package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func igwDetached() Check {
	return usingTemplates(walking(Check{
		ID:         "route/igw-detached",
		Title:      "The internet gateway is not attached to this VPC",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs: []snapshot.Source{
			snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.InternetGateways,
		},
		AtLaunch: true,
		Cause:    "The way out of the nodes, or of the NAT gateway that they use, leads to an internet gateway that exists and is attached to no VPC, or to another one.",
		Fix:      "Attach the gateway to the VPC again, or lead the route to the gateway that is attached.",
		Links:    []string{"https://docs.aws.amazon.com/vpc/latest/userguide/working-with-igw.html"},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			return c.ways(wayCheck{fault: path.Detached, id: atEnd, open: rowless, say: detachedFinding})
		},
	}))
}

func detachedFinding(c *scene, f wayFault) Finding {
	subnets, vpc := f.subnets(), c.vpcOf(inTable(f.lots[0], f.way), f.lots[0])
	var attached []string
	for _, igw := range c.s.InternetGateways {
		if igw.ID == f.id {
			attached = igw.Attached
		}
	}
	where := "to no VPC"
	if len(attached) > 0 {
		where = "to " + and(attached)
	}
	return Finding{
		Outcome:   Fail,
		Resource:  f.id,
		Covers:    subnets,
		Instances: c.stranded(subnets),
		Resources: f.way.Resources(),
		Title:     title("%s is not attached to %s", f.id, vpc),
		Why: fmt.Sprintf("%s leads to %s, which is attached %s. Nodes in %s cannot reach %s.",
			inTable(f.lots[0], f.way), f.id, where, some(subnets, 3), and(path.Names(f.lost()))),
		Evidence: append(f.evidence(), Evidence{What: f.id, Value: "attached " + where}),
		Fix:      c.fixDetached(f, attached),
	}
}

// fixDetached attaches a gateway that nobody else uses, where the VPC has no
// other: a VPC can have one (VPC quotas), so a second one cannot be attached.
func (c *scene) fixDetached(f wayFault, attached []string) Fix {
	table := inTable(f.lots[0], f.way)
	vpc := c.vpcOf(table, f.lots[0])
	fix := Fix{Console: console(c.s, "InternetGateway:internetGatewayId="+f.id)}
	other, has := c.net.Gateway(vpc)
	switch {
	case has:
		fix.Text = fmt.Sprintf("%s is attached to %s", other.ID, vpc)
		fix.Command = route(c.s, "replace-route", table, c.destinationTo(table, f), "--gateway-id", other.ID)
	case len(attached) == 0:
		fix.Text = fmt.Sprintf("%s has no other internet gateway, and no other VPC uses %s", vpc, f.id)
		fix.Command = aws(c.s, "ec2 attach-internet-gateway", "--internet-gateway-id", f.id, "--vpc-id", vpc)
	default:
		fix.Text = fmt.Sprintf("Make an internet gateway, attach it to %s, and lead %s of %s to it. %s belongs to %s: leave it there.", vpc, c.destinationTo(table, f), table, f.id, and(attached))
	}
	return fix
}

// vpcOf is the VPC of the table that leads to the gateway: behind a transit
// gateway it is not the nodes'.
func (c *scene) vpcOf(table string, l lot) string {
	for _, t := range c.s.RouteTables {
		if t.ID == table {
			return t.VPC
		}
	}
	return l.table.VPC
}

// destinationTo is the row of a table that leads to what ends the way.
func (c *scene) destinationTo(table string, f wayFault) string {
	for _, t := range c.s.RouteTables {
		if t.ID != table {
			continue
		}
		if i := slices.IndexFunc(t.Routes, func(r snapshot.Route) bool { return r.Target.ID == f.way.At && r.PrefixList == "" }); i >= 0 {
			return path.Destination(t.Routes[i])
		}
	}
	return "0.0.0.0/0"
}
