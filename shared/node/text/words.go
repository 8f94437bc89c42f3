package text

import (
	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
)

// wording is what a check means where a text points to it, and what to do.
type wording struct{ meaning, next string }

// words are those of a check, where a row has none of its own.
func words(check checkid.ID) wording {
	switch check {
	case checkid.AddonDegraded:
		return wording{"an add-on of the cluster is not healthy", "Read its health: aws eks describe-addon, and its pods in kube-system."}
	case checkid.ClusterHealth:
		return wording{"EKS reports a fault of the cluster itself", "Read the cluster's health issues: aws eks describe-cluster."}
	case checkid.DNSDHCPOptions:
		return wording{"the node's name does not match an instance, mostly because of the VPC's DHCP options",
			"Look at the domain name and the name servers in the VPC's DHCP options."}
	case checkid.DNSHostnamesOff:
		return wording{"the VPC gives instances no private DNS name", "Switch DNS hostnames on in the VPC."}
	case checkid.DNSSupportOff:
		return wording{"the VPC does not resolve names", "Switch DNS support on in the VPC."}
	case checkid.EndpointMissing:
		return wording{"a service that nodes need has no VPC endpoint, and there is no other way to it", "Make the endpoint, or give the subnet a route to the internet."}
	case checkid.EndpointPolicyDenies:
		return wording{"the policy of a VPC endpoint denies the call", "Let the endpoint's policy allow what the line names."}
	case checkid.EndpointSecurityGroup:
		return wording{"the security group of a VPC endpoint does not admit the node", "Admit 443 from the nodes on the endpoint's security group."}
	case checkid.IAMAccessMissing:
		return wording{"the cluster does not accept the node's role: it has no access entry and no mapping in aws-auth",
			"Give the node role an access entry of type EC2_LINUX (EC2_WINDOWS), or map it in aws-auth."}
	case checkid.IAMAccessWrongType:
		return wording{"the node role's access entry is not of a type for nodes", "Make it again with type EC2_LINUX, EC2_WINDOWS or EC2."}
	case checkid.IAMCNIRolePolicies:
		return wording{"the role that aws-node uses lacks an action that the CNI calls",
			"Attach AmazonEKS_CNI_Policy (and for IPv6 its IPv6 form) to the role that aws-node uses: that of its service account or Pod Identity association, else the node role."}
	case checkid.IAMProfileMissing:
		return wording{"the instance has no role: its instance profile is missing, or the role in it", "Give the launch template an instance profile with the node role in it."}
	case checkid.IAMRolePolicies:
		return wording{"the node role does not allow what a node calls before it is Ready",
			"Attach AmazonEKSWorkerNodePolicy and AmazonEC2ContainerRegistryPullOnly to the node role; look for a deny."}
	case checkid.IAMRoleTrust:
		return wording{"EC2 may not assume the node role", "Let the role's trust policy allow ec2.amazonaws.com sts:AssumeRole."}
	case checkid.IAMSTSEndpoint:
		return wording{"STS does not answer: without it there is no token for the cluster",
			"Give the subnet a way to the regional STS endpoint: NAT gateway, or an endpoint whose security group admits 443."}
	case checkid.IAMSTSRegionDeactivated:
		return wording{"STS is switched off in this region", "Activate STS for the region in IAM, Account settings."}
	case checkid.InstanceAMI:
		return wording{"the image does not fit", "Start an EKS image of the instance type's architecture and the cluster's version."}
	case checkid.InstanceClusterTag:
		return wording{"the instance lacks the tag kubernetes.io/cluster/<name>", "Tag the instance, in its launch template or group."}
	case checkid.InstanceForbiddenNodeLabel:
		return wording{"a node label of the kubernetes.io or k8s.io namespace that is reserved", "Take the label out, or use a prefix of your own."}
	case checkid.InstanceIMDS:
		return wording{"the instance metadata service did not serve whoever asked", "Let the metadata endpoint be on; for pods without host network the hop limit must be 2."}
	case checkid.InstanceMaxPods:
		return wording{"the instance's interfaces hold no more addresses", "Lower the node's max pods, use prefix delegation or a larger type."}
	case checkid.InstanceScheduledEvent:
		return wording{"EC2 has a scheduled event for the instance", "Let the group replace it."}
	case checkid.InstanceStatusCheck:
		return wording{"EC2's status check of the instance failed", "Read the console output; replace the instance."}
	case checkid.InstanceUserData:
		return wording{"what user data gives the node does not fit",
			"Compare the user data with the cluster's name, endpoint, certificate authority and service range, and with what the image takes."}
	case checkid.InstanceVersionSkew:
		return wording{"the kubelet's version is outside what the control plane takes", "Use an image of the cluster's version, or one not more than its skew older."}
	case checkid.IPBranchInterfaces:
		return wording{"security groups for pods: no branch interface is free",
			"Look at the trunk's limit of the instance type, at branch interfaces that were left behind, and at the subnet."}
	case checkid.IPFragmented:
		return wording{"the subnet has no free aligned /28 for a prefix", "Reserve a range for prefixes in the subnet (create-subnet-cidr-reservation), or use a new subnet."}
	case checkid.IPSubnetExhausted:
		return wording{"there is no address left for another interface or pod", "Look at the subnet's free addresses, and at how many the instance type can hold."}
	case checkid.KarpenterNodeclassNotReady:
		return wording{"the NodeClass is not ready: nothing fits its selectors, or what it names cannot be used",
			"Read its conditions (kubectl describe ec2nodeclass or nodeclass), and compare its selectors with the tags of subnets, security groups and images."}
	case checkid.KarpenterNodepoolLimit:
		return wording{"the NodePool has reached its limits", "Raise spec.limits of the NodePool, or free what it has."}
	case checkid.NACLEgress, checkid.NACLReturn:
		return wording{"a network ACL denies what nodes send or get back", "Let the subnet's ACL pass 443 out and 1024-65535 back."}
	case checkid.NodeCNINotReady:
		return wording{"the network plugin on the node is not up: a symptom", "Look at the aws-node pod on the node: its state, its log, its role."}
	case checkid.NodeCSRPending:
		return wording{"the kubelet has no serving certificate", "Look at the certificate signing requests: kubectl get csr."}
	case checkid.NodeNotInitialized:
		return wording{"the node joined, and Karpenter waits for what must be on it: a startup taint that nobody takes away, or a resource that the node does not show",
			"See who should take the taint away or publish the resource (device plugin, CSI driver, CNI), and whether it runs on the node."}
	case checkid.NodeNotReady:
		return wording{"a node registered and is not Ready: a symptom", "Read its Ready condition (kubectl describe node) and the pods of aws-node and kube-proxy on it."}
	case checkid.NodeNotRegistered:
		return wording{"an instance runs and no node registered: a symptom", "Look at routes, endpoints, security groups, the node role's access and the console output."}
	case checkid.NodeUninitialized:
		return wording{"the taint of the cloud provider stays: nobody has initialised the node",
			"EKS runs the cloud controller. See that the kubelet is of the cluster, and that the node's provider id and name match an instance."}
	case checkid.NodegroupUpdateFailed:
		return wording{"an update of the nodegroup failed: pods did not leave their nodes", "Look at the PodDisruptionBudgets of the pods that stay, or update with force."}
	case checkid.ZoneShifted:
		return wording{"a zonal shift keeps launches out of a zone: nothing is broken in the NodePool",
			"See who started it and when it ends (aws arc-zonal-shift list-zonal-shifts, list-autoshifts). It is cancelled, or expires, once the zone is well."}
	case checkid.RouteBlackhole:
		return wording{"a route leads to something that is gone", "Lead the route to a gateway that works."}
	case checkid.RouteIGWDetached:
		return wording{"the internet gateway is not attached to the VPC", "Attach it."}
	case checkid.RouteIGWNoPublicIP:
		return wording{"the subnet leads to an internet gateway and gives instances no public address",
			"Let the subnet assign public addresses, or give it a route to a NAT gateway."}
	case checkid.RouteNATUnusable:
		return wording{"the NAT gateway does not work", "Read its failure message (aws ec2 describe-nat-gateways), and make another one."}
	case checkid.RouteNoEgress:
		return wording{"there is no route from the subnet to the internet", "Give the subnet a route to a NAT gateway, or endpoints for what nodes need."}
	case checkid.SGClusterIngress:
		return wording{"the cluster's security group does not admit the node", "Admit 443 from the nodes' security group in the cluster's."}
	case checkid.SGKubeletIngress:
		return wording{"the cluster does not reach the kubelet of a node", "Admit port 10250 from the cluster's security group on the nodes."}
	case checkid.SGNodeEgress:
		return wording{"no security group of the node lets it out", "Allow 443 out, and 53 for names."}
	case checkid.SpotReclaimedBeforeJoin:
		return wording{"EC2 took the Spot capacity back", "Nothing is wrong with the node. More instance types and zones make it rarer."}
	case checkid.ZoneNodegroupGap:
		return wording{"no node group can serve the zone of the volume", "Let a group launch in the volume's zone."}
	case checkid.ZonePodUnschedulable:
		return wording{"no node that fits is in the zone of the volume", "Let a group run nodes in the volume's zone."}
	case checkid.ZoneVolumeStranded:
		return wording{"a volume is in a zone without nodes for it", "Let a group run nodes in the volume's zone."}
	}
	return launchWords(check)
}

// launchWords are those of failed launches that rows tell by their facts.
func launchWords(check checkid.ID) wording {
	switch check {
	case checkid.LaunchPolicyDenied:
		return wording{"a policy above the caller's own denies the launch: a service control policy, a resource control policy, a permissions boundary or a session policy, as the message says",
			"Decode the message (aws sts decode-authorization-message) to see the statement, and look for a tag or condition that it wants."}
	case checkid.LaunchUnauthorized:
		return wording{"whoever launches is not allowed to",
			"Bring its policy up to what the message names; decode the message where it is encoded (aws sts decode-authorization-message)."}
	}
	meaning, next := activity.Words(check)
	return wording{meaning, next}
}
