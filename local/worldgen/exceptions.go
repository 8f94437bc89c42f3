package worldgen

import "strings"

// Why a fault cannot be on nodes of a NodePool. The rules are those of AWS's and
// Karpenter's own documents.
const (
	noScalingActivity = "a NodePool has no Auto Scaling group: what is refused stands in CreateFleet's answer and in the NodeClaim (karpenter-provider-aws, pkg/providers/instance)"
	noSuchFleet       = "the stage's EC2 has no such refusal of a fleet (local/simaws/ec2, CreateFleet)"
	noNodegroup       = "a NodePool is no nodegroup of EKS"
	setsTag           = "Karpenter sets the cluster's tag itself (karpenter-provider-aws, pkg/providers/instance: tags of the fleet)"
	afterCluster      = "the NodePool is an object of the cluster that it would be older than"
	groupsOfClass     = "there are no groups that EKS would add beside those of the class (EC2NodeClass, securityGroupSelectorTerms)"
	managedImage      = "EKS chooses the image, its user data and its metadata options, and nobody else may change a managed instance (EKS user guide, \"Learn about Amazon EKS Auto Mode Managed instances\")"
	managedPlugin     = "the network plugin is part of the system there, with EKS's own rights (EKS user guide, \"Learn about VPC Networking and Load Balancing in EKS Auto Mode\")"
	managedProfile    = "EKS makes the instance profile and gives it to each instance (EKS user guide, \"Create a Node Class for Amazon EKS\")"
	minimalRole       = "AmazonEKSWorkerNodeMinimalPolicy grants no call of EC2: the node's name is the instance's id (EKS user guide, \"Amazon EKS Auto Mode node IAM role\")"
	entriesOnly       = "the nodes are let in by an access entry of the type EC2 (EKS user guide, \"Create a Node Class for Amazon EKS\")"
)

// exceptions are the fleets of NodePools whose nodes cannot have a fault.
func exceptions(f Fault) map[Fleet]string {
	both := func(why string) map[Fleet]string { return map[Fleet]string{Karpenter: why, AutoMode: why} }
	auto := func(why string) map[Fleet]string { return map[Fleet]string{AutoMode: why} }
	switch {
	case strings.HasPrefix(f.Name, refusedLaunch) && fleetFaults()[f.Check] != nil:
		return auto(noScalingActivity)
	case strings.HasPrefix(f.Name, refusedLaunch):
		return map[Fleet]string{Karpenter: noSuchFleet, AutoMode: noScalingActivity}
	case f.Name == "launches suspended":
		return both(noScalingActivity)
	case strings.Contains(f.Name, "nodegroup"), strings.HasPrefix(f.Name, "EKS "):
		return both(noNodegroup)
	}
	switch f.Name {
	case "no tag of the cluster":
		return both(setsTag)
	case "older than the cluster":
		return both(afterCluster)
	case "foreign groups that keep the control plane out":
		return both(groupsOfClass)
	case "user data names another cluster", "user data names another endpoint", "user data holds another authority", "no user data",
		"a label that kubelets may not set", "metadata off", "an image for another architecture",
		"an image newer than the control plane", "nodeadm fails":
		return auto(managedImage)
	case "the plugin's own role may nothing", "the association's role may not assume the plugin's", "the association's session policy allows nothing of the plugin", "the node role may nothing of the plugin", "the network plugin crashes", "the add-on vpc-cni is degraded":
		return auto(managedPlugin)
	case "instances without a profile":
		return auto(managedProfile)
	case "the role may not learn its name":
		return auto(minimalRole)
	case "no aws-auth", "the profile is mapped in place of the role", "the role is mapped with its path", "the role is mapped twice", "aws-auth is no YAML":
		return auto(entriesOnly)
	}
	return nil
}
