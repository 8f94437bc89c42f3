package console

import (
	"slices"

	"rollcall/shared/checkid"
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

// bootRows are failures of the kernel, the disks and the operating system.
func bootRows() []row {
	return []row{
		{
			// In the form of Linux, init/do_mounts.c.
			id: "no-root-device", sample: "[    1.224861] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)",
			all:   [][]string{{"unable to mount root fs", "cannot find root device", "gave up waiting for root"}},
			phase: inKernel, late: true,
			title: "the kernel finds no root volume",
			means: "The kernel did not find the volume that it starts from: the image lacks a driver (NVMe, ENA), or its root device is named wrongly.",
			next:  "Start from an image that is made for this instance type, or correct the launch template's block device mapping.",
			check: checkid.InstanceAMI,
		},
		{
			// In the form of Linux, kernel/exit.c.
			id: "kernel-panic", sample: "[    2.681293] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00007f00",
			all: [][]string{{"kernel panic - not syncing"}}, phase: inKernel, late: true,
			title: "the kernel stopped with a panic",
			means: "The kernel stopped: nothing runs on the instance.",
			next:  "Start another image or an earlier version of it; replace the instance.",
			check: checkid.InstanceAMI,
		},
		{
			// GRUB's prompt after it failed.
			id: "boot-loader", sample: "grub rescue>",
			all: [][]string{{"grub rescue>", "grubdom>", "error: no such partition", "error: unknown filesystem"}}, phase: inKernel, late: true,
			title: "the boot loader found nothing to start",
			means: "The boot loader stopped at its prompt: the image has no kernel where it looks for one.",
			next:  "Start another image or an earlier version of it.",
			check: checkid.InstanceAMI,
		},
		{
			// systemd's emergency.service says so.
			id: "emergency-mode", sample: `You are in emergency mode. After logging in, type "journalctl -xb" to view`,
			all: [][]string{{"you are in emergency mode", "welcome to emergency mode", "entering emergency mode", "you are in rescue mode"}}, phase: inKernel, late: true,
			title: "the operating system is in emergency mode",
			means: "The start stopped and waits for somebody at the console: mostly a line of /etc/fstab names a volume that is not there.",
			next:  "Correct what user data or the image writes to /etc/fstab (nofail), and replace the instance.",
		},
		{
			// The words of ENOSPC, as in github.com/ministryofjustice/cloud-platform, incident of 2023-09-18.
			id: "disk-full", sample: "write /var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db: no space left on device",
			all: [][]string{{"no space left on device"}},
			// inotify watches run out with the same words; the disk is not full then.
			none: []string{"inotify"}, phase: inKubelet, guess: true, late: true,
			title: "a disk is full",
			means: "A volume of the instance is full; images cannot be unpacked and services cannot write.",
			next:  "Give the launch template a larger root volume.",
		},
		{
			// In the form of Linux, mm/oom_kill.c.
			id: "out-of-memory", sample: "[  312.417] Out of memory: Killed process 2134 (kubelet) total-vm:1957168kB, anon-rss:91232kB",
			all:   [][]string{{"out of memory: kill"}, {"(kubelet)", "(containerd)", "(nodeadm)", "(dockerd)"}},
			phase: inKubelet, guess: true, late: true,
			title: "the kernel killed a service for lack of memory",
			means: "The instance has not enough memory for what runs on it, and the kernel ended a service that the node needs.",
			next:  "Use a larger instance type, or reserve memory for the system (kubeReserved, systemReserved).",
		},
	}
}

// kubeletRows are failures that keep the kubelet from starting.
func kubeletRows() []row {
	return []row{
		{
			// github.com/terraform-aws-modules/terraform-aws-eks/issues/3346 and /831
			id: "forbidden-label", sample: "failed to validate kubelet flags: unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [node-role.kubernetes.io/worker]",
			all: [][]string{{"labels specified with --node-labels", "namespace must begin with an allowed prefix"}}, phase: inKubelet,
			title: "a node label that the kubelet may not set",
			means: "User data or the nodegroup gives the node a label of the kubernetes.io namespace that is reserved, and the kubelet does not start with it.",
			next:  "Take the label away, or set it after the node joined.",
			check: checkid.InstanceForbiddenNodeLabel,
		},
		{
			// In the form of Kubernetes, cmd/kubelet; 1.27 took --container-runtime away.
			id: "kubelet-flag", sample: `E0817 09:21:04.118734    2317 run.go:74] "command failed" err="failed to parse kubelet flag: unknown flag: --container-runtime"`,
			all: [][]string{{"failed to parse kubelet flag", "unknown flag: --", "unrecognized feature gate"}, {"kubelet"}}, phase: inKubelet,
			title: "the kubelet does not know one of its flags",
			means: "User data gives the kubelet a flag or feature gate that its version does not have.",
			next:  "Take the flag out of the kubelet's extra arguments in user data.",
			check: checkid.InstanceUserData,
		},
		{
			// In the form of Kubernetes, cmd/kubelet/app/server.go.
			id: "kubelet-config", sample: `"command failed" err="failed to load kubelet config file, path: /etc/kubernetes/kubelet/config.json, error: failed to decode: strict decoding error: unknown field \"maxPod\""`,
			all: [][]string{{"failed to load kubelet config file", "failed to validate kubelet configuration", "invalid configuration: "}, {"kubelet"}}, phase: inKubelet,
			title: "the kubelet's configuration is not valid",
			means: "What user data writes to the kubelet's configuration is not valid, and the kubelet does not start with it.",
			next:  "Correct spec.kubelet.config of the NodeConfig, or the script that changes the file.",
			check: checkid.InstanceUserData,
		},
		{
			// github.com/oracle/terraform-kubernetes-installer/issues/52
			id: "kubelet-swap", sample: "kubelet: error: failed to run Kubelet: Running with swap on is not supported, please disable swap! or set --fail-swap-on flag to false.",
			all: [][]string{{"running with swap on is not supported"}}, phase: inKubelet,
			title: "the kubelet does not start with swap on",
			means: "The instance has swap space, and the kubelet's settings do not allow it.",
			next:  "Switch swap off in user data (swapoff -a), or set failSwapOn: false.",
		},
		{
			// In the form of Kubernetes, pkg/kubelet: failCgroupV1, true from 1.35 on.
			id: "kubelet-cgroup", sample: `"command failed" err="failed to run Kubelet: kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release"`,
			all: [][]string{{"not run on a host using cgroup v1", "misconfiguration: kubelet cgroup driver"}}, phase: inKubelet,
			title: "the kubelet refuses the image's cgroups",
			means: "The image and the kubelet do not agree on control groups: AL2 has version 1, which newer kubelets refuse.",
			next:  "Start an AL2023 or Bottlerocket image.",
			check: checkid.InstanceAMI,
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/178 and /442
			id: "kubelet-ca-file", sample: "server.go:245] unable to load client CA file /etc/kubernetes/pki/ca.crt: error reading /etc/kubernetes/pki/ca.crt: data does not contain any valid RSA or ECDSA certificates",
			all: [][]string{{"unable to load client ca file", "unable to load root certificates", "unable to construct ca provider"}}, phase: inKubelet,
			title: "the node has no valid certificate of the cluster",
			means: "The cluster's certificate authority is missing or broken in what user data gives, or the cluster was not ready when the node asked for it.",
			next:  "Correct the certificate in user data (base64 of the cluster's certificateAuthority.data), and replace the instance.",
			check: checkid.InstanceUserData,
		},
		{
			// In the form of Kubernetes 1.27 and later, which have no cloud provider aws in the kubelet.
			id: "kubelet-cloud-provider", sample: `"command failed" err="failed to run Kubelet: unknown cloud provider \"aws\" was specified, you may want to use \"external\" instead"`,
			all: [][]string{{"unknown cloud provider"}}, phase: inKubelet,
			title: "the kubelet no longer has the cloud provider aws",
			means: "User data gives the kubelet --cloud-provider=aws, which ended with Kubernetes 1.27.",
			next:  "Use --cloud-provider=external, or start a newer EKS image whose bootstrap does so.",
			check: checkid.InstanceUserData,
		},
		{
			// github.com/terraform-aws-modules/terraform-aws-eks/issues/522
			id: "kubelet-cloud-init", sample: `kubelet: F0923 10:30:06.736075   14523 server.go:261] failed to run Kubelet: could not init cloud provider "aws": error finding instance : "error listing AWS instances: RequestError: send request failed`,
			all: [][]string{{"could not init cloud provider"}}, phase: inKubelet,
			title: "the kubelet cannot find its instance in EC2",
			means: "The kubelet asks EC2 for its own instance: EC2 cannot be reached, or the node role does not allow it.",
			next:  "Give the subnet a way to the EC2 API, and the node role ec2:DescribeInstances.",
			check: checkid.EndpointMissing,
		},
		{
			// In the form of Kubernetes, pkg/kubelet and its CRI client.
			id: "kubelet-no-runtime", sample: `"command failed" err="failed to run Kubelet: validate service connection: validate CRI v1 runtime API for endpoint \"unix:///run/containerd/containerd.sock\": rpc error: code = Unavailable desc = connection error"`,
			all: [][]string{{"validate service connection", "validate cri v1 runtime api"}}, phase: inKubelet, least: 3,
			title: "the kubelet finds no container runtime",
			means: "containerd does not answer the kubelet, again and again.",
			next:  "Read containerd's log on the instance (journalctl -u containerd).",
		},
		{
			// In the form of Kubernetes, cmd/kubelet/app/server.go.
			id: "kubelet-failed", sample: `"command failed" err="failed to run Kubelet: failed to create kubelet: misconfiguration"`,
			all: [][]string{{"failed to run kubelet"}}, phase: inKubelet, least: 2,
			title: "the kubelet does not start",
			means: "The kubelet ended with an error, again and again; the line says why.",
			next:  "Read the error in the line, and what user data gives the kubelet.",
			check: checkid.InstanceUserData,
		},
	}
}

// nodeadmRows are failures of nodeadm (AL2023) and of Bottlerocket's settings.
func nodeadmRows() []row {
	ec2Denied := []string{"unauthorizedoperation", "not authorized to perform"}
	return []row{
		{
			// github.com/awslabs/amazon-eks-ami/issues/2123
			id: "nodeadm-incomplete", sample: `{"level":"fatal","ts":1738746121.5297415,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"Name is missing in cluster configuration","stacktrace":"main.main\n\t/workdir/cmd/nodeadm/main.go:36"}`,
			all: [][]string{{" is missing in cluster configuration"}}, phase: inUserData,
			title: "the NodeConfig is incomplete",
			means: "nodeadm found no complete NodeConfig in user data: name, endpoint, certificate and service range of the cluster are needed.",
			next:  "Complete spec.cluster of the NodeConfig in the launch template's user data; mind the case and the indentation.",
			check: checkid.InstanceUserData,
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/1701; /2052 and /2318 end alike.
			id: "nodeadm-unreadable", sample: `{"level":"fatal","ts":1709500289.8128433,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"yaml: line 4: could not find expected ':'"}`,
			all: [][]string{{"command failed"}, {"nodeadm"}, {`"error":"yaml: `, "error converting yaml to json", "unknown field", "is registered for version", "malformed mime header", "no config in chain", "could not find nodeconfig", "no nodeconfig", "mime: no media type", "cannot unmarshal"}}, phase: inUserData,
			title: "nodeadm cannot read user data",
			means: "nodeadm could not read a NodeConfig in user data: broken YAML or MIME, an unknown field, or a wrong apiVersion.",
			next:  "Correct the NodeConfig in the launch template's user data (apiVersion node.eks.aws/v1alpha1; an empty line ends the headers of a MIME part).",
			check: checkid.InstanceUserData,
		},
		{
			// In the form of nodeadm's last word (github.com/awslabs/amazon-eks-ami/issues/2423) with EC2's refusal: it is final.
			id: "ec2-denied-fatal", sample: `nodeadm[1512]: {"level":"fatal","caller":"nodeadm/main.go:36","msg":"Command failed","error":"operation error EC2: DescribeInstances, https response error StatusCode: 403, RequestID: , api error UnauthorizedOperation: You are not authorized to perform this operation."}`,
			all: [][]string{{"command failed"}, {"describeinstances"}, {"unauthorizedoperation", "authfailure"}}, phase: inUserData,
			title: "the node role may not call ec2:DescribeInstances",
			means: "nodeadm asks EC2 for the instance's name, and is not allowed to.",
			next:  "Attach AmazonEKSWorkerNodePolicy to the node role; look for a deny in its boundary, in a service control policy and in the policy of the EC2 endpoint.",
			check: checkid.IAMRolePolicies,
		},
		{
			// github.com/bottlerocket-os/bottlerocket-core-kit/pull/849
			id: "ec2-denied", sample: "[   16.224034] pluto[1671]: 22:20:05 [ERROR] EC2 DescribeInstances attempt failed, will retry: code=UnauthorizedOperation message=You are not authorized to perform this operation.",
			all: [][]string{{"describeinstances"}, ec2Denied}, phase: inUserData, least: 2,
			title: "the node role may not call ec2:DescribeInstances",
			means: "The node asks EC2 for its own name, and is not allowed to.",
			next:  "Attach AmazonEKSWorkerNodePolicy to the node role; look for a deny in its boundary, in a service control policy and in the policy of the EC2 endpoint.",
			check: checkid.IAMRolePolicies,
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/2423
			id: "ec2-unreachable", sample: `Sep 08 03:04:27 localhost nodeadm[50500]: {"level":"fatal","ts":1757300667.2454364,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"expected err to be of type smithy.APIError, got operation error EC2: DescribeInstances, https response error StatusCode: 0, RequestID: , canceled, context deadline exceeded"}`,
			all: [][]string{{"command failed"}, {"describeinstances"}, {"deadline exceeded", "exceeded max wait time", "i/o timeout", "connection refused", "no such host"}}, phase: inUserData, unanswered: true,
			title: "the EC2 API cannot be reached",
			means: "nodeadm asks EC2 for the instance's name, and got no answer until it gave up.",
			next:  "Give the subnet a way to the EC2 API: NAT gateway, or endpoint com.amazonaws.<region>.ec2 whose security group admits 443 from the node. Without a fault there, look at the order of network interfaces and at a proxy that starts too late.",
			check: checkid.EndpointMissing,
		},
		{
			// github.com/bottlerocket-os/bottlerocket/issues/3525
			id: "pluto-timeout", sample: "[  303.392308] sundog[1343]: Setting generator 'pluto private-dns-name' failed with exit code 1 - stderr: Timed out retrieving private DNS name from EC2: deadline has elapsed",
			all: [][]string{{"timed out retrieving private dns name", "timed out retrieving cluster"}}, phase: inUserData, unanswered: true,
			title: "the EC2 or EKS API cannot be reached",
			means: "Bottlerocket asks AWS for the instance's name and cluster, and got no answer until it gave up.",
			next:  "Give the subnet a way to the EC2 and EKS APIs (NAT gateway or endpoints), or correct settings.network.https-proxy.",
			check: checkid.EndpointMissing,
		},
		{
			// In the form of github.com/bottlerocket-os/bottlerocket/issues/3525, of another generator.
			id: "pluto-failed", sample: "[    8.217745] sundog[1290]: Setting generator 'pluto cluster-dns-ip' failed with exit code 1 - stderr: Unable to retrieve cluster: unexpected status",
			all: [][]string{{"setting generator '"}, {"failed with exit code"}}, phase: inUserData,
			title: "Bottlerocket could not work out its settings",
			means: "A program that asks AWS for what the node needs (name, addresses, cluster) failed, and the start stops there.",
			next:  "The line names what it asked for: allow it in the node role, or set the value in user data.",
			check: checkid.InstanceUserData,
		},
		{
			// In systemd's form; the unit's name is in github.com/bottlerocket-os/bottlerocket/issues/3525.
			id: "bottlerocket-user-data", sample: "[FAILED] Failed to start Bottlerocket userdata configuration system.",
			all: [][]string{{"failed to start bottlerocket userdata configuration system", "failed to start early-boot-config"}}, phase: inUserData,
			title: "Bottlerocket cannot read user data",
			means: "User data is no TOML that Bottlerocket's settings know.",
			next:  "Correct the TOML in the launch template's user data.",
			check: checkid.InstanceUserData,
		},
		{
			// In the form of nodeadm's last word, for what amazon-eks-ami/pull/1970
			// tells; before it, the credentials may only be late. How the metadata service is
			// set is the proof, and instance/imds sees that.
			id: "metadata-unreachable", sample: `nodeadm[1491]: {"level":"fatal","caller":"nodeadm/main.go:36","msg":"Command failed","error":"operation error ec2imds: GetUserData, request canceled, context deadline exceeded"}`,
			all: [][]string{{"command failed"}, {"ec2imds", "ec2 imds", "169.254.169.254"}}, phase: inUserData, guess: true,
			title: "the metadata service cannot be used",
			means: "nodeadm reads user data and credentials from the instance metadata service, and it does not answer.",
			next:  "Switch the metadata endpoint on, and look for firewall rules of the image that block 169.254.169.254.",
			check: checkid.InstanceIMDS,
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/2123
			id: "nodeadm-not-executable", sample: "nodeadm-config.service: Failed to locate executable /usr/bin/nodeadm: Permission denied",
			all: [][]string{{"failed to locate executable", "failed at step exec spawning"}, {"nodeadm", "kubelet", "containerd"}}, phase: inUserData,
			title: "the image does not let node services run",
			means: "systemd may not start nodeadm, the kubelet or containerd: mostly SELinux or noexec of a hardened image.",
			next:  "Set SELinux to permissive, or give the programs their context (restorecon) when the image is built.",
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/2436. Healthy nodes try two
			// or three times while the instance is new to EC2.
			id: "ec2-retries", sample: "Sep 17 10:06:00 localhost nodeadm[2495]: SDK 2025/09/17 10:06:00 DEBUG retrying request EC2/DescribeInstances, attempt 3",
			all: [][]string{{"retrying request ec2/describeinstances"}}, phase: inUserData, least: 5, guess: true, unanswered: true,
			title: "the EC2 API does not answer",
			means: "nodeadm asks EC2 for the instance's name again and again.",
			next:  "Look at the subnet's way to the EC2 API, and at throttling of ec2:DescribeInstances in this account.",
			check: checkid.EndpointMissing,
		},
		{
			// In the form of nodeadm's last word (github.com/awslabs/amazon-eks-ami/issues/2123), whatever the error.
			id: "nodeadm-failed", sample: `{"level":"fatal","ts":1758103600.1,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"exit status 1"}`,
			all: [][]string{{`"level":"fatal"`}, {"nodeadm"}, {"command failed"}}, phase: inUserData,
			title: "nodeadm failed",
			means: "nodeadm stopped before it started the kubelet; the line says why.",
			next:  "Read the error in the line, and the NodeConfig in the launch template's user data.",
			check: checkid.InstanceUserData,
		},
	}
}

// runtimeRows are failures of containerd and of its sandbox (pause) image,
// without which it starts no pod and, on AL2 and AL2023, no kubelet.
func runtimeRows() []row {
	pause := []string{"/eks/pause", "sandbox image", "sandbox-image"}
	return []row{
		{
			// github.com/awslabs/amazon-eks-ami/issues/2061, shortened; aws/amazon-vpc-cni-k8s/issues/2030
			id: "sandbox-denied", sample: `failed to get sandbox image "602401143452.dkr.ecr.eu-central-1.amazonaws.com/eks/pause:3.5": failed to pull and unpack image: failed to resolve reference: pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials`,
			all: [][]string{pause, {"no basic auth credentials", "401 unauthorized", "403 forbidden", "authorization failed", "pull access denied", "accessdenied"}}, phase: inRuntime, least: 2,
			title: "ECR refuses the sandbox image",
			means: "containerd may not pull the pause image: the node role lacks ECR's read actions, or ECR's API gave no token.",
			next:  "Attach AmazonEC2ContainerRegistryPullOnly to the node role, and give the subnet a way to ECR's API.",
			check: checkid.IAMRolePolicies,
		},
		{
			// In the form of containerd, for what github.com/awslabs/amazon-eks-ami/issues/1633 tells.
			id: "sandbox-unreachable", sample: `failed to pull and unpack image "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5": failed to do request: Head "https://602401143452.dkr.ecr.us-east-1.amazonaws.com/v2/eks/pause/manifests/3.5": dial tcp 52.46.132.73:443: i/o timeout`,
			all: [][]string{pause, {"i/o timeout", "deadline exceeded", "connection refused", "no such host", "tls handshake timeout"}}, phase: inRuntime, least: 2, unanswered: true,
			title: "ECR cannot be reached for the sandbox image",
			means: "containerd cannot reach ECR, or S3 behind it, for the pause image.",
			next:  "Give the subnet a way to ECR (api and dkr) and to S3: NAT gateway, or endpoints.",
			check: checkid.EndpointMissing,
		},
		{
			// github.com/mattermost/mattermost-cloud-monitoring/pull/891, shortened
			id: "sandbox-failed", sample: `[   39.266405] cloud-init[1581]: E0728 19:17:10.699880    1584 remote_image.go:135] PullImage "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.5" from image service failed: rpc error: code = Unknown desc = unexpected status from HEAD request: 400 Bad Request`,
			all: [][]string{pause, {"failed"}}, none: []string{"dependency", "failed to start", "x509"}, phase: inRuntime, least: 3,
			title: "the sandbox image cannot be pulled",
			means: "containerd cannot pull the pause image, without which it starts no pod.",
			next:  "The line says what ECR answered: look at the image's name and at the ECR credential of user data.",
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/990
			id: "sandbox-unit", sample: "systemd: Failed to start pull sandbox image defined in containerd config.toml.",
			all: [][]string{{"failed to start pull sandbox image"}}, phase: inRuntime,
			title: "the sandbox image cannot be pulled",
			means: "containerd could not pull the pause image, and the kubelet is not started without it.",
			next:  "Look at the node role's ECR actions and at the subnet's way to ECR and S3.",
			check: checkid.EndpointMissing,
		},
		{
			// In the form of containerd, cmd/containerd: what it says of a broken file.
			id: "containerd-config", sample: "containerd[1702]: containerd: failed to load TOML: /etc/containerd/config.toml: (14, 2): unexpected token table key cannot start with this",
			all: [][]string{{"containerd"}, {"failed to load toml", "invalid plugin config", "invalid disabled plugin", "unsupported config version"}}, phase: inRuntime, late: true,
			title: "containerd cannot read its configuration",
			means: "What user data or the image writes to containerd's configuration is not valid.",
			next:  "Correct spec.containerd.config of the NodeConfig, or the script that changes config.toml.",
			check: checkid.InstanceUserData,
		},
		{
			// In systemd's form, of containerd's unit.
			id: "containerd-down", sample: "[FAILED] Failed to start containerd.service - containerd container runtime.",
			all: [][]string{{"failed to start containerd", "containerd.service: start request repeated too quickly"}}, phase: inRuntime, late: true,
			title: "containerd does not start",
			means: "The container runtime does not run, and the kubelet needs it.",
			next:  "Read containerd's log on the instance (journalctl -u containerd): mostly its configuration or a full disk.",
		},
	}
}

// windowsRows are failures of Windows. EC2Launch writes little to the console:
// the EKS bootstrap has its log in C:\ProgramData\Amazon\EKS\logs.
func windowsRows() []row {
	return []row{
		{
			// The words of the Windows event BugCheck (1001).
			id: "windows-stop", sample: "2024/05/14 09:12:44Z: Message: The computer has rebooted from a bugcheck. The bugcheck was: 0x0000007b",
			all: [][]string{{"rebooted from a bugcheck"}}, phase: inKernel, guess: true, late: true,
			title: "Windows stopped with a bug check",
			means: "Windows stopped and started again.",
			next:  "Start an earlier version of the image; replace the instance.",
			check: checkid.InstanceAMI,
		},
		{
			// In the form of PowerShell for user data of another image.
			id: "windows-bootstrap", sample: `UserData: C:\Program Files\Amazon\EKS\Start-EKSBootstrap.ps1 : The term 'Start-EKSBootstrap.ps1' is not recognized as the name of a cmdlet`,
			all: [][]string{{"start-eksbootstrap"}, {"is not recognized", "cannot find path", "cannot bind parameter", "a parameter cannot be found"}}, phase: inUserData,
			title: "the EKS bootstrap of Windows did not run",
			means: "User data calls Start-EKSBootstrap.ps1 wrongly, or the image is not one of EKS.",
			next:  "Start an EKS-optimised Windows image, and correct the call in user data.",
			check: checkid.InstanceUserData,
		},
	}
}

// unitRows are units that failed or did not start: they say that, not why.
func unitRows() []row {
	return []row{
		{
			// github.com/awslabs/amazon-eks-ami/issues/2426
			id: "nodeadm-unit", sample: "FAILED Failed to start nodeadm-co.service - EKS Nodeadm Config.",
			all: [][]string{{"failed to start", "dependency failed for"}, {"nodeadm", "noderun.service"}}, phase: inUserData,
			title: "nodeadm did not get through",
			means: "nodeadm failed, and the kubelet is not started without it. The console does not say why.",
			next:  "Read its log on the instance (journalctl -u nodeadm-config -u nodeadm-run) and the NodeConfig in user data.",
			check: checkid.InstanceUserData,
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/990
			id: "kubelet-unit", sample: "systemd: Dependency failed for Kubernetes Kubelet.",
			all: [][]string{{"failed to start", "dependency failed for", "start request repeated too quickly"}, {"kubelet"}}, phase: inUserData,
			title: "the kubelet was not started",
			means: "What the kubelet needs did not start, and so neither does the kubelet.",
			next:  "Read the lines before it in the console output, and journalctl -u kubelet on the instance.",
		},
	}
}

// userDataRows are failures of user data, cloud-init and AL2's bootstrap.sh.
func userDataRows() []row {
	return []row{
		{
			// github.com/awslabs/amazon-eks-ami/issues/2426
			id: "bootstrap-removed", sample: "ERROR: bootstrap.sh has been removed from AL2023-based EKS AMIs.",
			all: [][]string{{"bootstrap.sh has been removed from al2023"}}, phase: inUserData,
			title: "AL2 user data on an AL2023 image",
			means: "User data calls bootstrap.sh, which AL2023 images no longer have.",
			next:  "Write user data as a NodeConfig for nodeadm, or start an image that has bootstrap.sh.",
			check: checkid.InstanceUserData,
		},
		{
			// github.com/terraform-aws-modules/terraform-aws-eks/issues/1179
			id: "bootstrap-absent", sample: "/var/lib/cloud/instance/scripts/part-001: line 7: /etc/eks/bootstrap.sh: No such file or directory",
			all: [][]string{{"/etc/eks/bootstrap.sh: no such file", "/etc/eks/bootstrap.sh: not found"}}, phase: inUserData,
			title: "the image has no bootstrap.sh",
			means: "User data calls /etc/eks/bootstrap.sh, and the image is not one of EKS with AL2 or Ubuntu.",
			next:  "Start an EKS image, or write user data for the image that is started.",
			check: checkid.InstanceUserData,
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/999
			id: "describe-cluster-unreachable", sample: `Connect timeout on endpoint URL: "https://eks.us-west-2.amazonaws.com/clusters/prod"`,
			all: [][]string{{"connect timeout on endpoint url", "could not connect to the endpoint url", "read timeout on endpoint url"}, {"//eks."}}, phase: inUserData, unanswered: true,
			title: "the EKS API cannot be reached",
			means: "bootstrap.sh asks EKS for the cluster's endpoint and certificate, and gets no answer.",
			next:  "Pass --apiserver-endpoint and --b64-cluster-ca to bootstrap.sh, or give the subnet a way to the EKS API (NAT gateway, or endpoint com.amazonaws.<region>.eks).",
			check: checkid.EndpointMissing,
		},
		{
			// github.com/awslabs/amazon-eks-ami/pull/2096
			id: "describe-cluster-throttled", sample: "Waiter ClusterActive failed: An error occurred (TooManyRequestsException): Too Many Requests",
			all: [][]string{{"waiter clusteractive failed"}, {"toomanyrequests", "too many requests"}}, phase: inUserData,
			title: "EKS throttled DescribeCluster",
			means: "bootstrap.sh asks EKS for the cluster, and too many nodes did so at once.",
			next:  "Pass --apiserver-endpoint and --b64-cluster-ca to bootstrap.sh: it then asks nobody.",
			check: checkid.InstanceUserData,
		},
		{
			// In the form of the AWS CLI; EKS API reference, DescribeCluster.
			id: "cluster-not-found", sample: "An error occurred (ResourceNotFoundException) when calling the DescribeCluster operation: No cluster found for name: prodd.",
			all: [][]string{{"resourcenotfoundexception", "no cluster found for name"}, {"describecluster", "no cluster found"}}, phase: inUserData,
			title: "user data names a cluster that does not exist",
			means: "The cluster name that user data gives is not one of this account and region.",
			next:  "Correct the cluster's name in the launch template's user data.",
			check: checkid.InstanceUserData,
		},
		{
			// In the form of the AWS CLI; EKS API reference, DescribeCluster.
			id: "describe-cluster-denied", sample: "An error occurred (AccessDeniedException) when calling the DescribeCluster operation: User: arn:aws:sts::123456789012:assumed-role/workers/i-0node is not authorized to perform: eks:DescribeCluster",
			all: [][]string{{"accessdenied", "not authorized to perform"}, {"describecluster"}}, phase: inUserData,
			title: "the node role may not call eks:DescribeCluster",
			means: "bootstrap.sh asks EKS for the cluster, and the node role does not allow it.",
			next:  "Attach AmazonEKSWorkerNodePolicy to the node role, or pass the endpoint and certificate to bootstrap.sh.",
			check: checkid.IAMRolePolicies,
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/594
			id: "metadata-refused", sample: "  <title>401 - Unauthorized</title>",
			all: [][]string{{"<title>401 - unauthorized</title>"}}, phase: inUserData, guess: true,
			title: "the metadata service refuses the bootstrap",
			means: "A script asks the instance metadata service without a token, and the instance wants tokens (IMDSv2).",
			next:  "Start a newer image, whose scripts use tokens.",
			check: checkid.InstanceIMDS,
		},
		{
			// In the form of bash for ENOEXEC.
			id: "wrong-architecture", sample: "/etc/eks/bootstrap.sh: line 420: /usr/bin/kubelet: cannot execute binary file: Exec format error",
			all: [][]string{{"cannot execute binary file"}, {"kubelet", "containerd", "nodeadm", "/usr/bin/aws"}}, phase: inUserData,
			title: "programs of another processor architecture",
			means: "The image holds programs that this instance type's processor cannot run.",
			next:  "Start an image for the instance type's architecture, or install the right build of the program.",
			check: checkid.InstanceAMI,
		},
		{
			// github.com/awslabs/amazon-eks-ami/issues/999
			id: "bootstrap-failed", sample: "Exited with error on line 358",
			all: [][]string{{"exited with error on line "}}, phase: inUserData,
			title: "bootstrap.sh ended with an error",
			means: "bootstrap.sh stopped before it started the kubelet.",
			next:  "Read the lines before it in the console output: they say which command failed.",
			check: checkid.InstanceUserData,
		},
		{
			// In the form of cloud-init, cloudinit/subp.py: a part that does not begin with #!
			id: "script-without-interpreter", sample: "util.py[WARNING]: Failed running /var/lib/cloud/instance/scripts/part-001 [-]: Exec format error. Missing #! in script?",
			all: [][]string{{"missing #! in script"}}, phase: inUserData, guess: true,
			title: "a script in user data has no #! line",
			means: "cloud-init could not run a script of user data: its first line does not say what runs it.",
			next:  "Begin the script with #!/bin/bash, right after the part's empty line.",
			check: checkid.InstanceUserData,
		},
		{
			// github.com/terraform-aws-modules/terraform-aws-eks/issues/1179. A
			// script that fails beside the one that joins does no harm
			// (github.com/aws/karpenter-provider-aws/issues/5494): no proof.
			id: "user-script-failed", sample: "2021-01-08 14:01:22,324 - cc_scripts_user.py[WARNING]: Failed to run module scripts-user (scripts in /var/lib/cloud/instance/scripts)",
			all: [][]string{{"failed to run module scripts-user", "failed running /var/lib/cloud/instance/scripts/", "execute cloud user/final scripts", "failed to start cloud-final"}, {"fail"}}, phase: inUserData, guess: true,
			title: "a script in user data failed",
			means: "cloud-init ran user data's script, and it ended with an error.",
			next:  "Read the lines before it in the console output, and /var/log/cloud-init-output.log on the instance.",
			check: checkid.InstanceUserData,
		},
		{
			// In the form of cloud-init, cloudinit/util.py.
			id: "cloud-config-invalid", sample: "util.py[WARNING]: Failed loading yaml blob. Invalid format at line 3 column 1",
			all: [][]string{{"failed loading yaml blob", "failed at merging in cloud config part"}}, phase: inUserData, guess: true,
			title: "user data's cloud-config cannot be read",
			means: "cloud-init skipped a part of user data that is no valid YAML.",
			next:  "Correct the YAML of the cloud-config in the launch template's user data.",
			check: checkid.InstanceUserData,
		},
	}
}
