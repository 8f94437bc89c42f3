package snapshot

import "net/netip"

// SecurityGroup is a security group with its rules.
type SecurityGroup struct {
	ID      string
	VPC     string
	Name    string
	Ingress []Rule
	Egress  []Rule
	Tags    map[string]string
	// Associated are the further VPCs that the group is associated with, by the state of
	// the association.
	Associated map[string]string
}

// Rule is one rule of a security group. It admits a packet whose peer is in
// any of its CIDRs, prefix lists or groups.
type Rule struct {
	// Protocol is "-1" for all, "tcp", "udp", "icmp", "icmpv6", or a number.
	Protocol string
	// From and To are the ports, both included; -1 and -1 for all.
	From, To    int
	CIDRs       []netip.Prefix // IPv4 and IPv6
	PrefixLists []string
	// Groups are the security groups referred to.
	Groups []string
}

// NetworkACL is a network ACL. A subnet has exactly one.
type NetworkACL struct {
	ID      string
	VPC     string
	Default bool
	Subnets []string
	Entries []ACLEntry // sorted by direction, then number
}

// ACLEntry is one rule of a network ACL: the lowest number that matches decides.
type ACLEntry struct {
	Number int // 32767 is the last, which denies
	Egress bool
	Allow  bool
	// Protocol is "-1" for all, or a number ("6" is TCP, "17" UDP).
	Protocol string
	// From and To are the ports, both included; 0 and 65535 for all.
	From, To int
	CIDR     netip.Prefix
}

// VPCAttributes are a VPC's two DNS switches.
type VPCAttributes struct {
	VPC          string
	DNSSupport   bool
	DNSHostnames bool
}

// DHCPOptions is a set of DHCP options.
type DHCPOptions struct {
	ID string
	// DomainNames are the values of domain-name; one value may hold several
	// names with spaces between.
	DomainNames []string
	// DomainNameServers are addresses, or "AmazonProvidedDNS".
	DomainNameServers []string
}

// EgressOnlyGateway is an egress-only internet gateway (IPv6).
type EgressOnlyGateway struct {
	ID       string
	Attached []string // VPCs
}

// DNSProfile is a Route 53 Profile in force in a VPC. The Profiles of a VPC are in the order in
// which the resolver evaluates them.
type DNSProfile struct {
	ID        string
	VPC       string
	Resources []DNSProfileResource
}

// DNSProfileResource is a resource that a Profile brings into its VPCs: a resolver rule, a
// rule group of DNS Firewall, a private hosted zone.
type DNSProfileResource struct {
	ARN      string
	Name     string // of its association with the Profile
	Priority int    // of a rule group
}

// ResolverRule is a rule of Route 53 Resolver in force in a VPC. The VPC's own are before
// those of its Profiles.
type ResolverRule struct {
	ID      string
	Name    string
	Domain  string // without the dot at its end; empty for the root
	VPC     string
	Forward bool     // FORWARD; else the resolver answers by itself
	Targets []string // addresses
	// Endpoint is the outbound endpoint that forwards.
	Endpoint string
	// Profile is the Route 53 Profile that brings the rule; empty where it is associated
	// with the VPC itself.
	Profile string
	// Unread is why the domain is not known; nil where it is.
	Unread *Failure
}

// PrivateZone is a private hosted zone in view of a VPC whose domain covers a name that nodes may
// need. The VPC's own are before those of its Profiles.
type PrivateZone struct {
	ID string
	// Domain is without the dot at its end; empty with Unread where it is not known.
	Domain string
	VPC    string
	// Service is the service of AWS that made the zone and answers for its names; empty for
	// an account's.
	Service string
	// Profile is the Route 53 Profile that brings the zone; empty where it is associated with
	// the VPC itself.
	Profile string
	Records []ZoneRecord
	// Unread is why the records are not known; nil where they are.
	Unread *Failure
}

// ZoneRecord is a resource record set of a zone.
type ZoneRecord struct {
	Name string // without the dot at its end; a wildcard begins with "*."
	Type string
}

// FirewallRule is a rule of DNS Firewall in force in a VPC. The rules are in the order
// in which the resolver evaluates them.
type FirewallRule struct {
	VPC       string
	Group     string // id of the rule group
	GroupName string
	Name      string
	Action    string // ALLOW, BLOCK, ALERT
	Response  string // NODATA, NXDOMAIN, OVERRIDE
	Type      string // of the queries that it is for; empty for all
	List      string // id of the domain list; empty for a rule that has none
	Domains   []string
	// Profile is the Route 53 Profile that brings the rule group; empty where it is
	// associated with the VPC itself.
	Profile string
	// Unread is why the domains are not known; nil where they are.
	Unread *Failure
}

// PrefixList is a prefix list and its entries.
type PrefixList struct {
	ID    string
	Name  string // com.amazonaws.us-west-2.s3, or a customer's
	CIDRs []netip.Prefix
}

// Peering is a VPC peering connection.
type Peering struct {
	ID    string
	State string // active, pending-acceptance, deleted, …
	// Requester and Accepter are its two ends.
	Requester, Accepter PeerVPC
}

// PeerVPC is one end of a peering connection.
type PeerVPC struct {
	VPC     string
	Account string
	Region  string
	CIDRs   []netip.Prefix
}

// Attachment is an attachment of a transit gateway.
type Attachment struct {
	ID      string
	Gateway string
	// Kind is vpc, vpn, direct-connect-gateway, peering, …
	Kind string
	// Resource is what is attached: a VPC's id for a vpc attachment; Owner is
	// that resource's account.
	Resource string
	Owner    string
	State    string // available, …
	// Translates reports that the transit gateway translates source addresses on the
	// attachment.
	Translates bool
	// Table is the transit gateway route table that the attachment uses;
	// empty when it uses none or this account may not see it.
	Table string
}

// TransitRoute is a row of a transit gateway's route table.
type TransitRoute struct {
	Table       string
	Destination netip.Prefix
	State       string // active, blackhole
	// Attachments are where it leads; Resources what is attached there.
	Attachments []string
	Resources   []string
}

// Interface is a network interface.
type Interface struct {
	ID               string
	Account          string // that owns it
	VPC              string
	Subnet           string
	Zone             string
	Description      string
	Status           string // available, in-use, …
	Kind             string // interface, nat_gateway, vpc_endpoint, …
	RequesterManaged bool   // also where a service runs it in the account, as EKS Auto Mode does
	Groups           []string
	SourceCheck      bool
	Attached         bool   // to an instance, or to something of AWS's own
	Instance         string // that it is attached to
	PrivateIPs       []netip.Addr
	Prefixes         []netip.Prefix // delegated, IPv4
	PublicIP         netip.Addr
	IPv6             []netip.Addr
	Tags             map[string]string
}
