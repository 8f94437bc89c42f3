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

func HostnamesOff() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.DNSHostnamesOff,
		Title:      "The VPC's DNS hostnames are off where private names are in use",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.VPCDNS},
		After:      []checkid.ID{checkid.DNSSupportOff},
		AtLaunch:   true,
		Cause:      "enableDnsHostnames is off. The cluster's private endpoint and endpoints with private DNS need it: without it the private hosted zones that answer for their names do not count.",
		Fix:        "Switch enableDnsHostnames on.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			g := s.Placements()
			var v finding.Verdicts
			for _, r := range byVPC(g, &v) {
				a, blocked := attributes(g, r.vpc)
				switch {
				case len(blocked) > 0:
					v.Unknown(r.vpc, r.covers(), blocked...)
				case a.DNSHostnames || len(r.private) == 0:
					v.Pass(r.vpc, r.covers(), finding.Evidence{What: r.vpc, Value: fmt.Sprintf("enableDnsHostnames %t", a.DNSHostnames)})
				default:
					v.Fail(attributeFault(g, r, "enable-dns-hostnames", phrase.Title("DNS hostnames of %s are off", r.vpc),
						fmt.Sprintf("enableDnsHostnames of %s is off. The private names of %s, which nodes in %s use, need it.", r.vpc, phrase.And(path.Names(facts.Ordered(r.private))), phrase.Some(r.covers(), 3)), a))
				}
			}
			return v.Findings()
		},
	})
}
