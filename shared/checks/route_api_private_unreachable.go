package checks

import (
	"fmt"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func apiPrivateUnreachable() Check {
	return usingTemplates(walking(Check{
		ID:         "route/api-private-unreachable",
		Title:      "No route leads to the cluster's private endpoint in another VPC",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		// Endpoints play no part: the control plane's interfaces are no VPC
		// endpoint. Peerings and transit gateways are asked for where a row
		// leads to one.
		Needs:    []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables},
		AtLaunch: true,
		Cause:    "The cluster's API has only its private endpoint, whose addresses are in the cluster's VPC. The nodes are in another VPC, and no route leads from there to the cluster's VPC, or none leads back.",
		Fix:      "Connect the two VPCs by peering or a transit gateway, with routes both ways, or run the nodes in the cluster's VPC.",
		Links:    []string{"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html"},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			return c.each(privateAPIFinding)
		},
	}))
}

func privateAPIFinding(c *scene, l lot) Finding {
	p := l.api()
	if p.Means != path.ByPrivateAPI || l.table.VPC == c.s.Cluster.VPC || p.Good() {
		f := l.pass()
		f.Evidence = []Evidence{{What: "Path to " + path.API.Name(), Value: p.String()}}
		return f
	}
	if l.witness != "" && p.Verdict != path.LeavesView {
		return l.works() // a Ready node reaches the API, whatever is seen of the way
	}
	if p.Verdict == path.LeavesView {
		return beyond(l, p.Way)
	}
	return Finding{
		Outcome:   Fail,
		Resource:  c.nearest(l, p),
		Covers:    l.ids(),
		Instances: c.stranded(l.ids()),
		Resources: p.Resources(),
		Title:     title("%s cannot reach the private API in %s", subject(l.ids(), "subnet"), c.s.Cluster.VPC),
		Why: fmt.Sprintf("%s has only a private endpoint, in %s. The way there from %s in %s: %s.",
			c.s.Cluster.Name, c.s.Cluster.VPC, some(l.ids(), 3), l.table.VPC, p.Reason),
		Evidence: l.evidence(),
		Fix:      c.fixAPIPrivate(l),
	}
}

// nearest is the table that decided, if it belongs to the nodes' VPC or to a
// transit gateway: what a NAT gateway's subnet does with private addresses is
// beside the point.
func (c *scene) nearest(l lot, p path.Path) string {
	for _, t := range c.s.RouteTables {
		if t.ID == p.Table && p.Row.Target.Kind != snapshot.ToTransitGateway && p.Row.Target.Kind != snapshot.ToPeering {
			return l.table.ID
		}
	}
	return inTable(l, p)
}

// fixAPIPrivate leads the table to a peering connection between the two VPCs,
// if there is one.
func (c *scene) fixAPIPrivate(l lot) Fix {
	fix := Fix{Console: tableLink(c.s, l.table.ID)}
	theirs := c.s.Cluster.VPC
	for _, p := range c.s.Peerings {
		for _, end := range [][2]snapshot.PeerVPC{{p.Requester, p.Accepter}, {p.Accepter, p.Requester}} {
			if p.State != "active" || end[0].VPC != l.table.VPC || end[1].VPC != theirs || len(end[1].CIDRs) == 0 {
				continue
			}
			fix.Text = fmt.Sprintf("%s connects %s and %s. The tables of the cluster's subnets must lead back by it too.", p.ID, l.table.VPC, theirs)
			fix.Command = route(c.s, "create-route", l.table.ID, end[1].CIDRs[0].String(), "--vpc-peering-connection-id", p.ID)
			return fix
		}
	}
	fix.Text = fmt.Sprintf("Connect %s and %s by peering or a transit gateway, with routes both ways, or switch on the cluster's public endpoint.", l.table.VPC, theirs)
	return fix
}
