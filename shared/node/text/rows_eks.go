package text

import "rollcall/shared/checkid"

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
		{check: checkid.LaunchSuspended, all: [][]string{{"suspendedprocesses", "process is suspended", "suspended processes"}}, source: apiDoc},
		{meaning: "the control plane cannot be in one of the zones: no fault of nodes", next: "Choose the zones that the message names for the cluster's subnets.",
			codes: []string{"UnsupportedAvailabilityZoneException"}, source: apiDoc},
		{meaning: "the control plane cannot be in one of the zones: no fault of nodes", next: "Choose the zones that the message names for the cluster's subnets.",
			all: [][]string{{"cannot create cluster", "to support the cluster"}, {"availability zone"}}, source: apiDoc},

		// That it failed, and not why.
		{check: checkid.LaunchInsufficientCapacity, symptom: true, by: []program{autoscaler}, all: [][]string{{"placeholder-cannot-be-fulfilled",
			"cannot provision any more instances", "outofresource"}}, source: "github.com/kubernetes/autoscaler: cloudprovider/aws", look: launches(),
			meaning: "the Auto Scaling group could not start what the Cluster Autoscaler asked for; its message does not say why",
			next:    "Read the scaling activities of the group: aws autoscaling describe-scaling-activities."},
		{check: checkid.NodeNotRegistered, symptom: true, by: []program{autoscaler}, all: [][]string{{"scale-up timed out", "unregistered nodes",
			"nodes unregistered", "failed to register", "long unregistered", "timed out for node group"}},
			source: "github.com/kubernetes/autoscaler: clusterstate", look: append(notJoining(), launches()...),
			meaning: "the Cluster Autoscaler asked for nodes and they did not come: the launch failed, or the instances did not join",
			next:    "Read the scaling activities of the group first; where instances run, look at why they do not join."},
		{check: checkid.NodeNotRegistered, symptom: true, all: [][]string{{"kubectl get no"}, {"no resources found"}}, source: kubeletDoc, look: notJoining()},
		{check: checkid.NodegroupUpdateFailed, symptom: true, all: [][]string{{"nodegroup", "node group", "node_group"}, {"update_failed", "update failed",
			"version update: unexpected state"}}, none: []string{"addon", "add-on"}, source: apiDoc, look: []checkid.ID{checkid.NodegroupHealth, checkid.NodeNotRegistered},
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
		{check: checkid.RouteIGWNoPublicIP, all: [][]string{{"automatically assign public ip", "auto-assign public ip", "mappubliciponlaunch",
			"ec2subnetinvalidconfiguration", "public ip address"}, {"not automatically", "does not", "not enabled", "is disabled",
			"ec2subnetinvalidconfiguration", "false"}}, source: apiDoc},
		{check: checkid.RouteNoEgress, by: []program{runbook}, all: [][]string{{"route", "nat gateway", "internet gateway", "internet access"}}, source: runbookDoc},
		{check: checkid.DNSDHCPOptions, by: []program{runbook}, all: [][]string{{"dhcp"}}, source: runbookDoc},
		{check: checkid.InstanceUserData, by: []program{runbook}, all: [][]string{{"user data", "userdata", "bootstrap"}}, source: runbookDoc},
	}
}
