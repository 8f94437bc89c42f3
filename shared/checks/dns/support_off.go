package dns

import (
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func SupportOff() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.DNSSupportOff,
		Title:      "The VPC's DNS support is off",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.VPCDNS},
		AtLaunch:   true,
		Cause: "enableDnsSupport is off: Amazon's resolver does not answer in the VPC. Nodes that are given no other name server resolve nothing, and with other ones the names of private endpoints lead nowhere. " +
			"With name servers of one's own the finding is likely only: they may know the private addresses.",
		Fix: "Switch enableDnsSupport on.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			g := s.Placements()
			var v finding.Verdicts
			for _, r := range byVPC(g, &v) {
				supportOff(g, r, &v)
			}
			return v.Findings()
		},
	})
}

func supportOff(g *facts.Placements, r *resolved, v *finding.Verdicts) {
	a, blocked := attributes(g, r.vpc)
	if len(blocked) > 0 {
		v.Unknown(r.vpc, r.covers(), blocked...)
		return
	}
	seen := finding.Evidence{What: r.vpc, Value: fmt.Sprintf("enableDnsSupport %t", a.DNSSupport)}
	if a.DNSSupport {
		v.Pass(r.vpc, r.covers(), seen)
		return
	}
	n := g.NameServers(r.vpc)
	own := n.Blocked == nil && len(n.Own)+len(n.Odd) > 0
	switch {
	case own && len(r.private) == 0:
		v.Pass(r.vpc, r.covers(), seen, namesGiven(g, r.vpc)[0])
		return
	case n.Blocked != nil && len(r.private) == 0:
		// Whether anything resolves depends on the name servers.
		v.Unknown(r.vpc, r.covers(), *n.Blocked)
		return
	}
	why := fmt.Sprintf("enableDnsSupport of %s is off, so Amazon's resolver does not answer there. Nodes in %s resolve no name.", r.vpc, phrase.Some(r.covers(), 3))
	if own || n.Blocked != nil {
		why = fmt.Sprintf("enableDnsSupport of %s is off, so Amazon's resolver does not answer there. Nodes in %s cannot learn the private addresses of %s from it.",
			r.vpc, phrase.Some(r.covers(), 3), phrase.And(path.Names(facts.Ordered(r.private))))
	}
	f := attributeFault(g, r, "enable-dns-support", phrase.Title("DNS support of %s is off", r.vpc), why, a)
	if own || n.Blocked != nil {
		f.Confidence = finding.Likely
	}
	v.Fail(f)
}
