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

func NATNoInternet() check.Check {
	return usingTemplates(check.WithPathSources(check.Check{
		ID:         checkid.RouteNATNoInternet,
		Title:      "The NAT gateway itself has no way to the internet",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs: []snapshot.Source{
			snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints,
			snapshot.NATGateways, snapshot.InternetGateways,
		},
		AtLaunch: true,
		Cause:    "The NAT gateway is available, but the route table of its own subnet has no route to an internet gateway: it stands in a private subnet, its subnet lost its association, or its route leads back to itself.",
		Fix:      "Associate the NAT gateway's subnet with a table whose 0.0.0.0/0 leads to the VPC's internet gateway.",
		Links:    []string{"https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html"},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			return ways(c, wayCheck{
				fault: path.NATNoInternet, id: atEnd, say: natNoInternetFinding,
				open: func(w path.Way) bool { return routes.Rowless(w) || byNAT(w) },
			})
		},
	}))
}

func natNoInternetFinding(c *routes.Scope, f wayFault) finding.Finding {
	nat, _ := c.Net.NAT(f.id)
	ids := f.subnets()
	said := finding.Finding{
		Outcome:   finding.Fail,
		Resource:  f.id,
		Covers:    ids,
		Instances: c.Stranded(ids),
		Resources: f.way.Resources(),
		Title:     phrase.Title("%s has no way to the internet", f.id),
		Why: fmt.Sprintf("%s is available in %s, but %s. Nodes in %s cannot reach %s.",
			f.id, nat.Subnet, f.way.Reason, phrase.Some(ids, 3), phrase.And(path.Names(f.lost()))),
		Evidence: f.evidence(),
		Fix:      fixStuckNAT(c, f, nat),
	}
	if table, ok := c.Net.Table(nat.Subnet); ok && len(said.Evidence) > 0 {
		said.Evidence = slices.Insert(said.Evidence, 0, finding.Evidence{
			What: fmt.Sprintf("Routes of %s, the table of %s", table.ID, nat.Subnet), Value: routes.Rows(table.Routes),
		})
	}
	return said
}

// fixStuckNAT gives the gateway's subnet a way to the internet gateway. A
// table that other subnets use too is left alone: they may rely on it.
func fixStuckNAT(c *routes.Scope, f wayFault, nat snapshot.NATGateway) finding.Fix {
	fix := finding.Fix{Console: link.VPC(c.S, "NatGatewayDetails:natGatewayId="+f.id)}
	table, known := c.Net.Table(nat.Subnet)
	igw, attached := c.Net.Gateway(nat.VPC)
	public, other := publicTable(c, nat.VPC)
	switch mode := c.Net.Mode(nat.Subnet, nat.VPC).Mode; {
	case mode == snapshot.BlockBidirectional:
		fix.Text = fmt.Sprintf("Lead 0.0.0.0/0 of %s to an internet gateway, and exclude %s from VPC Block Public Access (%s) with allow-egress: it drops the traffic else.", table.ID, nat.Subnet, mode)
	case !known || !attached:
		fix.Text = fmt.Sprintf("Attach an internet gateway to %s, and lead 0.0.0.0/0 of the table of %s to it.", nat.VPC, nat.Subnet)
	case table.Fallback && other:
		fix.Text = fmt.Sprintf("%s: leads to %s; %s has no association of its own", public.ID, igw.ID, nat.Subnet)
		fix.Command = command.AWS(c.S, "ec2 associate-route-table", "--route-table-id", public.ID, "--subnet-id", nat.Subnet)
	case !table.Fallback && slices.Equal(table.Subnets, []string{nat.Subnet}):
		fix.Text = fmt.Sprintf("%s: attached to %s; only %s uses %s", igw.ID, nat.VPC, nat.Subnet, table.ID)
		fix.Command = command.Route(c.S, setRoute(table.Routes, "0.0.0.0/0"), table.ID, "0.0.0.0/0", "--gateway-id", igw.ID)
	default:
		fix.Text = fmt.Sprintf("Associate %s with a table of its own whose 0.0.0.0/0 leads to %s. Other subnets use %s too, so do not change that.", nat.Subnet, igw.ID, table.ID)
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
