package checks

import "rollcall/shared/snapshot"

// routeChecks are the checks of route: the way out of a subnet, and the way to
// the cluster's API.
func routeChecks() []Check {
	return []Check{
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
	}
}

// usingTemplates is a check of routes: whether an instance gets a public
// address may stand in its template.
func usingTemplates(c Check) Check { return using([]snapshot.Source{snapshot.LaunchTemplates}, c) }
