package route

import (
	"fmt"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func APIPublicCIDR() check.Check {
	return usingTemplates(check.WithPathSources(check.Check{
		ID:         checkid.RouteAPIPublicCIDR,
		Title:      "The API's public endpoint does not admit the nodes' address",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.NATGateways, snapshot.Instances},
		After:      []checkid.ID{checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable, checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP, checkid.RouteIGWDetached, checkid.RouteBlockedPublicAccess, checkid.RouteNATInstanceSourceCheck},
		AtLaunch:   true,
		Cause:      "Nodes reach the cluster's API by its public endpoint only, and publicAccessCidrs leaves out the address that their traffic leaves from: the NAT gateway's, or their own.",
		Fix:        "Switch on private access, which keeps the nodes' traffic in the VPC, or add the address to publicAccessCidrs.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_VpcConfigRequest.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			c := routes.Of(s)
			return publicCIDRs(c)
		},
	}))
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
	return finding.Finding{
		Outcome: finding.Unknown, Resource: l.Table.ID, Covers: l.IDs(),
		Blocked: []snapshot.Failure{{Source: source, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s: %s", l.Table.ID, why)}},
	}
}
