package console

import "rollcall/shared/checkid"

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
