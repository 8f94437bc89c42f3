// Package checks is the list of all checks, and what the rest of the program
// knows of them: what a check is, and what checks are written with, stands in package
// check, what it found in finding, and each check itself in the folder of its family.
//
// The IDs are permanent: they stand in Slack, in finding events and in other
// people's rules.
package checks

import (
	"slices"

	"rollcall/shared/checkid"
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

// Explaining are the checks that explain one, by id: kinds of causes as the checks
// that are of that kind.
func Explaining(list []check.Check, of check.Check) []checkid.ID {
	var ids []checkid.ID
	add := func(id checkid.ID) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range of.After {
		kind := false
		for _, c := range list {
			if slices.Contains(c.Explains, id) {
				kind = true
				if c.ID != of.ID {
					add(c.ID)
				}
			}
		}
		if !kind {
			add(id)
		}
	}
	return ids
}
