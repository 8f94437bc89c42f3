package checks

import (
	"slices"

	"rollcall/shared/snapshot"
)

// walking are checks that follow the ways of packets. Which of the hops'
// sources decides is seen only on the way: each is used where a row leads to
// it, and where it is missing the finding names the hop.
func walking(list ...Check) []Check {
	return using([]snapshot.Source{
		snapshot.VPCs, snapshot.NATGateways, snapshot.InternetGateways, snapshot.EgressOnly, snapshot.PrefixListEntries,
		snapshot.Peerings, snapshot.TransitGateways, snapshot.Interfaces, snapshot.DHCP, snapshot.VPCDNS,
	}, list...)
}

// using are checks that use the sources, beside what each of them needs.
func using(sources []snapshot.Source, list ...Check) []Check {
	for i := range list {
		for _, source := range sources {
			if !slices.Contains(list[i].Needs, source) && !slices.Contains(list[i].Uses, source) {
				list[i].Uses = append(list[i].Uses, source)
			}
		}
	}
	return list
}
