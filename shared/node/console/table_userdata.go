package console

import "rollcall/shared/checkid"

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
