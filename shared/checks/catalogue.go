package checks

import (
	"slices"

	"rollcall/shared/checks/check"
)

// OfLaunches is what explains launches: all but what is judged over days or by
// zone, or belongs to nodegroup-watch.
func OfLaunches() []check.Check { return watchedByJoinCheck() }

// AtLaunch is the checks that can judge a launch at once.
func AtLaunch() []check.Check {
	return slices.DeleteFunc(OfLaunches(), func(c check.Check) bool { return !c.AtLaunch })
}

// OfCluster is the checks that watch the cluster itself, whether or not an
// instance is in trouble: its groups, and what works and costs. Its health is
// nodegroup-watch's (OfHealth), its addresses are subnet-watch's (OfAddresses).
func OfCluster() []check.Check {
	list := watchedBySweep()
	for i, c := range list {
		list[i] = c.Sweeping()
	}
	return list
}

// OfAddresses is what subnet-watch judges: the subnets' addresses, whether or
// not anything is launched.
func OfAddresses() []check.Check { return watchedBySubnetWatch() }

// OfHealth is what nodegroup-watch judges in its sweep: what EKS itself says
// of nodegroups, the cluster and its add-ons.
func OfHealth() []check.Check { return watchedByNodegroupWatch() }

// OfZones is what zone-watch judges: volumes, and the nodes where they live.
func OfZones() []check.Check { return watchedByZoneWatch() }

// OfPools is what spot-report judges: the pools, over days.
func OfPools() []check.Check { return watchedBySpotReport() }
