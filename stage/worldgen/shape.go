package worldgen

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"go.yaml.in/yaml/v3"

	"rollcall/stage/simaws/worldfile"
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
	// which no other account may describe.
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
	// AutoImage is EKS's own, which no other fleet starts.
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

// pooled reports whether a NodePool launches the young instances.
func (s Shape) pooled() bool { return s.Fleet == Karpenter || s.Fleet == AutoMode }

// private reports whether the nodes' subnets have no internet gateway.
func (s Shape) private() bool { return s.Egress != Public }

// inside reports whether the API's private endpoint answers in the VPC.
func (s Shape) inside() bool { return s.Access != PublicAPI }

// byInternet reports whether services without an endpoint are reached.
func (s Shape) byInternet() bool { return s.Egress != EndpointsOnly }

// endpoints reports whether interface endpoints are used.
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

// noise is what real accounts have beside what matters: things that look
// broken, or like a cause, and are neither.
func (w *World) noise() []func() {
	return []func(){w.exempt, w.garden, w.oldBlackhole, w.oldGateways, w.extraGroup, w.otherPeople, w.otherPolicies, w.recoveredLaunch, w.scaledIn, w.otherEndpoints, w.otherCluster, w.stickyStatus, w.shiftedBefore}
}

// makeNoise adds some of it.
func (w *World) makeNoise(r *rand.Rand) {
	for _, add := range w.noise() {
		if r.IntN(3) == 0 {
			add()
		}
	}
}

// oldBlackhole leaves rows behind that lead nowhere, for networks that no
// node needs.
func (w *World) oldBlackhole() {
	w.eachTable(func(t *ec2types.RouteTable) {
		r := route("192.168.77.0/24", func(r *ec2types.Route) { r.VpcPeeringConnectionId = aws.String("pcx-0dead") })
		r.State = ec2types.RouteStateBlackhole
		t.Routes = append(t.Routes, r)
	})
}

// oldGateways leaves gateways behind that no route leads to.
func (w *World) oldGateways() {
	w.File.EC2.NatGateways = append(w.File.EC2.NatGateways, ec2types.NatGateway{
		NatGatewayId: aws.String(w.id("nat")), VpcId: &w.vpc, SubnetId: &w.public[0], State: ec2types.NatGatewayStateDeleted, ConnectivityType: ec2types.ConnectivityTypePublic,
	})
	w.File.EC2.InternetGateways = append(w.File.EC2.InternetGateways, ec2types.InternetGateway{InternetGatewayId: aws.String(w.id("igw"))})
}

// exempt switches VPC Block Public Access on, and excludes what must get out (VPC user
// guide, "VPC BPA basics").
func (w *World) exempt() {
	w.blockPublicAccess(ec2types.InternetGatewayBlockModeBlockBidirectional)
	exclude := func(kind, id string, mode ec2types.InternetGatewayExclusionMode) {
		w.File.EC2.VpcBlockPublicAccessExclusions = append(w.File.EC2.VpcBlockPublicAccessExclusions, ec2types.VpcBlockPublicAccessExclusion{
			ExclusionId: aws.String(w.id("vpcbpa-exclude")), ResourceArn: aws.String("arn:aws:ec2:" + region + ":" + account + ":" + kind + "/" + id), InternetGatewayExclusionMode: mode,
		})
	}
	const egress, both = ec2types.InternetGatewayExclusionModeAllowEgress, ec2types.InternetGatewayExclusionModeAllowBidirectional
	switch {
	case w.Shape.Egress == EndpointsOnly:
	case w.Shape.Egress == Public, w.Shape.Egress == NATInstance, w.Shape.Egress == SharedVPC:
		exclude("vpc", w.vpc, both)
	case w.Shape.Egress == Transit:
		exclude("vpc", w.egressVPC, egress)
	case w.six(), w.Shape.Egress == RegionalNAT:
		exclude("vpc", w.vpc, egress)
	default:
		for _, id := range w.public {
			exclude("subnet", id, egress)
		}
	}
}

// garden lets the nodes' VPC resolve what is AWS's alone, and sends one's own domain on
// premises.
func (w *World) garden() {
	w.firewall("ALLOW", "*.amazonaws.com.", "*.api.aws.", "*.internal.", "*.corp.example.com.")
	w.resolverRule("rslvr-rr-01", "corp.example.com.", "FORWARD")
	w.byProfile("resolver-rule/rslvr-rr-01", "")
	w.privateZone("Z01", "corp.example.com.")
}

// extraGroup puts a security group on the nodes that lets nothing through:
// groups only add up.
func (w *World) extraGroup() {
	id := w.id("sg")
	w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, ec2types.SecurityGroup{
		GroupId: &id, VpcId: &w.vpc, GroupName: aws.String("marker"), Description: aws.String("Nothing"),
		IpPermissionsEgress: []ec2types.IpPermission{permit("tcp", 9, 9, "192.0.2.1/32")},
	})
	w.young(func(i *ec2types.Instance) {
		i.SecurityGroups = append(i.SecurityGroups, ec2types.GroupIdentifier{GroupId: &id})
	})
}

// otherPeople lets people and other roles into the cluster.
func (w *World) otherPeople() {
	if w.Shape.Auth != ByMap {
		w.File.EKS.AccessEntries = append(w.File.EKS.AccessEntries, ekstypes.AccessEntry{
			ClusterName: aws.String(cluster), PrincipalArn: aws.String(roleARN("/", "admins")), Type: aws.String("STANDARD"),
		})
	}
	if w.Shape.Auth != ByEntries {
		w.mapRoles("- rolearn: " + roleARN("/", "admins") + "\n  username: admin:{{SessionName}}\n  groups:\n    - system:masters\n")
	}
}

// otherPolicies gives the node role policies about something else, a deny of
// what nodes do not do among them.
func (w *World) otherPolicies() {
	r := w.roleNamed("workers")
	r.RolePolicyList = append(r.RolePolicyList,
		iamtypes.PolicyDetail{PolicyName: aws.String("logs"), PolicyDocument: document([]string{"logs:PutLogEvents"})},
		iamtypes.PolicyDetail{PolicyName: aws.String("guard"), PolicyDocument: statement(map[string]any{"Effect": "Deny", "Action": []string{"iam:*", "ec2:TerminateInstances"}, "Resource": "*"})})
}

// recoveredLaunch is a launch that failed before those that went well.
func (w *World) recoveredLaunch() {
	if w.group == "" {
		return
	}
	began := w.now().Add(-2 * time.Hour)
	message := "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Launching EC2 instance failed."
	w.File.AutoScaling.Activities = append(w.File.AutoScaling.Activities, astypes.Activity{
		ActivityId: aws.String("f-recovered"), AutoScalingGroupName: &w.group, StatusCode: astypes.ScalingActivityStatusCodeFailed, StatusMessage: &message, Progress: aws.Int32(100),
		Description: aws.String("Launching a new EC2 instance.  Status Reason: " + message), Cause: aws.String("At 12:00 an instance was started."), StartTime: &began, EndTime: aws.Time(began.Add(time.Second)),
	})
}

// scaledIn is an instance that its group ended as a user asked.
func (w *World) scaledIn() {
	if w.group == "" {
		return
	}
	id := w.id("i")
	began := w.now().Add(-30 * time.Minute)
	w.File.EC2.Instances = append(w.File.EC2.Instances, ec2types.Instance{
		InstanceId: &id, InstanceType: instanceType, ImageId: &w.image, LaunchTime: aws.Time(began.Add(-5 * time.Hour)),
		State:                 &ec2types.InstanceState{Name: ec2types.InstanceStateNameTerminated, Code: aws.Int32(48)},
		StateReason:           &ec2types.StateReason{Code: aws.String("Client.UserInitiatedShutdown"), Message: aws.String("Client.UserInitiatedShutdown: User initiated shutdown")},
		StateTransitionReason: aws.String(fmt.Sprintf("User initiated (%s GMT)", began.UTC().Format(time.DateTime))),
		Tags:                  []ec2types.Tag{tag("kubernetes.io/cluster/"+cluster, "owned"), tag("aws:autoscaling:groupName", w.group)},
	})
	w.File.AutoScaling.Activities = append(w.File.AutoScaling.Activities, astypes.Activity{
		ActivityId: aws.String("t-scaled-in"), AutoScalingGroupName: &w.group, StatusCode: astypes.ScalingActivityStatusCodeSuccessful, Progress: aws.Int32(100),
		Description: aws.String("Terminating EC2 instance: " + id), Cause: aws.String("At 14:30 an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 4 to 3."),
		StartTime: &began, EndTime: aws.Time(began.Add(time.Minute)),
	})
}

// otherEndpoints are endpoints for what nodes do not need to join, one of them
// broken.
func (w *World) otherEndpoints() {
	if w.Shape.Egress == SharedVPC || w.Shape.Egress == EndpointsOnly || w.Shape.Egress == Mixed {
		return
	}
	for _, e := range [][2]string{{"kms", "available"}, {"monitoring", "failed"}} {
		service, state := e[0], e[1]
		w.File.EC2.VpcEndpoints = append(w.File.EC2.VpcEndpoints, ec2types.VpcEndpoint{
			VpcEndpointId: aws.String("vpce-0" + service), VpcId: &w.vpc, ServiceName: aws.String("com.amazonaws." + region + "." + service), VpcEndpointType: ec2types.VpcEndpointTypeInterface,
			PrivateDnsEnabled: aws.Bool(true), State: ec2types.State(state), SubnetIds: w.private[:1], PolicyDocument: aws.String(openPolicy),
		})
	}
}

// otherCluster is a second cluster in the same VPC, with a node beside the
// first one's.
func (w *World) otherCluster() {
	const name = "staging"
	group, id := w.id("sg"), w.id("i")
	w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, ec2types.SecurityGroup{
		GroupId: &group, VpcId: &w.vpc, GroupName: aws.String("eks-cluster-sg-" + name), Description: aws.String("EKS created security group"),
		IpPermissions: []ec2types.IpPermission{permitGroup("-1", 0, 0, group)}, IpPermissionsEgress: w.anywhere("-1", 0, 0),
	})
	w.File.EKS.Clusters = append(w.File.EKS.Clusters, ekstypes.Cluster{
		Name: aws.String(name), Version: &w.version, Status: ekstypes.ClusterStatusActive, CreatedAt: w.long(),
		ResourcesVpcConfig: &ekstypes.VpcConfigResponse{VpcId: &w.vpc, SubnetIds: w.private, ClusterSecurityGroupId: &group, EndpointPublicAccess: true},
		AccessConfig:       &ekstypes.AccessConfigResponse{AuthenticationMode: ekstypes.AuthenticationModeApi},
	})
	w.File.EC2.NetworkInterfaces = append(w.File.EC2.NetworkInterfaces, ec2types.NetworkInterface{
		NetworkInterfaceId: aws.String(w.id("eni")), SubnetId: &w.private[0], Description: aws.String("Amazon EKS " + name), RequesterManaged: aws.Bool(true),
		Status: ec2types.NetworkInterfaceStatusInUse, Groups: []ec2types.GroupIdentifier{{GroupId: &group}},
	})
	w.File.EC2.Instances = append(w.File.EC2.Instances, ec2types.Instance{
		InstanceId: &id, InstanceType: instanceType, ImageId: &w.image, SubnetId: &w.Subnets[0], LaunchTime: w.long(), SecurityGroups: []ec2types.GroupIdentifier{{GroupId: &group}},
		Tags: []ec2types.Tag{tag("kubernetes.io/cluster/"+name, "owned")},
	})
	w.File.Kubernetes[name] = worldfile.KubernetesFile{}
}

// stickyStatus is a nodegroup that EKS still calls degraded, for an instance
// that is long gone: all that it wants are Ready nodes.
func (w *World) stickyStatus() {
	if len(w.Veterans) > 0 {
		w.saysOf("base", ekstypes.NodegroupStatusDegraded, nodegroupIssue("NodeCreationFailure", "Instances failed to join the kubernetes cluster", "i-0dead00000000beef"))
	}
}

// target sets where a route leads.
type target func(*ec2types.Route)

func local(r *ec2types.Route) { r.GatewayId = aws.String("local") }

func gatewayID(id string) target { return func(r *ec2types.Route) { r.GatewayId = &id } }

func natID(id string) target { return func(r *ec2types.Route) { r.NatGatewayId = &id } }

// route is a row for an IPv4 range.
func route(cidr string, to target) ec2types.Route {
	r := ec2types.Route{DestinationCidrBlock: &cidr, State: ec2types.RouteStateActive}
	to(&r)
	return r
}

// route6 is a row for an IPv6 range.
func route6(cidr string, to target) ec2types.Route {
	r := ec2types.Route{DestinationIpv6CidrBlock: &cidr, State: ec2types.RouteStateActive}
	to(&r)
	return r
}

// makeTables makes the route tables, and what their routes lead to.
func (w *World) makeTables() {
	outward := w.locals()
	if w.gateway != "" {
		outward = append(outward, route("0.0.0.0/0", gatewayID(w.gateway)))
		if w.six() {
			outward = append(outward, route6("::/0", gatewayID(w.gateway)))
		}
	}
	if !w.Shape.private() {
		if w.Shape.MainTable {
			w.Tables = []string{w.makeTable(w.vpc, true, nil, outward...)}
			return
		}
		w.makeTable(w.vpc, true, nil, w.locals()...)
		w.Tables = []string{w.makeTable(w.vpc, false, w.public, outward...)}
		w.makeTable(w.vpc, false, w.private, w.locals()...)
		return
	}
	w.makeTable(w.vpc, false, w.public, outward...)
	if w.Shape.MainTable {
		w.Tables = []string{w.makeTable(w.vpc, true, nil, w.inward(0)...)}
		return
	}
	w.makeTable(w.vpc, true, nil, w.locals()...)
	if w.Shape.Egress != NATPerZone {
		w.Tables = []string{w.makeTable(w.vpc, false, w.private, w.inward(0)...)}
		return
	}
	for i, subnet := range w.private {
		w.Tables = append(w.Tables, w.makeTable(w.vpc, false, []string{subnet}, w.inward(i)...))
	}
}

func (w *World) locals() []ec2types.Route {
	list := []ec2types.Route{route(w.range4.String(), local)}
	if w.six() {
		list = append(list, route6(w.range6.String(), local))
	}
	return list
}

func (w *World) makeTable(vpc string, main bool, subnets []string, routes ...ec2types.Route) string {
	t := ec2types.RouteTable{RouteTableId: aws.String(w.id("rtb")), VpcId: &vpc, Routes: slices.Clone(routes)}
	if main {
		t.Associations = append(t.Associations, ec2types.RouteTableAssociation{Main: aws.Bool(true)})
	}
	for _, s := range subnets {
		t.Associations = append(t.Associations, ec2types.RouteTableAssociation{SubnetId: aws.String(s)})
	}
	if w.Shape.Egress == SharedVPC && vpc == w.vpc {
		t.OwnerId = aws.String(landlord)
	}
	w.File.EC2.RouteTables = append(w.File.EC2.RouteTables, t)
	return *t.RouteTableId
}

// inward are the rows of a table of private subnets in the n-th zone.
func (w *World) inward(n int) []ec2types.Route {
	list := w.locals()
	switch w.Shape.Egress {
	case NATPerZone:
		list = append(list, route("0.0.0.0/0", natID(w.makeNAT(w.vpc, w.public[n]))))
	case OneNAT, Mixed:
		list = append(list, route("0.0.0.0/0", natID(w.makeNAT(w.vpc, w.public[0]))))
	case RegionalNAT:
		list = append(list, route("0.0.0.0/0", natID(w.makeRegionalNAT())))
	case Transit:
		list = append(list, route("0.0.0.0/0", w.makeTransit()))
	case NATInstance:
		list = append(list, route("0.0.0.0/0", w.makeNATInstance()))
	case SharedVPC:
		// It is the landlord's, and described to no other account.
		list = append(list, route("0.0.0.0/0", natID(w.id("nat"))))
	}
	if w.six() {
		id := w.id("eigw")
		w.File.EC2.EgressOnlyInternetGateways = append(w.File.EC2.EgressOnlyInternetGateways, ec2types.EgressOnlyInternetGateway{
			EgressOnlyInternetGatewayId: &id,
			Attachments:                 []ec2types.InternetGatewayAttachment{{VpcId: &w.vpc, State: ec2types.AttachmentStatusAttached}},
		})
		list = append(list, route6("::/0", func(r *ec2types.Route) { r.EgressOnlyInternetGatewayId = &id }))
	}
	return list
}

func (w *World) makeNAT(vpc, subnet string) string {
	id := w.id("nat")
	w.nats = append(w.nats, id)
	w.File.EC2.NatGateways = append(w.File.EC2.NatGateways, ec2types.NatGateway{
		NatGatewayId: &id, VpcId: &vpc, SubnetId: &subnet, State: ec2types.NatGatewayStateAvailable, ConnectivityType: ec2types.ConnectivityTypePublic,
		NatGatewayAddresses: []ec2types.NatGatewayAddress{w.elastic()},
	})
	return id
}

// elastic is the address of the next NAT gateway.
func (w *World) elastic() ec2types.NatGatewayAddress {
	ip := fmt.Sprintf("203.0.113.%d", 10+len(w.nats))
	id := w.id("eipalloc")
	w.File.EC2.Addresses = append(w.File.EC2.Addresses, ec2types.Address{AllocationId: &id, PublicIp: &ip, Domain: ec2types.DomainTypeVpc})
	return ec2types.NatGatewayAddress{AllocationId: &id, PublicIp: &ip, IsPrimary: aws.Bool(true)}
}

// makeRegionalNAT makes a gateway that has no subnet but a table of its own.
func (w *World) makeRegionalNAT() string {
	id := w.id("nat")
	w.nats = append(w.nats, id)
	table := w.makeTable(w.vpc, false, nil, route(w.range4.String(), local), route("0.0.0.0/0", gatewayID(w.gateway)))
	w.File.EC2.NatGateways = append(w.File.EC2.NatGateways, ec2types.NatGateway{
		NatGatewayId: &id, VpcId: &w.vpc, State: ec2types.NatGatewayStateAvailable, ConnectivityType: ec2types.ConnectivityTypePublic,
		AvailabilityMode: ec2types.AvailabilityModeRegional, RouteTableId: &table,
	})
	g := &w.File.EC2.NatGateways[len(w.File.EC2.NatGateways)-1]
	for i, zone := range w.zones() {
		a := w.elastic()
		a.PublicIp = aws.String(fmt.Sprintf("203.0.113.%d", 40+i))
		a.AvailabilityZone, a.Status, a.IsPrimary = aws.String(zone), ec2types.NatGatewayAddressStatusSucceeded, nil
		w.File.EC2.Addresses[len(w.File.EC2.Addresses)-1].PublicIp = a.PublicIp
		g.NatGatewayAddresses = append(g.NatGatewayAddresses, a)
	}
	return id
}

// start is what user data tells a node.
type start struct {
	cluster, endpoint, authority, services, extra string
}

func (w *World) start() start {
	s := start{cluster: cluster, endpoint: endpoint, authority: authority, services: service4}
	if w.Shape.IPv6 {
		s.services = service6
	}
	return s
}

// userData is the user data of an image's kind, in the form of the API.
func userData(image Image, s start) string {
	var text string
	switch image {
	case AutoImage:
		return "" // EKS keeps it to itself
	case AL2:
		text = fmt.Sprintf(`MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
set -ex
B64_CLUSTER_CA=%s
API_SERVER_URL=%s
/etc/eks/bootstrap.sh %s --kubelet-extra-args '--node-labels=team=a%s' --b64-cluster-ca $B64_CLUSTER_CA --apiserver-endpoint $API_SERVER_URL --dns-cluster-ip 172.20.0.10

--//--
`, s.authority, s.endpoint, s.cluster, s.extra)
	case Bottlerocket:
		text = fmt.Sprintf("[settings.kubernetes]\n\"cluster-name\" = %q\n\"api-server\" = %q\n\"cluster-certificate\" = %q\n[settings.kubernetes.node-labels]\n\"team\" = \"a\"\n%s",
			s.cluster, s.endpoint, s.authority, s.extra)
	case Windows:
		text = fmt.Sprintf("<powershell>\n[string]$EKSBootstrapScriptFile = \"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n& $EKSBootstrapScriptFile -EKSClusterName %q -APIServerEndpoint %q -Base64ClusterCA %q 3>&1 4>&1 5>&1 6>&1\n%s</powershell>\n",
			s.cluster, s.endpoint, s.authority, s.extra)
	default:
		text = fmt.Sprintf(`MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: %s
    apiServerEndpoint: %s
    certificateAuthority: %s
    cidr: %s
  kubelet:
    flags:
    - "--node-labels=team=a%s"

--//--
`, s.cluster, s.endpoint, s.authority, s.services, s.extra)
	}
	return base64.StdEncoding.EncodeToString([]byte(text))
}

// YAML is the world as a file that worldfile.Load reads, without what is empty.
func (w *World) YAML() ([]byte, error) {
	out, err := yaml.Marshal(plain(reflect.ValueOf(w.File)))
	if err != nil {
		return nil, fmt.Errorf("write world %s: %w", w.File.Name, err)
	}
	return out, nil
}

// plain is a value as maps, lists and scalars; nil where it is empty. A
// pointer that is set is never empty: false differs from nothing said.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if e := v.Elem(); e.Kind() != reflect.Struct || e.Type() == reflect.TypeFor[time.Time]() {
			return scalar(e)
		}
		return plain(v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return verbatim(v.Interface())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if v.IsZero() {
				return nil
			}
			return scalar(v)
		}
		out := map[string]any{}
		fields(v, out)
		if len(out) == 0 {
			return nil
		}
		return out
	case reflect.Slice:
		if v.Len() == 0 {
			return nil
		}
		out := make([]any, v.Len())
		for i := range out {
			if out[i] = plain(v.Index(i)); out[i] == nil {
				out[i] = map[string]any{}
			}
		}
		return out
	case reflect.Map:
		out := map[string]any{}
		for it := v.MapRange(); it.Next(); {
			if item := plain(it.Value()); item != nil {
				out[it.Key().String()] = item
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	if v.IsZero() {
		return nil
	}
	return scalar(v)
}

// verbatim is a Kubernetes object as it is; numbers that were read from a file
// are kept as text there, and must not become text in another.
func verbatim(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = verbatim(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = verbatim(item)
		}
		return out
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
	}
	return v
}

func fields(v reflect.Value, out map[string]any) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			fields(v.Field(i), out)
			continue
		}
		if !f.IsExported() {
			continue
		}
		if value := plain(v.Field(i)); value != nil {
			out[f.Name] = value
		}
	}
}

func scalar(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case time.Time:
		return x.UTC().Format(time.RFC3339)
	case time.Duration:
		return x.String()
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return v.Bool()
	case reflect.Float64, reflect.Float32:
		return v.Float()
	case reflect.Int, reflect.Int32, reflect.Int64:
		return v.Int()
	}
	return plain(v)
}
