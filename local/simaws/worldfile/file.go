// Package worldfile is a world as it is written down: YAML whose resources use
// the AWS API's field names, so that what `aws ... describe-* --output json`
// prints can be pasted in. It reads files, lays one over another that it
// extends, and says by its path which field is wrong.
package worldfile

import (
	"time"

	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// File is a world as written down.
type File struct {
	// Extends names the file, beside this one, that this one changes.
	Extends string
	Name    string
	// About says in one sentence what is special here.
	About   string
	Account string
	Region  string
	// Time is the stage time at the start.
	Time        time.Time
	EC2         EC2File
	AutoScaling AutoScalingFile
	EKS         EKSFile
	IAM         IAMFile
	// Organizations is what the account's organisation says of it.
	Organizations OrganizationsFile
	STS           STSFile
	Logs          LogsFile
	// Route53Resolver is what is in force in VPCs beside the resolver itself.
	Route53Resolver ResolverFile
	// Route53 is the private hosted zones that VPCs see.
	Route53 Route53File
	// Route53Profiles is what Profiles bring into VPCs.
	Route53Profiles ProfilesFile
	ArcZonalShift   ZonalShiftFile
	// Kubernetes holds, by cluster, what the cluster's API has.
	Kubernetes map[string]KubernetesFile
	Nodes      NodeRules
	CNI        CNIRules
	Spot       SpotFile
	Faults     []Fault
	Timeline   []TimelineEntry
	Trail      TrailRules
	Expect     Expect
	// Check is the check that the world is for: it is broken so that this check
	// names it, or it is the nearest world that this check must not accuse.
	Check string
	// Cases are the public reports that the world retells, by their ids.
	Cases []string
}

// EC2File is the EC2 part of a world. Each list is what the describe call of
// that name prints.
type EC2File struct {
	Vpcs []ec2types.Vpc
	// VpcAttributes by VPC id. DNS support and DNS hostnames are on where
	// nothing is said, as EKS needs them.
	VpcAttributes              map[string]VpcAttributes
	Subnets                    []ec2types.Subnet
	SubnetCidrReservations     []ec2types.SubnetCidrReservation
	RouteTables                []ec2types.RouteTable
	NatGateways                []ec2types.NatGateway
	InternetGateways           []ec2types.InternetGateway
	EgressOnlyInternetGateways []ec2types.EgressOnlyInternetGateway
	VpcEndpoints               []ec2types.VpcEndpoint
	SecurityGroups             []ec2types.SecurityGroup
	NetworkAcls                []ec2types.NetworkAcl
	NetworkInterfaces          []ec2types.NetworkInterface
	Instances                  []ec2types.Instance
	Reservations               []ec2types.Reservation
	InstanceTypes              []ec2types.InstanceTypeInfo
	Images                     []ec2types.Image
	CapacityReservations       []ec2types.CapacityReservation
	PlacementGroups            []ec2types.PlacementGroup
	LaunchTemplates            []ec2types.LaunchTemplate
	LaunchTemplateVersions     []ec2types.LaunchTemplateVersion
	Addresses                  []ec2types.Address
	PrefixLists                []ec2types.PrefixList
	ManagedPrefixLists         []ec2types.ManagedPrefixList
	// VpcBlockPublicAccessOptions is the account's mode; off where it is not set.
	VpcBlockPublicAccessOptions    *ec2types.VpcBlockPublicAccessOptions
	VpcBlockPublicAccessExclusions []ec2types.VpcBlockPublicAccessExclusion
	SecurityGroupVpcAssociations   []ec2types.SecurityGroupVpcAssociation
	// PrefixListEntries by prefix list id.
	PrefixListEntries map[string][]ec2types.PrefixListEntry
	DhcpOptions       []ec2types.DhcpOptions
	Volumes           []ec2types.Volume
	// VCPULimit is the account's quota of vCPUs of running on-demand instances; none
	// where 0.
	VCPULimit int
	// Zones are zones beside those of the subnets.
	Zones []string
	// NotOffered are the types that a zone does not have, by zone.
	NotOffered map[string][]string
	// ZoneFaults are times in which zones are not well.
	ZoneFaults                []ZoneFault
	VpcPeeringConnections     []ec2types.VpcPeeringConnection
	TransitGatewayAttachments []ec2types.TransitGatewayAttachment
	// TransitGatewayRoutes by transit gateway route table.
	TransitGatewayRoutes map[string][]ec2types.TransitGatewayRoute
	// InstanceStatuses are what describe-instance-status prints of instances
	// that are not well or have events; of the others all is said to be ok.
	InstanceStatuses []ec2types.InstanceStatus
	// UserData by instance id, base64 as the API carries it.
	UserData map[string]string
	// ConsoleOutput by instance id, plain text.
	ConsoleOutput map[string]string
	// ManagedResourceVisibility is what get-managed-resource-visibility prints:
	// whether lists show what AWS services manage. Hidden where it is not set.
	ManagedResourceVisibility *ec2types.ManagedResourceVisibilitySettings
	// AllowedImagesSettings is what get-allowed-images-settings prints (disabled where it
	// is not set), InstanceMetadataDefaults the AccountLevel of
	// get-instance-metadata-defaults.
	AllowedImagesSettings    *AllowedImagesSettings
	InstanceMetadataDefaults *ec2types.InstanceMetadataDefaultsResponse
}

// AllowedImagesSettings are an account's Allowed AMIs.
type AllowedImagesSettings struct {
	State         string
	ManagedBy     ec2types.ManagedBy
	ImageCriteria []ec2types.ImageCriterion
}

// VpcAttributes are the two DNS switches of a VPC.
type VpcAttributes struct {
	EnableDnsSupport   *bool
	EnableDnsHostnames *bool
}

// AutoScalingFile is the Auto Scaling part of a world.
type AutoScalingFile struct {
	AutoScalingGroups []astypes.AutoScalingGroup
	Activities        []astypes.Activity
	LifecycleHooks    []astypes.LifecycleHook
	// Still keeps the groups from starting and ending instances by themselves:
	// what came of that is in the activities.
	Still bool
	// WarmPools by group name.
	WarmPools map[string]astypes.WarmPoolConfiguration
}

// EKSFile is the EKS part of a world, as `aws eks describe-*` prints it.
type EKSFile struct {
	Clusters      []ekstypes.Cluster
	Nodegroups    []ekstypes.Nodegroup
	Addons        []ekstypes.Addon
	AccessEntries []ekstypes.AccessEntry
	// AccessPolicies is what list-associated-access-policies prints, one item
	// for each principal.
	AccessPolicies []AccessPoliciesFile
	// PodIdentityAssociations is what describe-pod-identity-association prints.
	PodIdentityAssociations []ekstypes.PodIdentityAssociation
	Rules                   EKSRules
	Changes                 []EKSChange
	UpdateFaults            []UpdateFault
	Stacks                  []NodegroupStack
}

// AccessPoliciesFile is the access policies of one principal.
type AccessPoliciesFile struct {
	ClusterName              string
	PrincipalArn             string
	AssociatedAccessPolicies []ekstypes.AssociatedAccessPolicy
}

// IAMFile is the IAM part of a world.
type IAMFile struct {
	Roles            []RoleFile
	InstanceProfiles []iamtypes.InstanceProfile
	Policies         []iamtypes.ManagedPolicyDetail
	// AccountAliases are none, or the one that an account can have.
	AccountAliases []string
}

// OrganizationsFile is the organisation's part of a world, as the management
// account sees it.
type OrganizationsFile struct {
	// ServiceControlPolicies are those that are attached to the account beside
	// FullAWSAccess, which Organizations attaches itself.
	ServiceControlPolicies []ControlPolicy
}

// ControlPolicy is a service control policy.
type ControlPolicy struct {
	Name     string
	Document string
}

// RoleFile is a role with its policies: what `aws iam get-role` prints and
// what `get-account-authorization-details` adds to it.
type RoleFile struct {
	iamtypes.Role
	AttachedManagedPolicies []iamtypes.AttachedPolicy
	RolePolicyList          []iamtypes.PolicyDetail
	InstanceProfileList     []iamtypes.InstanceProfile
}

// KubernetesFile is what the Kubernetes API of a cluster has: kubectl's JSON.
type KubernetesFile struct {
	// Joined lists instances that are Ready nodes at the start; their Node
	// objects and the interfaces of the VPC CNI are made from the instance.
	Joined                 []string
	Nodes                  []map[string]any
	Pods                   []map[string]any
	PersistentVolumes      []map[string]any
	PersistentVolumeClaims []map[string]any
	// ProvisionedVolumes has the EBS CSI driver's objects made: a
	// PersistentVolume and its claim for each EBS volume that bears the driver's
	// tags and this cluster's, where the file has none of that name.
	ProvisionedVolumes bool
	// Sets are workloads whose pods the scheduler of the world places.
	Sets            []SetFile
	DaemonSets      []map[string]any
	ServiceAccounts []map[string]any
	ConfigMaps      []map[string]any
	Events          []map[string]any
	// CertificateSigningRequests belong to no namespace.
	CertificateSigningRequests []map[string]any
	// ENIConfigs are those of custom networking. The API does not know the kind
	// where there are none, as in a cluster without the CRD.
	ENIConfigs []map[string]any
	// Those of Karpenter and EKS Auto Mode, likewise. An empty list is a kind
	// that the API knows and of which there is none.
	NodePools      []map[string]any
	NodeClaims     []map[string]any
	EC2NodeClasses []map[string]any
	NodeClasses    []map[string]any
	// Karpenter is the controller that runs in the cluster; without one the
	// objects above stand as they are.
	Karpenter *KarpenterFile
}

// KarpenterFile is a Karpenter controller.
type KarpenterFile struct {
	// Role is the name of the role of the controller's service account.
	Role string
	// Version is Karpenter's, without a v.
	Version string
	// ZonalShift reports whether its zonal shift integration is on.
	ZonalShift bool
}

// Fault is something that goes wrong outside the account's own rules. The
// world only carries faults; the stage's servers enforce them.
type Fault struct {
	// Call is an operation such as "ec2:DescribeRouteTables" or "ec2:*".
	Call string
	// Deny answers UnauthorizedOperation or AccessDenied.
	Deny bool
	// Throttle and Fail are the shares (0 to 1) of calls that are throttled
	// or answered with an internal error.
	Throttle float64
	Fail     float64
	Latency  time.Duration
	// Reset closes the connection without an answer.
	Reset bool
	// Times limits the fault to so many calls; 0 is no limit.
	Times int
	// Event is a detail-type.
	Event   string
	Lose    bool
	Copies  int
	Delay   time.Duration
	Reorder bool
	// Slack makes the Slack stand-in answer with this status.
	Slack *SlackFault
	// From and For bound the fault in stage time since the start; a zero For
	// has no end.
	From time.Duration
	For  time.Duration
}

// SlackFault is a time in which Slack does not answer as it should.
type SlackFault struct {
	Status int
	From   time.Duration
	For    time.Duration
}

// TimelineEntry is an API call that the world makes by itself.
type TimelineEntry struct {
	// At is the stage time since the start.
	At time.Duration
	// Call is an operation such as "ec2:CreateRoute".
	Call string
	// With is the operation's input.
	With map[string]any
	// By is the ARN of who makes it; the trail's caller where empty.
	By string
}

// Expect is the truth about a world, for the tests that diagnose it.
type Expect struct {
	// Healthy worlds have no incident but advice.
	Healthy bool
	// Unknown worlds cannot be told: something that is needed cannot be read.
	Unknown bool
	// Incidents are all causes that must be named, the first one first.
	Incidents []ExpectedIncident
	// Advice are the checks that may advise something.
	Advice []string
}

// ExpectedIncident is a cause by its check id and the resources it names.
type ExpectedIncident struct {
	Cause     string
	Resources []string
	// Or are other causes that are as right.
	Or []string
	// Confidence is that of the cause; empty for any.
	Confidence string
	// Hidden and Contributing are checks that must stand behind the cause.
	Hidden       []string
	Contributing []string
}
