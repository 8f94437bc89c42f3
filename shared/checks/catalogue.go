package checks

import (
	"slices"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checkid"
	"rollcall/shared/checks/cluster"
	"rollcall/shared/checks/dns"
	"rollcall/shared/checks/endpoint"
	"rollcall/shared/checks/iam"
	"rollcall/shared/checks/instance"
	"rollcall/shared/checks/ip"
	"rollcall/shared/checks/launch"
	"rollcall/shared/checks/node"
	"rollcall/shared/checks/nodegroup"
	"rollcall/shared/checks/route"
	"rollcall/shared/checks/sg"
	"rollcall/shared/checks/spot"
	"rollcall/shared/checks/zone"
)

// All is every check, in the catalogue's order. Each group has its own list,
// beside its checks.
func All() []check.Check {
	return slices.Concat(
		route.RouteChecks(),
		endpoint.EndpointChecks(),
		sg.FilterChecks(),
		dns.DNSChecks(),
		iam.IAMChecks(),
		instance.InstanceChecks(),
		launch.LaunchChecks(),
		nodegroup.NodegroupChecks(),
		cluster.ClusterChecks(),
		node.NodeChecks(),
		ip.AddressChecks(),
		spot.SpotChecks(),
		spot.PoolChecks(),
		zone.ZoneChecks(),
	)
}

// OfLaunches is what explains launches: all but what is judged over days or by zone, or
// belongs to nodegroup-watch.
func OfLaunches() []check.Check {
	return without(All(), slices.Concat(nodegroup.NodegroupChecks(), spot.PoolChecks(), standingAddresses(), standingZones()))
}

// OfAddresses is what subnet-watch judges: the subnets' addresses, whether or
// not anything is launched.
func OfAddresses() []check.Check { return ip.AddressChecks() }

// standingAddresses are the checks of addresses that explain no launch: they
// look ahead, or say why something else came to be.
func standingAddresses() []check.Check {
	ids := []checkid.ID{"ip/runway", "ip/scale-out-will-not-fit", "ip/fragmented", "ip/leak-cause"}
	return slices.DeleteFunc(ip.AddressChecks(), func(c check.Check) bool { return !slices.Contains(ids, c.ID) })
}

// OfHealth is what nodegroup-watch judges in its sweep: what EKS itself says
// of nodegroups, the cluster and its add-ons.
func OfHealth() []check.Check {
	return slices.Concat(nodegroup.NodegroupChecks(), cluster.ClusterChecks())
}

// OfZones is what zone-watch judges: volumes, and the nodes where they live.
func OfZones() []check.Check { return zone.ZoneChecks() }

// standingZones are the checks of zones that explain no launch. That a zone is
// in trouble does, and is to be said before a setting is blamed.
func standingZones() []check.Check {
	return slices.DeleteFunc(zone.ZoneChecks(), func(c check.Check) bool { return c.ID == "zone/impaired" })
}

// OfPools is what spot-report judges: the pools, over days.
func OfPools() []check.Check { return spot.PoolChecks() }

func without(list, others []check.Check) []check.Check {
	return slices.DeleteFunc(list, func(c check.Check) bool {
		return slices.ContainsFunc(others, func(o check.Check) bool { return o.ID == c.ID })
	})
}

// AtLaunch is the checks that can judge a launch at once.
func AtLaunch() []check.Check {
	return slices.DeleteFunc(without(All(), standingAddresses()), func(c check.Check) bool { return !c.AtLaunch })
}

// Standing is the checks that watch the cluster itself, whether or not an
// instance is in trouble: its groups, and what works and costs. Its health is
// nodegroup-watch's (OfHealth), its addresses are subnet-watch's (OfAddresses).
func Standing() []check.Check {
	return slices.Concat(launch.LaunchChecks(), []check.Check{route.CrossZoneNAT()})
}
