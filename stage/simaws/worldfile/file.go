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

	"rollcall/stage/simaws/cloudtrail"
	"rollcall/stage/simaws/cloudwatchlogs"
	"rollcall/stage/simaws/route53"
	"rollcall/stage/simaws/zonalshift"
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
	// Organizations is what the account's organization says of it.
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

// OrganizationsFile is the organization's part of a world, as the management
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

// CNIRules say what the VPC CNI does that aws-node's settings do not. Its own
// cleanup, once an hour on every node, does not run in a world: worlds with
// leaks are those in which it is off, or no node is left.
type CNIRules struct {
	// ReadyWithoutAddresses lets a node become Ready though its subnet has no
	// address for pods: the CNI comes up, and its pods wait
	// (amazon-vpc-cni-k8s issue 1570). Without it the CNI ends, again and again,
	// and the node is not Ready.
	ReadyWithoutAddresses bool
	// AttachSeconds is how long an interface is available before ipamd has
	// attached it; it is attached at once where 0.
	AttachSeconds float64
	// Leaves are interfaces that stay when nodes end; the first that fits a node
	// is its.
	Leaves []Leave
	// Workloads are pods that come to nodes.
	Workloads []Workload
}

// Leave has nodes end while ipamd gives interfaces back: between the detach and
// the delete (amazon-vpc-cni-k8s issues 608 and 1223). All but the first
// interface stay, available, with their addresses and tags.
type Leave struct {
	// Nodegroup or AutoScalingGroup says whose nodes are meant; all where both
	// are empty.
	Nodegroup        string
	AutoScalingGroup string
	// Share, 0 to 1, is how many of them. Each node's id decides its fate.
	Share float64
}

// Workload is a Deployment whose pods spread evenly over the nodes of a group.
type Workload struct {
	Name string
	// Nodegroup is where its pods run; everywhere where empty.
	Nodegroup string
	// PerNode is how many of its pods each Ready node gets.
	PerNode int
}

// EKSRules say how long EKS takes.
type EKSRules struct {
	// JoinTimeout is how long EKS waits for a nodegroup's new instances to
	// become Ready nodes; 20 minutes where 0. AWS's guide says 15; users see a
	// creation fail after 21.
	JoinTimeout time.Duration
	// HealthDelay is how long EKS takes to show what is wrong as an issue; 5
	// minutes where 0.
	HealthDelay time.Duration
	// CreateTime is how long a new nodegroup without nodes stays CREATING; 45 s
	// where 0.
	CreateTime time.Duration
	// UpdateTime is how long a change of configuration takes; 3 s where 0.
	UpdateTime time.Duration
	// DeleteTime is the least time that a nodegroup is DELETING, 15 s where 0. EKS
	// usually needs some minutes.
	DeleteTime time.Duration
}

// EKSIssue is an issue of a nodegroup or an add-on. Code may be one that the
// SDK does not know.
type EKSIssue struct {
	Code        string
	Message     string
	ResourceIds []string
}

// EKSChange is a status that EKS comes to for reasons of its own.
type EKSChange struct {
	// At is the stage time since the start.
	At time.Duration
	// Cluster may be left out where the world has only one.
	Cluster string
	// Exactly one of Nodegroup and Addon is given.
	Nodegroup string
	Addon     string
	// Status may be any text; empty leaves it as it is.
	Status string
	// Issues are all issues from then on.
	Issues []EKSIssue
}

// UpdateFault makes the next update of a nodegroup or an add-on fail.
type UpdateFault struct {
	// Cluster may be left out where the world has only one.
	Cluster   string
	Nodegroup string
	Addon     string
	// Type narrows it to updates such as VersionUpdate.
	Type string
	// After is how long the update is InProgress before; 2 minutes where 0.
	After time.Duration
	// Errors are those that DescribeUpdate shows.
	Errors []EKSIssue
}

// NodegroupStack says that a nodegroup is a resource of a CloudFormation
// stack, which emits its creation and its deletion.
type NodegroupStack struct {
	// Cluster may be left out where the world has only one.
	Cluster   string
	Nodegroup string
	// Stack is the stack's name.
	Stack string
	// LogicalId is the resource's name in the template; ManagedNodeGroup, as
	// eksctl has it, where empty.
	LogicalId string
}

// TrailRules say how API calls come to the event bus, and to be found.
type TrailRules struct {
	// None is an account without a trail of management events: no call is delivered.
	// The event history has it nevertheless, as AWS's does.
	None bool
	// Delay is the time from a call to its event; 30 s where 0. CloudTrail
	// promises nothing, and usually needs less than some minutes.
	Delay time.Duration
	// Caller is the ARN that the timeline's calls are made with.
	Caller string
	// Lag is the least time from a call to when LookupEvents finds it, 3 minutes
	// where 0, at once where negative; Spread is how much later the last comes,
	// 2 minutes where both are 0. Each call takes its own share of it, so a later
	// call may be found before an earlier one.
	Lag    time.Duration
	Spread time.Duration
	// History are calls of before the start.
	History []TrailEntry
}

// LogsFile is the CloudWatch Logs part of a world: what `aws logs describe-*` prints of
// deliveries, and what is in log groups, by name.
type LogsFile struct {
	DeliverySources      []cloudwatchlogs.DeliverySource
	Deliveries           []cloudwatchlogs.Delivery
	DeliveryDestinations []cloudwatchlogs.DeliveryDestination
	LogGroups            map[string][]LogEvent
}

// LogEvent is a line of a log.
type LogEvent struct {
	At      time.Time
	Message string
}

// NodeRules say how long a healthy node takes, and which nodes are not.
type NodeRules struct {
	// RunningSeconds is how long an instance stays pending; 8 where 0.
	RunningSeconds int
	// BootSeconds is the time from launch to the Node object; 40 where 0.
	BootSeconds int
	// BootSpreadSeconds is how much longer than BootSeconds the slowest node
	// takes; each takes its own share of it.
	BootSpreadSeconds float64
	// ReadySeconds is the time from there to Ready; 15 where 0.
	ReadySeconds int
	// Retry makes a node whose path was broken try again until it works. It
	// is off by default: the bootstrap gives up and the instance has to be
	// replaced.
	Retry bool
	// Exceptions are nodes with a fate of their own.
	Exceptions []NodeException
}

// NodeException changes the life of the instances of one nodegroup or group.
type NodeException struct {
	// Nodegroup or AutoScalingGroup says whose instances are meant.
	Nodegroup        string
	AutoScalingGroup string
	// Times limits the exception to the first so many launches; 0 is all.
	Times int
	// Ends terminates the instance that long after its launch.
	Ends *InstanceEnd
	// NeverRegisters keeps the node away though its path works.
	NeverRegisters bool
	// NeverReady keeps a registered node at Ready False with this reason.
	NeverReady *Condition
}

// InstanceEnd is the end of an instance that no user asked for.
type InstanceEnd struct {
	After  time.Duration
	Reason ec2types.StateReason
}

// Condition is the reason and message of a node condition.
type Condition struct {
	Reason  string
	Message string
}

// ProfilesFile is the Route 53 Profiles part of a world, as `aws route53profiles list-*`
// prints it: the resources of Profiles by Profile.
type ProfilesFile struct {
	ProfileAssociations         []route53.ProfileAssociation
	ProfileResourceAssociations map[string][]route53.ProfileResourceAssociation
}

// ResolverFile is the Route 53 Resolver part of a world, as `aws route53resolver list-*`
// prints it: the rules of rule groups by group, and the domains of lists by list.
type ResolverFile struct {
	FirewallRuleGroupAssociations []route53.FirewallRuleGroupAssociation
	FirewallRules                 map[string][]route53.FirewallRule
	FirewallDomains               map[string][]string
	ResolverRules                 []route53.ResolverRule
	ResolverRuleAssociations      []route53.ResolverRuleAssociation
}

// Route53File is the Route 53 part of a world: the private hosted zones of VPCs by VPC, as
// `aws route53 list-hosted-zones-by-vpc` prints them, and the records of the account's own
// zones by zone, as list-resource-record-sets does.
type Route53File struct {
	HostedZones        map[string][]route53.HostedZoneSummary
	ResourceRecordSets map[string][]route53.ResourceRecordSet
}

// SetFile is a StatefulSet: its pods are called after it and a number, and each
// comes again when its node goes.
type SetFile struct {
	Namespace string // default where empty
	Name      string
	Replicas  int // 1 where 0
	// Claim is the claim of its pods' data, none where empty. A set with several
	// replicas has one for each: the claim's name, the set's and the number.
	Claim string
	// NodeSelector are labels that its nodes must have.
	NodeSelector map[string]string
	// Tolerations are taints that its pods tolerate.
	Tolerations []Toleration
}

// Toleration is as in Kubernetes: an empty key tolerates every taint, an empty
// effect every effect, and Operator Exists every value.
type Toleration struct {
	Key      string
	Operator string
	Value    string
	Effect   string
}

// ZonalShiftFile is the part of a world that is ARC zonal shift's. What is registered
// follows from the settings of clusters and Auto Scaling groups.
type ZonalShiftFile struct {
	// ZonalShifts are what list-zonal-shifts prints; their status follows from the time.
	ZonalShifts []zonalshift.ZonalShift
	// Autoshifts are AWS's own, of the Region.
	Autoshifts []zonalshift.Autoshift
	// Autoshifted are the ARNs of groups for which autoshift is on. For a cluster with
	// zonal shift it is: "If zonal shift is enabled, AWS configures zonal autoshift for
	// the cluster" (EKS API reference, ZonalShiftConfigRequest).
	Autoshifted []string
}

// SpotFile is what EC2's capacity does in a world. A type and zone that no
// pool speaks of has capacity for all who ask.
type SpotFile struct {
	// VCPULimit is the account's quota of vCPUs of running Spot instances; none
	// where 0.
	VCPULimit int
	Pools     []PoolFile
}

// PoolFile is the capacity of an instance type in a zone, for a time. The
// first that fits is taken.
type PoolFile struct {
	// Type and Zone are every type and every zone where they are empty.
	Type string
	Zone string
	// OnDemand is the on-demand capacity in place of Spot's.
	OnDemand bool
	// Reservation is the id of an interruptible Capacity Reservation; its instances are the pool:
	// its owner reclaims all of them at a time.
	Reservation string
	// Capacity is how many instances the pool has; no bound where it is nil.
	Capacity *int
	// Price is what an hour costs, in USD; made up from the type where 0.
	Price   float64
	Reclaim *Reclaim
	// From and For bound the pool in stage time since the start; a zero For has
	// no end.
	From time.Duration
	For  time.Duration
}

// Reclaim is how EC2 takes a pool's Spot instances back.
type Reclaim struct {
	// After and UpTo are the least and the most time from an instance's launch
	// to its end; each instance has its own between the two. A zero After does
	// not end instances by their age.
	After time.Duration
	UpTo  time.Duration
	// At are times since the start at which all of the pool is taken back.
	At []time.Duration
	// Notice is how long before the end the interruption warning comes: two
	// minutes where 0, and less where the instance does not run so long.
	Notice time.Duration
	// Rebalance is how long before the end the rebalance recommendation comes;
	// there is none where 0.
	Rebalance time.Duration
	// Times limits the reclaims by age to the pool's first so many launches; 0
	// is all.
	Times int
}

// STSFile is the STS part of a world.
type STSFile struct {
	// AuthorizationMessages are the encoded messages that the account's denied requests
	// were answered with, and what they say.
	AuthorizationMessages []AuthorizationMessage
}

// AuthorizationMessage is one of them: Decoded is the JSON that `aws sts
// decode-authorization-message` prints as DecodedMessage. It is taken until Expires.
type AuthorizationMessage struct {
	Encoded string
	Decoded string
	Expires time.Time
}

// TrailEntry is a call of before the world's start, in CloudTrail's words.
type TrailEntry struct {
	At time.Time
	// Call is an operation such as "ec2:CreateRouteTable".
	Call string
	// By is who made it: the ARN of a user or of a role's session, or a service's
	// principal such as autoscaling.amazonaws.com. Empty is a person.
	By string
	// Via is the service that called in that name, such as
	// cloudformation.amazonaws.com.
	Via string
	// With and Result are requestParameters and responseElements.
	With   map[string]any
	Result map[string]any
	// Error is the code of a call that was refused.
	Error string
	// Resources are those that CloudTrail lists, where they are not those that
	// With and Result name.
	Resources []cloudtrail.Resource
}

// ZoneFault is a time in which a zone is not well.
type ZoneFault struct {
	Zone string
	// State is what DescribeAvailabilityZones says: impaired, unavailable or
	// information; empty leaves it available.
	State string
	// Messages are its messages.
	Messages []string
	// Launches, if any, is the code that launches in the zone fail with, such as
	// InsufficientInstanceCapacity.
	Launches string
	// From and For bound it in stage time since the start; a zero For has no end.
	From time.Duration
	For  time.Duration
}
