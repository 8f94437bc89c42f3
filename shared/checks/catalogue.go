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
		zoneChecks(),
	)
}

// OfLaunches is what explains launches: all but what is judged over days or by zone, or
// belongs to nodegroup-watch.
func OfLaunches() []Check {
	return without(All(), slices.Concat(nodegroupChecks(), poolChecks(), standingAddresses(), standingZones()))
}

// OfAddresses is what subnet-watch judges: the subnets' addresses, whether or
// not anything is launched.
func OfAddresses() []Check { return addressChecks() }

// standingAddresses are the checks of addresses that explain no launch: they
// look ahead, or say why something else came to be.
func standingAddresses() []Check {
	ids := []ID{"ip/runway", "ip/scale-out-will-not-fit", "ip/fragmented", "ip/leak-cause"}
	return slices.DeleteFunc(addressChecks(), func(c Check) bool { return !slices.Contains(ids, c.ID) })
}

// OfHealth is what nodegroup-watch judges in its sweep: what EKS itself says
// of nodegroups, the cluster and its add-ons.
func OfHealth() []Check { return slices.Concat(nodegroupChecks(), clusterChecks()) }

// OfZones is what zone-watch judges: volumes, and the nodes where they live.
func OfZones() []Check { return zoneChecks() }

// standingZones are the checks of zones that explain no launch. That a zone is
// in trouble does, and is to be said before a setting is blamed.
func standingZones() []Check {
	return slices.DeleteFunc(zoneChecks(), func(c Check) bool { return c.ID == "zone/impaired" })
}

// OfPools is what spot-report judges: the pools, over days.
func OfPools() []Check { return poolChecks() }

func without(list, others []Check) []Check {
	return slices.DeleteFunc(list, func(c Check) bool {
		return slices.ContainsFunc(others, func(o Check) bool { return o.ID == c.ID })
	})
}

// AtLaunch is the checks that can judge a launch at once.
func AtLaunch() []Check {
	return slices.DeleteFunc(without(All(), standingAddresses()), func(c Check) bool { return !c.AtLaunch })
}

// Standing is the checks that watch the cluster itself, whether or not an
// instance is in trouble: its groups, and what works and costs. Its health is
// nodegroup-watch's (OfHealth), its addresses are subnet-watch's (OfAddresses).
func Standing() []Check {
	return slices.Concat(launchChecks(), []Check{crossZoneNAT()})
}
