package text

import "rollcall/shared/checkid"

// What is said of security groups and subnets that do not go together.
const (
	otherVPC  = "the NodeClass selects security groups and subnets of different VPCs"
	selectVPC = "Let securityGroupSelectorTerms and subnetSelectorTerms of the NodeClass select within the cluster's VPC: the tags that they go by are in another VPC too."
)

// karpenterRows are conditions, events and log lines of Karpenter and of EKS
// Auto Mode, which runs it.
func karpenterRows() []row {
	const class = checkid.KarpenterNodeclassNotReady
	return []row{
		{check: class, all: [][]string{{"subnetselector did not match", "securitygroupselector did not match", "amiselector did not match", "no subnets found",
			"no subnets exist given constraints", "no security groups exist given constraints", "no amis exist given constraints", "no amis found",
			"no security groups found", "no subnets matched", "no security groups matched", "no amis matched", "no subnets…selector",
			"no security groups…selector", "nodeclassnotready", "nodeclass not ready", "node class not ready", "failed resolving nodeclass",
			"failed resolving node class", "resolving nodeclass", "nodeclass not found", "nodeclass…not found", "nodeclassnotfound", "nodeclassterminating",
			"no capacity reservations exist"}}, source: karpenterDoc},
		{check: class, codes: []string{"SubnetsNotFound", "SecurityGroupsNotFound", "AMINotFound", "UnsupportedAlias", "InstanceProfileNotFound",
			"PlacementGroupNotFound", "PlacementGroupResolutionFailed", "TagValidationFailed", "ClusterCIDRResolutionFailed", "InvalidKubeletConfiguration",
			"UnsupportedKubeletConfiguration", "DependenciesNotReady", "NodeClassNotReady", "NodePoolValidationFailed", "NodeClassNotFound",
			"NodeClassTerminating", "NodeClassReadinessUnknown", "SubnetResolutionFailed", "InstanceTypeResolutionFailed"}, by: []program{karpenter},
			source: karpenterDoc},
		{check: class, by: []program{karpenter}, all: [][]string{{"subnetsready", "securitygroupsready", "amisready", "instanceprofileready", "nodeclassready",
			"placementgroupready", "capacityreservationsready"}, {"false", "unknown"}}, source: karpenterDoc},
		{check: class, by: []program{karpenter}, all: [][]string{{"ec2nodeclass", "nodeclass"}, {"validationsucceeded", "readiness", "ready=false",
			"ready: false", "type: ready status: false", "type: ready, status: false", "is not ready", "status: false", "ready false", "ready=unknown"}},
			none: []string{"registered", "notready nodes"}, source: karpenterDoc},
		{check: class, by: []program{karpenter}, all: [][]string{{"instance profile", "instanceprofile"}, {"neither", "not specified", "no instance profile", "not found", "cannot be found", "nosuchentity",
			"failed to create", "creating instance profile", "getting instance profile", "failed to detect"}}, source: karpenterDoc},
		{check: class, by: []program{karpenter}, all: [][]string{{"discovering ami", "discover any amis", "resolving ami", "getting amis", "getting subnets",
			"getting security groups", "describing security groups", "describing subnets", "describing images", "failed to detect the cluster cidr"}},
			source: karpenterDoc},
		{check: checkid.KarpenterNodepoolLimit, by: []program{karpenter}, all: [][]string{{"exceed limits", "exceeds limit", "limits exceeded",
			"limit exceeded for", "exceed limit", "all available instance types exceed", "would exceed", "would breach…limits"}}, none: []string{"vcpu limit"},
			source: karpenterDoc},

		// Joined, and not usable.
		{check: checkid.NodeNotInitialized, by: []program{karpenter, csi, unknownProgram}, codes: []string{"StartupTaintsExist", "KnownEphemeralTaintsExist",
			"ResourceNotRegistered", "DRADriverPoolsNotPublished"}, source: karpenterDoc},
		{check: checkid.NodeNotInitialized, all: [][]string{{"startuptaint…still exists", "knownephemeraltaint", "was requested but not registered",
			"ebs.csi.aws.com/agent-not-ready", "startup taint"}}, source: karpenterDoc},
		{check: checkid.NodeNotReady, symptom: true, by: []program{karpenter}, all: [][]string{{"node status is notready", "nodenotready", "reason: nodenotready"}},
			source: karpenterDoc, look: notReady()},

		// Launched, and not joined.
		{check: checkid.NodeNotRegistered, symptom: true, by: []program{karpenter}, all: [][]string{{"nodenotfound", "node not registered", "registration_timeout",
			"registration ttl", "registration timeout", "failed to register node", "registrationfailed", "karpenter.sh/unregistered",
			"unregisteredtaintmissing", "not registered within", "liveness", "registrationttl"}}, none: []string{"liveness probe"}, source: karpenterDoc,
			look: notJoining()},
		{check: checkid.NodeNotRegistered, symptom: true, all: [][]string{{"karpenter.sh/unregistered", "registration ttl", "registration_timeout",
			"node not registered with cluster"}}, none: []string{"tolerat"}, source: karpenterDoc, look: notJoining()},

		// Refused, by the reason that Karpenter gives (pkg/errors ToReasonMessage).
		{check: checkid.LaunchSecurityGroup, codes: []string{"SecurityGroupSubnetVPCMismatch"}, meaning: otherVPC, next: selectVPC, source: karpenterDoc},
		{check: checkid.LaunchSecurityGroup, all: [][]string{{"must be in the same vpc"}}, meaning: otherVPC, next: selectVPC, source: karpenterDoc},
		{check: checkid.LaunchAMI, codes: []string{"AMIAuthorizationFailure", "InvalidAMIID"}, source: karpenterDoc},
		{check: checkid.LaunchProfile, codes: []string{"InstanceProfileNameInvalid"}, source: karpenterDoc},
		{check: checkid.LaunchTemplate, codes: []string{"LaunchTemplateNotFound", "UserDataSizeLimitExceeded"}, source: karpenterDoc},
		{check: checkid.LaunchFleetLimit, codes: []string{"FleetQuotaExceeded"}, source: karpenterDoc},
		{check: checkid.LaunchAccountValidation, codes: []string{"AccountPendingVerification"}, source: karpenterDoc},
		{check: checkid.LaunchSpotLimit, codes: []string{"SpotQuotaExceeded"}, source: karpenterDoc},
		{check: checkid.LaunchVCPULimit, codes: []string{"VCPULimitExceeded"}, source: karpenterDoc},
		{check: checkid.LaunchUnsupportedType, codes: []string{"FreeTierIneligible"}, source: karpenterDoc},
		{check: checkid.LaunchUnauthorized, by: []program{karpenter}, all: [][]string{{"reason: unauthorized", "no identity-based policy allows"}}, source: karpenterDoc},
		{check: checkid.LaunchAMI, by: []program{karpenter}, all: [][]string{{"requirements of amis", "no instance types satisfy requirements of ami"}},
			source: karpenterDoc, look: []checkid.ID{checkid.KarpenterNodeclassNotReady},
			meaning: "no instance type that is left runs any of the NodeClass's images: their architecture or accelerator does not fit",
			next:    "Compare the images that the NodeClass found with the NodePool's architectures and types."},
		{check: checkid.LaunchInsufficientCapacity, by: []program{karpenter}, all: [][]string{{"too few instances returned"}}, none: []string{"unauthorized",
			"limitexceeded", "unsupported", "countexceeded", "addresses"}, source: karpenterDoc, look: launches(),
			meaning: "the fleet gave fewer instances than asked, and no error of its own: mostly EC2 has no more of these types"},
		{check: checkid.LaunchInsufficientCapacity, by: []program{karpenter}, all: [][]string{{"all requested instance types were unavailable"}},
			source: karpenterDoc, look: []checkid.ID{checkid.LaunchSpotLimit, checkid.LaunchVCPULimit, checkid.LaunchUnsupportedType}},
		{check: checkid.LaunchInsufficientCapacity, by: []program{karpenter}, all: [][]string{{"insufficientcapacityerror", "insufficient capacity"}},
			none: []string{"vcpulimitexceeded", "maxspotinstancecount", "unauthorized", "insufficientfreeaddresses", "unsupported -",
				"with fleet error(s), unsupported", "reservationcapacity", "maxfleet", "subnet"}, source: karpenterDoc, look: []checkid.ID{checkid.LaunchSpotLimit,
				checkid.LaunchVCPULimit}},

		{check: checkid.ZoneShifted, all: [][]string{{"zonal shift detected", "zonalshiftactive"}}, source: karpenterDoc},

		{meaning: "no instance type that the NodePool allows fits the pod: nothing was launched",
			next: "Compare the pod's requests, selectors and tolerations with the NodePool's requirements and taints.",
			by:   []program{karpenter}, all: [][]string{{"no instance type satisfied", "no instance type which", "incompatible with nodepool",
				"nocompatibleinstancetypes", "did not tolerate", "filtered out all compatible", "no nodepools found"}}, source: karpenterDoc},
	}
}
