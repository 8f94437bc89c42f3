package checks

import (
	"fmt"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func dnsHostnamesOff() Check {
	return walking(Check{
		ID:         "dns/hostnames-off",
		Title:      "The VPC's DNS hostnames are off where private names are in use",
		Confidence: Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.VPCDNS},
		After:      []ID{"dns/support-off"},
		AtLaunch:   true,
		Cause:      "enableDnsHostnames is off. The cluster's private endpoint and endpoints with private DNS need it: without it the private hosted zones that answer for their names do not count.",
		Fix:        "Switch enableDnsHostnames on.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html",
		},
		Run: func(s *View) []Finding {
			g := s.Placements()
			var v verdicts
			for _, r := range g.byVPC(&v) {
				a, blocked := g.attributes(r.vpc)
				switch {
				case len(blocked) > 0:
					v.unknown(r.vpc, r.covers(), blocked...)
				case a.DNSHostnames || len(r.private) == 0:
					v.pass(r.vpc, r.covers(), Evidence{What: r.vpc, Value: fmt.Sprintf("enableDnsHostnames %t", a.DNSHostnames)})
				default:
					v.fail(g.attributeFault(r, "enable-dns-hostnames", title("DNS hostnames of %s are off", r.vpc),
						fmt.Sprintf("enableDnsHostnames of %s is off. The private names of %s, which nodes in %s use, need it.", r.vpc, and(path.Names(ordered(r.private))), some(r.covers(), 3)), a))
				}
			}
			return v.findings()
		},
	})
}
