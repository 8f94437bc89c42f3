package messages

import (
	"rollcall/shared/checkid"
)

// kubernetesRows are conditions, taints, events and certificates.
func kubernetesRows() []Row {
	return []Row{
		// Certificates of the kubelet.
		{Check: checkid.NodeCSRPending, All: [][]string{{"no serving certificate available", "remote error: tls: internal error", "kubelet-serving…pending",
			"kubelet-serving…approv", "waiting for csr", "certificate signing request is not approved", "csr…not approved"}}, Source: kubeletDoc},
		{Check: checkid.NodeCSRPending, All: [][]string{{"certificatesigningrequest", "certificate signing request", "csr-"}, {"pending", "not approved", "denied",
			"timed out waiting"}, {"kubelet-serving", "system:node", "kubelet"}}, Source: kubeletDoc},

		{Check: checkid.NodeCSRPending, All: [][]string{{"kube-apiserver-client-kubelet", "kubelet-serving"}, {"certificate signing request", "certificate request"},
			{"denied", "not approved", "timed out waiting", "pending"}}, Source: kubeletDoc},

		// Addresses for pods.
		{Check: checkid.IPBranchInterfaces, All: [][]string{{"vpc.amazonaws.com/pod-eni", "branch eni", "branch interface", "branch network interface",
			"trunk interface", "trunk eni", "pod-eni"}, {"insufficient", "failed", "limit", "exceed", "unable", "not available", "no capacity", "error",
			"no free"}}, None: []string{"resourcenotregistered", "but not registered"},
			Source: "github.com/aws/amazon-vpc-resource-controller-k8s: pkg/aws/ec2/api, pkg/provider/branch"},
		{Check: checkid.IPBranchInterfaces, All: [][]string{{"insufficient", "failed", "exceeded", "unable", "error", "no free"}, {"vpc.amazonaws.com/pod-eni", "branch eni",
			"branch interface", "branch network interface", "trunk interface", "trunk eni"}}, None: []string{"resourcenotregistered", "but not registered"},
			Source: "github.com/aws/amazon-vpc-resource-controller-k8s: pkg/aws/ec2/api, pkg/provider/branch"},
		{Check: checkid.IPFragmented, All: [][]string{{"insufficientcidr", "enough free cidr blocks", "sufficient free ipv4 addresses or prefixes",
			"enough ips/prefixes", "prefix target is", "no free aligned", "no available /28", "enough contiguous"}}, Source: cniDoc},
		{Check: checkid.IPSubnetExhausted, Codes: []string{"InsufficientFreeAddressesInSubnet"}, By: []Program{IPAMD}, Source: cniDoc},
		{Check: checkid.IPSubnetExhausted, Codes: []string{"InsufficientFreeAddressesInSubnet"}, Calls: []string{"createnetworkinterface",
			"assignprivateipaddresses", "attachnetworkinterface", "createcluster", "updateclusterconfig", "updateclusterversion", "createnatgateway",
			"createvpcendpoint"}, Source: apiDoc},
		{Check: checkid.IPSubnetExhausted, All: [][]string{{"free ips: 0", "free ips…need at least", "ips in each subnet to be free"}}, Source: apiDoc},
		{Check: checkid.ClusterHealth, All: [][]string{{"subnets associated with your cluster", "cluster management operations"}}, Source: apiDoc,
			Look: []checkid.ID{checkid.IPSubnetExhausted}},
		{Info: true, Check: checkid.IPSubnetExhausted, All: [][]string{{"failed to assign an ip address", "no available ip addresses", "no free ip addresses",
			"ip pool is too low", "no ip addresses available", "out of ip addresses", "subnet…is out of", "no more ips", "assign an ip address to container"}},
			None: []string{"available ip addresses: "}, Source: cniDoc, Look: []checkid.ID{checkid.IPFragmented, checkid.InstanceMaxPods, checkid.IAMCNIRolePolicies,
				checkid.IPLeakedInterfaces}},
		{Meaning: "aws-node found no free address in one prefix and goes on to the next: by itself no fault",
			Next: "Where pods stay without an address, send the lines with “failed to assign an IP address” and those about ENIs and prefixes.",
			All:  [][]string{{"no free ip available in the prefix", "no available ip/prefix addresses"}}, Source: cniDoc, Look: []checkid.ID{checkid.IPSubnetExhausted,
				checkid.IPFragmented, checkid.InstanceMaxPods}},
		{Check: checkid.InstanceMaxPods, All: [][]string{{"privateipaddresslimitexceeded", "attachmentlimitexceeded", "maximum number of enis",
			"max number of eni"}}, By: []Program{IPAMD}, Source: cniDoc},

		// Volumes and zones.
		{Check: checkid.ZoneNodegroupGap, All: [][]string{{"didnt trigger scale-up", "notriggerscaleup", "no node group"}, {"volume node affinity conflict",
			"volume zone"}}, Source: "github.com/kubernetes/autoscaler and pkg/scheduler"},
		{Check: checkid.ZonePodUnschedulable, All: [][]string{{"volume node affinity conflict"}},
			Source: "github.com/kubernetes/kubernetes: pkg/scheduler/framework/plugins", Look: []checkid.ID{checkid.ZoneVolumeStranded, checkid.ZoneNodegroupGap}},
		{Check: checkid.ZoneVolumeStranded, All: [][]string{{"no available volume zone", "volume…different availability zone", "invalidvolume.zonemismatch",
			"volume zone conflict"}}, Source: "github.com/kubernetes/kubernetes: pkg/scheduler/framework/plugins", Look: []checkid.ID{checkid.ZonePodUnschedulable,
			checkid.ZoneNodegroupGap}},

		// Karpenter's startup taints come before the node's own.
		{Check: checkid.NodeUninitialized, All: [][]string{{"node.cloudprovider.kubernetes.io/uninitialized"}}, None: []string{"tolerat", "key: node.cloudprovider"},
			Source: kubeletDoc},
		{Check: checkid.NodeUninitialized, All: [][]string{{"node.cloudprovider.kubernetes.io/uninitialized"}, {"untolerated", "taints:", "effect", "noschedule",
			"had taint"}}, Source: kubeletDoc},
		{Check: checkid.NodeUninitialized, All: [][]string{{"effect: noschedule", "taints:", "untolerated", "had taint"}, {"node.cloudprovider.kubernetes.io/uninitialized"}},
			None: []string{"operator:"}, Source: kubeletDoc},
		{Check: checkid.NodeCNINotReady, Symptom: true, All: [][]string{{"network-unavailable", "networkunavailable", "agent-not-ready"}, {"taint", "noschedule",
			"noexecute", "true", "effect"}}, None: []string{"ebs.csi", "startuptaint", "networkunavailable false"}, Source: kubeletDoc, Look: Network()},

		// The network plugin.
		{Check: checkid.NodeCNINotReady, Symptom: true, All: [][]string{{"networkpluginnotready", "network plugin is not ready", "network plugin not initialized",
			"cni plugin not initialized", "networkready=false", "network is not ready", "no networks found in /etc/cni", "cni config uninitialize",
			"update cni config", "failed to load cni", "no network config found"}}, None: []string{"failed to load cni during init"}, Source: kubeletDoc, Look: Network()},
		// A type that is in no table of the plugin's, and EC2 could not be asked (pkg/awsutils,
		// pkg/vpc; amazon-vpc-cni-k8s#3431).
		{Check: checkid.NodeCNINotReady, Symptom: true, All: [][]string{{"failed to get eni limits from", "vpc ip resource(eni ip limit)", "vpc ip resource (eni ip limit)",
			"hypervisor info due to unknown instance type"}}, Source: cniDoc,
			Look:    []checkid.ID{checkid.AddonDegraded, checkid.IAMCNIRolePolicies, checkid.EndpointMissing, checkid.RouteNoEgress},
			Meaning: "aws-node does not know the instance type, and could not ask EC2 about it",
			Next:    "Update the VPC CNI: its table of types is as old as its version. A type that is not in it takes ec2:DescribeInstanceTypes and a way to EC2's API."},
		{Info: true, Check: checkid.NodeCNINotReady, Symptom: true, By: []Program{IPAMD}, All: [][]string{{"failed to connect service", "readiness probe failed",
			"liveness probe failed", "back-off restarting", "crashloopbackoff", "waiting for ipam", "failed to communicate with", "unable to reach api server",
			"failed to get…instance type", "unknown instance type", "eni limit", "unsupported instance type", "not supported instance type", "no vpc limits",
			"ipamd is not", "failed to load", "initialization failure"}}, Source: cniDoc, Look: append(Network(),
			checkid.InstanceCommonFactor)},
		{Check: checkid.NodeCNINotReady, Symptom: true, All: [][]string{{"failed to set up sandbox", "failed to setup network for sandbox",
			"networkplugin cni failed", "add cmd:", "failed to set up pod", "plugin type=aws-cni", "failed to connect service :50051"}}, Source: cniDoc,
			Look: Network()},
		{Check: checkid.NodeCNINotReady, Symptom: true, All: [][]string{{"eniconfig"}, {"not found", "no eniconfig", "failed"}}, Source: cniDoc,
			Look: []checkid.ID{checkid.AddonDegraded}},
		{Check: checkid.NodeCNINotReady, Symptom: true, All: [][]string{{"aws-node"}, {"crashloopbackoff", "0/1", "0/2", "1/2", "init:crash", "init:error", "back-off"}},
			Source: cniDoc, Look: Network()},

		// Conditions of a node.
		{Check: checkid.NodeNotReady, Symptom: true, All: [][]string{{"no space left on device", "diskpressure", "has disk pressure", "memorypressure",
			"pidpressure", "imagegcfailed", "freediskspacefailed", "ephemeral-storage", "evictionthresholdmet"}}, None: []string{"inotify", "pressure false",
			"status: false, reason: kubelethas", "false kubelethas"}, Source: kubeletDoc, Look: []checkid.ID{checkid.LaunchTemplate, checkid.InstanceConsoleError},
			Meaning: "the node lacks disk, memory or process ids", Next: "Give the node a larger root volume or type, or clear it."},
		{Check: checkid.NodeNotReady, Symptom: true, All: [][]string{{"stopped posting node status", "nodestatusunknown", "nodestatusneverupdated",
			"kubelet never posted", "pleg is not healthy", "container runtime is down", "containerruntimenotready", "kubeletnotready", "nodenotready",
			"node is not ready", "nodes are not ready", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "nodestatus is notready",
			"unhealthy nodes in the kubernetes"}}, None: []string{"pleg has yet to be successful", "may not have completed yet"}, Source: kubeletDoc, Look: NotReady()},
		{Check: checkid.NodeNotReady, Symptom: true, All: [][]string{{" notready ", "notready,scheduling", "status: notready"}}, Source: kubeletDoc, Look: NotReady()},
		{Check: checkid.NodeNotReady, Symptom: true, All: [][]string{{"type: ready", "ready false", "ready unknown", "condition ready"}, {"status: false",
			"status: unknown", "false", "unknown"}}, None: []string{"nodeclass", "nodepool", "nodeclaim", "initialized", "karpenter"}, Source: kubeletDoc,
			Look: NotReady()},

		// A node that is not there.
		{Check: checkid.DNSDHCPOptions, All: [][]string{{"failed to get instance id", "failed to get provider id", "error getting instance metadata for node",
			"getting instance by nodename", "instance not found"}}, By: []Program{cloudController}, Source: "github.com/kubernetes/cloud-provider-aws",
			Look: []checkid.ID{checkid.DNSHostnamesOff}},
		{Check: checkid.DNSDHCPOptions, All: [][]string{{"domain name", "dhcp", "hostname"}, {"over 63", "63 characters", "must be no more than 63",
			"no more than 63 bytes", "dhcp option", "rfc 1123 subdomain", "multiple domain"}}, Source: kubeletDoc, None: []string{"pod name", "label"}},
		{Check: checkid.NodeNotRegistered, Symptom: true, All: [][]string{{"not present according to", "doesnt exist in the cloud provider",
			"does not exist in the cloud provider", "deletingnode"}},
			Source: "github.com/kubernetes/kubernetes: staging/src/k8s.io/cloud-provider/controllers/nodelifecycle", Look: []checkid.ID{checkid.InstanceEndedEarly,
				checkid.DNSHostnamesOff, checkid.DNSDHCPOptions, checkid.SpotReclaimedBeforeJoin},
			Meaning: "the cloud controller took the node away: it finds no instance for it, which is gone or has another name",
			Next:    "See whether the instance still runs. If it does, compare the node's name with its private DNS name."},
		{Check: checkid.NodeNotRegistered, Symptom: true, By: []Program{Kubelet, UnknownProgram}, All: [][]string{{"kubelet", "nodes", "node", "getting node",
			"lease"}, {"not found", "no node info available", "nodeinfo not found"}}, None: []string{"node affinity", "node(s)", "nodegroup", "node group",
			"command not found", "configmap", "secret", "image", "volume", "launch", "security", "subnet", "role"}, Source: kubeletDoc, Look: NotJoining(),
			Meaning: "the kubelet runs and its node does not exist yet", Next: "Look at the lines before it: why it could not register."},
		{Check: checkid.NodeNotRegistered, Symptom: true, All: [][]string{{"unable to register node", "failed to register node", "not registered with cluster",
			"node not registered", "unregistered node", "instances failed to join", "failed to join the kubernetes cluster", "nodes failed to join",
			"waiting for at least", "no nodes joined", "didnt join", "did not join", "nodecreationfailure"}}, None: []string{"dummy_"}, Source: eksDoc,
			Look: NotJoining()},
		{Check: checkid.NodegroupHealth, Symptom: true, All: [][]string{{"dummy_"}, {"nodecreationfailure", "failed to join"}}, Look: Launches(), Source: "",
			Meaning: "no instance was ever launched: EKS names placeholders instead",
			Next:    "Look at the scaling activities of the nodegroup's Auto Scaling group: why they failed."},
	}
}
