// Package snapshottest builds snapshots of small worlds for tests: four
// healthy ones, and the means to break them.
package snapshottest

import (
	"fmt"
	"net/netip"
	"reflect"
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
	for _, field := range map[snapshot.Source][]any{
		snapshot.Clusters:             {&s.Cluster},
		snapshot.Instances:            {&s.Instances},
		snapshot.InstanceTypes:        {&s.InstanceTypes},
		snapshot.Subnets:              {&s.Subnets},
		snapshot.VPCs:                 {&s.VPCs},
		snapshot.RouteTables:          {&s.RouteTables},
		snapshot.NATGateways:          {&s.NATGateways},
		snapshot.InternetGateways:     {&s.InternetGateways},
		snapshot.Endpoints:            {&s.Endpoints},
		snapshot.Groups:               {&s.Groups},
		snapshot.Activities:           {&s.Activities},
		snapshot.Nodegroups:           {&s.Nodegroups},
		snapshot.Nodes:                {&s.Nodes},
		snapshot.SecurityGroups:       {&s.SecurityGroups},
		snapshot.NetworkACLs:          {&s.NetworkACLs},
		snapshot.VPCDNS:               {&s.VPCAttributes},
		snapshot.DHCP:                 {&s.DHCPOptions},
		snapshot.EgressOnly:           {&s.EgressOnly},
		snapshot.PrefixListEntries:    {&s.PrefixLists},
		snapshot.Peerings:             {&s.Peerings},
		snapshot.TransitGateways:      {&s.Attachments, &s.TransitRoutes},
		snapshot.Interfaces:           {&s.Interfaces},
		snapshot.Statuses:             {&s.Statuses},
		snapshot.UserDataOf:           {&s.UserData},
		snapshot.Consoles:             {&s.Consoles},
		snapshot.Images:               {&s.Images},
		snapshot.LaunchedImagesOf:     {&s.LaunchedImages},
		snapshot.AllowedImagesOf:      {&s.AllowedImages},
		snapshot.MetadataDefaultsOf:   {&s.MetadataDefaults},
		snapshot.LaunchTemplates:      {&s.LaunchTemplates},
		snapshot.CapacityReservations: {&s.CapacityReservations},
		snapshot.PlacementGroups:      {&s.PlacementGroups},
		snapshot.PoolEventsOf:         {&s.PoolEvents},
		snapshot.DNSProfilesOf:        {&s.DNSProfiles},
		snapshot.PrivateZonesOf:       {&s.PrivateZones},
		snapshot.ZonalShifts:          {&s.Shifts},
		snapshot.AutoshiftsOf:         {&s.Autoshifts},
		snapshot.Profiles:             {&s.Profiles},
		snapshot.Roles:                {&s.Roles},
		snapshot.Access:               {&s.AccessEntries, &s.Principals},
		snapshot.ClassAccess:          {&s.ClassRoles},
		snapshot.PodIdentities:        {&s.PodIdentities},
		snapshot.Addons:               {&s.Addons},
		snapshot.AWSNode:              {&s.CNI},
		snapshot.Pods:                 {&s.Pods},
		snapshot.AWSAuthMap:           {&s.AWSAuth},
		snapshot.CSRs:                 {&s.CSRs},
		snapshot.NodeEventsOf:         {&s.NodeEvents},
		snapshot.Usage:                {&s.Uses, &s.Tenants},
		snapshot.Unattached:           {&s.Idle},
		snapshot.CreatorsOf:           {&s.Creators},
		snapshot.CIDRsKept:            {&s.Reservations},
		snapshot.ENIConfigsOf:         {&s.ENIConfigs},
		snapshot.NodePoolsOf:          {&s.NodePools},
		snapshot.NodeClaimsOf:         {&s.NodeClaims},
		snapshot.EC2NodeClassesOf:     {&s.EC2NodeClasses},
		snapshot.AutoNodeClassesOf:    {&s.AutoNodeClasses},
		snapshot.VolumesOf:            {&s.Volumes},
		snapshot.PersistentVolumes:    {&s.PersistentVolumes},
		snapshot.ClaimsOf:             {&s.Claims},
		snapshot.WaitingPods:          {&s.WaitingPods, &s.BranchWaits},
		snapshot.TrunksOf:             {&s.Trunks, &s.StrayBranches},
		snapshot.ZonesOf:              {&s.Zones},
	}[source] {
		reflect.ValueOf(field).Elem().SetZero()
	}
	if source == snapshot.Updates {
		for i := range s.Nodegroups {
			s.Nodegroups[i].Updates = nil
		}
	}
}

// What the worlds' VPC, account and cluster hold beside the network's ways.
const (
	ClusterGroup  = "sg-0cluster"   // on the control plane and the nodes
	EndpointGroup = "sg-0endpoints" // admits 443 from the VPC
	ACL           = "acl-0default"
	DHCP          = "dopt-0a"
	AMI           = "ami-0al2023"
	Template      = "lt-0a"
	ProfileARN    = "arn:aws:iam::123456789012:instance-profile/eks-workers"
	NodeRole      = "arn:aws:iam::123456789012:role/workers"
	Endpoint      = "https://0123456789ABCDEF0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com"
	CA            = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
	AllowAll      = `{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}]}`
	EC2Trust      = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
)

// NodeConfig is the user data that EKS gives the nodes of a managed group of
// Amazon Linux 2023. The authority is that of CA in base64.
const NodeConfig = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    apiServerEndpoint: ` + Endpoint + `
    certificateAuthority: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=
    cidr: 172.20.0.0/16
    name: prod
  kubelet:
    config:
      maxPods: 29
      clusterDNS:
      - 172.20.0.10
    flags:
    - "--node-labels=eks.amazonaws.com/nodegroup=workers,eks.amazonaws.com/capacityType=ON_DEMAND"

--//--
`

// The managed policies that every node role has, as IAM gives them.
const (
	workerNodePolicy = `{"Version":"2012-10-17","Statement":[{"Sid":"WorkerNodePermissions","Effect":"Allow","Action":["ec2:DescribeInstances","ec2:DescribeInstanceTypes","ec2:DescribeRouteTables","ec2:DescribeSecurityGroups","ec2:DescribeSubnets","ec2:DescribeVolumes","ec2:DescribeVolumesModifications","ec2:DescribeVpcs","eks:DescribeCluster","eks-auth:AssumeRoleForPodIdentity"],"Resource":"*"}]}`
	registryPolicy   = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ecr:GetAuthorizationToken","ecr:BatchCheckLayerAvailability","ecr:GetDownloadUrlForLayer","ecr:GetRepositoryPolicy","ecr:DescribeRepositories","ecr:ListImages","ecr:DescribeImages","ecr:BatchGetImage","ecr:GetLifecyclePolicy","ecr:GetLifecyclePolicyPreview","ecr:ListTagsForResource","ecr:DescribeImageScanFindings"],"Resource":"*"}]}`
	cniPolicy        = `{"Version":"2012-10-17","Statement":[{"Sid":"AmazonEKSCNIPolicy","Effect":"Allow","Action":["ec2:AssignPrivateIpAddresses","ec2:AttachNetworkInterface","ec2:CreateNetworkInterface","ec2:DeleteNetworkInterface","ec2:DescribeInstances","ec2:DescribeTags","ec2:DescribeNetworkInterfaces","ec2:DescribeInstanceTypes","ec2:DescribeSubnets","ec2:DetachNetworkInterface","ec2:ModifyNetworkInterfaceAttribute","ec2:UnassignPrivateIpAddresses"],"Resource":"*"},{"Sid":"AmazonEKSCNIPolicyENITag","Effect":"Allow","Action":["ec2:CreateTags"],"Resource":["arn:aws:ec2:*:*:network-interface/*"]}]}`
)

// furnish adds security groups, network ACLs, roles and the rest, all well.
func furnish(s *snapshot.Snapshot) {
	everywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	out := []snapshot.Rule{{Protocol: "-1", From: -1, To: -1, CIDRs: everywhere[:1]}}
	s.SecurityGroups = []snapshot.SecurityGroup{
		{ID: ClusterGroup, VPC: VPC, Name: "eks-cluster-sg-prod", Egress: out, Ingress: []snapshot.Rule{{Protocol: "-1", From: -1, To: -1, Groups: []string{ClusterGroup}}}, Tags: map[string]string{"aws:eks:cluster-name": ClusterName}},
		{ID: EndpointGroup, VPC: VPC, Name: "endpoints", Egress: out, Ingress: []snapshot.Rule{{Protocol: "tcp", From: 443, To: 443, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.42.0.0/16")}}}},
	}
	s.NetworkACLs = []snapshot.NetworkACL{{ID: ACL, VPC: VPC, Default: true, Subnets: []string{Private, Public}, Entries: []snapshot.ACLEntry{
		{Number: 100, Allow: true, Protocol: "-1", To: 65535, CIDR: everywhere[0]},
		{Number: 32767, Protocol: "-1", To: 65535, CIDR: everywhere[0]},
		{Number: 100, Egress: true, Allow: true, Protocol: "-1", To: 65535, CIDR: everywhere[0]},
		{Number: 32767, Egress: true, Protocol: "-1", To: 65535, CIDR: everywhere[0]},
	}}}
	s.VPCAttributes = []snapshot.VPCAttributes{{VPC: VPC, DNSSupport: true, DNSHostnames: true}}
	s.DHCPOptions = []snapshot.DHCPOptions{{ID: DHCP, DomainNames: []string{"us-west-2.compute.internal"}, DomainNameServers: []string{"AmazonProvidedDNS"}}}
	s.PrefixLists = []snapshot.PrefixList{{ID: "pl-0s3", Name: "com.amazonaws.us-west-2.s3", CIDRs: []netip.Prefix{netip.MustParsePrefix("52.218.128.0/17"), netip.MustParsePrefix("3.5.76.0/22")}}}
	s.Interfaces = []snapshot.Interface{
		{ID: "eni-0control1", VPC: VPC, Subnet: Private, Zone: Zone, Description: "Amazon EKS " + ClusterName, Status: "in-use", Kind: "interface", RequesterManaged: true, Groups: []string{ClusterGroup}, SourceCheck: true, PrivateIPs: []netip.Addr{netip.MustParseAddr("10.42.192.5")}},
		{ID: "eni-0control2", VPC: VPC, Subnet: Public, Zone: Zone, Description: "Amazon EKS " + ClusterName, Status: "in-use", Kind: "interface", RequesterManaged: true, Groups: []string{ClusterGroup}, SourceCheck: true, PrivateIPs: []netip.Addr{netip.MustParseAddr("10.42.0.5")}},
	}
	s.Groups = []snapshot.Group{{
		Name: "eks-" + Nodegroup, Max: 3, Desired: 1, Subnets: []string{Private}, Zones: []string{Zone}, Template: snapshot.TemplateRef{ID: Template, Version: "1"},
		Tags: map[string]string{"eks:cluster-name": ClusterName, "eks:nodegroup-name": Nodegroup, "kubernetes.io/cluster/" + ClusterName: "owned"},
	}}
	s.Images = []snapshot.Image{{ID: AMI, Name: "amazon-eks-node-al2023-x86_64-standard-1.35-v20261112", Architecture: "x86_64", State: "available", OwnerAlias: "amazon", Owner: "602401143452", Public: true, Created: s.Time.Add(-8 * 24 * time.Hour)}}
	s.LaunchTemplates = []snapshot.LaunchTemplate{{ID: Template, Name: "eks-workers", Version: "1", Default: true, Latest: true, Image: AMI, Groups: []string{ClusterGroup}, UserData: []byte(NodeConfig), Metadata: snapshot.Metadata{HopLimit: 2, Tokens: "required"}, Profile: "eks-workers"}}
	s.Profiles = []snapshot.Profile{{ARN: ProfileARN, Name: "eks-workers", Roles: []string{NodeRole}}}
	s.Roles = []snapshot.Role{{ARN: NodeRole, Name: "workers", Path: "/", Trust: EC2Trust, Policies: []snapshot.Policy{
		{Name: "AmazonEKSWorkerNodePolicy", ARN: "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy", Document: workerNodePolicy},
		{Name: "AmazonEC2ContainerRegistryReadOnly", ARN: "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryReadOnly", Document: registryPolicy},
		{Name: "AmazonEKS_CNI_Policy", ARN: "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy", Document: cniPolicy},
	}}}
	s.AccessEntries = []snapshot.AccessEntry{{Principal: NodeRole, Type: "EC2_LINUX", Username: "system:node:{{EC2PrivateDNSName}}", Groups: []string{"system:nodes"}}}
	s.Principals = []string{NodeRole}
	for _, name := range []string{"coredns", "kube-proxy", "vpc-cni"} {
		s.Addons = append(s.Addons, snapshot.Addon{Name: name, Version: "v1.0.0-eksbuild.1", Status: "ACTIVE"})
	}
	s.Zones = []snapshot.Zone{{Name: Zone, ID: "usw2-az2", Kind: "availability-zone", State: "available"}}
	s.Volumes = []snapshot.Volume{{ID: "vol-0web", Zone: Zone, State: "in-use", Type: "gp3", GiB: 8, Attached: []string{Node}, Tags: map[string]string{
		"kubernetes.io/cluster/" + ClusterName: "owned", "ebs.csi.aws.com/cluster": "true", "CSIVolumeName": "pvc-web",
		"kubernetes.io/created-for/pvc/namespace": "shop", "kubernetes.io/created-for/pvc/name": "web", "kubernetes.io/created-for/pv/name": "pvc-web",
	}}}
	s.PersistentVolumes = []snapshot.PersistentVolume{{Name: "pvc-web", Phase: "Bound", Volume: "vol-0web", Zones: []string{Zone}, Claim: "shop/web", Class: "gp3"}}
	s.Claims = []snapshot.Claim{{Namespace: "shop", Name: "web", Phase: "Bound", Volume: "pvc-web", Class: "gp3"}}
	s.CNI = &snapshot.CNI{Image: "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.20.4-eksbuild.1", Desired: 1, Ready: 1, Env: map[string]string{"WARM_ENI_TARGET": "1", "WARM_PREFIX_TARGET": "1", "ENABLE_PREFIX_DELEGATION": "false", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "false", "CLUSTER_NAME": ClusterName}}
}

// Boot is a console without a failure: what keeps an instance from
// joining is not always written there.
const Boot = `[    0.000000] Linux version 6.12.46-66.121.amzn2023.x86_64 (mockbuild@ip-10-0-51-87)
[    3.412345] systemd[1]: Hostname set to <ip-10-42-192-10.us-west-2.compute.internal>.
[    5.201234] cloud-init[1598]: Cloud-init v. 22.2.2 running 'init' at Fri, 20 Nov 2026 14:50:12 +0000.
[    7.112233] systemd[1]: Finished nodeadm-config.service - EKS Nodeadm Config.
[    9.876543] cloud-init[1820]: Cloud-init v. 22.2.2 finished at Fri, 20 Nov 2026 14:50:21 +0000.
[   11.223344] systemd[1]: Finished nodeadm-run.service - EKS Nodeadm Run.
[   11.334455] systemd[1]: Started kubelet.service - Kubernetes Kubelet.

Amazon Linux 2023.9.20261110
Kernel 6.12.46-66.121.amzn2023.x86_64 on an x86_64 (-)

ip-10-42-192-10 login:
`
