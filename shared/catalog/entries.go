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
		Cause: "The route table in force for the subnet (its own, else the VPC's main table) has no default route, and " +
			"the VPC has no endpoints for what a node needs. The instance runs, its Auto Scaling activity is " +
			"successful, the nodegroup is ACTIVE, and no node ever registers.",
		Fix: "Add 0.0.0.0/0 to a NAT gateway that works (or an internet gateway, where nodes have public addresses), or " +
			"associate the subnet with the table that its siblings use. Then replace the instances that did not join.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Route_Tables.html",
		},
	},
	{
		ID: checkid.RouteBlackhole, Title: "The winning route leads to something that is gone",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.RouteNATUnusable, checkid.RouteIGWDetached, checkid.RouteNATInstanceSourceCheck,
		},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The row that wins for a service that nodes need is a blackhole: its NAT gateway, interface, instance, " +
			"peering connection or attachment was deleted, and the row was left behind. So is a row of a transit " +
			"gateway's table.",
		Fix: "Lead the row to a target that exists: a NAT gateway that works, or the internet gateway that is attached " +
			"to this VPC.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/WorkWithRouteTables.html"},
	},
	{
		ID: checkid.RouteNATUnusable, Title: "The NAT gateway passes no traffic",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The NAT gateway that wins for what nodes need is pending, failed, deleting or deleted, or it is a private " +
			"one with nothing behind it that leads to the internet. A deleted gateway can be described for about an " +
			"hour.",
		Fix:   "Lead the route to a NAT gateway that works, or make a new one: a failed gateway cannot be repaired.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html"},
	},
	{
		ID: checkid.RouteNATNoInternet, Title: "The NAT gateway itself has no way to the internet",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The NAT gateway is available, but the route table of its own subnet has no route to an internet gateway: " +
			"it stands in a private subnet, its subnet lost its association, or its route leads back to itself.",
		Fix:   "Associate the NAT gateway's subnet with a table whose 0.0.0.0/0 leads to the VPC's internet gateway.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html"},
	},
	{
		ID: checkid.RouteIGWNoPublicIP, Title: "The route is an internet gateway, and nodes have no public address",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "An internet gateway only carries traffic of addresses that have a public one. The subnet does not assign " +
			"them, or the launch template turns that off.",
		Fix: "Let the subnet (or the launch template's network interface) assign public addresses, or lead 0.0.0.0/0 to " +
			"a NAT gateway. Then replace the instances: a running one is not given an address.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-igw-internet-access.html"},
	},
	{
		ID: checkid.RouteIGWDetached, Title: "The internet gateway is not attached to this VPC",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The route of the nodes to the internet, or of the NAT gateway that they use, leads to an internet gateway " +
			"that exists and is attached to no VPC, or to another one.",
		Fix:   "Attach the gateway to the VPC again, or lead the route to the gateway that is attached.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/working-with-igw.html"},
	},
	{
		ID: checkid.RouteNATInstanceSourceCheck, Title: "The NAT instance does not run, or may not forward",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The default route leads to an instance's network interface whose source/destination check is on, so that " +
			"EC2 drops every packet that is not its own; or the instance is stopped, or the interface is attached to " +
			"none.",
		Fix:   "Switch the source/destination check off, start the instance, or lead the route to a NAT gateway.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/work-with-nat-instances.html"},
	},
	{
		ID: checkid.RouteAPIPublicCIDR, Title: "The API's public endpoint does not admit the nodes' address",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable,
			checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP, checkid.RouteIGWDetached,
			checkid.RouteBlockedPublicAccess, checkid.RouteNATInstanceSourceCheck,
		},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "Nodes reach the cluster's API by its public endpoint only, and publicAccessCidrs leaves out the address " +
			"that their traffic leaves from: the NAT gateway's, or their own.",
		Fix: "Switch on private access, which keeps the nodes' traffic in the VPC, or add the address to " +
			"publicAccessCidrs.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_VpcConfigRequest.html",
		},
	},
	{
		ID: checkid.RouteAPIPrivateUnreachable, Title: "No route leads to the cluster's private endpoint in another VPC",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The cluster's API has only its private endpoint, whose addresses are in the cluster's VPC. The nodes are " +
			"in another VPC, and no route leads from there to the cluster's VPC, or none leads back.",
		Fix: "Connect the two VPCs by peering or a transit gateway, with routes both ways, or run the nodes in the " +
			"cluster's VPC.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html"},
	},
	{
		ID: checkid.RouteIPv6NoEgress, Title: "The subnet of an IPv6 cluster has no IPv6 range or no IPv6 route",
		Confidence: Certain, After: []checkid.ID{checkid.RouteNoEgress},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "Nodes of an IPv6 cluster take a /80 of their subnet's IPv6 range for pods, and reach what has IPv6 " +
			"addresses (the cluster's dual-stack endpoint among it) over IPv6. The subnet has no such range, or its " +
			"table has no ::/0 that leads out. IPv4 is needed too: EC2, ECR and STS answer on IPv4 unless told " +
			"otherwise.",
		Fix: "Give the subnet an IPv6 range, and lead ::/0 to an egress-only internet gateway (or the internet gateway, " +
			"in a public subnet).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-ipv6.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/egress-only-internet-gateway.html",
		},
	},
	{
		ID: checkid.RouteCrossZoneNAT, Title: "The NAT gateway is in another zone",
		Confidence: Advice, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Cause: "The subnet's default route is to a NAT gateway in another availability zone. It works, costs the transfer " +
			"between zones, and fails with the other zone.",
		Fix: "Give each zone a NAT gateway and each zone's subnets a route table that leads to it, or use a regional " +
			"NAT gateway.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html"},
	},
	{
		ID: checkid.RouteLeavesView, Title: "A path leads to what cannot be read",
		Confidence: Possible, AtLaunch: true, NeverFails: true,
		Cause: "The path to something that nodes need leads through a transit gateway or VPC of another account, a " +
			"firewall, an appliance, a VPN or a prefix list whose inside cannot be read, and no Ready node shows that " +
			"it works.",
		Fix:   "Look at the hop that is named, from the account that owns it. Where a permission is named, grant it.",
		Links: []string{"https://docs.aws.amazon.com/vpc/latest/reachability/what-is-reachability-analyzer.html"},
	},
	{
		ID: checkid.RouteBlockedPublicAccess, Title: "VPC Block Public Access drops the traffic to the internet",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The routes lead to an internet gateway or an egress-only one, and VPC Block Public Access drops the " +
			"traffic there. The account, or its organization by a declarative policy, has switched it on for the " +
			"Region, and no exclusion covers the subnet where the traffic leaves: the NAT gateway's, or the nodes' " +
			"own. block-bidirectional drops everything; block-ingress, and an exclusion that allows egress only, pass " +
			"NAT gateways and egress-only gateways and drop what nodes send by an internet gateway from public " +
			"addresses of their own.",
		Fix: "Exclude the subnet where the traffic leaves (the NAT gateway's with allow-egress), or give the VPC " +
			"endpoints for what nodes need and the cluster private access. A further route or NAT gateway does not " +
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
		Cause: "The subnet has no way to the internet, and the VPC has endpoints for some of what nodes need but not for " +
			"all: the cluster API (private access), EC2, ECR (api and dkr), S3 and STS, and EKS where the bootstrap " +
			"asks it about the cluster. An endpoint that is there and cannot be used is the matter of a check of its " +
			"own.",
		Fix: "Make the endpoints that are missing, with a security group that admits 443 from the nodes; for the " +
			"cluster API switch private access on.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
		},
	},
	{
		ID: checkid.EndpointSecurityGroup, Title: "An endpoint that takes a service's name does not admit the nodes",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Remedy: optin.OpenEndpointSecurityGroup,
		Cause: "An interface endpoint with private DNS takes its service's name for the whole VPC, whatever the routes " +
			"are, and its security groups do not admit 443 from the nodes. It is so even where a NAT gateway would " +
			"lead to the service.",
		Fix: "Admit 443 from the nodes' security group (or from the VPC) in the endpoint's.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
		},
	},
	{
		ID: checkid.EndpointPrivateDNSOff, Title: "An interface endpoint does not take its service's name",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable,
			checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP,
		},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The subnet has no way to the internet, and an interface endpoint for what nodes need has private DNS off: " +
			"the service's name leads to public addresses. Where a private hosted zone of one's own could stand in for " +
			"it, which cannot be seen, the finding is likely only.",
		Fix: "Switch private DNS on. It needs the VPC's DNS support and DNS hostnames.",
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
		Cause: "The subnet has no way to the internet, and the endpoint for what nodes need is pending, waits to be " +
			"accepted, was rejected, failed, or is being deleted.",
		Fix: "Wait while it is pending, accept it where it waits for that, and make it anew where it failed.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_VpcEndpoint.html",
		},
	},
	{
		ID: checkid.EndpointS3RouteMissing, Title: "The route table does not lead to the gateway endpoint for S3",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable,
			checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP,
		},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The subnet has no way to the internet, and the VPC's gateway endpoint for S3 is not in the subnet's route " +
			"table. ECR keeps image layers in S3: the node can log in to the registry and cannot pull.",
		Fix: "Add the route table to the gateway endpoint.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html",
			"https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html",
		},
	},
	{
		ID: checkid.EndpointPolicyDenies, Title: "An endpoint's policy denies what joining needs",
		Confidence: Likely, After: []checkid.ID{checkid.EndpointSecurityGroup}, AtLaunch: true,
		Cause: "The policy of an endpoint that wins allows less than a node needs: ec2:DescribeInstances for its name, " +
			"the ECR actions to pull images, s3:GetObject on the bucket in which ECR keeps layers, and " +
			"sts:AssumeRoleWithWebIdentity where the network plugin has a role of its own.",
		Fix: "Allow these actions in the endpoint's policy, for the node role or for everybody.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-access.html",
			"https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html",
		},
	},
	{
		ID: checkid.SGNodeEgress, Title: "The nodes' security groups let nothing out where nodes must go",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "No rule of the nodes' security groups admits 443 to what a node must reach on the path that wins: the " +
			"control plane, an endpoint or the internet. Where the VPC has name servers of its own, 53 to them counts " +
			"as well; security groups do not filter what goes to Amazon's own resolver.",
		Fix: "Add an outbound rule for 443 (and for 53 to name servers of your own) to a security group of the nodes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html",
		},
	},
	{
		ID: checkid.SGClusterIngress, Title: "The cluster's security groups do not admit the nodes",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The cluster's private endpoint wins, and no rule of the security groups on the control plane's interfaces " +
			"admits 443 from the nodes. It is so when nodes have security groups of their own and nobody let those in.",
		Fix: "Admit 443 from the nodes' security group in the cluster's, or give the nodes the cluster's group.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
		},
	},
	{
		ID: checkid.SGKubeletIngress, Title: "The nodes do not admit the control plane on 10250",
		Confidence: Possible, AtLaunch: true,
		Cause: "No rule of the nodes' security groups admits 10250 from the control plane's interfaces. Nodes join all " +
			"the same; logs, exec, metrics and port-forward do not work.",
		Fix:   "Admit 10250 from the cluster's security group in the nodes'.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html"},
	},
	{
		ID: checkid.SGEFASelfRule, Title: "The nodes' security groups do not let EFA traffic through",
		Confidence: Likely, AtLaunch: true,
		Cause: "An instance has an Elastic Fabric Adapter (interface type efa or efa-only), and none of its security " +
			"groups allows all traffic to and from itself, in both directions. A rule for addresses, 0.0.0.0/0 for " +
			"instance, does not let EFA traffic through. Nodes join all the same; MPI and NCCL do not get through " +
			"between them.",
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
		Cause: "The first rule that matches denies 443 at the edge of a subnet on the way to what a node must reach: out " +
			"of the node's own subnet, into and out of the NAT gateway's, or into the subnets where an endpoint or the " +
			"control plane answers. Within one subnet network ACLs judge nothing.",
		Fix: "Add a rule with a lower number that allows 443 in the direction that is denied.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-network-acls.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/nacl-rules.html",
		},
	},
	{
		ID: checkid.NACLReturn, Title: "A network ACL denies the answers on their way back",
		Confidence: Certain, After: []checkid.ID{checkid.NACLEgress}, Explains: []checkid.ID{checkid.AnyJoinCause},
		AtLaunch: true,
		Cause: "Network ACLs remember no connection: answers need a rule of their own, for the port that the client " +
			"chose. Linux chooses from 32768-60999, Windows from 49152-65535, a NAT gateway from 1024-65535. The first " +
			"rule that matches denies these ports at the edge of a subnet on the way back. Where it denies a part of " +
			"them, connections fail now and then.",
		Fix: "Add a rule with a lower number that allows the ports in the direction that is denied.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/nacl-ephemeral-ports.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-network-acls.html",
		},
	},
	{
		ID: checkid.DNSSupportOff, Title: "The VPC's DNS support is off",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "enableDnsSupport is off: Amazon's resolver does not answer in the VPC. Nodes that are given no other name " +
			"server resolve nothing, and with other ones the names of private endpoints lead nowhere. With name " +
			"servers of one's own the finding is likely only: they may know the private addresses.",
		Fix: "Switch enableDnsSupport on.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
		},
	},
	{
		ID: checkid.DNSHostnamesOff, Title: "The VPC's DNS hostnames are off where private names are in use",
		Confidence: Likely, After: []checkid.ID{checkid.DNSSupportOff}, AtLaunch: true,
		Cause: "enableDnsHostnames is off. The cluster's private endpoint and endpoints with private DNS need it: without " +
			"it the private hosted zones that answer for their names do not count.",
		Fix: "Switch enableDnsHostnames on.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html",
		},
	},
	{
		ID: checkid.DNSDHCPOptions, Title: "The VPC's DHCP options give nodes names that do not work",
		Confidence: Likely, After: []checkid.ID{checkid.DNSSupportOff}, AtLaunch: true,
		Cause: "The VPC's DHCP options name no name servers, or only ones of its own where a private endpoint must " +
			"resolve; they have no domain-name, or several in one value, so that the host's name is not the one that " +
			"EC2 gives; or the host's name is longer than 63 characters. Name servers of one's own work where they " +
			"forward to Amazon's resolver, which cannot be seen.",
		Fix: "Associate DHCP options with AmazonProvidedDNS and one domain-name, or let your name servers forward the " +
			"private names to Amazon's resolver. Nodes must be replaced, or renew their lease.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/VPC_DHCP_Options.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://github.com/awslabs/amazon-eks-ami/issues/1263",
		},
	},
	{
		ID: checkid.DNSFirewall, Title: "DNS Firewall blocks a name that nodes need",
		Confidence: Likely, After: []checkid.ID{checkid.DNSSupportOff}, Optional: true,
		Cause: "A rule group of Route 53 Resolver DNS Firewall is associated with the VPC, or with a Route 53 Profile of " +
			"the VPC, and one of its rules answers NXDOMAIN, nothing or another name for the cluster's endpoint, or " +
			"for EC2, ECR, S3 or STS. Typical is a walled garden whose list of allowed domains lacks one of them.",
		Fix: "Allow the names in a rule with a lower priority number than the rule that blocks them. Nodes try again by " +
			"themselves for some minutes; then replace the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall-overview.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/profiles.html",
		},
	},
	{
		ID: checkid.DNSResolverRule, Title: "A resolver rule forwards a name that nodes need",
		Confidence: Likely, After: []checkid.ID{checkid.DNSSupportOff, checkid.DNSFirewall}, Optional: true,
		Cause: "A rule of Route 53 Resolver that is associated with the VPC, or with a Route 53 Profile of the VPC, " +
			"forwards the name of the cluster's endpoint, or of EC2, ECR, S3 or STS, to name servers of one's own. " +
			"Nodes resolve it only as long as these are reachable and know it; for a private endpoint they must answer " +
			"with its private addresses. Whether they do cannot be seen: the finding is possible only where other " +
			"nodes of the VPC are Ready.",
		Fix: "Make a SYSTEM rule for the domain (amazonaws.com) and associate it with the VPC, or see that the name " +
			"servers answer. Then replace the instances.",
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
		Cause: "A private hosted zone is associated with the VPC, or with a Route 53 Profile of the VPC, and covers the " +
			"name of the cluster's endpoint, or of EC2, ECR, S3 or STS, without a record for it. Amazon's resolver " +
			"answers NXDOMAIN there and does not ask public DNS. Typical is a zone for amazonaws.com or a Region's " +
			"part of it, made for interface endpoints, that lacks one service.",
		Fix: "Add a record for the name, make the zone more specific, or disassociate it from the VPC. Nodes try again " +
			"by themselves for some minutes; then replace the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/hosted-zone-private-considerations.html",
			"https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/profiles.html",
		},
	},
	{
		ID: checkid.IAMProfileMissing, Title: "The instance has no role",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The instance was started without an instance profile, or its profile was deleted, holds no role, or holds " +
			"a role that was deleted. Without credentials the kubelet cannot prove to the cluster who it is.",
		Fix: "Put the node role into the instance profile, name the profile in the launch template, and replace the " +
			"instances.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html",
			"https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2_instance-profiles.html",
		},
	},
	{
		ID: checkid.IAMRolePolicies, Title: "The node role may not do what a node must",
		Confidence: Likely,
		Cause: "The policies of the node role, managed and inline, less what they deny and within the permissions " +
			"boundary, do not allow an action that a node calls before it is Ready: to learn its name " +
			"(ec2:DescribeInstances), to pull images from ECR, to ask for the cluster's address where its start script " +
			"does (eks:DescribeCluster), and what aws-node needs where it has no role of its own.",
		Fix: "Attach AmazonEKSWorkerNodePolicy and AmazonEC2ContainerRegistryPullOnly, and AmazonEKS_CNI_Policy unless " +
			"aws-node has a role of its own; or add the actions to a policy of one's own.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/security-iam-awsmanpol.html",
		},
	},
	{
		ID: checkid.IAMRoleTrust, Title: "EC2 may not assume the node role",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The trust policy of the node role does not let the service ec2.amazonaws.com call sts:AssumeRole. The " +
			"instance profile then gives no credentials, and the kubelet cannot prove to the cluster who it is.",
		Fix: "Set the role's trust policy to let ec2.amazonaws.com assume it.",
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
		Cause: "Where the cluster looks, by its authentication mode, there is nothing that makes nodes of the role: no " +
			"access entry of a node's type (API, API_AND_CONFIG_MAP), and no entry of mapRoles in kube-system/aws-auth " +
			"with the group system:nodes (CONFIG_MAP, API_AND_CONFIG_MAP). The API server answers the kubelet 401 " +
			"Unauthorized; EKS Auto Mode launches nothing for a NodeClass with such a role. EKS makes the entry with a " +
			"managed node group; people and tools that write aws-auth delete it.",
		Fix: "Make an access entry of type EC2_LINUX (EC2_WINDOWS, or EC2 for Auto Mode), or map the role in aws-auth " +
			"as system:node:{{EC2PrivateDNSName}} with the groups system:bootstrappers and system:nodes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
		},
	},
	{
		ID: checkid.IAMAccessWrongARN, Title: "The node role is mapped by an ARN that is not looked up",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, WatchedBy: []Detector{JoinCheck, Sweep},
		Proof: ByPassingUnmet, CoversToo: NodePools, Remedy: optin.CreateAccessEntry,
		Cause: "aws-auth maps the instance profile's ARN, a session's ARN, or the role's ARN with its path. The " +
			"authenticator looks for the role's ARN without a path, because STS names an assumed role without it. " +
			"Access entries are the other way round: there the path belongs to the ARN. EKS Auto Mode looks for the " +
			"entry of a NodeClass's role without its path all the same.",
		Fix: "Map the ARN arn:aws:iam::<account>:role/<name> in aws-auth, or make an access entry with the role's full " +
			"ARN.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting_iam.html",
		},
	},
	{
		ID: checkid.IAMSTSEndpoint, Title: "STS is not reached by the name that is called",
		Confidence: Likely, After: []checkid.ID{checkid.IAMSTSRegionDeactivated},
		Cause: "aws-node, with a role of its own, calls the global name sts.amazonaws.com, and the VPC has no internet: " +
			"its endpoint answers for the regional name only. Or the node says itself that it does not get through to " +
			"STS. Possible: the API server refuses the node's token although the role is admitted, which an account's " +
			"setting for STS tokens can cause.",
		Fix: "Set AWS_STS_REGIONAL_ENDPOINTS=regional on aws-node, or use a newer version of the plugin. For refused " +
			"tokens: IAM console, Account settings, Security Token Service.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/configure-sts-endpoint.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/issues/647",
			"https://github.com/eksctl-io/eksctl/issues/2558",
		},
	},
	{
		ID: checkid.IAMSTSRegionDeactivated, Title: "STS is switched off in this region",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause},
		Cause: "In the account's settings, STS is deactivated for the region of the cluster. Kubelets prove who they are " +
			"by STS, so the API server refuses every one of them. No API tells the setting: the evidence is what STS " +
			"answered to the node, to aws-node or to Rollcall itself (RegionDisabledException), or EKS's own health " +
			"issue.",
		Fix: "Activate STS for the region: IAM console, Account settings, Security Token Service. The nodes that wait " +
			"join by themselves.",
		Links: []string{
			"https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_enable-regions.html",
			"https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html",
		},
	},
	{
		ID: checkid.IAMAccessWrongType, Title: "The node role's access entry is not of a node's type",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		WatchedBy: []Detector{JoinCheck, Sweep}, Proof: ByPassingUnmet, CoversToo: NodePools,
		Cause: "The node role has an access entry of a type that makes no nodes, mostly STANDARD, which is the default. " +
			"It comes before what aws-auth says of the same role. The type of an entry cannot be changed.",
		Fix: "Delete the access entry and make it again with the type EC2_LINUX (EC2_WINDOWS for Windows, EC2 for EKS " +
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
		Cause: "mapRoles of kube-system/aws-auth names the node role more than once with different user names (the last " +
			"entry counts), or an access entry and aws-auth do (the access entry counts). Kubelets may then come as " +
			"somebody who is no node: they cannot register, or their certificates for logs and exec stay unsigned.",
		Fix: "Keep one mapping of the role, as system:node:{{EC2PrivateDNSName}}. Give people a role of their own.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/migrating-access-entries.html",
		},
	},
	{
		ID: checkid.IAMAWSAuthInvalid, Title: "The ConfigMap aws-auth cannot be read by the cluster",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause},
		Cause: "mapRoles of kube-system/aws-auth is no YAML, or no list. The authenticator then knows none of the roles " +
			"in it, and EKS refuses to make or delete node groups (AccessDenied, \"aws-auth ConfigMap in your cluster " +
			"is invalid\"). In the mode API_AND_CONFIG_MAP only roles without an access entry suffer.",
		Fix: "Write mapRoles again: a list of entries with rolearn, username and groups.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
			"https://github.com/aws/containers-roadmap/issues/1287",
		},
	},
	{
		ID: checkid.IAMCNIRolePolicies, Title: "aws-node may not do what it must",
		Confidence: Certain, After: []checkid.ID{checkid.IAMRolePolicies},
		Cause: "The role that aws-node really uses (that of its Pod Identity association, or its target role; else of its " +
			"service account, else of the node) does not allow what the plugin calls before it is ready, or was " +
			"deleted. The node then stays NotReady: its network plugin is not initialised. In an IPv6 cluster the " +
			"actions are others, newer versions of the plugin need more of them, and one that does not know the node's " +
			"instance type must ask EC2 about it (ec2:DescribeInstanceTypes).",
		Fix: "Attach AmazonEKS_CNI_Policy to that role, or bring one's own policy up to the version of the plugin.",
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
		Cause: "An access entry of type EC2 gives its role no rights by itself: those of EKS Auto Mode's nodes come with " +
			"the access policy AmazonEKSAutoNodePolicy, and the entry does not have it, or for some namespaces only. " +
			"EKS associates it with the role of its built-in NodeClass; who makes an entry for another role associates " +
			"it too.",
		Fix: "Associate AmazonEKSAutoNodePolicy with the access entry, with the scope cluster.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html",
		},
	},
	{
		ID: checkid.IAMAccessStale, Title: "The node role's access entry is of a role that was deleted",
		Confidence: Certain, After: []checkid.ID{checkid.IAMAccessWrongType},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Proof: ByPassingUnmet, CoversToo: NodePools,
		Cause: "The node role was deleted and created again under its name after its access entry was made. EKS keeps the " +
			"role's id with the entry, and the new role has another one: the entry admits nobody any more. EKS makes " +
			"the entry with a managed node group and does not remove it with the group's role.",
		Fix: "Delete the access entry and make it again, of the same type.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_AccessEntry.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
			"https://github.com/aws/containers-roadmap/issues/2631",
		},
	},
	{
		ID: checkid.InstanceForbiddenNodeLabel, Title: "The kubelet may not set one of the node's labels",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "A label in the node group, or in the user data's --node-labels, has a prefix of kubernetes.io or k8s.io " +
			"that Kubernetes keeps for itself. The kubelet does not start with it. Allowed are kubelet.kubernetes.io/, " +
			"node.kubernetes.io/ (and what ends in them) and a few names such as topology.kubernetes.io/zone.",
		Fix: "Take the label out of the node group or the user data, or give it a prefix of your own. A controller or " +
			"kubectl may set it once the node is there.",
		Links: []string{
			"https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction",
			"https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/",
		},
	},
	{
		ID: checkid.InstanceUserData, Title: "User data does not lead the instance to its cluster",
		Confidence: Certain, After: []checkid.ID{checkid.InstanceForbiddenNodeLabel},
		Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		Cause: "The user data has no bootstrap where EKS adds none (a custom image, a node group of one's own), or it is " +
			"for another kind of image, cannot be parsed, lacks a required setting, or names another cluster, " +
			"endpoint, certificate authority or service range. What a script works out when it runs is not compared, " +
			"and neither is what another image may hold.",
		Fix: "Put into a new version of the launch template what the image needs: a NodeConfig with the cluster's name, " +
			"endpoint, certificate authority and service range for Amazon Linux 2023, a call of bootstrap.sh for " +
			"Amazon Linux 2, TOML for Bottlerocket. Then replace the instances.",
		Links: []string{
			"https://awslabs.github.io/amazon-eks-ami/nodeadm/",
			"https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data",
			"https://docs.aws.amazon.com/eks/latest/userguide/launch-node-bottlerocket.html",
		},
	},
	{
		ID: checkid.InstanceIMDS, Title: "The instance's metadata service is off or out of reach",
		Confidence: Certain, AtLaunch: true, Proof: ByPassingUnmet,
		Cause: "The metadata service is off: the instance cannot read its user data, its identity or its role's " +
			"credentials, so nothing of the bootstrap works. Or tokens are required and may take one hop only: pods " +
			"that are not on the host's network get no answer, and with it no region and no credentials.",
		Fix: "Switch the metadata service on, with a hop limit of 2 where pods need it, in the launch template and on " +
			"the instances.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html",
			"https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html",
		},
	},
	{
		ID: checkid.InstanceClusterTag, Title: "The instance lacks the cluster's tag",
		Confidence: Likely, AtLaunch: true,
		Cause: "An instance outside of managed node groups has no tag kubernetes.io/cluster/<name>. By it the cloud " +
			"provider and the network plugin know the cluster's instances. EKS and Karpenter set it themselves; the " +
			"template of one's own Auto Scaling group must.",
		Fix: "Tag the Auto Scaling group with kubernetes.io/cluster/<name> = owned, passed on at launch, and the " +
			"instances that run.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/worker.html"},
	},
	{
		ID: checkid.InstanceMaxPods, Title: "More pods are allowed than the interfaces have addresses for",
		Confidence: Likely,
		// A node whose subnet has none to give has fewer than its interfaces could hold.
		After: []checkid.ID{checkid.IPSubnetExhausted, checkid.IPFragmented},
		Proof: ByPassingUnmet,
		Cause: "The kubelet's max pods is above what the network plugin can give addresses to: interfaces x (addresses of " +
			"each - 1) + 2, with prefixes 16 times as many addresses, with custom networking one interface less. Pods " +
			"beyond it get no address. It is likely where pods wait for one on a Ready node that has given out all it " +
			"can; it keeps no node from joining.",
		Fix: "Leave max pods to the image's own calculation, lower it, or switch prefix delegation on.",
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
		Cause: "A managed node group's launch template sets security groups. EKS then does not add the cluster's security " +
			"group to the nodes, and what that one allows between nodes and control plane has to be allowed by the " +
			"template's groups.",
		Fix:   "Add the cluster's security group to the launch template, or take the template's groups out.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-security-groups"},
	},
	{
		ID: checkid.InstanceOlderThanCluster, Title: "The instance was launched before its cluster was ready",
		Confidence: Likely, AtLaunch: true,
		Cause: "An instance outside of managed node groups is older than the cluster, or the cluster is still being made: " +
			"at its first start there was nothing to join, and the bootstrap does not try again.",
		Fix:   "Launch nodes once the cluster is ACTIVE, and replace those that came before.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html#worker-node-fail"},
	},
	{
		ID: checkid.InstanceEndedEarly, Title: "The instance ended before it was a node",
		Confidence: Certain,
		// What an instance died of while it started is a failed launch.
		After:    []checkid.ID{checkid.AnyFailedLaunch},
		AtLaunch: true, Proof: Impossible,
		Cause: "The instance was stopped or terminated before a node registered for it: its own operating system shut it " +
			"down, or somebody ended it. One that EC2 could not bring up is a failed launch (launch/…). What Spot " +
			"took back is spot/reclaimed-before-join. A scale-in or a replacement through its group is no fault, and " +
			"neither is the end of an instance that had been a node.",
		Fix: "It depends on the reason that EC2 gives for the state; the finding names it.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StateReason.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
	},
	{
		ID: checkid.InstanceStatusCheck, Title: "EC2's own checks say that the instance is impaired",
		Confidence: Likely, After: []checkid.ID{checkid.InstanceScheduledEvent, checkid.InstanceConsoleError},
		Cause: "EC2 checks each running instance every minute: the system status is of the host and its network, the " +
			"instance status of the operating system (it does not answer ARP). An instance that fails one hardly " +
			"becomes a node.",
		Fix: "System status: stop and start the instance, or let its group replace it: it then runs on another host. " +
			"Instance status: read the console output.",
		Links: []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-system-instance-status-check.html"},
	},
	{
		ID: checkid.InstanceScheduledEvent, Title: "EC2 has scheduled the instance's end, stop or reboot",
		Confidence: Likely,
		Cause: "EC2 plans to retire, stop or reboot the instance. It retires and stops those whose host is failing, and " +
			"such a host may not carry a node any more. A reboot or maintenance that is still to come explains nothing " +
			"yet.",
		Fix:   "Let the group replace the instance before the date.",
		Links: []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instances-status-check_sched.html"},
	},
	{
		ID: checkid.InstanceAMI, Title: "The image is out of support or for something else",
		Confidence: Likely, After: []checkid.ID{checkid.InstanceVersionSkew},
		Cause: "The image's architecture is not the instance type's, it is for a Kubernetes version that does not go with " +
			"the control plane's, or it is an EKS image with Amazon Linux 2, whose support ended on 26 November 2025. " +
			"An image that EC2 does not list (deregistered since, no longer shared, or hidden by the account's Allowed " +
			"AMIs) or that is disabled keeps no instance that was launched from it from joining: of it nothing is " +
			"known.",
		Fix: "Start a current EKS image of the control plane's version and the instance type's architecture.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-amis.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html",
		},
	},
	{
		ID: checkid.InstanceVersionSkew, Title: "The kubelet's version does not go with the control plane's",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause},
		Cause: "A kubelet may not be newer than the control plane, and at most three minor versions older (two, before " +
			"1.25). The version is the node's own, or the one in the name of an EKS image.",
		Fix: "Start an image of the control plane's version, or upgrade the control plane first.",
		Links: []string{
			"https://kubernetes.io/releases/version-skew-policy/",
			"https://docs.aws.amazon.com/eks/latest/userguide/update-managed-node-group.html",
		},
	},
	{
		ID: checkid.InstanceConsoleError, Title: "The console output tells why the node did not come up",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.AnyJoinCause, checkid.DNSHostnamesOff, checkid.DNSDHCPOptions, checkid.DNSFirewall,
			checkid.DNSResolverRule, checkid.DNSPrivateZone, checkid.IAMSTSEndpoint,
		},
		Cause: "The instance wrote a known failure to its serial console: of nodeadm, bootstrap.sh, cloud-init, " +
			"containerd, the kubelet, TLS, name resolution or the kernel. The last state counts: what was tried again " +
			"and went well later is none. Consoles are sampled; instances of the same group and launch template whose " +
			"console was not read are taken to fail alike.",
		Fix: "It depends on the line, which the finding names.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshoot-unreachable-instance.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
		},
	},
	{
		ID: checkid.InstanceCommonFactor, Title: "Those that failed share what those that joined do not have",
		Confidence: Likely, Circumstantial: true,
		Cause: "No other check explains the launches that failed, and of the last week's launches far more fail with one " +
			"AMI, launch template version, version of the VPC CNI, nodegroup or NodePool, instance type, family, " +
			"architecture, capacity type, subnet or zone than without it. The test is exact (Fisher), corrected for " +
			"all values that were tried and for a look at each launch of 90 days; of each value one launch of each " +
			"quarter of an hour counts, and launches of the same hours must have joined without it (docs/factor.md). " +
			"It tells what to look at, not how it fails.",
		Fix: "Compare it with what those that joined were launched with, go back to that, and read the console output " +
			"of one that failed.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-templates.html",
		},
	},
	{
		ID: checkid.InstanceUnowned, Title: "Nothing of the cluster launched the instance",
		Confidence: Possible, Predictive: true, Proof: ByPassing,
		Cause: "The instance carries the cluster's tags, and no Auto Scaling group, nodegroup or NodeClaim of the cluster " +
			"has it, nor is it a node. Anybody who can start an instance can set its tags: it is a node that somebody " +
			"starts by hand or with another tool and that does not join, or it is none of the cluster's. What other " +
			"checks find about it is listed as possible, without commands: they could open a network for it.",
		Fix: "Find out who started it. If it is to be a node, start it from an Auto Scaling group or a NodePool of the " +
			"cluster; else take the cluster's tag off.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/worker.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html",
		},
	},
	{
		ID: checkid.InstanceClusterCA, Title: "User data trusts a certificate authority that does not sign",
		Confidence: Certain, Explains: []checkid.ID{checkid.AnyJoinCause}, AtLaunch: true,
		WatchedBy: []Detector{JoinCheck, Sweep},
		Cause: "The cluster has two certificate authorities (EKS rotates them): the one that signs, which its bundle " +
			"lists first, and a successor or a retired one. User data with the other one alone does not trust the " +
			"endpoint: the kubelet ends with x509: certificate signed by unknown authority. Before a successor is " +
			"activated it is advice: which launch templates, and nodes from them, will not trust the endpoint then. " +
			"EKS activates it by itself before the old one expires.",
		Fix: "Put the cluster's whole bundle (certificateAuthority.data) into the user data, in a new version of the " +
			"launch template, and replace the instances: user data is read at the first start only.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/certificate-authority-rotation.html",
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_ActivateCertificateAuthority.html",
			"https://github.com/aws/containers-roadmap/issues/2638",
		},
	},
	{
		ID: checkid.LaunchInsufficientCapacity, Title: "EC2 has no capacity for what the group launches",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "EC2 has no free capacity of the instance type in the zone, or no Spot pool of the request has any. Auto " +
			"Scaling tries again by itself.",
		Fix: "Allow more instance types and zones: capacity is short by type and zone. Where it must be this type, " +
			"wait, or reserve capacity.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html",
		},
	},
	{
		ID: checkid.LaunchCapacityReservation, Title: "The capacity reservation does not take the launch",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The capacity reservation or capacity block that the launch template asks for is used up, not active yet, " +
			"over, or is for another type, zone or platform. It does not pass by itself as a shortage of EC2's does, " +
			"and other zones do not help.",
		Fix: "Look at the reservation: its state, its dates, its zone and type, and how many places are free. Make it " +
			"larger, or let the launch template ask for another one, or for none.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html",
		},
	},
	{
		ID: checkid.LaunchPlacement, Title: "The placement group or host does not take the launch",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The placement group, tenancy or host of the launch template does not take the instance: a cluster " +
			"placement group is in one zone and the group launches into another, it does not take the type, a spread " +
			"placement group has its seven instances in the zone, or there is no room beside its other instances.",
		Fix: "Let the group launch into one zone with a type that the placement group takes, all at once; or take the " +
			"placement out of the launch template.",
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
		Cause: "The account has a quota of vCPUs for Spot instances of each family and region, beside that for on-demand. " +
			"Running Spot instances and open requests count. In new accounts, and for GPU families, it can be zero.",
		Fix:   "Ask for a higher quota in Service Quotas, or let the group launch on demand or types of another family.",
		Links: []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html"},
	},
	{
		ID: checkid.LaunchSpotPrice, Title: "The Spot price is above the maximum that the group allows",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The launch template or the mixed instances policy sets a maximum price below today's Spot price.",
		Fix:   "Take the maximum price out: Spot then costs at most the on-demand price.",
		Links: []string{"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html"},
	},
	{
		ID: checkid.LaunchVCPULimit, Title: "The quota of on-demand vCPUs is used up",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The account has a quota of vCPUs for on-demand instances of each family and region. Everything in the " +
			"account counts. In new accounts, and for GPU families, it can be zero.",
		Fix: "Ask for a higher quota in Service Quotas, stop what is not needed, or let the group launch types of " +
			"another family or Spot.",
		Links: []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-resource-limits.html"},
	},
	{
		ID: checkid.LaunchFleetLimit, Title: "The quota of fleet requests is used up",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "Auto Scaling launches through EC2 Fleet, and the account may make no more fleet requests. In new accounts " +
			"this quota can be zero until AWS has verified them: then nothing launches at all.",
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
		Cause: "EC2 found no free address in the subnet when the group launched into it. ip/subnet-exhausted then says " +
			"how many are free and what a node takes.",
		Fix: "Free addresses (leaked network interfaces, unused load balancers), let the group launch into another " +
			"subnet, or add a secondary CIDR with new subnets.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html"},
	},
	{
		ID: checkid.LaunchKMSKey, Title: "The KMS key of a volume cannot be used to launch",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "A volume of the instance is encrypted (by the launch template, the AMI or the account's default) with a " +
			"KMS key that is disabled, pending deletion, gone, or whose policy does not let the launching role use it " +
			"and create grants. The instance dies seconds after its start. Client.InternalError nearly always means " +
			"this.",
		Fix: "Enable the key, and give the launching role kms:CreateGrant, Decrypt, DescribeKey, Encrypt, " +
			"GenerateDataKey* and ReEncrypt* in the key's policy. Managed nodegroups and Auto Scaling launch with " +
			"AWSServiceRoleForAutoScaling.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
	},
	{
		ID: checkid.LaunchTemplate, Title: "The launch template does not fit or names what does not exist",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The launch template (or the version that the group uses) is gone, or asks for something that does not " +
			"exist or does not go together: a key pair, a snapshot, a volume smaller than its snapshot, a device name, " +
			"a subnet.",
		Fix: "Make a corrected version of the launch template and let the group use it; a managed nodegroup takes it " +
			"through an update.",
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
			"disabled or pending, is not shared with this account, is for another processor architecture than the " +
			"instance type, or is a Marketplace product whose terms were not accepted.",
		Fix: "Let the launch template name an AMI that exists here and fits; look AMIs of EKS up in SSM " +
			"(/aws/service/eks/optimized-ami/…). Share a private one with this account, accept the terms of a " +
			"Marketplace one.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-ami.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html",
		},
	},
	{
		ID: checkid.LaunchSecurityGroup, Title: "A security group of the launch template does not exist or fit",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The launch template names a security group that was deleted, or one of another VPC than the subnet.",
		Fix: "Let a new version of the launch template name security groups of the group's VPC, and let the group use " +
			"it.",
		Links: []string{"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html"},
	},
	{
		ID: checkid.LaunchProfile, Title: "The instance profile of the launch template does not exist",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The launch template names an instance profile that does not exist, or that was made seconds ago and that " +
			"EC2 does not know yet.",
		Fix:   "Create the instance profile with the node role in it, or let the launch template name one that exists.",
		Links: []string{"https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2_instance-profiles.html"},
	},
	{
		ID: checkid.LaunchUnauthorized, Title: "Who launches may not",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The role or user that launches lacks a permission, or a service control policy, a permissions boundary or " +
			"a resource policy forbids it. Which stands in the message as a sentence, or encoded: with the setting " +
			"decodeDenied=on Rollcall decodes it and tells the statement and the tag.",
		Fix: "Take the message from the scaling activity, decode it with aws sts decode-authorization-message, and " +
			"allow the action that it names; where it names an explicit deny, look for the service control policy.",
		Links: []string{"https://docs.aws.amazon.com/STS/latest/APIReference/API_DecodeAuthorizationMessage.html"},
	},
	{
		ID: checkid.LaunchUnsupportedType, Title: "The instance type cannot be launched in this zone or account",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The zone does not offer the instance type, the type does not go with an option of the launch template " +
			"(tenancy, placement group, Spot), or the account is on the Free plan, which launches a few types only.",
		Fix: "Choose types that all zones of the group offer, or take the subnet of that zone out of the group. In the " +
			"free plan: a Free Tier type, or the paid plan.",
		Links: []string{"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html"},
	},
	{
		ID: checkid.LaunchVolumeLimit, Title: "The limit for EBS volumes is reached",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The account's storage or IOPS for EBS volumes of that kind are used up in this region: the instance is " +
			"ended when its volume cannot be made.",
		Fix:   "Delete volumes that nothing uses, or ask for a higher quota in Service Quotas.",
		Links: []string{"https://docs.aws.amazon.com/ebs/latest/userguide/ebs-resource-quotas.html"},
	},
	{
		ID: checkid.LaunchThrottled, Title: "Calls of the account were throttled when the group launched",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "EC2 or Auto Scaling refused calls because this account and region make too many. Auto Scaling tries again " +
			"by itself.",
		Fix: "Find what calls so often (CloudTrail, CloudWatch usage metrics of the API), and ask for a higher request " +
			"quota if it must.",
		Links: []string{"https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html"},
	},
	{
		ID: checkid.LaunchSuspended, Title: "The group's launch process is suspended",
		Confidence: Certain, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep}, Breaks: Launching,
		CoversToo: Groups,
		Cause: "The process Launch of the Auto Scaling group is suspended while the group wants more instances than it " +
			"has: nothing is launched, and no activity says so. Somebody or a deployment suspended it, or Auto Scaling " +
			"did, after launches had failed for a day.",
		Fix: "Resume the process once what it was suspended for is over. Where Auto Scaling suspended it, look for why " +
			"launches failed first.",
		Links: []string{"https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-suspend-resume-processes.html"},
	},
	{
		ID: checkid.LaunchAccountValidation, Title: "AWS has not validated the account for this region",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "AWS validates new accounts, and accounts that use a region for the first time, and lets them launch " +
			"nothing until that is done; or it has blocked the account.",
		Fix: "Wait for the mail (minutes, up to four hours). After that, or where the account is blocked, write to AWS " +
			"Support.",
		Links: []string{"https://docs.aws.amazon.com/ec2/latest/devguide/errors-overview.html"},
	},
	{
		ID: checkid.LaunchServiceRole, Title: "A service-linked role that launches need is missing",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "Auto Scaling launches with AWSServiceRoleForAutoScaling, and Spot needs AWSServiceRoleForEC2Spot. One of " +
			"them was deleted, does not exist yet and may not be created by who launches, or is seconds old.",
		Fix: "Create the role, and wait a minute for it to be known. Auto Scaling then tries again.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/autoscaling-service-linked-role.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/service-linked-roles-spot-instance-requests.html",
		},
	},
	{
		ID: checkid.LaunchUnclassified, Title: "A launch failed for a reason that is not known here",
		// A hook gives up an instance that did not join: what kept it from joining is the cause.
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady, checkid.AnyJoinCause},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "Auto Scaling could not launch, and its status message is none that Rollcall knows, or there is none; or a " +
			"launch lifecycle hook abandoned the instance. The text is shown as it is.",
		Fix: "Read the text. For an abandoned hook, find out what should have completed it.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/lifecycle-hooks.html",
		},
	},
	{
		ID: checkid.LaunchPolicyDenied, Title: "A policy above the launcher's own forbids the launch",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The organisation's service control policy or resource control policy, or a permissions boundary or " +
			"session policy, denies the launch although the launcher's own policy allows it. Mostly it wants a tag, a " +
			"Region, an instance type or encrypted volumes that the launch template does not give. An explicit deny " +
			"whose policy AWS does not name counts too.",
		Fix: "Let that policy allow the launch, or launch as it demands. The encoded message tells the statement and " +
			"its conditions: with the setting decodeDenied=on Rollcall decodes it; by hand aws sts " +
			"decode-authorization-message does.",
		Links: []string{
			"https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html",
			"https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_scps.html",
		},
	},
	{
		ID: checkid.LaunchEncryptionControls, Title: "The VPC enforces encryption and the instance type does not encrypt",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The VPC's Encryption Controls are in the mode enforce, and the instance type does not encrypt traffic " +
			"between instances: EC2 takes no network interface of it in this VPC. Only types of the Nitro System " +
			"encrypt (EncryptionInTransitSupported).",
		Fix: "Launch types that encrypt in transit, or set the VPC's Encryption Controls to monitor.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-encryption-controls.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/data-protection.html#encryption-transit",
		},
	},
	{
		ID: checkid.LaunchImageNotAllowed, Title: "Allowed AMIs or the AMI's own rules refuse the launch",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The account's Allowed AMIs are enabled, perhaps by a declarative policy of the organization, and do not " +
			"allow the AMI: EC2 hides it and says of a launch that the image does not exist. Or the AMI has rules of " +
			"instance types that exclude the type of the launch. Instances that run already are not affected.",
		Fix: "Use an AMI that the criteria allow, or add the AMI's provider to them (EKS's own images are of the " +
			"provider amazon). For the AMI's rules of types: launch a type that they allow.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-allowed-amis.html",
			"https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_declarative_syntax.html",
		},
	},
	{
		ID: checkid.LaunchIMDSEnforced, Title: "The account enforces IMDSv2 and the launch does not ask for it",
		Confidence: Certain, After: []checkid.ID{checkid.KarpenterNodeclassNotReady},
		Explains: []checkid.ID{checkid.AnyFailedLaunch}, AtLaunch: true, WatchedBy: []Detector{JoinCheck, Sweep},
		Breaks: Launching, CoversToo: Groups,
		Cause: "The account, or a declarative policy of its organization, enforces IMDSv2 (httpTokensEnforced): EC2 " +
			"refuses each launch in which neither the launch template, nor the account's metadata defaults, nor the " +
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
		Cause: "EKS lists a health issue of a managed nodegroup. All codes have a class, a meaning and a next step here. " +
			"That instances did not join, or could not be launched, is a symptom: where their own cause is found, that " +
			"is told. EKS keeps some issues long after they are over; a later launch that joined, or as many Ready " +
			"nodes as are wanted, outweighs those.",
		Fix: "It depends on the issue's code, which the finding names.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html#troubleshoot-managed-node-groups",
		},
	},
	{
		ID: checkid.NodegroupStatus, Title: "A nodegroup failed, is degraded, or does not get on",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.AnyJoinCause, checkid.AnyFailedLaunch, checkid.LaunchSuspended,
			checkid.IPSubnetExhausted, checkid.SpotReclaimedBeforeJoin, checkid.ClusterHealth,
			checkid.AddonDegraded, checkid.NodegroupHealth,
		},
		WatchedBy: []Detector{NodegroupWatch}, Breaks: Managed, Proof: ByPassing, CoversToo: Nodegroups,
		Cause: "The nodegroup is CREATE_FAILED, DELETE_FAILED or DEGRADED, or it is CREATING, UPDATING or DELETING for " +
			"longer than that takes: 40 minutes to be made, 45 to be deleted, half an hour for a change of its " +
			"settings, and for a change of its version an hour and 15 minutes for each node. Where EKS lists an issue, " +
			"that is told and not the status. EKS takes a bad status back late, or never: a later launch that joined, " +
			"or as many Ready nodes as are wanted, outweighs it.",
		Fix: "Read the nodegroup's updates and its group's scaling activities; a nodegroup that could not be made has " +
			"to be deleted and made again.",
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
		Cause: "The last update of the nodegroup's settings or version ended Failed, and none succeeded or goes on since: " +
			"the nodegroup is not as somebody meant it to be, or half of its nodes are. All error codes have a class, " +
			"a meaning and a next step here. An update that was cancelled is no fault, and after a week nobody waits " +
			"for one that failed.",
		Fix: "It depends on the error's code, which the finding names; then update again.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_ErrorDetail.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html",
		},
	},
	{
		ID: checkid.ClusterHealth, Title: "The cluster is not active, or EKS reports an issue",
		Confidence: Certain, WatchedBy: []Detector{JoinCheck, NodegroupWatch}, Breaks: Managed, Proof: ByPassing,
		Cause: "The cluster's status is not ACTIVE (an update under way is fine), or EKS reports a health issue: a " +
			"subnet, security group, role or key of the control plane is gone, or its version is out of support.",
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
		Cause: "EKS reports the add-on vpc-cni, kube-proxy, coredns, a CSI driver or the Pod Identity agent as degraded, " +
			"failed or with issues. Without the first two a node does not become Ready. An add-on that lacks pods in a " +
			"cluster without nodes is a symptom of that.",
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
		Cause: "The instance runs, its time to join is over, and no node has its id. It is a symptom: the kubelet did not " +
			"start, did not reach the cluster API, or was not let in.",
		Fix: "Fix the cause that another check names. Where none does, read the instance's console output and the " +
			"kubelet's log (over SSM or SSH), and look for the node role's access entry.",
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
			"taint node.cloudprovider.kubernetes.io/uninitialized is still on it. Mostly the network plugin (aws-node) " +
			"did not start.",
		Fix: "Read the condition's message. For a network plugin that is not ready: the aws-node pod on that node, its " +
			"image pull, its permissions, and the free addresses of the subnet.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html"},
	},
	{
		ID: checkid.NodeCNINotReady, Title: "The network plugin does not come up on the node",
		Confidence: Certain,
		After: []checkid.ID{
			checkid.AnyJoinCause, checkid.SpotBurstExceedsSubnet, checkid.IPLeakedInterfaces,
			checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.IAMCNIRolePolicies,
			checkid.IAMRolePolicies, checkid.IAMSTSEndpoint, checkid.CNIVersion, checkid.CNIIPv6,
			checkid.CNIEniconfig, checkid.CNIPodIdentityAgent, checkid.InstanceIMDS,
		},
		Starved: true,
		Cause: "The node registered, its network is not ready, and the pod aws-node on it fails: its image cannot be " +
			"pulled, or it ends with an error. A node without a network plugin takes no pods.",
		Fix: "Read why the pod waits or ended, and its log: the image pull needs ECR and S3, the plugin needs EC2's " +
			"API, its IAM actions and free addresses.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/troubleshooting.md",
		},
	},
	{
		ID: checkid.NodeUninitialized, Title: "The cloud provider has not initialised the node",
		Confidence: Likely,
		After:      []checkid.ID{checkid.DNSDHCPOptions, checkid.DNSHostnamesOff, checkid.InstanceClusterTag},
		Cause: "The node registered and keeps the taint node.cloudprovider.kubernetes.io/uninitialized: the cluster's " +
			"cloud controller finds no EC2 instance for it. Mostly the node's name is not the instance's private DNS " +
			"name (DHCP options, a host name that user data sets), or its provider id is missing.",
		Fix: "Let the node have the instance's private DNS name: DHCP options with one domain name or none, and no host " +
			"name of its own. Then replace it.",
		Links: []string{
			"https://kubernetes.io/docs/reference/labels-annotations-taints/#node-cloudprovider-kubernetes-io-uninitialized",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
		},
	},
	{
		ID: checkid.NodeCSRPending, Title: "The kubelet's serving certificate is not approved",
		Confidence: Possible, After: []checkid.ID{checkid.IAMAccessDuplicateMapping},
		Cause: "The kubelet asked for a serving certificate and nobody approved it. The node joins all the same; logs, " +
			"exec and webhooks to it fail with a TLS error. EKS approves only what a node asks for under its own name: " +
			"a node role that is mapped twice asks under another one.",
		Fix: "Map the node role once, with the user name system:node:{{EC2PrivateDNSName}}. What is pending can be " +
			"approved by hand once, after a look at it: who asks (requestor), for which names and addresses (common " +
			"name, SANs) and for what (usages).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cert-signing.html",
			"https://github.com/awslabs/amazon-eks-ami/issues/610",
		},
	},
	{
		ID: checkid.NodeNotInitialized, Title: "The node is Ready, and Karpenter does not call it initialized",
		Confidence: Likely, After: []checkid.ID{checkid.NodeUninitialized, checkid.IPBranchInterfaces},
		Predictive: true, WatchedBy: []Detector{JoinCheck, Sweep}, Breaks: Pods, Proof: ByPassing,
		CoversToo: NodePools,
		Cause: "The node of a NodeClaim registered and is Ready, and for minutes Karpenter waits for it: a startup taint " +
			"that nobody takes away keeps pods off it, or a resource that was asked for (a GPU, a pod network " +
			"interface) is not there, because its device plugin or its driver does not run. Karpenter neither replaces " +
			"nor consolidates such a node.",
		Fix: "Look at who is to take the taint away, or at the DaemonSet of the device plugin: whether it runs on this " +
			"node, and what its log says.",
		Links: []string{
			"https://karpenter.sh/docs/concepts/nodepools/#spectemplatespecstartuptaints",
			"https://karpenter.sh/docs/concepts/nodeclaims/",
		},
	},
	{
		ID: checkid.IPSubnetExhausted, Title: "The subnet has not enough free addresses for one more node",
		Confidence: Certain,
		After:      []checkid.ID{checkid.SpotBurstExceedsSubnet, checkid.IPLeakedInterfaces, checkid.IPBranchLeaked},
		// A failed launch that names the subnet is the cause; the arithmetic is
		// here.
		Adds:     []checkid.ID{checkid.LaunchSubnetFull},
		AtLaunch: true, Shortage: true, WatchedBy: []Detector{JoinCheck, SubnetWatch}, Breaks: Addresses,
		Cause: "A launch takes one address; the VPC CNI then fills the first interface with addresses for pods, and keeps " +
			"a second interface in reserve (with prefix delegation, whole /28 blocks). With no free address nothing " +
			"starts, and the pods of nodes that started get none: such a node registers, and may be Ready. With fewer " +
			"than the first interface holds, that is likely. The settings of aws-node are read where the cluster lets " +
			"them be read: warm targets, prefix delegation, and with custom networking the pods' own subnets, which " +
			"are judged too. Else its defaults are taken. With prefix delegation a reservation may hold blocks that " +
			"the count of free addresses leaves out.",
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
		Cause: "What the groups that share a subnet may still launch, each to its maximum, takes more addresses as it " +
			"starts than the subnet has free: by type, interfaces and addresses, with the settings of aws-node, in the " +
			"nodes' subnets and the pods'. Of a group with several zones its even share is counted, of several types " +
			"the smallest, of nodes that start now what they have still to take. Nothing has failed yet, and many " +
			"maxima are set high and never reached: it is advice as long as the need is far off. It is likely once " +
			"what groups want now does not fit, or there is room for less than two nodes of a group that has some. A " +
			"NodePool counts as far as its limits on nodes and CPUs go, as if its nodes were of the largest type that " +
			"it names or runs: in its subnet if it has one, else in all of them together. A NodePool without a limit " +
			"and other clusters' groups are not counted.",
		Fix: "Give the groups larger subnets or more of them (a secondary CIDR), lower their maximum to what fits, or " +
			"let nodes take fewer addresses (WARM_IP_TARGET and MINIMUM_IP_TARGET, smaller types).",
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
			"block only where none of its 16 addresses is in use, however many are free in all: single addresses " +
			"scattered over the subnet break all blocks. The CNI then logs InsufficientCidrBlocks, waits two minutes " +
			"and tries again; new nodes have no address for pods. Blocks are counted from all network interfaces of " +
			"the VPC, their prefixes, the CIDR reservations and the addresses that AWS keeps. That there is none is " +
			"certain; where the plugin may make interfaces in other subnets too, or the types may not take prefixes, " +
			"it is less than that.",
		Fix: "Reserve a range for prefixes (a subnet CIDR reservation of type prefix: addresses in it that come free " +
			"are not given out singly again), then drain the nodes whose addresses break its blocks, one by one. Or " +
			"give pods a new subnet.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses-procedure.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/subnet-cidr-reservation.html",
		},
	},
	{
		ID: checkid.IPRunway, Title: "The subnet runs out of addresses within the horizon",
		Confidence: Likely, After: []checkid.ID{checkid.IPSubnetExhausted, checkid.IPLeakedInterfaces},
		Predictive: true, WatchedBy: []Detector{SubnetWatch}, Breaks: Addresses, Proof: ByPassingUnmet,
		Cause: "Rollcall looks at what a subnet has left every five minutes. A fall counts that is even (one deployment " +
			"or spike is none), goes on, is deeper than what went back on other days at the same time, and has lasted " +
			"long enough for the time that is foretold: one of minutes foretells minutes, one of days a day. Launches " +
			"that are wanted and not made yet are taken off first. It is likely where the fall is one of hours or days " +
			"and the earliest and latest time both lie within the horizon (24 hours unless set), else possible.",
		Fix: "Find what takes the addresses: leaked network interfaces, a group that grows, pods that are not deleted. " +
			"Free them, let groups launch into another subnet, or add a secondary CIDR with new subnets.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html",
		},
	},
	{
		ID: checkid.IPLeakedInterfaces, Title: "Network interfaces of nodes that are gone hold addresses",
		Confidence: Certain, AtLaunch: true, Predictive: true, WatchedBy: []Detector{JoinCheck, SubnetWatch},
		Breaks: Addresses, Proof: ByPassingUnmet, CoversToo: Groups, Remedy: optin.DeleteLeakedInterfaces,
		Cause: "The VPC CNI makes further interfaces for pods. When an instance ends while one of them is being attached " +
			"or detached, nobody deletes it: it stays, available, and holds all its addresses. Counted are interfaces " +
			"whose description and tag name one instance that EC2 says is terminated, or does not know, made more than " +
			"five minutes ago; not those of other clusters, nor of instances that live or are only stopped. It is " +
			"certain where giving them back would let a node start that cannot now; likely where they hold more than " +
			"50 addresses or a tenth of the subnet; else advice.",
		Fix: "Let eni-cleanup delete them (setting cleanup), or delete them by hand. ip/leak-cause says why they are " +
			"left.",
		Links: []string{
			"https://github.com/aws/amazon-vpc-cni-k8s/issues/608",
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
		},
	},
	{
		ID: checkid.IPLeakCause, Title: "Settings let interfaces of ended nodes stay behind",
		Confidence: Likely, Adds: []checkid.ID{checkid.IPLeakedInterfaces}, AtLaunch: true, Predictive: true,
		WatchedBy: []Detector{SubnetWatch}, Breaks: Addresses, Proof: ByPassingUnmet,
		Cause: "A launch template that keeps the primary interface leaves it with every instance that ends. aws-node " +
			"without CLUSTER_NAME makes interfaces that name no cluster, which nobody may safely delete. The VPC CNI " +
			"deletes what dead nodes left behind once an hour, but not with DISABLE_LEAKED_ENI_CLEANUP, " +
			"DISABLE_NETWORK_RESOURCE_PROVISIONING or ENABLE_IMDS_ONLY_MODE, not in an IPv6 cluster, and not where no " +
			"node is left to do it. As long as nothing is left behind it is advice.",
		Fix: "Set DeleteOnTermination of the primary interface in the launch template; set CLUSTER_NAME on aws-node; " +
			"leave its cleanup on.",
		Links: []string{
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/README.md",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-launch-template.html",
		},
	},
	{
		ID: checkid.IPBranchInterfaces, Title: "Pods with security groups of their own get no branch interface",
		Confidence: Likely,
		After:      []checkid.ID{checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.IPLeakedInterfaces},
		Predictive: true, WatchedBy: []Detector{JoinCheck, Sweep}, Breaks: Pods, Proof: ByPassing,
		CoversToo: NodePools,
		Cause: "Pods that a SecurityGroupPolicy selects wait for minutes for a branch interface. Either no node has a " +
			"trunk interface (aws-node does not ask for one, the cluster's role may not make it, no instance type of " +
			"the cluster carries one, or all interfaces of the nodes were in use before), or the trunks carry as many " +
			"as their types can, or the subnet of the trunk has no address left. Nodes join all the same. Branch " +
			"interfaces whose trunk is gone are counted: they hold an address each until the controller takes them " +
			"away.",
		Fix: "Let aws-node ask for trunks (ENABLE_POD_ENI), attach AmazonEKSVPCResourceController to the cluster's " +
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
		Cause: "A Ready node took pods, and for minutes they have no sandbox: no address and no container. Mostly the " +
			"network plugin has no address to give (FailedCreatePodSandBox: failed to assign an IP address to " +
			"container): the node runs more pods than its interfaces have addresses for, its subnet is full or has no " +
			"whole /28 block, or the plugin may not ask EC2 for more. Pods that wait for a volume, for an image or for " +
			"a branch interface are not counted.",
		Fix: "Read the events of one of the pods, then the log of aws-node on its node " +
			"(/var/log/aws-routed-eni/ipamd.log).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/troubleshooting.md",
		},
	},
	{
		ID: checkid.IPBranchLeaked, Title: "Branch interfaces whose trunk is gone hold addresses",
		Confidence: Certain, AtLaunch: true, Predictive: true, WatchedBy: []Detector{JoinCheck, SubnetWatch},
		Breaks: Addresses, Proof: ByPassing,
		Cause: "Security groups for pods give each such pod a branch interface with an address of the subnet. When a node " +
			"ends, its trunk interface goes with it; the VPC resource controller deletes the branch interfaces then, " +
			"and those that it missed once an hour. Those that stay hold an address each. It is certain where giving " +
			"them back would let a node start, or a pod have an address, that cannot now; likely where they are more " +
			"than 50 or a tenth of the subnet. Fewer are the controller's work of the hour.",
		Fix: "See why the VPC resource controller does not delete them (the cluster's role, " +
			"AmazonEKSVPCResourceController), or delete them by hand once no pod uses them.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/security-groups-for-pods.html",
			"https://github.com/aws/amazon-vpc-resource-controller-k8s",
		},
	},
	{
		ID: checkid.SpotReclaimedBeforeJoin, Title: "EC2 took the instance back before it was a node",
		Confidence: Advice, AtLaunch: true,
		Cause: "EC2 took the Spot capacity back within the instance's time to join, or had warned that it would: by its " +
			"reason for the end, by an interruption warning, or by a rebalance recommendation after which the group " +
			"replaced the instance. It is no fault of the node, of the network or of the cluster, and no other check " +
			"accuses that instance. One that had missed roll call for a cause that was found stays that cause's.",
		Fix: "Nothing is to be repaired. More instance types and zones in the nodegroup, and the allocation strategy " +
			"price-capacity-optimized, make it rarer; the Spot report tells which pools do it.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-interruptions.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-capacity-rebalancing.html",
		},
	},
	{
		ID: checkid.SpotBurstExceedsSubnet, Title: "Launches of a few minutes need more addresses than the subnet had",
		Confidence: Certain, After: []checkid.ID{checkid.IPLeakedInterfaces}, Shortage: true, CoversToo: Groups,
		Cause: "Each node takes a first interface full of addresses as it starts, and keeps a second one in reserve " +
			"(other settings of aws-node are read and counted). The launches that began together, by the types " +
			"actually started, need more than the subnet had before them: the last ones start, register, and get no " +
			"addresses for pods. It is certain only where the settings of aws-node were read and the subnet is " +
			"exhausted now, or EC2 refused a launch for it.",
		Fix: "Give the nodegroups larger subnets, or more of them; start fewer nodes at once; or let nodes take fewer " +
			"addresses at start (WARM_IP_TARGET and MINIMUM_IP_TARGET, prefix delegation).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/eni-and-ip-target.md",
		},
	},
	{
		ID: checkid.SpotPoolFailing, Title: "A Spot pool joins significantly worse than those beside it",
		Confidence: Certain, WatchedBy: []Detector{SpotReport}, Proof: ByPassing,
		Cause: "Of the launches of one instance type in one zone far fewer become nodes than of the other pools of the " +
			"same nodegroups at the same time. The test is exact, one launch of each half hour counts, and it is " +
			"corrected for the number of pools and for looking every hour: no healthy pool is accused in 99 of 100 " +
			"histories of 90 days (docs/spot.md). Launches that failed for a cause of their subnet, role or settings " +
			"do not count.",
		Fix: "Leave the type out of the nodegroups that launch in that zone, or the zone out of those that launch the " +
			"type. More types make room for it.",
		Links: []string{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html"},
	},
	{
		ID: checkid.SpotFewPools, Title: "What launches Spot has too few pools to ride out a shortage",
		Confidence: Advice, WatchedBy: []Detector{SpotReport}, CoversToo: NodePools,
		Cause: "A pool is an instance type in a zone. A nodegroup with fewer than 6 of them loses its capacity when EC2 " +
			"takes back or refuses one. So does a NodePool that launches Spot instances only, where its requirements " +
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
		Cause: "EC2 refused at least 5 Spot launches of a nodegroup, and one in five or more, for want of capacity or at " +
			"the price that was set.",
		Fix: "Leave out the pools that refuse, and add types and zones. Set no maximum price: Spot is never dearer than " +
			"on-demand then.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-capacity.html",
		},
	},
	{
		ID: checkid.SpotRebalanceChurn, Title: "Capacity rebalancing replaces nodes soon after they join",
		Confidence: Advice, WatchedBy: []Detector{SpotReport},
		Cause: "EC2 recommends a rebalance within 15 minutes of a node's joining, and capacity rebalancing replaces it " +
			"although EC2 never takes it back: at least 5 nodes of a nodegroup, and one in ten or more. Managed node " +
			"groups with Spot capacity always rebalance.",
		Fix: "Give the nodegroup more types and zones, so that Auto Scaling need not take pools that are about to run " +
			"short; use the allocation strategy price-capacity-optimized. A group of one's own can do without capacity " +
			"rebalancing.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-capacity-rebalancing.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/rebalance-recommendations.html",
		},
	},
	{
		ID: checkid.ZoneVolumeStranded, Title: "A volume lives in a zone where no node is or can come",
		Confidence: Certain, After: []checkid.ID{checkid.ZoneImpaired, checkid.ZoneShifted}, Predictive: true,
		WatchedBy: []Detector{ZoneWatch}, Breaks: Pods, Proof: ByPassing,
		Cause: "An EBS volume can be attached in its own zone only. No node that takes the pod is in that zone, and none " +
			"of the cluster's groups or NodePools launches there: none has a subnet in it, or its launches there fail, " +
			"are suspended, or bring nodes that the pod cannot run on (selector, affinity, taints, architecture). It " +
			"is certain where a pod has been waiting for the volume for minutes, likely where a claim holds it and " +
			"nobody waits yet, or where Karpenter or Auto Mode could still bring a node (the subnets of their classes " +
			"could not be read), possible where Kubernetes could not be asked, and advice for a volume that no claim " +
			"holds. A volume is the cluster's if its tags name this cluster and no other, or if a PersistentVolume " +
			"names it.",
		Fix: "Let a nodegroup launch in the volume's zone: one nodegroup per zone is what AWS advises for workloads " +
			"with EBS volumes. Or make the volume anew in another zone from a snapshot.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/cas.html",
			"https://docs.aws.amazon.com/ebs/latest/userguide/ebs-attaching-volume.html",
		},
	},
	{
		ID: checkid.ZoneNodegroupGap, Title: "The group has no node in a zone where volumes live",
		Confidence: Certain, After: []checkid.ID{checkid.ZoneImpaired, checkid.ZoneShifted}, Predictive: true,
		WatchedBy: []Detector{ZoneWatch}, Breaks: Pods, Proof: ByPassing, Remedy: optin.CoverZones,
		Cause: "The group launches in more zones than its desired count covers. An EBS volume lives in a zone in which " +
			"neither this nor another group has a node that takes its pod; which zone the next node comes to is Auto " +
			"Scaling's choice, and when nodes are replaced they can come to other zones than before. It is certain " +
			"where a pod has been waiting for the volume for minutes, likely where a claim holds it and nobody waits " +
			"yet, or where Karpenter or Auto Mode could still bring a node, possible where Kubernetes could not be " +
			"asked, and advice for a volume that no claim holds.",
		Fix: "Set the desired count so that every zone of the group has a node: Auto Scaling launches where it has " +
			"fewest. For good: one nodegroup per zone, as AWS advises for workloads with EBS volumes.",
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
		Cause: "The scheduler says that nodes are in another zone than the pod's volume (volume node affinity conflict), " +
			"and has said so for minutes. Which group could bring a node, and why it does not, zone/nodegroup-gap and " +
			"zone/volume-stranded say. By itself it tells of a zone where a node is and does not take the pod: it is " +
			"full, cordoned, or no Ready node.",
		Fix: "Make room on a node in the zone of the volume, or let one more come there.",
		Links: []string{
			"https://kubernetes.io/docs/concepts/storage/persistent-volumes/#node-affinity",
			"https://docs.aws.amazon.com/eks/latest/best-practices/cas.html",
		},
	},
	{
		ID: checkid.ZoneImpaired, Title: "The Availability Zone itself is in trouble",
		Confidence: Certain, Predictive: true, WatchedBy: []Detector{JoinCheck, ZoneWatch}, Breaks: Pods,
		Proof: ByPassing,
		Cause: "EC2 says that the zone is impaired or unavailable: that is certain. Or launches of the last hour fail " +
			"there in several ways that no setting explains (EC2's own faults, failed status checks, nodes that never " +
			"came or were lost), hardly one becomes a node, and in the other zones of the same groups they do: that is " +
			"likely. That EC2 has no capacity in a zone is no trouble of the zone by itself.",
		Fix: "Do not look for a fault in the settings first. Keep launches out of the zone until it is well (AWS Health " +
			"tells), and do not replace what still works there.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AvailabilityZone.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/zone-shift.html",
		},
	},
	{
		ID: checkid.ZoneShifted, Title: "A zonal shift keeps nodes and launches out of a zone",
		Confidence: Certain, After: []checkid.ID{checkid.ZoneImpaired}, Predictive: true, Optional: true,
		WatchedBy: []Detector{ZoneWatch}, Breaks: Pods, Proof: ByPassing,
		Cause: "A zonal shift or zonal autoshift of Amazon Application Recovery Controller moves the cluster, or an Auto " +
			"Scaling group, away from a zone. During a cluster's shift EKS cordons the nodes there, and managed " +
			"nodegroups, EKS Auto Mode and Karpenter (with its integration on) launch in other zones only; a group's " +
			"own shift keeps its launches out. It is certain where a pod waits that can run in that zone alone and " +
			"nothing else can bring a node there, likely where a node could still come, where the cordoned nodes are " +
			"missing to pods, where a group has no other zone, or where a claim holds a volume there and no pod waits " +
			"yet, and advice where nothing waits. A practice run that nothing waits for is not reported.",
		Fix: "Leave the shift in place while the zone is not well. Once it is, cancel the shift or let it expire. " +
			"Raising a desired count brings no node to the zone meanwhile.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/zone-shift.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-zonal-shift.html",
			"https://docs.aws.amazon.com/r53recovery/latest/dg/arc-zonal-autoshift.html",
		},
	},
	{
		ID: checkid.KarpenterNodeclassNotReady, Title: "The class of a NodePool is not ready: it gets no nodes",
		Confidence: Certain,
		// Why the cluster refuses the node role of a class.
		After: []checkid.ID{
			checkid.IAMAccessMissing, checkid.IAMAccessWrongType, checkid.IAMAccessWrongARN,
			checkid.IAMAccessStale, checkid.IAMAccessPolicyMissing,
		},
		WatchedBy: []Detector{JoinCheck, Sweep}, Breaks: Pods, Proof: ByPassing, CoversToo: NodePools,
		Cause: "The EC2NodeClass of Karpenter, or the NodeClass of EKS Auto Mode, that a NodePool names is not ready: no " +
			"subnet, security group, AMI, instance profile or placement group fits what it selects, or Karpenter may " +
			"not launch with it. Karpenter launches nothing for the NodePool, makes no event of it, and pods wait.",
		Fix: "Correct what the class selects, or give what it selects the tags that it looks for. The condition of the " +
			"class says which it is; Karpenter looks again by itself.",
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
		Cause: "The nodes of a NodePool have as much CPU, memory or whatever else its limits name as they may, or what is " +
			"left is less than the next node needs; pods that its nodes would take wait, and no other NodePool takes " +
			"them. A limit that is reached while nobody waits is no fault: it is what it is for.",
		Fix: "Raise the limit, free what the NodePool's nodes hold, or let another NodePool take the pods.",
		Links: []string{
			"https://karpenter.sh/docs/concepts/nodepools/#speclimits",
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-pool.html",
		},
	},
	{
		ID: checkid.CNIIPv6, Title: "The network plugin is not set up for IPv6",
		Confidence: Certain, After: []checkid.ID{checkid.AnyJoinCause, checkid.CNIVersion},
		Cause: "In an IPv6 cluster the Amazon VPC CNI gives pods addresses out of a prefix on the node's first interface. " +
			"It takes version 1.10.1, ENABLE_IPv6 and ENABLE_PREFIX_DELEGATION, neither ENABLE_IPv4 nor custom " +
			"networking beside them, and an instance of the Nitro system or bare metal. Without one of these it ends " +
			"when it starts, and the node stays NotReady.",
		Fix: "Set the DaemonSet aws-node, or the add-on vpc-cni, up for IPv6, and choose instance types of the Nitro " +
			"system.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-ipv6.html",
			"https://github.com/aws/amazon-vpc-cni-k8s#enable_ipv6-v1100",
		},
	},
	{
		ID: checkid.CNIVersion, Title: "The network plugin's version does not go with Kubernetes",
		Confidence: Certain, After: []checkid.ID{checkid.AnyJoinCause},
		Cause: "The running version of the Amazon VPC CNI does not work with the version of Kubernetes, or with the image " +
			"of the node: before 1.12 it crashes with Kubernetes 1.26 and later, 1.16.0 and 1.16.1 take Kubernetes " +
			"1.24, and nodes of Amazon Linux 2023 take 1.16.2. EKS does not update the plugin with the control plane. " +
			"The node registers and stays NotReady.",
		Fix: "Update the plugin, one minor version at a time.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions-extended.html",
		},
	},
	{
		ID: checkid.CNIEniconfig, Title: "Custom networking has no ENIConfig for the node",
		Confidence: Certain, After: []checkid.ID{checkid.AnyJoinCause}, Proof: ByPassingUnmet,
		Cause: "With custom networking (AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG) aws-node makes interfaces for pods in the " +
			"subnet of an ENIConfig. Which one, a label of the node says (vpc.amazonaws.com/externalEniConfig), else " +
			"its annotation (ENI_CONFIG_ANNOTATION_DEF), else its label (ENI_CONFIG_LABEL_DEF), else it is the one " +
			"named default. Where there is none of that name, or its subnet is not in the node's zone, no interface " +
			"can be made: the node stays NotReady, or its pods get no addresses.",
		Fix: "Make the ENIConfig that the node names, with a subnet of its zone, or let the node name one that there is.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-custom-network-tutorial.html",
			"https://github.com/aws/amazon-vpc-cni-k8s#eni_config_label_def",
		},
	},
	{
		ID: checkid.CNIPodIdentityAgent, Title: "aws-node has its role by Pod Identity, and no agent runs",
		Confidence: Certain, After: []checkid.ID{checkid.AnyJoinCause}, Proof: ByPassingUnmet,
		Cause: "The pod of aws-node was made with an EKS Pod Identity association: it asks the agent on its node for " +
			"credentials (AWS_CONTAINER_CREDENTIALS_FULL_URI), and nothing else. The agent is the add-on " +
			"eks-pod-identity-agent; where it does not run the plugin has no credentials, calls EC2 in vain and ends. " +
			"EKS Auto Mode has the agent built in.",
		Fix: "Install the add-on eks-pod-identity-agent, or see why its pod does not run.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html",
		},
	},
}
