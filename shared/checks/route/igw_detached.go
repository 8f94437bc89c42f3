package route

import (
	"fmt"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func IGWDetached() check.Check {
	return usingTemplates(check.WithPathSources(check.Check{
		ID:         checkid.RouteIGWDetached,
		Title:      "The internet gateway is not attached to this VPC",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs: []snapshot.Source{
			snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.InternetGateways,
		},
		AtLaunch: true,
		Cause:    "The route of the nodes to the internet, or of the NAT gateway that they use, leads to an internet gateway that exists and is attached to no VPC, or to another one.",
		Fix:      "Attach the gateway to the VPC again, or lead the route to the gateway that is attached.",
		Links:    []string{"https://docs.aws.amazon.com/vpc/latest/userguide/working-with-igw.html"},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			return ways(c, wayCheck{fault: path.Detached, id: atEnd, open: routes.Rowless, say: detachedFinding})
		},
	}))
}

func detachedFinding(c *routes.Scope, f wayFault) finding.Finding {
	subnets, vpc := f.subnets(), vpcOf(c, inTable(f.lots[0], f.way), f.lots[0])
	var attached []string
	for _, igw := range c.S.InternetGateways {
		if igw.ID == f.id {
			attached = igw.Attached
		}
	}
	where := "to no VPC"
	if len(attached) > 0 {
		where = "to " + phrase.And(attached)
	}
	return finding.Finding{
		Outcome:   finding.Fail,
		Resource:  f.id,
		Covers:    subnets,
		Instances: c.Stranded(subnets),
		Resources: f.way.Resources(),
		Title:     phrase.Title("%s is not attached to %s", f.id, vpc),
		Why: fmt.Sprintf("%s leads to %s, which is attached %s. Nodes in %s cannot reach %s.",
			inTable(f.lots[0], f.way), f.id, where, phrase.Some(subnets, 3), phrase.And(path.Names(f.lost()))),
		Evidence: append(f.evidence(), finding.Evidence{What: f.id, Value: "attached " + where}),
		Fix:      fixDetached(c, f, attached),
	}
}

// fixDetached attaches a gateway that nobody else uses, where the VPC has no
// other: a VPC can have one (VPC quotas), so a second one cannot be attached.
func fixDetached(c *routes.Scope, f wayFault, attached []string) finding.Fix {
	table := inTable(f.lots[0], f.way)
	vpc := vpcOf(c, table, f.lots[0])
	fix := finding.Fix{Console: link.VPC(c.S, "InternetGateway:internetGatewayId="+f.id)}
	other, has := c.Net.Gateway(vpc)
	switch {
	case has:
		fix.Text = fmt.Sprintf("%s is attached to %s", other.ID, vpc)
		fix.Command = command.Route(c.S, "replace-route", table, destinationTo(c, table, f), "--gateway-id", other.ID)
	case len(attached) == 0:
		fix.Text = fmt.Sprintf("%s has no other internet gateway, and no other VPC uses %s", vpc, f.id)
		fix.Command = command.AWS(c.S, "ec2 attach-internet-gateway", "--internet-gateway-id", f.id, "--vpc-id", vpc)
	default:
		fix.Text = fmt.Sprintf("Make an internet gateway, attach it to %s, and lead %s of %s to it. %s belongs to %s: leave it there.", vpc, destinationTo(c, table, f), table, f.id, phrase.And(attached))
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
