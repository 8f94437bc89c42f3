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

func APIPrivateUnreachable() check.Check {
	return usingTemplates(check.WithPathSources(check.Check{
		ID:         checkid.RouteAPIPrivateUnreachable,
		Title:      "No route leads to the cluster's private endpoint in another VPC",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		// Endpoints play no part: the control plane's interfaces are no VPC
		// endpoint. Peerings and transit gateways are asked for where a row
		// leads to one.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables},
		AtLaunch: true,
		Cause:    "The cluster's API has only its private endpoint, whose addresses are in the cluster's VPC. The nodes are in another VPC, and no route leads from there to the cluster's VPC, or none leads back.",
		Fix:      "Connect the two VPCs by peering or a transit gateway, with routes both ways, or run the nodes in the cluster's VPC.",
		Links:    []string{"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html"},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			return c.Each(privateAPIFinding)
		},
	}))
}

func privateAPIFinding(c *routes.Scope, l routes.Table) finding.Finding {
	p := l.API()
	if p.Means != path.ByPrivateAPI || l.Table.VPC == c.S.Cluster.VPC || p.Good() {
		f := l.Pass()
		f.Evidence = []finding.Evidence{{What: "Path to " + path.API.Name(), Value: p.String()}}
		return f
	}
	if l.Witness != "" && p.Verdict != path.LeavesView {
		return l.Works() // a Ready node reaches the API, whatever is seen of the way
	}
	if p.Verdict == path.LeavesView {
		return routes.Beyond(l, p.Way)
	}
	decided := nearest(c, l, p)
	return finding.Finding{
		Outcome:   finding.Fail,
		Resource:  decided,
		Covers:    l.IDs(),
		Instances: c.Stranded(l.IDs()),
		Resources: p.Resources(),
		Title:     phrase.Title("%s cannot reach the private API in %s", phrase.Subject(l.IDs(), "subnet"), c.S.Cluster.VPC),
		Why: fmt.Sprintf("%s has only a private endpoint, in %s. The way there from %s in %s: %s.",
			c.S.Cluster.Name, c.S.Cluster.VPC, phrase.Some(l.IDs(), 3), l.Table.VPC, p.Reason),
		Evidence: l.Evidence(),
		Fix:      fixAPIPrivate(c, l, decided),
	}
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
func fixAPIPrivate(c *routes.Scope, l routes.Table, decided string) finding.Fix {
	fix := finding.Fix{Console: link.RouteTable(c.S, decided)}
	theirs := c.S.Cluster.VPC
	for _, p := range c.S.Peerings {
		for _, end := range [][2]snapshot.PeerVPC{{p.Requester, p.Accepter}, {p.Accepter, p.Requester}} {
			if p.State != "active" || end[0].VPC != l.Table.VPC || end[1].VPC != theirs || len(end[0].CIDRs) == 0 || len(end[1].CIDRs) == 0 {
				continue
			}
			table, to := l.Table.ID, end[1].CIDRs[0].String()
			fix.Text = fmt.Sprintf("%s connects %s and %s. The tables of the cluster's subnets must lead back by it too.", p.ID, l.Table.VPC, theirs)
			if decided != table && leadsBy(l.Table.Routes, p.ID) {
				table, to = decided, end[0].CIDRs[0].String()
				fix.Text = fmt.Sprintf("%s leads to %s by %s. What lacks is the way back: %s must lead %s to it.", l.Table.ID, theirs, p.ID, table, to)
			}
			fix.Command = command.Route(c.S, setRoute(routesOf(c, table), to), table, to, "--vpc-peering-connection-id", p.ID)
			return fix
		}
	}
	fix.Text = fmt.Sprintf("Connect %s and %s by peering or a transit gateway, with routes both ways, or switch on the cluster's public endpoint.", l.Table.VPC, theirs)
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
