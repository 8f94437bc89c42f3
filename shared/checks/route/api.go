package route

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// overIPv6 settles a lot that reaches a dual-stack endpoint over IPv6. Clients
// that are refused there try IPv4 too, so only an admission settles it.
func overIPv6(c *routes.Scope, l routes.Table) (finding.Finding, bool) {
	if !c.S.Cluster.IPv6 || !dualStack(c.S.Cluster.Endpoint) || len(l.Subnets) == 0 {
		return finding.Finding{}, false
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
		return routes.Beyond(l, w), true
	case w.Good() && partly:
		return cannotTell(c, l, snapshot.Instances, "a part of the subnet's IPv6 addresses is admitted"), true
	}
	return finding.Finding{}, false
}

// dualStack tells the endpoint of an IPv6 cluster made after October 2024,
// which has IPv6 addresses too (EKS user guide, "Cluster API server endpoint").
func dualStack(endpoint string) bool {
	return strings.Contains(endpoint, ".api.aws") || strings.Contains(endpoint, ".api.amazonwebservices.com.cn")
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

// excluded is a lot whose addresses the public endpoint does not admit.
type excluded struct {
	lot       routes.Table
	from      []string // addresses, as CIDRs
	instances []string
	partly    bool // another address of the same gateway is admitted
}

func publicCIDRs(c *routes.Scope) []finding.Finding {
	list := slices.Clone(c.Blind)
	var out []excluded
	for _, l := range c.Lots {
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

// publicCIDR judges one lot.
func publicCIDR(c *routes.Scope, l routes.Table) (finding.Finding, *excluded) {
	cluster := c.S.Cluster
	p := l.API()
	switch {
	case p.Means != path.ByInternet && p.Means != path.ByOwnName, l.Witness != "", p.Verdict != path.LeavesView && !p.Good():
		return admittedFinding(c, l), nil
	case !cluster.EndpointPublic || len(cluster.PublicAccessCIDRs) == 0:
		return cannotTell(c, l, snapshot.Clusters, "EKS does not say whom the public endpoint admits"), nil
	case facts.Anyone(cluster.PublicAccessCIDRs, false):
		return admittedFinding(c, l), nil
	case p.Verdict == path.LeavesView:
		return routes.Beyond(l, p.Way), nil
	}
	if f, settled := overIPv6(c, l); settled {
		return f, nil
	}
	if p.Verdict == path.NeedsPublicIP {
		return byOwnAddress(c, l)
	}
	if len(p.From) == 0 {
		return cannotTell(c, l, snapshot.NATGateways, "the address that traffic leaves from is not known: "+p.Way.String()), nil
	}
	r := excluded{lot: l, instances: c.Stranded(l.IDs())}
	for _, a := range p.From {
		if facts.Admits(cluster.PublicAccessCIDRs, a) {
			r.partly = true
			continue
		}
		r.from = append(r.from, facts.Host(a))
	}
	if len(r.from) == 0 {
		return admittedFinding(c, l), nil
	}
	return finding.Finding{}, &r
}

// byOwnAddress judges a lot whose instances leave from their own addresses.
// One that has none is route/igw-no-public-ip.
func byOwnAddress(c *routes.Scope, l routes.Table) (finding.Finding, *excluded) {
	r := excluded{lot: l}
	admitted := 0
	for _, id := range l.IDs() {
		for _, i := range c.All[id] {
			switch {
			case !i.PublicIP.IsValid():
			case facts.Admits(c.S.Cluster.PublicAccessCIDRs, i.PublicIP):
				admitted++
			case !c.Ready[i.ID]:
				r.from = append(r.from, facts.Host(i.PublicIP))
				r.instances = append(r.instances, i.ID)
			}
		}
	}
	switch {
	case len(r.from) > 0:
		return finding.Finding{}, &r
	case admitted > 0:
		return admittedFinding(c, l), nil
	}
	return cannotTell(c, l, snapshot.Instances, "no instance there shows the address that it leaves from"), nil
}

func admittedFinding(c *routes.Scope, l routes.Table) finding.Finding {
	f := l.Pass()
	f.Evidence = []finding.Evidence{
		{What: "Path to " + path.API.Name(), Value: l.API().String()},
		{What: "publicAccessCidrs", Value: facts.Cidrs(c.S.Cluster.PublicAccessCIDRs)},
	}
	return f
}

func cannotTell(c *routes.Scope, l routes.Table, source snapshot.Source, why string) finding.Finding {
	return finding.Unread(l.Table.ID, l.IDs(), snapshot.Failure{
		Source: source, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s: %s", l.Table.ID, why),
	})
}

// refusal is the finding on all lots that the public endpoint does not admit:
// one list of ranges refuses them all.
func refusal(c *routes.Scope, list []excluded) finding.Finding {
	cluster := c.S.Cluster
	f := finding.Finding{Outcome: finding.Fail, Resource: cluster.Name}
	var from []string
	outside, partly := false, false
	for _, r := range list {
		f.Covers = append(f.Covers, r.lot.IDs()...)
		f.Instances = append(f.Instances, r.instances...)
		f.Resources = append(f.Resources, r.lot.API().Resources()...)
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Path to " + path.API.Name(), Value: r.lot.API().String()})
		from = append(from, r.from...)
		outside = outside || r.lot.Table.VPC != cluster.VPC
		partly = partly || r.partly
	}
	slices.Sort(from)
	from = slices.Compact(from)
	if partly {
		f.Confidence = finding.Likely // a gateway with several addresses uses any of them
	}
	f.Evidence = append(f.Evidence,
		finding.Evidence{What: "publicAccessCidrs", Value: facts.Cidrs(cluster.PublicAccessCIDRs)},
		finding.Evidence{What: "Traffic leaves from", Value: phrase.Some(from, 10)})
	f.Title = phrase.Title("the API of %s does not admit %s", cluster.Name, phrase.Some(from, 1))
	f.Why = fmt.Sprintf("Private access is off, so nodes in %s use the public endpoint. Their traffic leaves from %s; publicAccessCidrs has only %s.",
		phrase.Some(f.Covers, 3), phrase.Some(from, 3), facts.Cidrs(cluster.PublicAccessCIDRs))
	if cluster.EndpointPrivate {
		f.Why = fmt.Sprintf("Nodes in %s are outside of %s and use the public endpoint. Their traffic leaves from %s; publicAccessCidrs has only %s.",
			phrase.Some(f.Covers, 3), cluster.VPC, phrase.Some(from, 3), facts.Cidrs(cluster.PublicAccessCIDRs))
	}
	f.Fix = fixCIDR(c, from, outside)
	return f
}

// fixCIDR switches on private access, which needs no list of addresses; nodes
// in another VPC have no use for it, and their addresses are added.
func fixCIDR(c *routes.Scope, from []string, outside bool) finding.Fix {
	cluster := c.S.Cluster
	fix := finding.Fix{Console: fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s", link.Host(c.S), c.S.Region, cluster.Name)}
	change := "endpointPrivateAccess=true"
	fix.Text = fmt.Sprintf("Private access keeps the nodes' traffic in %s. Or add %s to publicAccessCidrs.", cluster.VPC, phrase.Some(from, 3))
	if outside {
		all := make([]string, 0, len(cluster.PublicAccessCIDRs)+len(from))
		for _, p := range cluster.PublicAccessCIDRs {
			all = append(all, p.String())
		}
		change = "publicAccessCidrs=" + strings.Join(append(all, from...), ",")
		fix.Text = fmt.Sprintf("Adds %s to those that are admitted.", phrase.Some(from, 3))
	}
	fix.Command = command.AWS(c.S, "eks update-cluster-config", "--name", cluster.Name, "--resources-vpc-config", change)
	return fix
}
