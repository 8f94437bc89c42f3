package text

import "rollcall/shared/checkid"

// identityRows are about who may do what: the cluster's API, IAM, registries.
func identityRows() []row {
	const (
		letIn   = "Give the node role an access entry of type EC2_LINUX (EC2_WINDOWS), or map it in aws-auth with system:nodes."
		nodeArn = "user system:node:"
	)
	nodeCalls := []string{"describeinstances", "describetags", "describeinstancetypes", "describecluster", "getauthorizationtoken", "batchgetimage",
		"getdownloadurlforlayer", "batchchecklayeravailability", "assumeroleforpodidentity", "describeavailabilityzones"}
	ecrCalls := []string{"getauthorizationtoken", "batchgetimage", "getdownloadurlforlayer", "batchchecklayeravailability"}
	onNode := []program{kubelet, nodeadm, containerd, cloudInit, bootstrap, bottlerocket}
	refusal := []failure{denied, unknownID}
	return []row{
		{check: checkid.IAMSTSRegionDeactivated, all: [][]string{{"regiondisabledexception", "sts is not activated in this region",
			"stsregionalendpointdisabled"}}, source: apiDoc},
		{check: checkid.EndpointPolicyDenies, all: [][]string{{"vpc endpoint policy"}}, source: iamDoc},
		{check: checkid.IAMRoleTrust, all: [][]string{{"assumeroleunauthorizedaccess", "ec2 cannot assume the role", "ec2 can not assume the role"}},
			source: "EC2 user guide, Troubleshoot instance profiles: iam/info"},
		{check: checkid.IAMRoleTrust, all: [][]string{{"trust relationship", "trust policy", "service principals"}, {"node role", "noderole", "ec2.amazonaws.com",
			"worker"}}, source: apiDoc},

		// The cluster knows who asks, and does not allow it.
		{check: checkid.DNSHostnamesOff, all: [][]string{{nodeArn}, {"user system:node: cannot", "unknown node for user system:node:"}},
			none: []string{"unknown node for user system:node:i", "user system:node:i"}, source: kubeletDoc,
			meaning: "the node's private DNS name was empty when it registered",
			next:    "Switch DNS hostnames of the VPC on; where they are, replace the instance: EC2 was late."},
		{check: checkid.InstanceForbiddenNodeLabel, all: [][]string{{"not allowed to modify labels", "not allowed to set labels",
			"labels specified with --node-labels", "--node-labels in the kubernetes.io", "must begin with an allowed prefix", "reserved prefix"}},
			source: kubeletDoc},
		{check: checkid.InstanceForbiddenNodeLabel, codes: []string{"KubernetesLabelInvalid"}, source: apiDoc},
		{check: checkid.NodeNotRegistered, symptom: true, all: [][]string{{"is not allowed to modify node", "can only access node lease with the same name",
			"cannot modify node"}}, source: kubeletDoc,
			look:    []checkid.ID{checkid.DNSDHCPOptions, checkid.DNSHostnamesOff, checkid.IAMAccessMissing, checkid.IAMAccessDuplicateMapping, checkid.IAMAccessWrongType, checkid.InstanceUserData},
			meaning: "the kubelet's user name and the name under which it registers are not the same",
			next:    "Compare the two names in the line. The user name comes from the access entry or mapping ({{EC2PrivateDNSName}}), the other from the VPC's DHCP options, DNS hostnames or the kubelet's hostname-override."},
		{check: checkid.InstanceConsoleError, symptom: true, all: [][]string{{"user system:anonymous"}}, not: []program{kubectl, terraform, eksctl},
			source: kubeletDoc, look: []checkid.ID{checkid.InstanceUserData, checkid.IAMAccessMissing, checkid.IAMSTSEndpoint, checkid.IAMProfileMissing},
			meaning: "the kubelet asks the cluster's API without a token",
			next:    "Look at the kubeconfig that user data writes, at the instance profile and at the way to STS."},
		{check: checkid.IAMAccessWrongType, all: [][]string{{"cannot create resource nodes", "cannot list resource nodes", "cannot get resource nodes",
			"cannot patch resource nodes", "cannot create resource certificatesigningrequests"}, {"assumed-role", "user arn:aws", "user eks", "user i-", "{{"}},
			none: []string{nodeArn, "system:anonymous", "system:serviceaccount", "awsreservedsso"}, source: kubeletDoc, look: []checkid.ID{checkid.IAMAccessMissing},
			not:     []program{kubectl, terraform, karpenter},
			meaning: "the cluster knows the node role, but not as a node: its entry lacks the group system:nodes", next: letIn},
		{check: checkid.IAMAccessWrongType, all: [][]string{{"cannot create resource nodes", "nodes is forbidden"}}, by: []program{kubelet},
			none: []string{nodeArn, "system:serviceaccount", "not allowed to modify", "system:anonymous"}, source: kubeletDoc,
			look:    []checkid.ID{checkid.IAMAccessMissing},
			meaning: "the cluster knows the node role, but not as a node: its entry lacks the group system:nodes", next: letIn},
		{check: checkid.IAMAccessWrongType, all: [][]string{{"access entry"}, {"type standard", "type: standard"}}, source: apiDoc},
		{check: checkid.NodeNotRegistered, symptom: true, all: [][]string{{nodeArn}, {"no relationship found between node"}}, source: kubeletDoc,
			look:    []checkid.ID{checkid.NodeNotReady},
			meaning: "the cluster did not yet tie the object to this node: it passes where the node is registered",
			next:    "Send the lines about registration (kubelet_node_status.go)."},

		// Registries, before what only says 401 or 403.
		{check: checkid.IAMRolePolicies, on: []host{ecr}, fails: refusal, calls: ecrCalls, look: []checkid.ID{checkid.EndpointPolicyDenies},
			source: "ECR user guide, Troubleshooting", not: []program{kubectl, terraform, eksctl, karpenter},
			meaning: "ECR denies the call: the role lacks its read actions, or a policy denies them",
			next:    "Attach AmazonEC2ContainerRegistryPullOnly to the node role; look at the policies of the repository and of the ECR endpoint."},
		{check: checkid.EndpointPolicyDenies, fails: []failure{denied}, all: [][]string{{"<code>accessdenied", "error parsing http 403", "403 forbidden",
			"code accessdenied", "<message>access denied"}}, on: []host{s3}, source: "ECR user guide, VPC endpoints: the policy of the S3 endpoint",
			look:    []checkid.ID{checkid.IAMRolePolicies},
			meaning: "S3 denies a layer of an image: mostly the policy of the S3 endpoint",
			next:    "Let the S3 endpoint's policy allow s3:GetObject on prod-<region>-starport-layer-bucket."},
		{check: checkid.EndpointPolicyDenies, all: [][]string{{"error pulling image", "failed to copy", "failed to pull", "httpreadseeker",
			"failed create pod sandbox", "failed to create pod sandbox"}, {"error parsing http 403", "<code>accessdenied", "xml version"}},
			source: "ECR user guide, VPC endpoints: the policy of the S3 endpoint", look: []checkid.ID{checkid.IAMRolePolicies},
			meaning: "S3 denies a layer of an image: mostly the policy of the S3 endpoint",
			next:    "Let the S3 endpoint's policy allow s3:GetObject on prod-<region>-starport-layer-bucket."},
		{check: checkid.IAMRolePolicies, all: [][]string{{"no basic auth credentials", "pull access denied", "401 unauthorized", "403 forbidden",
			"authorization failed", "ecr…not authorized", "unauthorized: authentication required", "denied: your authorization token"}, {".ecr.", "eks/pause",
			"sandbox image", "602401143452"}}, source: "ECR user guide, Troubleshooting", look: []checkid.ID{checkid.EndpointMissing, checkid.InstanceConsoleError,
			checkid.InstanceUserData},
			meaning: "ECR was reached, and refuses the node's credentials: its role lacks ECR's read actions, or the credential provider did not serve",
			next:    "Attach AmazonEC2ContainerRegistryPullOnly to the node role; look at the kubelet's ecr-credential-provider, at a replaced containerd configuration, and at the way to ECR's API."},

		// IAM: what denied it is in the message.
		{check: checkid.LaunchPolicyDenied, fails: []failure{denied}, calls: launchCalls(), all: [][]string{policyKinds()}, not: onNode, source: iamDoc},
		// What sts:DecodeAuthorizationMessage answers.
		{check: checkid.LaunchUnauthorized, calls: launchCalls(), all: [][]string{{"allowed: false"}, {"explicitdeny: false"}},
			source: "STS API reference, DecodeAuthorizationMessage"},
		{check: checkid.LaunchPolicyDenied, by: []program{karpenter}, fails: []failure{denied}, all: [][]string{policyKinds()}, none: []string{"describesubnets",
			"describeimages", "describesecuritygroups"}, source: iamDoc},
		{check: checkid.LaunchPolicyDenied, all: [][]string{{"due to a service control policy", "due to a permission boundary", "due to a permissions boundary"}},
			not: onNode, source: karpenterDoc},
		{check: checkid.LaunchServiceRole, codes: []string{"AuthFailure.ServiceLinkedRoleCreationNotPermitted", "ServiceLinkedRoleCreationNotPermitted",
			"SpotSLRCreationFailed", "ServiceLinkedRoleFailure"}, source: apiDoc},
		{check: checkid.LaunchServiceRole, calls: []string{"createservicelinkedrole"}, fails: []failure{denied}, source: apiDoc},

		{check: checkid.LaunchKMSKey, calls: []string{"creategrant", "generatedatakeywithoutplaintext"}, fails: []failure{denied},
			source: "EBS user guide, How Amazon EBS encryption works"},

		// Who was denied: aws-node, the node, Karpenter.
		{check: checkid.IAMCNIRolePolicies, by: []program{ipamd}, fails: []failure{denied}, source: cniDoc, none: []string{"/dev/", "/opt/cni", "/etc/cni",
			"/var/run", "mkdir", "open /"}},
		{check: checkid.IAMCNIRolePolicies, by: []program{ipamd}, all: [][]string{{"assumerolewithwebidentity", "webidentityerr", "invalididentitytoken",
			"no openidconnect provider"}}, source: cniDoc},
		{check: checkid.IAMCNIRolePolicies, calls: []string{"assignprivateipaddresses", "unassignprivateipaddresses", "assignipv6addresses",
			"attachnetworkinterface", "detachnetworkinterface", "modifynetworkinterfaceattribute", "describenetworkinterfaces", "createnetworkinterface",
			"deletenetworkinterface"}, fails: []failure{denied}, not: []program{karpenter, terraform, eksctl, cloudFormation},
			none: []string{"vpcresourcecontroller", "vpc-resource-controller", "runinstances", "createfleet", "launching ec2 instance"}, source: cniDoc},
		{check: checkid.AddonDegraded, symptom: true, by: []program{csi}, fails: []failure{denied}, source: eksDoc, look: []checkid.ID{checkid.IAMRolePolicies},
			meaning: "the EBS CSI driver's role lacks an action",
			next:    "Attach AmazonEBSCSIDriverPolicy to the role of its service account; for encrypted volumes, let it use the key."},
		{check: checkid.KarpenterNodeclassNotReady, by: []program{karpenter}, fails: []failure{denied}, calls: []string{"describesubnets",
			"describesecuritygroups", "describeimages", "getparameter", "getinstanceprofile", "createinstanceprofile", "addroletoinstanceprofile",
			"taginstanceprofile", "getparametersbypath", "describecapacityreservations"}, source: karpenterDoc,
			meaning: "Karpenter's role may not read or make what the NodeClass needs",
			next:    "Bring the controller's policy up to that of its version (KarpenterControllerPolicy), and look for a deny."},
		{check: checkid.LaunchUnauthorized, by: []program{karpenter}, fails: []failure{denied}, source: karpenterDoc, calls: append(launchCalls(),
			"describeinstancetypes", "describeinstancetypeofferings", "describespotpricehistory", "getproducts", "assumerolewithwebidentity",
			"describelaunchtemplates")},
		{check: checkid.LaunchUnauthorized, by: []program{karpenter}, codes: []string{"RunInstancesAuthCheckFailed", "CreateFleetAuthCheckFailed",
			"CreateLaunchTemplateAuthCheckFailed"}, source: karpenterDoc},
		{check: checkid.IAMRolePolicies, node: true, fails: []failure{denied}, calls: nodeCalls, source: iamDoc},
		{check: checkid.IAMRolePolicies, by: onNode, fails: []failure{denied}, calls: nodeCalls, source: iamDoc},
		{check: checkid.IAMRolePolicies, fails: []failure{denied}, calls: append(ecrCalls, "describetags", "assumeroleforpodidentity"), not: []program{karpenter,
			terraform, eksctl, csi}, none: []string{":user/"}, source: iamDoc},
		{check: checkid.IAMRolePolicies, fails: []failure{denied}, calls: []string{"describeinstances", "describecluster"}, not: []program{karpenter, terraform,
			eksctl, csi, kubectl, autoscaler, ipamd, cloudController}, none: []string{":user/"}, source: iamDoc, look: []checkid.ID{checkid.IAMProfileMissing,
			checkid.EndpointPolicyDenies}},
		{check: checkid.IAMRolePolicies, all: [][]string{{"missing required policies", "required policies", "managed policies", "amazoneksworkernodepolicy",
			"amazonec2containerregistry"}, {"missing", "not attached", "does not have", "required"}}, source: runbookDoc},
		{check: checkid.IAMCNIRolePolicies, all: [][]string{{"amazoneks_cni_policy"}, {"missing", "not attached", "does not have", "required"}}, source: runbookDoc},

		// The cluster does not know who asks.
		{meaning: "whoever ran the command is not let in by the cluster; that says nothing of nodes",
			next: "Give yourself an access entry. For nodes, send the kubelet's log or the nodegroup's health issues.",
			all:  [][]string{{"must be logged in", "provide credentials", "server has asked for the client"}}, source: kubeletDoc},
		{check: checkid.IAMAccessMissing, by: []program{kubelet}, fails: []failure{unknownID}, source: kubeletDoc, none: []string{"10250", "ecr", "imds",
			"unauthorizedoperation", "authorized to perform", "image", "anonymous", "webhook authenticat", "tls"}, look: []checkid.ID{checkid.IAMAccessWrongARN,
			checkid.IAMSTSRegionDeactivated, checkid.IAMRoleTrust}},
		{check: checkid.IAMAccessMissing, fails: []failure{unknownID}, all: [][]string{{"register node", "csinode", "failed to list v1", "failed to watch v1",
			"lease exists", "ensure lease", "node status", "getting node", "get node info", "contact api server"}}, none: []string{"ecr",
			"authorized to perform", "karpenter", "system:serviceaccount"}, source: kubeletDoc, look: []checkid.ID{checkid.IAMAccessWrongARN,
			checkid.IAMSTSRegionDeactivated, checkid.IAMRoleTrust}},
		{check: checkid.IAMAccessMissing, by: []program{runbook}, all: [][]string{{"aws-auth", "access entry", "access entries"}}, source: runbookDoc},
		{check: checkid.NodeNotRegistered, symptom: true, only: []string{"unauthorized", "error: unauthorized", "err=unauthorized", "error=unauthorized",
			"401 unauthorized"}, source: kubeletDoc, look: []checkid.ID{checkid.IAMAccessMissing, checkid.IAMAccessWrongARN, checkid.IAMSTSRegionDeactivated,
			checkid.IAMRoleTrust, checkid.IAMAccessWrongType},
			meaning: "the cluster's API does not accept the credentials of whoever asked",
			next:    "If the kubelet says so, give the node role an access entry of type EC2_LINUX or map it in aws-auth; if kubectl says so, it is about you and not about nodes."},

		// What the node gets its token with.
		{check: checkid.IAMSTSEndpoint, all: [][]string{{"getting credentials: exec"}}, fails: []failure{timedOut, unresolved, noRoute}, source: kubeletDoc},
		{check: checkid.InstanceConsoleError, symptom: true, by: []program{kubelet}, all: [][]string{{"getting credentials: exec", "aws-iam-authenticator failed",
			"executable aws failed", "executable aws-iam-authenticator"}}, source: kubeletDoc, look: []checkid.ID{checkid.IAMSTSEndpoint, checkid.IAMProfileMissing,
			checkid.InstanceUserData, checkid.InstanceIMDS},
			meaning: "the program that makes the node's token failed",
			next:    "Look at the instance profile and at the subnet's way to STS; read the kubelet's log on the instance."},
		{check: checkid.IAMProfileMissing, codes: []string{"IamNodeRoleNotFound"}, source: apiDoc},
		{check: checkid.IAMProfileMissing, all: [][]string{{"instance profile"}, {"missing", "not attached", "no iam", "does not have"}}, by: []program{runbook},
			source: runbookDoc},
	}
}

// policyKinds are what IAM calls a policy that denies although the caller's own
// allows (IAM user guide, Troubleshooting access denied error messages).
func policyKinds() []string {
	return []string{"explicit deny", "explicitdeny: true", "service control policy", "resource control policy", "permissions boundary", "session policy"}
}

// launchCalls are what starts instances, in lower case.
func launchCalls() []string {
	return []string{"runinstances", "createfleet", "requestspotinstances", "startinstances", "createlaunchtemplate", "createlaunchtemplateversion",
		"createautoscalinggroup", "updateautoscalinggroup", "setdesiredcapacity", "launchinstances", "passrole", "createnodegroup", "createtags", "modifyfleet",
		"requestspotfleet"}
}

// knownCalls are operations that are found by their name alone.
func knownCalls() []string {
	return []string{"RunInstances", "CreateFleet", "CreateLaunchTemplate", "CreateNodegroup", "CreateNetworkInterface", "AttachNetworkInterface",
		"AssignPrivateIpAddresses", "AssignIpv6Addresses", "DescribeNetworkInterfaces",
		"DescribeInstances", "DescribeInstanceTypes", "DescribeCluster", "DescribeSubnets", "DescribeSecurityGroups", "DescribeTags", "GetAuthorizationToken",
		"AssumeRoleWithWebIdentity", "PassRole", "CreateServiceLinkedRole", "AssumeRoleForPodIdentity", "PutObject", "GetParameter"}
}
