package text

import "rollcall/shared/checkid"

// apiRows are codes of APIs that tell what went wrong with a call and not with
// a node: they have a meaning and no check. The codes of failed launches are
// in package activity, those of health issues in package nodegroup.
func apiRows() []row {
	const again = "Try again. Where it repeats, send the whole message."
	explain := func(meaning, next string, codes ...string) row {
		return row{meaning: meaning, next: next, codes: codes, source: apiDoc}
	}
	return []row{
		explain("the caller's credentials or clock are not valid: the call was not looked at", "Renew the credentials, and correct the clock of who called.",
			"RequestExpired", "InvalidSecurity.RequestHasExpired", "SignatureDoesNotMatch", "InvalidSignatureException", "InvalidClientTokenId",
			"UnrecognizedClientException", "MissingAuthenticationToken", "IncompleteSignature", "ExpiredToken", "ExpiredTokenException", "InvalidToken"),
		explain("the caller may not use what the call names, or its credentials are not valid",
			"Send the whole message: what it names (an image, a role) tells which check it is.", "AuthFailure"),
		explain("EC2 refuses a parameter of the call; the words behind the code say which", "Send the whole message: the parameter and its value tell which check it is.",
			"InvalidParameter", "InvalidParameterValue", "InvalidParameterCombination", "InvalidParameterDependency", "MissingParameter", "MissingInput",
			"UnknownParameter", "ValidationError", "ValidationException", "InvalidInput", "InvalidRequest", "InvalidID", "InvalidCharacter",
			"InvalidAction", "MissingAction", "InvalidQueryParameter", "MalformedQueryString", "InvalidFormat"),
		explain("the same request was made twice with other values, or is made while another one runs", again,
			"IdempotentParameterMismatch", "IdempotentInstanceTerminated", "ConcurrentTagAccess", "ResourceContention", "ResourceContentionFault",
			"ScalingActivityInProgress", "ScalingActivityInProgressFault", "InstanceRefreshInProgress", "InstanceRefreshInProgressFault", "IncorrectState",
			"IncorrectInstanceState", "InvalidInstanceState", "InvalidState", "CreditSpecificationUpdateInProgress"),
		explain("the instance that the call names does not exist, or is so new that EC2 does not know it yet", again, "InvalidInstanceID.NotFound",
			"InvalidInstanceID.Malformed", "InvalidInstanceID"),
		explain("a fault inside AWS, mostly one that passes", again, "InternalError", "InternalFailure", "InternalServerError", "Unavailable",
			"ServiceUnavailable", "ServiceUnavailableException", "ServerException", "ResourcePropagationDelayException"),
		explain("a quota of the account is reached; the words behind the code say which", "Ask for a higher quota in Service Quotas, or free what is not needed.",
			"ResourceLimitExceeded", "ResourceLimitExceededException", "ResourceCountExceeded", "ResourceCountLimitExceeded", "LimitExceeded",
			"LimitExceededFault", "NetworkInterfaceLimitExceeded", "PlacementGroupLimitExceeded", "HostLimitExceeded", "RulesPerSecurityGroupLimitExceeded",
			"SnapshotLimitExceeded", "KeyPairLimitExceeded", "ServiceQuotaExceededException"),
		explain("who asked EKS is not allowed to; that says nothing of nodes", "Allow the call in the caller's policy.", "AccessDeniedException"),
		explain("EKS refuses the request; the words behind the code say why", "Send the whole message: what it names tells which check it is.",
			"InvalidParameterException", "InvalidRequestException", "BadRequestException", "ClientException", "InvalidStateException"),
		explain("what the call names does not exist in this account and region, or is in use", "Compare its name and region.",
			"ResourceNotFoundException", "NotFoundException", "ResourceInUseException", "ResourceInUse", "ResourceInUseFault", "AlreadyExists",
			"AlreadyExistsFault", "ResourceAlreadyExistsException", "ActiveInstanceRefreshNotFound", "ActiveInstanceRefreshNotFoundFault",
			"IrreversibleInstanceRefresh", "IrreversibleInstanceRefreshFault", "InvalidNextToken"),
		explain("the call was only a trial: it would have been allowed", "Nothing is wrong.", "DryRunOperation"),
	}
}

// bootRows are about how an instance starts: user data, its image, the
// kubelet's start. Lines of consoles that package console knows are not here.
func bootRows() []row {
	const (
		userData = checkid.InstanceUserData
		readLog  = "Read the lines before it, in the console output or with journalctl on the instance."
	)
	starters := []program{nodeadm, bootstrap, cloudInit, bottlerocket}
	return []row{
		{check: checkid.InstanceClusterTag, all: [][]string{{"failed to find clusterid", "kubernetes.io/cluster/…not found",
			"kubernetes.io/cluster/…missing", "no tag…kubernetes.io/cluster/", "missing…kubernetes.io/cluster/", "kubernetescluster…not found"}}, none: []string{"subnet", "security group", "cidr", "selector"},
			source: "github.com/kubernetes/legacy-cloud-providers: aws/tags.go"},
		{check: userData, by: starters, all: [][]string{{"missing in cluster configuration", "is missing in", "could not find nodeconfig", "no nodeconfig",
			"yaml: ", "unknown field", "error converting yaml", "cannot unmarshal", "failed to unmarshal", "malformed mime", "mime: ", "no kind nodeconfig",
			"is registered for version", "no config in chain", "strict decoding error", "unmarshaling", "failed to decode", "toml", "unable to parse",
			"failed to parse", "invalid configuration", "unhandled non-multipart", "failed loading yaml", "couldnt parse", "deserializ"}},
			none: []string{"cluster authentication token"}, source: nodeadmDoc},
		{check: userData, all: [][]string{{"bootstrap.sh"}, {"no such file", "not found", "removed", "command not found", "cannot execute", "invalid option",
			"unknown option", "unrecognized"}}, source: nodeadmDoc,
			meaning: "user data calls a bootstrap script that this image does not have, or calls it wrongly",
			next:    "Write user data for the image that is started: NodeConfig for AL2023, TOML for Bottlerocket, bootstrap.sh for AL2."},
		{check: userData, by: []program{bottlerocket}, all: [][]string{{"userdata configuration", "user data", "user-data", "early-boot-config"},
			{"was skipped", "unmet condition", "failed to start", "invalid", "error 400", "unable to match", "failed to parse"}},
			source:  "github.com/bottlerocket-os/bottlerocket-core-kit: early-boot-config",
			meaning: "Bottlerocket did not take its user data: it was read on an earlier start, of which the image kept the settings, or it is not valid",
			next:    "Make images from an instance whose settings were not kept, and correct the TOML."},
		{check: userData, all: [][]string{{"unhandled non-multipart", "text/x-not-multipart"}}, source: "github.com/canonical/cloud-init: user_data.py",
			meaning: "cloud-init did not know what kind of user data it was given, and skipped it",
			next:    "Let user data begin with #!, #cloud-config or a MIME header. A NodeConfig stands in a MIME part or alone."},
		{check: userData, by: append(starters, kubelet), all: [][]string{{"no cluster found for name", "cluster not found", "resourcenotfoundexception"}},
			source: apiDoc, meaning: "user data names a cluster that does not exist in this account and region",
			next: "Correct the cluster's name in user data."},
		{check: userData, by: []program{kubelet, systemd, unknownProgram}, all: [][]string{{"unknown flag: --", "failed to parse kubelet flag",
			"unrecognized feature gate", "flag provided but not defined", "unknown shorthand flag", "flag has been removed", "failed to load kubelet config",
			"failed to validate kubelet", "strict decoding error", "invalid kubelet configuration", "failed to set feature gates"}},
			none: []string{"node-labels", "label"}, source: kubeletDoc,
			meaning: "the kubelet does not know or does not take one of its flags or settings",
			next:    "Take the flag or field out of what user data gives the kubelet; it may be gone in this version."},
		{check: userData, all: [][]string{{"client ca file", "ca.crt"}, {"unable to load", "error reading", "no such file", "does not contain"}},
			source: kubeletDoc, meaning: "the node got no certificate authority of the cluster"},
		{check: userData, by: []program{kubelet, unknownProgram}, all: [][]string{{"swap on is not supported", "cloud provider…aws…not supported",
			"unknown cloud provider"}}, source: kubeletDoc},
		{check: checkid.InstanceIMDS, all: [][]string{{"awk: cmd. line", "<title>401 - unauthorized", "<title 401 - unauthorized"}},
			meaning: "the metadata service refused the boot script: it wants tokens (IMDSv2), which old scripts do not send",
			next:    "Start a newer image, and let the metadata options fit."},
		{check: checkid.InstanceIMDS, by: []program{runbook}, all: [][]string{{"imds", "metadata"}}, source: runbookDoc},
		{check: checkid.InstanceVersionSkew, all: [][]string{{"kubelet", "nodegroup", "node group", "nodes"}, {"version skew", "must match the control plane",
			"must be updated to match cluster version", "cannot be higher than", "is higher than the control plane", "is newer than the control plane",
			"skew policy", "must not be newer"}}, source: "Kubernetes documentation, Version skew policy; EKS API: UpdateNodegroupVersion"},
		{check: checkid.InstanceAMI, all: [][]string{{"exec format error", "cannot execute binary file"}}, none: []string{"missing #!", "pod", "back-off",
			"crashloop"}, source: "execve(2): ENOEXEC", meaning: "programs of another processor architecture than the instance's",
			next: "Start an image for the instance type's architecture."},
		{check: checkid.InstanceAMI, all: [][]string{{"al2_x86_64", "al2_arm_64", "al2", "amazon linux 2", "ami type", "amitype"}, {"only supported for kubernetes",
			"is not supported for kubernetes", "not supported for kubernetes", "is not supported for version", "no longer supported", "end of support",
			"no ami available"}}, source: "EKS user guide, EKS optimized AMIs",
			meaning: "there is no image of this kind for this Kubernetes version: AL2 ended with 1.32", next: "Use AL2023 or Bottlerocket."},
		{check: checkid.InstanceAMI, all: [][]string{{"kernel panic", "unable to mount root fs", "grub rescue"}}, source: "Linux, init/do_mounts.c"},
		{check: checkid.InstanceStatusCheck, all: [][]string{{"status check fail", "status checks fail", "instance reachability check failed",
			"system reachability check failed", "status checks failure",
			"status checks failed", "ec2 instance status checks", "instance status check failed", "system status check failed"}},
			source: "EC2 user guide, Status checks"},
		{check: checkid.InstanceEndedEarly, all: [][]string{{"health check indicating it has been terminated or stopped"}},
			source:  "EC2 Auto Scaling user guide, Troubleshoot unhealthy instances",
			meaning: "the group found the instance ended: somebody, or something else, had ended it",
			next:    "Read the instance's state reason, and ask CloudTrail for the TerminateInstances or StopInstances call."},
		{check: checkid.InstanceScheduledEvent, all: [][]string{{"instance-retirement", "scheduled for retirement", "system-reboot", "instance-stop",
			"system-maintenance"}}, none: []string{"server.scheduledstop"}, source: "EC2 user guide, Scheduled events"},
		{check: checkid.SpotReclaimedBeforeJoin, codes: []string{"SpotInterrupted", "SpotInterruption"}, source: karpenterDoc},
		{check: checkid.SpotReclaimedBeforeJoin, all: [][]string{{"spot instance interruption", "spot interruption", "interrupted by spot",
			"spot instance termination"}}, none: []string{"queue", "sqs"}, source: "EC2 user guide, Spot interruptions"},

		{check: checkid.InstanceAMI, all: [][]string{{"failed to get sandbox image localhost/kubernetes/pause", "failed to pull image localhost/kubernetes/pause",
			"image localhost/kubernetes/pause: not found", "image localhost/kubernetes/pause:latest"}}, source: "github.com/awslabs/amazon-eks-ami/issues/2729",
			meaning: "the pause image of the AMI is missing on the node: no pod can start",
			next:    "Use another AMI release, and keep the image from being removed (image garbage collection, ctr prune). The address is the node itself: the network is not at fault."},

		// Units say that, not why.
		{check: checkid.InstanceConsoleError, symptom: true, all: [][]string{{"failed to start", "dependency failed for", "main process exited",
			"failed with result", "failed at step", "failed to locate executable", "start request repeated", "could not be found", "status=203",
			"entered failed state"}, {"nodeadm", "kubelet", "containerd", "noderun", "cloud-final", "cloud-init", "sandbox", "eks", "network", "userdata",
			"setting generators", "bottlerocket", "settings"}}, none: []string{"container manager", "containermanager", "exec failed", "execsync",
			"network namespace", "image-gc", "network for pod", "setup network", "set up sandbox"}, source: "systemd: systemd.exec(5), job messages",
			look:    []checkid.ID{checkid.InstanceUserData, checkid.InstanceAMI, checkid.EndpointMissing, checkid.RouteNoEgress, checkid.IAMRolePolicies},
			meaning: "a service that the node needs did not start; the line does not say why", next: readLog},
		{check: checkid.InstanceConsoleError, symptom: true, all: [][]string{{"nodeadm", "kubelet", "containerd", "noderun", "cloud-final", "cloud-init", "sandbox",
			"bottlerocket", "settings", "network"}, {"main process exited", "failed with result", "failed at step", "could not be found", "entered failed state",
			"start request repeated"}}, none: []string{"container manager", "containermanager", "exec failed", "execsync",
			"network namespace", "image-gc", "network for pod", "setup network", "set up sandbox"}, source: "systemd: systemd.exec(5), job messages",
			look:    []checkid.ID{checkid.InstanceUserData, checkid.InstanceAMI, checkid.EndpointMissing, checkid.RouteNoEgress, checkid.IAMRolePolicies},
			meaning: "a service that the node needs did not start; the line does not say why", next: readLog},
		{check: checkid.InstanceConsoleError, symptom: true, all: [][]string{{"invalid kernel flag", "protectkerneldefaults", "failed to start containermanager",
			"failed to start container manager"}}, source: kubeletDoc, look: []checkid.ID{checkid.InstanceAMI, checkid.InstanceUserData},
			meaning: "the kubelet does not start: the kernel's settings, or the system's, are not as it wants them",
			next:    "Look at the sysctls of a hardened image (vm.overcommit_memory, kernel.panic) and at protectKernelDefaults."},
		{check: checkid.InstanceConsoleError, symptom: true, all: [][]string{{"failed to run kubelet", "could not init cloud provider", "failed to run kubelet:"}},
			source: kubeletDoc, look: append([]checkid.ID{checkid.EndpointMissing, checkid.RouteNoEgress, checkid.IAMRolePolicies, checkid.InstanceUserData},
				pathToAWS()[2:]...),
			meaning: "the kubelet ended with an error; the line says at what", next: readLog},
		{info: true, check: checkid.InstanceConsoleError, symptom: true, by: starters, all: [][]string{{"error finding instance", "error listing aws instances",
			"retrying request ec2", "failed with exit code", "command failed", "level: fatal", "exited with error", "exit status", "failed to run module",
			"failed running", "error: exit", "[error]"}}, source: nodeadmDoc, look: []checkid.ID{checkid.InstanceUserData, checkid.EndpointMissing, checkid.RouteNoEgress,
			checkid.IAMRolePolicies, checkid.InstanceIMDS},
			meaning: "the start of the node broke off", next: readLog},
		{check: checkid.InstanceConsoleError, symptom: true, by: starters, fails: []failure{throttled}, source: nodeadmDoc, look: []checkid.ID{checkid.LaunchThrottled,
			checkid.InstanceUserData}, meaning: "an API asked the starting node to slow down",
			next: "Give user data the cluster's endpoint, authority and range, so that it asks nobody; start fewer nodes at once."},
	}
}

// eksRows are what EKS answers and says of clusters, nodegroups and add-ons,
// and the runbook's findings.
func eksRows() []row {
	ask := []string{"InvalidParameterException", "InvalidRequestException", "InvalidRequest"}
	return []row{
		// What the parameter is about, in a request that EKS refused.
		{check: checkid.InstanceForbiddenNodeLabel, codes: ask, all: [][]string{{"label"}, {"prefix", "reserved", "kubernetes.io", "k8s.io"}}, source: apiDoc},
		{check: checkid.LaunchUnsupportedType, all: [][]string{{"not a valid instance type", "is not a valid instance type", "instance type…not supported",
			"instance types…not supported", "invalid instance type", "instance types…must be", "instancetypes…amitype", "not compatible with…amitype",
			"unsupported instance type", "instance types do not exist", "instance type…does not exist"}}, not: []program{ipamd, karpenter}, source: apiDoc},
		{check: checkid.LaunchProfile, codes: ask, all: [][]string{{"instance profile", "instanceprofile"}, {"not be found", "not found", "does not exist",
			"is invalid"}}, none: []string{"should not specify"}, source: apiDoc},
		{check: checkid.IAMProfileMissing, not: []program{karpenter}, all: [][]string{{"nosuchentity", "cannot be found"}, {"instance profile"}}, source: apiDoc},
		{check: checkid.LaunchSecurityGroup, codes: ask, all: [][]string{{"security group", "securitygroup"}}, none: []string{"launch template", "remote access",
			"unauthorized"}, source: apiDoc},
		{check: checkid.LaunchTemplate, codes: ask, all: [][]string{{"launch template", "launchtemplate", "disk size", "disksize", "remote access", "key pair",
			"user data was not in the mime", "mime multi"}}, none: []string{"architecture", "instance profile", "iaminstanceprofile", "fully-formed"},
			source: apiDoc},
		{check: checkid.LaunchTemplate, all: [][]string{{"launch template"}, {"should not specify", "must not specify", "cannot specify", "not in the mime",
			"parameters from the launch template"}}, none: []string{"architecture", "fully-formed"}, source: apiDoc},
		{check: checkid.LaunchAMI, all: [][]string{{"ami", "image"}, {"architecture"}, {"does not match", "do not match", "mismatch", "incompatible",
			"not compatible", "doesnt match"}}, not: []program{karpenter}, source: apiDoc,
			meaning: "the image is for another processor architecture than the instance type"},
		{check: checkid.LaunchAMI, all: [][]string{{"ami", "image"}, {"does not match", "do not match", "not compatible", "doesnt match"}, {"architecture"}},
			not: []program{karpenter}, source: apiDoc,
			meaning: "the image is for another processor architecture than the instance type"},
		{check: checkid.InstanceVersionSkew, codes: ask, all: [][]string{{"nodegroup", "node group", "nodegroups", "kubelet"}, {"kubernetes version"}},
			none: []string{"ami type", "amitype", "requested release version", "release version"}, source: apiDoc},
		{check: checkid.InstanceAMI, codes: ask, all: [][]string{{"release version", "releaseversion", "ami type", "amitype", "requested ami"}}, source: apiDoc},
		{check: checkid.IPSubnetExhausted, codes: ask, all: [][]string{{"subnet"}, {"free ip", "available ip", "enough ip", "insufficient ip",
			"sufficient ip"}}, source: apiDoc},

		// Health of the cluster, before the nodegroup's: some codes are both.
		{check: checkid.ClusterHealth, codes: []string{"Ec2ServiceNotSubscribed", "KmsGrantRevoked", "KmsKeyNotFound", "KmsKeyMarkedForDeletion", "KmsKeyDisabled",
			"UnsupportedVersion", "VpcNotFound", "IamRoleNotFound"}, source: apiDoc},
		{check: checkid.IAMSTSRegionDeactivated, codes: []string{"StsRegionalEndpointDisabled"}, source: apiDoc},
		{check: checkid.AddonDegraded, codes: []string{"InsufficientNumberOfReplicas", "ConfigurationConflict", "AdmissionRequestDenied",
			"UnsupportedAddonModification", "K8sResourceNotFound", "AddonSubscriptionNeeded", "AddonPermissionFailure"}, source: apiDoc},
		{check: checkid.AddonDegraded, all: [][]string{{"addon", "add-on", "coredns", "kube-proxy", "eks add-on", "eks addon"}, {"degraded", "create_failed",
			"update_failed", "not active", "is unhealthy", "unavailable", "timed out", "timeout while waiting", "exceeded"}}, none: []string{"dial tcp"},
			source: apiDoc},
		{check: checkid.NodegroupHealth, all: [][]string{{"launch template"}, {"not managed by amazon eks", "not managed by eks", "version mismatch"}}, source: apiDoc,
			meaning: "somebody changed the launch template of the group that EKS manages",
			next:    "Set the group back to the version that EKS made, or update the nodegroup through EKS."},
		{check: checkid.NodegroupUpdateFailed, all: [][]string{{"podevictionfailure", "max retries while trying to evict", "cannot evict pod",
			"evict pods from nodes"}}, none: []string{"karpenter"}, source: apiDoc},
		{check: checkid.LaunchSuspended, all: [][]string{{"suspendedprocesses…launch", "launch process is suspended", "suspended processes…launch", "process launch is suspended"}},
			source: apiDoc},
		{check: checkid.NodegroupHealth, symptom: true, codes: []string{"NodeCreationFailure"}, none: []string{"dummy_", "version update", "upgrade process", "unhealthy nodes"}, source: apiDoc,
			look:    append([]checkid.ID{checkid.NodeNotRegistered}, notJoining()...),
			meaning: "instances were started and did not register with the cluster in time",
			next:    "Look at the instances that it names: their way to the API and to the registries, their role, their user data."},
		{meaning: "the control plane cannot be in one of the zones: no fault of nodes", next: "Choose the zones that the message names for the cluster's subnets.",
			codes: []string{"UnsupportedAvailabilityZoneException"}, source: apiDoc},
		{meaning: "the control plane cannot be in one of the zones: no fault of nodes", next: "Choose the zones that the message names for the cluster's subnets.",
			all: [][]string{{"cannot create cluster", "to support the cluster"}, {"availability zone"}}, source: apiDoc},

		// That it failed, and not why.
		{info: true, check: checkid.LaunchInsufficientCapacity, symptom: true, by: []program{autoscaler}, all: [][]string{{"placeholder-cannot-be-fulfilled",
			"cannot provision any more instances", "outofresource"}}, source: "github.com/kubernetes/autoscaler: cloudprovider/aws", look: launches(),
			meaning: "the Auto Scaling group could not start what the Cluster Autoscaler asked for; its message does not say why",
			next:    "Read the scaling activities of the group: aws autoscaling describe-scaling-activities."},
		{check: checkid.NodeNotRegistered, symptom: true, by: []program{autoscaler}, all: [][]string{{"scale-up timed out", "unregistered nodes",
			"nodes unregistered", "failed to register", "long unregistered", "timed out for node group"}},
			source: "github.com/kubernetes/autoscaler: clusterstate", look: append(notJoining(), launches()...),
			meaning: "the Cluster Autoscaler asked for nodes and they did not come: the launch failed, or the instances did not join",
			next:    "Read the scaling activities of the group first; where instances run, look at why they do not join."},
		{check: checkid.NodegroupStatus, symptom: true, only: []string{"create failed", "delete failed"}, source: "EKS console, Node group configuration",
			look:    []checkid.ID{checkid.NodegroupHealth, checkid.NodeNotRegistered, checkid.LaunchInsufficientCapacity},
			meaning: "a node group failed; this page does not show the reason", next: "Read its health issues: aws eks describe-nodegroup --query nodegroup.health."},
		{check: checkid.NodeNotRegistered, symptom: true, info: true, all: [][]string{{"kubectl get no"}, {"no resources found"}}, source: kubeletDoc, look: notJoining()},
		{info: true, check: checkid.NodegroupUpdateFailed, symptom: true, all: [][]string{{"nodegroup", "node group", "node_group"}, {"update_failed", "update failed",
			"version update: unexpected state", "version update…unexpected state", "config update…unexpected state", "couldnt proceed with upgrade process"}}, none: []string{"addon", "add-on"}, source: apiDoc, look: []checkid.ID{checkid.NodegroupHealth, checkid.NodeNotRegistered},
			meaning: "an update of the nodegroup failed; the words behind it say why", next: "Read the update's errors: aws eks describe-update."},
		{check: checkid.NodegroupStatus, symptom: true, all: [][]string{{"nodegroup", "node group", "node_group", "node-group"}, {"create_failed",
			"failed to stabilize", "delete_failed", "unexpected state", "degraded", "failed to create nodegroup"}}, none: []string{"addon", "add-on"},
			source: apiDoc, look: []checkid.ID{checkid.NodegroupHealth, checkid.NodeNotRegistered, checkid.LaunchInsufficientCapacity},
			meaning: "a nodegroup failed; this message does not say why", next: "Read its health issues: aws eks describe-nodegroup --query nodegroup.health."},

		// AWS's runbook names what it found missing.
		{check: checkid.EndpointMissing, all: [][]string{{"vpc endpoint"}, {"is missing", "missing from", "not found", "does not exist", "no vpc endpoint"}},
			none: []string{"policy"}, source: runbookDoc},
		{check: checkid.EndpointSecurityGroup, by: []program{runbook}, all: [][]string{{"endpoint"}, {"security group"}}, source: runbookDoc},
		{check: checkid.SGClusterIngress, all: [][]string{{"cluster security group"}, {"not allowing", "does not allow", "not allow", "missing"}}, source: runbookDoc},
		{check: checkid.SGNodeEgress, by: []program{runbook}, all: [][]string{{"security group"}, {"egress", "outbound"}}, source: runbookDoc},
		{check: checkid.NACLEgress, by: []program{runbook}, all: [][]string{{"network acl", "nacl"}, {"egress", "outbound"}},
			look: []checkid.ID{checkid.NACLReturn}, source: runbookDoc},
		{check: checkid.NACLReturn, by: []program{runbook}, all: [][]string{{"network acl", "nacl"}}, look: []checkid.ID{checkid.NACLEgress}, source: runbookDoc},
		{check: checkid.RouteIGWNoPublicIP, all: [][]string{{"not automatically assign public ip", "auto-assign public ip…not enabled", "auto-assign public ip…is disabled", "mappubliciponlaunch is false",
			"mappubliciponlaunch…not enabled", "ec2subnetinvalidconfiguration"}}, source: apiDoc},
		{check: checkid.RouteNoEgress, by: []program{runbook}, all: [][]string{{"route", "nat gateway", "internet gateway", "internet access"}}, source: runbookDoc},
		{check: checkid.DNSDHCPOptions, by: []program{runbook}, all: [][]string{{"dhcp"}}, source: runbookDoc},
		{check: checkid.InstanceUserData, by: []program{runbook}, all: [][]string{{"user data", "userdata", "bootstrap"}}, source: runbookDoc},
	}
}

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
		{check: checkid.NodeNotRegistered, symptom: true, all: [][]string{{"is not allowed to modify node", "can only access node lease with the same name", "can only access csinode with the same name",
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
		{check: checkid.IAMRolePolicies, all: [][]string{{".ecr.", "eks/pause", "sandbox image", "602401143452"}, {"no basic auth credentials", "pull access denied",
			"401 unauthorized", "403 forbidden", "authorization failed", "not authorized", "unauthorized: authentication required", "denied: your authorization token"}}, source: "ECR user guide, Troubleshooting", look: []checkid.ID{checkid.EndpointMissing, checkid.InstanceConsoleError,
			checkid.InstanceUserData},
			meaning: "ECR was reached, and refuses the node's credentials: its role lacks ECR's read actions, or the credential provider did not serve",
			next:    "Attach AmazonEC2ContainerRegistryPullOnly to the node role; look at the kubelet's ecr-credential-provider, at a replaced containerd configuration, and at the way to ECR's API."},

		// AWS attaches this policy to a user whose key it found in public (IAM user guide, "AWS
		// managed policies: AWSCompromisedKeyQuarantineV3").
		{check: checkid.LaunchPolicyDenied, calls: launchCalls(), all: [][]string{{"awscompromisedkeyquarantine"}}, source: iamDoc,
			meaning: "AWS quarantined the access key used for the launch: it was exposed publicly",
			next:    "Deactivate the key and review its use in CloudTrail; AWS's email and support case explain how to lift the quarantine. Launch with a role instead."},
		{meaning: "AWS quarantined the caller's access key: it was exposed publicly; this is not about a node",
			next: "Deactivate the key and review its use in CloudTrail; AWS's email and support case explain how to lift the quarantine.",
			all:  [][]string{{"awscompromisedkeyquarantine"}}, source: iamDoc},
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
		{info: true, check: checkid.IAMAccessMissing, fails: []failure{unknownID}, all: [][]string{{"register node", "csinode", "failed to list v1", "failed to watch v1",
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

// What is said of security groups and subnets that do not go together.
const (
	otherVPC  = "the NodeClass selects security groups and subnets of different VPCs"
	selectVPC = "Let securityGroupSelectorTerms and subnetSelectorTerms of the NodeClass select within the cluster's VPC: the tags that they go by are in another VPC too."
)

// karpenterRows are conditions, events and log lines of Karpenter and of EKS
// Auto Mode, which runs it.
func karpenterRows() []row {
	const class = checkid.KarpenterNodeclassNotReady
	return []row{
		{check: class, all: [][]string{{"subnetselector did not match", "securitygroupselector did not match", "amiselector did not match", "no subnets found",
			"no subnets exist given constraints", "no security groups exist given constraints", "no amis exist given constraints", "no amis found",
			"no security groups found", "no subnets matched", "no security groups matched", "no amis matched", "no subnets…selector",
			"no security groups…selector", "nodeclassnotready", "nodeclass not ready", "node class not ready", "failed resolving nodeclass",
			"failed resolving node class", "resolving nodeclass", "nodeclass not found", "nodeclass…not found", "nodeclassnotfound", "nodeclassterminating",
			"no capacity reservations exist"}}, source: karpenterDoc},
		{check: class, codes: []string{"UnauthorizedNodeRole"}, source: "EKS user guide, Auto Mode: create a node class",
			look:    []checkid.ID{checkid.IAMAccessMissing, checkid.IAMAccessPolicyMissing},
			meaning: "the NodeClass's node role has no access entry in the cluster: its nodes cannot join",
			next:    "Create an access entry of type EC2 for the role, with the policy AmazonEKSAutoNodePolicy."},
		{check: class, codes: []string{"SubnetsNotFound", "SecurityGroupsNotFound", "AMINotFound", "UnsupportedAlias", "InstanceProfileNotFound",
			"PlacementGroupNotFound", "PlacementGroupResolutionFailed", "TagValidationFailed", "ClusterCIDRResolutionFailed", "InvalidKubeletConfiguration",
			"UnsupportedKubeletConfiguration", "DependenciesNotReady", "NodeClassNotReady", "NodePoolValidationFailed", "NodeClassNotFound",
			"NodeClassTerminating", "NodeClassReadinessUnknown", "SubnetResolutionFailed", "InstanceTypeResolutionFailed"}, by: []program{karpenter},
			source: karpenterDoc},
		{check: class, by: []program{karpenter}, all: [][]string{{"subnetsready", "securitygroupsready", "amisready", "instanceprofileready", "nodeclassready",
			"placementgroupready", "capacityreservationsready"}, {"false", "unknown"}}, source: karpenterDoc},
		{check: class, by: []program{karpenter}, all: [][]string{{"ec2nodeclass", "nodeclass"}, {"validationsucceeded", "readiness", "ready=false",
			"ready: false", "type: ready status: false", "type: ready, status: false", "is not ready", "status: false", "ready false", "ready=unknown"}},
			none: []string{"registered", "notready nodes"}, source: karpenterDoc},
		{check: class, by: []program{karpenter}, all: [][]string{{"instance profile", "instanceprofile"}, {"neither", "not specified", "no instance profile", "not found", "cannot be found", "nosuchentity",
			"failed to create", "creating instance profile", "getting instance profile", "failed to detect"}}, source: karpenterDoc},
		{check: class, by: []program{karpenter}, all: [][]string{{"neither…instanceprofile", "failed to create…instance profile", "failed to detect…instance profile",
			"resolving…instance profile"}}, source: karpenterDoc},
		{check: class, by: []program{karpenter}, all: [][]string{{"discovering ami", "discover any amis", "resolving ami", "getting amis", "getting subnets",
			"getting security groups", "describing security groups", "describing subnets", "describing images", "failed to detect the cluster cidr"}},
			source: karpenterDoc},
		{info: true, check: checkid.KarpenterNodepoolLimit, by: []program{karpenter}, all: [][]string{{"exceed limits", "exceeds limit", "limits exceeded",
			"limit exceeded for", "exceed limit", "all available instance types exceed", "would exceed", "would breach…limits"}}, none: []string{"vcpu limit"},
			source: karpenterDoc},

		// Joined, and not usable.
		{check: checkid.NodeNotInitialized, by: []program{karpenter, csi, unknownProgram}, codes: []string{"StartupTaintsExist", "KnownEphemeralTaintsExist",
			"ResourceNotRegistered", "DRADriverPoolsNotPublished"}, source: karpenterDoc},
		{info: true, check: checkid.NodeNotInitialized, all: [][]string{{"didnt register on the node", "startuptaint…still exists", "knownephemeraltaint", "was requested but not registered",
			"ebs.csi.aws.com/agent-not-ready", "startup taint"}}, source: karpenterDoc},
		{check: checkid.NodeNotReady, symptom: true, by: []program{karpenter}, all: [][]string{{"node status is notready", "nodenotready", "reason: nodenotready"}},
			source: karpenterDoc, look: notReady()},

		// Launched, and not joined.
		{check: checkid.NodeNotRegistered, symptom: true, by: []program{karpenter}, all: [][]string{{"nodenotfound", "node not registered", "registration_timeout",
			"registration ttl", "registration timeout", "failed to register node", "registrationfailed", "karpenter.sh/unregistered",
			"unregisteredtaintmissing", "not registered within", "liveness", "registrationttl"}}, none: []string{"liveness probe"}, source: karpenterDoc,
			look: notJoining()},
		{check: checkid.NodeNotRegistered, symptom: true, all: [][]string{{"karpenter.sh/unregistered", "registration ttl", "registration_timeout",
			"node not registered with cluster"}}, none: []string{"tolerat"}, source: karpenterDoc, look: notJoining()},

		// Refused, by the reason that Karpenter gives (pkg/errors ToReasonMessage).
		{check: checkid.LaunchSecurityGroup, codes: []string{"SecurityGroupSubnetVPCMismatch"}, meaning: otherVPC, next: selectVPC, source: karpenterDoc},
		{check: checkid.LaunchSecurityGroup, all: [][]string{{"must be in the same vpc"}}, meaning: otherVPC, next: selectVPC, source: karpenterDoc},
		{check: checkid.LaunchAMI, codes: []string{"AMIAuthorizationFailure", "InvalidAMIID"}, source: karpenterDoc},
		{check: checkid.LaunchProfile, codes: []string{"InstanceProfileNameInvalid"}, source: karpenterDoc},
		{check: checkid.LaunchTemplate, codes: []string{"LaunchTemplateNotFound", "UserDataSizeLimitExceeded"}, source: karpenterDoc},
		{check: checkid.LaunchFleetLimit, codes: []string{"FleetQuotaExceeded"}, source: karpenterDoc},
		{check: checkid.LaunchAccountValidation, codes: []string{"AccountPendingVerification"}, source: karpenterDoc},
		{check: checkid.LaunchSpotLimit, codes: []string{"SpotQuotaExceeded"}, source: karpenterDoc},
		{check: checkid.LaunchVCPULimit, codes: []string{"VCPULimitExceeded"}, source: karpenterDoc},
		{check: checkid.LaunchUnsupportedType, codes: []string{"FreeTierIneligible"}, source: karpenterDoc},
		{check: checkid.LaunchUnauthorized, by: []program{karpenter}, all: [][]string{{"reason: unauthorized", "no identity-based policy allows"}}, source: karpenterDoc},
		{check: checkid.LaunchAMI, by: []program{karpenter}, all: [][]string{{"requirements of amis", "no instance types satisfy requirements of ami"}},
			source: karpenterDoc, look: []checkid.ID{checkid.KarpenterNodeclassNotReady},
			meaning: "no instance type that is left runs any of the NodeClass's images: their architecture or accelerator does not fit",
			next:    "Compare the images that the NodeClass found with the NodePool's architectures and types."},
		{check: checkid.LaunchInsufficientCapacity, by: []program{karpenter}, all: [][]string{{"too few instances returned"}}, none: []string{"unauthorized",
			"limitexceeded", "unsupported", "countexceeded", "addresses"}, source: karpenterDoc, look: launches(),
			meaning: "the fleet gave fewer instances than asked, and no error of its own: mostly EC2 has no more of these types"},
		{check: checkid.LaunchInsufficientCapacity, by: []program{karpenter}, all: [][]string{{"all requested instance types were unavailable"}},
			source: karpenterDoc, look: []checkid.ID{checkid.LaunchSpotLimit, checkid.LaunchVCPULimit, checkid.LaunchUnsupportedType}},
		{check: checkid.LaunchInsufficientCapacity, by: []program{karpenter}, all: [][]string{{"insufficientcapacityerror", "insufficient capacity"}},
			none: []string{"vcpulimitexceeded", "maxspotinstancecount", "unauthorized", "insufficientfreeaddresses", "unsupported -",
				"with fleet error(s), unsupported", "reservationcapacity", "maxfleet", "subnet"}, source: karpenterDoc, look: []checkid.ID{checkid.LaunchSpotLimit,
				checkid.LaunchVCPULimit}},

		{check: checkid.ZoneShifted, all: [][]string{{"zonal shift detected", "zonalshiftactive"}}, source: karpenterDoc},

		{check: checkid.ZonePodUnschedulable, info: true, all: [][]string{{"topology.kubernetes.io/zone doesnotexist not in topology.kubernetes.io/zone",
			"topology.ebs.csi.aws.com/zone doesnotexist not in"}}, source: "github.com/kubernetes-sigs/karpenter: pkg/scheduling/requirements.go",
			look:    []checkid.ID{checkid.ZoneVolumeStranded},
			meaning: "the zones required by the pod and by its volumes do not overlap",
			next:    "Compare the zones of the pod's volumes (kubectl get pv) with its node affinity and topology spread: a pod with volumes in two zones fits no node."},
		{check: class, all: [][]string{{"label is restricted; specify a well known label", "label…is restricted…specify a well known label"}},
			source:  "github.com/kubernetes-sigs/karpenter: pkg/apis/v1/labels.go, IsRestrictedLabel",
			meaning: "the NodePool is not valid: it uses a reserved label",
			next:    "Use a well-known label. EKS Auto Mode has its own: eks.amazonaws.com/instance-category instead of karpenter.k8s.aws/instance-category."},
		{meaning: "no instance type that the NodePool allows fits the pod: nothing was launched",
			next: "Compare the pod's requests, selectors and tolerations with the NodePool's requirements and taints.",
			by:   []program{karpenter}, all: [][]string{{"no instance type satisfied", "no instance type which", "incompatible with nodepool",
				"nocompatibleinstancetypes", "did not tolerate", "filtered out all compatible", "no nodepools found"}}, source: karpenterDoc},
	}
}

// kubernetesRows are conditions, taints, events and certificates.
func kubernetesRows() []row {
	return []row{
		// Certificates of the kubelet.
		{check: checkid.NodeCSRPending, all: [][]string{{"no serving certificate available", "remote error: tls: internal error", "kubelet-serving…pending",
			"kubelet-serving…approv", "waiting for csr", "certificate signing request is not approved", "csr…not approved"}}, source: kubeletDoc},
		{check: checkid.NodeCSRPending, all: [][]string{{"certificatesigningrequest", "certificate signing request", "csr-"}, {"pending", "not approved", "denied",
			"timed out waiting"}, {"kubelet-serving", "system:node", "kubelet"}}, source: kubeletDoc},

		{check: checkid.NodeCSRPending, all: [][]string{{"kube-apiserver-client-kubelet", "kubelet-serving"}, {"certificate signing request", "certificate request"},
			{"denied", "not approved", "timed out waiting", "pending"}}, source: kubeletDoc},

		// Addresses for pods.
		{check: checkid.IPBranchInterfaces, all: [][]string{{"vpc.amazonaws.com/pod-eni", "branch eni", "branch interface", "branch network interface",
			"trunk interface", "trunk eni", "pod-eni"}, {"insufficient", "failed", "limit", "exceed", "unable", "not available", "no capacity", "error",
			"no free"}}, none: []string{"resourcenotregistered", "but not registered"},
			source: "github.com/aws/amazon-vpc-resource-controller-k8s: pkg/aws/ec2/api, pkg/provider/branch"},
		{check: checkid.IPBranchInterfaces, all: [][]string{{"insufficient", "failed", "exceeded", "unable", "error", "no free"}, {"vpc.amazonaws.com/pod-eni", "branch eni",
			"branch interface", "branch network interface", "trunk interface", "trunk eni"}}, none: []string{"resourcenotregistered", "but not registered"},
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
		{info: true, check: checkid.IPSubnetExhausted, all: [][]string{{"failed to assign an ip address", "no available ip addresses", "no free ip addresses",
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
		{check: checkid.NodeUninitialized, all: [][]string{{"effect: noschedule", "taints:", "untolerated", "had taint"}, {"node.cloudprovider.kubernetes.io/uninitialized"}},
			none: []string{"operator:"}, source: kubeletDoc},
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"network-unavailable", "networkunavailable", "agent-not-ready"}, {"taint", "noschedule",
			"noexecute", "true", "effect"}}, none: []string{"ebs.csi", "startuptaint", "networkunavailable false"}, source: kubeletDoc, look: network()},

		// The network plugin.
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"networkpluginnotready", "network plugin is not ready", "network plugin not initialized",
			"cni plugin not initialized", "networkready=false", "network is not ready", "no networks found in /etc/cni", "cni config uninitialize",
			"update cni config", "failed to load cni", "no network config found"}}, none: []string{"failed to load cni during init"}, source: kubeletDoc, look: network()},
		// A type that is in no table of the plugin's, and EC2 could not be asked (pkg/awsutils,
		// pkg/vpc; amazon-vpc-cni-k8s#3431).
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"failed to get eni limits from", "vpc ip resource(eni ip limit)", "vpc ip resource (eni ip limit)",
			"hypervisor info due to unknown instance type"}}, source: cniDoc,
			look:    []checkid.ID{checkid.AddonDegraded, checkid.IAMCNIRolePolicies, checkid.EndpointMissing, checkid.RouteNoEgress},
			meaning: "aws-node does not know the instance type, and could not ask EC2 about it",
			next:    "Update the VPC CNI: its table of types is as old as its version. A type that is not in it takes ec2:DescribeInstanceTypes and a way to EC2's API."},
		{info: true, check: checkid.NodeCNINotReady, symptom: true, by: []program{ipamd}, all: [][]string{{"failed to connect service", "readiness probe failed",
			"liveness probe failed", "back-off restarting", "crashloopbackoff", "waiting for ipam", "failed to communicate with", "unable to reach api server",
			"failed to get…instance type", "unknown instance type", "eni limit", "unsupported instance type", "not supported instance type", "no vpc limits",
			"ipamd is not", "failed to load", "initialization failure"}}, source: cniDoc, look: append(network(),
			checkid.InstanceCommonFactor)},
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"failed to set up sandbox", "failed to setup network for sandbox",
			"networkplugin cni failed", "add cmd:", "failed to set up pod", "plugin type=aws-cni", "failed to connect service :50051"}}, source: cniDoc,
			look: network()},
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"eniconfig"}, {"not found", "no eniconfig", "failed"}}, source: cniDoc,
			look: []checkid.ID{checkid.AddonDegraded}},
		{check: checkid.NodeCNINotReady, symptom: true, all: [][]string{{"aws-node"}, {"crashloopbackoff", "0/1", "0/2", "1/2", "init:crash", "init:error", "back-off"}},
			source: cniDoc, look: network()},

		// Conditions of a node.
		{check: checkid.NodeNotReady, symptom: true, all: [][]string{{"no space left on device", "diskpressure", "has disk pressure", "memorypressure",
			"pidpressure", "imagegcfailed", "freediskspacefailed", "ephemeral-storage", "evictionthresholdmet"}}, none: []string{"inotify", "pressure false",
			"status: false, reason: kubelethas", "false kubelethas"}, source: kubeletDoc, look: []checkid.ID{checkid.LaunchTemplate, checkid.InstanceConsoleError},
			meaning: "the node lacks disk, memory or process ids", next: "Give the node a larger root volume or type, or clear it."},
		{check: checkid.NodeNotReady, symptom: true, all: [][]string{{"stopped posting node status", "nodestatusunknown", "nodestatusneverupdated",
			"kubelet never posted", "pleg is not healthy", "container runtime is down", "containerruntimenotready", "kubeletnotready", "nodenotready",
			"node is not ready", "nodes are not ready", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "nodestatus is notready",
			"unhealthy nodes in the kubernetes"}}, none: []string{"pleg has yet to be successful", "may not have completed yet"}, source: kubeletDoc, look: notReady()},
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

// pathRows are about the way to what a node needs: who was asked, and how
// that failed.
func pathRows() []row {
	const (
		lost   = "an answer did not come: packets, or the answers to them, are lost on the way"
		path   = "Look at the way to the address that the line names: endpoint or route, security groups, network ACLs."
		closed = "the address refuses connections: nothing listens there, or something on the way says no"
		naming = "Look at DNS support and hostnames of the VPC, at its DHCP options, and whether port 53 is let through."
	)
	late := []failure{timedOut, noRoute}
	aws := []host{ec2API, eksAPI, eksAuth, ecr, s3, ssm}
	return []row{
		{check: checkid.RouteIGWDetached, codes: []string{"Gateway.NotAttached"}, source: apiDoc},
		{check: checkid.RouteBlackhole, codes: []string{"NatGatewayNotFound", "InvalidNatGatewayID.NotFound"}, source: apiDoc,
			meaning: "the NAT gateway is gone, and routes may still lead to it", next: "Lead the route to a NAT gateway that works."},
		{check: checkid.RouteBlackhole, all: [][]string{{"blackhole"}}, not: []program{karpenter}, source: apiDoc},
		{check: checkid.RouteNoEgress, codes: []string{"AddressLimitExceeded", "NatGatewayLimitExceeded"}, look: []checkid.ID{checkid.RouteNATUnusable}, source: apiDoc,
			meaning: "a quota keeps a NAT gateway from being made, and private subnets have no route to the internet without it",
			next:    "Free addresses or gateways, or ask for a higher quota; then make the gateway and the route."},
		{check: checkid.RouteNATUnusable, all: [][]string{{"nat gateway"}, {"state: failed", "failed state", "in state failed", "unexpected state failed",
			"state failed", "is deleted", "deleting"}}, source: apiDoc},

		// Names, before time-outs: a resolver that does not answer times out too.
		{check: checkid.DNSSupportOff, by: []program{runbook}, all: [][]string{{"dns support", "enablednssupport"}}, source: runbookDoc},
		{check: checkid.DNSHostnamesOff, by: []program{runbook}, all: [][]string{{"dns hostnames", "enablednshostnames"}}, source: runbookDoc},
		{check: checkid.IAMSTSEndpoint, on: []host{stsAPI}, fails: []failure{timedOut, noRoute, refused, unresolved}, none: []string{"imds"}, source: apiDoc,
			look: []checkid.ID{checkid.EndpointMissing, checkid.EndpointSecurityGroup, checkid.RouteNoEgress, checkid.SGNodeEgress,
				checkid.IAMSTSRegionDeactivated, checkid.DNSSupportOff}},
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{clusterAPI}, fails: []failure{unresolved}, not: []program{kubectl}, source: kubeletDoc,
			look:    append(nameLookup(), checkid.ClusterHealth, checkid.InstanceUserData),
			meaning: "the name of the cluster's API has no address here: the name server does not answer or does not know it, or the cluster is gone", next: naming},
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{nameServer}, fails: []failure{timedOut, refused, noRoute}, source: "Go, net",
			look: nameLookup(), meaning: "the name server does not answer", next: naming},
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{unresolved}, on: append(aws, stsAPI, elsewhere), not: []program{kubectl, terraform, eksctl}, source: kubeletDoc,
			look: nameLookup(), none: []string{"failed to resolve reference", "github.com"},
			meaning: "a name could not be resolved", next: naming},
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{unresolved}, by: []program{kubelet, nodeadm, containerd, cloudInit, bootstrap, bottlerocket, ipamd},
			source: kubeletDoc, look: nameLookup(), none: []string{"failed to resolve reference"},
			meaning: "a name could not be resolved", next: naming},

		// The metadata service.
		{info: true, check: checkid.IAMProfileMissing, on: []host{imds}, all: [][]string{{"404", "no ec2 imds role", "no ec2 instance role", "no role found"}},
			none: []string{"user-data", "canceled", "deadline"}, source: "AWS SDKs: credentials/ec2rolecreds", look: []checkid.ID{checkid.InstanceIMDS,
				checkid.IAMRoleTrust},
			meaning: "the metadata service knows no role: the instance has no instance profile, or its role is gone"},
		{check: checkid.IAMProfileMissing, all: [][]string{{"unable to locate credentials", "nocredentialproviders", "no valid providers in chain",
			"no valid credential sources", "could not find credentials"}}, by: []program{nodeadm, kubelet, cloudInit, bootstrap, bottlerocket, containerd},
			source: "AWS SDKs: credential chains", look: []checkid.ID{checkid.InstanceIMDS}},
		{check: checkid.InstanceIMDS, on: []host{imds}, fails: []failure{timedOut, refused, noRoute, unknownID, denied}, source: "EC2 user guide, Instance metadata options"},
		{check: checkid.InstanceIMDS, all: [][]string{{"failed to get…from metadata", "failed to fetch…metadata", "unable to retrieve…metadata",
			"could not get…instance metadata", "failed to retrieve…instance metadata", "get region from metadata", "getting region from metadata",
			"instance metadata service…not"}}, source: "EC2 user guide, Instance metadata options"},
		{check: checkid.AddonDegraded, symptom: true, on: []host{podIdentity}, fails: []failure{timedOut, refused, noRoute}, source: eksDoc,
			look:    []checkid.ID{checkid.AddonDegraded, checkid.InstanceIMDS},
			meaning: "the Pod Identity agent on the node does not answer", next: "Look at the eks-pod-identity-agent add-on and its pod on the node."},

		// A proxy.
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{proxied}, look: []checkid.ID{checkid.InstanceUserData, checkid.SGNodeEgress,
			checkid.RouteNoEgress},
			source:  "Go, net/http",
			meaning: "a proxy stands on the way and did not pass the call on",
			next:    "Look at the proxy's address in user data and at NO_PROXY, which must hold the metadata service, the VPC's range and the cluster's endpoint."},

		// Certificates.
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{tooEarly}, source: "Go, crypto/x509", look: []checkid.ID{checkid.InstanceUserData},
			meaning: "the clock of the instance is behind, and certificates or tokens are not valid yet for it",
			next:    "Let the instance reach the time service (169.254.169.123), or correct the time in the image."},
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{tooLate}, none: []string{"kubectl", "the security token included in the request"}, not: []program{kubectl, terraform, eksctl},
			source: "Go, crypto/x509", look: []checkid.ID{checkid.InstanceUserData, checkid.IAMProfileMissing},
			meaning: "a certificate or token is out of date, or the clock of the instance is ahead",
			next:    "Compare the instance's clock with the times in the line; renew what ran out."},
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{untrusted}, on: aws, source: "Go, crypto/x509",
			look:    []checkid.ID{checkid.SGNodeEgress, checkid.RouteLeavesView},
			meaning: "an AWS service answers with a certificate that the image does not trust: something on the way opens TLS",
			next:    "Exempt AWS services from TLS inspection, or add the proxy's certificate authority to the image."},
		{check: checkid.InstanceUserData, fails: []failure{untrusted}, by: []program{kubelet, nodeadm, bootstrap}, none: []string{"webhook", "10250", "metrics"},
			source:  kubeletDoc,
			meaning: "the node trusts another certificate authority than the cluster's",
			next:    "Put the cluster's certificateAuthority.data into the launch template's user data."},
		{check: checkid.InstanceUserData, fails: []failure{untrusted}, on: []host{clusterAPI}, not: []program{kubectl, terraform, eksctl, karpenter},
			none: []string{"webhook", "10250", "metrics"}, source: kubeletDoc,
			meaning: "the node trusts another certificate authority than the cluster's",
			next:    "Put the cluster's certificateAuthority.data into the launch template's user data."},
		{check: checkid.InstanceConsoleError, symptom: true, fails: []failure{untrusted}, not: []program{kubectl, terraform, eksctl}, none: []string{"webhook",
			"10250", "metrics"}, source: "Go, crypto/x509", look: []checkid.ID{checkid.InstanceUserData, checkid.RouteLeavesView},
			meaning: "a certificate was not trusted: of the cluster's API if the authority in user data is another one's, of an AWS service if something on the way opens TLS",
			next:    "See which address the line names; compare the authority in user data with the cluster's."},

		// The runtime and the IPAM daemon are on the node itself.
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{runtimeSock}, fails: []failure{timedOut, refused}, source: kubeletDoc,
			look:    []checkid.ID{checkid.InstanceUserData, checkid.InstanceAMI},
			meaning: "the container runtime does not answer the kubelet", next: "Read containerd's log on the instance (journalctl -u containerd)."},
		{check: checkid.NodeCNINotReady, symptom: true, on: []host{ipamdPort}, look: network(), source: cniDoc},

		// What did not answer.
		{check: checkid.NodeCNINotReady, symptom: true, by: []program{ipamd}, fails: []failure{timedOut, noRoute, refused, unresolved}, look: append(network(),
			pathToCluster()...), source: cniDoc,
			meaning: "aws-node does not reach what it needs: the cluster's API or the EC2 API",
			next:    "See which address the line names. For a service address (172.20.0.1, 10.100.0.1) look at kube-proxy first."},
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{clusterAPI, serviceIP}, fails: late, not: []program{kubectl, terraform, eksctl},
			source: kubeletDoc, look: append(pathToCluster(), checkid.AddonDegraded), meaning: "the cluster's API: " + lost, next: path},
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{clusterAPI, serviceIP}, fails: []failure{refused}, not: []program{kubectl, terraform,
			eksctl}, source: kubeletDoc, look: []checkid.ID{checkid.InstanceUserData, checkid.ClusterHealth, checkid.AddonDegraded, checkid.SGClusterIngress},
			meaning: "the cluster's API: " + closed,
			next:    "Compare the endpoint in user data with the cluster's; at a service address, look at kube-proxy."},
		{check: checkid.InstanceConsoleError, symptom: true, on: aws, fails: append(late, refused), not: []program{kubectl, terraform, eksctl}, source: apiDoc,
			look: pathToAWS(), meaning: "a service of AWS that nodes need: " + lost, next: path},
		{check: checkid.InstanceConsoleError, symptom: true, on: []host{elsewhere}, fails: append(late, refused), not: []program{terraform, eksctl}, source: apiDoc,
			none:    []string{"docker: error", "failed to solve", "npm err", "pip "},
			look:    []checkid.ID{checkid.RouteNoEgress, checkid.SGNodeEgress, checkid.NACLEgress, checkid.NACLReturn, checkid.RouteNATUnusable},
			meaning: "a registry outside AWS: " + lost,
			next:    "Private subnets reach it through a NAT gateway only; else copy the image to ECR."},
		{check: checkid.SGKubeletIngress, on: []host{kubeletPort}, fails: append(late, refused), source: kubeletDoc,
			look:    []checkid.ID{checkid.SGKubeletIngress, checkid.NACLEgress},
			meaning: "the cluster does not reach the kubelet of a node", next: "Admit port 10250 from the cluster's security group on the nodes."},
		{check: checkid.InstanceConsoleError, symptom: true, fails: append(late, refused), all: [][]string{{":443", "send request failed", "error listing aws instances"}}, not: []program{kubectl, terraform, eksctl,
			cloudFormation, karpenter, csi}, none: []string{"probe failed", "webhook", "readiness", "liveness"}, source: "Go, net", look: pathAnywhere(),
			meaning: lost, next: path},
		{check: checkid.InstanceConsoleError, symptom: true, by: []program{kubelet, nodeadm, containerd, bootstrap, bottlerocket, cloudInit}, fails: append(late,
			refused), source: "Go, net", look: pathAnywhere(), none: []string{"pod", "probe", "volume"},
			meaning: lost, next: path},
	}
}
