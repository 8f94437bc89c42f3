package activity

import "rollcall/shared/checkid"

// said is what a class means, and what to do next, whatever the resource.
type said struct{ meaning, next string }

// Words are what a class of failed launches means and what to do next; empty
// for any other check.
func Words(c checkid.ID) (meaning, next string) {
	if c.Family() != checkid.Launch {
		return "", ""
	}
	w := words(c)
	return w.meaning, w.next
}

// words are those of a class of failed launches.
func words(c checkid.ID) said {
	switch c {
	case checkid.LaunchInsufficientCapacity:
		return said{"EC2 has no capacity of this type in the zone", "Allow more instance types and zones, or wait: Auto Scaling tries again."}
	case checkid.LaunchCapacityReservation:
		return said{"the capacity reservation that the launch asks for is used up, not active, or does not fit", "Look at the reservation's state, dates, zone, type and free count; make it larger, or let the launch template ask for another one or for none."}
	case checkid.LaunchPlacement:
		return said{"the placement group, tenancy or host does not take the instance: its type, the count or the zone does not fit", "Let the group launch into the one zone of a cluster placement group, with a type that it takes; or take the placement out of the launch template."}
	case checkid.LaunchSpotLimit:
		return said{"the account's quota of Spot vCPUs is used up", "Ask for a higher quota of Spot vCPUs for this family (a quota of its own, beside that for on-demand), or launch on demand."}
	case checkid.LaunchSpotPrice:
		return said{"the Spot price is above the maximum price that the group allows", "Take the maximum price out of the launch template or mixed instances policy: Spot then costs at most the on-demand price."}
	case checkid.LaunchVCPULimit:
		return said{"the account's quota of on-demand vCPUs is used up", "Ask for a higher quota of vCPUs for this instance family, stop what is not needed, or use another family or Spot."}
	case checkid.LaunchFleetLimit:
		return said{"the account's quota of fleet requests is used up; in a new account it can be zero", "Ask AWS Support to raise the quota of fleet requests, or to finish verifying a new account."}
	case checkid.LaunchSubnetFull:
		return said{"the subnet has no free address left for the instance", "Free addresses in the subnet (leaked network interfaces, unused load balancers), or let the group launch into another one."}
	case checkid.LaunchKMSKey:
		return said{"the KMS key of an encrypted volume cannot be used", "Enable the key, and let the role that launches (AWSServiceRoleForAutoScaling for a group) use it and create grants in the key's policy."}
	case checkid.LaunchTemplate:
		return said{"the launch template asks for something that does not exist or does not fit", "Correct the launch template in a new version, and let the group use it."}
	case checkid.LaunchAMI:
		return said{"the AMI cannot be used", "Let the launch template name an AMI that exists here, is shared with this account and fits the instance type's architecture."}
	case checkid.LaunchSecurityGroup:
		return said{"a security group of the launch template does not exist", "Let the launch template name security groups of the group's VPC that exist."}
	case checkid.LaunchProfile:
		return said{"the instance profile of the launch template does not exist, or is seconds old", "Create the instance profile with the node role in it, or let the launch template name one that exists. One that was just created needs some seconds."}
	case checkid.LaunchPolicyDenied:
		return said{"a policy above the launcher's own forbids it", "Allow this launch in the policy that the message names, or launch as that policy requires: usually a tag, a Region, an instance type or encrypted volumes. Decoded with aws sts decode-authorization-message, the message names the statement and its conditions."}
	case checkid.LaunchIMDSEnforced:
		return said{"the account enforces IMDSv2, and the launch does not require it", "Set HttpTokens to required in a new version of the launch template (metadataOptions in an EC2NodeClass), and let the group use it."}
	case checkid.LaunchImageNotAllowed:
		return said{"the account's Allowed AMIs, or the AMI's own rules of types, do not allow it", "Use an AMI that the account's Allowed AMIs allow, or let whoever manages them add its provider."}
	case checkid.LaunchEncryptionControls:
		return said{"the VPC enforces encryption in transit, and the instance type does not encrypt", "Launch types that encrypt in transit (Nitro), or set the VPC's Encryption Controls to monitor."}
	case checkid.LaunchUnauthorized:
		return said{"who launches lacks a permission, or a policy (SCP, permissions boundary) forbids it", "Decode the authorization message with aws sts decode-authorization-message, and allow the action that it names; look at service control policies too."}
	case checkid.LaunchUnsupportedType:
		return said{"the instance type cannot be launched here", "Choose types that all zones of the group offer, or take the zone's subnet out of the group."}
	case checkid.LaunchVolumeLimit:
		return said{"the account's limit for EBS volumes is reached", "Delete volumes that nothing uses, or ask for a higher quota."}
	case checkid.LaunchThrottled:
		return said{"EC2 or Auto Scaling throttled the calls of this account", "Find what calls so often (CloudTrail, CloudWatch usage metrics). Auto Scaling tries again by itself."}
	case checkid.LaunchSuspended:
		return said{"the launch process of the group is suspended", "Resume the process Launch once what it was suspended for is over."}
	case checkid.LaunchAccountValidation:
		return said{"AWS is still validating the account for this region", "Wait for the mail of AWS (minutes, up to four hours); else write to AWS Support."}
	case checkid.LaunchServiceRole:
		return said{"a service-linked role that a launch needs is missing or cannot be used", "Create the service-linked role (aws iam create-service-linked-role), and wait a minute for it to be known."}
	}
	return said{"the text is not known", "Read the text; it is shown as it was given."}
}
