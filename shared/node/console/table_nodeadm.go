package console

import "rollcall/shared/checkid"

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
