package checks

import (
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
		nodegroup.Health(),
		nodegroup.Status(),
		nodegroup.UpdateFailed(),
		cluster.Health(),
		addon.Degraded(),
		node.NotRegistered(),
		node.NotReady(),
		node.CNINotReady(),
		node.Uninitialized(),
		node.CSRPending(),
		node.NotInitialized(),
		ip.SubnetExhausted(),
		ip.ScaleOutWillNotFit(),
		ip.Fragmented(),
		ip.Runway(),
		ip.LeakedInterfaces(),
		ip.LeakCause(),
		ip.BranchInterfaces(),
		ip.PodWithoutAddress(),
		ip.BranchLeaked(),
		spot.ReclaimedBeforeJoin(),
		spot.BurstExceedsSubnet(),
		spot.PoolFailing(),
		spot.FewPools(),
		spot.ManyRefusals(),
		spot.RebalanceChurn(),
		zone.VolumeStranded(),
		zone.NodegroupGap(),
		zone.PodUnschedulable(),
		zone.Impaired(),
		zone.Shifted(),
		karpenter.NodeClassNotReady(),
		karpenter.NodePoolLimit(),
		cni.IPv6(),
		cni.Version(),
		cni.ENIConfig(),
		cni.PodIdentityAgent(),
	}
}

// Of is the check of an id; false for one that is not, or no longer, in the catalogue.
func Of(id checkid.ID) (check.Check, bool) {
	switch id {
	case checkid.RouteNoEgress:
		return route.NoEgress(), true
	case checkid.RouteBlackhole:
		return route.Blackhole(), true
	case checkid.RouteNATUnusable:
		return route.NATUnusable(), true
	case checkid.RouteNATNoInternet:
		return route.NATNoInternet(), true
	case checkid.RouteIGWNoPublicIP:
		return route.IGWNoPublicIP(), true
	case checkid.RouteIGWDetached:
		return route.IGWDetached(), true
	case checkid.RouteNATInstanceSourceCheck:
		return route.NATInstanceSourceCheck(), true
	case checkid.RouteAPIPublicCIDR:
		return route.APIPublicCIDR(), true
	case checkid.RouteAPIPrivateUnreachable:
		return route.APIPrivateUnreachable(), true
	case checkid.RouteIPv6NoEgress:
		return route.IPv6NoEgress(), true
	case checkid.RouteCrossZoneNAT:
		return route.CrossZoneNAT(), true
	case checkid.RouteLeavesView:
		return route.LeavesView(), true
	case checkid.RouteBlockedPublicAccess:
		return route.BlockedPublicAccess(), true
	case checkid.EndpointMissing:
		return endpoint.Missing(), true
	case checkid.EndpointSecurityGroup:
		return endpoint.SecurityGroup(), true
	case checkid.EndpointPrivateDNSOff:
		return endpoint.PrivateDNSOff(), true
	case checkid.EndpointNotAvailable:
		return endpoint.NotAvailable(), true
	case checkid.EndpointS3RouteMissing:
		return endpoint.S3RouteMissing(), true
	case checkid.EndpointPolicyDenies:
		return endpoint.PolicyDenies(), true
	case checkid.SGNodeEgress:
		return sg.NodeEgress(), true
	case checkid.SGClusterIngress:
		return sg.ClusterIngress(), true
	case checkid.SGKubeletIngress:
		return sg.KubeletIngress(), true
	case checkid.SGEFASelfRule:
		return sg.EFASelfRule(), true
	case checkid.NACLEgress:
		return nacl.Egress(), true
	case checkid.NACLReturn:
		return nacl.Return(), true
	case checkid.DNSSupportOff:
		return dns.SupportOff(), true
	case checkid.DNSHostnamesOff:
		return dns.HostnamesOff(), true
	case checkid.DNSDHCPOptions:
		return dns.DHCPOptions(), true
	case checkid.DNSFirewall:
		return dns.Firewall(), true
	case checkid.DNSResolverRule:
		return dns.ResolverRule(), true
	case checkid.DNSPrivateZone:
		return dns.PrivateZone(), true
	case checkid.IAMProfileMissing:
		return iam.ProfileMissing(), true
	case checkid.IAMRolePolicies:
		return iam.RolePolicies(), true
	case checkid.IAMRoleTrust:
		return iam.RoleTrust(), true
	case checkid.IAMAccessMissing:
		return iam.AccessMissing(), true
	case checkid.IAMAccessWrongARN:
		return iam.AccessWrongARN(), true
	case checkid.IAMSTSEndpoint:
		return iam.STSEndpoint(), true
	case checkid.IAMSTSRegionDeactivated:
		return iam.STSRegionDeactivated(), true
	case checkid.IAMAccessWrongType:
		return iam.AccessWrongType(), true
	case checkid.IAMAccessDuplicateMapping:
		return iam.AccessDuplicateMapping(), true
	case checkid.IAMAWSAuthInvalid:
		return iam.AWSAuthInvalid(), true
	case checkid.IAMCNIRolePolicies:
		return iam.CNIRolePolicies(), true
	case checkid.IAMAccessPolicyMissing:
		return iam.AccessPolicyMissing(), true
	case checkid.IAMAccessStale:
		return iam.AccessStale(), true
	case checkid.InstanceForbiddenNodeLabel:
		return instance.ForbiddenNodeLabel(), true
	case checkid.InstanceUserData:
		return instance.UserData(), true
	case checkid.InstanceIMDS:
		return instance.IMDS(), true
	case checkid.InstanceClusterTag:
		return instance.ClusterTag(), true
	case checkid.InstanceMaxPods:
		return instance.MaxPods(), true
	case checkid.InstanceForeignSecurityGroups:
		return instance.ForeignSecurityGroups(), true
	case checkid.InstanceOlderThanCluster:
		return instance.OlderThanCluster(), true
	case checkid.InstanceEndedEarly:
		return instance.EndedEarly(), true
	case checkid.InstanceStatusCheck:
		return instance.StatusCheck(), true
	case checkid.InstanceScheduledEvent:
		return instance.ScheduledEvent(), true
	case checkid.InstanceAMI:
		return instance.AMI(), true
	case checkid.InstanceVersionSkew:
		return instance.VersionSkew(), true
	case checkid.InstanceConsoleError:
		return instance.ConsoleError(), true
	case checkid.InstanceCommonFactor:
		return instance.CommonFactor(), true
	case checkid.InstanceUnowned:
		return instance.Unowned(), true
	case checkid.InstanceClusterCA:
		return instance.ClusterCA(), true
	case checkid.LaunchInsufficientCapacity:
		return launch.InsufficientCapacity(), true
	case checkid.LaunchCapacityReservation:
		return launch.CapacityReservation(), true
	case checkid.LaunchPlacement:
		return launch.Placement(), true
	case checkid.LaunchSpotLimit:
		return launch.SpotLimit(), true
	case checkid.LaunchSpotPrice:
		return launch.SpotPrice(), true
	case checkid.LaunchVCPULimit:
		return launch.VCPULimit(), true
	case checkid.LaunchFleetLimit:
		return launch.FleetLimit(), true
	case checkid.LaunchSubnetFull:
		return launch.SubnetFull(), true
	case checkid.LaunchKMSKey:
		return launch.KMSKey(), true
	case checkid.LaunchTemplate:
		return launch.Template(), true
	case checkid.LaunchAMI:
		return launch.AMI(), true
	case checkid.LaunchSecurityGroup:
		return launch.SecurityGroup(), true
	case checkid.LaunchProfile:
		return launch.Profile(), true
	case checkid.LaunchUnauthorized:
		return launch.Unauthorized(), true
	case checkid.LaunchUnsupportedType:
		return launch.UnsupportedType(), true
	case checkid.LaunchVolumeLimit:
		return launch.VolumeLimit(), true
	case checkid.LaunchThrottled:
		return launch.Throttled(), true
	case checkid.LaunchSuspended:
		return launch.Suspended(), true
	case checkid.LaunchAccountValidation:
		return launch.AccountValidation(), true
	case checkid.LaunchServiceRole:
		return launch.ServiceRole(), true
	case checkid.LaunchUnclassified:
		return launch.Unclassified(), true
	case checkid.LaunchPolicyDenied:
		return launch.PolicyDenied(), true
	case checkid.LaunchEncryptionControls:
		return launch.EncryptionControls(), true
	case checkid.LaunchImageNotAllowed:
		return launch.ImageNotAllowed(), true
	case checkid.LaunchIMDSEnforced:
		return launch.IMDSEnforced(), true
	case checkid.NodegroupHealth:
		return nodegroup.Health(), true
	case checkid.NodegroupStatus:
		return nodegroup.Status(), true
	case checkid.NodegroupUpdateFailed:
		return nodegroup.UpdateFailed(), true
	case checkid.ClusterHealth:
		return cluster.Health(), true
	case checkid.AddonDegraded:
		return addon.Degraded(), true
	case checkid.NodeNotRegistered:
		return node.NotRegistered(), true
	case checkid.NodeNotReady:
		return node.NotReady(), true
	case checkid.NodeCNINotReady:
		return node.CNINotReady(), true
	case checkid.NodeUninitialized:
		return node.Uninitialized(), true
	case checkid.NodeCSRPending:
		return node.CSRPending(), true
	case checkid.NodeNotInitialized:
		return node.NotInitialized(), true
	case checkid.IPSubnetExhausted:
		return ip.SubnetExhausted(), true
	case checkid.IPScaleOutWillNotFit:
		return ip.ScaleOutWillNotFit(), true
	case checkid.IPFragmented:
		return ip.Fragmented(), true
	case checkid.IPRunway:
		return ip.Runway(), true
	case checkid.IPLeakedInterfaces:
		return ip.LeakedInterfaces(), true
	case checkid.IPLeakCause:
		return ip.LeakCause(), true
	case checkid.IPBranchInterfaces:
		return ip.BranchInterfaces(), true
	case checkid.IPPodWithoutAddress:
		return ip.PodWithoutAddress(), true
	case checkid.IPBranchLeaked:
		return ip.BranchLeaked(), true
	case checkid.SpotReclaimedBeforeJoin:
		return spot.ReclaimedBeforeJoin(), true
	case checkid.SpotBurstExceedsSubnet:
		return spot.BurstExceedsSubnet(), true
	case checkid.SpotPoolFailing:
		return spot.PoolFailing(), true
	case checkid.SpotFewPools:
		return spot.FewPools(), true
	case checkid.SpotManyRefusals:
		return spot.ManyRefusals(), true
	case checkid.SpotRebalanceChurn:
		return spot.RebalanceChurn(), true
	case checkid.ZoneVolumeStranded:
		return zone.VolumeStranded(), true
	case checkid.ZoneNodegroupGap:
		return zone.NodegroupGap(), true
	case checkid.ZonePodUnschedulable:
		return zone.PodUnschedulable(), true
	case checkid.ZoneImpaired:
		return zone.Impaired(), true
	case checkid.ZoneShifted:
		return zone.Shifted(), true
	case checkid.KarpenterNodeclassNotReady:
		return karpenter.NodeClassNotReady(), true
	case checkid.KarpenterNodepoolLimit:
		return karpenter.NodePoolLimit(), true
	case checkid.CNIIPv6:
		return cni.IPv6(), true
	case checkid.CNIVersion:
		return cni.Version(), true
	case checkid.CNIEniconfig:
		return cni.ENIConfig(), true
	case checkid.CNIPodIdentityAgent:
		return cni.PodIdentityAgent(), true
	}
	return check.Check{}, false
}
