package messages

import (
	"slices"
	"strings"
	"unicode"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
)

// words are what a check means where a message points to it, half a sentence, and what to do
// next.
type words struct{ meaning, next string }

// Words are what a check means where a row has no words of its own: those of failed launches,
// of what a message shows less of than the check sees, else the catalog's.
func Words(c checkid.ID) (meaning, next string) {
	w, ok := words{}, false
	if c.Family() == checkid.Launch {
		w, ok = launchWords(c), true
	} else {
		w, ok = textWords(c)
	}
	if !ok {
		e := catalog.Meaning(c)
		w = words{lowerFirst(e.Title), e.Fix}
	}
	return w.meaning, w.next
}

// lowerFirst lets a sentence begin in lower case, unless its first word is a name.
func lowerFirst(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if len(word) > 1 && strings.ContainsFunc(word[1:], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) }) {
		return s
	}
	return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

// textWords are those of checks of which a message shows less than the check sees, or the
// check's own words name what only it has found.
func textWords(c checkid.ID) (words, bool) {
	switch c {
	case checkid.AddonDegraded:
		return words{"an add-on of the cluster is not healthy", "Read its health (aws eks describe-addon) and its pods in kube-system."}, true
	case checkid.ClusterHealth:
		return words{"EKS reports a fault of the cluster itself", "Read the cluster's health issues: aws eks describe-cluster."}, true
	case checkid.NodegroupUpdateFailed:
		return words{"an update of the nodegroup failed: pods were not evicted from their nodes",
			"Check the PodDisruptionBudgets of the pods that remain, or update with --force."}, true
	case checkid.IAMSTSEndpoint:
		return words{"STS does not respond: without it there is no token for the cluster",
			"Give the subnet a path to the regional STS endpoint: a NAT gateway, or a VPC endpoint whose security group allows 443."}, true
	case checkid.IAMCNIRolePolicies:
		return words{"the role that aws-node uses lacks an action that the CNI calls",
			"Attach AmazonEKS_CNI_Policy (for IPv6 its IPv6 form) to the role that aws-node uses: that of its service account or Pod Identity association, else the node role."}, true
	case checkid.NodeNotRegistered:
		return words{"an instance is running, and no node registered", "Check routes, endpoints, security groups, the node role's access entry, and the console output."}, true
	}
	return words{}, false
}

// launchWords are those of a class of failed launches, whatever the resource.
func launchWords(c checkid.ID) words {
	switch c {
	case checkid.LaunchInsufficientCapacity:
		return words{"EC2 has no capacity of this type in the zone", "Allow more instance types and zones, or wait: Auto Scaling keeps retrying."}
	case checkid.LaunchCapacityReservation:
		return words{"the launch's capacity reservation is used up, not active, or does not match", "Check the reservation's state, dates, zone, type and free count; make it larger, or use another one, or none, in the launch template."}
	case checkid.LaunchPlacement:
		return words{"the placement group, tenancy or host rejects the instance: its type, the count or the zone does not match", "Launch into the one zone of a cluster placement group, with a type that it supports; or remove the placement from the launch template."}
	case checkid.LaunchSpotLimit:
		return words{"the account's quota of Spot vCPUs is used up", "Request a higher quota of Spot vCPUs for this family (separate from on-demand), or launch on demand."}
	case checkid.LaunchSpotPrice:
		return words{"the Spot price is above the group's maximum price", "Remove the maximum price from the launch template or mixed instances policy: Spot then costs at most the on-demand price."}
	case checkid.LaunchVCPULimit:
		return words{"the account's quota of on-demand vCPUs is used up", "Request a higher quota of vCPUs for this instance family, stop what is not needed, or use another family or Spot."}
	case checkid.LaunchFleetLimit:
		return words{"the account's quota of fleet requests is used up; in a new account it can be zero", "Ask AWS Support to raise the quota of fleet requests, or to finish verifying a new account."}
	case checkid.LaunchSubnetFull:
		return words{"the subnet has no free address for the instance", "Free addresses in the subnet (leaked network interfaces, unused load balancers), or have the group launch into another one."}
	case checkid.LaunchKMSKey:
		return words{"the KMS key of an encrypted volume cannot be used", "Enable the key, and allow the launching role (AWSServiceRoleForAutoScaling for a group) to use it and create grants in the key's policy."}
	case checkid.LaunchTemplate:
		return words{"the launch template refers to something that does not exist or is incompatible", "Correct the launch template in a new version, and use it in the group."}
	case checkid.LaunchAMI:
		return words{"the AMI cannot be used", "Use an AMI in the launch template that exists here, is shared with this account and matches the instance type's architecture."}
	case checkid.LaunchSecurityGroup:
		return words{"a security group of the launch template does not exist", "Name existing security groups of the group's VPC in the launch template."}
	case checkid.LaunchProfile:
		return words{"the instance profile of the launch template does not exist, or is seconds old", "Create the instance profile with the node role in it, or name an existing one in the launch template. A new one needs some seconds."}
	case checkid.LaunchPolicyDenied:
		return words{"a policy above the launching role's own denies it", "Allow this launch in the policy that AWS's error names, or launch as that policy requires: usually a tag, a Region, an instance type or encrypted volumes. Decode the error with aws sts decode-authorization-message: it names the statement and its conditions."}
	case checkid.LaunchIMDSEnforced:
		return words{"the account enforces IMDSv2, and the launch does not require it", "Set HttpTokens to required in a new version of the launch template (metadataOptions in an EC2NodeClass), and use it in the group."}
	case checkid.LaunchImageNotAllowed:
		return words{"the account's Allowed AMIs, or the AMI's own rules for types, do not allow it", "Use an AMI that the account's Allowed AMIs allow, or have whoever manages them add its provider."}
	case checkid.LaunchEncryptionControls:
		return words{"the VPC enforces encryption in transit, and the instance type does not encrypt", "Launch types that encrypt in transit (Nitro), or set the VPC's Encryption Controls to monitor."}
	case checkid.LaunchUnauthorized:
		return words{"the launching role lacks a permission, or a policy (SCP, permissions boundary) denies it", "Decode the authorization message with aws sts decode-authorization-message, and allow the action that it names; check service control policies too."}
	case checkid.LaunchUnsupportedType:
		return words{"the instance type cannot be launched here", "Choose types that all zones of the group offer, or remove the zone's subnet from the group."}
	case checkid.LaunchVolumeLimit:
		return words{"the account's limit for EBS volumes is reached", "Delete unused volumes, or request a higher quota."}
	case checkid.LaunchThrottled:
		return words{"EC2 or Auto Scaling throttled the calls of this account", "Find the caller (CloudTrail, CloudWatch usage metrics). Auto Scaling keeps retrying."}
	case checkid.LaunchSuspended:
		return words{"the launch process of the group is suspended", "Resume the process Launch once the reason for the suspension is over."}
	case checkid.LaunchAccountValidation:
		return words{"AWS is still validating the account for this region", "Wait for AWS's e-mail (minutes, up to four hours); otherwise contact AWS Support."}
	case checkid.LaunchServiceRole:
		return words{"a service-linked role that a launch needs is missing or cannot be used", "Create the service-linked role (aws iam create-service-linked-role), and wait a minute for it to propagate."}
	}
	return words{"no check recognizes this error", "Read the quoted text."}
}

// The ways that a packet or a name can be lost, in the order in which to look.
func pathToCluster() []checkid.ID {
	return []checkid.ID{checkid.SGClusterIngress, checkid.SGNodeEgress, checkid.RouteNoEgress, checkid.RouteAPIPublicCIDR, checkid.RouteAPIPrivateUnreachable, checkid.NACLEgress,
		checkid.NACLReturn, checkid.RouteBlackhole, checkid.RouteNATUnusable, checkid.DNSSupportOff}
}

func pathToAWS() []checkid.ID {
	return []checkid.ID{checkid.EndpointMissing, checkid.RouteNoEgress, checkid.EndpointSecurityGroup, checkid.SGNodeEgress, checkid.NACLEgress, checkid.NACLReturn, checkid.RouteBlackhole,
		checkid.RouteNATUnusable, checkid.RouteIGWNoPublicIP, checkid.EndpointPrivateDNSOff, checkid.EndpointS3RouteMissing}
}

// PathAnywhere is the path to AWS and to the cluster.
func PathAnywhere() []checkid.ID {
	list := pathToAWS()
	for _, id := range pathToCluster() {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// NameLookup is behind a name that does not resolve.
func NameLookup() []checkid.ID {
	return []checkid.ID{checkid.DNSSupportOff, checkid.DNSDHCPOptions, checkid.SGNodeEgress, checkid.NACLEgress, checkid.DNSHostnamesOff, checkid.EndpointPrivateDNSOff, checkid.RouteNoEgress,
		checkid.EndpointMissing}
}

// NotJoining is behind a node that is not there.
func NotJoining() []checkid.ID {
	return []checkid.ID{checkid.InstanceConsoleError, checkid.IAMAccessMissing, checkid.RouteNoEgress, checkid.EndpointMissing, checkid.EndpointSecurityGroup, checkid.SGClusterIngress,
		checkid.SGNodeEgress, checkid.DNSSupportOff, checkid.IAMRolePolicies, checkid.InstanceUserData, checkid.InstanceEndedEarly}
}

// NotReady is behind a node that registered and is not Ready.
func NotReady() []checkid.ID {
	return []checkid.ID{checkid.NodeCNINotReady, checkid.IAMCNIRolePolicies, checkid.AddonDegraded, checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.SGClusterIngress,
		checkid.RouteNoEgress, checkid.InstanceStatusCheck}
}

// Network is behind a network plugin that is not up.
func Network() []checkid.ID {
	return []checkid.ID{checkid.AddonDegraded, checkid.IAMCNIRolePolicies, checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.EndpointMissing, checkid.SGClusterIngress, checkid.InstanceIMDS}
}

// Launches are the checks of a launch that failed, where the text does not say
// why.
func Launches() []checkid.ID {
	return []checkid.ID{checkid.LaunchInsufficientCapacity, checkid.LaunchTemplate, checkid.LaunchUnauthorized, checkid.LaunchFleetLimit, checkid.LaunchVCPULimit, checkid.LaunchSubnetFull,
		checkid.LaunchKMSKey, checkid.LaunchAMI}
}
