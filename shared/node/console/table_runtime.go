package console

import "rollcall/shared/checkid"

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
