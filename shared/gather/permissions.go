package gather

import (
	"slices"

	"rollcall/shared/fn"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// Reads is the permissions that reading the sources takes, and those without
// which they cannot be read. They come from the interfaces that the reader
// calls, so the policy cannot say more or less.
func Reads(sources ...snapshot.Source) []fn.Read {
	var reads []fn.Read
	for _, s := range with(sources) {
		for _, action := range Permissions(s) {
			resources := resourcesOf(action)
			i := slices.IndexFunc(reads, func(r fn.Read) bool { return slices.Equal(r.Resources, resources) })
			if i < 0 {
				i, reads = len(reads), append(reads, fn.Read{Resources: resources})
			}
			reads[i].Actions = append(reads[i].Actions, action)
		}
	}
	for i := range reads {
		slices.Sort(reads[i].Actions)
		reads[i].Actions = slices.Compact(reads[i].Actions)
	}
	// What is allowed of anything first, then by what it is narrowed to.
	slices.SortFunc(reads, func(a, b fn.Read) int { return slices.Compare(a.Resources, b.Resources) })
	return reads
}

// resourcesOf are the resources that an action can be narrowed to (Service
// Authorization Reference). Describe calls of EC2 and Auto Scaling take none,
// but for a few that are about one thing.
func resourcesOf(action string) []string {
	const (
		here = ":${Region}:${Account}:"
		ec2  = "arn:${Partition}:ec2" + here
		eks  = "arn:${Partition}:eks" + here
		iam  = "arn:${Partition}:iam::${Account}:"
	)
	switch action {
	case "ec2:DescribeInstanceAttribute", "ec2:GetConsoleOutput":
		return []string{ec2 + "instance/*"}
	case "ec2:DescribeVpcAttribute":
		// A shared VPC bears its owner's account.
		return []string{"arn:${Partition}:ec2:${Region}:*:vpc/*"}
	case "ec2:GetManagedPrefixListEntries":
		// AWS's own lists bear the account "aws", shared ones their owner's.
		return []string{"arn:${Partition}:ec2:${Region}:*:prefix-list/*"}
	case "ec2:SearchTransitGatewayRoutes":
		return []string{ec2 + "transit-gateway-route-table/*"}
	case "eks:DescribeCluster", "eks:ListNodegroups", "eks:ListAddons", "eks:ListAccessEntries", "eks:ListPodIdentityAssociations":
		return []string{eks + "cluster/*"}
	case "eks:DescribeNodegroup":
		return []string{eks + "nodegroup/*/*/*"}
	case "eks:ListUpdates", "eks:DescribeUpdate":
		// The reference names the cluster as well as the nodegroup.
		return []string{eks + "cluster/*", eks + "nodegroup/*/*/*"}
	case "eks:DescribeAddon":
		return []string{eks + "addon/*/*/*"}
	case "eks:DescribeAccessEntry":
		return []string{eks + "access-entry/*/*/*/*/*"} // cluster, kind, account, name, id
	case "eks:DescribePodIdentityAssociation":
		return []string{eks + "podidentityassociation/*/*"}
	case "iam:GetInstanceProfile":
		return []string{iam + "instance-profile/*"}
	case "iam:GetRole", "iam:GetRolePolicy", "iam:ListRolePolicies", "iam:ListAttachedRolePolicies":
		return []string{iam + "role/*"}
	case "iam:GetPolicy", "iam:GetPolicyVersion":
		return []string{iam + "policy/*", "arn:${Partition}:iam::aws:policy/*"}
	}
	return []string{"*"}
}

// KubeRules is the Kubernetes rights that reading the sources takes.
func KubeRules(sources ...snapshot.Source) []fn.KubeRule {
	var read []string
	for _, s := range with(sources) {
		read = append(read, kubeResources(s)...)
	}
	return slices.DeleteFunc(kube.Rules(), func(r fn.KubeRule) bool {
		return !slices.ContainsFunc(r.Resources, func(resource string) bool {
			if r.Namespace != "" {
				resource += " in " + r.Namespace
			}
			return slices.Contains(read, resource)
		})
	})
}

// kubeResources are the Kubernetes resources that a source is read from, with
// their namespace where it is one.
func kubeResources(s snapshot.Source) []string {
	switch s {
	case snapshot.Nodes:
		return []string{"nodes"}
	case snapshot.AWSNode:
		return []string{"daemonsets in kube-system", "serviceaccounts in kube-system"}
	case snapshot.Pods:
		return []string{"pods in kube-system"}
	case snapshot.AWSAuthMap:
		return []string{"configmaps in kube-system"}
	case snapshot.CSRs:
		return []string{"certificatesigningrequests"}
	case snapshot.NodeEventsOf:
		return []string{"events in default"}
	case snapshot.ENIConfigsOf:
		return []string{"eniconfigs"}
	case snapshot.PersistentVolumes:
		return []string{"persistentvolumes"}
	case snapshot.ClaimsOf:
		return []string{"persistentvolumeclaims"}
	case snapshot.WaitingPods:
		return []string{"pods"}
	}
	return nil
}

// ListClusters is the permission of Reader.Clusters.
func ListClusters() fn.Read {
	return fn.Read{Actions: fn.Actions[ClusterList]("eks"), Resources: []string{"*"}} // takes no resource
}

// ListNodegroups is the permission that Query.AllNodegroups takes.
func ListNodegroups() fn.Read {
	return fn.Read{Actions: fn.Actions[NodegroupList]("eks"), Resources: resourcesOf("eks:ListNodegroups")}
}

// Permissions names the calls that read a source. For the network each source
// has one call of the interface; a test holds that every call has its source.
func Permissions(s snapshot.Source) []string {
	switch s {
	case snapshot.Clusters:
		return fn.Actions[Clusters]("eks")
	case snapshot.Nodegroups:
		return fn.Actions[Nodegroups]("eks")
	case snapshot.Updates:
		return fn.Actions[Updates]("eks")
	case snapshot.Addons:
		return fn.Actions[Addons]("eks")
	case snapshot.Access:
		return fn.Actions[AccessEntries]("eks")
	case snapshot.PodIdentities:
		return fn.Actions[PodIdentities]("eks")
	case snapshot.Profiles:
		return fn.Actions[Profiles]("iam")
	case snapshot.Roles:
		return fn.Actions[Roles]("iam")
	case snapshot.Instances, snapshot.CreatorsOf:
		return fn.Actions[Instances]("ec2")
	case snapshot.InstanceTypes:
		return fn.Actions[InstanceTypes]("ec2")
	case snapshot.Statuses:
		return fn.Actions[Statuses]("ec2")
	case snapshot.UserDataOf:
		return fn.Actions[InstanceAttributes]("ec2")
	case snapshot.Consoles:
		return fn.Actions[Consoles]("ec2")
	case snapshot.Images:
		return fn.Actions[Images]("ec2")
	case snapshot.LaunchTemplates:
		return fn.Actions[LaunchTemplates]("ec2")
	case snapshot.PrefixListEntries:
		return fn.Actions[PrefixLists]("ec2")
	case snapshot.TransitGateways:
		return fn.Actions[Transit]("ec2")
	case snapshot.VolumesOf:
		return fn.Actions[Volumes]("ec2")
	case snapshot.ZonesOf:
		return fn.Actions[Zones]("ec2")
	case snapshot.Groups:
		return fn.Actions[Groups]("autoscaling")
	case snapshot.Activities:
		return fn.Actions[Activities]("autoscaling")
	}
	if call := networkCall(s); call != "" {
		return []string{call}
	}
	return nil // Kubernetes: kube.Rules
}
