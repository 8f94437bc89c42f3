package messages

import (
	"rollcall/shared/checkid"
)

// identityRows are about who may do what: the cluster's API, IAM, registries.
func identityRows() []Row {
	const (
		letIn   = "Give the node role an access entry of type EC2_LINUX (EC2_WINDOWS), or map it in aws-auth with system:nodes."
		nodeArn = "user system:node:"
	)
	nodeCalls := []string{"describeinstances", "describetags", "describeinstancetypes", "describecluster", "getauthorizationtoken", "batchgetimage",
		"getdownloadurlforlayer", "batchchecklayeravailability", "assumeroleforpodidentity", "describeavailabilityzones"}
	ecrCalls := []string{"getauthorizationtoken", "batchgetimage", "getdownloadurlforlayer", "batchchecklayeravailability"}
	onNode := []Program{Kubelet, Nodeadm, Containerd, CloudInit, Bootstrap, Bottlerocket}
	refusal := []Failure{Denied, unknownID}
	return []Row{
		{Check: checkid.IAMSTSRegionDeactivated, All: [][]string{{"regiondisabledexception", "sts is not activated in this region",
			"stsregionalendpointdisabled"}}, Source: apiDoc},
		{Check: checkid.EndpointPolicyDenies, All: [][]string{{"vpc endpoint policy"}}, Source: iamDoc},
		{Check: checkid.IAMRoleTrust, All: [][]string{{"assumeroleunauthorizedaccess", "ec2 cannot assume the role", "ec2 can not assume the role"}},
			Source: "EC2 user guide, Troubleshoot instance profiles: iam/info"},
		{Check: checkid.IAMRoleTrust, All: [][]string{{"trust relationship", "trust policy", "service principals"}, {"node role", "noderole", "ec2.amazonaws.com",
			"worker"}}, Source: apiDoc},

		// The cluster knows who asks, and does not allow it.
		{Check: checkid.DNSHostnamesOff, All: [][]string{{nodeArn}, {"user system:node: cannot", "unknown node for user system:node:"}},
			None: []string{"unknown node for user system:node:i", "user system:node:i"}, Source: kubeletDoc,
			Meaning: "the node's private DNS name was empty when it registered",
			Next:    "Switch DNS hostnames of the VPC on; where they are, replace the instance: EC2 was late."},
		{Check: checkid.InstanceForbiddenNodeLabel, All: [][]string{{"not allowed to modify labels", "not allowed to set labels",
			"labels specified with --node-labels", "--node-labels in the kubernetes.io", "must begin with an allowed prefix", "reserved prefix"}},
			Source: kubeletDoc},
		{Check: checkid.InstanceForbiddenNodeLabel, Codes: []string{"KubernetesLabelInvalid"}, Source: apiDoc},
		{Check: checkid.NodeNotRegistered, Symptom: true, All: [][]string{{"is not allowed to modify node", "can only access node lease with the same name", "can only access csinode with the same name",
			"cannot modify node"}}, Source: kubeletDoc,
			Look:    []checkid.ID{checkid.DNSDHCPOptions, checkid.DNSHostnamesOff, checkid.IAMAccessMissing, checkid.IAMAccessDuplicateMapping, checkid.IAMAccessWrongType, checkid.InstanceUserData},
			Meaning: "the kubelet's user name and the name under which it registers are not the same",
			Next:    "Compare the two names in the line. The user name comes from the access entry or mapping ({{EC2PrivateDNSName}}), the other from the VPC's DHCP options, DNS hostnames or the kubelet's hostname-override."},
		{Check: checkid.InstanceConsoleError, Symptom: true, All: [][]string{{"user system:anonymous"}}, Not: []Program{Kubectl, Terraform, Eksctl},
			Source: kubeletDoc, Look: []checkid.ID{checkid.InstanceUserData, checkid.IAMAccessMissing, checkid.IAMSTSEndpoint, checkid.IAMProfileMissing},
			Meaning: "the kubelet asks the cluster's API without a token",
			Next:    "Look at the kubeconfig that user data writes, at the instance profile and at the way to STS."},
		{Check: checkid.IAMAccessWrongType, All: [][]string{{"cannot create resource nodes", "cannot list resource nodes", "cannot get resource nodes",
			"cannot patch resource nodes", "cannot create resource certificatesigningrequests"}, {"assumed-role", "user arn:aws", "user eks", "user i-", "{{"}},
			None: []string{nodeArn, "system:anonymous", "system:serviceaccount", "awsreservedsso"}, Source: kubeletDoc, Look: []checkid.ID{checkid.IAMAccessMissing},
			Not:     []Program{Kubectl, Terraform, Karpenter},
			Meaning: "the cluster knows the node role, but not as a node: its entry lacks the group system:nodes", Next: letIn},
		{Check: checkid.IAMAccessWrongType, All: [][]string{{"cannot create resource nodes", "nodes is forbidden"}}, By: []Program{Kubelet},
			None: []string{nodeArn, "system:serviceaccount", "not allowed to modify", "system:anonymous"}, Source: kubeletDoc,
			Look:    []checkid.ID{checkid.IAMAccessMissing},
			Meaning: "the cluster knows the node role, but not as a node: its entry lacks the group system:nodes", Next: letIn},
		{Check: checkid.IAMAccessWrongType, All: [][]string{{"access entry"}, {"type standard", "type: standard"}}, Source: apiDoc},
		{Check: checkid.NodeNotRegistered, Symptom: true, All: [][]string{{nodeArn}, {"no relationship found between node"}}, Source: kubeletDoc,
			Look:    []checkid.ID{checkid.NodeNotReady},
			Meaning: "the cluster did not yet tie the object to this node: it passes where the node is registered",
			Next:    "Send the lines about registration (kubelet_node_status.go)."},

		// Registries, before what only says 401 or 403.
		{Check: checkid.IAMRolePolicies, On: []Host{ecr}, Fails: refusal, Calls: ecrCalls, Look: []checkid.ID{checkid.EndpointPolicyDenies},
			Source: "ECR user guide, Troubleshooting", Not: []Program{Kubectl, Terraform, Eksctl, Karpenter},
			Meaning: "ECR denies the call: the role lacks its read actions, or a policy denies them",
			Next:    "Attach AmazonEC2ContainerRegistryPullOnly to the node role; look at the policies of the repository and of the ECR endpoint."},
		{Check: checkid.EndpointPolicyDenies, Fails: []Failure{Denied}, All: [][]string{{"<code>accessdenied", "error parsing http 403", "403 forbidden",
			"code accessdenied", "<message>access denied"}}, On: []Host{s3}, Source: "ECR user guide, VPC endpoints: the policy of the S3 endpoint",
			Look:    []checkid.ID{checkid.IAMRolePolicies},
			Meaning: "S3 denies a layer of an image: mostly the policy of the S3 endpoint",
			Next:    "Let the S3 endpoint's policy allow s3:GetObject on prod-<region>-starport-layer-bucket."},
		{Check: checkid.EndpointPolicyDenies, All: [][]string{{"error pulling image", "failed to copy", "failed to pull", "httpreadseeker",
			"failed create pod sandbox", "failed to create pod sandbox"}, {"error parsing http 403", "<code>accessdenied", "xml version"}},
			Source: "ECR user guide, VPC endpoints: the policy of the S3 endpoint", Look: []checkid.ID{checkid.IAMRolePolicies},
			Meaning: "S3 denies a layer of an image: mostly the policy of the S3 endpoint",
			Next:    "Let the S3 endpoint's policy allow s3:GetObject on prod-<region>-starport-layer-bucket."},
		{Check: checkid.IAMRolePolicies, All: [][]string{{"no basic auth credentials", "pull access denied", "401 unauthorized", "403 forbidden",
			"authorization failed", "ecr…not authorized", "unauthorized: authentication required", "denied: your authorization token"}, {".ecr.", "eks/pause",
			"sandbox image", "602401143452"}}, Source: "ECR user guide, Troubleshooting", Look: []checkid.ID{checkid.EndpointMissing, checkid.InstanceConsoleError,
			checkid.InstanceUserData},
			Meaning: "ECR was reached, and refuses the node's credentials: its role lacks ECR's read actions, or the credential provider did not serve",
			Next:    "Attach AmazonEC2ContainerRegistryPullOnly to the node role; look at the kubelet's ecr-credential-provider, at a replaced containerd configuration, and at the way to ECR's API."},
		{Check: checkid.IAMRolePolicies, All: [][]string{{".ecr.", "eks/pause", "sandbox image", "602401143452"}, {"no basic auth credentials", "pull access denied",
			"401 unauthorized", "403 forbidden", "authorization failed", "not authorized", "unauthorized: authentication required", "denied: your authorization token"}}, Source: "ECR user guide, Troubleshooting", Look: []checkid.ID{checkid.EndpointMissing, checkid.InstanceConsoleError,
			checkid.InstanceUserData},
			Meaning: "ECR was reached, and refuses the node's credentials: its role lacks ECR's read actions, or the credential provider did not serve",
			Next:    "Attach AmazonEC2ContainerRegistryPullOnly to the node role; look at the kubelet's ecr-credential-provider, at a replaced containerd configuration, and at the way to ECR's API."},

		// AWS attaches this policy to a user whose key it found in public (IAM user guide, "AWS
		// managed policies: AWSCompromisedKeyQuarantineV3").
		{Check: checkid.LaunchPolicyDenied, Calls: LaunchCalls(), All: [][]string{{"awscompromisedkeyquarantine"}}, Source: iamDoc,
			Meaning: "AWS quarantined the access key used for the launch: it was exposed publicly",
			Next:    "Deactivate the key and review its use in CloudTrail; AWS's email and support case explain how to lift the quarantine. Launch with a role instead."},
		{Meaning: "AWS quarantined the caller's access key: it was exposed publicly; this is not about a node",
			Next: "Deactivate the key and review its use in CloudTrail; AWS's email and support case explain how to lift the quarantine.",
			All:  [][]string{{"awscompromisedkeyquarantine"}}, Source: iamDoc},
		// IAM: what denied it is in the message.
		{Check: checkid.LaunchPolicyDenied, Fails: []Failure{Denied}, Calls: LaunchCalls(), All: [][]string{policyKinds()}, Not: onNode, Source: iamDoc},
		// What sts:DecodeAuthorizationMessage answers.
		{Check: checkid.LaunchUnauthorized, Calls: LaunchCalls(), All: [][]string{{"allowed: false"}, {"explicitdeny: false"}},
			Source: "STS API reference, DecodeAuthorizationMessage"},
		{Check: checkid.LaunchPolicyDenied, By: []Program{Karpenter}, Fails: []Failure{Denied}, All: [][]string{policyKinds()}, None: []string{"describesubnets",
			"describeimages", "describesecuritygroups"}, Source: iamDoc},
		{Check: checkid.LaunchPolicyDenied, All: [][]string{{"due to a service control policy", "due to a permission boundary", "due to a permissions boundary"}},
			Not: onNode, Source: karpenterDoc},
		{Check: checkid.LaunchServiceRole, Codes: []string{"AuthFailure.ServiceLinkedRoleCreationNotPermitted", "ServiceLinkedRoleCreationNotPermitted",
			"SpotSLRCreationFailed", "ServiceLinkedRoleFailure"}, Source: apiDoc},
		{Check: checkid.LaunchServiceRole, Calls: []string{"createservicelinkedrole"}, Fails: []Failure{Denied}, Source: apiDoc},

		{Check: checkid.LaunchKMSKey, Calls: []string{"creategrant", "generatedatakeywithoutplaintext"}, Fails: []Failure{Denied},
			Source: "EBS user guide, How Amazon EBS encryption works"},

		// Who was denied: aws-node, the node, Karpenter.
		{Check: checkid.IAMCNIRolePolicies, By: []Program{IPAMD}, Fails: []Failure{Denied}, Source: cniDoc, None: []string{"/dev/", "/opt/cni", "/etc/cni",
			"/var/run", "mkdir", "open /"}},
		{Check: checkid.IAMCNIRolePolicies, By: []Program{IPAMD}, All: [][]string{{"assumerolewithwebidentity", "webidentityerr", "invalididentitytoken",
			"no openidconnect provider"}}, Source: cniDoc},
		{Check: checkid.IAMCNIRolePolicies, Calls: []string{"assignprivateipaddresses", "unassignprivateipaddresses", "assignipv6addresses",
			"attachnetworkinterface", "detachnetworkinterface", "modifynetworkinterfaceattribute", "describenetworkinterfaces", "createnetworkinterface",
			"deletenetworkinterface"}, Fails: []Failure{Denied}, Not: []Program{Karpenter, Terraform, Eksctl, CloudFormation},
			None: []string{"vpcresourcecontroller", "vpc-resource-controller", "runinstances", "createfleet", "launching ec2 instance"}, Source: cniDoc},
		{Check: checkid.AddonDegraded, Symptom: true, By: []Program{CSI}, Fails: []Failure{Denied}, Source: eksDoc, Look: []checkid.ID{checkid.IAMRolePolicies},
			Meaning: "the EBS CSI driver's role lacks an action",
			Next:    "Attach AmazonEBSCSIDriverPolicy to the role of its service account; for encrypted volumes, let it use the key."},
		{Check: checkid.KarpenterNodeclassNotReady, By: []Program{Karpenter}, Fails: []Failure{Denied}, Calls: []string{"describesubnets",
			"describesecuritygroups", "describeimages", "getparameter", "getinstanceprofile", "createinstanceprofile", "addroletoinstanceprofile",
			"taginstanceprofile", "getparametersbypath", "describecapacityreservations"}, Source: karpenterDoc,
			Meaning: "Karpenter's role may not read or make what the NodeClass needs",
			Next:    "Bring the controller's policy up to that of its version (KarpenterControllerPolicy), and look for a deny."},
		{Check: checkid.LaunchUnauthorized, By: []Program{Karpenter}, Fails: []Failure{Denied}, Source: karpenterDoc, Calls: append(LaunchCalls(),
			"describeinstancetypes", "describeinstancetypeofferings", "describespotpricehistory", "getproducts", "assumerolewithwebidentity",
			"describelaunchtemplates")},
		{Check: checkid.LaunchUnauthorized, By: []Program{Karpenter}, Codes: []string{"RunInstancesAuthCheckFailed", "CreateFleetAuthCheckFailed",
			"CreateLaunchTemplateAuthCheckFailed"}, Source: karpenterDoc},
		{Check: checkid.IAMRolePolicies, Node: true, Fails: []Failure{Denied}, Calls: nodeCalls, Source: iamDoc},
		{Check: checkid.IAMRolePolicies, By: onNode, Fails: []Failure{Denied}, Calls: nodeCalls, Source: iamDoc},
		{Check: checkid.IAMRolePolicies, Fails: []Failure{Denied}, Calls: append(ecrCalls, "describetags", "assumeroleforpodidentity"), Not: []Program{Karpenter,
			Terraform, Eksctl, CSI}, None: []string{":user/"}, Source: iamDoc},
		{Check: checkid.IAMRolePolicies, Fails: []Failure{Denied}, Calls: []string{"describeinstances", "describecluster"}, Not: []Program{Karpenter, Terraform,
			Eksctl, CSI, Kubectl, Autoscaler, IPAMD, cloudController}, None: []string{":user/"}, Source: iamDoc, Look: []checkid.ID{checkid.IAMProfileMissing,
			checkid.EndpointPolicyDenies}},
		{Check: checkid.IAMRolePolicies, All: [][]string{{"missing required policies", "required policies", "managed policies", "amazoneksworkernodepolicy",
			"amazonec2containerregistry"}, {"missing", "not attached", "does not have", "required"}}, Source: runbookDoc},
		{Check: checkid.IAMCNIRolePolicies, All: [][]string{{"amazoneks_cni_policy"}, {"missing", "not attached", "does not have", "required"}}, Source: runbookDoc},

		// The cluster does not know who asks.
		{Meaning: "whoever ran the command is not let in by the cluster; that says nothing of nodes",
			Next: "Give yourself an access entry. For nodes, send the kubelet's log or the nodegroup's health issues.",
			All:  [][]string{{"must be logged in", "provide credentials", "server has asked for the client"}}, Source: kubeletDoc},
		{Check: checkid.IAMAccessMissing, By: []Program{Kubelet}, Fails: []Failure{unknownID}, Source: kubeletDoc, None: []string{"10250", "ecr", "imds",
			"unauthorizedoperation", "authorized to perform", "image", "anonymous", "webhook authenticat", "tls"}, Look: []checkid.ID{checkid.IAMAccessWrongARN,
			checkid.IAMSTSRegionDeactivated, checkid.IAMRoleTrust}},
		{Info: true, Check: checkid.IAMAccessMissing, Fails: []Failure{unknownID}, All: [][]string{{"register node", "csinode", "failed to list v1", "failed to watch v1",
			"lease exists", "ensure lease", "node status", "getting node", "get node info", "contact api server"}}, None: []string{"ecr",
			"authorized to perform", "karpenter", "system:serviceaccount"}, Source: kubeletDoc, Look: []checkid.ID{checkid.IAMAccessWrongARN,
			checkid.IAMSTSRegionDeactivated, checkid.IAMRoleTrust}},
		{Check: checkid.IAMAccessMissing, By: []Program{Runbook}, All: [][]string{{"aws-auth", "access entry", "access entries"}}, Source: runbookDoc},
		{Check: checkid.NodeNotRegistered, Symptom: true, Only: []string{"unauthorized", "error: unauthorized", "err=unauthorized", "error=unauthorized",
			"401 unauthorized"}, Source: kubeletDoc, Look: []checkid.ID{checkid.IAMAccessMissing, checkid.IAMAccessWrongARN, checkid.IAMSTSRegionDeactivated,
			checkid.IAMRoleTrust, checkid.IAMAccessWrongType},
			Meaning: "the cluster's API does not accept the credentials of whoever asked",
			Next:    "If the kubelet says so, give the node role an access entry of type EC2_LINUX or map it in aws-auth; if kubectl says so, it is about you and not about nodes."},

		// What the node gets its token with.
		{Check: checkid.IAMSTSEndpoint, All: [][]string{{"getting credentials: exec"}}, Fails: []Failure{TimedOut, Unresolved, NoRoute}, Source: kubeletDoc},
		{Check: checkid.InstanceConsoleError, Symptom: true, By: []Program{Kubelet}, All: [][]string{{"getting credentials: exec", "aws-iam-authenticator failed",
			"executable aws failed", "executable aws-iam-authenticator"}}, Source: kubeletDoc, Look: []checkid.ID{checkid.IAMSTSEndpoint, checkid.IAMProfileMissing,
			checkid.InstanceUserData, checkid.InstanceIMDS},
			Meaning: "the program that makes the node's token failed",
			Next:    "Look at the instance profile and at the subnet's way to STS; read the kubelet's log on the instance."},
		{Check: checkid.IAMProfileMissing, Codes: []string{"IamNodeRoleNotFound"}, Source: apiDoc},
		{Check: checkid.IAMProfileMissing, All: [][]string{{"instance profile"}, {"missing", "not attached", "no iam", "does not have"}}, By: []Program{Runbook},
			Source: runbookDoc},
	}
}

// policyKinds are what IAM calls a policy that denies although the caller's own
// allows (IAM user guide, Troubleshooting access denied error messages).
func policyKinds() []string {
	return []string{"explicit deny", "explicitdeny: true", "service control policy", "resource control policy", "permissions boundary", "session policy"}
}
