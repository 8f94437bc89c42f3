package console

import (
	"rollcall/shared/checkid"
	"slices"
)

// apiRows are what the kubelet says while it cannot talk to the cluster's API.
// It tries every few seconds, and so the last of them is how it is.
func apiRows() []row {
	toCluster := []string{".eks.amazonaws.com", ".eks.amazonaws.com.cn", "unable to register node with api server", "failed to ensure lease exists", ".api.aws"}
	talks := []string{"failed to list", "failed to watch", "unable to register node", "failed to ensure lease exists", "error getting node", "error updating node status"}
	// What every node must reach. Others (ssm, logs) time out on healthy
	// nodes of private subnets.
	needed := []string{"//ec2.", "//sts.", "//api.ecr.", ".dkr.ecr.", "//eks."}
	late := []string{"i/o timeout", "deadline exceeded", "tls handshake timeout", "client.timeout exceeded", "connection timed out"}
	return []row{
		{
			// github.com/awslabs/ai-on-eks/pull/183
			id: "sts-region-disabled", sample: "RegionDisabledException: STS is not activated in this region for account:123456789012. Your account administrator can activate STS in this region using the IAM Console.",
			all: [][]string{{"regiondisabledexception", "sts is not activated in this region"}}, phase: inAPI,
			title: "STS is switched off in this region",
			means: "The account has STS deactivated in this region: the node gets no valid token for the cluster.",
			next:  "Activate STS for the region in IAM, Account settings.",
			check: checkid.IAMSTSRegionDeactivated,
		},
		{
			// A proxy or firewall that opens TLS stands between; the cluster's own
			// certificate is not asked there.
			id: "tls-intercepted", sample: `failed to do request: Head "https://602401143452.dkr.ecr.us-west-2.amazonaws.com/v2/eks/pause/manifests/3.5": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
			all: [][]string{{"signed by unknown authority"}, needed}, phase: inAPI, least: 2,
			title: "something between opens the TLS to AWS",
			means: "An AWS service answers with a certificate that the image does not trust: a proxy or firewall opens TLS on the way.",
			next:  "Exempt AWS services from TLS inspection, or add the proxy's certificate authority to the image.",
		},
		{
			// github.com/kubernetes/kubernetes/issues/48282, with another node's name
			id: "x509-unknown-authority", sample: `E0629 05:29:43.583645    2413 kubelet_node_status.go:106] Unable to register node "ip-10-0-1-36.eu-west-1.compute.internal" with API server: Post https://35.192.63.12/api/v1/nodes: x509: certificate signed by unknown authority`,
			all: [][]string{{"signed by unknown authority"}, slices.Concat(talks, toCluster)}, none: []string{":10250", "webhook"}, phase: inAPI, least: 2,
			title: "the node trusts another certificate authority",
			means: "The certificate authority that user data gives is not the cluster's: it is of another or an earlier cluster.",
			next:  "Put the cluster's certificateAuthority.data into the launch template's user data.",
			check: checkid.InstanceUserData,
		},
		{
			// In the form of Go, crypto/x509; the clock of a new instance may be wrong for a moment.
			id: "x509-expired", sample: `Unable to register node with API server" err="Post \"https://ABCD.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes\": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2019-01-01T00:00:00Z is before 2024-08-01T00:00:00Z"`,
			all: [][]string{{"certificate has expired or is not yet valid"}, slices.Concat(talks, toCluster)}, phase: inAPI, least: 3,
			title: "the node's clock or certificate is out of date",
			means: "The node takes the cluster's certificate for expired or not yet valid: mostly its clock is wrong.",
			next:  "Let the node reach the time service (169.254.169.123), or correct the time in the image.",
		},
		{
			// github.com/kubernetes/cloud-provider-aws/issues/635
			id: "node-name-empty", sample: `kubelet_node_status.go:92] "Unable to register node with API server" err="nodes is forbidden: User \"system:node:\" cannot create resource \"nodes\" in API group \"\" at the cluster scope: unknown node for user \"system:node:\""`,
			all: [][]string{{`user "system:node:" cannot`}}, phase: inAPI,
			title: "EC2 gave the node no private DNS name",
			means: "The cluster knows the node by its private DNS name, and that was empty when the node asked: DNS hostnames are off in the VPC, or EC2 was late.",
			next:  "Switch DNS hostnames of the VPC on; where they are, replace the instance.",
			check: checkid.DNSHostnamesOff,
		},
		{
			// github.com/kubernetes-sigs/cluster-api/issues/8631
			id: "kubelet-anonymous", sample: `"Unable to register node with API server" err="nodes is forbidden: User \"system:anonymous\" cannot create resource \"nodes\" in API group \"\" at the cluster scope"`,
			all: [][]string{{`user "system:anonymous" cannot`}}, phase: inAPI, least: 2,
			title: "the kubelet has no credentials for the cluster",
			means: "The kubelet asks the cluster's API without a token: it has no valid kubeconfig, or gets no token from STS.",
			next:  "Look at the kubeconfig that user data writes, and at the node's way to STS.",
			check: checkid.InstanceUserData,
		},
		{
			// In the form of Kubernetes' RBAC: an access entry or mapping without the group system:nodes.
			id: "registration-forbidden", sample: `"Unable to register node with API server" err="nodes is forbidden: User \"arn:aws:sts::123456789012:assumed-role/workers/i-0node\" cannot create resource \"nodes\" in API group \"\" at the cluster scope"`,
			all: [][]string{{`cannot create resource "nodes"`}}, phase: inAPI, least: 2,
			title: "the node role may not register nodes",
			means: "The cluster knows the node role, but not as a node: its access entry or mapping lacks the group system:nodes.",
			next:  "Give the node role an access entry of type EC2_LINUX (EC2_WINDOWS), or map it with system:bootstrappers and system:nodes.",
			check: checkid.IAMAccessWrongType,
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/486
			id: "kubelet-unauthorized", sample: "reflector.go:123] k8s.io/kubernetes/pkg/kubelet/kubelet.go:450: Failed to list *v1.Service: Unauthorized",
			all: [][]string{talks, {"unauthorized"}}, none: []string{"ecr.", "unauthorizedoperation"}, phase: inAPI, least: 2,
			title: "the API refuses the node's credentials",
			means: "The cluster does not accept the node role: it has no access entry and no mapping in aws-auth, or STS is switched off in this region.",
			next:  "Give the node role an access entry of type EC2_LINUX (EC2_WINDOWS), or map it in aws-auth.",
			check: checkid.IAMAccessMissing,
		},
		{
			// In the form of client-go, plugin/pkg/client/auth/exec.
			id: "token-failed", sample: `Unable to register node with API server" err="Post \"https://ABCD.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes\": getting credentials: exec: executable aws-iam-authenticator failed with exit code 1"`,
			all: [][]string{{"getting credentials: exec"}}, phase: inAPI, least: 3,
			title: "the node gets no token for the cluster",
			means: "The program that makes the node's token fails: STS cannot be reached, the instance has no credentials, or the program is missing.",
			next:  "Look at the instance profile and at the subnet's way to STS; read the kubelet's log on the instance.",
			check: checkid.IAMSTSEndpoint,
		},
		{
			// github.com/aws/karpenter-provider-aws/issues/2423 and kubernetes-sigs/karpenter/issues/2981
			id: "api-name-unresolved", sample: `controller.go:144] failed to ensure lease exists, will retry in 7s, error: Get "https://BC3C703DF8F128858B273DD34A80F043.gr7.us-east-1.eks.amazonaws.com/apis/coordination.k8s.io/v1/leases": dial tcp: lookup BC3C703DF8F128858B273DD34A80F043.gr7.us-east-1.eks.amazonaws.com on 10.50.0.2:53: no such host`,
			all: [][]string{{".eks.amazonaws.com"}, {"lookup "}, {"no such host", "server misbehaving", "i/o timeout", "temporary failure in name resolution", "connection refused"}}, phase: inAPI, least: 3, unanswered: true,
			title: "the cluster's endpoint has no address here",
			means: "The node cannot resolve the name of the cluster's API: DNS of the VPC is off, its name servers are others, or the name is of a cluster that is gone.",
			next:  "Switch DNS support of the VPC on, use AmazonProvidedDNS or forward to it, and compare the endpoint in user data.",
			check: checkid.DNSSupportOff,
		},
		{
			// In the form of Go's resolver when the name server does not answer.
			id: "name-unresolved", sample: `RequestError: send request failed caused by: Post "https://ec2.us-west-2.amazonaws.com/": dial tcp: lookup ec2.us-west-2.amazonaws.com on 10.0.0.2:53: read udp 10.0.1.36:41217->10.0.0.2:53: i/o timeout`,
			all: [][]string{{"lookup "}, {"amazonaws.com on"}, {"no such host", "server misbehaving", "i/o timeout", "connection refused"}, needed}, phase: inAPI, least: 3, unanswered: true,
			title: "names of AWS services cannot be resolved",
			means: "The name servers do not answer, or do not know AWS services.",
			next:  "Switch DNS support of the VPC on, let security groups and network ACLs pass port 53, and look at the DHCP options' name servers.",
			check: checkid.DNSSupportOff,
		},
		{
			// In the form of the kubelet and Go's net package.
			id: "api-timeout", sample: `"Unable to register node with API server" err="Post \"https://BC3C703DF8F128858B273DD34A80F043.gr7.us-east-1.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.50.14.7:443: i/o timeout"`,
			all: [][]string{toCluster, late}, phase: inAPI, least: 3, unanswered: true,
			title: "the cluster's API does not answer",
			means: "Packets to the cluster's API, or its answers, are lost on the way.",
			next:  "Look at the path to the endpoint: routes, the cluster's security group (443 from the node), network ACLs, and the public access CIDRs.",
			check: checkid.SGClusterIngress,
		},
		{
			// github.com/syself/cluster-api-provider-hetzner/issues/1731, with a
			// cluster of EKS. It also
			// comes while a control plane is replaced.
			id: "api-refused", sample: `"Unable to register node with API server" err="Post \"https://BC3C703DF8F128858B273DD34A80F043.gr7.us-east-1.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.50.14.7:443: connect: connection refused"`,
			all: [][]string{toCluster, {"connection refused", "no route to host", "network is unreachable"}}, phase: inAPI, least: 5, guess: true, unanswered: true,
			title: "nothing listens at the cluster's endpoint",
			means: "The address that the node takes for the cluster's API refuses connections, or no route leads to it.",
			next:  "Compare the endpoint in user data with the cluster's, and what name servers answer for it.",
			check: checkid.InstanceUserData,
		},
		{
			// In the form of github.com/aws/karpenter-provider-aws/pull/5740, of another service.
			id: "aws-timeout", sample: `RequestError: send request failed caused by: Post "https://sts.us-west-2.amazonaws.com/": dial tcp 54.188.62.0:443: i/o timeout`,
			all: [][]string{needed, late}, none: []string{"lookup "}, phase: inAPI, least: 3, unanswered: true,
			title: "an AWS service that nodes need does not answer",
			means: "Packets to EC2, ECR, STS or EKS, or their answers, are lost on the way.",
			next:  "Give the subnet a way to the service that the line names: NAT gateway, or an endpoint whose security group admits 443 from the node.",
			check: checkid.EndpointMissing,
		},
	}
}
