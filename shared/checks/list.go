package checks

import (
	"slices"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/addon"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/cluster"
	"rollcall/shared/checks/cni"
	"rollcall/shared/checks/dns"
	"rollcall/shared/checks/endpoint"
	"rollcall/shared/checks/iam"
	"rollcall/shared/checks/instance"
	"rollcall/shared/checks/ip"
	"rollcall/shared/checks/karpenter"
	"rollcall/shared/checks/launch"
	"rollcall/shared/checks/nacl"
	"rollcall/shared/checks/node"
	"rollcall/shared/checks/nodegroup"
	"rollcall/shared/checks/route"
	"rollcall/shared/checks/sg"
	"rollcall/shared/checks/spot"
	"rollcall/shared/checks/zone"
)

// All is every check, in the catalogue's order.
func All() []check.Check {
	return inOrder(watchedByJoinCheck(), watchedByNodegroupWatch(), watchedBySubnetWatch(), watchedByZoneWatch(), watchedBySpotReport())
}

// inOrder is the checks of several lists, once each, in the catalogue's order.
func inOrder(lists ...[]check.Check) []check.Check {
	at := map[checkid.ID]int{}
	for e := range catalog.All() {
		at[e.ID] = len(at)
	}
	list := slices.Concat(lists...)
	slices.SortStableFunc(list, func(a, b check.Check) int { return at[a.ID] - at[b.ID] })
	return slices.CompactFunc(list, func(a, b check.Check) bool { return a.ID == b.ID })
}

// What each detector judges: its program has no other check.

func watchedByJoinCheck() []check.Check {
	return inOrder(
		route.Checks(), endpoint.Checks(), sg.Checks(), nacl.Checks(), dns.Checks(), iam.Checks(), instance.Checks(),
		launch.Checks(), node.Checks(), karpenter.Checks(), cni.Checks(),
		[]check.Check{
			cluster.Health(),
			addon.Degraded(),
			ip.SubnetExhausted(),
			ip.LeakedInterfaces(),
			ip.BranchInterfaces(),
			ip.PodWithoutAddress(),
			ip.BranchLeaked(),
			spot.ReclaimedBeforeJoin(),
			spot.BurstExceedsSubnet(),
			zone.Impaired(),
		})
}

// watchedBySweep are those of the join check, whose program the sweep is in, that say so.
func watchedBySweep() []check.Check {
	return slices.DeleteFunc(watchedByJoinCheck(), func(c check.Check) bool { return !c.IsWatchedBy(catalog.Sweep) })
}

func watchedByNodegroupWatch() []check.Check {
	return append(nodegroup.Checks(), cluster.Health(), addon.Degraded())
}

func watchedBySubnetWatch() []check.Check {
	return []check.Check{
		ip.SubnetExhausted(),
		ip.ScaleOutWillNotFit(),
		ip.Fragmented(),
		ip.Runway(),
		ip.LeakedInterfaces(),
		ip.LeakCause(),
		ip.BranchLeaked(),
	}
}

func watchedByZoneWatch() []check.Check {
	return []check.Check{
		zone.VolumeStranded(),
		zone.NodegroupGap(),
		zone.PodUnschedulable(),
		zone.Impaired(),
		zone.Shifted(),
	}
}

func watchedBySpotReport() []check.Check {
	return []check.Check{
		spot.PoolFailing(),
		spot.FewPools(),
		spot.ManyRefusals(),
		spot.RebalanceChurn(),
	}
}
