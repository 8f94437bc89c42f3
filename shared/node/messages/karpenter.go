package messages

import (
	"rollcall/shared/checkid"
)

// What is said of security groups and subnets that do not go together.
const (
	otherVPC  = "the NodeClass selects security groups and subnets of different VPCs"
	selectVPC = "Let securityGroupSelectorTerms and subnetSelectorTerms of the NodeClass select within the cluster's VPC: the tags that they go by are in another VPC too."
)

// karpenterRows are conditions, events and log lines of Karpenter and of EKS
// Auto Mode, which runs it.
func karpenterRows() []Row {
	const class = checkid.KarpenterNodeclassNotReady
	return []Row{
		{Check: class, All: [][]string{{"subnetselector did not match", "securitygroupselector did not match", "amiselector did not match", "no subnets found",
			"no subnets exist given constraints", "no security groups exist given constraints", "no amis exist given constraints", "no amis found",
			"no security groups found", "no subnets matched", "no security groups matched", "no amis matched", "no subnets…selector",
			"no security groups…selector", "nodeclassnotready", "nodeclass not ready", "node class not ready", "failed resolving nodeclass",
			"failed resolving node class", "resolving nodeclass", "nodeclass not found", "nodeclass…not found", "nodeclassnotfound", "nodeclassterminating",
			"no capacity reservations exist"}}, Source: karpenterDoc},
		{Check: class, Codes: []string{"UnauthorizedNodeRole"}, Source: "EKS user guide, Auto Mode: create a node class",
			Look:    []checkid.ID{checkid.IAMAccessMissing, checkid.IAMAccessPolicyMissing},
			Meaning: "the NodeClass's node role has no access entry in the cluster: its nodes cannot join",
			Next:    "Create an access entry of type EC2 for the role, with the policy AmazonEKSAutoNodePolicy."},
		{Check: class, Codes: []string{"SubnetsNotFound", "SecurityGroupsNotFound", "AMINotFound", "UnsupportedAlias", "InstanceProfileNotFound",
			"PlacementGroupNotFound", "PlacementGroupResolutionFailed", "TagValidationFailed", "ClusterCIDRResolutionFailed", "InvalidKubeletConfiguration",
			"UnsupportedKubeletConfiguration", "DependenciesNotReady", "NodeClassNotReady", "NodePoolValidationFailed", "NodeClassNotFound",
			"NodeClassTerminating", "NodeClassReadinessUnknown", "SubnetResolutionFailed", "InstanceTypeResolutionFailed"}, By: []Program{Karpenter},
			Source: karpenterDoc},
		{Check: class, By: []Program{Karpenter}, All: [][]string{{"subnetsready", "securitygroupsready", "amisready", "instanceprofileready", "nodeclassready",
			"placementgroupready", "capacityreservationsready"}, {"false", "unknown"}}, Source: karpenterDoc},
		{Check: class, By: []Program{Karpenter}, All: [][]string{{"ec2nodeclass", "nodeclass"}, {"validationsucceeded", "readiness", "ready=false",
			"ready: false", "type: ready status: false", "type: ready, status: false", "is not ready", "status: false", "ready false", "ready=unknown"}},
			None: []string{"registered", "notready nodes"}, Source: karpenterDoc},
		{Check: class, By: []Program{Karpenter}, All: [][]string{{"instance profile", "instanceprofile"}, {"neither", "not specified", "no instance profile", "not found", "cannot be found", "nosuchentity",
			"failed to create", "creating instance profile", "getting instance profile", "failed to detect"}}, Source: karpenterDoc},
		{Check: class, By: []Program{Karpenter}, All: [][]string{{"neither…instanceprofile", "failed to create…instance profile", "failed to detect…instance profile",
			"resolving…instance profile"}}, Source: karpenterDoc},
		{Check: class, By: []Program{Karpenter}, All: [][]string{{"discovering ami", "discover any amis", "resolving ami", "getting amis", "getting subnets",
			"getting security groups", "describing security groups", "describing subnets", "describing images", "failed to detect the cluster cidr"}},
			Source: karpenterDoc},
		{Info: true, Check: checkid.KarpenterNodepoolLimit, By: []Program{Karpenter}, All: [][]string{{"exceed limits", "exceeds limit", "limits exceeded",
			"limit exceeded for", "exceed limit", "all available instance types exceed", "would exceed", "would breach…limits"}}, None: []string{"vcpu limit"},
			Source: karpenterDoc},

		// Joined, and not usable.
		{Check: checkid.NodeNotInitialized, By: []Program{Karpenter, CSI, UnknownProgram}, Codes: []string{"StartupTaintsExist", "KnownEphemeralTaintsExist",
			"ResourceNotRegistered", "DRADriverPoolsNotPublished"}, Source: karpenterDoc},
		{Info: true, Check: checkid.NodeNotInitialized, All: [][]string{{"didnt register on the node", "startuptaint…still exists", "knownephemeraltaint", "was requested but not registered",
			"ebs.csi.aws.com/agent-not-ready", "startup taint"}}, Source: karpenterDoc},
		{Check: checkid.NodeNotReady, Symptom: true, By: []Program{Karpenter}, All: [][]string{{"node status is notready", "nodenotready", "reason: nodenotready"}},
			Source: karpenterDoc, Look: NotReady()},

		// Launched, and not joined.
		{Check: checkid.NodeNotRegistered, Symptom: true, By: []Program{Karpenter}, All: [][]string{{"nodenotfound", "node not registered", "registration_timeout",
			"registration ttl", "registration timeout", "failed to register node", "registrationfailed", "karpenter.sh/unregistered",
			"unregisteredtaintmissing", "not registered within", "liveness", "registrationttl"}}, None: []string{"liveness probe"}, Source: karpenterDoc,
			Look: NotJoining()},
		{Check: checkid.NodeNotRegistered, Symptom: true, All: [][]string{{"karpenter.sh/unregistered", "registration ttl", "registration_timeout",
			"node not registered with cluster"}}, None: []string{"tolerat"}, Source: karpenterDoc, Look: NotJoining()},

		// Refused, by the reason that Karpenter gives (pkg/errors ToReasonMessage).
		{Check: checkid.LaunchSecurityGroup, Codes: []string{"SecurityGroupSubnetVPCMismatch"}, Meaning: otherVPC, Next: selectVPC, Source: karpenterDoc},
		{Check: checkid.LaunchSecurityGroup, All: [][]string{{"must be in the same vpc"}}, Meaning: otherVPC, Next: selectVPC, Source: karpenterDoc},
		{Check: checkid.LaunchAMI, Codes: []string{"AMIAuthorizationFailure", "InvalidAMIID"}, Source: karpenterDoc},
		{Check: checkid.LaunchProfile, Codes: []string{"InstanceProfileNameInvalid"}, Source: karpenterDoc},
		{Check: checkid.LaunchTemplate, Codes: []string{"LaunchTemplateNotFound", "UserDataSizeLimitExceeded"}, Source: karpenterDoc},
		{Check: checkid.LaunchFleetLimit, Codes: []string{"FleetQuotaExceeded"}, Source: karpenterDoc},
		{Check: checkid.LaunchAccountValidation, Codes: []string{"AccountPendingVerification"}, Source: karpenterDoc},
		{Check: checkid.LaunchSpotLimit, Codes: []string{"SpotQuotaExceeded"}, Source: karpenterDoc},
		{Check: checkid.LaunchVCPULimit, Codes: []string{"VCPULimitExceeded"}, Source: karpenterDoc},
		{Check: checkid.LaunchUnsupportedType, Codes: []string{"FreeTierIneligible"}, Source: karpenterDoc},
		{Check: checkid.LaunchUnauthorized, By: []Program{Karpenter}, All: [][]string{{"reason: unauthorized", "no identity-based policy allows"}}, Source: karpenterDoc},
		{Check: checkid.LaunchAMI, By: []Program{Karpenter}, All: [][]string{{"requirements of amis", "no instance types satisfy requirements of ami"}},
			Source: karpenterDoc, Look: []checkid.ID{checkid.KarpenterNodeclassNotReady},
			Meaning: "no instance type that is left runs any of the NodeClass's images: their architecture or accelerator does not fit",
			Next:    "Compare the images that the NodeClass found with the NodePool's architectures and types."},
		{Check: checkid.LaunchInsufficientCapacity, By: []Program{Karpenter}, All: [][]string{{"too few instances returned"}}, None: []string{"unauthorized",
			"limitexceeded", "unsupported", "countexceeded", "addresses"}, Source: karpenterDoc, Look: Launches(),
			Meaning: "the fleet gave fewer instances than asked, and no error of its own: mostly EC2 has no more of these types"},
		{Check: checkid.LaunchInsufficientCapacity, By: []Program{Karpenter}, All: [][]string{{"all requested instance types were unavailable"}},
			Source: karpenterDoc, Look: []checkid.ID{checkid.LaunchSpotLimit, checkid.LaunchVCPULimit, checkid.LaunchUnsupportedType}},
		{Check: checkid.LaunchInsufficientCapacity, By: []Program{Karpenter}, All: [][]string{{"insufficientcapacityerror", "insufficient capacity"}},
			None: []string{"vcpulimitexceeded", "maxspotinstancecount", "unauthorized", "insufficientfreeaddresses", "unsupported -",
				"with fleet error(s), unsupported", "reservationcapacity", "maxfleet", "subnet"}, Source: karpenterDoc, Look: []checkid.ID{checkid.LaunchSpotLimit,
				checkid.LaunchVCPULimit}},

		{Check: checkid.ZoneShifted, All: [][]string{{"zonal shift detected", "zonalshiftactive"}}, Source: karpenterDoc},

		{Check: checkid.ZonePodUnschedulable, Info: true, All: [][]string{{"topology.kubernetes.io/zone doesnotexist not in topology.kubernetes.io/zone",
			"topology.ebs.csi.aws.com/zone doesnotexist not in"}}, Source: "github.com/kubernetes-sigs/karpenter: pkg/scheduling/requirements.go",
			Look:    []checkid.ID{checkid.ZoneVolumeStranded},
			Meaning: "the zones required by the pod and by its volumes do not overlap",
			Next:    "Compare the zones of the pod's volumes (kubectl get pv) with its node affinity and topology spread: a pod with volumes in two zones fits no node."},
		{Check: class, All: [][]string{{"label is restricted; specify a well known label", "label…is restricted…specify a well known label"}},
			Source:  "github.com/kubernetes-sigs/karpenter: pkg/apis/v1/labels.go, IsRestrictedLabel",
			Meaning: "the NodePool is not valid: it uses a reserved label",
			Next:    "Use a well-known label. EKS Auto Mode has its own: eks.amazonaws.com/instance-category instead of karpenter.k8s.aws/instance-category."},
		{Meaning: "no instance type that the NodePool allows fits the pod: nothing was launched",
			Next: "Compare the pod's requests, selectors and tolerations with the NodePool's requirements and taints.",
			By:   []Program{Karpenter}, All: [][]string{{"no instance type satisfied", "no instance type which", "incompatible with nodepool",
				"nocompatibleinstancetypes", "did not tolerate", "filtered out all compatible", "no nodepools found"}}, Source: karpenterDoc},
	}
}
