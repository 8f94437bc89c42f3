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
	return inOrder(refusals(), []check.Check{
		route.NoEgress(),
		route.Blackhole(),
		route.NATUnusable(),
		route.NATNoInternet(),
		route.IGWNoPublicIP(),
		route.IGWDetached(),
		route.NATInstanceSourceCheck(),
		route.APIPublicCIDR(),
		route.APIPrivateUnreachable(),
		route.IPv6NoEgress(),
		route.CrossZoneNAT(),
		route.LeavesView(),
		route.BlockedPublicAccess(),
		endpoint.Missing(),
		endpoint.SecurityGroup(),
		endpoint.PrivateDNSOff(),
		endpoint.NotAvailable(),
		endpoint.S3RouteMissing(),
		endpoint.PolicyDenies(),
		sg.NodeEgress(),
		sg.ClusterIngress(),
		sg.KubeletIngress(),
		sg.EFASelfRule(),
		nacl.Egress(),
		nacl.Return(),
		dns.SupportOff(),
		dns.HostnamesOff(),
		dns.DHCPOptions(),
		dns.Firewall(),
		dns.ResolverRule(),
		dns.PrivateZone(),
		iam.ProfileMissing(),
		iam.RolePolicies(),
		iam.RoleTrust(),
		iam.AccessMissing(),
		iam.AccessWrongARN(),
		iam.STSEndpoint(),
		iam.STSRegionDeactivated(),
		iam.AccessWrongType(),
		iam.AccessDuplicateMapping(),
		iam.AWSAuthInvalid(),
		iam.CNIRolePolicies(),
		iam.AccessPolicyMissing(),
		iam.AccessStale(),
		instance.ForbiddenNodeLabel(),
		instance.UserData(),
		instance.IMDS(),
		instance.ClusterTag(),
		instance.MaxPods(),
		instance.ForeignSecurityGroups(),
		instance.OlderThanCluster(),
		instance.EndedEarly(),
		instance.StatusCheck(),
		instance.ScheduledEvent(),
		instance.AMI(),
		instance.VersionSkew(),
		instance.ConsoleError(),
		instance.CommonFactor(),
		instance.Unowned(),
		instance.ClusterCA(),
		cluster.Health(),
		addon.Degraded(),
		node.NotRegistered(),
		node.NotReady(),
		node.CNINotReady(),
		node.Uninitialized(),
		node.CSRPending(),
		node.NotInitialized(),
		ip.SubnetExhausted(),
		ip.LeakedInterfaces(),
		ip.BranchInterfaces(),
		ip.PodWithoutAddress(),
		ip.BranchLeaked(),
		spot.ReclaimedBeforeJoin(),
		spot.BurstExceedsSubnet(),
		zone.Impaired(),
		karpenter.NodeClassNotReady(),
		karpenter.NodePoolLimit(),
		cni.IPv6(),
		cni.Version(),
		cni.ENIConfig(),
		cni.PodIdentityAgent(),
	})
}

func watchedBySweep() []check.Check {
	return inOrder(refusals(), []check.Check{
		route.CrossZoneNAT(),
		iam.AccessMissing(),
		iam.AccessWrongARN(),
		iam.AccessWrongType(),
		iam.AccessPolicyMissing(),
		iam.AccessStale(),
		instance.ClusterCA(),
		node.NotInitialized(),
		ip.BranchInterfaces(),
		ip.PodWithoutAddress(),
		karpenter.NodeClassNotReady(),
		karpenter.NodePoolLimit(),
	})
}

// refusals are the launches that failed, which join-check explains and a sweep reports.
func refusals() []check.Check {
	return []check.Check{
		launch.InsufficientCapacity(),
		launch.CapacityReservation(),
		launch.Placement(),
		launch.SpotLimit(),
		launch.SpotPrice(),
		launch.VCPULimit(),
		launch.FleetLimit(),
		launch.SubnetFull(),
		launch.KMSKey(),
		launch.Template(),
		launch.AMI(),
		launch.SecurityGroup(),
		launch.Profile(),
		launch.Unauthorized(),
		launch.UnsupportedType(),
		launch.VolumeLimit(),
		launch.Throttled(),
		launch.Suspended(),
		launch.AccountValidation(),
		launch.ServiceRole(),
		launch.Unclassified(),
		launch.PolicyDenied(),
		launch.EncryptionControls(),
		launch.ImageNotAllowed(),
		launch.IMDSEnforced(),
	}
}

func watchedByNodegroupWatch() []check.Check {
	return []check.Check{
		nodegroup.Health(),
		nodegroup.Status(),
		nodegroup.UpdateFailed(),
		cluster.Health(),
		addon.Degraded(),
	}
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
