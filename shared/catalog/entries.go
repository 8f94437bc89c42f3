package catalog

import (
	"rollcall/shared/checkid"
	"rollcall/shared/remedy/optin"
)

// entries are all checks, in the catalogue's order. Nothing writes to them.
var entries = [...]Entry{
	{
		ID: checkid.RouteNoEgress, Title: "The subnet has no route to the internet",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true, Remedy: optin.AddNATRoute,
		Cause: "The subnet's effective route table (its own, or the VPC's main table) has no default route, and the " +
			"VPC has no endpoints for the services a node needs. The instance runs, its Auto Scaling activity is " +
			"Successful, the nodegroup is ACTIVE, and no node ever registers.",
		Fix: "Add 0.0.0.0/0 to a working NAT gateway (or an internet gateway, where nodes have public addresses), or " +
			"associate the subnet with the table that its siblings use. Then replace the instances that did not join.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Route_Tables.html",
		},
	},
	{
		ID: checkid.RouteBlackhole, Title: "The matching route points to something that no longer exists",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.RouteNATUnusable, checkid.RouteIGWDetached, checkid.RouteNATInstanceSourceCheck,
		},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The route that matches a service nodes need is a blackhole: its NAT gateway, interface, instance, " +
			"peering connection or attachment was deleted, and the route stayed. A blackhole in a transit gateway's " +
			"table counts too.",
		Fix: "Point the route to a target that exists: a working NAT gateway, or the internet gateway attached to " +
			"this VPC.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/WorkWithRouteTables.html"},
	},
	{
		ID: checkid.RouteNATUnusable, Title: "The NAT gateway passes no traffic",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The NAT gateway on the nodes' path is pending, failed, deleting or deleted, or it is a private one " +
			"with no path to the internet behind it. A deleted gateway can be described for about an hour.",
		Fix:   "Point the route to a working NAT gateway, or create a new one: a failed gateway cannot be repaired.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html"},
	},
	{
		ID: checkid.RouteNATNoInternet, Title: "The NAT gateway itself has no route to the internet",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The NAT gateway is available, but the route table of its own subnet has no route to an internet " +
			"gateway: it is in a private subnet, its subnet lost its association, or its route points back to itself.",
		Fix:   "Associate the NAT gateway's subnet with a table whose 0.0.0.0/0 points to the VPC's internet gateway.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html"},
	},
	{
		ID: checkid.RouteIGWNoPublicIP, Title: "The route is to an internet gateway, but nodes have no public address",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "An internet gateway only carries traffic of instances with a public address. The subnet does not " +
			"assign one, or the launch template turns that off.",
		Fix: "Have the subnet (or the launch template's network interface) assign public addresses, or point " +
			"0.0.0.0/0 to a NAT gateway. Then replace the instances: a running one gets no address.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-igw-internet-access.html"},
	},
	{
		ID: checkid.RouteIGWDetached, Title: "The internet gateway is not attached to this VPC",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The route to the internet, of the nodes or of their NAT gateway, points to an internet gateway that " +
			"exists but is attached to no VPC, or to a different one.",
		Fix:   "Attach the gateway to the VPC again, or point the route to the gateway that is attached.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/working-with-igw.html"},
	},
	{
		ID: checkid.RouteNATInstanceSourceCheck, Title: "The NAT instance is stopped or cannot forward traffic",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The default route points to an instance's network interface with the source/destination check on, so " +
			"EC2 drops every packet that is not its own; or the instance is stopped, or the interface is not " +
			"attached.",
		Fix:   "Turn the source/destination check off, start the instance, or point the route to a NAT gateway.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/work-with-nat-instances.html"},
	},
	{
		ID: checkid.RouteAPIPublicCIDR, Title: "The API's public endpoint blocks the nodes' address",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable,
			checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP, checkid.RouteIGWDetached,
			checkid.RouteBlockedPublicAccess, checkid.RouteNATInstanceSourceCheck,
		},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "Nodes reach the cluster's API only through its public endpoint, and publicAccessCidrs does not " +
			"include their source address: the NAT gateway's, or their own.",
		Fix: "Enable private access, which keeps the nodes' traffic in the VPC, or add the address to " +
			"publicAccessCidrs.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_VpcConfigRequest.html",
		},
	},
	{
		ID: checkid.RouteAPIPrivateUnreachable, Title: "No route to the cluster's private endpoint in another VPC",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The cluster's API has only its private endpoint, with addresses in the cluster's VPC. The nodes are " +
			"in another VPC, which has no route to the cluster's VPC, or there is no route back.",
		Fix: "Connect the two VPCs by peering or a transit gateway, with routes both ways, or run the nodes in the " +
			"cluster's VPC.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html"},
	},
	{
		ID: checkid.RouteIPv6NoEgress, Title: "The subnet of an IPv6 cluster has no IPv6 range or no IPv6 route",
		Confidence: Certain, After: []checkid.ID{checkid.RouteNoEgress},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "Nodes of an IPv6 cluster take a /80 of their subnet's IPv6 range for pods, and use IPv6 for whatever " +
			"has IPv6 addresses (such as the cluster's dual-stack endpoint). The subnet has no such range, or its " +
			"table has no ::/0 route out. IPv4 is needed too: EC2, ECR and STS respond on IPv4 unless configured " +
			"otherwise.",
		Fix: "Give the subnet an IPv6 range, and point ::/0 to an egress-only internet gateway (or the internet " +
			"gateway, in a public subnet).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-ipv6.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/egress-only-internet-gateway.html",
		},
	},
	{
		ID: checkid.RouteCrossZoneNAT, Title: "The NAT gateway is in another zone",
		Confidence: Advice, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Cause: "The subnet's default route is to a NAT gateway in another availability zone. It works, costs " +
			"cross-zone transfer, and fails with that zone.",
		Fix: "Give each zone a NAT gateway, with a route table to it for the zone's subnets, or use a regional NAT " +
			"gateway.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html"},
	},
	{
		ID: checkid.RouteLeavesView, Title: "A path cannot be followed to its end",
		Confidence: Possible, AtLaunch: true, NeverFails: true,
		Cause: "The path to something nodes need goes through a transit gateway or VPC of another account, a " +
			"firewall, an appliance, a VPN or a prefix list that cannot be read, and no Ready node shows that it " +
			"works.",
		Fix:   "Check the named hop from the account that owns it. Where a permission is named, grant it.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/reachability/what-is-reachability-analyzer.html"},
	},
	{
		ID: checkid.RouteBlockedPublicAccess, Title: "VPC Block Public Access drops the traffic to the internet",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The routes go to an internet gateway or an egress-only one, and VPC Block Public Access drops the " +
			"traffic there. The account, or its organization through a declarative policy, has enabled it for the " +
			"Region, and no exclusion covers the subnet from which the traffic leaves: the NAT gateway's, or the " +
			"nodes' own. block-bidirectional drops everything; block-ingress, or an exclusion that allows egress " +
			"only, allows NAT gateways and egress-only gateways and drops what nodes with public addresses send " +
			"through an internet gateway.",
		Fix: "Exclude the subnet from which the traffic leaves (the NAT gateway's with allow-egress), or give the " +
			"VPC endpoints for what nodes need and the cluster private access. Another route or NAT gateway does not " +
			"help.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/security-vpc-bpa.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/security-vpc-bpa-basics.html",
		},
	},
	{
		ID: checkid.EndpointMissing, Title: "A VPC without internet lacks an endpoint that nodes need",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable,
			checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP,
		},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true, Remedy: optin.AddNATRoute,
		Cause: "The subnet has no route to the internet, and the VPC has endpoints for only some of what nodes need: " +
			"the cluster API (private access), EC2, ECR (api and dkr), S3 and STS, and EKS where the bootstrap calls " +
			"it. An endpoint that exists but does not work has its own check.",
		Fix: "Create the missing endpoints, with a security group that allows 443 from the nodes; for the cluster " +
			"API enable private access.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
		},
	},
	{
		ID: checkid.EndpointSecurityGroup, Title: "An endpoint that a service's name resolves to blocks the nodes",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Remedy: optin.OpenEndpointSecurityGroup,
		Cause: "With private DNS, an interface endpoint takes over its service's name in the whole VPC, whatever the " +
			"routes are, and its security groups do not allow 443 from the nodes. This applies even with a NAT " +
			"gateway to the service.",
		Fix: "Allow 443 from the nodes' security group (or from the VPC) in the endpoint's.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
		},
	},
	{
		ID: checkid.EndpointPrivateDNSOff, Title: "An interface endpoint's private DNS is off",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable,
			checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP,
		},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The subnet has no route to the internet, and an interface endpoint that nodes need has private DNS " +
			"off: the service's name resolves to public addresses. Where a private hosted zone of your own could " +
			"replace it, which Rollcall cannot see, the finding is only likely.",
		Fix: "Enable private DNS. It needs the VPC's DNS support and DNS hostnames.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/privatelink-access-aws-services.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
		},
	},
	{
		ID: checkid.EndpointNotAvailable, Title: "An endpoint that nodes need passes no traffic",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable,
			checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP,
		},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The subnet has no route to the internet, and the endpoint that nodes need is pending, awaiting " +
			"acceptance, rejected, failed or being deleted.",
		Fix: "Wait while it is pending, accept it if it awaits acceptance, and recreate it if it failed.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_VpcEndpoint.html",
		},
	},
	{
		ID: checkid.EndpointS3RouteMissing, Title: "The route table has no route to the gateway endpoint for S3",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable,
			checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP,
		},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The subnet has no route to the internet, and the VPC's gateway endpoint for S3 is not in the " +
			"subnet's route table. ECR keeps image layers in S3: the node can log in to the registry but cannot pull.",
		Fix: "Add the route table to the gateway endpoint.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html",
			"https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html",
		},
	},
	{
		ID: checkid.EndpointPolicyDenies, Title: "An endpoint's policy denies what joining needs",
		Confidence: Likely, After: []checkid.ID{checkid.EndpointSecurityGroup}, AtLaunch: true,
		Cause: "The policy of an endpoint that nodes use allows less than they need: ec2:DescribeInstances for the " +
			"node's name, the ECR actions to pull images, s3:GetObject on the bucket in which ECR keeps layers, and " +
			"sts:AssumeRoleWithWebIdentity where the network plugin has its own role.",
		Fix: "Allow these actions in the endpoint's policy, for the node role or for everyone.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-access.html",
			"https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html",
		},
	},
	{
		ID: checkid.SGNodeEgress, Title: "The nodes' security groups block outbound traffic nodes need",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "No rule of the nodes' security groups allows 443 to something a node must reach: the control plane, " +
			"an endpoint or the internet. Where the VPC has its own name servers, 53 to them counts too; security " +
			"groups do not filter traffic to Amazon's own resolver.",
		Fix: "Add an outbound rule for 443 (and for 53 to your own name servers) to a security group of the nodes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html",
		},
	},
	{
		ID: checkid.SGClusterIngress, Title: "The cluster's security groups block the nodes",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "Nodes use the cluster's private endpoint, and no rule of the security groups on the control plane's " +
			"interfaces allows 443 from them. This happens when nodes have their own security groups and nobody " +
			"allowed those.",
		Fix: "Allow 443 from the nodes' security group in the cluster's, or give the nodes the cluster's group.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
		},
	},
	{
		ID: checkid.SGKubeletIngress, Title: "The nodes block the control plane on 10250",
		Confidence: Possible, AtLaunch: true,
		Cause: "No rule of the nodes' security groups allows 10250 from the control plane's interfaces. Nodes still " +
			"join; logs, exec, metrics and port-forward do not work.",
		Fix:   "Allow 10250 from the cluster's security group in the nodes'.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html"},
	},
	{
		ID: checkid.SGEFASelfRule, Title: "The nodes' security groups block EFA traffic",
		Confidence: Likely, AtLaunch: true,
		Cause: "An instance has an Elastic Fabric Adapter (interface type efa or efa-only), and none of its security " +
			"groups allows all traffic to and from itself, in both directions. A rule for addresses, such as " +
			"0.0.0.0/0, does not allow EFA traffic. Nodes still join; MPI and NCCL cannot communicate between them.",
		Fix: "Add a rule to a security group of the adapters, inbound and outbound, that allows all traffic from and to " +
			"the group itself.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-efa.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
		},
	},
	{
		ID: checkid.NACLEgress, Title: "A network ACL denies outbound 443",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The first matching rule denies 443 at a subnet's edge on the way to something a node must reach: out " +
			"of the node's own subnet, into and out of the NAT gateway's, or into the subnets of an endpoint or the " +
			"control plane. Network ACLs do not apply within a subnet.",
		Fix: "Add a rule with a lower number that allows 443 in the denied direction.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-network-acls.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/nacl-rules.html",
		},
	},
	{
		ID: checkid.NACLReturn, Title: "A network ACL denies return traffic",
		Confidence: Certain, After: []checkid.ID{checkid.NACLEgress}, Explains: []checkid.ID{checkid.AnyJoinCause},
		AtLaunch: true,
		Cause: "Network ACLs are stateless: return traffic needs its own rule, for the port that the client chose. " +
			"Linux chooses from 32768-60999, Windows from 49152-65535, a NAT gateway from 1024-65535. The first " +
			"matching rule denies these ports at a subnet's edge on the way back. If it denies only some of them, " +
			"connections fail now and then.",
		Fix: "Add a rule with a lower number that allows the ports in the denied direction.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/nacl-ephemeral-ports.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-network-acls.html",
		},
	},
	{
		ID: checkid.DNSSupportOff, Title: "The VPC's DNS support is off",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "enableDnsSupport is off: Amazon's resolver does not respond in the VPC. Nodes without another name " +
			"server resolve nothing, and with one the names of private endpoints do not resolve to private " +
			"addresses. With your own name servers the finding is only likely: they may know the private addresses.",
		Fix: "Turn enableDnsSupport on.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
		},
	},
	{
		ID: checkid.DNSHostnamesOff, Title: "The VPC's DNS hostnames are off, and private names need them",
		Confidence: Likely, After: []checkid.ID{checkid.DNSSupportOff}, AtLaunch: true,
		Cause: "enableDnsHostnames is off. The cluster's private endpoint and endpoints with private DNS need it: " +
			"without it the private hosted zones of their names are ignored.",
		Fix: "Turn enableDnsHostnames on.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html",
		},
	},
	{
		ID: checkid.DNSDHCPOptions, Title: "The VPC's DHCP options break the nodes' names or name resolution",
		Confidence: Likely, After: []checkid.ID{checkid.DNSSupportOff}, AtLaunch: true,
		Cause: "The VPC's DHCP options have no name servers, or only your own where a private endpoint must resolve; " +
			"they have no domain-name, or several in one value, so that the host name differs from the one EC2 " +
			"gives; or the host name is longer than 63 characters. Your own name servers work if they forward to " +
			"Amazon's resolver, which Rollcall cannot see.",
		Fix: "Associate DHCP options with AmazonProvidedDNS and one domain-name, or have your name servers forward " +
			"the private names to Amazon's resolver. Nodes must be replaced, or renew their lease.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/VPC_DHCP_Options.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://github.com/awslabs/amazon-eks-ami/issues/1263",
		},
	},
	{
		ID: checkid.DNSFirewall, Title: "DNS Firewall blocks a name that nodes need",
		Confidence: Likely, After: []checkid.ID{checkid.DNSSupportOff}, Optional: true,
		Cause: "A Route 53 Resolver DNS Firewall rule group is associated with the VPC, or with a Route 53 Profile " +
			"of the VPC, and one of its rules answers NXDOMAIN, nothing or another name for the cluster's endpoint, " +
			"or for EC2, ECR, S3 or STS. Typical is a walled garden whose list of allowed domains lacks one of them.",
		Fix: "Allow the names in a rule with a lower priority number than the one that blocks them. Nodes retry for " +
			"some minutes; then replace the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall-overview.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/profiles.html",
		},
	},
	{
		ID: checkid.DNSResolverRule, Title: "A resolver rule forwards a name that nodes need",
		Confidence: Likely, After: []checkid.ID{checkid.DNSSupportOff, checkid.DNSFirewall}, Optional: true,
		Cause: "A Route 53 Resolver rule associated with the VPC, or with a Route 53 Profile of the VPC, forwards " +
			"the name of the cluster's endpoint, or of EC2, ECR, S3 or STS, to your own name servers. Nodes resolve " +
			"it only while these are reachable and know it; for a private endpoint they must return its private " +
			"addresses. Rollcall cannot see whether they do: where other nodes of the VPC are Ready, the finding is " +
			"only possible.",
		Fix: "Create a SYSTEM rule for the domain (amazonaws.com) and associate it with the VPC, or make sure that " +
			"the name servers respond. Then replace the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-overview-DSN-queries-to-vpc.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-rules-managing.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/profiles.html",
		},
	},
	{
		ID: checkid.DNSPrivateZone, Title: "A private hosted zone hides a name that nodes need",
		Confidence: Likely, After: []checkid.ID{checkid.DNSSupportOff, checkid.DNSFirewall, checkid.DNSResolverRule},
		Optional: true,
		Cause: "A private hosted zone is associated with the VPC, or with a Route 53 Profile of the VPC, and covers " +
			"the name of the cluster's endpoint, or of EC2, ECR, S3 or STS, without a record for it. Amazon's " +
			"resolver then answers NXDOMAIN and does not query public DNS. Typical is a zone for amazonaws.com or a " +
			"Region's part of it, made for interface endpoints, that lacks one service.",
		Fix: "Add a record for the name, make the zone more specific, or disassociate it from the VPC. Nodes retry " +
			"for some minutes; then replace the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/hosted-zone-private-considerations.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/profiles.html",
		},
	},
	{
		ID: checkid.IAMProfileMissing, Title: "The instance has no role",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The instance was started without an instance profile, or its profile was deleted, has no role, or " +
			"has a role that was deleted. Without credentials the kubelet cannot authenticate to the cluster.",
		Fix: "Put the node role into the instance profile, name the profile in the launch template, and replace the " +
			"instances.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html",
			"https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2_instance-profiles.html",
		},
	},
	{
		ID: checkid.IAMRolePolicies, Title: "The node role lacks permissions that a node needs",
		Confidence: Likely,
		Cause: "The node role's policies, managed and inline, minus their denials and within the permissions " +
			"boundary, do not allow an action that a node calls before it is Ready: to get its name " +
			"(ec2:DescribeInstances), to pull images from ECR, to get the cluster's address where its start script " +
			"does (eks:DescribeCluster), and what aws-node needs where it has no role of its own.",
		Fix: "Attach AmazonEKSWorkerNodePolicy and AmazonEC2ContainerRegistryPullOnly, and AmazonEKS_CNI_Policy " +
			"unless aws-node has its own role; or add the actions to your own policy.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/security-iam-awsmanpol.html",
		},
	},
	{
		ID: checkid.IAMRoleTrust, Title: "EC2 is not allowed to assume the node role",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The node role's trust policy does not allow the service ec2.amazonaws.com to call sts:AssumeRole. " +
			"The instance profile then gives no credentials, and the kubelet cannot authenticate to the cluster.",
		Fix: "Allow ec2.amazonaws.com to assume the role in its trust policy.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html",
			"https://repost.aws/knowledge-center/eks-worker-nodes-cluster",
		},
	},
	{
		ID: checkid.IAMAccessMissing, Title: "The cluster does not know the node role",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.IAMAccessWrongType, checkid.IAMAccessWrongARN, checkid.IAMAWSAuthInvalid,
			checkid.IAMAccessDuplicateMapping,
		},
		Explains: []checkid.ID{checkid.AnyJoinCause}, WatchedBy: []Detector{JoinCheck, Sweep}, Proof: ByPassingUnmet,
		CoversToo: NodePools, Remedy: optin.CreateAccessEntry,
		Cause: "The places that count in the cluster's authentication mode have no entry for the role: no access " +
			"entry of a node type (API, API_AND_CONFIG_MAP), and no entry of mapRoles in kube-system/aws-auth with " +
			"the group system:nodes (CONFIG_MAP, API_AND_CONFIG_MAP). The API server returns 401 Unauthorized to the " +
			"kubelet; EKS Auto Mode launches nothing for a NodeClass with such a role. EKS creates the entry with a " +
			"managed node group; people and tools that write aws-auth delete it.",
		Fix: "Create an access entry of type EC2_LINUX (EC2_WINDOWS, or EC2 for Auto Mode), or map the role in " +
			"aws-auth as system:node:{{EC2PrivateDNSName}} with the groups system:bootstrappers and system:nodes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
		},
	},
	{
		ID: checkid.IAMAccessWrongARN, Title: "The node role is mapped by an ARN that never matches",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, WatchedBy: []Detector{JoinCheck, Sweep},
		Proof: ByPassingUnmet, CoversToo: NodePools, Remedy: optin.CreateAccessEntry,
		Cause: "aws-auth maps the instance profile's ARN, a session's ARN, or the role's ARN with its path. The " +
			"authenticator looks for the role's ARN without a path, because STS names an assumed role without it. " +
			"Access entries are the opposite: their ARN includes the path. EKS Auto Mode still looks up a " +
			"NodeClass's role without its path.",
		Fix: "Map the ARN arn:aws:iam::<account>:role/<name> in aws-auth, or create an access entry with the role's " +
			"full ARN.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting_iam.html",
		},
	},
	{
		ID: checkid.IAMSTSEndpoint, Title: "STS cannot be reached, or its tokens are refused",
		Confidence: Likely, After: []checkid.ID{checkid.IAMSTSRegionDeactivated},
		Cause: "aws-node, with its own role, calls the global name sts.amazonaws.com, and the VPC has no internet: " +
			"its endpoint only serves the regional name. Or the node itself reports that it cannot reach STS. " +
			"Possible: the API server rejects the node's token although the role has access, which an account's " +
			"setting for STS tokens can cause.",
		Fix: "Set AWS_STS_REGIONAL_ENDPOINTS=regional on aws-node, or use a newer version of the plugin. For " +
			"rejected tokens: IAM console, Account settings, Security Token Service.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/configure-sts-endpoint.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/issues/647",
			"https://github.com/eksctl-io/eksctl/issues/2558",
		},
	},
	{
		ID: checkid.IAMSTSRegionDeactivated, Title: "STS is deactivated in this region",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause},
		Cause: "In the account's settings, STS is deactivated for the cluster's region. Kubelets authenticate " +
			"through STS, so the API server rejects all of them. No API exposes the setting: the evidence is the " +
			"error that STS returned to the node, to aws-node or to Rollcall itself (RegionDisabledException), or " +
			"EKS's own health issue.",
		Fix: "Activate STS for the region: IAM console, Account settings, Security Token Service. Waiting nodes then " +
			"join without further action.",
		Links: []string{
			"https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_enable-regions.html",
			"https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html",
		},
	},
	{
		ID: checkid.IAMAccessWrongType, Title: "The node role's access entry is not of a node type",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		WatchedBy: []Detector{JoinCheck, Sweep}, Proof: ByPassingUnmet, CoversToo: NodePools,
		Cause: "The node role has an access entry of a type that is not for nodes, usually STANDARD, the default. It " +
			"takes precedence over aws-auth for the same role. The type of an entry cannot be changed.",
		Fix: "Delete the access entry and recreate it with the type EC2_LINUX (EC2_WINDOWS for Windows, EC2 for EKS " +
			"Auto Mode).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/migrating-access-entries.html",
		},
	},
	{
		ID: checkid.IAMAccessDuplicateMapping, Title: "The node role is mapped to different users",
		Confidence: Likely,
		Cause: "mapRoles of kube-system/aws-auth lists the node role more than once with different user names (the " +
			"last entry counts), or an access entry and aws-auth both do (the access entry counts). Kubelets can " +
			"then authenticate as a user that is not a node: they cannot register, or their certificates for logs " +
			"and exec stay unsigned.",
		Fix: "Keep one mapping of the role, as system:node:{{EC2PrivateDNSName}}. Give people a separate role.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/migrating-access-entries.html",
		},
	},
	{
		ID: checkid.IAMAWSAuthInvalid, Title: "The cluster cannot parse the ConfigMap aws-auth",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause},
		Cause: "mapRoles of kube-system/aws-auth is not YAML, or not a list. The authenticator then knows none of " +
			"its roles, and EKS refuses to create or delete node groups (AccessDenied, \"aws-auth ConfigMap in your " +
			"cluster is invalid\"). In the mode API_AND_CONFIG_MAP only roles without an access entry are affected.",
		Fix: "Rewrite mapRoles: a list of entries with rolearn, username and groups.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
			"https://github.com/aws/containers-roadmap/issues/1287",
		},
	},
	{
		ID: checkid.IAMCNIRolePolicies, Title: "aws-node lacks permissions it needs",
		Confidence: Certain, After: []checkid.ID{checkid.IAMRolePolicies},
		Cause: "The role that aws-node actually uses (that of its Pod Identity association, or its target role; else " +
			"of its service account, else of the node) does not allow what the plugin calls before it is ready, or " +
			"was deleted. The node then stays NotReady: its network plugin is not initialized. IPv6 clusters need " +
			"other actions, newer versions of the plugin need more, and one that does not know the node's instance " +
			"type must query EC2 about it (ec2:DescribeInstanceTypes).",
		Fix: "Attach AmazonEKS_CNI_Policy to that role, or update your own policy to the version of the plugin.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-iam-role.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/iam-policy.md",
		},
	},
	{
		ID: checkid.IAMAccessPolicyMissing, Title: "The access entry of Auto Mode's node role lacks its access policy",
		Confidence: Certain, After: []checkid.ID{checkid.IAMAccessStale},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Proof: ByPassingUnmet, CoversToo: NodePools,
		Cause: "An access entry of type EC2 gives its role no permissions by itself: those of EKS Auto Mode's nodes " +
			"come from the access policy AmazonEKSAutoNodePolicy, and the entry does not have it, or only for some " +
			"namespaces. EKS associates it with the role of its built-in NodeClass; whoever creates an entry for " +
			"another role must associate it too.",
		Fix: "Associate AmazonEKSAutoNodePolicy with the access entry, with the scope cluster.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html",
		},
	},
	{
		ID: checkid.IAMAccessStale, Title: "The node role's access entry belongs to a deleted role",
		Confidence: Certain, After: []checkid.ID{checkid.IAMAccessWrongType},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Proof: ByPassingUnmet, CoversToo: NodePools,
		Cause: "The node role was deleted and recreated under the same name after its access entry was created. EKS " +
			"keeps the role's id with the entry, and the new role has a different one: the entry no longer grants " +
			"access to anyone. EKS creates the entry with a managed node group and does not remove it with the " +
			"group's role.",
		Fix: "Delete the access entry and recreate it with the same type.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_AccessEntry.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
			"https://github.com/aws/containers-roadmap/issues/2631",
		},
	},
	{
		ID: checkid.InstanceForbiddenNodeLabel, Title: "The kubelet is not allowed to set one of the node's labels",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "A label in the node group, or in the user data's --node-labels, has a prefix of kubernetes.io or " +
			"k8s.io that Kubernetes reserves. The kubelet does not start with it. Allowed are " +
			"kubelet.kubernetes.io/, node.kubernetes.io/ (and prefixes that end in them) and a few names such as " +
			"topology.kubernetes.io/zone.",
		Fix: "Remove the label from the node group or the user data, or give it your own prefix. A controller or " +
			"kubectl can set it once the node has joined.",
		Links: []string{
			"https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction",
			"https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/",
		},
	},
	{
		ID: checkid.InstanceUserData, Title: "User data does not join the instance to its cluster",
		Confidence: Certain, After: []checkid.ID{checkid.InstanceForbiddenNodeLabel},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The user data has no bootstrap where EKS adds none (a custom image, a self-managed node group), or " +
			"it is for another kind of image, cannot be parsed, lacks a required setting, or names another cluster, " +
			"endpoint, certificate authority or service range. Values that a script computes when it runs are not " +
			"compared, nor is what another image may contain.",
		Fix: "Put what the image needs into a new version of the launch template: a NodeConfig with the cluster's " +
			"name, endpoint, certificate authority and service range for Amazon Linux 2023, a call of bootstrap.sh " +
			"for Amazon Linux 2, TOML for Bottlerocket. Then replace the instances.",
		Links: []string{
			"https://awslabs.github.io/amazon-eks-ami/nodeadm/",
			"https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data",
			"https://docs.aws.amazon.com/eks/latest/userguide/launch-node-bottlerocket.html",
		},
	},
	{
		ID: checkid.InstanceIMDS, Title: "The instance's metadata service is off or unreachable",
		Confidence: Certain, AtLaunch: true, Proof: ByPassingUnmet,
		Cause: "The metadata service is off: the instance cannot read its user data, its identity or its role's " +
			"credentials, so the bootstrap cannot work. Or tokens are required with a hop limit of 1: pods outside " +
			"the host network get no response, and so no region and no credentials.",
		Fix: "Enable the metadata service, with a hop limit of 2 where pods need it, in the launch template and on " +
			"the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html",
			"https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html",
		},
	},
	{
		ID: checkid.InstanceClusterTag, Title: "The instance lacks the cluster's tag",
		Confidence: Likely, AtLaunch: true,
		Cause: "An instance outside managed node groups has no tag kubernetes.io/cluster/<name>. The cloud provider " +
			"and the network plugin use it to find the cluster's instances. EKS and Karpenter set it themselves; the " +
			"template of a self-managed Auto Scaling group must set it.",
		Fix: "Tag the Auto Scaling group with kubernetes.io/cluster/<name> = owned, propagated at launch, and the " +
			"running instances.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/worker.html"},
	},
	{
		ID: checkid.InstanceMaxPods, Title: "Max pods exceeds the addresses that the interfaces can hold",
		Confidence: Likely,
		// A node whose subnet has none to give has fewer than its interfaces could hold.
		After: []checkid.ID{checkid.IPSubnetExhausted, checkid.IPFragmented},
		Proof: ByPassingUnmet,
		Cause: "The kubelet's max pods is above what the network plugin can give addresses to: interfaces x " +
			"(addresses of each - 1) + 2, with prefixes 16 times as many addresses, with custom networking one " +
			"interface less. Pods beyond it get no address. It is likely where pods are waiting for one on a Ready " +
			"node that has given out all it can; it does not stop a node from joining.",
		Fix: "Leave max pods to the image's own calculation, lower it, or enable prefix delegation.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses.html",
		},
	},
	{
		ID: checkid.InstanceForeignSecurityGroups, Title: "The launch template's security groups replace the cluster's",
		Confidence: Likely,
		// Where the groups themselves shut the node out, that is the cause.
		AtLaunch: true,
		Cause: "A managed node group's launch template sets security groups. EKS then does not add the cluster's " +
			"security group to the nodes, and the template's groups have to allow what that one allows between nodes " +
			"and control plane.",
		Fix:   "Add the cluster's security group to the launch template, or remove the template's groups.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-security-groups"},
	},
	{
		ID: checkid.InstanceOlderThanCluster, Title: "The instance was launched before its cluster was ready",
		Confidence: Likely, AtLaunch: true,
		Cause: "An instance outside managed node groups is older than the cluster, or the cluster is still being " +
			"created: at its first start there was nothing to join, and the bootstrap does not retry.",
		Fix:   "Launch nodes once the cluster is ACTIVE, and replace those launched before.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html#worker-node-fail"},
	},
	{
		ID: checkid.InstanceEndedEarly, Title: "The instance ended before it became a node",
		Confidence: Certain,
		// What an instance died of while it started is a failed launch.
		After:    []checkid.ID{checkid.AnyFailedLaunch},
		AtLaunch: true, Proof: Impossible,
		Cause: "The instance was stopped or terminated before a node registered for it: its own operating system " +
			"shut it down, or someone stopped or terminated it. One that EC2 could not start is a failed launch " +
			"(launch/…). One that Spot reclaimed is spot/reclaimed-before-join. A scale-in or a replacement by its " +
			"group is not a fault, nor is the end of an instance that had been a node.",
		Fix: "It depends on EC2's reason for the state; the finding names it.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StateReason.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
	},
	{
		ID: checkid.InstanceStatusCheck, Title: "EC2's own status checks report the instance as impaired",
		Confidence: Likely, After: []checkid.ID{checkid.InstanceScheduledEvent, checkid.InstanceConsoleError},
		Cause: "EC2 checks each running instance every minute: the system status covers the host and its network, " +
			"the instance status the operating system (it does not answer ARP). An instance that fails either is " +
			"unlikely to become a node.",
		Fix: "System status: stop and start the instance, or let its group replace it: it then runs on another host. " +
			"Instance status: read the console output.",
		Links: []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-system-instance-status-check.html"},
	},
	{
		ID: checkid.InstanceScheduledEvent, Title: "EC2 has scheduled a stop, reboot or retirement of the instance",
		Confidence: Likely,
		Cause: "EC2 plans to retire, stop or reboot the instance. It retires and stops those with a failing host, " +
			"which may no longer be able to run a node. A reboot or maintenance still to come explains nothing yet.",
		Fix:   "Let the group replace the instance before the date.",
		Links: []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instances-status-check_sched.html"},
	},
	{
		ID: checkid.InstanceAMI, Title: "The image is out of support, or does not match the instance or cluster",
		Confidence: Likely, After: []checkid.ID{checkid.InstanceVersionSkew},
		Cause: "The image's architecture is not the instance type's, its Kubernetes version is incompatible with the " +
			"control plane's, or it is an EKS image with Amazon Linux 2, which has been unsupported since 26 November 2025. An " +
			"image that EC2 does not list (deregistered since, no longer shared, or hidden by the account's Allowed " +
			"AMIs) or that is disabled does not stop an instance launched from it from joining, and nothing is known " +
			"about it.",
		Fix: "Use a current EKS image for the control plane's version and the instance type's architecture.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-amis.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html",
		},
	},
	{
		ID: checkid.InstanceVersionSkew, Title: "The kubelet's version is incompatible with the control plane's",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause},
		Cause: "A kubelet cannot be newer than the control plane, and at most three minor versions older (two, " +
			"before 1.25). The version is the node's own, or the one in the name of an EKS image.",
		Fix: "Use an image of the control plane's version, or upgrade the control plane first.",
		Links: []string{
			"https://kubernetes.io/releases/version-skew-policy/",
			"https://docs.aws.amazon.com/eks/latest/userguide/update-managed-node-group.html",
		},
	},
	{
		ID: checkid.InstanceConsoleError, Title: "The console output shows why the node did not start",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.AnyJoinCause, checkid.DNSHostnamesOff, checkid.DNSDHCPOptions, checkid.DNSFirewall,
			checkid.DNSResolverRule, checkid.DNSPrivateZone, checkid.IAMSTSEndpoint,
		},
		Cause: "The instance wrote a known failure to its serial console: from nodeadm, bootstrap.sh, cloud-init, " +
			"containerd, the kubelet, TLS, name resolution or the kernel. The last state counts: a step that " +
			"succeeded on a retry is not a failure. Consoles are sampled; other instances of the same group and " +
			"launch template are assumed to fail alike.",
		Fix: "It depends on the line, which the finding names.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshoot-unreachable-instance.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
		},
	},
	{
		ID: checkid.InstanceCommonFactor, Title: "Failed launches share a property that joined ones do not have",
		Confidence: Likely, Circumstantial: true,
		Cause: "No other check explains the failed launches, and of the last week's launches far more fail with one " +
			"AMI, launch template version, version of the VPC CNI, nodegroup or NodePool, instance type, family, " +
			"architecture, capacity type, subnet or zone than without it. The test is exact (Fisher), corrected for " +
			"all values tried and for one check per launch over 90 days; for each value one launch per quarter of an " +
			"hour counts, and launches in the same hours must have joined without it (docs/factor.md). It shows " +
			"where to look, not how launches fail.",
		Fix: "Compare it with the launches that joined, go back to what they used, and read the console output of a " +
			"failed one.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-templates.html",
		},
	},
	{
		ID: checkid.InstanceUnowned, Title: "Nothing in the cluster launched the instance",
		Confidence: Possible, Predictive: true, Proof: ByPassing,
		Cause: "The instance has the cluster's tags, but no Auto Scaling group, nodegroup or NodeClaim of the " +
			"cluster owns it, and it is not a node. Anyone who can start an instance can set its tags: either " +
			"someone starts a node by hand or with another tool and it does not join, or it is not the cluster's. " +
			"Findings of other checks about it are listed as possible, without commands, which could open a network " +
			"for it.",
		Fix: "Find out who started it. If it should be a node, start it from an Auto Scaling group or a NodePool of " +
			"the cluster; otherwise remove the cluster's tag.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/worker.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html",
		},
	},
	{
		ID: checkid.InstanceClusterCA, Title: "User data trusts a certificate authority that is not in use",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		WatchedBy: []Detector{JoinCheck, Sweep},
		Cause: "The cluster has two certificate authorities (EKS rotates them): the one in use, listed first in its " +
			"bundle, and a successor or a retired one. User data with only the other one does not trust the " +
			"endpoint: the kubelet fails with x509: certificate signed by unknown authority. Before a successor is " +
			"activated the finding is advice: which launch templates, and nodes from them, will not trust the " +
			"endpoint then. EKS activates it before the old one expires.",
		Fix: "Put the cluster's whole bundle (certificateAuthority.data) into the user data, in a new version of the " +
			"launch template, and replace the instances: user data is read only at the first start.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/certificate-authority-rotation.html",
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_ActivateCertificateAuthority.html",
			"https://github.com/aws/containers-roadmap/issues/2638",
		},
	},
	{
		ID: checkid.LaunchInsufficientCapacity, Title: "EC2 has no capacity for the group's launches",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "EC2 has no free capacity of the instance type in the zone, or no Spot pool of the request has any. " +
			"Auto Scaling keeps retrying.",
		Fix: "Allow more instance types and zones: capacity is short by type and zone. If it must be this type, " +
			"wait, or reserve capacity.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html",
		},
	},
	{
		ID: checkid.LaunchCapacityReservation, Title: "The capacity reservation rejects the launch",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The launch template's capacity reservation or capacity block is used up, not active yet, over, or is " +
			"for another type, zone or platform. Unlike a shortage at EC2 this does not pass by itself, and other " +
			"zones do not help.",
		Fix: "Check the reservation: its state, dates, zone, type and free places. Make it larger, or use another " +
			"one, or none, in the launch template.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html",
		},
	},
	{
		ID: checkid.LaunchPlacement, Title: "The placement group or host rejects the launch",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The launch template's placement group, tenancy or host rejects the instance: a cluster placement " +
			"group is in one zone and the group launches into another, it does not support the type, a spread " +
			"placement group has its seven instances in the zone, or there is no room beside its other instances.",
		Fix: "Launch into one zone with a type that the placement group supports, all at once; or remove the " +
			"placement from the launch template.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/limitations-placement-groups.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
	},
	{
		ID: checkid.LaunchSpotLimit, Title: "The quota of Spot vCPUs is used up",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The account has a quota of vCPUs for Spot instances of each family and region, separate from " +
			"on-demand. Running Spot instances and open requests count. In new accounts, and for GPU families, it " +
			"can be zero.",
		Fix: "Request a higher quota in Service Quotas, or have the group launch on demand or types of another " +
			"family.",
		Links: []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html"},
	},
	{
		ID: checkid.LaunchSpotPrice, Title: "The Spot price is above the group's maximum price",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The launch template or the mixed instances policy sets a maximum price below today's Spot price.",
		Fix:   "Remove the maximum price: Spot then costs at most the on-demand price.",
		Links: []string{"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html"},
	},
	{
		ID: checkid.LaunchVCPULimit, Title: "The quota of on-demand vCPUs is used up",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The account has a quota of vCPUs for on-demand instances of each family and region. Everything in the " +
			"account counts. In new accounts, and for GPU families, it can be zero.",
		Fix: "Request a higher quota in Service Quotas, stop what is not needed, or have the group launch Spot or " +
			"types of another family.",
		Links: []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-resource-limits.html"},
	},
	{
		ID: checkid.LaunchFleetLimit, Title: "The quota of fleet requests is used up",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "Auto Scaling launches through EC2 Fleet, and the account has reached its quota of fleet requests. In " +
			"new accounts this quota can be zero until AWS has verified them: then nothing launches at all.",
		Fix: "Ask AWS Support to raise the quota, or to finish verifying the account. There is nothing to change in the " +
			"cluster.",
		Links: []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/fleet-quotas.html"},
	},
	{
		ID: checkid.LaunchSubnetFull, Title: "The subnet has no free address for another instance",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.KarpenterNodeclassNotReady, checkid.SpotBurstExceedsSubnet, checkid.IPLeakedInterfaces,
		},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, Shortage: true,
		WatchedBy: []Detector{JoinCheck, Sweep}, Breaks: Launching, CoversToo: Groups,
		Cause: "EC2 found no free address in the subnet when the group launched into it. ip/subnet-exhausted then " +
			"shows how many are free and how many a node needs.",
		Fix: "Free addresses (leaked network interfaces, unused load balancers), have the group launch into another " +
			"subnet, or add a secondary CIDR with new subnets.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html"},
	},
	{
		ID: checkid.LaunchKMSKey, Title: "The KMS key of a volume cannot be used to launch",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "A volume of the instance is encrypted (by the launch template, the AMI or the account's default) " +
			"with a KMS key that is disabled, pending deletion, deleted, or whose policy does not allow the " +
			"launching role to use it and create grants. The instance dies seconds after its start. " +
			"Client.InternalError nearly always means this.",
		Fix: "Enable the key, and give the launching role kms:CreateGrant, Decrypt, DescribeKey, Encrypt, " +
			"GenerateDataKey* and ReEncrypt* in the key's policy. Managed nodegroups and Auto Scaling launch with " +
			"AWSServiceRoleForAutoScaling.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
	},
	{
		ID: checkid.LaunchTemplate, Title: "The launch template is invalid or refers to something missing",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The launch template (or the version that the group uses) was deleted, or refers to something that " +
			"does not exist or is incompatible: a key pair, a snapshot, a volume smaller than its snapshot, a device " +
			"name, a subnet.",
		Fix: "Create a corrected version of the launch template and use it in the group; a managed nodegroup needs " +
			"an update for that.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-launch-template.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
	},
	{
		ID: checkid.LaunchAMI, Title: "The AMI cannot be used to launch",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The AMI does not exist (any more, or in this region) or is hidden by the account's Allowed AMIs, is " +
			"disabled or pending, is not shared with this account, is for a different processor architecture than " +
			"the instance type, or is a Marketplace product whose terms were not accepted.",
		Fix: "Use an AMI in the launch template that exists here and matches; look up EKS AMIs in SSM " +
			"(/aws/service/eks/optimized-ami/…). Share a private one with this account, accept the terms of a " +
			"Marketplace one.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-ami.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html",
		},
	},
	{
		ID: checkid.LaunchSecurityGroup, Title: "A security group of the launch template is missing or in another VPC",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The launch template names a security group that was deleted, or that is in another VPC than the " +
			"subnet.",
		Fix: "Name security groups of the group's VPC in a new version of the launch template, and use it in the " +
			"group.",
		Links: []string{"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html"},
	},
	{
		ID: checkid.LaunchProfile, Title: "The instance profile of the launch template does not exist",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The launch template names an instance profile that does not exist, or one created seconds ago that " +
			"EC2 does not know yet.",
		Fix:   "Create the instance profile with the node role in it, or name an existing one in the launch template.",
		Links: []string{"https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2_instance-profiles.html"},
	},
	{
		ID: checkid.LaunchUnauthorized, Title: "The launching role lacks a permission",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The role or user that launches lacks a permission, or a service control policy, a permissions " +
			"boundary or a resource policy forbids it. The message names it as a sentence, or encoded: with the " +
			"setting decodeDenied=on Rollcall decodes it and names the statement and the tag.",
		Fix: "Take the message from the scaling activity, decode it with aws sts decode-authorization-message, and " +
			"allow the action that it names; if it names an explicit deny, look for the service control policy.",
		Links: []string{"https://docs.aws.amazon.com/STS/latest/APIReference/API_DecodeAuthorizationMessage.html"},
	},
	{
		ID: checkid.LaunchUnsupportedType, Title: "The instance type cannot be launched in this zone or account",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The zone does not offer the instance type, the type is incompatible with an option of the launch " +
			"template (tenancy, placement group, Spot), or the account is on the Free plan, which launches only a " +
			"few types.",
		Fix: "Choose types that all zones of the group offer, or remove that zone's subnet from the group. On the " +
			"Free plan: a Free Tier type, or the paid plan.",
		Links: []string{"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html"},
	},
	{
		ID: checkid.LaunchVolumeLimit, Title: "The limit for EBS volumes is reached",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The account's storage or IOPS for EBS volumes of that kind are used up in this region: the instance " +
			"is terminated when its volume cannot be created.",
		Fix:   "Delete unused volumes, or request a higher quota in Service Quotas.",
		Links: []string{"https://docs.aws.amazon.com/ebs/latest/userguide/ebs-resource-quotas.html"},
	},
	{
		ID: checkid.LaunchThrottled, Title: "The account's API calls were throttled when the group launched",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "EC2 or Auto Scaling rejected calls because this account makes too many in this region. Auto Scaling " +
			"keeps retrying.",
		Fix: "Find the caller (CloudTrail, CloudWatch usage metrics of the API), and request a higher quota if it " +
			"must call that often.",
		Links: []string{"https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html"},
	},
	{
		ID: checkid.LaunchSuspended, Title: "The group's launch process is suspended",
		Confidence: Certain, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep}, Breaks: Launching,
		CoversToo: Groups,
		Cause: "The process Launch of the Auto Scaling group is suspended while the group wants more instances than " +
			"it has: nothing is launched, and no activity reports it. Someone or a deployment suspended it, or Auto " +
			"Scaling did, after launches had failed for a day.",
		Fix: "Resume the process once the reason for the suspension is over. If Auto Scaling suspended it, find out " +
			"why launches failed first.",
		Links: []string{"https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-suspend-resume-processes.html"},
	},
	{
		ID: checkid.LaunchAccountValidation, Title: "AWS has not validated the account for this region",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "AWS validates new accounts, and accounts that use a region for the first time, and blocks their " +
			"launches until that is done; or it has blocked the account.",
		Fix: "Wait for AWS's e-mail (minutes, up to four hours). After that, or if the account is blocked, contact " +
			"AWS Support.",
		Links: []string{"https://docs.aws.amazon.com/ec2/latest/devguide/errors-overview.html"},
	},
	{
		ID: checkid.LaunchServiceRole, Title: "A service-linked role that launches need is missing",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "Auto Scaling launches with AWSServiceRoleForAutoScaling, and Spot needs AWSServiceRoleForEC2Spot. " +
			"One of them was deleted, does not exist yet and the launching role is not allowed to create it, or is " +
			"seconds old.",
		Fix: "Create the role, and wait a minute for it to propagate. Auto Scaling then retries.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/autoscaling-service-linked-role.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/service-linked-roles-spot-instance-requests.html",
		},
	},
	{
		ID: checkid.LaunchUnclassified, Title: "A launch failed with an error that no check recognizes",
		// A hook gives up an instance that did not join: what kept it from joining is the cause.
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady, checkid.AnyJoinCause},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "Auto Scaling could not launch, and Rollcall does not recognize its status message, or there is none; " +
			"or a launch lifecycle hook abandoned the instance. The text is quoted as is.",
		Fix: "Read the quoted text. For an abandoned hook, find out what should have completed it.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/lifecycle-hooks.html",
		},
	},
	{
		ID: checkid.LaunchPolicyDenied, Title: "A policy above the launching role's own denies the launch",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The organization's service control policy or resource control policy, or a permissions boundary or " +
			"session policy, denies the launch although the launching role's own policy allows it. Usually it " +
			"requires a tag, a Region, an instance type or encrypted volumes that the launch template does not set. " +
			"An explicit deny whose policy AWS does not name counts too.",
		Fix: "Have that policy allow the launch, or launch as it requires. The encoded message names the statement " +
			"and its conditions: with the setting decodeDenied=on Rollcall decodes it; to do it by hand use aws sts " +
			"decode-authorization-message.",
		Links: []string{
			"https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html",
			"https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_scps.html",
		},
	},
	{
		ID: checkid.LaunchEncryptionControls, Title: "The VPC enforces encryption, which the instance type does not support",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The VPC's Encryption Controls are in the mode enforce, and the instance type does not encrypt " +
			"traffic between instances: EC2 does not allow its network interfaces in this VPC. Only types of the " +
			"Nitro System encrypt (EncryptionInTransitSupported).",
		Fix: "Launch types that encrypt in transit, or set the VPC's Encryption Controls to monitor.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-encryption-controls.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/data-protection.html#encryption-transit",
		},
	},
	{
		ID: checkid.LaunchImageNotAllowed, Title: "Allowed AMIs or the AMI's own rules reject the launch",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The account's Allowed AMIs are enabled, perhaps by a declarative policy of the organization, and do " +
			"not allow the AMI: EC2 hides it and reports that the image does not exist. Or the AMI has rules for " +
			"instance types that exclude the launched type. Running instances are not affected.",
		Fix: "Use an AMI that the criteria allow, or add the AMI's provider to them (EKS's own images have the " +
			"provider amazon). For the AMI's rules for types: launch a type that they allow.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-allowed-amis.html",
			"https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_declarative_syntax.html",
		},
	},
	{
		ID: checkid.LaunchIMDSEnforced, Title: "The account enforces IMDSv2, and the launch does not set it",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The account, or a declarative policy of its organization, enforces IMDSv2 (httpTokensEnforced): EC2 " +
			"rejects each launch in which neither the launch template, nor the account's metadata defaults, nor the " +
			"AMI set HttpTokens to required.",
		Fix: "Set HttpTokens to required in a new version of the launch template (metadataOptions in an EC2NodeClass), " +
			"with a hop limit of 2 where pods read the metadata; or set the account's default to required.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html#launching-an-imdsv1-enabled-instance-fails",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-IMDS-new-instances.html",
		},
	},
	{
		ID: checkid.NodegroupHealth, Title: "EKS reports a health issue of a nodegroup",
		Confidence: Certain,
		// What is nearer to the cause of an issue than EKS's word for it.
		After: []checkid.ID{
			checkid.AnyJoinCause, checkid.AnyFailedLaunch, checkid.LaunchSuspended,
			checkid.IPSubnetExhausted, checkid.SpotReclaimedBeforeJoin, checkid.ClusterHealth,
			checkid.AddonDegraded,
		},
		WatchedBy: []Detector{NodegroupWatch}, Breaks: Managed, Proof: ByPassing, CoversToo: Nodegroups,
		Cause: "EKS lists a health issue of a managed nodegroup. Every code has a class, a meaning and a next step " +
			"here. Instances that did not join, or could not be launched, are a symptom: once their own cause is " +
			"found, that is reported. EKS keeps some issues long after they are over; a later launch that joined, or " +
			"as many Ready nodes as desired, outweighs those.",
		Fix: "It depends on the issue's code, which the finding names.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html#troubleshoot-managed-node-groups",
		},
	},
	{
		ID: checkid.NodegroupStatus, Title: "A nodegroup failed, is degraded, or makes no progress",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.AnyJoinCause, checkid.AnyFailedLaunch, checkid.LaunchSuspended,
			checkid.IPSubnetExhausted, checkid.SpotReclaimedBeforeJoin, checkid.ClusterHealth,
			checkid.AddonDegraded, checkid.NodegroupHealth,
		},
		WatchedBy: []Detector{NodegroupWatch}, Breaks: Managed, Proof: ByPassing, CoversToo: Nodegroups,
		Cause: "The nodegroup is CREATE_FAILED, DELETE_FAILED or DEGRADED, or it is CREATING, UPDATING or DELETING " +
			"for too long: 40 minutes to create, 45 to delete, half an hour for a change of its settings, and for a " +
			"change of its version an hour and 15 minutes for each node. Where EKS lists an issue, that is reported " +
			"instead of the status. EKS clears a bad status late, or never: a later launch that joined, or as many " +
			"Ready nodes as desired, outweighs it.",
		Fix: "Read the nodegroup's updates and its group's scaling activities; a nodegroup that could not be created " +
			"has to be deleted and recreated.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html",
		},
	},
	{
		ID: checkid.NodegroupUpdateFailed, Title: "An update of a nodegroup failed",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.AnyJoinCause, checkid.AnyFailedLaunch, checkid.LaunchSuspended,
			checkid.IPSubnetExhausted, checkid.SpotReclaimedBeforeJoin, checkid.ClusterHealth,
			checkid.AddonDegraded,
		},
		WatchedBy: []Detector{NodegroupWatch}, Breaks: Managed, Proof: ByPassing, CoversToo: Nodegroups,
		Cause: "The last update of the nodegroup's settings or version ended Failed, and none has succeeded or " +
			"started since: the nodegroup is not as intended, or half of its nodes are not. Every error code has a " +
			"class, a meaning and a next step here. A canceled update is not a fault, and a failed one is no longer " +
			"reported after a week.",
		Fix: "It depends on the error's code, which the finding names; then update again.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_ErrorDetail.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html",
		},
	},
	{
		ID: checkid.ClusterHealth, Title: "The cluster is not active, or EKS reports an issue",
		Confidence: Certain, WatchedBy: []Detector{JoinCheck, NodegroupWatch}, Breaks: Managed, Proof: ByPassing,
		Cause: "The cluster's status is not ACTIVE (an update in progress is fine), or EKS reports a health issue: a " +
			"subnet, security group, role or key of the control plane is missing, or its version is out of support.",
		Fix: "It depends on the issue's code, which the finding names.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html#cluster-health-status",
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_ClusterIssue.html",
		},
	},
	{
		ID: checkid.AddonDegraded, Title: "An add-on that nodes or volumes need is not healthy",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.AnyJoinCause, checkid.IPSubnetExhausted, checkid.IAMCNIRolePolicies, checkid.CNIVersion,
			checkid.CNIIPv6, checkid.NodeCNINotReady, checkid.InstanceConsoleError, checkid.ClusterHealth,
		},
		WatchedBy: []Detector{JoinCheck, NodegroupWatch}, Breaks: Managed, Proof: ByPassing, CoversToo: Addons,
		Cause: "EKS reports the add-on vpc-cni, kube-proxy, coredns, a CSI driver or the Pod Identity agent as " +
			"degraded, failed or with issues. Without the first two a node does not become Ready. An add-on without " +
			"pods in a cluster without nodes is a symptom of that.",
		Fix: "It depends on the issue's code, which the finding names.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/eks-add-ons.html",
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_AddonIssue.html",
		},
	},
	{
		ID: checkid.NodeNotRegistered, Title: "No node registered in time",
		Confidence: Symptom,
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable,
			checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP, checkid.EndpointMissing,
			checkid.InstanceEndedEarly,
		},
		Cause: "The instance is running, its time to join is over, and no node has its id. This is a symptom: the " +
			"kubelet did not start, did not reach the cluster API, or was rejected.",
		Fix: "Fix the cause that another check names. If none does, read the instance's console output and the " +
			"kubelet's log (over SSM or SSH), and check the node role's access entry.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://repost.aws/knowledge-center/eks-worker-nodes-cluster",
		},
	},
	{
		ID: checkid.NodeNotReady, Title: "The node registered and is not Ready",
		Confidence: Symptom,
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable,
			checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP, checkid.EndpointMissing,
			checkid.IPSubnetExhausted, checkid.InstanceEndedEarly,
		},
		Starved: true,
		Cause: "The kubelet reached the cluster, and the node's Ready condition is not True, or the cloud provider's " +
			"taint node.cloudprovider.kubernetes.io/uninitialized is still on it. Usually the network plugin " +
			"(aws-node) did not start.",
		Fix: "Read the condition's message. If the network plugin is not ready: check the aws-node pod on that node, " +
			"its image pull, its permissions, and the free addresses of the subnet.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html"},
	},
	{
		ID: checkid.NodeCNINotReady, Title: "The network plugin does not start on the node",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.AnyJoinCause, checkid.SpotBurstExceedsSubnet, checkid.IPLeakedInterfaces,
			checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.IAMCNIRolePolicies,
			checkid.IAMRolePolicies, checkid.IAMSTSEndpoint, checkid.CNIVersion, checkid.CNIIPv6,
			checkid.CNIEniconfig, checkid.CNIPodIdentityAgent, checkid.InstanceIMDS,
		},
		Starved: true,
		Cause: "The node registered, its network is not ready, and its aws-node pod fails: its image cannot be " +
			"pulled, or it exits with an error. A node without a network plugin runs no pods.",
		Fix: "Read why the pod is waiting or exited, and its log: the image pull needs ECR and S3, the plugin needs " +
			"EC2's API, its IAM actions and free addresses.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/troubleshooting.md",
		},
	},
	{
		ID: checkid.NodeUninitialized, Title: "The cloud provider has not initialized the node",
		Confidence: Likely,
		After:      []checkid.ID{checkid.DNSDHCPOptions, checkid.DNSHostnamesOff, checkid.InstanceClusterTag},
		Cause: "The node registered and keeps the taint node.cloudprovider.kubernetes.io/uninitialized: the " +
			"cluster's cloud controller finds no EC2 instance for it. Usually the node's name is not the instance's " +
			"private DNS name (DHCP options, a host name set in user data), or its provider id is missing.",
		Fix: "Make the node's name the instance's private DNS name: DHCP options with one domain name or none, and " +
			"no custom host name. Then replace it.",
		Links: []string{
			"https://kubernetes.io/docs/reference/labels-annotations-taints/#node-cloudprovider-kubernetes-io-uninitialized",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
		},
	},
	{
		ID: checkid.NodeCSRPending, Title: "The kubelet's serving certificate is not approved",
		Confidence: Possible, After: []checkid.ID{checkid.IAMAccessDuplicateMapping},
		Cause: "The kubelet requested a serving certificate and nothing approved it. The node still joins; logs, " +
			"exec and webhooks to it fail with a TLS error. EKS approves only requests that a node makes under its " +
			"own name: a node role that is mapped twice uses another one.",
		Fix: "Map the node role once, with the user name system:node:{{EC2PrivateDNSName}}. Pending requests can be " +
			"approved by hand once, after a review: the requestor, the names and addresses (common name, SANs) and " +
			"the usages.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cert-signing.html",
			"https://github.com/awslabs/amazon-eks-ami/issues/610",
		},
	},
	{
		ID: checkid.NodeNotInitialized, Title: "The node is Ready, but Karpenter does not mark it initialized",
		Confidence: Likely, After: []checkid.ID{checkid.NodeUninitialized, checkid.IPBranchInterfaces},
		Predictive: true, WatchedBy: []Detector{JoinCheck, Sweep}, Breaks: Pods, Proof: ByPassing,
		CoversToo: NodePools,
		Cause: "The node of a NodeClaim registered and is Ready, and Karpenter has been waiting for it for minutes: " +
			"a startup taint that nothing removes keeps pods off it, or a requested resource (a GPU, a pod network " +
			"interface) is missing because its device plugin or its driver does not run. Karpenter neither replaces " +
			"nor consolidates such a node.",
		Fix: "Check what should remove the taint, or the DaemonSet of the device plugin: whether it runs on this " +
			"node, and its log.",
		Links: []string{
			"https://karpenter.sh/docs/concepts/nodepools/#spectemplatespecstartuptaints",
			"https://karpenter.sh/docs/concepts/nodeclaims/",
		},
	},
	{
		ID: checkid.IPSubnetExhausted, Title: "The subnet has too few free addresses for one more node",
		Confidence: Certain,
		After:      []checkid.ID{checkid.SpotBurstExceedsSubnet, checkid.IPLeakedInterfaces, checkid.IPBranchLeaked},
		// A failed launch that names the subnet is the cause; the arithmetic is
		// here.
		Adds:     []checkid.ID{checkid.LaunchSubnetFull},
		AtLaunch: true, Shortage: true, WatchedBy: []Detector{JoinCheck, SubnetWatch}, Breaks: Addresses,
		Cause: "A launch takes one address; the VPC CNI then fills the first interface with addresses for pods, and " +
			"keeps a second interface in reserve (with prefix delegation, whole /28 blocks). With no free address " +
			"nothing launches, and the pods of nodes that did get none: such a node registers, and may be Ready. " +
			"With fewer than the first interface holds, that is likely. The settings of aws-node are read where the " +
			"cluster allows it: warm targets, prefix delegation, and with custom networking the pods' own subnets, " +
			"which are judged too. Otherwise its defaults are assumed. With prefix delegation a reservation may hold " +
			"blocks that the count of free addresses leaves out.",
		Fix: "Free addresses (leaked network interfaces, unused load balancers), launch into another subnet, or add a " +
			"secondary CIDR with new subnets. Lower WARM_ENI_TARGET or set WARM_IP_TARGET where nodes hold more than " +
			"they use.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/eni-and-ip-target.md",
		},
	},
	{
		ID: checkid.IPScaleOutWillNotFit, Title: "The groups of the subnet cannot all grow to their maximum",
		Confidence: Likely,
		After:      []checkid.ID{checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.IPLeakedInterfaces},
		AtLaunch:   true, Predictive: true, WatchedBy: []Detector{SubnetWatch}, Breaks: Addresses,
		Proof: ByPassingUnmet, CoversToo: NodePools,
		// Leaks only say what explains it: where all would fit without them.
		Cause: "If each group that shares a subnet launches up to its maximum, its new nodes need more addresses at " +
			"start than the subnet has free: by type, interfaces and addresses, with the settings of aws-node, in " +
			"the nodes' subnets and the pods'. A group with several zones counts with its even share, one with " +
			"several types with the smallest, nodes that are starting now with what they still need. Nothing has " +
			"failed yet, and many maxima are set high and never reached: it is advice as long as the need is far " +
			"off. It is likely once the groups' current demand does not fit, or there is room for fewer than two " +
			"nodes of a group that has some. A NodePool counts up to its limits on nodes and CPUs, as if its nodes " +
			"were of the largest type that it names or runs: in its subnet if it has one, else in all of them " +
			"together. A NodePool without a limit and other clusters' groups are not counted.",
		Fix: "Give the groups larger subnets or more of them (a secondary CIDR), lower their maximum to what fits, " +
			"or reserve fewer addresses per node (WARM_IP_TARGET and MINIMUM_IP_TARGET, smaller types).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/eni-and-ip-target.md",
		},
	},
	{
		ID: checkid.IPFragmented, Title: "The subnet has no whole /28 block free for a prefix",
		Confidence: Certain,
		// A subnet with too few addresses for a block has that fault, not this one.
		After:    []checkid.ID{checkid.IPSubnetExhausted},
		AtLaunch: true, WatchedBy: []Detector{SubnetWatch}, Breaks: Addresses, Proof: ByPassingUnmet,
		Cause: "With prefix delegation the VPC CNI takes addresses for pods in whole aligned /28 blocks. EC2 gives a " +
			"block only if none of its 16 addresses is in use, however many are free in all: single addresses " +
			"scattered over the subnet break all blocks. The CNI then logs InsufficientCidrBlocks, waits two minutes " +
			"and retries; new nodes have no address for pods. Blocks are counted from all network interfaces of the " +
			"VPC, their prefixes, the CIDR reservations and the addresses that AWS keeps. It is certain where there " +
			"is none; less so where the plugin can create interfaces in other subnets too, or the types may not " +
			"support prefixes.",
		Fix: "Reserve a range for prefixes (a subnet CIDR reservation of type prefix: freed addresses in it are not " +
			"given out singly again), then drain the nodes whose addresses break its blocks, one by one. Or give " +
			"pods a new subnet.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses-procedure.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/subnet-cidr-reservation.html",
		},
	},
	{
		ID: checkid.IPRunway, Title: "The subnet runs out of addresses within the forecast horizon",
		Confidence: Likely, After: []checkid.ID{checkid.IPSubnetExhausted, checkid.IPLeakedInterfaces},
		Predictive: true, WatchedBy: []Detector{SubnetWatch}, Breaks: Addresses, Proof: ByPassingUnmet,
		Cause: "Rollcall samples a subnet's free addresses every five minutes. A decline counts if it is steady (one " +
			"deployment or spike is not), continues, is deeper than what came back on other days at the same time, " +
			"and has lasted long enough for the forecast: minutes forecast minutes, days a day. Launches that are " +
			"wanted but not made yet are subtracted first. It is likely where the decline is one of hours or days " +
			"and the earliest and latest time are both within the horizon (24 hours unless set), else possible.",
		Fix: "Find what uses the addresses: leaked network interfaces, a growing group, pods that are not deleted. " +
			"Free them, have groups launch into another subnet, or add a secondary CIDR with new subnets.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html",
		},
	},
	{
		ID: checkid.IPLeakedInterfaces, Title: "Network interfaces of terminated nodes hold addresses",
		Confidence: Certain, AtLaunch: true, Predictive: true, WatchedBy: []Detector{JoinCheck, SubnetWatch},
		Breaks: Addresses, Proof: ByPassingUnmet, CoversToo: Groups, Remedy: optin.DeleteLeakedInterfaces,
		Cause: "The VPC CNI creates more interfaces for pods. If an instance ends while one of them is being " +
			"attached or detached, nothing deletes it: it stays, available, and holds all its addresses. Counted are " +
			"interfaces whose description and tag name one instance that EC2 reports as terminated, or does not " +
			"know, created more than five minutes ago; not those of other clusters, or of instances that are running " +
			"or only stopped. It is certain where freeing them would allow a node to start that cannot now; likely " +
			"where they hold more than 50 addresses or a tenth of the subnet; else advice.",
		Fix: "Have eni-cleanup delete them (setting cleanup), or delete them by hand. ip/leak-cause explains why " +
			"they remain.",
		Links: []string{
			"https://github.com/aws/amazon-vpc-cni-k8s/issues/608",
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
		},
	},
	{
		ID: checkid.IPLeakCause, Title: "Settings leave interfaces of terminated nodes behind",
		Confidence: Likely, Adds: []checkid.ID{checkid.IPLeakedInterfaces}, AtLaunch: true, Predictive: true,
		WatchedBy: []Detector{SubnetWatch}, Breaks: Addresses, Proof: ByPassingUnmet,
		Cause: "A launch template that keeps the primary interface leaves one for every instance that ends. aws-node " +
			"without CLUSTER_NAME creates interfaces that name no cluster, which cannot be deleted safely. The VPC " +
			"CNI deletes leaked interfaces once an hour, but not with DISABLE_LEAKED_ENI_CLEANUP, " +
			"DISABLE_NETWORK_RESOURCE_PROVISIONING or ENABLE_IMDS_ONLY_MODE, not in an IPv6 cluster, and not without " +
			"any node left to do it. As long as nothing has leaked it is advice.",
		Fix: "Set DeleteOnTermination of the primary interface in the launch template; set CLUSTER_NAME on aws-node; " +
			"keep its cleanup enabled.",
		Links: []string{
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/README.md",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-launch-template.html",
		},
	},
	{
		ID: checkid.IPBranchInterfaces, Title: "Pods with their own security groups get no branch interface",
		Confidence: Likely,
		After:      []checkid.ID{checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.IPLeakedInterfaces},
		Predictive: true, WatchedBy: []Detector{JoinCheck, Sweep}, Breaks: Pods, Proof: ByPassing,
		CoversToo: NodePools,
		Cause: "Pods that a SecurityGroupPolicy selects have been waiting for a branch interface for minutes. Either " +
			"no node has a trunk interface (aws-node does not request one, the cluster's role is not allowed to " +
			"create it, no instance type of the cluster supports one, or all interfaces of the nodes were already in " +
			"use), or the trunks carry as many as their types can, or the subnet of the trunk has no address left. " +
			"Nodes still join. Branch interfaces whose trunk no longer exists are counted: each holds an address " +
			"until the controller deletes it.",
		Fix: "Have aws-node request trunks (ENABLE_POD_ENI), attach AmazonEKSVPCResourceController to the cluster's " +
			"role, use instance types that carry more branch interfaces, or more nodes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/security-groups-for-pods.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/security-groups-pods-deployment.html",
			"https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/pkg/aws/vpc/limits.go",
		},
	},
	{
		ID: checkid.IPPodWithoutAddress, Title: "Pods on Ready nodes wait for an address",
		Confidence: Symptom,
		After: []checkid.ID{
			checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.IPLeakedInterfaces,
			checkid.InstanceMaxPods, checkid.InstanceIMDS, checkid.IPBranchLeaked,
			checkid.IAMCNIRolePolicies, checkid.NodeCNINotReady, checkid.CNIEniconfig,
			checkid.CNIPodIdentityAgent,
		},
		Starved: true, WatchedBy: []Detector{JoinCheck, Sweep}, Breaks: Pods, Proof: ByPassing,
		Cause: "Pods on a Ready node have had no sandbox for minutes: no address and no container. Usually the " +
			"network plugin has no address to give (FailedCreatePodSandBox: failed to assign an IP address to " +
			"container): the node runs more pods than its interfaces have addresses for, its subnet is full or has " +
			"no whole /28 block, or the plugin is not allowed to request more from EC2. Pods that wait for a volume, " +
			"for an image or for a branch interface are not counted.",
		Fix: "Read the events of one of the pods, then the log of aws-node on its node " +
			"(/var/log/aws-routed-eni/ipamd.log).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/troubleshooting.md",
		},
	},
	{
		ID: checkid.IPBranchLeaked, Title: "Branch interfaces without a trunk hold addresses",
		Confidence: Certain, AtLaunch: true, Predictive: true, WatchedBy: []Detector{JoinCheck, SubnetWatch},
		Breaks: Addresses, Proof: ByPassing,
		Cause: "Security groups for pods give each such pod a branch interface with an address of the subnet. When a " +
			"node ends, its trunk interface goes with it; the VPC resource controller deletes the branch interfaces " +
			"then, and those that it missed once an hour. Each one that stays holds an address. It is certain where " +
			"freeing them would allow a node to start, or a pod to get an address, that cannot now; likely where " +
			"they are more than 50 or a tenth of the subnet. Fewer are left to the controller's hourly run.",
		Fix: "Find out why the VPC resource controller does not delete them (the cluster's role, " +
			"AmazonEKSVPCResourceController), or delete them by hand once no pod uses them.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/security-groups-for-pods.html",
			"https://github.com/aws/amazon-vpc-resource-controller-k8s",
		},
	},
	{
		ID: checkid.SpotReclaimedBeforeJoin, Title: "EC2 reclaimed the instance before it became a node",
		Confidence: Advice, AtLaunch: true,
		Cause: "EC2 reclaimed the Spot capacity within the instance's time to join, or had warned that it would: by " +
			"its reason for the end, by an interruption warning, or by a rebalance recommendation after which the " +
			"group replaced the instance. Neither the node, the network nor the cluster is at fault, and no other " +
			"check flags that instance. One that had missed roll call for a cause that was found keeps that cause.",
		Fix: "Nothing needs repair. More instance types and zones in the nodegroup, and the allocation strategy " +
			"price-capacity-optimized, make it rarer; the Spot report names the pools.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-interruptions.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-capacity-rebalancing.html",
		},
	},
	{
		ID: checkid.SpotBurstExceedsSubnet, Title: "Launches within a few minutes need more addresses than were free",
		Confidence: Certain, After: []checkid.ID{checkid.IPLeakedInterfaces}, Shortage: true, CoversToo: Groups,
		Cause: "Each node takes a first interface full of addresses as it starts, and keeps a second one in reserve " +
			"(other settings of aws-node are read and counted). The launches that began together, by the types " +
			"actually started, need more than the subnet had before them: the last ones start, register, and get no " +
			"addresses for pods. It is certain only where the settings of aws-node were read and the subnet is " +
			"exhausted now, or EC2 refused a launch for that reason.",
		Fix: "Give the nodegroups larger subnets, or more of them; start fewer nodes at once; or reserve fewer " +
			"addresses per node at start (WARM_IP_TARGET and MINIMUM_IP_TARGET, prefix delegation).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/eni-and-ip-target.md",
		},
	},
	{
		ID: checkid.SpotPoolFailing, Title: "A Spot pool joins significantly less often than the others",
		Confidence: Certain, WatchedBy: []Detector{SpotReport}, Proof: ByPassing,
		Cause: "Launches of one instance type in one zone become nodes far less often than in the other pools of the " +
			"same nodegroups at the same time. The test is exact, one launch of each half hour counts, and it is " +
			"corrected for the number of pools and for hourly checks: no healthy pool is flagged in 99 of 100 " +
			"histories of 90 days (docs/spot.md). Launches that failed for a cause in their subnet, role or settings " +
			"do not count.",
		Fix: "Remove the type from the nodegroups that launch in that zone, or the zone from those that launch the " +
			"type. More types make up for it.",
		Links: []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html"},
	},
	{
		ID: checkid.SpotFewPools, Title: "Too few Spot pools to survive a shortage",
		Confidence: Advice, WatchedBy: []Detector{SpotReport}, CoversToo: NodePools,
		Cause: "A pool is an instance type in a zone. A nodegroup with fewer than 6 of them loses its capacity when " +
			"EC2 reclaims or refuses one. So does a NodePool that launches only Spot instances, if its requirements " +
			"name so few types, or families with sizes or CPUs; one that leaves more open has plenty.",
		Fix: "Add instance types of the same size, of other generations and families, and subnets in more zones. AWS " +
			"advises ten types or more.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html",
		},
	},
	{
		ID: checkid.SpotManyRefusals, Title: "EC2 often has no Spot capacity in some pools",
		Confidence: Advice, WatchedBy: []Detector{SpotReport},
		Cause: "EC2 refused at least 5 Spot launches of a nodegroup, and one in five or more, for lack of capacity " +
			"or at the set price.",
		Fix: "Remove the pools that refuse, and add types and zones. Set no maximum price: Spot then never costs " +
			"more than on-demand.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-capacity.html",
		},
	},
	{
		ID: checkid.SpotRebalanceChurn, Title: "Capacity rebalancing replaces nodes soon after they join",
		Confidence: Advice, WatchedBy: []Detector{SpotReport},
		Cause: "EC2 recommends a rebalance within 15 minutes of a node's joining, and capacity rebalancing replaces " +
			"it although EC2 never reclaims it: at least 5 nodes of a nodegroup, and one in ten or more. Managed " +
			"node groups with Spot capacity always rebalance.",
		Fix: "Give the nodegroup more types and zones, so that Auto Scaling can avoid pools that are about to run " +
			"short; use the allocation strategy price-capacity-optimized. A self-managed group can turn capacity " +
			"rebalancing off.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-capacity-rebalancing.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/rebalance-recommendations.html",
		},
	},
	{
		ID: checkid.ZoneVolumeStranded, Title: "A volume is in a zone where no node exists or can be launched",
		Confidence: Certain, After: []checkid.ID{checkid.ZoneImpaired, checkid.ZoneShifted}, Predictive: true,
		WatchedBy: []Detector{ZoneWatch}, Breaks: Pods, Proof: ByPassing,
		Cause: "An EBS volume can be attached only in its own zone. No node that can run the pod is in that zone, " +
			"and none of the cluster's groups or NodePools launches there: none has a subnet in it, or its launches " +
			"there fail, are suspended, or bring nodes that the pod cannot run on (selector, affinity, taints, " +
			"architecture). It is certain where a pod has been waiting for the volume for minutes, likely where a " +
			"claim holds it and no pod waits yet, or where Karpenter or Auto Mode could still bring a node (the " +
			"subnets of their classes could not be read), possible where Kubernetes could not be read, and advice " +
			"for a volume that no claim holds. A volume belongs to the cluster if its tags name this cluster and no " +
			"other, or if a PersistentVolume names it.",
		Fix: "Add the volume's zone to a nodegroup: AWS advises one nodegroup per zone for workloads with EBS " +
			"volumes. Or recreate the volume in another zone from a snapshot.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/cas.html",
			"https://docs.aws.amazon.com/ebs/latest/userguide/ebs-attaching-volume.html",
		},
	},
	{
		ID: checkid.ZoneNodegroupGap, Title: "The group has no node in a zone that has volumes",
		Confidence: Certain, After: []checkid.ID{checkid.ZoneImpaired, checkid.ZoneShifted}, Predictive: true,
		WatchedBy: []Detector{ZoneWatch}, Breaks: Pods, Proof: ByPassing, Remedy: optin.CoverZones,
		Cause: "The group launches in more zones than its desired count covers. An EBS volume is in a zone in which " +
			"neither this nor another group has a node that can run its pod; Auto Scaling chooses the zone of the " +
			"next node, and replacements can come to other zones than before. It is certain where a pod has been " +
			"waiting for the volume for minutes, likely where a claim holds it and no pod waits yet, or where " +
			"Karpenter or Auto Mode could still bring a node, possible where Kubernetes could not be read, and " +
			"advice for a volume that no claim holds.",
		Fix: "Set the desired count so that every zone of the group has a node: Auto Scaling launches where it has " +
			"fewest. Long term: create one nodegroup per zone, as AWS advises for workloads with EBS volumes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/cas.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-availability-zone-balanced.html",
		},
	},
	{
		ID: checkid.ZonePodUnschedulable, Title: "A pod waits for a node in the zone of its volume",
		Confidence: Likely, After: []checkid.ID{checkid.ZoneImpaired, checkid.ZoneShifted},
		Adds: []checkid.ID{checkid.ZoneNodegroupGap, checkid.ZoneVolumeStranded}, Predictive: true,
		WatchedBy: []Detector{ZoneWatch}, Breaks: Pods, Proof: ByPassing,
		Cause: "The scheduler has reported for minutes that nodes are in another zone than the pod's volume (volume " +
			"node affinity conflict). zone/nodegroup-gap and zone/volume-stranded explain which group could bring a " +
			"node, and why it does not. By itself it means a zone with a node that cannot run the pod: it is full, " +
			"cordoned or not Ready.",
		Fix: "Make room on a node in the volume's zone, or add one there.",
		Links: []string{
			"https://kubernetes.io/docs/concepts/storage/persistent-volumes/#node-affinity",
			"https://docs.aws.amazon.com/eks/latest/best-practices/cas.html",
		},
	},
	{
		ID: checkid.ZoneImpaired, Title: "The Availability Zone itself is impaired",
		Confidence: Certain, Predictive: true, WatchedBy: []Detector{JoinCheck, ZoneWatch}, Breaks: Pods,
		Proof: ByPassing,
		Cause: "EC2 reports the zone as impaired or unavailable: that is certain. Or launches of the last hour fail " +
			"there in several ways that no setting explains (EC2's own faults, failed status checks, nodes that " +
			"never came or were lost), hardly any becomes a node, and in the other zones of the same groups they do: " +
			"that is likely. Missing EC2 capacity alone does not make a zone impaired.",
		Fix: "Do not start with your configuration. Keep launches out of the zone until it recovers (see AWS " +
			"Health), and do not replace what still works there.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AvailabilityZone.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/zone-shift.html",
		},
	},
	{
		ID: checkid.ZoneShifted, Title: "A zonal shift keeps nodes and launches out of a zone",
		Confidence: Certain, After: []checkid.ID{checkid.ZoneImpaired}, Predictive: true, Optional: true,
		WatchedBy: []Detector{ZoneWatch}, Breaks: Pods, Proof: ByPassing,
		Cause: "A zonal shift or zonal autoshift of Amazon Application Recovery Controller moves the cluster, or an " +
			"Auto Scaling group, away from a zone. During a cluster's shift EKS cordons the nodes there, and managed " +
			"nodegroups, EKS Auto Mode and Karpenter (with its integration on) launch only in other zones; a group's " +
			"own shift keeps its launches out. It is certain where a pod waits that can run only in that zone and " +
			"nothing else can bring a node there, likely where a node could still come, where pods need the cordoned " +
			"nodes, where a group has no other zone, or where a claim holds a volume there and no pod waits yet, and " +
			"advice where nothing waits. A practice run is not reported while nothing waits for it.",
		Fix: "Keep the shift while the zone is impaired. After that, cancel the shift or let it expire. Raising a " +
			"desired count brings no node to the zone meanwhile.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/zone-shift.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-zonal-shift.html",
			"https://docs.aws.amazon.com/r53recovery/latest/dg/arc-zonal-autoshift.html",
		},
	},
	{
		ID: checkid.KarpenterNodeclassNotReady, Title: "A NodePool cannot launch nodes: its class is not ready",
		Confidence: Certain,
		// Why the cluster refuses the node role of a class.
		After: []checkid.ID{
			checkid.IAMAccessMissing, checkid.IAMAccessWrongType, checkid.IAMAccessWrongARN,
			checkid.IAMAccessStale, checkid.IAMAccessPolicyMissing,
		},
		WatchedBy: []Detector{JoinCheck, Sweep}, Breaks: Pods, Proof: ByPassing, CoversToo: NodePools,
		Cause: "The Karpenter EC2NodeClass or EKS Auto Mode NodeClass of a NodePool is not ready: no subnet, " +
			"security group, AMI, instance profile or placement group matches its selectors, or Karpenter is not " +
			"allowed to launch with it. Karpenter launches nothing for the NodePool, emits no event for it, and pods " +
			"wait.",
		Fix: "Correct the class's selectors, or tag the resources to match them. The condition of the class names " +
			"which; Karpenter retries.",
		Links: []string{
			"https://karpenter.sh/docs/concepts/nodeclasses/#statusconditions",
			"https://karpenter.sh/docs/troubleshooting/",
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html",
		},
	},
	{
		ID: checkid.KarpenterNodepoolLimit, Title: "A NodePool has reached its limit, and pods wait for its nodes",
		Confidence: Certain, WatchedBy: []Detector{JoinCheck, Sweep}, Breaks: Pods, Proof: ByPassing,
		CoversToo: NodePools,
		Cause: "A NodePool's nodes use all the CPU, memory or other resources that its limits allow, or what is left " +
			"is less than the next node needs; pods that its nodes could run are waiting, and no other NodePool can " +
			"run them. A limit reached while nothing waits is not a fault.",
		Fix: "Raise the limit, free resources on the NodePool's nodes, or let another NodePool run the pods.",
		Links: []string{
			"https://karpenter.sh/docs/concepts/nodepools/#speclimits",
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-pool.html",
		},
	},
	{
		ID: checkid.CNIIPv6, Title: "The network plugin is not set up for IPv6",
		Confidence: Certain, After: []checkid.ID{checkid.AnyJoinCause, checkid.CNIVersion},
		Cause: "In an IPv6 cluster the Amazon VPC CNI gives pods addresses from a prefix on the node's first " +
			"interface. It needs version 1.10.1, ENABLE_IPv6 and ENABLE_PREFIX_DELEGATION, neither ENABLE_IPv4 nor " +
			"custom networking beside them, and an instance of the Nitro system or bare metal. Without one of these " +
			"it exits at startup, and the node stays NotReady.",
		Fix: "Configure the DaemonSet aws-node, or the add-on vpc-cni, for IPv6, and choose instance types of the " +
			"Nitro system.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-ipv6.html",
			"https://github.com/aws/amazon-vpc-cni-k8s#enable_ipv6-v1100",
		},
	},
	{
		ID: checkid.CNIVersion, Title: "The network plugin's version is incompatible with Kubernetes",
		Confidence: Certain, After: []checkid.ID{checkid.AnyJoinCause},
		Cause: "The running version of the Amazon VPC CNI does not work with the version of Kubernetes, or with the " +
			"node's image: before 1.12 it crashes with Kubernetes 1.26 and later, 1.16.0 and 1.16.1 need Kubernetes " +
			"1.24, and nodes of Amazon Linux 2023 need 1.16.2. EKS does not update the plugin with the control " +
			"plane. The node registers and stays NotReady.",
		Fix: "Update the plugin, one minor version at a time.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions-extended.html",
		},
	},
	{
		ID: checkid.CNIEniconfig, Title: "Custom networking has no ENIConfig for the node",
		Confidence: Certain, After: []checkid.ID{checkid.AnyJoinCause}, Proof: ByPassingUnmet,
		Cause: "With custom networking (AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG) aws-node creates interfaces for pods in " +
			"the subnet of an ENIConfig. A label of the node names it (vpc.amazonaws.com/externalEniConfig), else " +
			"its annotation (ENI_CONFIG_ANNOTATION_DEF), else its label (ENI_CONFIG_LABEL_DEF), else it is the one " +
			"named default. If none has that name, or its subnet is not in the node's zone, no interface can be " +
			"created: the node stays NotReady, or its pods get no addresses.",
		Fix: "Create the ENIConfig that the node names, with a subnet of its zone, or name an existing one on the " +
			"node.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-custom-network-tutorial.html",
			"https://github.com/aws/amazon-vpc-cni-k8s#eni_config_label_def",
		},
	},
	{
		ID: checkid.CNIPodIdentityAgent, Title: "aws-node gets its role from Pod Identity, but no agent runs",
		Confidence: Certain, After: []checkid.ID{checkid.AnyJoinCause}, Proof: ByPassingUnmet,
		Cause: "The pod of aws-node was created with an EKS Pod Identity association: it requests credentials only " +
			"from the agent on its node (AWS_CONTAINER_CREDENTIALS_FULL_URI). The agent is the add-on " +
			"eks-pod-identity-agent; where it does not run the plugin has no credentials, its EC2 calls fail and it " +
			"exits. EKS Auto Mode has the agent built in.",
		Fix: "Install the add-on eks-pod-identity-agent, or find out why its pod does not run.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html",
		},
	},
}
