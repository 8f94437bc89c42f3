package text

import "rollcall/shared/checkid"

// kubernetesRows are conditions, taints, events and certificates.
func kubernetesRows() []row {
	return []row{
		// Certificates of the kubelet.
		{check: checkid.NodeCSRPending, all: [][]string{{"no serving certificate available", "remote error: tls: internal error", "kubelet-serving…pending",
			"kubelet-serving…approv", "waiting for csr", "certificate signing request is not approved", "csr…not approved"}}, source: kubeletDoc},
		{check: checkid.NodeCSRPending, all: [][]string{{"certificatesigningrequest", "certificate signing request", "csr-"}, {"pending", "not approved", "denied",
			"timed out waiting"}, {"kubelet-serving", "system:node", "kubelet"}}, source: kubeletDoc},

		// Addresses for pods.
		{check: checkid.IPBranchInterfaces, all: [][]string{{"vpc.amazonaws.com/pod-eni", "branch eni", "branch interface", "branch network interface",
			"trunk interface", "trunk eni", "pod-eni"}, {"insufficient", "failed", "limit", "exceed", "unable", "not available", "no capacity", "error",
			"no free"}}, none: []string{"resourcenotregistered", "but not registered"},
			source: "github.com/aws/amazon-vpc-resource-controller-k8s: pkg/aws/ec2/api, pkg/provider/branch"},
		{check: checkid.IPFragmented, all: [][]string{{"insufficientcidr", "enough free cidr blocks", "sufficient free ipv4 addresses or prefixes",
			"enough ips/prefixes", "prefix target is", "no free aligned", "no available /28", "enough contiguous"}}, source: cniDoc},
		{check: checkid.IPSubnetExhausted, codes: []string{"InsufficientFreeAddressesInSubnet"}, by: []program{ipamd}, source: cniDoc},
		{check: checkid.IPSubnetExhausted, codes: []string{"InsufficientFreeAddressesInSubnet"}, calls: []string{"createnetworkinterface",
			"assignprivateipaddresses", "attachnetworkinterface", "createcluster", "updateclusterconfig", "updateclusterversion", "createnatgateway",
			"createvpcendpoint"}, source: apiDoc},
		{check: checkid.IPSubnetExhausted, all: [][]string{{"free ips: 0", "free ips…need at least", "ips in each subnet to be free"}}, source: apiDoc},
		{check: checkid.ClusterHealth, all: [][]string{{"subnets associated with your cluster", "cluster management operations"}}, source: apiDoc,
			look: []checkid.ID{checkid.IPSubnetExhausted}},
		{check: checkid.IPSubnetExhausted, all: [][]string{{"failed to assign an ip address", "no available ip addresses", "no free ip addresses",
			"ip pool is too low", "no ip addresses available", "out of ip addresses", "subnet…is out of", "no more ips", "assign an ip address to container"}},
			none: []string{"available ip addresses: "}, source: cniDoc, look: []checkid.ID{checkid.IPFragmented, checkid.InstanceMaxPods, checkid.IAMCNIRolePolicies,
				checkid.IPLeakedInterfaces}},
		{meaning: "aws-node found no free address in one prefix and goes on to the next: by itself no fault",
			next: "Where pods stay without an address, send the lines with “failed to assign an IP address” and those about ENIs and prefixes.",
			all:  [][]string{{"no free ip available in the prefix", "no available ip/prefix addresses"}}, source: cniDoc, look: []checkid.ID{checkid.IPSubnetExhausted,
				checkid.IPFragmented, checkid.InstanceMaxPods}},
		{check: checkid.InstanceMaxPods, all: [][]string{{"privateipaddresslimitexceeded", "attachmentlimitexceeded", "maximum number of enis",
			"max number of eni"}}, by: []program{ipamd}, source: cniDoc},

		// Volumes and zones.
		{check: checkid.ZoneNodegroupGap, all: [][]string{{"didnt trigger scale-up", "notriggerscaleup", "no node group"}, {"volume node affinity conflict",
			"volume zone"}}, source: "github.com/kubernetes/autoscaler and pkg/scheduler"},
		{check: checkid.ZonePodUnschedulable, all: [][]string{{"volume node affinity conflict"}},
			source: "github.com/kubernetes/kubernetes: pkg/scheduler/framework/plugins", look: []checkid.ID{checkid.ZoneVolumeStranded, checkid.ZoneNodegroupGap}},
		{check: checkid.ZoneVolumeStranded, all: [][]string{{"no available volume zone", "volume…different availability zone", "invalidvolume.zonemismatch",
			"volume zone conflict"}}, source: "github.com/kubernetes/kubernetes: pkg/scheduler/framework/plugins", look: []checkid.ID{checkid.ZonePodUnschedulable,
			checkid.ZoneNodegroupGap}},

		// Karpenter's startup taints come before the node's own.
		{check: checkid.NodeUninitialized, all: [][]string{{"node.cloudprovider.kubernetes.io/uninitialized"}}, none: []string{"tolerat", "key: node.cloudprovider"},
			source: kubeletDoc},
		{check: checkid.NodeUninitialized, all: [][]string{{"node.cloudprovider.kubernetes.io/uninitialized"}, {"untolerated", "taints:", "effect", "noschedule",
			"had taint"}}, source: kubeletDoc},
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"network-unavailable", "networkunavailable", "agent-not-ready"}, {"taint", "noschedule",
			"noexecute", "true", "effect"}}, none: []string{"ebs.csi", "startuptaint", "networkunavailable false"}, source: kubeletDoc, look: network()},

		// The network plugin.
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"networkpluginnotready", "network plugin is not ready", "network plugin not initialized",
			"cni plugin not initialized", "networkready=false", "network is not ready", "no networks found in /etc/cni", "cni config uninitialize",
			"update cni config", "failed to load cni", "no network config found"}}, source: kubeletDoc, look: network()},
		// A type that is in no table of the plugin's, and EC2 could not be asked (pkg/awsutils,
		// pkg/vpc; amazon-vpc-cni-k8s#3431).
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"failed to get eni limits from", "vpc ip resource(eni ip limit)", "vpc ip resource (eni ip limit)",
			"hypervisor info due to unknown instance type"}}, source: cniDoc,
			look:    []checkid.ID{checkid.AddonDegraded, checkid.IAMCNIRolePolicies, checkid.EndpointMissing, checkid.RouteNoEgress},
			meaning: "aws-node does not know the instance type, and could not ask EC2 about it",
			next:    "Update the VPC CNI: its table of types is as old as its version. A type that is not in it takes ec2:DescribeInstanceTypes and a way to EC2's API."},
		{check: checkid.NodeCNINotReady, symptom: true, by: []program{ipamd}, all: [][]string{{"failed to connect service", "readiness probe failed",
			"liveness probe failed", "back-off restarting", "crashloopbackoff", "waiting for ipam", "failed to communicate with", "unable to reach api server",
			"failed to get…instance type", "unknown instance type", "eni limit", "unsupported instance type", "not supported instance type", "no vpc limits",
			"ipamd is not", "not running", "failed to load", "init container", "initialization failure"}}, source: cniDoc, look: append(network(),
			checkid.InstanceCommonFactor)},
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"failed to set up sandbox", "failed to setup network for sandbox",
			"networkplugin cni failed", "add cmd:", "failed to set up pod", "plugin type=aws-cni", "failed to connect service :50051"}}, source: cniDoc,
			look: network()},
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"eniconfig"}, {"not found", "no eniconfig", "failed"}}, source: cniDoc,
			look: []checkid.ID{checkid.AddonDegraded}},
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"aws-node"}, {"crashloopbackoff", "0/1", "0/2", "1/2", "init:", "back-off"}},
			source: cniDoc, look: network()},

		// Conditions of a node.
		{check: checkid.NodeNotReady, symptom: true, all: [][]string{{"no space left on device", "diskpressure", "has disk pressure", "memorypressure",
			"pidpressure", "imagegcfailed", "freediskspacefailed", "ephemeral-storage", "evictionthresholdmet"}}, none: []string{"inotify", "pressure false",
			"status: false, reason: kubelethas", "false kubelethas"}, source: kubeletDoc, look: []checkid.ID{checkid.LaunchTemplate, checkid.InstanceConsoleError},
			meaning: "the node lacks disk, memory or process ids", next: "Give the node a larger root volume or type, or clear it."},
		{check: checkid.NodeNotReady, symptom: true, all: [][]string{{"stopped posting node status", "nodestatusunknown", "nodestatusneverupdated",
			"kubelet never posted", "pleg is not healthy", "container runtime is down", "containerruntimenotready", "kubeletnotready", "nodenotready",
			"node is not ready", "nodes are not ready", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "nodestatus is notready",
			"unhealthy nodes in the kubernetes"}}, source: kubeletDoc, look: notReady()},
		{check: checkid.NodeNotReady, symptom: true, all: [][]string{{" notready ", "notready,scheduling", "status: notready"}}, source: kubeletDoc, look: notReady()},
		{check: checkid.NodeNotReady, symptom: true, all: [][]string{{"type: ready", "ready false", "ready unknown", "condition ready"}, {"status: false",
			"status: unknown", "false", "unknown"}}, none: []string{"nodeclass", "nodepool", "nodeclaim", "initialized", "karpenter"}, source: kubeletDoc,
			look: notReady()},

		// A node that is not there.
		{check: checkid.DNSDHCPOptions, all: [][]string{{"failed to get instance id", "failed to get provider id", "error getting instance metadata for node",
			"getting instance by nodename", "instance not found"}}, by: []program{cloudController}, source: "github.com/kubernetes/cloud-provider-aws",
			look: []checkid.ID{checkid.DNSHostnamesOff}},
		{check: checkid.DNSDHCPOptions, all: [][]string{{"domain name", "dhcp", "hostname"}, {"over 63", "63 characters", "must be no more than 63",
			"no more than 63 bytes", "dhcp option", "rfc 1123 subdomain", "multiple domain"}}, source: kubeletDoc, none: []string{"pod name", "label"}},
		{check: checkid.NodeNotRegistered, symptom: true, all: [][]string{{"not present according to", "doesnt exist in the cloud provider",
			"does not exist in the cloud provider", "deletingnode"}},
			source: "github.com/kubernetes/kubernetes: staging/src/k8s.io/cloud-provider/controllers/nodelifecycle", look: []checkid.ID{checkid.InstanceEndedEarly,
				checkid.DNSHostnamesOff, checkid.DNSDHCPOptions, checkid.SpotReclaimedBeforeJoin},
			meaning: "the cloud controller took the node away: it finds no instance for it, which is gone or has another name",
			next:    "See whether the instance still runs. If it does, compare the node's name with its private DNS name."},
		{check: checkid.NodeNotRegistered, symptom: true, by: []program{kubelet, unknownProgram}, all: [][]string{{"kubelet", "nodes", "node", "getting node",
			"lease"}, {"not found", "no node info available", "nodeinfo not found"}}, none: []string{"node affinity", "node(s)", "nodegroup", "node group",
			"command not found", "configmap", "secret", "image", "volume", "launch", "security", "subnet", "role"}, source: kubeletDoc, look: notJoining(),
			meaning: "the kubelet runs and its node does not exist yet", next: "Look at the lines before it: why it could not register."},
		{check: checkid.NodeNotRegistered, symptom: true, all: [][]string{{"unable to register node", "failed to register node", "not registered with cluster",
			"node not registered", "unregistered node", "instances failed to join", "failed to join the kubernetes cluster", "nodes failed to join",
			"waiting for at least", "no nodes joined", "didnt join", "did not join", "nodecreationfailure"}}, none: []string{"dummy_"}, source: eksDoc,
			look: notJoining()},
		{check: checkid.NodegroupHealth, symptom: true, all: [][]string{{"dummy_"}, {"nodecreationfailure", "failed to join"}}, look: launches(), source: "",
			meaning: "no instance was ever launched: EKS names placeholders instead",
			next:    "Look at the scaling activities of the nodegroup's Auto Scaling group: why they failed."},
	}
}
