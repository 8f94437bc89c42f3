// Package checkid names the checks. The ids are permanent: they stand in Slack,
// in finding events and in other people's rules. They are apart from
// the checks because what knows how nodes end (shared/node) names checks too, and
// stands below them.
package checkid

import (
	"strings"
)

// The families.
const (
	Route     Family = "route"
	Endpoint  Family = "endpoint"
	SG        Family = "sg"
	NACL      Family = "nacl"
	DNS       Family = "dns"
	IAM       Family = "iam"
	Instance  Family = "instance"
	Launch    Family = "launch"
	Nodegroup Family = "nodegroup"
	Cluster   Family = "cluster"
	Addon     Family = "addon"
	Node      Family = "node"
	IP        Family = "ip"
	Spot      Family = "spot"
	Zone      Family = "zone"
	Karpenter Family = "karpenter"
	CNI       Family = "cni"
)

// The ids. Each is spelled here, and nowhere else.
const (
	RouteNoEgress               ID = "route/no-egress"
	RouteBlackhole              ID = "route/blackhole"
	RouteNATUnusable            ID = "route/nat-unusable"
	RouteNATNoInternet          ID = "route/nat-no-internet"
	RouteIGWNoPublicIP          ID = "route/igw-no-public-ip"
	RouteIGWDetached            ID = "route/igw-detached"
	RouteNATInstanceSourceCheck ID = "route/nat-instance-source-check"
	RouteAPIPublicCIDR          ID = "route/api-public-cidr"
	RouteAPIPrivateUnreachable  ID = "route/api-private-unreachable"
	RouteIPv6NoEgress           ID = "route/ipv6-no-egress"
	RouteCrossZoneNAT           ID = "route/cross-zone-nat"
	RouteLeavesView             ID = "route/leaves-view"
	RouteBlockedPublicAccess    ID = "route/blocked-public-access"

	EndpointMissing        ID = "endpoint/missing"
	EndpointSecurityGroup  ID = "endpoint/security-group"
	EndpointPrivateDNSOff  ID = "endpoint/private-dns-off"
	EndpointNotAvailable   ID = "endpoint/not-available"
	EndpointS3RouteMissing ID = "endpoint/s3-route-missing"
	EndpointPolicyDenies   ID = "endpoint/policy-denies"

	SGNodeEgress     ID = "sg/node-egress"
	SGClusterIngress ID = "sg/cluster-ingress"
	SGKubeletIngress ID = "sg/kubelet-ingress"
	SGEFASelfRule    ID = "sg/efa-self-rule"

	NACLEgress ID = "nacl/egress"
	NACLReturn ID = "nacl/return"

	DNSSupportOff   ID = "dns/support-off"
	DNSHostnamesOff ID = "dns/hostnames-off"
	DNSDHCPOptions  ID = "dns/dhcp-options"
	DNSFirewall     ID = "dns/firewall"
	DNSResolverRule ID = "dns/resolver-rule"
	DNSPrivateZone  ID = "dns/private-zone"

	IAMProfileMissing         ID = "iam/profile-missing"
	IAMRolePolicies           ID = "iam/role-policies"
	IAMRoleTrust              ID = "iam/role-trust"
	IAMAccessMissing          ID = "iam/access-missing"
	IAMAccessWrongARN         ID = "iam/access-wrong-arn"
	IAMSTSEndpoint            ID = "iam/sts-endpoint"
	IAMSTSRegionDeactivated   ID = "iam/sts-region-deactivated"
	IAMAccessWrongType        ID = "iam/access-wrong-type"
	IAMAccessDuplicateMapping ID = "iam/access-duplicate-mapping"
	IAMAWSAuthInvalid         ID = "iam/aws-auth-invalid"
	IAMCNIRolePolicies        ID = "iam/cni-role-policies"
	IAMAccessPolicyMissing    ID = "iam/access-policy-missing"
	IAMAccessStale            ID = "iam/access-stale"

	InstanceForbiddenNodeLabel    ID = "instance/forbidden-node-label"
	InstanceUserData              ID = "instance/user-data"
	InstanceIMDS                  ID = "instance/imds"
	InstanceClusterTag            ID = "instance/cluster-tag"
	InstanceMaxPods               ID = "instance/max-pods"
	InstanceForeignSecurityGroups ID = "instance/foreign-security-groups"
	InstanceOlderThanCluster      ID = "instance/older-than-cluster"
	InstanceEndedEarly            ID = "instance/ended-early"
	InstanceStatusCheck           ID = "instance/status-check"
	InstanceScheduledEvent        ID = "instance/scheduled-event"
	InstanceAMI                   ID = "instance/ami"
	InstanceVersionSkew           ID = "instance/version-skew"
	InstanceConsoleError          ID = "instance/console-error"
	InstanceCommonFactor          ID = "instance/common-factor"
	InstanceUnowned               ID = "instance/unowned"
	InstanceClusterCA             ID = "instance/cluster-ca"

	LaunchInsufficientCapacity ID = "launch/insufficient-capacity"
	LaunchCapacityReservation  ID = "launch/capacity-reservation"
	LaunchPlacement            ID = "launch/placement"
	LaunchSpotLimit            ID = "launch/spot-limit"
	LaunchSpotPrice            ID = "launch/spot-price"
	LaunchVCPULimit            ID = "launch/vcpu-limit"
	LaunchFleetLimit           ID = "launch/fleet-limit"
	LaunchSubnetFull           ID = "launch/subnet-full"
	LaunchKMSKey               ID = "launch/kms-key"
	LaunchTemplate             ID = "launch/template"
	LaunchAMI                  ID = "launch/ami"
	LaunchSecurityGroup        ID = "launch/security-group"
	LaunchProfile              ID = "launch/profile"
	LaunchUnauthorized         ID = "launch/unauthorized"
	LaunchUnsupportedType      ID = "launch/unsupported-type"
	LaunchVolumeLimit          ID = "launch/volume-limit"
	LaunchThrottled            ID = "launch/throttled"
	LaunchSuspended            ID = "launch/suspended"
	LaunchAccountValidation    ID = "launch/account-validation"
	LaunchServiceRole          ID = "launch/service-role"
	LaunchUnclassified         ID = "launch/unclassified"
	LaunchPolicyDenied         ID = "launch/policy-denied"
	LaunchEncryptionControls   ID = "launch/encryption-controls"
	LaunchImageNotAllowed      ID = "launch/image-not-allowed"
	LaunchIMDSEnforced         ID = "launch/imds-enforced"

	NodegroupHealth       ID = "nodegroup/health"
	NodegroupStatus       ID = "nodegroup/status"
	NodegroupUpdateFailed ID = "nodegroup/update-failed"

	ClusterHealth ID = "cluster/health"

	AddonDegraded ID = "addon/degraded"

	NodeNotRegistered  ID = "node/not-registered"
	NodeNotReady       ID = "node/not-ready"
	NodeCNINotReady    ID = "node/cni-not-ready"
	NodeUninitialized  ID = "node/uninitialized"
	NodeCSRPending     ID = "node/csr-pending"
	NodeNotInitialized ID = "node/not-initialized"

	IPSubnetExhausted    ID = "ip/subnet-exhausted"
	IPScaleOutWillNotFit ID = "ip/scale-out-will-not-fit"
	IPFragmented         ID = "ip/fragmented"
	IPRunway             ID = "ip/runway"
	IPLeakedInterfaces   ID = "ip/leaked-interfaces"
	IPLeakCause          ID = "ip/leak-cause"
	IPBranchInterfaces   ID = "ip/branch-interfaces"
	IPPodWithoutAddress  ID = "ip/pod-without-address"
	IPBranchLeaked       ID = "ip/branch-leaked"

	SpotReclaimedBeforeJoin ID = "spot/reclaimed-before-join"
	SpotBurstExceedsSubnet  ID = "spot/burst-exceeds-subnet"
	SpotPoolFailing         ID = "spot/pool-failing"
	SpotFewPools            ID = "spot/few-pools"
	SpotManyRefusals        ID = "spot/many-refusals"
	SpotRebalanceChurn      ID = "spot/rebalance-churn"

	ZoneVolumeStranded   ID = "zone/volume-stranded"
	ZoneNodegroupGap     ID = "zone/nodegroup-gap"
	ZonePodUnschedulable ID = "zone/pod-unschedulable"
	ZoneImpaired         ID = "zone/impaired"
	ZoneShifted          ID = "zone/shifted"

	KarpenterNodeclassNotReady ID = "karpenter/nodeclass-not-ready"
	KarpenterNodepoolLimit     ID = "karpenter/nodepool-limit"

	CNIIPv6             ID = "cni/ipv6"
	CNIVersion          ID = "cni/version"
	CNIEniconfig        ID = "cni/eniconfig"
	CNIPodIdentityAgent ID = "cni/pod-identity-agent"
)

// ID names a check, e.g. "route/no-egress".
type ID string

// Family is the first half of an id: what the check is about.
type Family string

// Family is the id's family; of what is no id, the whole text.
func (id ID) Family() Family {
	family, _, _ := strings.Cut(string(id), "/")
	return Family(family)
}

// What many checks explain in the same way, each where it fails. In an After
// it stands for all of them.
const (
	// AnyJoinCause names a cause of a node that cannot join, each of its own
	// kind. What an instance says of itself, and what Kubernetes says of a node,
	// is how such a cause shows. Those that are only likely are not among them:
	// a line that proves something outweighs them.
	AnyJoinCause ID = "any cause of a node that cannot join"
	// AnyFailedLaunch is more exact than that an instance ended early.
	AnyFailedLaunch ID = "any failed launch"
)
