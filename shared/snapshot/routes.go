package snapshot

import "net/netip"

// Subnet is a subnet of the cluster's VPC.
type Subnet struct {
	ID             string
	ARN            string
	VPC            string
	Zone           string
	ZoneID         string
	CIDR           netip.Prefix
	IPv6           []netip.Prefix
	Free           int // available IPv4 addresses
	AssignPublicIP bool
	AssignIPv6     bool
	// BlockMode is what VPC Block Public Access does there; empty where EC2 does not
	// report it.
	BlockMode BlockMode
	Name      string
	Tags      map[string]string
}

// BlockMode is a mode of VPC Block Public Access, with what exclusions make of it:
// BlockPublicAccessStates of a VPC or subnet.
type BlockMode string

// The modes (EC2 API, BlockPublicAccessStates).
const (
	BlockOff           BlockMode = "off"
	BlockIngress       BlockMode = "block-ingress"       // only NAT and egress-only gateways pass traffic
	BlockBidirectional BlockMode = "block-bidirectional" // nothing passes an internet gateway
)

// PublicAccess is the account's setting of VPC Block Public Access in the Region.
type PublicAccess struct {
	Mode BlockMode
	// Changing reports that a change of the mode is under way.
	Changing bool
	// ByPolicy reports that a declarative policy of the organization sets the mode, and
	// NoExclusions that it allows none.
	ByPolicy, NoExclusions bool
	Exclusions             []Exclusion
}

// Exclusion exempts a VPC or a subnet from the account's mode.
type Exclusion struct {
	ID       string
	Resource string // the id of a VPC or subnet
	Egress   bool   // allow-egress, else allow-bidirectional
	// Active reports that it is in force; Changing that it is about to be, or to end.
	Active, Changing bool
}

// VPC is a network with its address ranges.
type VPC struct {
	ID    string
	CIDRs []netip.Prefix // IPv4
	IPv6  []netip.Prefix
	DHCP  string // id of its DHCP options, or "default"
	Owner string // account
	// Encrypts reports that VPC Encryption Controls enforce encryption in transit.
	Encrypts bool
	// BlockMode is the VPC's own; a subnet's may differ by an exclusion.
	BlockMode BlockMode
}

// RouteTable is a VPC route table.
type RouteTable struct {
	ID      string
	VPC     string
	Main    bool
	Subnets []string // explicit associations
	Routes  []Route
	Name    string
	Tags    map[string]string
}

// Route is one row. Exactly one of Destination and PrefixList is set.
type Route struct {
	Destination netip.Prefix
	PrefixList  string
	Target      Target
	// State is "active", "blackhole" or "filtered".
	State string
	// Origin is CreateRouteTable, CreateRoute, EnableVgwRoutePropagation or Advertisement.
	Origin string
}

// Usable reports that the table forwards by the row: its target is there, and the table
// does not filter it.
func (r Route) Usable() bool { return r.State != "blackhole" && r.State != "filtered" }

// Target is where a route leads.
type Target struct {
	Kind TargetKind
	// ID is e.g. "nat-0aa4", "igw-0bb5", "vpce-0cc6", "eni-0dd7"; "local" for local routes.
	ID string
	// Instance is set for routes to an instance's interface.
	Instance string
	// Owner is the account of the instance, where EC2 names it.
	Owner string
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
	State     string       // pending, failed, available, deleting, deleted
	Public    bool         // connectivity type
	Addresses []NATAddress // public ones that are in use
	// Proxy is the ARN of a Network Firewall proxy that is attached to it.
	Proxy string
	// Failure is EC2's message for a failed gateway.
	Failure string
	Zone    string
	// RouteTable is a regional gateway's own route table; such a gateway has
	// no subnet. Empty for a zonal one.
	RouteTable string
}

// NATAddress is a public address of a NAT gateway. The addresses of a regional gateway
// belong to a zone each: traffic of that zone leaves from them.
type NATAddress struct {
	IP           netip.Addr
	Zone, ZoneID string
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
	Interfaces  []string
	Error       string // what EC2 says went wrong, for one that failed
}
