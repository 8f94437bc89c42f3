package text

import "strings"

// program is who wrote a message.
type program string

// The programs.
const (
	kubelet         program = "the kubelet"
	nodeadm         program = "nodeadm"
	containerd      program = "containerd"
	cloudInit       program = "cloud-init"
	bootstrap       program = "bootstrap.sh"
	bottlerocket    program = "Bottlerocket"
	ipamd           program = "aws-node"
	karpenter       program = "Karpenter"
	autoscaler      program = "the Cluster Autoscaler"
	cloudController program = "the cloud controller"
	scheduler       program = "the scheduler"
	csi             program = "the EBS CSI driver"
	systemd         program = "systemd"
	kubectl         program = "kubectl"
	terraform       program = "Terraform"
	eksctl          program = "eksctl"
	cloudFormation  program = "CloudFormation"
	runbook         program = "AWS's runbook"
	cloudTrail      program = "CloudTrail"
	unknownProgram  program = ""
)

// mark is what tells a program: what stands in its prefix, and words of its
// own messages.
type mark struct {
	program program
	prefix  []string
	words   []string
}

// marks are in the order in which they count: a message of Karpenter may name
// the kubelet, and hardly the other way.
func marks() []mark {
	return []mark{
		{runbook, nil, []string{"awssupport-troubleshooteks", "[error]: the ", "[error]: vpc ", "[warning]: "}},
		{karpenter, []string{"karpenter"}, []string{"karpenter", "nodeclaim", "ec2nodeclass", "nodepool", "nodeclass", "launch template configs",
			"subnetsready", "securitygroupsready", "amisready", "instanceprofileready", "controller.provision", "with fleet error"}},
		{ipamd, []string{"aws-k8s-agent", "ipamd", "cni.go"}, []string{"ipamd", "aws-node", "aws-cni", "awscni", "amazon-k8s-cni", "vpc-cni", "awsutils",
			"rpc_handler", "missingiampermissions", "discovercustomsecuritygroups", "ipam daemon", "ipam-d", "ipam connectivity", "aws-k8s-agent", "datastore",
			"eniconfig", "amazoneksvpccnirole"}},
		{csi, []string{"ebs-csi"}, []string{"ebs-csi", "ebs.csi.aws.com", "attachvolume.attach", "provisioningfailed", "failed to provision volume"}},
		{nodeadm, []string{"nodeadm"}, []string{"nodeadm", "nodeconfig"}},
		{bottlerocket, []string{"pluto", "sundog", "early-boot-config", "host-ctr", "thar-be-settings"}, []string{"bottlerocket", "pluto", "sundog",
			"early-boot-config", "host-containers", "thar-be-settings"}},
		{autoscaler, []string{"cluster-autoscaler", "static_autoscaler.go", "auto_scaling_groups.go", "scale_up.go", "orchestrator.go", "clusterstate.go"},
			[]string{"cluster-autoscaler", "scale-up", "static_autoscaler", "auto_scaling_groups.go", "placeholder-cannot-be-fulfilled", "outofresource"}},
		{cloudController, []string{"node_controller.go", "node_lifecycle_controller.go", "aws-cloud-controller-manager"}, []string{"cloud-controller-manager",
			"at cloudprovider", "cloud-node-lifecycle-controller", "according to cloud provider", "according to the cloud provider"}},
		{cloudInit, []string{"cloud-init", "util.py", "cc_scripts_user.py", "ec2"}, []string{"cloud-init", "cc_scripts", "/var/lib/cloud/instance", "modules:final"}},
		{bootstrap, nil, []string{"bootstrap.sh", "eks-bootstrap"}},
		{kubelet, []string{"kubelet", "kubelet.go", "kubelet_node_status.go", "server.go", "run.go", "reflector.go", "csi_plugin.go", "controller.go",
			"certificate_manager.go", "pod_workers.go", "container_manager_linux.go", "transport.go", "kuberuntime_manager.go", "event.go",
			"eviction_manager.go", "nodelease.go", "log.go", "remote_runtime.go", "remote_image.go", "kubelet_network.go", "csi_plugin.go", "tags.go",
			"desired_state_of_world_populator.go"}, []string{"kubelet"}},
		{containerd, []string{"containerd", "dockerd", "pull-sandbox-image.sh", "cri-tools", "crictl"}, []string{"containerd"}},
		{scheduler, []string{"default-scheduler"}, []string{"default-scheduler", "failedscheduling", "nodes are available:"}},
		{systemd, []string{"systemd"}, []string{"systemd", "dependency failed for", "main process exited", "failed with result"}},
		{cloudTrail, nil, []string{"eventsource: ", "eventname: "}},
		{kubectl, nil, []string{"unable to connect to the server", "kubernetes cluster unreachable", "you must be logged in", "the connection to the server",
			"kubectl", "kubeconfig"}},
	}
}

// wrappings are the tools that quote messages of others.
func wrappings() []mark {
	return []mark{
		{eksctl, nil, []string{"eksctl", "[✖]", "[ℹ]"}},
		{terraform, nil, []string{"terraform", "aws_eks_", "with module.", "waiting for eks ", "creating eks ", "module.", "wanted target",
			"while waiting for state to become"}},
		{cloudFormation, nil, []string{"resource handler returned", "handlererrorcode", "cloudformation", "aws::"}},
	}
}

func programOf(prefix, low string) (of, wrapped program) {
	for _, m := range wrappings() {
		if containsAny(low, m.words) {
			wrapped = m.program
			break
		}
	}
	prefix = strings.ToLower(prefix)
	for _, m := range marks() {
		for _, p := range m.prefix {
			if prefix == p || strings.HasSuffix(prefix, "/"+p) || !strings.HasSuffix(p, ".go") && len(p) > 4 && strings.HasPrefix(prefix, p) {
				return m.program, wrapped
			}
		}
	}
	for _, m := range marks() {
		if containsAny(low, m.words) {
			return m.program, wrapped
		}
	}
	return unknownProgram, wrapped
}
