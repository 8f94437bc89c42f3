package checks

import "rollcall/shared/snapshot"

// routeChecks are the checks of route: the way out of a subnet, and the way to
// the cluster's API.
func routeChecks() []Check {
	// Whether an instance gets a public address may stand in its template.
	return using([]snapshot.Source{snapshot.LaunchTemplates}, walking(
		noEgress(),
		blackholeRoute(),
		natUnusable(),
		natNoInternet(),
		igwNoPublicIP(),
		igwDetached(),
		natInstance(),
		apiPublicCIDR(),
		apiPrivateUnreachable(),
		ipv6NoEgress(),
		crossZoneNAT(),
		leavesView(),
	)...)
}
