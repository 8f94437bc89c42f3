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
		nodegroupChecks(),
		clusterChecks(),
		nodeChecks(),
		addressChecks(),
		spotChecks(),
		poolChecks(),
	)
}

// OfLaunches is what explains launches: all but what is judged over days, or
// belongs to nodegroup-watch.
func OfLaunches() []Check {
	return without(All(), slices.Concat(nodegroupChecks(), poolChecks()))
}

// OfHealth is what nodegroup-watch judges in its sweep: what EKS itself says
// of nodegroups, the cluster and its add-ons.
func OfHealth() []Check { return slices.Concat(nodegroupChecks(), clusterChecks()) }

// OfPools is what spot-report judges: the pools, over days.
func OfPools() []Check { return poolChecks() }

func without(list, others []Check) []Check {
	return slices.DeleteFunc(list, func(c Check) bool {
		return slices.ContainsFunc(others, func(o Check) bool { return o.ID == c.ID })
	})
}

// AtLaunch is the checks that can judge a launch at once.
func AtLaunch() []Check {
	return slices.DeleteFunc(All(), func(c Check) bool { return !c.AtLaunch })
}

// Standing is the checks that watch the cluster itself, whether or not an
// instance is in trouble: its groups, its addresses, and what works and costs.
// Its health is nodegroup-watch's (OfHealth).
func Standing() []Check {
	return slices.Concat(launchChecks(), addressChecks(), walking(crossZoneNAT()))
}
