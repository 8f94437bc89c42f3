package snapshot

// Source is one thing that can be looked at, with one or a few calls. A
// check says which sources it needs; what could not be read makes it Unknown.
type Source string

// The sources.
const (
	Clusters         Source = "cluster"
	Instances        Source = "instances"
	InstanceTypes    Source = "instance types"
	Subnets          Source = "subnets"
	VPCs             Source = "vpcs"
	RouteTables      Source = "route tables"
	NATGateways      Source = "nat gateways"
	InternetGateways Source = "internet gateways"
	Endpoints        Source = "vpc endpoints"
	Groups           Source = "auto scaling groups"
	Activities       Source = "scaling activities"
	Nodegroups       Source = "nodegroups"
	Nodes            Source = "nodes"

	SecurityGroups    Source = "security groups"
	GroupAssociations Source = "security group associations" // SecurityGroup.Associated
	NetworkACLs       Source = "network acls"
	VPCDNS            Source = "vpc attributes" // VPCAttributes
	DHCP              Source = "dhcp options"
	EgressOnly        Source = "egress-only internet gateways"
	PublicAccessOf    Source = "vpc block public access" // PublicAccess
	DNSProfilesOf     Source = "route 53 profiles"       // DNSProfiles
	ResolverRulesOf   Source = "resolver rules"
	PrivateZonesOf    Source = "private hosted zones" // PrivateZones
	DNSFirewall       Source = "dns firewall"         // FirewallRules
	PrefixListEntries Source = "prefix lists"
	Peerings          Source = "vpc peering connections"
	TransitGateways   Source = "transit gateways" // Attachments and TransitRoutes
	Interfaces        Source = "network interfaces"
	Statuses          Source = "instance status"
	UserDataOf        Source = "user data"
	Consoles          Source = "console output"
	Images            Source = "images"
	// LaunchedImagesOf is LaunchedImages: read where EC2 lists an instance's image no more.
	LaunchedImagesOf Source = "images of instances"
	LaunchTemplates  Source = "launch templates"
	// TypeOfferingsOf is TypeOfferings: which types a zone has at all.
	TypeOfferingsOf Source = "instance type offerings"
	// AllowedImagesOf is AllowedImages, MetadataDefaultsOf is MetadataDefaults.
	AllowedImagesOf    Source = "allowed images settings"
	MetadataDefaultsOf Source = "instance metadata defaults"
	// CapacityReservations are those that launch templates name.
	CapacityReservations Source = "capacity reservations"
	// PlacementGroups are read where a group or a launch template names one.
	PlacementGroups Source = "placement groups"
	Profiles        Source = "instance profiles"
	Roles           Source = "iam roles"
	Access          Source = "access entries"
	// ClassAccess is ClassRoles. They are read where the cluster refuses the node role of a
	// NodeClass.
	ClassAccess   Source = "access of node classes"
	PodIdentities Source = "pod identity associations"
	Addons        Source = "add-ons"
	AWSNode       Source = "aws-node" // CNI
	Pods          Source = "pods"
	AWSAuthMap    Source = "aws-auth"
	CSRs          Source = "certificate signing requests"
	NodeEventsOf  Source = "node events"

	Updates Source = "nodegroup updates" // Nodegroup.Updates

	// VolumesOf is Volumes: the EBS volumes that Kubernetes made for the cluster,
	// or that its PersistentVolumes name. ZonesOf is Zones, of the Region.
	VolumesOf         Source = "volumes"
	PersistentVolumes Source = "persistent volumes"
	ClaimsOf          Source = "persistent volume claims"
	WaitingPods       Source = "waiting pods" // those that no node has taken, BranchWaits and StuckPods
	PodEventsOf       Source = "pod events"
	PodsOnNodes       Source = "pods of nodes" // NodePods
	ZonesOf           Source = "availability zones"
	// ZonalShifts is Shifts, and AutoshiftsOf is Autoshifts.
	ZonalShifts  Source = "zonal shifts"
	AutoshiftsOf Source = "zonal autoshifts"

	// Usage is Uses: every interface of the cluster's VPC is counted, none kept.
	Usage Source = "use of addresses"
	// Unattached is Idle, and CreatorsOf is Creators: the instances that made
	// those interfaces.
	Unattached   Source = "unattached network interfaces"
	CreatorsOf   Source = "creators of network interfaces"
	CIDRsKept    Source = "subnet cidr reservations" // Reservations
	ENIConfigsOf Source = "eniconfigs"               // ENIConfigs, of custom networking
	TrunksOf     Source = "trunk interfaces"         // Trunks and StrayBranches
	// Of Karpenter and EKS Auto Mode.
	NodePoolsOf       Source = "nodepools"
	NodeClaimsOf      Source = "nodeclaims"
	EC2NodeClassesOf  Source = "ec2nodeclasses" // of Karpenter
	AutoNodeClassesOf Source = "nodeclasses"    // of EKS Auto Mode
	// PoolEventsOf is PoolEvents. They are read where pods or NodeClaims wait.
	PoolEventsOf Source = "karpenter events"
	// LaunchHistory is History and Samples: Rollcall's own table, which gather
	// does not read and All does not name.
	LaunchHistory Source = "launch history"
	// DenialsOf is Denials: encoded messages, which gather decodes where it may, and
	// All does not name.
	DenialsOf Source = "authorization messages"
	// AutoModeLogsOf is AutoModeLogs, which gather reads where a setting names log
	// groups, and All does not name.
	AutoModeLogsOf Source = "logs of EKS Auto Mode"
	// RefusedLaunches is Refused: of the same table.
	RefusedLaunches Source = "refused launches"
)

// All are all sources.
func All() []Source {
	return []Source{
		Clusters, Instances, InstanceTypes, TypeOfferingsOf, Subnets, VPCs, RouteTables, NATGateways, InternetGateways, Endpoints,
		Groups, Activities, Nodegroups, Nodes,
		SecurityGroups, GroupAssociations, NetworkACLs, VPCDNS, DHCP, EgressOnly, PublicAccessOf, DNSProfilesOf, ResolverRulesOf, PrivateZonesOf, DNSFirewall, PrefixListEntries, Peerings, TransitGateways, Interfaces,
		Statuses, UserDataOf, Consoles, Images, LaunchedImagesOf, LaunchTemplates, AllowedImagesOf, MetadataDefaultsOf, CapacityReservations, PlacementGroups, Profiles, Roles,
		Access, ClassAccess, PodIdentities, Addons, AWSNode, Pods, AWSAuthMap, CSRs, NodeEventsOf,
		Updates,
		Usage, Unattached, CreatorsOf, CIDRsKept, ENIConfigsOf, TrunksOf,
		VolumesOf, PersistentVolumes, ClaimsOf, WaitingPods, PodEventsOf, PodsOnNodes, ZonesOf, ZonalShifts, AutoshiftsOf,
		NodePoolsOf, NodeClaimsOf, EC2NodeClassesOf, AutoNodeClassesOf, PoolEventsOf,
	}
}

// Reason is why a source could not be read.
type Reason string

// The reasons.
const (
	Denied      Reason = "denied"      // a permission is missing
	Throttled   Reason = "throttled"   // the service asked us to slow down, and retries ran out
	TimedOut    Reason = "timed out"   // no answer in time
	Unreachable Reason = "unreachable" // no connection
	Broken      Reason = "broken"      // an answer that is not understood, or a fault of the service
	NotRead     Reason = "not read"    // it was not requested
	NotShown    Reason = "not shown"   // asked for by its id, and left out of a whole answer
	// OverBudget is an answer that would take more work to read than any that
	// is meant to be read: what is in it is not known.
	OverBudget Reason = "over budget"
)

// NotCaptured is the code of a call that a capture does not hold: its file is missing. AWS and
// Kubernetes have no such code.
const NotCaptured = "NotCaptured"

// Withheld is the code of a call that a setting keeps from being made (instanceData=off).
const Withheld = "Withheld"

// WholeKubernetesAPI is the call that is reported where all of a cluster's API refuses us,
// as it does not know the caller. The nodes are listed first.
const WholeKubernetesAPI = "kubernetes: list nodes"

// The codes of what kept a relay from asking a cluster's API (package relay). No service has
// them.
const (
	NoRelay      = "NoRelay"
	RelayRefuses = "RelayRefuses"
	// NotOpen is NoRelay where the public endpoint is open to some ranges alone.
	NotOpen = "NotOpen"
	// RelayUnnamed: the setting relays does not name the cluster, so that its relay is
	// not asked.
	RelayUnnamed = "RelayUnnamed"
)

// Failure is a source that could not be read, in words that an operator can
// act on.
type Failure struct {
	Source Source `json:"source"`
	Reason Reason `json:"reason"`
	// Call is the permission's name where there is one, e.g. "ec2:DescribeRouteTables".
	Call string `json:"call"`
	// Code is the service's error code, e.g. "UnauthorizedOperation".
	Code string `json:"code,omitempty"`
	// Message is what the service said, free of request ids and encoded blobs.
	Message string `json:"message,omitempty"`
}
