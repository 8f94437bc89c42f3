package check

import (
	"slices"

	"rollcall/shared/snapshot"
)

// WithPathSources is a check that follows the ways of packets. Which of the hops'
// sources decides is seen only on the way: each is used where a row leads to
// it, and where it is missing the finding names the hop.
func WithPathSources(c Check) Check {
	return Using([]snapshot.Source{
		snapshot.VPCs, snapshot.NATGateways, snapshot.InternetGateways, snapshot.EgressOnly, snapshot.PrefixListEntries,
		snapshot.Peerings, snapshot.TransitGateways, snapshot.Interfaces, snapshot.DHCP, snapshot.VPCDNS,
		snapshot.DNSProfilesOf, snapshot.ResolverRulesOf, snapshot.PrivateZonesOf, snapshot.AWSNode,
	}, c)
}

// Using is a check that uses the sources, beside what it needs.
func Using(sources []snapshot.Source, c Check) Check {
	for _, source := range sources {
		if !slices.Contains(c.Needs, source) && !slices.Contains(c.Uses, source) {
			c.Uses = append(c.Uses, source)
		}
	}
	return c
}
