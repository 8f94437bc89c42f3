package messages

import (
	"slices"

	"rollcall/shared/checkid"
)

// consoleAPIRows are what the kubelet says while it cannot talk to the cluster's API.
// It tries every few seconds, and so the last of them is how it is.
func consoleAPIRows() []Row {
	toCluster := []string{".eks.amazonaws.com", ".eks.amazonaws.com.cn", "unable to register node with api server", "failed to ensure lease exists", ".api.aws"}
	talks := []string{"failed to list", "failed to watch", "unable to register node", "failed to ensure lease exists", "error getting node", "error updating node status"}
	// What every node must reach. Others (ssm, logs) time out on healthy
	// nodes of private subnets.
	needed := []string{"//ec2.", "//sts.", "//api.ecr.", ".dkr.ecr.", "//eks."}
	late := []string{"i/o timeout", "deadline exceeded", "tls handshake timeout", "client.timeout exceeded", "connection timed out"}
	return []Row{
		{
			ID: "sts-region-disabled", Sample: "RegionDisabledException: STS is not activated in this region for account:123456789012. Your account administrator can activate STS in this region using the IAM Console.",
			Source: "github.com/awslabs/ai-on-eks/pull/183",
			All:    [][]string{{"regiondisabledexception", "sts is not activated in this region"}}, Phase: InAPI,
			Title:   "STS is deactivated in this region",
			Meaning: "The account has STS deactivated in this region: the node gets no valid token for the cluster.",
			Next:    "Activate STS for the region in IAM, Account settings.",
			Check:   checkid.IAMSTSRegionDeactivated,
		},
		{
			ID: "tls-intercepted", Sample: `failed to do request: Head "https://602401143452.dkr.ecr.us-west-2.amazonaws.com/v2/eks/pause/manifests/3.5": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
			Source: "A proxy or firewall that opens TLS stands between; the cluster's own certificate is not asked there",
			All:    [][]string{needed, {"signed by unknown authority"}}, Phase: InAPI, Least: 2,
			Title:   "something on the path intercepts TLS to AWS",
			Meaning: "An AWS service presents a certificate that the image does not trust: a proxy or firewall on the path intercepts TLS.",
			Next:    "Exempt AWS services from TLS inspection, or add the proxy's certificate authority to the image.",
		},
		{
			ID: "x509-unknown-authority", Sample: `E0629 05:29:43.583645    2413 kubelet_node_status.go:106] Unable to register node "ip-10-0-1-36.eu-west-1.compute.internal" with API server: Post https://35.192.63.12/api/v1/nodes: x509: certificate signed by unknown authority`,
			Source: "github.com/kubernetes/kubernetes/issues/48282, with another node's name",
			All:    [][]string{slices.Concat(talks, toCluster), {"signed by unknown authority"}}, None: []string{":10250", "webhook"}, Phase: InAPI, Least: 2,
			Title:   "the node trusts another certificate authority",
			Meaning: "The certificate authority in user data is not the cluster's: it belongs to another or an earlier cluster.",
			Next:    "Put the cluster's certificateAuthority.data into the launch template's user data.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "x509-expired", Sample: `Unable to register node with API server" err="Post \"https://ABCD.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes\": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2019-01-01T00:00:00Z is before 2024-08-01T00:00:00Z"`,
			Source: "In the form of Go, crypto/x509; the clock of a new instance may be wrong for a moment",
			All:    [][]string{slices.Concat(talks, toCluster), {"certificate has expired or is not yet valid"}}, Phase: InAPI, Least: 3,
			Title:   "the node's clock or certificate is out of date",
			Meaning: "The node considers the cluster's certificate expired or not yet valid: usually its clock is wrong.",
			Next:    "Let the node reach the time service (169.254.169.123), or correct the time in the image.",
		},
		{
			ID: "node-name-empty", Sample: `kubelet_node_status.go:92] "Unable to register node with API server" err="nodes is forbidden: User \"system:node:\" cannot create resource \"nodes\" in API group \"\" at the cluster scope: unknown node for user \"system:node:\""`,
			Source: "github.com/kubernetes/cloud-provider-aws/issues/635",
			All:    [][]string{{`user "system:node:" cannot`}}, Phase: InAPI,
			Title:   "EC2 gave the node no private DNS name",
			Meaning: "The cluster knows the node by its private DNS name, which was empty when the node requested it: DNS hostnames are off in the VPC, or EC2 was late.",
			Next:    "Enable DNS hostnames in the VPC; if they are, replace the instance.",
			Check:   checkid.DNSHostnamesOff,
		},
		{
			ID: "kubelet-anonymous", Sample: `"Unable to register node with API server" err="nodes is forbidden: User \"system:anonymous\" cannot create resource \"nodes\" in API group \"\" at the cluster scope"`,
			Source: "github.com/kubernetes-sigs/cluster-api/issues/8631",
			All:    [][]string{{`user "system:anonymous" cannot`}}, Phase: InAPI, Least: 2,
			Title:   "the kubelet has no credentials for the cluster",
			Meaning: "The kubelet calls the cluster's API without a token: it has no valid kubeconfig, or gets no token from STS.",
			Next:    "Check the kubeconfig that user data writes, and the node's path to STS.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "registration-forbidden", Sample: `"Unable to register node with API server" err="nodes is forbidden: User \"arn:aws:sts::123456789012:assumed-role/workers/i-0node\" cannot create resource \"nodes\" in API group \"\" at the cluster scope"`,
			Source: "In the form of Kubernetes' RBAC: an access entry or mapping without the group system:nodes",
			All:    [][]string{{`cannot create resource "nodes"`}}, Phase: InAPI, Least: 2,
			Title:   "the node role is not allowed to register nodes",
			Meaning: "The cluster knows the node role, but not as a node: its access entry or mapping lacks the group system:nodes.",
			Next:    "Give the node role an access entry of type EC2_LINUX (EC2_WINDOWS), or map it with system:bootstrappers and system:nodes.",
			Check:   checkid.IAMAccessWrongType,
		},
		{
			ID: "kubelet-unauthorized", Sample: "reflector.go:123] k8s.io/kubernetes/pkg/kubelet/kubelet.go:450: Failed to list *v1.Service: Unauthorized",
			Source: "github.com/awslabs/amazon-eks-ami/issues/486",
			All:    [][]string{talks, {"unauthorized"}}, None: []string{"ecr.", "unauthorizedoperation"}, Phase: InAPI, Least: 2,
			Title:   "the API rejects the node's credentials",
			Meaning: "The cluster rejects the node role: it has no access entry and no mapping in aws-auth, or STS is deactivated in this region.",
			Next:    "Give the node role an access entry of type EC2_LINUX (EC2_WINDOWS), or map it in aws-auth.",
			Check:   checkid.IAMAccessMissing,
		},
		{
			ID: "token-failed", Sample: `Unable to register node with API server" err="Post \"https://ABCD.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes\": getting credentials: exec: executable aws-iam-authenticator failed with exit code 1"`,
			Source: "In the form of client-go, plugin/pkg/client/auth/exec",
			All:    [][]string{{"getting credentials: exec"}}, Phase: InAPI, Least: 3,
			Title:   "the node gets no token for the cluster",
			Meaning: "The program that creates the node's token fails: STS cannot be reached, the instance has no credentials, or the program is missing.",
			Next:    "Check the instance profile and the subnet's path to STS; read the kubelet's log on the instance.",
			Check:   checkid.IAMSTSEndpoint,
		},
		{
			ID: "api-name-unresolved", Sample: `controller.go:144] failed to ensure lease exists, will retry in 7s, error: Get "https://BC3C703DF8F128858B273DD34A80F043.gr7.us-east-1.eks.amazonaws.com/apis/coordination.k8s.io/v1/leases": dial tcp: lookup BC3C703DF8F128858B273DD34A80F043.gr7.us-east-1.eks.amazonaws.com on 10.50.0.2:53: no such host`,
			Source: "github.com/aws/karpenter-provider-aws/issues/2423 and kubernetes-sigs/karpenter/issues/2981",
			All:    [][]string{{".eks.amazonaws.com"}, {"lookup "}, {"no such host", "server misbehaving", "i/o timeout", "temporary failure in name resolution", "connection refused"}}, Phase: InAPI, Least: 3, Unanswered: true,
			Title:   "the cluster's endpoint does not resolve here",
			Meaning: "The node cannot resolve the name of the cluster's API: DNS of the VPC is off, it uses other name servers, or the cluster was deleted.",
			Next:    "Enable DNS support in the VPC, use AmazonProvidedDNS or forward to it, and compare the endpoint in user data.",
			Check:   checkid.DNSSupportOff,
		},
		{
			ID: "name-unresolved", Sample: `RequestError: send request failed caused by: Post "https://ec2.us-west-2.amazonaws.com/": dial tcp: lookup ec2.us-west-2.amazonaws.com on 10.0.0.2:53: read udp 10.0.1.36:41217->10.0.0.2:53: i/o timeout`,
			Source: "In the form of Go's resolver when the name server does not answer",
			All:    [][]string{needed, {"lookup "}, {"amazonaws.com on"}, {"no such host", "server misbehaving", "i/o timeout", "connection refused"}}, Phase: InAPI, Least: 3, Unanswered: true,
			Title:   "names of AWS services cannot be resolved",
			Meaning: "The name servers do not respond, or do not know AWS services.",
			Next:    "Enable DNS support in the VPC, allow port 53 in security groups and network ACLs, and check the DHCP options' name servers.",
			Check:   checkid.DNSSupportOff,
		},
		{
			ID: "api-timeout", Sample: `"Unable to register node with API server" err="Post \"https://BC3C703DF8F128858B273DD34A80F043.gr7.us-east-1.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.50.14.7:443: i/o timeout"`,
			Source: "In the form of the kubelet and Go's net package",
			All:    [][]string{toCluster, late}, Phase: InAPI, Least: 3, Unanswered: true,
			Title:   "the cluster's API does not respond",
			Meaning: "Packets to the cluster's API, or its responses, are lost on the way.",
			Next:    "Check the path to the endpoint: routes, the cluster's security group (443 from the node), network ACLs, and the public access CIDRs.",
			Check:   checkid.SGClusterIngress,
		},
		{
			ID: "api-refused", Sample: `"Unable to register node with API server" err="Post \"https://BC3C703DF8F128858B273DD34A80F043.gr7.us-east-1.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.50.14.7:443: connect: connection refused"`,
			Source: "github.com/syself/cluster-api-provider-hetzner/issues/1731, with a cluster of EKS. It also comes while a control plane is replaced",
			All:    [][]string{toCluster, {"connection refused", "no route to host", "network is unreachable"}}, Phase: InAPI, Least: 5, Guess: true, Unanswered: true,
			Title:   "nothing listens at the cluster's endpoint",
			Meaning: "The address that the node uses for the cluster's API refuses connections, or has no route to it.",
			Next:    "Compare the endpoint in user data with the cluster's, and what name servers return for it.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "aws-timeout", Sample: `RequestError: send request failed caused by: Post "https://sts.us-west-2.amazonaws.com/": dial tcp 54.188.62.0:443: i/o timeout`,
			Source: "In the form of github.com/aws/karpenter-provider-aws/pull/5740, of another service",
			All:    [][]string{needed, late}, None: []string{"lookup "}, Phase: InAPI, Least: 3, Unanswered: true,
			Title:   "an AWS service that nodes need does not respond",
			Meaning: "Packets to EC2, ECR, STS or EKS, or their responses, are lost on the way.",
			Next:    "Give the subnet a path to the service that the line names: NAT gateway, or an endpoint whose security group allows 443 from the node.",
			Check:   checkid.EndpointMissing,
		},
	}
}

// consoleBootRows are failures of the kernel, the disks and the operating system.
func consoleBootRows() []Row {
	return []Row{
		{
			ID: "no-root-device", Sample: "[    1.224861] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)",
			Source: "In the form of Linux, init/do_mounts.c",
			All:    [][]string{{"unable to mount root fs", "cannot find root device", "gave up waiting for root"}},
			Phase:  InKernel, Late: true,
			Title:   "the kernel finds no root volume",
			Meaning: "The kernel did not find its boot volume: the image lacks a driver (NVMe, ENA), or its root device has the wrong name.",
			Next:    "Use an image built for this instance type, or correct the launch template's block device mapping.",
			Check:   checkid.InstanceAMI,
		},
		{
			ID: "kernel-panic", Sample: "[    2.681293] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00007f00",
			Source: "In the form of Linux, kernel/exit.c",
			All:    [][]string{{"kernel panic - not syncing"}}, Phase: InKernel, Late: true,
			Title:   "the kernel stopped with a panic",
			Meaning: "The kernel stopped: nothing runs on the instance.",
			Next:    "Use another image or an earlier version of it; replace the instance.",
			Check:   checkid.InstanceAMI,
		},
		{
			ID: "boot-loader", Sample: "grub rescue>",
			Source: "GRUB's prompt after it failed",
			All:    [][]string{{"grub rescue>", "grubdom>", "error: no such partition", "error: unknown filesystem"}}, Phase: InKernel, Late: true,
			Title:   "the boot loader found nothing to start",
			Meaning: "The boot loader stopped at its prompt: the image has no kernel where it looks for one.",
			Next:    "Use another image or an earlier version of it.",
			Check:   checkid.InstanceAMI,
		},
		{
			ID: "emergency-mode", Sample: `You are in emergency mode. After logging in, type "journalctl -xb" to view`,
			Source: "systemd's emergency.service says so",
			All:    [][]string{{"you are in emergency mode", "welcome to emergency mode", "entering emergency mode", "you are in rescue mode"}}, Phase: InKernel, Late: true,
			Title:   "the operating system is in emergency mode",
			Meaning: "The boot stopped and waits for someone at the console: usually a line of /etc/fstab names a missing volume.",
			Next:    "Correct what user data or the image writes to /etc/fstab (nofail), and replace the instance.",
		},
		{
			ID: "disk-full", Sample: "write /var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db: no space left on device",
			Source: "The words of ENOSPC, as in github.com/ministryofjustice/cloud-platform, incident of 2023-09-18",
			All:    [][]string{{"no space left on device"}},
			// inotify watches run out with the same words; the disk is not full then.
			None: []string{"inotify"}, Phase: InKubelet, Guess: true, Late: true,
			Title:   "a disk is full",
			Meaning: "A volume of the instance is full; images cannot be unpacked and services cannot write.",
			Next:    "Give the launch template a larger root volume.",
		},
		{
			ID: "out-of-memory", Sample: "[  312.417] Out of memory: Killed process 2134 (kubelet) total-vm:1957168kB, anon-rss:91232kB",
			Source: "In the form of Linux, mm/oom_kill.c",
			All:    [][]string{{"out of memory: kill"}, {"(kubelet)", "(containerd)", "(nodeadm)", "(dockerd)"}},
			Phase:  InKubelet, Guess: true, Late: true,
			Title:   "the kernel killed a service for lack of memory",
			Meaning: "The instance has too little memory for what runs on it, and the kernel killed a service that the node needs.",
			Next:    "Use a larger instance type, or reserve memory for the system (kubeReserved, systemReserved).",
		},
	}
}

// consoleKubeletRows are failures that keep the kubelet from starting.
func consoleKubeletRows() []Row {
	return []Row{
		{
			ID: "forbidden-label", Sample: "failed to validate kubelet flags: unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [node-role.kubernetes.io/worker]",
			Source: "github.com/terraform-aws-modules/terraform-aws-eks/issues/3346 and /831",
			All:    [][]string{{"labels specified with --node-labels", "namespace must begin with an allowed prefix"}}, Phase: InKubelet,
			Title:   "the kubelet is not allowed to set a node label",
			Meaning: "User data or the nodegroup sets a reserved label of the kubernetes.io namespace, and the kubelet does not start with it.",
			Next:    "Remove the label, or set it after the node joined.",
			Check:   checkid.InstanceForbiddenNodeLabel,
		},
		{
			ID: "kubelet-flag", Sample: `E0817 09:21:04.118734    2317 run.go:74] "command failed" err="failed to parse kubelet flag: unknown flag: --container-runtime"`,
			Source: "In the form of Kubernetes, cmd/kubelet; 1.27 took --container-runtime away",
			All:    [][]string{{"failed to parse kubelet flag", "kubelet…unknown flag: --", "kubelet…unrecognized feature gate"}}, Phase: InKubelet,
			Title:   "the kubelet does not recognize one of its flags",
			Meaning: "User data passes the kubelet a flag or feature gate that its version does not have.",
			Next:    "Remove the flag from the kubelet's extra arguments in user data.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "kubelet-config", Sample: `"command failed" err="failed to load kubelet config file, path: /etc/kubernetes/kubelet/config.json, error: failed to decode: strict decoding error: unknown field \"maxPod\""`,
			Source: "In the form of Kubernetes, cmd/kubelet/app/server.go",
			All:    [][]string{{"failed to load kubelet config file", "failed to validate kubelet configuration", "invalid configuration: "}, {"kubelet"}}, Phase: InKubelet,
			Title:   "the kubelet's configuration is not valid",
			Meaning: "The kubelet configuration that user data writes is not valid, and the kubelet does not start with it.",
			Next:    "Correct spec.kubelet.config of the NodeConfig, or the script that changes the file.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "kubelet-swap", Sample: "kubelet: error: failed to run Kubelet: Running with swap on is not supported, please disable swap! or set --fail-swap-on flag to false.",
			Source: "github.com/oracle/terraform-kubernetes-installer/issues/52",
			All:    [][]string{{"running with swap on is not supported"}}, Phase: InKubelet,
			Title:   "the kubelet does not start with swap on",
			Meaning: "The instance has swap space, and the kubelet's settings do not allow it.",
			Next:    "Turn swap off in user data (swapoff -a), or set failSwapOn: false.",
		},
		{
			ID: "kubelet-cgroup", Sample: `"command failed" err="failed to run Kubelet: kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release"`,
			Source: "In the form of Kubernetes, pkg/kubelet: failCgroupV1, true from 1.35 on",
			All:    [][]string{{"not run on a host using cgroup v1", "misconfiguration: kubelet cgroup driver"}}, Phase: InKubelet,
			Title:   "the kubelet rejects the image's cgroups",
			Meaning: "The image and the kubelet use different control groups: AL2 has version 1, which newer kubelets reject.",
			Next:    "Use an AL2023 or Bottlerocket image.",
			Check:   checkid.InstanceAMI,
		},
		{
			ID: "kubelet-ca-file", Sample: "server.go:245] unable to load client CA file /etc/kubernetes/pki/ca.crt: error reading /etc/kubernetes/pki/ca.crt: data does not contain any valid RSA or ECDSA certificates",
			Source: "github.com/awslabs/amazon-eks-ami/issues/178 and /442",
			All:    [][]string{{"unable to load client ca file", "unable to load root certificates", "unable to construct ca provider"}}, Phase: InKubelet,
			Title:   "the node has no valid certificate of the cluster",
			Meaning: "The cluster's certificate authority in user data is missing or broken, or the cluster was not ready when the node requested it.",
			Next:    "Correct the certificate in user data (base64 of the cluster's certificateAuthority.data), and replace the instance.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "kubelet-cloud-provider", Sample: `"command failed" err="failed to run Kubelet: unknown cloud provider \"aws\" was specified, you may want to use \"external\" instead"`,
			Source: "In the form of Kubernetes 1.27 and later, which have no cloud provider aws in the kubelet",
			All:    [][]string{{"unknown cloud provider"}}, Phase: InKubelet,
			Title:   "the kubelet no longer has the cloud provider aws",
			Meaning: "User data passes the kubelet --cloud-provider=aws, which ended with Kubernetes 1.27.",
			Next:    "Use --cloud-provider=external, or a newer EKS image whose bootstrap does so.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "kubelet-cloud-init", Sample: `kubelet: F0923 10:30:06.736075   14523 server.go:261] failed to run Kubelet: could not init cloud provider "aws": error finding instance : "error listing AWS instances: RequestError: send request failed`,
			Source: "github.com/terraform-aws-modules/terraform-aws-eks/issues/522",
			All:    [][]string{{"could not init cloud provider"}}, Phase: InKubelet,
			Title:   "the kubelet cannot find its instance in EC2",
			Meaning: "The kubelet queries EC2 for its own instance: EC2 cannot be reached, or the node role does not allow it.",
			Next:    "Give the subnet a path to the EC2 API, and the node role ec2:DescribeInstances.",
			Check:   checkid.EndpointMissing,
		},
		{
			ID: "kubelet-no-runtime", Sample: `"command failed" err="failed to run Kubelet: validate service connection: validate CRI v1 runtime API for endpoint \"unix:///run/containerd/containerd.sock\": rpc error: code = Unavailable desc = connection error"`,
			Source: "In the form of Kubernetes, pkg/kubelet and its CRI client",
			All:    [][]string{{"validate service connection", "validate cri v1 runtime api"}}, Phase: InKubelet, Least: 3,
			Title:   "the kubelet finds no container runtime",
			Meaning: "containerd repeatedly does not respond to the kubelet.",
			Next:    "Read containerd's log on the instance (journalctl -u containerd).",
		},
		{
			ID: "kubelet-failed", Sample: `"command failed" err="failed to run Kubelet: failed to create kubelet: misconfiguration"`,
			Source: "In the form of Kubernetes, cmd/kubelet/app/server.go",
			All:    [][]string{{"failed to run kubelet"}}, Phase: InKubelet, Least: 2,
			Title:   "the kubelet does not start",
			Meaning: "The kubelet repeatedly exits with an error; the line names it.",
			Next:    "Read the error in the line, and the kubelet settings in user data.",
			Check:   checkid.InstanceUserData,
		},
	}
}

// consoleNodeadmRows are failures of nodeadm (AL2023) and of Bottlerocket's settings.
func consoleNodeadmRows() []Row {
	ec2Denied := []string{"unauthorizedoperation", "not authorized to perform"}
	return []Row{
		{
			ID: "nodeadm-incomplete", Sample: `{"level":"fatal","ts":1738746121.5297415,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"Name is missing in cluster configuration","stacktrace":"main.main\n\t/workdir/cmd/nodeadm/main.go:36"}`,
			Source: "github.com/awslabs/amazon-eks-ami/issues/2123",
			All:    [][]string{{" is missing in cluster configuration"}}, Phase: InUserData,
			Title:   "the NodeConfig is incomplete",
			Meaning: "nodeadm found no complete NodeConfig in user data: name, endpoint, certificate and service range of the cluster are needed.",
			Next:    "Complete spec.cluster of the NodeConfig in the launch template's user data; mind the case and the indentation.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "nodeadm-unreadable", Sample: `{"level":"fatal","ts":1709500289.8128433,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"yaml: line 4: could not find expected ':'"}`,
			Source: "github.com/awslabs/amazon-eks-ami/issues/1701; /2052 and /2318 end alike",
			All:    [][]string{{"nodeadm"}, {"command failed"}, {`"error":"yaml: `, "error converting yaml to json", "unknown field", "is registered for version", "malformed mime header", "no config in chain", "could not find nodeconfig", "no nodeconfig", "mime: no media type", "cannot unmarshal"}}, Phase: InUserData,
			Title:   "nodeadm cannot read user data",
			Meaning: "nodeadm could not read a NodeConfig in user data: broken YAML or MIME, an unknown field, or a wrong apiVersion.",
			Next:    "Correct the NodeConfig in the launch template's user data (apiVersion node.eks.aws/v1alpha1; an empty line ends the headers of a MIME part).",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "ec2-denied-fatal", Sample: `nodeadm[1512]: {"level":"fatal","caller":"nodeadm/main.go:36","msg":"Command failed","error":"operation error EC2: DescribeInstances, https response error StatusCode: 403, RequestID: , api error UnauthorizedOperation: You are not authorized to perform this operation."}`,
			Source: "In the form of nodeadm's last word (github.com/awslabs/amazon-eks-ami/issues/2423) with EC2's refusal: it is final",
			All:    [][]string{{"command failed"}, {"describeinstances"}, {"unauthorizedoperation", "authfailure"}}, Phase: InUserData,
			Title:   "the node role lacks ec2:DescribeInstances",
			Meaning: "nodeadm queries EC2 for the instance's name, and is not allowed to.",
			Next:    "Attach AmazonEKSWorkerNodePolicy to the node role; look for a deny in its boundary, in a service control policy and in the policy of the EC2 endpoint.",
			Check:   checkid.IAMRolePolicies,
		},
		{
			ID: "ec2-denied", Sample: "[   16.224034] pluto[1671]: 22:20:05 [ERROR] EC2 DescribeInstances attempt failed, will retry: code=UnauthorizedOperation message=You are not authorized to perform this operation.",
			Source: "github.com/bottlerocket-os/bottlerocket-core-kit/pull/849",
			All:    [][]string{{"describeinstances"}, ec2Denied}, Phase: InUserData, Least: 2,
			Title:   "the node role lacks ec2:DescribeInstances",
			Meaning: "The node queries EC2 for its own name, and is not allowed to.",
			Next:    "Attach AmazonEKSWorkerNodePolicy to the node role; look for a deny in its boundary, in a service control policy and in the policy of the EC2 endpoint.",
			Check:   checkid.IAMRolePolicies,
		},
		{
			ID: "ec2-unreachable", Sample: `Sep 08 03:04:27 localhost nodeadm[50500]: {"level":"fatal","ts":1757300667.2454364,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"expected err to be of type smithy.APIError, got operation error EC2: DescribeInstances, https response error StatusCode: 0, RequestID: , canceled, context deadline exceeded"}`,
			Source: "github.com/awslabs/amazon-eks-ami/issues/2423",
			All:    [][]string{{"command failed"}, {"describeinstances"}, {"deadline exceeded", "exceeded max wait time", "i/o timeout", "connection refused", "no such host"}}, Phase: InUserData, Unanswered: true,
			Title:   "the EC2 API cannot be reached",
			Meaning: "nodeadm queried EC2 for the instance's name, and got no response until it gave up.",
			Next:    "Give the subnet a path to the EC2 API: NAT gateway, or endpoint com.amazonaws.<region>.ec2 whose security group allows 443 from the node. If that works, check the order of network interfaces and a proxy that starts too late.",
			Check:   checkid.EndpointMissing,
		},
		{
			ID: "pluto-timeout", Sample: "[  303.392308] sundog[1343]: Setting generator 'pluto private-dns-name' failed with exit code 1 - stderr: Timed out retrieving private DNS name from EC2: deadline has elapsed",
			Source: "github.com/bottlerocket-os/bottlerocket/issues/3525",
			All:    [][]string{{"timed out retrieving private dns name", "timed out retrieving cluster"}}, Phase: InUserData, Unanswered: true,
			Title:   "the EC2 or EKS API cannot be reached",
			Meaning: "Bottlerocket queried AWS for the instance's name and cluster, and got no response until it gave up.",
			Next:    "Give the subnet a path to the EC2 and EKS APIs (NAT gateway or endpoints), or correct settings.network.https-proxy.",
			Check:   checkid.EndpointMissing,
		},
		{
			ID: "pluto-failed", Sample: "[    8.217745] sundog[1290]: Setting generator 'pluto cluster-dns-ip' failed with exit code 1 - stderr: Unable to retrieve cluster: unexpected status",
			Source: "In the form of github.com/bottlerocket-os/bottlerocket/issues/3525, of another generator",
			All:    [][]string{{"setting generator '"}, {"failed with exit code"}}, Phase: InUserData,
			Title:   "Bottlerocket could not generate its settings",
			Meaning: "A program that queries AWS for the node's settings (name, addresses, cluster) failed, and the boot stops there.",
			Next:    "The line names what it queried: allow it in the node role, or set the value in user data.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "bottlerocket-user-data", Sample: "[FAILED] Failed to start Bottlerocket userdata configuration system.",
			Source: "In systemd's form; the unit's name is in github.com/bottlerocket-os/bottlerocket/issues/3525",
			All:    [][]string{{"failed to start bottlerocket userdata configuration system", "failed to start early-boot-config"}}, Phase: InUserData,
			Title:   "Bottlerocket cannot read user data",
			Meaning: "User data is not TOML that Bottlerocket's settings accept.",
			Next:    "Correct the TOML in the launch template's user data.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "metadata-unreachable", Sample: `nodeadm[1491]: {"level":"fatal","caller":"nodeadm/main.go:36","msg":"Command failed","error":"operation error ec2imds: GetUserData, request canceled, context deadline exceeded"}`,
			Source: "In the form of nodeadm's last word, for what amazon-eks-ami/pull/1970 tells; before it, the credentials may only be late. How the metadata service is set is the proof, and instance/imds sees that",
			All:    [][]string{{"command failed"}, {"ec2imds", "ec2 imds", "169.254.169.254"}}, Phase: InUserData, Guess: true,
			Title:   "the metadata service is unusable",
			Meaning: "nodeadm reads user data and credentials from the instance metadata service, which does not respond.",
			Next:    "Enable the metadata endpoint, and look for firewall rules of the image that block 169.254.169.254.",
			Check:   checkid.InstanceIMDS,
		},
		{
			ID: "nodeadm-not-executable", Sample: "nodeadm-config.service: Failed to locate executable /usr/bin/nodeadm: Permission denied",
			Source: "github.com/awslabs/amazon-eks-ami/issues/2123",
			All:    [][]string{{"failed to locate executable", "failed at step exec spawning"}, {"nodeadm", "kubelet", "containerd"}}, Phase: InUserData,
			Title:   "the image blocks node services",
			Meaning: "systemd is not allowed to start nodeadm, the kubelet or containerd: usually SELinux or noexec of a hardened image.",
			Next:    "Set SELinux to permissive, or give the programs their context (restorecon) when the image is built.",
		},
		{
			ID: "ec2-retries", Sample: "Sep 17 10:06:00 localhost nodeadm[2495]: SDK 2025/09/17 10:06:00 DEBUG retrying request EC2/DescribeInstances, attempt 3",
			Source: "github.com/awslabs/amazon-eks-ami/issues/2436. Healthy nodes try two or three times while the instance is new to EC2",
			All:    [][]string{{"retrying request ec2/describeinstances"}}, Phase: InUserData, Least: 5, Guess: true, Unanswered: true,
			Title:   "the EC2 API does not respond",
			Meaning: "nodeadm repeatedly queries EC2 for the instance's name.",
			Next:    "Check the subnet's path to the EC2 API, and throttling of ec2:DescribeInstances in this account.",
			Check:   checkid.EndpointMissing,
		},
		{
			ID: "nodeadm-failed", Sample: `{"level":"fatal","ts":1758103600.1,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"exit status 1"}`,
			Source: "In the form of nodeadm's last word (github.com/awslabs/amazon-eks-ami/issues/2123), whatever the error",
			All:    [][]string{{`"level":"fatal"`}, {"nodeadm"}, {"command failed"}}, Phase: InUserData,
			Title:   "nodeadm failed",
			Meaning: "nodeadm stopped before it started the kubelet; the line names the reason.",
			Next:    "Read the error in the line, and the NodeConfig in the launch template's user data.",
			Check:   checkid.InstanceUserData,
		},
	}
}

// consoleRuntimeRows are failures of containerd and of its sandbox (pause) image,
// without which it starts no pod and, on AL2 and AL2023, no kubelet.
func consoleRuntimeRows() []Row {
	pause := []string{"/eks/pause", "sandbox image", "sandbox-image"}
	return []Row{
		{
			ID: "sandbox-denied", Sample: `failed to get sandbox image "602401143452.dkr.ecr.eu-central-1.amazonaws.com/eks/pause:3.5": failed to pull and unpack image: failed to resolve reference: pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials`,
			Source: "github.com/awslabs/amazon-eks-ami/issues/2061, shortened; aws/amazon-vpc-cni-k8s/issues/2030",
			All:    [][]string{pause, {"no basic auth credentials", "401 unauthorized", "403 forbidden", "authorization failed", "pull access denied", "accessdenied"}}, Phase: InRuntime, Least: 2,
			Title:   "ECR rejects the pull of the sandbox image",
			Meaning: "containerd is not allowed to pull the pause image: the node role lacks ECR's read actions, or ECR's API gave no token.",
			Next:    "Attach AmazonEC2ContainerRegistryPullOnly to the node role, and give the subnet a path to ECR's API.",
			Check:   checkid.IAMRolePolicies,
		},
		{
			ID: "sandbox-unreachable", Sample: `failed to pull and unpack image "602401143452.dkr.ecr.us-east-1.amazonaws.com/eks/pause:3.5": failed to do request: Head "https://602401143452.dkr.ecr.us-east-1.amazonaws.com/v2/eks/pause/manifests/3.5": dial tcp 52.46.132.73:443: i/o timeout`,
			Source: "In the form of containerd, for what github.com/awslabs/amazon-eks-ami/issues/1633 tells",
			All:    [][]string{pause, {"i/o timeout", "deadline exceeded", "connection refused", "no such host", "tls handshake timeout"}}, Phase: InRuntime, Least: 2, Unanswered: true,
			Title:   "ECR cannot be reached for the sandbox image",
			Meaning: "containerd cannot reach ECR, or S3 behind it, for the pause image.",
			Next:    "Give the subnet a path to ECR (api and dkr) and to S3: NAT gateway, or endpoints.",
			Check:   checkid.EndpointMissing,
		},
		{
			ID: "sandbox-failed", Sample: `[   39.266405] cloud-init[1581]: E0728 19:17:10.699880    1584 remote_image.go:135] PullImage "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:3.5" from image service failed: rpc error: code = Unknown desc = unexpected status from HEAD request: 400 Bad Request`,
			Source: "github.com/mattermost/mattermost-cloud-monitoring/pull/891, shortened",
			All:    [][]string{pause, {"failed"}}, None: []string{"dependency", "failed to start", "x509"}, Phase: InRuntime, Least: 3,
			Title:   "the sandbox image cannot be pulled",
			Meaning: "containerd cannot pull the pause image, without which it starts no pod.",
			Next:    "The line has ECR's response: check the image's name and the ECR credential in user data.",
		},
		{
			ID: "sandbox-unit", Sample: "systemd: Failed to start pull sandbox image defined in containerd config.toml.",
			Source: "github.com/awslabs/amazon-eks-ami/issues/990",
			All:    [][]string{{"failed to start pull sandbox image"}}, Phase: InRuntime,
			Title:   "the sandbox image cannot be pulled",
			Meaning: "containerd could not pull the pause image, and the kubelet is not started without it.",
			Next:    "Check the node role's ECR actions and the subnet's path to ECR and S3.",
			Check:   checkid.EndpointMissing,
		},
		{
			ID: "containerd-config", Sample: "containerd[1702]: containerd: failed to load TOML: /etc/containerd/config.toml: (14, 2): unexpected token table key cannot start with this",
			Source: "In the form of containerd, cmd/containerd: what it says of a broken file",
			All:    [][]string{{"containerd"}, {"failed to load toml", "invalid plugin config", "invalid disabled plugin", "unsupported config version"}}, Phase: InRuntime, Late: true,
			Title:   "containerd cannot read its configuration",
			Meaning: "The containerd configuration that user data or the image writes is not valid.",
			Next:    "Correct spec.containerd.config of the NodeConfig, or the script that changes config.toml.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "containerd-down", Sample: "[FAILED] Failed to start containerd.service - containerd container runtime.",
			Source: "In systemd's form, of containerd's unit",
			All:    [][]string{{"failed to start containerd", "containerd.service: start request repeated too quickly"}}, None: []string{"failed to start containerd task"}, Phase: InRuntime, Late: true,
			Title:   "containerd does not start",
			Meaning: "The container runtime does not run, and the kubelet needs it.",
			Next:    "Read containerd's log on the instance (journalctl -u containerd): usually its configuration or a full disk.",
		},
	}
}

// consoleWindowsRows are failures of Windows. EC2Launch writes little to the console:
// the EKS bootstrap has its log in C:\ProgramData\Amazon\EKS\logs.
func consoleWindowsRows() []Row {
	return []Row{
		{
			ID: "windows-stop", Sample: "2024/05/14 09:12:44Z: Message: The computer has rebooted from a bugcheck. The bugcheck was: 0x0000007b",
			Source: "The words of the Windows event BugCheck (1001)",
			All:    [][]string{{"rebooted from a bugcheck"}}, Phase: InKernel, Guess: true, Late: true,
			Title:   "Windows stopped with a bug check",
			Meaning: "Windows stopped and restarted.",
			Next:    "Use an earlier version of the image; replace the instance.",
			Check:   checkid.InstanceAMI,
		},
		{
			ID: "windows-bootstrap", Sample: `UserData: C:\Program Files\Amazon\EKS\Start-EKSBootstrap.ps1 : The term 'Start-EKSBootstrap.ps1' is not recognized as the name of a cmdlet`,
			Source: "In the form of PowerShell for user data of another image",
			All:    [][]string{{"start-eksbootstrap"}, {"is not recognized", "cannot find path", "cannot bind parameter", "a parameter cannot be found"}}, Phase: InUserData,
			Title:   "the EKS bootstrap of Windows did not run",
			Meaning: "User data calls Start-EKSBootstrap.ps1 incorrectly, or the image is not an EKS image.",
			Next:    "Use an EKS-optimized Windows image, and correct the call in user data.",
			Check:   checkid.InstanceUserData,
		},
	}
}

// consoleUnitRows are units that failed or did not start: they say that, not why.
func consoleUnitRows() []Row {
	return []Row{
		{
			ID: "nodeadm-unit", Sample: "FAILED Failed to start nodeadm-co.service - EKS Nodeadm Config.",
			Source: "github.com/awslabs/amazon-eks-ami/issues/2426",
			All:    [][]string{{"failed to start", "dependency failed for"}, {"nodeadm", "noderun.service"}}, Phase: InUserData,
			Title:   "nodeadm did not finish",
			Meaning: "nodeadm failed, and the kubelet is not started without it. The console does not include the reason.",
			Next:    "Read its log on the instance (journalctl -u nodeadm-config -u nodeadm-run) and the NodeConfig in user data.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "kubelet-unit", Sample: "systemd: Dependency failed for Kubernetes Kubelet.",
			Source: "github.com/awslabs/amazon-eks-ami/issues/990",
			All:    [][]string{{"failed to start", "dependency failed for", "start request repeated too quickly"}, {"kubelet"}}, Phase: InUserData,
			Title:   "the kubelet was not started",
			Meaning: "Something the kubelet needs did not start, so the kubelet did not either.",
			Next:    "Read the lines before it in the console output, and journalctl -u kubelet on the instance.",
		},
	}
}

// consoleUserDataRows are failures of user data, cloud-init and AL2's bootstrap.sh.
func consoleUserDataRows() []Row {
	return []Row{
		{
			ID: "bootstrap-removed", Sample: "ERROR: bootstrap.sh has been removed from AL2023-based EKS AMIs.",
			Source: "github.com/awslabs/amazon-eks-ami/issues/2426",
			All:    [][]string{{"bootstrap.sh has been removed from al2023"}}, Phase: InUserData,
			Title:   "AL2 user data on an AL2023 image",
			Meaning: "User data calls bootstrap.sh, which AL2023 images no longer have.",
			Next:    "Write user data as a NodeConfig for nodeadm, or use an image that has bootstrap.sh.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "bootstrap-absent", Sample: "/var/lib/cloud/instance/scripts/part-001: line 7: /etc/eks/bootstrap.sh: No such file or directory",
			Source: "github.com/terraform-aws-modules/terraform-aws-eks/issues/1179",
			All:    [][]string{{"/etc/eks/bootstrap.sh: no such file", "/etc/eks/bootstrap.sh: not found"}}, Phase: InUserData,
			Title:   "the image has no bootstrap.sh",
			Meaning: "User data calls /etc/eks/bootstrap.sh, and the image is not an EKS one with AL2 or Ubuntu.",
			Next:    "Use an EKS image, or write user data for the image in use.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "describe-cluster-unreachable", Sample: `Connect timeout on endpoint URL: "https://eks.us-west-2.amazonaws.com/clusters/prod"`,
			Source: "github.com/awslabs/amazon-eks-ami/issues/999",
			All:    [][]string{{"connect timeout on endpoint url", "could not connect to the endpoint url", "read timeout on endpoint url"}, {"//eks."}}, Phase: InUserData, Unanswered: true,
			Title:   "the EKS API cannot be reached",
			Meaning: "bootstrap.sh requests the cluster's endpoint and certificate from EKS, and gets no response.",
			Next:    "Pass --apiserver-endpoint and --b64-cluster-ca to bootstrap.sh, or give the subnet a path to the EKS API (NAT gateway, or endpoint com.amazonaws.<region>.eks).",
			Check:   checkid.EndpointMissing,
		},
		{
			ID: "describe-cluster-throttled", Sample: "Waiter ClusterActive failed: An error occurred (TooManyRequestsException): Too Many Requests",
			Source: "github.com/awslabs/amazon-eks-ami/pull/2096",
			All:    [][]string{{"waiter clusteractive failed"}, {"toomanyrequests", "too many requests"}}, Phase: InUserData,
			Title:   "EKS throttled DescribeCluster",
			Meaning: "bootstrap.sh calls DescribeCluster, and too many nodes did so at once.",
			Next:    "Pass --apiserver-endpoint and --b64-cluster-ca to bootstrap.sh: it then makes no API call.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "cluster-not-found", Sample: "An error occurred (ResourceNotFoundException) when calling the DescribeCluster operation: No cluster found for name: prodd.",
			Source: "In the form of the AWS CLI; EKS API reference, DescribeCluster",
			All:    [][]string{{"resourcenotfoundexception", "no cluster found for name"}, {"describecluster", "no cluster found"}}, Phase: InUserData,
			Title:   "user data names a cluster that does not exist",
			Meaning: "The cluster name in user data does not exist in this account and region.",
			Next:    "Correct the cluster's name in the launch template's user data.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "describe-cluster-denied", Sample: "An error occurred (AccessDeniedException) when calling the DescribeCluster operation: User: arn:aws:sts::123456789012:assumed-role/workers/i-0node is not authorized to perform: eks:DescribeCluster",
			Source: "In the form of the AWS CLI; EKS API reference, DescribeCluster",
			All:    [][]string{{"accessdenied", "not authorized to perform"}, {"describecluster"}}, Phase: InUserData,
			Title:   "the node role lacks eks:DescribeCluster",
			Meaning: "bootstrap.sh calls EKS for the cluster's settings, and the node role does not allow it.",
			Next:    "Attach AmazonEKSWorkerNodePolicy to the node role, or pass the endpoint and certificate to bootstrap.sh.",
			Check:   checkid.IAMRolePolicies,
		},
		{
			ID: "metadata-refused", Sample: "  <title>401 - Unauthorized</title>",
			Source: "github.com/awslabs/amazon-eks-ami/issues/594",
			All:    [][]string{{"<title>401 - unauthorized</title>"}}, Phase: InUserData, Guess: true,
			Title:   "the metadata service rejects the bootstrap",
			Meaning: "A script calls the instance metadata service without a token, and the instance requires tokens (IMDSv2).",
			Next:    "Use a newer image, whose scripts use tokens.",
			Check:   checkid.InstanceIMDS,
		},
		{
			ID: "wrong-architecture", Sample: "/etc/eks/bootstrap.sh: line 420: /usr/bin/kubelet: cannot execute binary file: Exec format error",
			Source: "In the form of bash for ENOEXEC",
			All:    [][]string{{"kubelet", "containerd", "nodeadm", "/usr/bin/aws"}, {"cannot execute binary file"}}, Phase: InUserData,
			Title:   "programs built for another architecture",
			Meaning: "The image contains programs that this instance type's processor cannot run.",
			Next:    "Use an image for the instance type's architecture, or install the right build of the program.",
			Check:   checkid.InstanceAMI,
		},
		{
			ID: "bootstrap-failed", Sample: "Exited with error on line 358",
			Source: "github.com/awslabs/amazon-eks-ami/issues/999",
			All:    [][]string{{"exited with error on line "}}, Phase: InUserData,
			Title:   "bootstrap.sh exited with an error",
			Meaning: "bootstrap.sh stopped before it started the kubelet.",
			Next:    "Read the lines before it in the console output: they show which command failed.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "script-without-interpreter", Sample: "util.py[WARNING]: Failed running /var/lib/cloud/instance/scripts/part-001 [-]: Exec format error. Missing #! in script?",
			Source: "In the form of cloud-init, cloudinit/subp.py: a part that does not begin with #!",
			All:    [][]string{{"missing #! in script"}}, Phase: InUserData, Guess: true,
			Title:   "a script in user data has no #! line",
			Meaning: "cloud-init could not run a script of user data: its first line does not name an interpreter.",
			Next:    "Begin the script with #!/bin/bash, right after the part's empty line.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "user-script-failed", Sample: "2021-01-08 14:01:22,324 - cc_scripts_user.py[WARNING]: Failed to run module scripts-user (scripts in /var/lib/cloud/instance/scripts)",
			Source: "github.com/terraform-aws-modules/terraform-aws-eks/issues/1179. A script that fails beside the one that joins does no harm (github.com/aws/karpenter-provider-aws/issues/5494): no proof",
			All:    [][]string{{"failed to run module scripts-user", "failed running /var/lib/cloud/instance/scripts/", "fail…execute cloud user/final scripts", "failed to start cloud-final"}}, Phase: InUserData, Guess: true,
			Title:   "a script in user data failed",
			Meaning: "cloud-init ran user data's script, and it exited with an error.",
			Next:    "Read the lines before it in the console output, and /var/log/cloud-init-output.log on the instance.",
			Check:   checkid.InstanceUserData,
		},
		{
			ID: "cloud-config-invalid", Sample: "util.py[WARNING]: Failed loading yaml blob. Invalid format at line 3 column 1",
			Source: "In the form of cloud-init, cloudinit/util.py",
			All:    [][]string{{"failed loading yaml blob", "failed at merging in cloud config part"}}, Phase: InUserData, Guess: true,
			Title:   "user data's cloud-config cannot be read",
			Meaning: "cloud-init skipped a part of user data that is not valid YAML.",
			Next:    "Correct the YAML of the cloud-config in the launch template's user data.",
			Check:   checkid.InstanceUserData,
		},
	}
}
