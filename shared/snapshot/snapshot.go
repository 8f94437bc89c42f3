// Package snapshot is what was seen of one cluster at one time: plain values,
// sorted by id, with no type of any client in it. What could not be seen is in
// Failures, and never looks like "there is none".
package snapshot

import (
	"net/netip"
	"time"
)

// Snapshot is one look at one cluster.
type Snapshot struct {
	Time      time.Time
	Account   string
	Region    string
	Partition string // "aws", "aws-cn", "aws-us-gov"

	// Scope is what the look was about.
	Scope Scope
	// Read are the sources that were read in full.
	Read map[Source]bool
	// Failures are the sources that were asked for and could not be read.
	Failures map[Source]Failure

	Cluster          Cluster
	Instances        []Instance
	InstanceTypes    []InstanceType
	Subnets          []Subnet
	VPCs             []VPC
	RouteTables      []RouteTable
	NATGateways      []NATGateway
	InternetGateways []InternetGateway
	Endpoints        []Endpoint
	Groups           []Group
	Activities       []Activity
	Nodegroups       []Nodegroup
	Nodes            []Node
	// Launches is what Rollcall itself remembers of the instances in Scope.
	Launches []Launch
}

// Scope names what to look at. Checks judge only what is in scope; the rest
// of a snapshot is there to explain it.
type Scope struct {
	Instances []string
	// Subnets are the subnets in which instances of the scope live or should
	// live, and those of open incidents.
	Subnets []string
}

// Cluster is an EKS cluster.
type Cluster struct {
	Name    string
	ARN     string
	Status  string
	Version string
	VPC     string
	// Endpoint is the address of its API, CA the certificate authority in PEM.
	Endpoint          string
	CA                []byte
	EndpointPublic    bool
	EndpointPrivate   bool
	PublicAccessCIDRs []netip.Prefix
	SecurityGroup     string
	IPv6              bool
	Tags              map[string]string
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
	Groups       []string // security groups
	Profile      string   // ARN of its instance profile
	Tags         map[string]string
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
	Name             string
	Interfaces       int // most network interfaces of the default card
	IPv4PerInterface int
}

// Subnet is a subnet of the cluster's VPC.
type Subnet struct {
	ID             string
	ARN            string
	VPC            string
	Zone           string
	CIDR           netip.Prefix
	IPv6           []netip.Prefix
	Free           int // available IPv4 addresses
	AssignPublicIP bool
	Name           string
}

// VPC is a network with its address ranges.
type VPC struct {
	ID    string
	CIDRs []netip.Prefix
}

// RouteTable is a VPC route table.
type RouteTable struct {
	ID      string
	VPC     string
	Main    bool
	Subnets []string // explicit associations
	Routes  []Route
	Name    string
}

// Route is one row. Exactly one of Destination and PrefixList is set.
type Route struct {
	Destination netip.Prefix
	PrefixList  string
	Target      Target
	// State is "active" or "blackhole".
	State string
	// Origin is CreateRouteTable, CreateRoute or EnableVgwRoutePropagation.
	Origin string
}

// Target is where a route leads.
type Target struct {
	Kind TargetKind
	// ID is e.g. "nat-0aa4", "igw-0bb5", "vpce-0cc6", "eni-0dd7"; "local" for local routes.
	ID string
	// Instance is set for routes to an instance's interface.
	Instance string
}

// TargetKind is what kind of hop a route leads to.
type TargetKind string

// The kinds.
const (
	ToLocal           TargetKind = "local"
	ToInternetGateway TargetKind = "internet gateway"
	ToNATGateway      TargetKind = "nat gateway"
	ToEgressOnly      TargetKind = "egress-only internet gateway"
	ToTransitGateway  TargetKind = "transit gateway"
	ToPeering         TargetKind = "vpc peering connection"
	ToVPNGateway      TargetKind = "virtual private gateway"
	ToInterface       TargetKind = "network interface"
	ToEndpoint        TargetKind = "vpc endpoint" // gateway, gateway load balancer or firewall endpoint
	ToCarrierGateway  TargetKind = "carrier gateway"
	ToLocalGateway    TargetKind = "local gateway"
	ToCoreNetwork     TargetKind = "core network"
	ToUnknown         TargetKind = "unknown target" // a kind newer than this code
)

// NATGateway is a NAT gateway.
type NATGateway struct {
	ID        string
	VPC       string
	Subnet    string
	State     string // pending, failed, available, deleting, deleted
	Public    bool   // connectivity type
	PublicIPs []netip.Addr
	// Failure is EC2's message for a failed gateway.
	Failure string
	Zone    string
	// RouteTable is a regional gateway's own route table; such a gateway has
	// no subnet. Empty for a zonal one.
	RouteTable string
}

// InternetGateway is an internet gateway and the VPCs that it is attached to.
type InternetGateway struct {
	ID       string
	Attached []string
}

// Endpoint is a VPC endpoint.
type Endpoint struct {
	ID          string
	VPC         string
	Service     string // com.amazonaws.us-west-2.ecr.api
	Kind        string // Interface, Gateway, GatewayLoadBalancer
	State       string // available, pending, …
	PrivateDNS  bool
	Subnets     []string
	RouteTables []string
	Groups      []string // security groups
	Policy      string   // JSON, as EC2 gives it
}

// Group is an Auto Scaling group.
type Group struct {
	Name      string
	Min       int
	Max       int
	Desired   int
	Subnets   []string
	Zones     []string
	Instances []GroupInstance
	// WarmPool tells that the group has one; Warm are the instances in it.
	WarmPool bool
	Warm     []string
	Tags     map[string]string
}

// GroupInstance is an instance as its group sees it.
type GroupInstance struct {
	ID        string
	Lifecycle string // Pending, Pending:Wait, InService, Warmed:Stopped, …
	Health    string
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
	Status  string
	Issues  []Issue
	Subnets []string
	Groups  []string // Auto Scaling groups
	Min     int
	Max     int
	Desired int
	Spot    bool
}

// Issue is a health issue of a nodegroup.
type Issue struct {
	Code      string
	Message   string
	Resources []string
}

// Node is a Kubernetes node.
type Node struct {
	Name     string
	Instance string // from spec.providerID; empty for nodes that are no EC2 instance
	Created  time.Time
	Ready    Condition
	// Uninitialized tells that the cloud provider's taint is still on it.
	Uninitialized bool
	Kubelet       string
	Labels        map[string]string
}

// Condition is a node condition.
type Condition struct {
	Status  string // True, False, Unknown; empty when the node has none
	Reason  string
	Message string
	Since   time.Time
}

// Launch is what Rollcall remembers of one launch.
type Launch struct {
	Instance string
	Started  time.Time
	// Due is when the instance should have become a Ready node.
	Due time.Time
}
