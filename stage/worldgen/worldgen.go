// Package worldgen generates worlds for property tests: healthy clusters of
// many shapes out of a seed, and single faults that break them. What a world
// is made of is written here apart from the checks that judge it: a healthy
// one in which a check fails, or a fault that another check names, is a
// contradiction in which one of the two is wrong.
package worldgen

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/checkid"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/worldfile"
	"rollcall/stage/simaws/zonalshift"
)

const (
	account = "111122223333"
	// landlord owns a shared VPC.
	landlord = "444455556666"
	region   = "us-west-2"
	cluster  = "prod"
)

// Age is how long before the world's time its young instances were launched:
// past the five minutes that a node has to join.
const Age = 10 * time.Minute

// World is a generated world, and where in it things are.
type World struct {
	Seed    uint64
	Shape   Shape
	File    *worldfile.File
	Cluster string
	// Young are the instances of ten minutes: Ready nodes as long as nothing
	// is broken. Veterans joined long ago.
	Young, Veterans []string
	// Subnets are those of the young instances, Tables the route tables in
	// force there.
	Subnets, Tables []string

	vpc, egressVPC             string
	public, private            []string
	gateway                    string
	nats                       []string
	clusterGroup, nodeGroup    string // nodeGroup is clusterGroup where nodes have no own
	endpointGroup              string
	role, profile, cniRole     string // ARN, ARN, ARN or ""
	group, nodegroup, template string
	image                      string
	version                    string
	range4                     netip.Prefix
	range6                     netip.Prefix
	ids                        int
	// wait is how long after its time the world is looked at: what EKS is asked
	// to do has come to its end by then.
	wait time.Duration
}

// New generates the healthy world of a seed.
func New(seed uint64) *World {
	r := rand.New(rand.NewPCG(seed, 0x526f6c6c))
	w := &World{Seed: seed, Shape: draw(r), Cluster: cluster, version: pick(r, "1.32", "1.33", "1.34")}
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	if w.Shape.Image == AL2 {
		// Before the end of its support (26 November 2025), and the last
		// version that has such an image.
		at, w.version = time.Date(2025, 10, 20, 15, 0, 0, 0, time.UTC), "1.32"
	}
	w.range4 = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(10 + r.IntN(200)), 0, 0}), 16)
	w.range6 = netip.MustParsePrefix(fmt.Sprintf("2600:1f14:%x::/56", 1+r.IntN(0xfff0)))
	w.File = &worldfile.File{
		Name: fmt.Sprintf("generated-%d", seed), About: "A generated world: " + w.Shape.String() + ".",
		Account: account, Region: region, Time: at, Kubernetes: map[string]worldfile.KubernetesFile{},
	}
	w.File.EC2.UserData, w.File.EC2.ConsoleOutput = map[string]string{}, map[string]string{}
	w.File.EC2.VpcAttributes = map[string]worldfile.VpcAttributes{}
	w.File.EC2.PrefixListEntries = map[string][]ec2types.PrefixListEntry{}
	w.makeNetwork()
	w.makeGroups()
	w.makeACL()
	w.makeEndpoints()
	w.makeCluster()
	w.makeIdentities()
	w.makeFleets()
	w.makeKubernetes()
	w.makeNoise(r)
	w.File.Expect.Healthy = true
	return w
}

// id makes the next id of a kind.
func (w *World) id(kind string) string {
	w.ids++
	return fmt.Sprintf("%s-0%016x", kind, 0xa000000000000000>>4|uint64(w.ids)<<8|w.Seed&0xff)
}

// now is the world's time.
func (w *World) now() time.Time { return w.File.Time }

// long is when what is not new was made.
func (w *World) long() *time.Time { return aws.Time(w.now().Add(-60 * 24 * time.Hour)) }

// address is the n-th address of a subnet's range.
func address(cidr string, n int) string {
	p := netip.MustParsePrefix(cidr)
	b := p.Addr().AsSlice()
	b[len(b)-1] += byte(n)
	b[len(b)-2] += byte(n >> 8)
	a, _ := netip.AddrFromSlice(b)
	return a.String()
}

// allow is an entry that lets a range of ports through; "-1" is all protocols.
func allow(number int32, egress bool, protocol int, from, to int32, cidr string) ec2types.NetworkAclEntry {
	e := ec2types.NetworkAclEntry{
		RuleNumber: &number, Egress: &egress, Protocol: aws.String(strconv.Itoa(protocol)), RuleAction: ec2types.RuleActionAllow, CidrBlock: &cidr,
	}
	if protocol > 0 {
		e.PortRange = &ec2types.PortRange{From: &from, To: &to}
	}
	return e
}

// six is an entry's twin for IPv6.
func six(e ec2types.NetworkAclEntry, number int32, cidr string) ec2types.NetworkAclEntry {
	e.RuleNumber, e.CidrBlock, e.Ipv6CidrBlock = &number, nil, &cidr
	return e
}

// the protocol number of TCP.
const protocolTCP = 6

// makeACL makes the network ACLs: EC2's own, or one that lets through what
// nodes need and little else.
func (w *World) makeACL() {
	for _, v := range w.File.EC2.Vpcs {
		var subnets []string
		for _, s := range w.File.EC2.Subnets {
			if *s.VpcId == *v.VpcId {
				subnets = append(subnets, *s.SubnetId)
			}
		}
		own := w.Shape.ACL && *v.VpcId == w.vpc
		entries := []ec2types.NetworkAclEntry{allow(100, false, -1, 0, 0, "0.0.0.0/0"), allow(100, true, -1, 0, 0, "0.0.0.0/0")}
		if own {
			entries = w.narrow()
		}
		if w.six() && *v.VpcId == w.vpc {
			for _, e := range entries {
				cidr := "::/0"
				if *e.CidrBlock != "0.0.0.0/0" {
					cidr = w.range6.String()
				}
				entries = append(entries, six(e, *e.RuleNumber+1, cidr))
			}
		}
		last := allow(32767, false, -1, 0, 0, "0.0.0.0/0")
		last.RuleAction = ec2types.RuleActionDeny
		out := last
		out.Egress = aws.Bool(true)
		acl := ec2types.NetworkAcl{NetworkAclId: aws.String(w.id("acl")), VpcId: v.VpcId, IsDefault: aws.Bool(!own), Entries: append(entries, last, out)}
		for _, s := range subnets {
			acl.Associations = append(acl.Associations, ec2types.NetworkAclAssociation{NetworkAclAssociationId: aws.String(w.id("aclassoc")), NetworkAclId: acl.NetworkAclId, SubnetId: aws.String(s)})
		}
		w.File.EC2.NetworkAcls = append(w.File.EC2.NetworkAcls, acl)
	}
}

// narrow are entries under which nodes join: the VPC's own traffic, HTTPS out,
// and the answers to it.
func (w *World) narrow() []ec2types.NetworkAclEntry {
	return []ec2types.NetworkAclEntry{
		allow(100, false, -1, 0, 0, w.range4.String()),
		allow(110, false, protocolTCP, 1024, 65535, "0.0.0.0/0"),
		allow(100, true, -1, 0, 0, w.range4.String()),
		allow(110, true, protocolTCP, 443, 443, "0.0.0.0/0"),
		// Answers of a NAT gateway's subnet back to what it serves.
		allow(120, true, protocolTCP, 1024, 65535, "0.0.0.0/0"),
	}
}

// The cluster's own endpoint and authority, as user data carries them.
const (
	endpoint  = "https://0A1B2C3D4E5F60718293A4B5C6D7E8F9.gr7.us-west-2.eks.amazonaws.com"
	authority = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
	issuer    = "oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9"
)

// service4 and service6 are the ranges of the cluster's services.
const (
	service4 = "172.20.0.0/16"
	service6 = "fd12:3456:789a::/108"
)

// makeCluster makes the EKS cluster, its interfaces in the VPC and its add-ons.
func (w *World) makeCluster() {
	network := &ekstypes.KubernetesNetworkConfigResponse{IpFamily: ekstypes.IpFamilyIpv4, ServiceIpv4Cidr: aws.String(service4)}
	if w.Shape.IPv6 {
		network = &ekstypes.KubernetesNetworkConfigResponse{IpFamily: ekstypes.IpFamilyIpv6, ServiceIpv6Cidr: aws.String(service6)}
	}
	w.File.EKS.Clusters = append(w.File.EKS.Clusters, ekstypes.Cluster{
		Name: aws.String(cluster), Version: &w.version, Status: ekstypes.ClusterStatusActive, CreatedAt: w.long(),
		Endpoint: aws.String(endpoint), CertificateAuthority: &ekstypes.Certificate{Data: aws.String(authority)},
		RoleArn:  aws.String("arn:aws:iam::" + account + ":role/" + cluster + "-cluster"),
		Identity: &ekstypes.Identity{Oidc: &ekstypes.OIDC{Issuer: aws.String("https://" + issuer)}},
		ResourcesVpcConfig: &ekstypes.VpcConfigResponse{
			VpcId: &w.vpc, SubnetIds: w.private, ClusterSecurityGroupId: &w.clusterGroup,
			EndpointPublicAccess: w.Shape.Access != PrivateAPI, EndpointPrivateAccess: w.Shape.inside(), PublicAccessCidrs: w.admitted(),
		},
		KubernetesNetworkConfig: network,
		AccessConfig:            &ekstypes.AccessConfigResponse{AuthenticationMode: ekstypes.AuthenticationMode(w.Shape.Auth)},
	})
	if w.Shape.Fleet == AutoMode {
		w.eks().ComputeConfig = &ekstypes.ComputeConfigResponse{Enabled: aws.Bool(true), NodePools: []string{"general-purpose", "system"}}
	}
	for n, subnet := range w.private[:2] {
		s := w.subnet(subnet)
		eni := ec2types.NetworkInterface{
			NetworkInterfaceId: aws.String(w.id("eni")), SubnetId: s.SubnetId, Description: aws.String("Amazon EKS " + cluster),
			InterfaceType: ec2types.NetworkInterfaceTypeInterface, RequesterManaged: aws.Bool(true), Status: ec2types.NetworkInterfaceStatusInUse,
			PrivateIpAddress: aws.String(address(*s.CidrBlock, 200+n)), Groups: []ec2types.GroupIdentifier{{GroupId: &w.clusterGroup}},
		}
		if w.Shape.IPv6 {
			six := netip.MustParsePrefix(*s.Ipv6CidrBlockAssociationSet[0].Ipv6CidrBlock)
			eni.Ipv6Addresses = []ec2types.NetworkInterfaceIpv6Address{{Ipv6Address: aws.String(address(six.String(), 200+n))}}
		}
		w.File.EC2.NetworkInterfaces = append(w.File.EC2.NetworkInterfaces, eni)
	}
	w.addAddon("vpc-cni", "v1.20.4-eksbuild.1")
	w.addAddon("kube-proxy", "v"+w.version+".0-eksbuild.2")
	w.addAddon("coredns", "v1.12.4-eksbuild.1")
	if w.Shape.CNI == PodIdentity {
		w.addAddon("eks-pod-identity-agent", "v1.3.8-eksbuild.2")
	}
}

func (w *World) addAddon(name, version string) {
	w.File.EKS.Addons = append(w.File.EKS.Addons, ekstypes.Addon{
		ClusterName: aws.String(cluster), AddonName: &name, AddonVersion: &version, Status: ekstypes.AddonStatusActive,
	})
}

// admitted are the ranges that the public endpoint admits.
func (w *World) admitted() []string {
	all := []string{"0.0.0.0/0"}
	if w.Shape.IPv6 {
		all = append(all, "::/0")
	}
	// Only the landlord knows the address of a shared VPC's gateway.
	if !w.Shape.Restricted || w.Shape.Egress == SharedVPC {
		return all
	}
	list := []string{"198.51.100.0/24"} // an office
	for _, n := range w.File.EC2.NatGateways {
		for _, a := range n.NatGatewayAddresses {
			list = append(list, *a.PublicIp+"/32")
		}
	}
	switch w.Shape.Egress {
	case Public:
		list = append(list, nodeRange)
	case NATInstance:
		list = append(list, natInstance+"/32")
	}
	if w.six() {
		list = append(list, w.range6.String())
	}
	return list
}

// s3List is AWS's prefix list of S3 in this region.
const s3List = "pl-68a54001"

// openPolicy is the policy that an endpoint has by default.
const openPolicy = `{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}]}`

// makeEndpoints makes the interface endpoints and S3's gateway endpoint.
func (w *World) makeEndpoints() {
	w.File.EC2.ManagedPrefixLists = append(w.File.EC2.ManagedPrefixLists, ec2types.ManagedPrefixList{
		PrefixListId: aws.String(s3List), PrefixListName: aws.String("com.amazonaws." + region + ".s3"), AddressFamily: aws.String("IPv4"),
		State: ec2types.PrefixListStateCreateComplete, OwnerId: aws.String("AWS"),
	})
	for _, c := range []string{"52.92.128.0/17", "3.5.76.0/22", "52.218.128.0/17"} {
		w.File.EC2.PrefixListEntries[s3List] = append(w.File.EC2.PrefixListEntries[s3List], ec2types.PrefixListEntry{Cidr: aws.String(c)})
	}
	if !w.Shape.endpoints() {
		return
	}
	w.endpointGroup = w.id("sg")
	g := ec2types.SecurityGroup{
		GroupId: &w.endpointGroup, VpcId: &w.vpc, GroupName: aws.String("endpoints"), Description: aws.String("HTTPS"),
		IpPermissions: w.within("tcp", 443, 443), IpPermissionsEgress: w.anywhere("-1", 0, 0),
	}
	if w.Shape.Groups == OwnGroup {
		g.IpPermissions = []ec2types.IpPermission{permitGroup("tcp", 443, 443, w.nodeGroup)}
	}
	w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, g)
	for _, service := range w.services() {
		w.File.EC2.VpcEndpoints = append(w.File.EC2.VpcEndpoints, ec2types.VpcEndpoint{
			VpcEndpointId: aws.String(w.id("vpce")), VpcId: &w.vpc, ServiceName: aws.String("com.amazonaws." + region + "." + service),
			VpcEndpointType: ec2types.VpcEndpointTypeInterface, PrivateDnsEnabled: aws.Bool(true), State: "available",
			PolicyDocument: aws.String(openPolicy),
			SubnetIds:      slices.Clone(w.private), Groups: []ec2types.SecurityGroupIdentifier{{GroupId: &w.endpointGroup}},
		})
	}
	id := w.id("vpce")
	w.File.EC2.VpcEndpoints = append(w.File.EC2.VpcEndpoints, ec2types.VpcEndpoint{
		VpcEndpointId: &id, VpcId: &w.vpc, ServiceName: aws.String("com.amazonaws." + region + ".s3"), VpcEndpointType: ec2types.VpcEndpointTypeGateway,
		State: "available", PrivateDnsEnabled: aws.Bool(false), PolicyDocument: aws.String(openPolicy), RouteTableIds: slices.Clone(w.Tables),
	})
	for _, t := range w.Tables {
		table := w.table(t)
		table.Routes = append(table.Routes, ec2types.Route{DestinationPrefixListId: aws.String(s3List), GatewayId: &id, State: ec2types.RouteStateActive})
	}
}

// services are those that have an interface endpoint: all that nodes need
// where there is no other way, a part of them beside a NAT gateway.
func (w *World) services() []string {
	if w.Shape.Egress == Mixed {
		return []string{"ecr.api", "ecr.dkr", "sts"}
	}
	return []string{"ec2", "ecr.api", "ecr.dkr", "sts", "eks", "eks-auth", "logs"}
}

// Why a fault cannot be on nodes of a NodePool. The rules are those of AWS's and
// Karpenter's own documents.
const (
	noScalingActivity = "a NodePool has no Auto Scaling group: what is refused stands in CreateFleet's answer and in the NodeClaim (karpenter-provider-aws, pkg/providers/instance)"
	noSuchFleet       = "the stage's EC2 has no such refusal of a fleet (stage/simaws/ec2, CreateFleet)"
	noNodegroup       = "a NodePool is no nodegroup of EKS"
	setsTag           = "Karpenter sets the cluster's tag itself (karpenter-provider-aws, pkg/providers/instance: tags of the fleet)"
	afterCluster      = "the NodePool is an object of the cluster that it would be older than"
	groupsOfClass     = "there are no groups that EKS would add beside those of the class (EC2NodeClass, securityGroupSelectorTerms)"
	managedImage      = "EKS chooses the image, its user data and its metadata options, and nobody else may change a managed instance (EKS user guide, \"Learn about Amazon EKS Auto Mode Managed instances\")"
	managedPlugin     = "the network plugin is part of the system there, with EKS's own rights (EKS user guide, \"Learn about VPC Networking and Load Balancing in EKS Auto Mode\")"
	managedProfile    = "EKS makes the instance profile and gives it to each instance (EKS user guide, \"Create a Node Class for Amazon EKS\")"
	minimalRole       = "AmazonEKSWorkerNodeMinimalPolicy grants no call of EC2: the node's name is the instance's id (EKS user guide, \"Amazon EKS Auto Mode node IAM role\")"
	entriesOnly       = "the nodes are let in by an access entry of the type EC2 (EKS user guide, \"Create a Node Class for Amazon EKS\")"
)

// exceptions are the fleets of NodePools whose nodes cannot have a fault.
func exceptions(f Fault) map[Fleet]string {
	both := func(why string) map[Fleet]string { return map[Fleet]string{Karpenter: why, AutoMode: why} }
	auto := func(why string) map[Fleet]string { return map[Fleet]string{AutoMode: why} }
	switch {
	case strings.HasPrefix(f.Name, refusedLaunch) && fleetFaults()[f.Check] != nil:
		return auto(noScalingActivity)
	case strings.HasPrefix(f.Name, refusedLaunch):
		return map[Fleet]string{Karpenter: noSuchFleet, AutoMode: noScalingActivity}
	case f.Name == "launches suspended":
		return both(noScalingActivity)
	case strings.Contains(f.Name, "nodegroup"), strings.HasPrefix(f.Name, "EKS "):
		return both(noNodegroup)
	}
	switch f.Name {
	case "no tag of the cluster":
		return both(setsTag)
	case "older than the cluster":
		return both(afterCluster)
	case "foreign groups that keep the control plane out":
		return both(groupsOfClass)
	case "user data names another cluster", "user data names another endpoint", "user data holds another authority", "no user data",
		"a label that kubelets may not set", "metadata off", "an image for another architecture",
		"an image newer than the control plane", "nodeadm fails":
		return auto(managedImage)
	case "the plugin's own role may nothing", "the association's role may not assume the plugin's", "the association's session policy allows nothing of the plugin", "the node role may nothing of the plugin", "the network plugin crashes", "the add-on vpc-cni is degraded":
		return auto(managedPlugin)
	case "instances without a profile":
		return auto(managedProfile)
	case "the role may not learn its name":
		return auto(minimalRole)
	case "no aws-auth", "the profile is mapped in place of the role", "the role is mapped with its path", "the role is mapped twice", "aws-auth is no YAML":
		return auto(entriesOnly)
	}
	return nil
}

// Fault is one thing that is broken in a world that was healthy.
type Fault struct {
	Name string
	// Check is the check that must be named first; Or are others that are as
	// right.
	Check checkid.ID
	Or    []checkid.ID

	// Except says, of fleets whose nodes cannot have the fault, why.
	Except map[Fleet]string

	applies func(*World) bool
	breaks  func(*World)
	reach   reach
}

// reach is what a fault does to the young instances.
type reach int

const (
	keepsOut   reach = iota // none of them registers
	keepsTable              // those behind the first route table do not register
	lets                    // they are nodes, as the fault leaves them
	noLaunch                // they are Ready nodes; others cannot be launched
)

// Faults are all single faults.
func Faults() []Fault {
	list := slices.Concat(routeFaults(), resolverFaults(), endpointFaults(), filterFaults(), nameFaults(), roleFaults(), accessFaults(), startFaults(), instanceFaults(), nodeFaults(), launchFaults(), nodegroupFaults(), zoneFaults())
	for i := range list {
		list[i].Except = exceptions(list[i])
	}
	return list
}

// Applies reports whether a world has what the fault breaks.
func (f Fault) Applies(w *World) bool { return f.Except[w.Shape.Fleet] == "" && f.applies(w) }

// Break breaks a world. It returns the instances that miss their roll call.
func (f Fault) Break(w *World) []string {
	failing := w.Young
	if f.reach == keepsTable {
		failing = w.youngBehind(w.Tables[0])
	}
	f.breaks(w)
	w.File.Expect.Healthy = false
	switch f.reach {
	case noLaunch:
		return nil
	case keepsOut, keepsTable:
		w.unjoin(failing)
	}
	return failing
}

// youngBehind are the young instances for which a route table is in force.
func (w *World) youngBehind(table string) []string {
	if len(w.Tables) == 1 {
		return w.Young
	}
	return slices.DeleteFunc(slices.Clone(w.Young), func(id string) bool {
		subnet := *w.instance(id).SubnetId
		for _, a := range w.table(table).Associations {
			if a.SubnetId != nil && *a.SubnetId == subnet {
				return false
			}
		}
		return true
	})
}

// always applies everywhere.
func always(*World) bool { return true }

// egressIn applies where the egress is one of some.
func egressIn(kinds ...Egress) func(*World) bool {
	return func(w *World) bool { return slices.Contains(kinds, w.Shape.Egress) }
}

// both applies where all do.
func both(list ...func(*World) bool) func(*World) bool {
	return func(w *World) bool {
		return !slices.ContainsFunc(list, func(applies func(*World) bool) bool { return !applies(w) })
	}
}

func not(applies func(*World) bool) func(*World) bool {
	return func(w *World) bool { return !applies(w) }
}

func inIPv6(w *World) bool { return w.Shape.IPv6 }

func grouped(w *World) bool { return !w.Shape.pooled() }

func linux(w *World) bool { return w.Shape.Image != Windows }

// zoneFaults are of zones in which volumes live.
func zoneFaults() []Fault {
	away := func(shift func(w *World, zoneID string)) func(*World) {
		return func(w *World) {
			zone := *w.subnet(w.Subnets[0]).AvailabilityZone
			w.shiftable()
			shift(w, ids.ZoneID(zone))
			w.waitFor(zone)
		}
	}
	return []Fault{
		{Name: "a zonal shift away from a volume's zone", Check: checkid.ZoneShifted, reach: noLaunch, applies: always, breaks: away(func(w *World, zoneID string) {
			w.shift(w.clusterARN(), zoneID, "ZONAL_SHIFT", -30*time.Minute, time.Hour)
		})},
		{Name: "an autoshift away from a volume's zone", Check: checkid.ZoneShifted, reach: noLaunch, applies: always, breaks: away(func(w *World, zoneID string) {
			w.File.ArcZonalShift.Autoshifts = []zonalshift.Autoshift{{AwayFrom: zoneID, StartTime: w.now().Add(-30 * time.Minute)}}
		})},
	}
}

func (w *World) clusterARN() string {
	return "arn:aws:eks:" + region + ":" + account + ":cluster/" + cluster
}

// shiftable has the cluster registered with ARC.
func (w *World) shiftable() {
	w.eks().ZonalShiftConfig = &ekstypes.ZonalShiftConfigResponse{Enabled: aws.Bool(true)}
}

// shift moves a resource away from a zone for a while.
func (w *World) shift(arn, zoneID, kind string, from, until time.Duration) {
	w.File.ArcZonalShift.ZonalShifts = append(w.File.ArcZonalShift.ZonalShifts, zonalshift.ZonalShift{
		ZonalShiftId: w.id("shift"), ResourceIdentifier: arn, AwayFrom: zoneID, ShiftType: kind, StartTime: w.now().Add(from), ExpiryTime: w.now().Add(until),
	})
}

// waitFor has a pod wait for its volume in a zone, in which all nodes are cordoned.
func (w *World) waitFor(zone string) {
	const volume = "vol-0f000000000000001"
	k := w.File.Kubernetes[cluster]
	w.File.EC2.Volumes = append(w.File.EC2.Volumes, ec2types.Volume{
		VolumeId: aws.String(volume), AvailabilityZone: &zone, State: ec2types.VolumeStateAvailable, VolumeType: ec2types.VolumeTypeGp3, Size: aws.Int32(8),
		Tags: []ec2types.Tag{
			{Key: aws.String("kubernetes.io/cluster/" + cluster), Value: aws.String("owned")}, {Key: aws.String("CSIVolumeName"), Value: aws.String("pvc-1")},
		},
	})
	k.PersistentVolumes = append(k.PersistentVolumes, map[string]any{
		"metadata": map[string]any{"name": "pvc-1"},
		"spec": map[string]any{
			"csi": map[string]any{"driver": "ebs.csi.aws.com", "volumeHandle": volume}, "claimRef": map[string]any{"namespace": "redash", "name": "redis"},
			"nodeAffinity": map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{
				map[string]any{"key": "topology.kubernetes.io/zone", "operator": "In", "values": []any{zone}},
			}}}}},
		},
		"status": map[string]any{"phase": "Bound"},
	})
	k.PersistentVolumeClaims = append(k.PersistentVolumeClaims, map[string]any{
		"metadata": map[string]any{"name": "redis", "namespace": "redash"}, "spec": map[string]any{"volumeName": "pvc-1"}, "status": map[string]any{"phase": "Bound"},
	})
	at := w.now().Add(-10 * time.Minute).UTC().Format(time.RFC3339)
	k.Pods = append(k.Pods, map[string]any{
		"metadata": map[string]any{"name": "redis-0", "namespace": "redash", "creationTimestamp": at},
		"spec": map[string]any{
			"containers": []any{map[string]any{"name": "redis", "image": "redis"}},
			"volumes":    []any{map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": "redis"}}},
		},
		"status": map[string]any{"phase": "Pending", "conditions": []any{map[string]any{
			"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": at,
			"message": fmt.Sprintf("0/%d nodes are available: 1 node(s) were unschedulable, %[1]d node(s) had volume node affinity conflict.", len(k.Nodes)),
		}}},
	})
	w.File.Kubernetes[cluster] = k
}

// shiftedBefore has a shift behind it that expired, and shifts of what is not the cluster.
func (w *World) shiftedBefore() {
	w.shiftable()
	zoneID := ids.ZoneID(*w.subnet(w.Subnets[0]).AvailabilityZone)
	w.shift(w.clusterARN(), zoneID, "ZONAL_SHIFT", -3*time.Hour, -time.Hour)
	w.shift("arn:aws:eks:"+region+":"+account+":cluster/other", zoneID, "ZONAL_SHIFT", -time.Hour, time.Hour)
	w.shift("arn:aws:elasticloadbalancing:"+region+":"+account+":loadbalancer/app/shop/1a2b3c4d5e6f7a8b", zoneID, "ZONAL_SHIFT", -time.Hour, time.Hour)
}

// nodeRange holds the public addresses of nodes in public subnets.
const nodeRange = "192.0.2.0/24"

// console is what a node's console says once the kubelet runs, whatever
// becomes of it then.
const console = `[    0.000000] Linux version 6.12.46
[   12.410021] cloud-init[1571]: Cloud-init v. 22.2.2 finished.
[  OK  ] Started containerd.service - containerd container runtime.
[  OK  ] Started kubelet.service - Kubernetes Kubelet.
login: `

// fleet is a group of instances in the making.
type fleet struct {
	name   string
	kind   Fleet
	image  Image
	ami    string
	role   string
	data   string
	launch time.Time
	spot   bool
}

// makeFleets makes the young instances and the veterans, with their groups.
func (w *World) makeFleets() {
	w.image = w.makeImage(w.Shape.Image)
	w.nodegroup = "workers"
	young := fleet{
		name: w.nodegroup, kind: w.Shape.Fleet, image: w.Shape.Image, ami: w.image, role: "workers",
		data: userData(w.Shape.Image, w.start()), launch: w.now().Add(-Age), spot: w.Shape.Spot,
	}
	w.group, w.template = w.makeFleet(young, w.Shape.Young, &w.Young)
	if w.Shape.Veterans == 0 {
		return
	}
	image := Image(AL2023)
	if w.Shape.Image == AL2 {
		image = AL2
	}
	w.makeFleet(fleet{
		name: "base", kind: ManagedGroup, image: image, ami: w.makeImage(image), role: "base",
		data: userData(image, w.start()), launch: w.now().Add(-30 * 24 * time.Hour),
	}, w.Shape.Veterans, &w.Veterans)
}

func (w *World) makeImage(image Image) string {
	id := w.id("ami")
	i := ec2types.Image{
		ImageId: &id, Architecture: ec2types.ArchitectureValuesX8664, ImageOwnerAlias: aws.String("amazon"), OwnerId: aws.String("602401143452"),
		State: ec2types.ImageStateAvailable, Public: aws.Bool(true), RootDeviceName: aws.String("/dev/xvda"), RootDeviceType: ec2types.DeviceTypeEbs,
	}
	switch image {
	case AL2:
		i.Name = aws.String("amazon-eks-node-" + w.version + "-v20251007")
	case Bottlerocket:
		i.Name = aws.String("bottlerocket-aws-k8s-" + w.version + "-x86_64-v1.50.0-9a1d2c3e")
	case Windows:
		i.Name = aws.String("Windows_Server-2022-English-Core-EKS_Optimized-" + w.version + "-2026.11.12")
		i.Platform = ec2types.PlatformValuesWindows
	case AutoImage:
		i.Name = aws.String("eks-auto-standard-" + w.version + "-x86_64-20261112")
	default:
		i.Name = aws.String("amazon-eks-node-al2023-x86_64-standard-" + w.version + "-v20261112")
	}
	w.File.EC2.Images = append(w.File.EC2.Images, i)
	return id
}

// makeFleet makes a group with its template and n instances.
func (w *World) makeFleet(f fleet, n int, ids *[]string) (group, template string) {
	switch f.kind {
	case Karpenter:
	case AutoMode:
		template = w.makeTemplate(f)
		w.manage(template)
	default:
		template = w.makeTemplate(f)
		group = f.name + "-asg"
		if f.kind == ManagedGroup {
			group = "eks-" + f.name + "-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"
		}
	}
	for i := range n {
		*ids = append(*ids, w.makeInstance(f, group, template, i))
	}
	if group == "" {
		return "", ""
	}
	w.makeGroup(f, group, template, *ids)
	if f.kind == ManagedGroup {
		w.makeNodegroup(f, group, n)
	}
	return group, template
}

// templateData is what a launch template of a fleet says.
func (w *World) templateData(f fleet) *ec2types.ResponseLaunchTemplateData {
	return &ec2types.ResponseLaunchTemplateData{
		ImageId: &f.ami, InstanceType: instanceType, UserData: &f.data, SecurityGroupIds: []string{w.nodeGroup},
		IamInstanceProfile: &ec2types.LaunchTemplateIamInstanceProfileSpecification{Name: aws.String(f.role + "-profile")},
		MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptions{
			HttpEndpoint: ec2types.LaunchTemplateInstanceMetadataEndpointStateEnabled, HttpTokens: ec2types.LaunchTemplateHttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(2),
		},
	}
}

const instanceType = ec2types.InstanceTypeM5Large

func (w *World) makeTemplate(f fleet) string {
	return w.addTemplate(f.name+"-template", w.templateData(f))
}

func (w *World) addTemplate(name string, data *ec2types.ResponseLaunchTemplateData) string {
	id := w.id("lt")
	w.File.EC2.LaunchTemplates = append(w.File.EC2.LaunchTemplates, ec2types.LaunchTemplate{
		LaunchTemplateId: &id, LaunchTemplateName: &name, DefaultVersionNumber: aws.Int64(1), LatestVersionNumber: aws.Int64(1), CreateTime: w.long(),
	})
	w.File.EC2.LaunchTemplateVersions = append(w.File.EC2.LaunchTemplateVersions, ec2types.LaunchTemplateVersion{
		LaunchTemplateId: &id, LaunchTemplateName: &name, VersionNumber: aws.Int64(1), DefaultVersion: aws.Bool(true), CreateTime: w.long(), LaunchTemplateData: data,
	})
	return id
}

func (w *World) makeInstance(f fleet, group, template string, n int) string {
	id := w.id("i")
	subnet := w.subnet(w.Subnets[n%len(w.Subnets)])
	in := ec2types.Instance{
		InstanceId: &id, InstanceType: instanceType, ImageId: &f.ami, SubnetId: subnet.SubnetId, LaunchTime: aws.Time(f.launch.Add(time.Duration(n) * time.Second)),
		PrivateIpAddress: aws.String(address(*subnet.CidrBlock, 20+len(w.File.EC2.Instances))), State: &ec2types.InstanceState{Name: ec2types.InstanceStateNameRunning, Code: aws.Int32(16)},
		SecurityGroups:     []ec2types.GroupIdentifier{{GroupId: &w.nodeGroup}},
		IamInstanceProfile: &ec2types.IamInstanceProfile{Arn: aws.String("arn:aws:iam::" + account + ":instance-profile/" + f.role + "-profile")},
		MetadataOptions: &ec2types.InstanceMetadataOptionsResponse{
			HttpEndpoint: ec2types.InstanceMetadataEndpointStateEnabled, HttpTokens: ec2types.HttpTokensStateRequired,
			HttpPutResponseHopLimit: aws.Int32(2), State: ec2types.InstanceMetadataOptionsStateApplied,
		},
		Tags: w.instanceTags(f, group, template),
	}
	in.PrivateDnsName = aws.String("ip-" + strings.ReplaceAll(*in.PrivateIpAddress, ".", "-") + "." + region + ".compute.internal")
	if f.image == Windows {
		in.Platform = ec2types.PlatformValuesWindows
	}
	if f.spot {
		in.InstanceLifecycle = ec2types.InstanceLifecycleTypeSpot
	}
	if !w.Shape.private() {
		in.PublicIpAddress = aws.String(fmt.Sprintf("192.0.2.%d", 10+len(w.File.EC2.Instances)))
	}
	if f.kind == AutoMode {
		in.Operator = operator()
		in.MetadataOptions.HttpPutResponseHopLimit = aws.Int32(1)
	}
	w.File.EC2.Instances = append(w.File.EC2.Instances, in)
	if f.data != "" {
		w.File.EC2.UserData[id] = f.data
	}
	w.File.EC2.ConsoleOutput[id] = console
	return id
}

func (w *World) instanceTags(f fleet, group, template string) []ec2types.Tag {
	tags := []ec2types.Tag{tag("kubernetes.io/cluster/"+cluster, "owned"), tag("Name", f.name)}
	switch f.kind {
	case AutoMode:
		tags = append(tags, tag("eks:eks-cluster-name", cluster), tag("eks:kubernetes-node-pool-name", f.name), tag("eks:kubernetes-node-class-name", nodeClass),
			tag("aws:ec2launchtemplate:id", template), tag("aws:ec2launchtemplate:version", "1"))
	case ManagedGroup:
		tags = append(tags, tag("eks:cluster-name", cluster), tag("eks:nodegroup-name", f.name))
	case Karpenter:
		tags = append(tags, tag("karpenter.sh/nodepool", f.name), tag("karpenter.k8s.aws/ec2nodeclass", nodeClass), tag("eks:eks-cluster-name", cluster))
	}
	if group != "" {
		tags = append(tags, tag("aws:autoscaling:groupName", group), tag("aws:ec2launchtemplate:id", template), tag("aws:ec2launchtemplate:version", "1"))
	}
	return tags
}

func (w *World) makeGroup(f fleet, name, template string, ids []string) {
	n := aws.Int32(int32(len(ids)))
	spec := &astypes.LaunchTemplateSpecification{LaunchTemplateId: &template, Version: aws.String("1")}
	g := astypes.AutoScalingGroup{
		AutoScalingGroupName: &name, MinSize: aws.Int32(0), MaxSize: aws.Int32(*n + 3), DesiredCapacity: n, VPCZoneIdentifier: aws.String(strings.Join(w.Subnets, ",")), CreatedTime: w.long(),
		Tags: []astypes.TagDescription{
			{Key: aws.String("kubernetes.io/cluster/" + cluster), Value: aws.String("owned"), PropagateAtLaunch: aws.Bool(true)},
			{Key: aws.String("Name"), Value: &f.name, PropagateAtLaunch: aws.Bool(true)},
		},
	}
	if f.kind == ManagedGroup {
		g.Tags = append(g.Tags, astypes.TagDescription{Key: aws.String("eks:cluster-name"), Value: aws.String(cluster)}, astypes.TagDescription{Key: aws.String("eks:nodegroup-name"), Value: &f.name})
		g.MixedInstancesPolicy = &astypes.MixedInstancesPolicy{LaunchTemplate: &astypes.LaunchTemplate{
			LaunchTemplateSpecification: spec, Overrides: []astypes.LaunchTemplateOverrides{{InstanceType: aws.String(string(instanceType))}},
		}}
	} else {
		g.LaunchTemplate = spec
	}
	for _, id := range ids {
		g.Instances = append(g.Instances, astypes.Instance{InstanceId: aws.String(id), LaunchTemplate: spec})
		in := w.instance(id)
		w.File.AutoScaling.Activities = append(w.File.AutoScaling.Activities, astypes.Activity{
			ActivityId: aws.String("a" + id[2:]), AutoScalingGroupName: &name, StatusCode: astypes.ScalingActivityStatusCodeSuccessful, Progress: aws.Int32(100),
			Description: aws.String("Launching a new EC2 instance: " + id), StartTime: in.LaunchTime, EndTime: aws.Time(in.LaunchTime.Add(20 * time.Second)),
			Cause:   aws.String("An instance was started in response to a difference between desired and actual capacity, increasing the capacity from 0 to 1."),
			Details: aws.String(fmt.Sprintf(`{"Subnet ID":%q,"Availability Zone":%q}`, *in.SubnetId, *w.subnet(*in.SubnetId).AvailabilityZone)),
		})
	}
	if w.Shape.WarmPool && f.name == w.nodegroup {
		w.File.AutoScaling.WarmPools = map[string]astypes.WarmPoolConfiguration{name: {MinSize: aws.Int32(0), PoolState: astypes.WarmPoolStateStopped}}
	}
	w.File.AutoScaling.AutoScalingGroups = append(w.File.AutoScaling.AutoScalingGroups, g)
}

func (w *World) makeNodegroup(f fleet, group string, n int) {
	kinds := map[Image]ekstypes.AMITypes{
		AL2023: ekstypes.AMITypesAl2023X8664Standard, AL2: ekstypes.AMITypesAl2X8664,
		Bottlerocket: ekstypes.AMITypesBottlerocketX8664, Windows: ekstypes.AMITypesWindowsCore2022X8664,
	}
	ng := ekstypes.Nodegroup{
		ClusterName: aws.String(cluster), NodegroupName: &f.name, Status: ekstypes.NodegroupStatusActive, AmiType: kinds[f.image], Version: &w.version,
		ReleaseVersion: aws.String(w.version + ".1-20261112"), CapacityType: ekstypes.CapacityTypesOnDemand, InstanceTypes: []string{string(instanceType)},
		NodeRole: w.roleNamed(f.role).Arn, Subnets: w.Subnets, CreatedAt: w.long(),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(int32(n + 3)), DesiredSize: aws.Int32(int32(n))},
		Resources:     &ekstypes.NodegroupResources{AutoScalingGroups: []ekstypes.AutoScalingGroup{{Name: &group}}},
	}
	if f.spot {
		ng.CapacityType = ekstypes.CapacityTypesSpot
	}
	if w.Shape.Template || w.Shape.Groups != ClusterGroup {
		// What the customer gave: EKS's own template is made of it.
		given := &ec2types.ResponseLaunchTemplateData{MetadataOptions: w.templateData(f).MetadataOptions}
		if w.Shape.Groups != ClusterGroup {
			given.SecurityGroupIds = []string{w.nodeGroup}
		}
		id := w.addTemplate(f.name+"-given", given)
		ng.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: &id, Version: aws.String("1")}
	}
	w.File.EKS.Nodegroups = append(w.File.EKS.Nodegroups, ng)
}

// permit is a rule for an IPv4 range.
func permit(protocol string, from, to int32, cidr string) ec2types.IpPermission {
	p := ports(protocol, from, to)
	p.IpRanges = []ec2types.IpRange{{CidrIp: &cidr}}
	return p
}

// permit6 is a rule for an IPv6 range.
func permit6(protocol string, from, to int32, cidr string) ec2types.IpPermission {
	p := ports(protocol, from, to)
	p.Ipv6Ranges = []ec2types.Ipv6Range{{CidrIpv6: &cidr}}
	return p
}

// permitGroup is a rule for another group.
func permitGroup(protocol string, from, to int32, group string) ec2types.IpPermission {
	p := ports(protocol, from, to)
	p.UserIdGroupPairs = []ec2types.UserIdGroupPair{{GroupId: &group}}
	return p
}

// permitList is a rule for a prefix list.
func permitList(protocol string, from, to int32, list string) ec2types.IpPermission {
	p := ports(protocol, from, to)
	p.PrefixListIds = []ec2types.PrefixListId{{PrefixListId: &list}}
	return p
}

func ports(protocol string, from, to int32) ec2types.IpPermission {
	p := ec2types.IpPermission{IpProtocol: &protocol}
	if protocol != "-1" {
		p.FromPort, p.ToPort = &from, &to
	}
	return p
}

// makeGroups makes the cluster's security group, and the nodes' in the shape's
// style.
func (w *World) makeGroups() {
	w.clusterGroup = w.id("sg")
	w.nodeGroup = w.clusterGroup
	c := ec2types.SecurityGroup{
		GroupId: &w.clusterGroup, VpcId: &w.vpc, GroupName: aws.String("eks-cluster-sg-" + cluster + "-1234567890"), Description: aws.String("EKS created security group"),
		IpPermissions:       []ec2types.IpPermission{permitGroup("-1", 0, 0, w.clusterGroup)},
		IpPermissionsEgress: w.anywhere("-1", 0, 0),
	}
	if w.Shape.Groups != ClusterGroup {
		w.nodeGroup = w.id("sg")
		n := ec2types.SecurityGroup{
			GroupId: &w.nodeGroup, VpcId: &w.vpc, GroupName: aws.String("nodes"), Description: aws.String("Nodes"),
			IpPermissions: []ec2types.IpPermission{permitGroup("-1", 0, 0, w.nodeGroup)},
		}
		switch w.Shape.Groups {
		case OwnGroup:
			n.IpPermissions = append(n.IpPermissions, permitGroup("tcp", 1025, 65535, w.clusterGroup), permitGroup("tcp", 443, 443, w.clusterGroup))
			n.IpPermissionsEgress = w.anywhere("-1", 0, 0)
			c.IpPermissions = append(c.IpPermissions, permitGroup("tcp", 443, 443, w.nodeGroup))
		case RangeGroup:
			n.IpPermissions = append(n.IpPermissions, w.within("tcp", 10250, 10250)...)
			n.IpPermissionsEgress = append(w.within("-1", 0, 0), w.anywhere("tcp", 443, 443)...)
			c.IpPermissions = append(c.IpPermissions, w.within("tcp", 443, 443)...)
		case ListGroup:
			inside := w.makeList("vpc", w.range4.String())
			n.IpPermissions = append(n.IpPermissions, permitList("tcp", 10250, 10250, inside))
			n.IpPermissionsEgress = []ec2types.IpPermission{permitList("-1", 0, 0, inside), permitList("tcp", 443, 443, w.makeList("world", "0.0.0.0/1", "128.0.0.0/1"))}
			c.IpPermissions = append(c.IpPermissions, permitList("tcp", 443, 443, inside))
			if w.six() {
				n.IpPermissions = append(n.IpPermissions, permit6("tcp", 10250, 10250, w.range6.String()))
				n.IpPermissionsEgress = append(n.IpPermissionsEgress, permit6("-1", 0, 0, "::/0"))
				c.IpPermissions = append(c.IpPermissions, permit6("tcp", 443, 443, w.range6.String()))
			}
		}
		w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, n)
	}
	w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, c)
}

// anywhere and within are rules for everything, and for the VPC, in the
// families that the VPC has.
func (w *World) anywhere(protocol string, from, to int32) []ec2types.IpPermission {
	list := []ec2types.IpPermission{permit(protocol, from, to, "0.0.0.0/0")}
	if w.six() {
		list = append(list, permit6(protocol, from, to, "::/0"))
	}
	return list
}

func (w *World) within(protocol string, from, to int32) []ec2types.IpPermission {
	list := []ec2types.IpPermission{permit(protocol, from, to, w.range4.String())}
	if w.six() {
		list = append(list, permit6(protocol, from, to, w.range6.String()))
	}
	return list
}

// makeList makes a prefix list of one's own.
func (w *World) makeList(name string, cidrs ...string) string {
	id := w.id("pl")
	w.File.EC2.ManagedPrefixLists = append(w.File.EC2.ManagedPrefixLists, ec2types.ManagedPrefixList{
		PrefixListId: &id, PrefixListName: &name, AddressFamily: aws.String("IPv4"), State: ec2types.PrefixListStateCreateComplete, OwnerId: aws.String(account),
	})
	for _, c := range cidrs {
		w.File.EC2.PrefixListEntries[id] = append(w.File.EC2.PrefixListEntries[id], ec2types.PrefixListEntry{Cidr: aws.String(c)})
	}
	return id
}
