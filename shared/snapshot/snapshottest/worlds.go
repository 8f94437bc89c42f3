// Package snapshottest builds snapshots of small worlds for tests: four
// healthy ones, and the means to break them.
package snapshottest

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"rollcall/shared/snapshot"
)

// The worlds' ids.
const (
	VPC         = "vpc-0a"
	IGW         = "igw-0a"
	NAT         = "nat-0a"
	Private     = "subnet-0private"
	Public      = "subnet-0public"
	PrivateRTB  = "rtb-0private"
	PublicRTB   = "rtb-0public"
	MainRTB     = "rtb-0main"
	Node        = "i-0node"
	Nodegroup   = "workers"
	ClusterName = "prod"
	Region      = "us-west-2"
	Zone        = "us-west-2a"
)

// Now is the time of every world.
func Now() time.Time { return time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC) }

// Sources are all sources, which the worlds have read in full.
func Sources() []snapshot.Source { return append(snapshot.All(), snapshot.LaunchHistory) }

// PrivateWithNAT is the usual VPC: a private subnet whose table leads to a
// NAT gateway in a public subnet, and one Ready node in the private one. The
// main table has only the local row, and nothing uses it.
func PrivateWithNAT() *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Time: Now(), Account: "123456789012", Region: Region, Partition: "aws",
		Read:     map[snapshot.Source]bool{},
		Failures: map[snapshot.Source]snapshot.Failure{},
		Cluster: snapshot.Cluster{
			Name: ClusterName, Status: "ACTIVE", Version: "1.35", VPC: VPC, EndpointPublic: true,
			SecurityGroup: ClusterGroup, PublicAccessCIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")},
			ARN: "arn:aws:eks:us-west-2:123456789012:cluster/prod", Endpoint: Endpoint, CA: []byte(CA),
			Subnets: []string{Private, Public}, ServiceCIDR: netip.MustParsePrefix("172.20.0.0/16"),
			AuthMode: "API_AND_CONFIG_MAP", Created: Now().Add(-60 * 24 * time.Hour), Role: "arn:aws:iam::123456789012:role/cluster",
		},
		VPCs: []snapshot.VPC{{ID: VPC, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.42.0.0/16")}, DHCP: DHCP, Owner: "123456789012"}},
		Subnets: []snapshot.Subnet{
			{ID: Private, VPC: VPC, Zone: Zone, CIDR: netip.MustParsePrefix("10.42.192.0/19"), Free: 8186},
			{ID: Public, VPC: VPC, Zone: Zone, CIDR: netip.MustParsePrefix("10.42.0.0/19"), Free: 8180, AssignPublicIP: true},
		},
		RouteTables: []snapshot.RouteTable{
			{ID: MainRTB, VPC: VPC, Main: true, Routes: []snapshot.Route{Local()}},
			{ID: PrivateRTB, VPC: VPC, Subnets: []string{Private}, Routes: []snapshot.Route{Local(), To("0.0.0.0/0", snapshot.ToNATGateway, NAT)}},
			{ID: PublicRTB, VPC: VPC, Subnets: []string{Public}, Routes: []snapshot.Route{Local(), To("0.0.0.0/0", snapshot.ToInternetGateway, IGW)}},
		},
		NATGateways: []snapshot.NATGateway{{
			ID: NAT, VPC: VPC, Subnet: Public, State: "available", Public: true, Zone: Zone,
			Addresses: []snapshot.NATAddress{{IP: netip.MustParseAddr("203.0.113.7")}},
		}},
		InternetGateways: []snapshot.InternetGateway{{ID: IGW, Attached: []string{VPC}}},
		InstanceTypes: []snapshot.InstanceType{{
			Name: "m5.large", Interfaces: 3, IPv4PerInterface: 10, IPv6PerInterface: 10, Architectures: []string{"x86_64"}, CPUs: 2, Hypervisor: "nitro",
		}},
		Nodegroups: []snapshot.Nodegroup{{
			Name: Nodegroup, Cluster: ClusterName, Status: "ACTIVE", Subnets: []string{Private}, Groups: []string{"eks-" + Nodegroup},
			Max: 3, Desired: 1, Role: NodeRole, AMIType: "AL2023_x86_64_STANDARD", Version: "1.35", Release: "1.35.0-20261112",
			Types: []string{"m5.large"}, Created: Now().Add(-50 * 24 * time.Hour),
		}},
	}
	furnish(s)
	for _, source := range Sources() {
		s.Read[source] = true
	}
	Launch(s, Node, Private, 10*time.Minute)
	Join(s, Node)
	return s
}

// PublicOnly has its node in a public subnet, with a public address.
func PublicOnly() *snapshot.Snapshot {
	s := PrivateWithNAT()
	Move(s, Node, Public)
	Instance(s, Node).PublicIP = netip.MustParseAddr("203.0.113.9")
	return s
}

// EndpointsOnly has no way to the internet, and endpoints for everything.
func EndpointsOnly() *snapshot.Snapshot {
	s := PrivateWithNAT()
	s.Cluster.EndpointPublic, s.Cluster.EndpointPrivate = false, true
	s.NATGateways, s.InternetGateways = nil, nil
	Table(s, PrivateRTB).Routes = []snapshot.Route{Local(), {
		PrefixList: "pl-0s3", State: "active", Target: snapshot.Target{Kind: snapshot.ToEndpoint, ID: "vpce-0s3"},
	}}
	Table(s, PublicRTB).Routes = []snapshot.Route{Local()}
	for _, service := range []string{"ec2", "ecr.api", "ecr.dkr", "sts"} {
		s.Endpoints = append(s.Endpoints, snapshot.Endpoint{
			ID: "vpce-0" + service, VPC: VPC, Service: "com.amazonaws." + Region + "." + service,
			Kind: "Interface", State: "available", PrivateDNS: true, Subnets: []string{Private}, Groups: []string{EndpointGroup}, Policy: AllowAll,
		})
	}
	s.Endpoints = append(s.Endpoints, snapshot.Endpoint{
		ID: "vpce-0s3", VPC: VPC, Service: "com.amazonaws." + Region + ".s3",
		Kind: "Gateway", State: "available", RouteTables: []string{PrivateRTB}, Policy: AllowAll,
	})
	return s
}

// MainTable has a node subnet without an association of its own: it uses the
// main table, which leads to the NAT gateway.
func MainTable() *snapshot.Snapshot {
	s := PrivateWithNAT()
	Table(s, MainRTB).Routes = Table(s, PrivateRTB).Routes
	s.RouteTables = slices.DeleteFunc(s.RouteTables, func(t snapshot.RouteTable) bool { return t.ID == PrivateRTB })
	return s
}

// Local is the local row.
func Local() snapshot.Route { return To("10.42.0.0/16", snapshot.ToLocal, "local") }

// To is an active row.
func To(destination string, kind snapshot.TargetKind, id string) snapshot.Route {
	return snapshot.Route{
		Destination: netip.MustParsePrefix(destination), State: "active", Origin: "CreateRoute",
		Target: snapshot.Target{Kind: kind, ID: id},
	}
}

// Table is a route table of the snapshot, to be changed in place.
func Table(s *snapshot.Snapshot, id string) *snapshot.RouteTable {
	return find(s.RouteTables, id, func(t snapshot.RouteTable) string { return t.ID })
}

// Instance is an instance of the snapshot, to be changed in place.
func Instance(s *snapshot.Snapshot, id string) *snapshot.Instance {
	return find(s.Instances, id, func(i snapshot.Instance) string { return i.ID })
}

// Subnet is a subnet of the snapshot, to be changed in place.
func Subnet(s *snapshot.Snapshot, id string) *snapshot.Subnet {
	return find(s.Subnets, id, func(n snapshot.Subnet) string { return n.ID })
}

func find[T any](list []T, id string, of func(T) string) *T {
	for i := range list {
		if of(list[i]) == id {
			return &list[i]
		}
	}
	panic(fmt.Sprintf("snapshottest: no %q", id))
}

// Launch adds a running instance of the nodegroup to the scope; it is due
// five minutes after its launch.
func Launch(s *snapshot.Snapshot, id, subnet string, ago time.Duration) {
	started := s.Time.Add(-ago)
	s.Instances = append(s.Instances, snapshot.Instance{
		ID: id, Type: "m5.large", State: "running", Launched: started, Subnet: subnet, VPC: VPC, Zone: Zone,
		PrivateIP: netip.MustParseAddr("10.42.192.10"), PrivateDNS: "ip-10-42-192-10.us-west-2.compute.internal",
		Architecture: "x86_64", AMI: AMI, Groups: []string{ClusterGroup}, Profile: ProfileARN, SourceCheck: true,
		Metadata: snapshot.Metadata{Endpoint: "enabled", HopLimit: 2, Tokens: "required"},
		Template: snapshot.TemplateRef{ID: Template, Version: "1"},
		Tags: map[string]string{
			"eks:nodegroup-name": Nodegroup, "eks:cluster-name": ClusterName, "kubernetes.io/cluster/" + ClusterName: "owned",
			"aws:autoscaling:groupName": "eks-" + Nodegroup, "aws:ec2launchtemplate:id": Template, "aws:ec2launchtemplate:version": "1",
		},
	})
	s.Statuses = append(s.Statuses, snapshot.InstanceStatus{Instance: id, System: "ok", OS: "ok"})
	if len(s.UserData) == 0 {
		s.UserData = []snapshot.UserData{{From: id, Data: []byte(NodeConfig)}}
	}
	s.UserData[0].Instances = append(s.UserData[0].Instances, id)
	s.Launches = append(s.Launches, snapshot.ExpectedJoin{Instance: id, Started: started, Due: started.Add(5 * time.Minute)})
	s.Scope.Instances = append(s.Scope.Instances, id)
	if !slices.Contains(s.Scope.Subnets, subnet) {
		s.Scope.Subnets = append(s.Scope.Subnets, subnet)
	}
}

// Join makes the instance a Ready node.
func Join(s *snapshot.Snapshot, id string) {
	s.Nodes = append(s.Nodes, snapshot.Node{
		Name: id + ".internal", Instance: id, Created: s.Time.Add(-time.Minute),
		Ready:   snapshot.Condition{Status: "True", Reason: "KubeletReady"},
		Kubelet: "v1.35.0-eks-1234567", MaxPods: 29,
		Conditions: map[string]snapshot.Condition{"Ready": {Status: "True", Reason: "KubeletReady"}},
		Labels:     map[string]string{"kubernetes.io/arch": "amd64"},
	})
	s.Pods = append(s.Pods, snapshot.Pod{
		Namespace: "kube-system", Name: "aws-node-" + id, Node: id + ".internal", Phase: "Running",
		Containers: []snapshot.Container{{Name: "aws-node", Ready: true, State: "running"}},
	})
}

// Unjoin takes the node of an instance away.
func Unjoin(s *snapshot.Snapshot, id string) {
	s.Nodes = slices.DeleteFunc(s.Nodes, func(n snapshot.Node) bool { return n.Instance == id })
	s.Pods = slices.DeleteFunc(s.Pods, func(p snapshot.Pod) bool { return p.Node == id+".internal" })
	if !slices.ContainsFunc(s.Consoles, func(c snapshot.Console) bool { return c.Instance == id }) {
		s.Consoles = append(s.Consoles, snapshot.Console{Instance: id, Text: Boot, At: s.Time})
	}
}

// Move puts an instance into another subnet, which replaces the scope's.
func Move(s *snapshot.Snapshot, id, subnet string) {
	Instance(s, id).Subnet = subnet
	s.Scope.Subnets = []string{subnet}
}

// Without makes a source one that could not be read, and takes away what it
// would have brought.
func Without(s *snapshot.Snapshot, source snapshot.Source) {
	delete(s.Read, source)
	s.Failures[source] = snapshot.Failure{
		Source: source, Reason: snapshot.Denied, Call: "test:Read " + string(source), Code: "UnauthorizedOperation",
	}
	switch source {
	case snapshot.Clusters:
		s.Cluster = snapshot.Cluster{}
	case snapshot.Instances:
		s.Instances = nil
	case snapshot.InstanceTypes:
		s.InstanceTypes = nil
	case snapshot.Subnets:
		s.Subnets = nil
	case snapshot.VPCs:
		s.VPCs = nil
	case snapshot.RouteTables:
		s.RouteTables = nil
	case snapshot.NATGateways:
		s.NATGateways = nil
	case snapshot.InternetGateways:
		s.InternetGateways = nil
	case snapshot.Endpoints:
		s.Endpoints = nil
	case snapshot.Groups:
		s.Groups = nil
	case snapshot.Activities:
		s.Activities = nil
	case snapshot.Nodegroups:
		s.Nodegroups = nil
	case snapshot.Nodes:
		s.Nodes = nil
	default:
		unfurnish(s, source)
	}
}
