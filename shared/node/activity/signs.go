package activity

import "rollcall/shared/checkid"

// sign is a text that tells of no launch, and the check that it points to.
type sign struct {
	class         checkid.ID
	texts         []string // as in row
	meaning, next string
	sample        string
	source        string
}

func signOf(text string, list []sign) (sign, bool) {
	plain := normal(bound(text))
	for _, s := range list {
		for _, phrase := range s.texts {
			if says(plain, phrase) {
				return s, true
			}
		}
	}
	return sign{}, false
}

// foreign are texts with the code or the words of a failed launch that come
// from something else. They are asked first.
func foreign() []sign {
	return []sign{
		{class: checkid.IPSubnetExhausted, texts: []string{"when calling the createnetworkinterface operation", "when calling the assignprivateipaddresses operation"},
			meaning: "a subnet has no address left for another interface or pod", next: "Free addresses in the subnet, or use another one.",
			sample: "An error occurred (InsufficientFreeAddressesInSubnet) when calling the CreateNetworkInterface operation: The specified subnet does not have enough free addresses to satisfy the request.", source: "https://zenn.dev/utaco/articles/2bc6c236785c1e"},
		// A call that was refused to the node, not to who launches it.
		{class: checkid.IAMCNIRolePolicies, texts: []string{
			"failed to call ec2:…unauthorizedoperation", "ipamd…unauthorizedoperation", "ipamd…not authorized to perform: ec2:", "aws-node…not authorized to perform: ec2:",
			"not authorized to perform: ec2:describenetworkinterfaces", "not authorized to perform: ec2:assignprivateipaddresses", "not authorized to perform: ec2:unassignprivateipaddresses", "not authorized to perform: ec2:assignipv6addresses",
		},
			meaning: "the role that aws-node uses lacks an action that the CNI calls", next: "Attach AmazonEKS_CNI_Policy to the role that aws-node uses: that of its service account or Pod Identity association, else the node role.",
			sample: "Failed to call ec2:DescribeNetworkInterfaces for [eni-0b1c2d3e4f5a6b7c8]: UnauthorizedOperation: You are not authorized to perform this operation.", source: "https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/iam-policy.md"},
		{class: checkid.IAMRolePolicies, texts: []string{"not authorized to perform: ec2:describeinstances", "not authorized to perform: ecr:"},
			meaning: "the node role does not allow what a node calls before it is Ready", next: "Attach AmazonEKSWorkerNodePolicy and AmazonEC2ContainerRegistryPullOnly to the node role.",
			sample: "User: arn:aws:sts::111122223333:assumed-role/nodes/i-0abc is not authorized to perform: ecr:GetAuthorizationToken on resource: *", source: "https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html"},
	}
}

// signs are texts of other kinds that are often pasted: the CNI, the kubelet,
// Kubernetes events, AWS's own runbook.
func signs() []sign {
	const (
		amiIssues = "https://github.com/awslabs/amazon-eks-ami/issues/"
		cniIssues = "https://github.com/aws/amazon-vpc-cni-k8s/issues/"
		userData  = checkid.InstanceUserData
		readData  = "Compare the user data with the cluster's name, endpoint, CA and service range."
		moreSpace = "Reserve a range for prefixes in the subnet (create-subnet-cidr-reservation), or use a new subnet."
	)
	return []sign{
		{checkid.RouteBlackhole, []string{"natgatewaynotfound", "the nat gateway…was not found"}, "the NAT gateway is gone, and routes may still lead to it", "Lead the route to a NAT gateway that works.", "NatGatewayNotFound: The Nat gateway nat-0460de55eeb540794 was not found", "https://github.com/kubernetes/kops/issues/16876"},
		{checkid.SGClusterIngress, []string{"cluster security group…is not allowing traffic from the worker node"}, "the cluster's security group does not admit the node", "Admit 443 from the nodes' security group in the cluster's.", "[ERROR]: The cluster Security Group sg-020b0c1fexxxxxxxx is not allowing traffic from the worker node.", "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3204"},
		{checkid.EndpointMissing, []string{"vpc endpoint…is missing from vpc", "unable to detect the cluster endpoint", "no basic auth credentials"}, "a service that nodes need is not reached: its VPC endpoint is missing, or the way out is", "Make the endpoint, or give the subnet a way out.", "[ERROR]: VPC Endpoint com.amazonaws.us-east-1.ecr.api is missing from VPC vpc-0469a416cc6fcd470.", "https://github.com/The-Swarm-Corporation/swarms-cloud/pull/69"},
		{userData, []string{"bootstrap.sh has been removed"}, "user data of Amazon Linux 2 on an Amazon Linux 2023 image", "Give the instance a NodeConfig for nodeadm.", "ERROR: bootstrap.sh has been removed from AL2023-based EKS AMIs.", amiIssues + "2426"},
		{userData, []string{"is missing in cluster configuration", "command failed…yaml: line"}, "nodeadm's NodeConfig lacks a field or does not parse", readData, "Name is missing in cluster configuration", amiIssues + "2123"},
		{userData, []string{"unable to load client ca file"}, "the node got no certificate authority of the cluster", readData, "server.go:245] unable to load client CA file /etc/kubernetes/pki/ca.crt", amiIssues + "178"},
		{userData, []string{"labels specified with --node-labels", "--node-labels in the kubernetes.io namespace"}, "the kubelet refuses a node label: kubernetes.io and k8s.io are reserved (instance/forbidden-node-label)", "Take the label out, or use a prefix of your own.", "failed to validate kubelet flags: unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels", "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3346"},
		{checkid.InstanceConsoleError, []string{"failed to start nodeadm-co", "failed to locate executable /usr/bin/nodeadm"}, "nodeadm did not get through its configuration", "Read the lines before it in the console output.", "Failed to start nodeadm-co.service - EKS Nodeadm Config", "https://github.com/aws/karpenter-provider-aws/issues/7889"},
		{checkid.InstanceIMDS, []string{"^ unterminated reg", "<title>401 - unauthorized</title", "<title 401 - unauthorized"}, "the metadata service refused the boot script", "Let the metadata endpoint be on, and its hop limit fit.", "awk: cmd. line:1:  ^ unterminated reg", amiIssues + "594"},
		{checkid.InstanceClusterTag, []string{"nor kubernetes.io/cluster/"}, "the instance lacks the tag kubernetes.io/cluster/<name>", "Tag the instance, in its launch template or group.", `Tag "KubernetesCluster" nor "kubernetes.io/cluster/..." not found; Kubernetes may behave unexpectedly.`, amiIssues + "310"},
		{checkid.DNSHostnamesOff, []string{"unknown node for user system:node:"}, "the node's private DNS name was empty when it registered", "Switch DNS hostnames on in the VPC, and look at its DHCP options.", `nodes is forbidden: User "system:node:" cannot create resource "nodes" in API group "" at the cluster scope: unknown node for user "system:node:"`, "https://github.com/kubernetes/cloud-provider-aws/issues/635"},
		{checkid.DNSDHCPOptions, []string{"failed to get instance id from cloud provider: instance not found"}, "the node's name does not match an instance, mostly because of DHCP options", "Look at the domain name in the VPC's DHCP options.", "failed to get provider ID for node ip-10-0-144-157 at cloudprovider: failed to get instance ID from cloud provider: instance not found", "https://github.com/kubernetes/cloud-provider-aws/issues/384"},
		{checkid.IAMRolePolicies, []string{"pull…401 unauthorized"}, "the registry refuses the node's credentials", "Attach AmazonEC2ContainerRegistryPullOnly to the node role.", `Failed to pull image "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.10": unexpected status: 401 Unauthorized`, "https://docs.aws.amazon.com/AmazonECR/latest/userguide/common-errors-docker.html"},
		{checkid.IAMAccessMissing, []string{"failed to list…: unauthorized", "kubelet…unauthorized", "you must be logged in to the server"}, "the cluster does not accept the node's token", "Give the node role an access entry or a mapping in aws-auth.", "kubelet.go:450: Failed to list *v1.Service: Unauthorized", amiIssues + "486"},
		{notRegistered, []string{"kubelet.go…node…not found"}, "the kubelet runs and its node does not exist yet: a symptom", "Look at the lines before it: why it could not register.", `kubelet.go:2272] node "ip-192-168-38-68.eu-west-2.compute.internal" not found`, amiIssues + "486"},
		{checkid.NodeCSRPending, []string{"no serving certificate available for the kubelet", "10250…remote error: tls: internal error", "kubernetes.io/kubelet-serving…pending"}, "the kubelet has no serving certificate", "Look at the certificate signing requests: kubectl get csr.", "http: TLS handshake error from 10.209.136.224:60536: no serving certificate available for the kubelet", "https://github.com/aws/karpenter-provider-aws/issues/5706"},
		{checkid.NodeCNINotReady, []string{"networkpluginnotready", "cni config uninitialize", "failed to connect service :50051"}, "the network plugin on the node is not up", "Look at the aws-node pod on the node.", "runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:docker: network plugin is not ready: cni config uninitialize", cniIssues + "1278"},
		{checkid.IPFragmented, []string{"sufficient free ipv4 addresses or prefixes", "insufficientcidrblocks", "enough ips/prefixes", "prefix target is"}, "the subnet has no free aligned /28 for a prefix", moreSpace, "InsufficientCidrBlocks: The specified subnet does not have enough free cidr blocks to satisfy the request.", cniIssues + "1836"},
		{checkid.IPSubnetExhausted, []string{"ip pool is too low", "failed to assign an ip address to container"}, "the CNI has no address for another pod", "Look at the subnet's free addresses.", "IP pool is too low: available (0) < ENI target (1) * addrsPerENI (16)", cniIssues + "2749"},
		{checkid.ZoneNodegroupGap, []string{"didnt trigger scale-up…volume node affinity conflict"}, "no node group can serve the zone of the volume", "Let a group launch in the volume's zone.", "pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1 node(s) had volume node affinity conflict", "https://github.com/aerospike/aerospike-kubernetes-operator/issues/80"},
		{checkid.ZonePodUnschedulable, []string{"volume node affinity conflict"}, "no node of the cluster is in the zone of the volume", "Let a group run nodes in the volume's zone.", "0/12 nodes are available: 1 node(s) had volume node affinity conflict", "https://github.com/aerospike/aerospike-kubernetes-operator/issues/80"},
		{checkid.NodeNotReady, []string{"no space left on device"}, "the node's disk is full", "Give the node a larger root volume, or clear it.", "no space left on device", "https://github.com/ministryofjustice/cloud-platform/blob/HEAD/source/incidents/2023-09-18-lack-of-diskspace.html.md.erb"},
	}
}
