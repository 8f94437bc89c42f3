package checks

import (
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

func watchedByJoinCheck() []check.Check {
	return []check.Check{
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
	}
}

func watchedBySweep() []check.Check {
	return []check.Check{
		route.CrossZoneNAT(),
		iam.AccessMissing(),
		iam.AccessWrongARN(),
		iam.AccessWrongType(),
		iam.AccessPolicyMissing(),
		iam.AccessStale(),
		instance.ClusterCA(),
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
		node.NotInitialized(),
		ip.BranchInterfaces(),
		ip.PodWithoutAddress(),
		karpenter.NodeClassNotReady(),
		karpenter.NodePoolLimit(),
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
