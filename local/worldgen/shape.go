package worldgen

import (
	"fmt"
	"math/rand/v2"
)

// Egress is how nodes get to what is outside of their VPC.
type Egress string

// The kinds of egress.
const (
	Public        Egress = "public"
	NATPerZone    Egress = "nat per zone"
	OneNAT        Egress = "one nat"
	RegionalNAT   Egress = "regional nat"
	EndpointsOnly Egress = "endpoints only"
	Mixed         Egress = "nat and endpoints"
	Transit       Egress = "transit gateway"
	NATInstance   Egress = "nat instance"
	// SharedVPC is a VPC of another account behind that account's NAT gateway,
	// which nobody else may describe.
	SharedVPC Egress = "shared vpc"
)

// Egresses are all kinds of egress.
func Egresses() []Egress {
	return []Egress{Public, NATPerZone, OneNAT, RegionalNAT, EndpointsOnly, Mixed, Transit, NATInstance, SharedVPC}
}

// Access is how the cluster's API is reached.
type Access string

// The kinds of access.
const (
	PublicAPI  Access = "public"
	PrivateAPI Access = "private"
	BothAPI    Access = "public and private"
)

// Groups is how security groups are written.
type Groups string

// The styles.
const (
	ClusterGroup Groups = "cluster's group"
	OwnGroup     Groups = "own group, by groups"
	RangeGroup   Groups = "own group, by ranges"
	ListGroup    Groups = "own group, by prefix lists"
)

// Auth is how the cluster knows its nodes.
type Auth string

// The ways, by the names of EKS's authentication modes.
const (
	ByEntries Auth = "API"
	ByMap     Auth = "CONFIG_MAP"
	ByBoth    Auth = "API_AND_CONFIG_MAP"
)

// Policies is how the node role is granted what it needs.
type Policies string

// The ways.
const (
	Managed Policies = "managed"
	Inline  Policies = "inline"
	Custom  Policies = "customer managed"
)

// Identity is who the network plugin is.
type Identity string

// The identities.
const (
	NodeIdentity Identity = "node role"
	IRSA         Identity = "irsa"
	PodIdentity  Identity = "pod identity"
)

// Image is what nodes run.
type Image string

// The images.
const (
	AL2023       Image = "al2023"
	AL2          Image = "al2"
	Bottlerocket Image = "bottlerocket"
	Windows      Image = "windows"
	// AutoImage is EKS's own, which nobody else starts.
	AutoImage Image = "eks auto"
)

// Fleet is what launches the nodes.
type Fleet string

// The fleets.
const (
	ManagedGroup Fleet = "managed"
	SelfManaged  Fleet = "self-managed"
	Karpenter    Fleet = "karpenter"
	AutoMode     Fleet = "auto mode"
)

// Shape is what a generated world looks like.
type Shape struct {
	Egress Egress
	Access Access
	Groups Groups
	Auth   Auth
	Grants Policies
	CNI    Identity
	Image  Image
	Fleet  Fleet

	Zones     int // 2 or 3
	Young     int // instances of ten minutes
	Veterans  int // Ready nodes of a month, in a nodegroup of their own
	Neighbour bool
	// IPv6 is an IPv6 cluster; DualStack an IPv4 one in subnets that have both.
	IPv6, DualStack bool
	MainTable       bool // no subnet of nodes has a table of its own
	Restricted      bool // publicAccessCidrs admit no more than they must
	ACL             bool // a network ACL of one's own
	DHCP            int  // 0 is Amazon's; others are custom sets that work
	Spot            bool
	WarmPool        bool
	Prefixes        bool // prefix delegation
	RolePath        bool // the node role has a path
	Template        bool // a launch template of one's own
}

// draw makes a shape whose parts go together.
func draw(r *rand.Rand) Shape {
	s := Shape{
		Egress: pick(r, Egresses()...), Access: pick(r, PublicAPI, PrivateAPI, BothAPI),
		Groups: pick(r, ClusterGroup, ClusterGroup, OwnGroup, RangeGroup, ListGroup), Auth: pick(r, ByEntries, ByMap, ByBoth),
		Grants: pick(r, Managed, Managed, Inline, Custom), CNI: pick(r, NodeIdentity, NodeIdentity, IRSA, PodIdentity),
		Image: pick(r, AL2023, AL2023, AL2, Bottlerocket, Windows), Fleet: pick(r, ManagedGroup, ManagedGroup, SelfManaged, Karpenter, AutoMode),
		Zones: 2 + r.IntN(2), Young: 1 + r.IntN(3), Veterans: r.IntN(3), Neighbour: r.IntN(4) == 0,
		MainTable: r.IntN(4) == 0, Restricted: r.IntN(2) == 0, ACL: r.IntN(3) == 0, DHCP: r.IntN(4),
		Spot: r.IntN(4) == 0, WarmPool: r.IntN(5) == 0, Prefixes: r.IntN(4) == 0, RolePath: r.IntN(4) == 0, Template: r.IntN(3) == 0,
	}
	switch r.IntN(5) {
	case 0:
		s.IPv6 = true
	case 1:
		s.DualStack = true
	}
	s.settle()
	return s
}

// settle changes what does not go together.
func (s *Shape) settle() {
	if s.Egress == EndpointsOnly && s.Access == PublicAPI {
		s.Access = BothAPI
	}
	switch s.Egress {
	case EndpointsOnly, Transit, NATInstance, SharedVPC, RegionalNAT:
		// Their ways out are IPv4's alone here.
		s.IPv6, s.DualStack = false, false
	}
	if s.Egress == RegionalNAT || s.Egress == NATPerZone {
		s.MainTable = false // the main table is one for all zones
	}
	if s.Fleet == AutoMode {
		// Its nodes are let in by access entries alone (EKS user guide, "Create a cluster
		// with EKS Auto Mode": authentication mode API or API_AND_CONFIG_MAP).
		s.Image, s.Auth = AutoImage, ByEntries
	}
	if s.Image == Windows {
		s.IPv6, s.Prefixes = false, false // the VPC CNI supports neither there in this shape
		if s.Fleet == Karpenter {
			s.Fleet = ManagedGroup
		}
	}
	if s.IPv6 {
		s.Prefixes = true // IPv6 addresses come from delegated prefixes
		if s.Image == AL2 {
			s.Image = AL2023
		}
	}
	if s.Fleet != ManagedGroup {
		s.Template = s.Fleet == SelfManaged
	} else if s.Groups != ClusterGroup {
		s.Template = true // EKS itself sets the cluster's group
	}
	if s.Fleet != ManagedGroup && s.Image == AL2 {
		s.Image = AL2023
	}
	if s.pooled() {
		s.WarmPool = false
	}
}

// pooled tells that a NodePool launches the young instances.
func (s Shape) pooled() bool { return s.Fleet == Karpenter || s.Fleet == AutoMode }

// private tells that the nodes' subnets have no internet gateway.
func (s Shape) private() bool { return s.Egress != Public }

// inside tells that the API's private endpoint answers in the VPC.
func (s Shape) inside() bool { return s.Access != PublicAPI }

// byInternet tells that services without an endpoint are reached.
func (s Shape) byInternet() bool { return s.Egress != EndpointsOnly }

// endpoints tells that interface endpoints are used.
func (s Shape) endpoints() bool { return s.Egress == EndpointsOnly || s.Egress == Mixed }

// String is the shape in one line.
func (s Shape) String() string {
	text := fmt.Sprintf("egress %s; API %s; groups %s; access by %s; policies %s; plugin by %s; %s, %s; %d zones, %d young, %d veterans",
		s.Egress, s.Access, s.Groups, s.Auth, s.Grants, s.CNI, s.Image, s.Fleet, s.Zones, s.Young, s.Veterans)
	for _, on := range []struct {
		is   bool
		name string
	}{
		{s.Neighbour, "another VPC"}, {s.IPv6, "IPv6"}, {s.DualStack, "dual stack"}, {s.MainTable, "main table"}, {s.Restricted, "restricted API"}, {s.ACL, "own ACL"},
		{s.Spot, "spot"}, {s.WarmPool, "warm pool"}, {s.Prefixes, "prefixes"}, {s.RolePath, "role path"}, {s.Template, "own template"},
	} {
		if on.is {
			text += "; " + on.name
		}
	}
	return fmt.Sprintf("%s; DHCP %d", text, s.DHCP)
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }
