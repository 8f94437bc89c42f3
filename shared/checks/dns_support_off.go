package checks

import (
	"fmt"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func dnsSupportOff() Check {
	return walking(Check{
		ID:         "dns/support-off",
		Title:      "The VPC's DNS support is off",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.VPCDNS},
		AtLaunch:   true,
		Cause: "enableDnsSupport is off: Amazon's resolver does not answer in the VPC. Nodes that are given no other name server resolve nothing, and with other ones the names of private endpoints lead nowhere. " +
			"With name servers of one's own the finding is likely only: they may know the private addresses.",
		Fix: "Switch enableDnsSupport on.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
		},
		Run: func(s *View) []Finding {
			g := s.Placements()
			var v verdicts
			for _, r := range g.byVPC(&v) {
				g.supportOff(r, &v)
			}
			return v.findings()
		},
	})
}

func (g *ground) supportOff(r *resolved, v *verdicts) {
	a, blocked := g.attributes(r.vpc)
	if len(blocked) > 0 {
		v.unknown(r.vpc, r.covers(), blocked...)
		return
	}
	seen := Evidence{What: r.vpc, Value: fmt.Sprintf("enableDnsSupport %t", a.DNSSupport)}
	if a.DNSSupport {
		v.pass(r.vpc, r.covers(), seen)
		return
	}
	n := g.nameServers(r.vpc)
	own := n.blocked == nil && len(n.own)+len(n.odd) > 0
	switch {
	case own && len(r.private) == 0:
		v.pass(r.vpc, r.covers(), seen, g.namesGiven(r.vpc)[0])
		return
	case n.blocked != nil && len(r.private) == 0:
		// Whether anything resolves depends on the name servers.
		v.unknown(r.vpc, r.covers(), *n.blocked)
		return
	}
	why := fmt.Sprintf("enableDnsSupport of %s is off, so Amazon's resolver does not answer there. Nodes in %s resolve no name.", r.vpc, some(r.covers(), 3))
	if own || n.blocked != nil {
		why = fmt.Sprintf("enableDnsSupport of %s is off, so Amazon's resolver does not answer there. Nodes in %s cannot learn the private addresses of %s from it.",
			r.vpc, some(r.covers(), 3), and(path.Names(ordered(r.private))))
	}
	f := g.attributeFault(r, "enable-dns-support", title("DNS support of %s is off", r.vpc), why, a)
	if own || n.blocked != nil {
		f.Confidence = Likely
	}
	v.fail(f)
}
