package checks

import "slices"

// All is every check, in the catalogue's order. Each group has its own list,
// beside its checks.
func All() []Check {
	return slices.Concat(
		routeChecks(),
		endpointChecks(),
		filterChecks(),
		dnsChecks(),
		iamChecks(),
		instanceChecks(),
		launchChecks(),
		clusterChecks(),
		nodeChecks(),
		addressChecks(),
	)
}

// AtLaunch is the checks that can judge a launch at once.
func AtLaunch() []Check {
	return slices.DeleteFunc(All(), func(c Check) bool { return !c.AtLaunch })
}

// Standing is the checks that watch the cluster itself, whether or not an
// instance is in trouble: its groups, its health, its addresses, and what works
// and costs.
func Standing() []Check {
	return slices.Concat(launchChecks(), clusterChecks(), addressChecks(), walking(crossZoneNAT()))
}
