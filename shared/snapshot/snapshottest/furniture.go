package snapshottest

import (
	"net/netip"
	"time"

	"rollcall/shared/snapshot"
)

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

// unfurnish takes away what a source would have brought.
func unfurnish(s *snapshot.Snapshot, source snapshot.Source) {
	switch source {
	case snapshot.SecurityGroups:
		s.SecurityGroups = nil
	case snapshot.NetworkACLs:
		s.NetworkACLs = nil
	case snapshot.VPCDNS:
		s.VPCAttributes = nil
	case snapshot.DHCP:
		s.DHCPOptions = nil
	case snapshot.EgressOnly:
		s.EgressOnly = nil
	case snapshot.PrefixListEntries:
		s.PrefixLists = nil
	case snapshot.Peerings:
		s.Peerings = nil
	case snapshot.TransitGateways:
		s.Attachments, s.TransitRoutes = nil, nil
	case snapshot.Interfaces:
		s.Interfaces = nil
	case snapshot.Statuses:
		s.Statuses = nil
	case snapshot.UserDataOf:
		s.UserData = nil
	case snapshot.Consoles:
		s.Consoles = nil
	case snapshot.Images:
		s.Images = nil
	case snapshot.LaunchedImagesOf:
		s.LaunchedImages = nil
	case snapshot.AllowedImagesOf:
		s.AllowedImages = nil
	case snapshot.MetadataDefaultsOf:
		s.MetadataDefaults = nil
	case snapshot.LaunchTemplates:
		s.LaunchTemplates = nil
	case snapshot.CapacityReservations:
		s.CapacityReservations = nil
	case snapshot.PlacementGroups:
		s.PlacementGroups = nil
	case snapshot.PoolEventsOf:
		s.PoolEvents = nil
	case snapshot.DNSProfilesOf:
		s.DNSProfiles = nil
	case snapshot.PrivateZonesOf:
		s.PrivateZones = nil
	case snapshot.ZonalShifts:
		s.Shifts = nil
	case snapshot.AutoshiftsOf:
		s.Autoshifts = nil
	case snapshot.Profiles:
		s.Profiles = nil
	case snapshot.Roles:
		s.Roles = nil
	case snapshot.Access:
		s.AccessEntries, s.Principals = nil, nil
	case snapshot.ClassAccess:
		s.ClassRoles = nil
	case snapshot.PodIdentities:
		s.PodIdentities = nil
	case snapshot.Updates:
		for i := range s.Nodegroups {
			s.Nodegroups[i].Updates = nil
		}
	case snapshot.Addons:
		s.Addons = nil
	case snapshot.AWSNode:
		s.CNI = nil
	case snapshot.Pods:
		s.Pods = nil
	case snapshot.AWSAuthMap:
		s.AWSAuth = nil
	case snapshot.CSRs:
		s.CSRs = nil
	case snapshot.NodeEventsOf:
		s.NodeEvents = nil
	case snapshot.Usage:
		s.Uses, s.Tenants = nil, nil
	case snapshot.Unattached:
		s.Idle = nil
	case snapshot.CreatorsOf:
		s.Creators = nil
	case snapshot.CIDRsKept:
		s.Reservations = nil
	case snapshot.ENIConfigsOf:
		s.ENIConfigs = nil
	case snapshot.NodePoolsOf:
		s.NodePools = nil
	case snapshot.NodeClaimsOf:
		s.NodeClaims = nil
	case snapshot.EC2NodeClassesOf:
		s.EC2NodeClasses = nil
	case snapshot.AutoNodeClassesOf:
		s.AutoNodeClasses = nil
	case snapshot.VolumesOf:
		s.Volumes = nil
	case snapshot.PersistentVolumes:
		s.PersistentVolumes = nil
	case snapshot.ClaimsOf:
		s.Claims = nil
	case snapshot.WaitingPods:
		s.WaitingPods, s.BranchWaits = nil, nil
	case snapshot.TrunksOf:
		s.Trunks, s.StrayBranches = nil, nil
	case snapshot.ZonesOf:
		s.Zones = nil
	}
}

// Boot is a console that tells of no failure: what keeps an instance from
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
