// Package snapshot is what was seen of one cluster at one time: plain values,
// sorted by id, with no type of any client in it. What could not be seen is in
// Failures, and never looks like "there is none".
package snapshot

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
)

// Snapshot is one look at one cluster.
type Snapshot struct {
	Time time.Time
	// Taken is when the look ended; zero where it was not noted. What a subnet
	// has left changes while one looks: it had that by then at the latest.
	Taken     time.Time
	Account   string
	Region    string
	Partition string // "aws", "aws-cn", "aws-us-gov"

	// Scope is what the look was about.
	Scope Scope
	// Read are the sources that were read in full.
	Read map[Source]bool
	// Failures are the sources that were asked for and could not be read.
	Failures map[Source]Failure
	// Missing are single items of sources that were read otherwise: the user
	// data of one instance, one role. The keys are ids, or ARNs.
	Missing map[Source]map[string]Failure

	Cluster       Cluster
	Instances     []Instance
	InstanceTypes []InstanceType
	TypeOfferings []TypeOffering
	Subnets       []Subnet
	VPCs          []VPC
	RouteTables   []RouteTable
	NATGateways   []NATGateway
	// PublicAccess is nil where VPC Block Public Access was not read: no VPC or subnet of
	// those that were read is blocked, or it was refused.
	PublicAccess     *PublicAccess
	InternetGateways []InternetGateway
	Endpoints        []Endpoint
	Groups           []Group
	Activities       []Activity
	Nodegroups       []Nodegroup
	Nodes            []Node
	// Shifts and Autoshifts are those of the cluster and its groups, where zonal shift is
	// on; the latter are started by AWS.
	Shifts     []Shift
	Autoshifts []Shift

	SecurityGroups []SecurityGroup
	NetworkACLs    []NetworkACL
	VPCAttributes  []VPCAttributes
	DHCPOptions    []DHCPOptions
	EgressOnly     []EgressOnlyGateway
	// DNSProfiles, ResolverRules, PrivateZones and FirewallRules are those of the VPCs that were looked into, where
	// an instance of the scope has not joined.
	DNSProfiles   []DNSProfile
	ResolverRules []ResolverRule
	PrivateZones  []PrivateZone
	FirewallRules []FirewallRule
	PrefixLists   []PrefixList
	Peerings      []Peering
	Attachments   []Attachment
	TransitRoutes []TransitRoute
	Interfaces    []Interface
	Statuses      []InstanceStatus
	UserData      []UserData
	Consoles      []Console
	Images        []Image
	// LaunchedImages are images that EC2 lists no more, and of which instances keep the
	// name and the owner: deregistered, no longer shared, or hidden by Allowed AMIs.
	LaunchedImages []Image
	// SelectedImages are what a query's terms select, in their order.
	SelectedImages  []SelectedImages
	LaunchTemplates []LaunchTemplate
	// AllowedImages and MetadataDefaults are settings of the account that refuse launches;
	// nil where no launch was refused.
	AllowedImages    *AllowedImages
	MetadataDefaults *MetadataDefaults

	CapacityReservations []CapacityReservation
	PlacementGroups      []PlacementGroup

	Profiles []Profile
	Roles    []Role

	// AccessEntries are those of the roles that matter here, Principals the
	// ARNs of all.
	AccessEntries []AccessEntry
	ClassRoles    []ClassRole
	Principals    []string
	PodIdentities []PodIdentity
	Addons        []Addon

	// CNI is the aws-node DaemonSet; nil when the cluster has none.
	CNI  *CNI
	Pods []Pod // those of aws-node
	// AWSAuth is the ConfigMap aws-auth; nil when the cluster has none.
	AWSAuth *AWSAuth
	CSRs    []CSR
	// NodeEvents are the Kubernetes events about nodes.
	NodeEvents []NodeEvent

	// Uses is how the subnets of the cluster's VPC are used, and Idle the
	// interfaces in it that nothing is attached to; Creators are the instances
	// that the VPC CNI made those on, whether or not EC2 still knows them.
	Uses     []Use
	Idle     []Interface
	Creators []Creator
	// Tenants are the clusters that any interface of the VPC names, attached or
	// not: they come with Uses, and are there only where all were counted.
	Tenants      []string
	Reservations []Reservation
	ENIConfigs   []ENIConfig
	// Volumes are the EBS volumes that are the cluster's own: a volume that names
	// another cluster, or none, is left out.
	Volumes           []Volume
	PersistentVolumes []PersistentVolume
	Claims            []Claim
	WaitingPods       []WaitingPod
	// BranchWaits are pods that a node took and that wait for a branch interface: they
	// come with WaitingPods.
	BranchWaits []BranchWait
	// StuckPods come with WaitingPods, too; PodEvents are the warnings about them. NodePods
	// are the pods of their nodes, and of nodes whose plugin has its role by Pod Identity.
	StuckPods []StuckPod
	PodEvents []PodEvent
	NodePods  []NodePods
	// Trunks are the trunk interfaces of the cluster's nodes, and StrayBranches the
	// branch interfaces whose trunk is gone.
	Trunks        []Trunk
	StrayBranches []StrayBranch
	Zones         []Zone

	// NodePools and NodeClaims are those of Karpenter and EKS Auto Mode, the classes
	// those that a NodePool can name.
	NodePools       []NodePool
	NodeClaims      []NodeClaim
	EC2NodeClasses  []NodeClass
	AutoNodeClasses []NodeClass
	// PoolEvents are what Karpenter and EKS Auto Mode report of NodeClaims, NodePools
	// and pods that they cannot serve.
	PoolEvents []PoolEvent

	// Returned is what eni-cleanup gave back in the last hour, by subnet: of our
	// own table, no source.
	Returned []Returned
	// Cleanup and Horizon are settings: what eni-cleanup may do, and how long
	// before a subnet runs out of addresses that is said (zero: a day).
	Cleanup Cleanup
	Horizon time.Duration

	// Launches is what Rollcall itself remembers of the instances in Scope.
	Launches []ExpectedJoin
	// History is the cluster's launches of the time that was asked for, those
	// whose outcome is still open among them, oldest first. Samples are what
	// its subnets had in that time, by subnet, then by time.
	History []Past
	Samples []Sample
	// Week is the launches of the last seven days, as many as are read, oldest
	// first: a roll call has them beside a short History.
	Week []Past
	// Denials are the encoded messages of the scaling activities, decoded.
	Denials []DecodedMessage
	// AutoModeLogs is nil where they were not asked for.
	AutoModeLogs *AutoModeLogs
	// Refused are launches without an Auto Scaling group that were refused: of our
	// own table.
	Refused []RefusedLaunch
}

// Scope names what to look at. Checks judge only what is in scope; the rest
// of a snapshot is there to explain it.
type Scope struct {
	Instances []string
	// Subnets are the subnets in which instances of the scope live or should
	// live, and those of open incidents.
	Subnets []string
	// Launchable are the subnets in which the cluster's groups may launch:
	// their addresses are watched whether or not an instance is in trouble.
	Launchable []string
	// Unowned are instances that carry the cluster's tags although nothing of the
	// cluster launched them. They are not in Instances.
	Unowned []string
}

// OpenToAll reports whether the API's public endpoint takes requests from everywhere: where
// no ranges are given, 0.0.0.0/0 is (EKS API reference, VpcConfigResponse, "publicAccessCidrs").
func (c Cluster) OpenToAll() bool {
	return c.EndpointPublic && (len(c.PublicAccessCIDRs) == 0 || slices.ContainsFunc(c.PublicAccessCIDRs, func(p netip.Prefix) bool { return p.Bits() == 0 && p.Addr().Is4() }))
}

// Cluster is an EKS cluster.
type Cluster struct {
	Name    string
	ARN     string
	Status  string
	Version string
	VPC     string
	// Endpoint is the address of its API, CA the certificate authority in PEM.
	Endpoint string
	CA       []byte
	// Logs reports whether a log type of its control plane is sent to CloudWatch Logs.
	Logs bool
	// CAActivatedBy is who activated the authority that signs, CUSTOMER or EKS; empty where
	// EKS does not say.
	CAActivatedBy     string
	EndpointPublic    bool
	EndpointPrivate   bool
	PublicAccessCIDRs []netip.Prefix
	SecurityGroup     string
	IPv6              bool
	Tags              map[string]string
	// SecurityGroups are the additional ones on the control plane's
	// interfaces, beside SecurityGroup. Subnets are where those interfaces
	// may stand.
	SecurityGroups []string
	Subnets        []string
	ServiceCIDR    netip.Prefix // IPv4, or IPv6 for an IPv6 cluster
	// AuthMode is CONFIG_MAP, API or API_AND_CONFIG_MAP; empty in answers from
	// before access entries existed, which means CONFIG_MAP.
	AuthMode string
	Issues   []Issue
	Created  time.Time
	Role     string // ARN of the cluster's own role
	// AutoMode reports whether EKS Auto Mode runs the nodes.
	AutoMode bool
	// ZonalShift reports whether zonal shifts apply to the cluster.
	ZonalShift bool
	// EgressMode is how the control plane reaches out: AWS_MANAGED, CUSTOMER_ROUTED or
	// CUSTOMER_ISOLATED; empty where EKS does not return it.
	EgressMode string
}

// Profile is an instance profile.
type Profile struct {
	ARN   string
	Name  string
	Roles []string // ARNs; EC2 allows one
}

// Role is an IAM role with all its policies.
type Role struct {
	ARN      string
	Name     string
	Path     string // "/" for none
	Trust    string // JSON
	Policies []Policy
	// Boundary is its permissions boundary, if it has one.
	Boundary *Policy
	// Created is when it was created: one of its name may have been there before.
	Created time.Time
}

// Policy is an IAM policy's default version, or an inline policy.
type Policy struct {
	Name     string
	ARN      string // empty for an inline policy
	Document string // JSON
}

// AccessEntry is an access entry of a cluster.
type AccessEntry struct {
	Principal string // ARN
	Type      string // STANDARD, EC2_LINUX, EC2_WINDOWS, EC2, FARGATE_LINUX, HYBRID_LINUX, HYPERPOD_LINUX
	Username  string
	Groups    []string
	// Created is when it was created, Modified when it was last changed.
	Created, Modified time.Time
	// Policies are the access policies of an entry of type EC2 (EKS Auto Mode); those of
	// others are not read. A lack of AccessPoliciesOf(Principal) is why they are not known.
	Policies []AccessPolicy
}

// AccessPolicy is an access policy of EKS that is associated with an access entry.
type AccessPolicy struct {
	ARN string
	// Namespaces are those to which it is limited; empty for the whole cluster.
	Namespaces []string
}

// AccessPoliciesOf is how the access policies of a principal are named where they could not
// be read.
func AccessPoliciesOf(principal string) string { return "access policies of " + principal }

// ClassRole is a node role of NodeClasses of EKS Auto Mode that the cluster refuses. A lack of
// a class's name is why its role is not known.
type ClassRole struct {
	// Classes are the names of the NodeClasses, Name is the role's.
	Classes []string
	Name    string
	// ARN and Created are the role's; empty where it could not be read (a lack of Name).
	ARN     string
	Created time.Time
	// Entries are the access entries of roles of that name, under whatever path.
	Entries []AccessEntry
}

// PodIdentity ties a service account to a role.
type PodIdentity struct {
	Namespace      string
	ServiceAccount string
	Role           string // ARN
	// Target is the role that EKS assumes with Role's credentials, whose credentials
	// the pods get; empty where they get Role's (EKS API reference, PodIdentityAssociation
	// targetRoleArn). ExternalID is the sts:ExternalId of that call, and Untagged
	// reports that it carries no session tags.
	Target, ExternalID string
	Untagged           bool
	// Policy is a session policy in JSON: the pods may do what both it and the role
	// allow; with Target it limits that role alone. Empty for none.
	Policy string
}

// Addon is an EKS add-on of a cluster.
type Addon struct {
	Name    string
	Version string
	Status  string // ACTIVE, DEGRADED, CREATE_FAILED, …
	Issues  []Issue
	Role    string // ARN of its service account's role, if it has one
}

// AWSAuth is the ConfigMap kube-system/aws-auth.
type AWSAuth struct {
	MapRoles string // YAML
	MapUsers string
}

// CNI is the DaemonSet aws-node and its service account.
type CNI struct {
	// Env is the environment of the container aws-node.
	Env   map[string]string
	Image string
	// Desired and Ready are its numbers of pods.
	Desired, Ready int
	// Role is the service account's annotation eks.amazonaws.com/role-arn.
	Role string
}

// Pod is a pod of aws-node.
type Pod struct {
	Namespace  string
	Name       string
	Node       string // name; empty when it is not scheduled
	Phase      string
	Message    string
	Containers []Container // init containers first
	// Identity is whose credentials the pod was made with. It is set when the
	// pod is made, and stays when its service account changes.
	Identity PodCredentials
}

// PodCredentials are what the EKS Pod Identity webhook put into a pod, or did
// not.
type PodCredentials struct {
	// Told reports whether the pod's containers were read.
	Told bool
	// Role is the ARN in AWS_ROLE_ARN, from the service account's annotation.
	Role string
	// ByAssociation reports whether it has a token for EKS Pod Identity.
	ByAssociation bool
}

// Container is the state of a pod's container.
type Container struct {
	Name     string
	Init     bool
	Ready    bool
	Restarts int
	// State is waiting, running or terminated, with its Reason and Message.
	State    string
	Reason   string
	Message  string
	ExitCode int
	// Last is why it ended the last time; empty for never.
	Last        string
	LastMessage string
}

// CSR is a certificate signing request.
type CSR struct {
	Name     string
	Signer   string // kubernetes.io/kubelet-serving, …
	Username string
	Created  time.Time
	Approved bool
	Denied   bool
}

// NodeEvent is a Kubernetes event about a node.
type NodeEvent struct {
	Node    string
	Reason  string // RegisteredNode, NodeReady, NodeNotReady, …
	Message string
	Last    time.Time
}

// Use is how a subnet's IPv4 addresses are used, counted over all interfaces
// in it.
type Use struct {
	Subnet     string
	Interfaces int
	// Held is how many addresses the interfaces hold, those of their prefixes
	// among them; Kept how many free ones a CIDR reservation keeps from being
	// given out one by one.
	Held int
	Kept int
	// Free is what is left by this count: EC2's own AvailableIpAddressCount may
	// differ where it holds addresses that no interface shows.
	Free int
	// Blocks is how many aligned /28 blocks are wholly free, and may be given
	// out as a prefix.
	Blocks int
	// Nearest are, where there is no free block, the few that would be free with
	// the fewest addresses given back.
	Nearest []Block
}

// Block is an aligned /28 of a subnet, and which of its addresses are in use.
type Block struct {
	CIDR netip.Prefix
	Used []netip.Addr
}

// Creator is the instance on which the VPC CNI made an interface.
type Creator struct {
	Instance string
	// State is EC2's word; empty where EC2 does not know the instance.
	State string
	// Attached reports whether a network interface is attached to the instance, as
	// the count of the whole VPC has it: it lives, whatever State says.
	Attached bool
}

// Reservation is a CIDR reservation of a subnet.
type Reservation struct {
	ID     string
	Subnet string
	CIDR   netip.Prefix
	// Explicit reservations give out nothing by themselves; others (type
	// "prefix") give out prefixes.
	Explicit bool
}

// ENIConfig is an object of the VPC CNI's custom networking: where the pods of
// a node have their addresses. Nodes choose one by a label or annotation, by
// default that of their zone's name.
type ENIConfig struct {
	Name   string
	Subnet string
	Groups []string
}

// Cleanup is what eni-cleanup may do in the cluster; the zero value where it
// is not known, and nothing is said of it.
type Cleanup struct {
	// Mode is "report", "dry-run" or "delete".
	Mode string
	// Grace is how old an interface must be.
	Grace time.Duration
	// Untagged lets it take interfaces that name no cluster.
	Untagged bool
}

// Returned is what eni-cleanup gave back to a subnet lately.
type Returned struct {
	Subnet     string
	Interfaces int
	Addresses  int
	// Nodes is how many instances, all gone, had made those interfaces.
	Nodes int
	// Last is when the last of them was deleted.
	Last time.Time
}

// AutoModeLogs is what the managed components of EKS Auto Mode logged about the nodes
// that are looked at, as far as the account has their logs delivered to where
// Rollcall may read.
type AutoModeLogs struct {
	// Names are what the logs were searched for: NodeClaims and instances.
	Names []string
	// Deliveries are all of the cluster; none where its logs are not delivered.
	Deliveries []LogDelivery
	// Records are those of warnings and errors, oldest first.
	Records []LogRecord
	// Cut reports whether there was more than is read.
	Cut bool
}

// LogDelivery is where logs of a component go.
type LogDelivery struct {
	Type string // AUTO_MODE_COMPUTE_LOGS
	// Destination is the ARN of a log group, a bucket or a stream; of a destination in
	// another account it is its own.
	Destination string
	// Group is the name of the log group; empty where they go elsewhere.
	Group string
	// Unnamed reports whether the setting autoModeLogs does not name the group, Gone that
	// there is none of its name: it is not read.
	Unnamed, Gone bool
	// Failure is why it could not be read.
	Failure *Failure
}

// LogRecord is a record that names a NodeClaim or an instance.
type LogRecord struct {
	At   time.Time
	Type string // of the delivery
	// Level is ERROR or WARN.
	Level string
	// Text is what was logged, with the error, and without what is encoded in it.
	Text string
	// Cause is the check that looks for what the text tells; empty where it tells no
	// cause, or only how something shows.
	Cause checkid.ID
	// Names are those of AutoModeLogs.Names that stand in it.
	Names []string
}

// Trunk is a trunk interface: what the branch interfaces of a node's pods go over.
type Trunk struct {
	ID       string
	Instance string // that it is attached to; empty for none
	Subnet   string
	// Branches is how many branch interfaces name it as theirs.
	Branches int
}

// StrayBranch is a branch interface that nothing is attached to and whose trunk is
// not there.
type StrayBranch struct{ ID, Subnet string }

// BranchWait is a pod that a node took and that has not been given the branch
// interface that it asks for.
type BranchWait struct {
	Pod   string // "namespace/name"
	Owner string // "StatefulSet db"; empty for none
	Node  string
	Since time.Time // when the node took it
}

// CapacityReservation is a capacity reservation, or a capacity block.
type CapacityReservation struct {
	ID string
	// State is EC2's word: active, expired, cancelled, pending, scheduled,
	// payment-pending, …
	State string
	Type  string
	Zone  string
	// Total is how many instances it is for, Free how many more may start.
	Total, Free int
	Block       bool
	// Start and End are when it begins and ends; zero where it does not say.
	Start, End time.Time
}

// PlacementGroup is a placement group.
type PlacementGroup struct {
	ID, Name string
	Strategy string // cluster, spread, partition
	State    string // pending, available, deleting, deleted
	Level    string // of a spread: host, rack
	// Partitions is how many a partition placement group has.
	Partitions int
}

// Denial is what AWS says of a request that it refused for want of permission.
type Denial struct {
	// Who asked: an ARN, of a role's session without the session's name.
	Who string `json:"who,omitempty"`
	// Action is ec2:RunInstances, Resource what it was to act on.
	Action   string `json:"action,omitempty"`
	Resource string `json:"resource,omitempty"`
	// Explicit reports whether a statement of a policy denies it; else none allows it.
	Explicit bool `json:"explicit,omitempty"`
	// Kind is of the policy, as AWS names it: service control policy, permissions
	// boundary, identity-based policy; empty where AWS does not say. Policy is its
	// ARN, which AWS gives within an organization alone.
	Kind   string `json:"kind,omitempty"`
	Policy string `json:"policy,omitempty"`
	// Statements are those that denied it: a decoded message tells them.
	Statements []DeniedStatement `json:"statements,omitempty"`
}

// DeniedStatement is a statement of a policy that denied a request. AWS tells
// which condition keys it has and what values they name, and not by which operator.
type DeniedStatement struct {
	ID         string            `json:"id,omitempty"` // Sid; empty for one without
	Conditions []DeniedCondition `json:"conditions,omitempty"`
}

// DeniedCondition is a condition key of such a statement.
type DeniedCondition struct {
	Key string `json:"key"`
	// Names are the values in the statement, Has those of the request; none where
	// the request has no such key.
	Names []string `json:"names,omitempty"`
	Has   []string `json:"has,omitempty"`
}

// DecodedMessage is an encoded authorization message, and what came of decoding it.
type DecodedMessage struct {
	Encoded string
	// Denial is what it says; nil where it could not be decoded.
	Denial *Denial
	// Failure is why it could not.
	Failure *Failure
}

// Group is an Auto Scaling group.
type Group struct {
	Name    string
	Min     int
	Max     int
	Desired int
	// Weighted reports whether Min, Max and Desired count no instances: the group gives its
	// types weights, or counts vCPUs or memory.
	Weighted  bool
	Subnets   []string
	Zones     []string
	Instances []GroupInstance
	// WarmPool reports whether the group has one; Warm are the instances in it.
	WarmPool bool
	Warm     []string
	Tags     map[string]string

	Template TemplateRef
	// PlacementGroup is the name of the one that it launches into; empty for none.
	PlacementGroup string
	Types          []string // of a mixed instances policy's overrides
	// Images are the images of overrides that have their own, by type.
	Images map[string]string
	// ZonalShift reports whether zonal shifts apply to the group.
	ZonalShift  bool
	Suspended   []Suspended
	ServiceRole string // ARN of the service-linked role
	Created     time.Time
}

// Parked reports whether an instance of the group is not expected to become a node now: it
// is in the warm pool, its end is held for a person to look at it (Auto Scaling user guide,
// "Instance lifecycle policies": Terminating:Retained), or its root volume is being replaced
// while it runs (user guide, "Replace root volumes during instance refresh").
func (g Group) Parked(id string) bool {
	if slices.Contains(g.Warm, id) {
		return true
	}
	i := slices.IndexFunc(g.Instances, func(i GroupInstance) bool { return i.ID == id })
	if i < 0 {
		return false
	}
	state := g.Instances[i].Lifecycle
	return strings.HasPrefix(state, "Warmed:") || state == "Terminating:Retained" || strings.HasPrefix(state, "ReplacingRootVolume") || state == "RootVolumeReplaced"
}

// Suspended is a process of a group that is suspended.
type Suspended struct {
	Process string // Launch, Terminate, AZRebalance, …
	Reason  string
}

// GroupInstance is an instance as its group sees it.
type GroupInstance struct {
	ID        string
	Lifecycle string // Pending, Pending:Wait, InService, Warmed:Stopped, Terminating:Retained, …
	Health    string
	// Protected reports whether the group must not choose it when it scales in.
	Protected bool
	Zone      string
}

// Activity is a scaling activity.
type Activity struct {
	ID      string
	Group   string
	Status  string // Successful, Failed, InProgress, …
	Message string
	Cause   string
	About   string // the description
	Started time.Time
	Ended   time.Time
	Subnet  string
	Zone    string
	// Instance is the instance named in the description, if any.
	Instance string
}

// Nodegroup is an EKS managed node group.
type Nodegroup struct {
	Name    string
	Cluster string
	ARN     string
	Status  string
	Issues  []Issue
	Subnets []string
	Groups  []string // Auto Scaling groups
	Min     int
	Max     int
	Desired int
	Spot    bool

	Role     string // ARN of the node role
	AMIType  string // AL2023_x86_64_STANDARD, CUSTOM, …
	Release  string // AMI release version
	Version  string // Kubernetes version
	Template TemplateRef
	Types    []string
	Labels   map[string]string
	Tags     map[string]string
	Taints   []Taint
	Created  time.Time
	Modified time.Time
	// Since is when Rollcall first saw the nodegroup in this status; zero where
	// it does not remember the nodegroup.
	Since time.Time
	// Updates are its latest updates, the newest first, of source Updates.
	Updates []Update
}

// Update is one update of a nodegroup.
type Update struct {
	ID      string
	Type    string // ConfigUpdate, VersionUpdate, …
	Status  string // InProgress, Failed, Cancelled, Successful
	Created time.Time
	// Params are what it was to change, as "DesiredSize=3".
	Params []string
	Errors []Issue
}

// Issue is a health issue of a nodegroup, a cluster or an add-on.
type Issue struct {
	Code      string
	Message   string
	Resources []string
	// Since is when Rollcall first saw a nodegroup's issue; zero where it does
	// not remember it.
	Since time.Time
}

// Instance is an EC2 instance.
type Instance struct {
	ID           string
	Type         string
	State        string // pending, running, shutting-down, terminated, stopping, stopped
	StateReason  StateReason
	Launched     time.Time
	Subnet       string // empty once terminated
	VPC          string
	Zone         string
	PrivateIP    netip.Addr
	PublicIP     netip.Addr
	PrivateDNS   string
	Architecture string
	AMI          string
	Spot         bool
	Groups       []string // security groups of its primary interface
	Profile      string   // ARN of its instance profile
	Tags         map[string]string

	IPv6        []netip.Addr
	Windows     bool
	SourceCheck bool // source/destination check of its primary interface
	Metadata    Metadata
	Template    TemplateRef // the launch template that it came from, if any
	Transition  string      // the state transition reason, as EC2 writes it
	Interfaces  []string    // ids, the primary one first
	EFAs        []EFA       // its Elastic Fabric Adapters; EC2 names none once it is terminated
	// Operator is the service principal that manages it, as EC2 reports it
	// (eks.amazonaws.com for EKS Auto Mode): no tag, and only the launcher can set it.
	Operator string
	// PlacementGroup is the name of the one that it is in; empty for none.
	PlacementGroup string
}

// EFA is an Elastic Fabric Adapter: a network interface of the type efa or efa-only.
type EFA struct {
	ID     string // empty in a launch template
	Groups []string
}

// Metadata is how an instance's metadata service is set.
type Metadata struct {
	Endpoint string // enabled, disabled; empty when EC2 does not say
	HopLimit int    // 0 when EC2 does not say
	Tokens   string // optional, required
}

// TemplateRef names a version of a launch template.
type TemplateRef struct {
	ID      string
	Name    string
	Version string // a number, $Latest or $Default
}

// StateReason is why an instance is in its state.
type StateReason struct {
	Code    string // e.g. Client.UserInitiatedShutdown
	Message string
	// When is the time in the state transition reason; zero if EC2 gives none.
	When time.Time
}

// InstanceType is what a type can carry.
type InstanceType struct {
	Name       string
	Interfaces int // most network interfaces of the default card
	// Cards are the most network interfaces of each network card but the default one.
	Cards            []int
	IPv4PerInterface int
	IPv6PerInterface int
	Architectures    []string // x86_64, arm64, …
	CPUs             int      // vCPUs by default
	Hypervisor       string   // nitro, xen; empty for bare metal
	BareMetal        bool
	// What NodePools choose types by, as EC2 tells it: memory, the processor's maker,
	// disks of its own in GB, the bandwidth to EBS in Mbit/s.
	MemoryMiB         int
	CPUMaker          string
	LocalNVMeGB       int // 0 for none
	EBSMbps           int // 0 where EC2 does not optimise it by default
	EncryptsInTransit bool
	// GPU and Accelerator are of types that have one kind of them.
	GPU, Accelerator Device
}

// Device is a kind of GPU or accelerator, and how many of it a type has.
type Device struct {
	Name, Maker string
	Count       int // 0 for none
	MemoryMiB   int // of each
}

// TypeOffering is a type and the zones that offer it to anybody. A type that is
// offered may still lack capacity.
type TypeOffering struct {
	Type  string
	Zones []string
}

// The API groups of the classes: Karpenter that a user runs in the cluster,
// and EKS Auto Mode. Both can be in one cluster.
const (
	KarpenterGroup = "karpenter.k8s.aws"
	AutoModeGroup  = "eks.amazonaws.com"
)

// NodePool is a NodePool of Karpenter or EKS Auto Mode.
type NodePool struct {
	Name       string
	Generation int64
	// Deleting reports whether it is being deleted.
	Deleting bool
	// Weight is which pool is tried first: the heaviest.
	Weight int
	Class  ClassRef
	// Limits are what its nodes may have together, Used what they have, those
	// that are being launched among them: amounts as Kubernetes writes them
	// ("100", "400Gi"), by resource. "nodes" counts nodes.
	Limits, Used Amounts
	// Replicas is how many nodes a static pool keeps; nil for one that serves pods.
	Replicas *int
	// Own are the labels of the NodePool itself.
	Own map[string]string
	// Labels, Requirements and Taints are those of the nodes that it makes.
	Labels       map[string]string
	Requirements []Requirement
	Taints       []Taint
	Conditions   map[string]ObservedCondition
}

// Amounts are quantities as Kubernetes writes them, by resource.
type Amounts map[string]string

// ClassRef names the class of which a NodePool makes its nodes.
type ClassRef struct{ Group, Kind, Name string }

// NodeClaim is a node that Karpenter or EKS Auto Mode has asked for.
type NodeClaim struct {
	Name       string
	Generation int64
	Deleting   bool
	Pool       string // its NodePool; empty for one that was made by hand
	Class      ClassRef
	// Instance is empty until one is launched, Node until it registers; Type is the
	// instance's.
	Instance   string
	Node       string
	Type       string
	Conditions map[string]ObservedCondition
}

// PoolEvent is a Kubernetes event about a NodeClaim, a NodePool, or a pod that could
// not be scheduled.
type PoolEvent struct {
	Kind    string // NodeClaim, NodePool, Pod
	Name    string // of a pod "namespace/name"
	Reason  string // InsufficientCapacityError, NoCompatibleInstanceTypes, FailedScheduling, …
	Message string
	// First and Last are when it was seen first and last.
	First, Last time.Time
}

// NodeClass is a class: an EC2NodeClass of Karpenter, or a NodeClass of EKS Auto
// Mode.
type NodeClass struct {
	Name       string
	Generation int64
	Deleting   bool
	// Labels are its own, Tags those that its instances get (spec.tags).
	Labels, Tags map[string]string
	// Subnets, Groups and Images select what nodes are made of.
	Subnets, Groups, Images []SelectorTerm
	Role, Profile           string
	// Family is of what kind its images are, where no alias says so: AL2023,
	// Bottlerocket, Custom. UserData is its own part.
	Family   string
	UserData string
	Metadata Metadata
	// PublicIP is what it says of a public address: "true", "false" or empty.
	PublicIP string
	// Selected are the subnets that it found, as far as it says so.
	Selected   []ZonedSubnet
	Conditions map[string]ObservedCondition
}

// Unauthorized is the condition by which EKS Auto Mode says that the cluster does not admit
// nodes of the class's role: "Role … is unauthorized to join nodes to the cluster".
func (c NodeClass) Unauthorized() (ObservedCondition, bool) {
	is := c.Conditions["InstanceProfileReady"]
	return is, is.Status == "False" && is.Reason == "UnauthorizedNodeRole"
}

// ZonedSubnet is a subnet and its zone.
type ZonedSubnet struct{ ID, Zone string }

// SelectorTerm is one way to be selected by a class: all that it names must hold.
type SelectorTerm struct {
	ID, Name, Alias, SSMParameter string
	// Owner is of images: an account, self or amazon; empty for the last two.
	Owner string
	Tags  map[string]string
}

// SelectedImages are the images that a term selects: their ids.
type SelectedImages struct {
	Term   SelectorTerm
	Images []string
}

// ObservedCondition is a condition of an object, and of which generation of it.
type ObservedCondition struct {
	Condition
	Generation int64 // 0 where it does not say
}

// Current reports whether a condition is about the object as it is now, and no word
// on what it was before it was changed.
func (c ObservedCondition) Current(generation int64) bool {
	return c.Generation == 0 || c.Generation >= generation
}
