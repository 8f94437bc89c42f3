// Package snapshot is what was seen of one cluster at one time: plain values,
// sorted by id, with no type of any client in it. What could not be seen is in
// Failures, and never looks like "there is none".
package snapshot

import (
	"net/netip"
	"slices"
	"time"
)

// Snapshot is one look at one cluster.
type Snapshot struct {
	Time time.Time
	// Taken is when the look ended; zero where nobody noted it. What a subnet
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
	// another cluster, or none, is nobody's here.
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
	// AutoMode tells that EKS Auto Mode runs the nodes.
	AutoMode bool
	// ZonalShift reports whether zonal shifts apply to the cluster.
	ZonalShift bool
	// EgressMode is how the control plane reaches out: AWS_MANAGED, CUSTOMER_ROUTED or
	// CUSTOMER_ISOLATED; empty where EKS does not return it.
	EgressMode string
}
