package activity

import "rollcall/shared/checkid"

// issue is a health issue of an EKS nodegroup and the check that looks for
// what is behind it.
type issue struct {
	code          string
	class         checkid.ID
	meaning, next string
}

const (
	nodegroupHealth = checkid.NodegroupHealth
	notRegistered   = checkid.NodeNotRegistered
)

// issues are the codes of nodegroup health issues that say more than that the
// nodegroup is not healthy (EKS API reference, Issue). Those that say nothing
// exact come last.
func issues() []issue {
	const health = "Read the nodegroup's health issues: aws eks describe-nodegroup."
	return []issue{
		{"Ec2SubnetInvalidConfiguration", checkid.RouteIGWNoPublicIP, "the subnet leads to an internet gateway and gives instances no public address", "Let the subnet assign public addresses, or give it a route table of its own with a NAT gateway."},
		{"Ec2LaunchTemplateVersionMismatch", nodegroupHealth, "somebody changed the launch template of the group that EKS manages", "Set the group back to the version that EKS made, or update the nodegroup through EKS."},
		{"IamNodeRoleNotFound", checkid.IAMProfileMissing, "the node role does not exist any more", "Create the role again under the same name, with its policies and trust."},
		{"ClusterUnreachable", nodegroupHealth, "EKS or the nodes cannot reach the cluster's API", health},
		{"NodeTerminationFailure", nodegroupHealth, "EKS could not drain or end nodes", health},
		{"PodEvictionFailure", nodegroupHealth, "pods did not leave their nodes, mostly because of a disruption budget", "Look at the PodDisruptionBudgets of the pods that stay, or update with force."},
		{"AutoScalingGroupNotFound", nodegroupHealth, "the nodegroup's Auto Scaling group is gone", "Delete the nodegroup and create it again."},
		{"Ec2SecurityGroupNotFound", nodegroupHealth, "the cluster's security group is gone", health},
		{"Ec2SecurityGroupDeletionFailure", nodegroupHealth, "a security group is still in use, mostly by leaked network interfaces", "Delete the network interfaces that hold it."},
		{"Ec2SubnetNotFound", nodegroupHealth, "a subnet of the nodegroup is gone", health},
		{"Ec2SubnetMissingIpv6Assignment", nodegroupHealth, "a subnet of an IPv6 cluster does not assign IPv6 addresses", "Let the subnet assign IPv6 addresses."},
		{"AutoScalingGroupInvalidConfiguration", nodegroupHealth, "the Auto Scaling group was changed into something that EKS cannot manage", health},
		{"AutoScalingGroupInstanceRefreshActive", nodegroupHealth, "an instance refresh that EKS did not start runs on the group", "Let it end, or cancel it."},
		{"NodeCreationFailure", notRegistered, "instances run and no nodes registered: a symptom", "Look at routes, endpoints, security groups, the node role's access and the console output; Rollcall's other checks do."},
		{"AsgInstanceLaunchFailures", checkid.LaunchUnclassified, "the Auto Scaling group cannot launch instances", "Read the message of the issue and the group's scaling activities."},
	}
}

// issueIn finds a health issue by its code.
func issueIn(text string) (issue, bool) {
	// What an issue says can be more exact than its code.
	if s, ok := signOf(text, issueTexts()); ok {
		return issue{class: s.class, meaning: s.meaning, next: s.next}, true
	}
	for _, i := range issues() {
		if coded(text, i.code) {
			return i, true
		}
	}
	return issue{}, false
}

// issueTexts are messages of issues, as consoles and Terraform show them with
// or without the code.
func issueTexts() []sign {
	return []sign{
		{class: checkid.NodeNotReady, texts: []string{"unhealthy nodes in the kubernetes cluster"}, meaning: "nodes registered and are not Ready: a symptom", next: "Read the Ready condition of the nodes and the pods of aws-node on them.",
			sample: "NodeCreationFailure: Unhealthy nodes in the kubernetes cluster", source: "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3594"},
		{class: notRegistered, texts: []string{"instances failed to join the kubernetes cluster"}, meaning: "instances run and no nodes registered: a symptom", next: "Look at routes, endpoints, security groups, the node role's access and the console output.",
			sample: "NodeCreationFailure: Instances failed to join the kubernetes cluster", source: "https://github.com/jenkins-x/terraform-aws-eks-jx/issues/311"},
		{class: nodegroupHealth, texts: []string{"has a new version associated with your autoscaling group, which is not managed by amazon eks"}, meaning: "somebody changed the launch template of the group that EKS manages", next: "Set the group back to the version that EKS made, or update the nodegroup through EKS.",
			sample: "The Amazon EC2 Launch Template : lt-xxxxxxxxxxxxxxxxx has a new version associated with your Autoscaling group, which is not managed by Amazon EKS. Expected Launch Template version: x", source: "https://github.com/nebari-dev/nebari/pull/2668"},
		{class: checkid.RouteIGWNoPublicIP, texts: []string{"does not automatically assign public ip addresses"}, meaning: "the subnet leads to an internet gateway and gives instances no public address", next: "Let the subnet assign public addresses, or give it a route table of its own with a NAT gateway.",
			sample: "Ec2SubnetInvalidConfiguration: One or more Amazon EC2 Subnets of [subnet-0332da0d666ebc6ea] for node group generic does not automatically assign public IP addresses to instances launched into it.", source: "https://github.com/sassoftware/viya4-iac-aws/issues/271"},
	}
}
