package gather

import (
	"maps"
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

// LaunchSources is what a look at a launch reads: what its checks need, and
// what tells whose instance it is. Nothing of it is Kubernetes': who looks at
// launches has no access to clusters. Nor has a launch written a console yet.
func LaunchSources(list []checks.Check) []snapshot.Source {
	all := union(list, snapshot.Instances, snapshot.Clusters, snapshot.Groups, snapshot.Activities, snapshot.Nodegroups, snapshot.UserDataOf)
	return slices.DeleteFunc(all, func(s snapshot.Source) bool { return ofKubernetes(s) || s == snapshot.Consoles })
}

// JoinSources is what a roll call reads: what its checks need, and the nodes.
func JoinSources(list []checks.Check) []snapshot.Source {
	return union(list, snapshot.Instances, snapshot.Clusters, snapshot.Groups, snapshot.Activities, snapshot.Nodegroups, snapshot.UserDataOf, snapshot.Nodes)
}

func union(list []checks.Check, more ...snapshot.Source) []snapshot.Source {
	set := map[snapshot.Source]bool{}
	for _, s := range more {
		set[s] = true
	}
	for _, c := range list {
		for _, s := range with(slices.Concat(c.Needs, c.Uses)) {
			set[s] = true
		}
	}
	delete(set, snapshot.LaunchHistory) // of our own table, not of AWS
	return slices.Sorted(maps.Keys(set))
}

// call is the permission named when a source could not be read. The names are
// written out: Permissions finds them by reflection, and a function that calls
// it would carry every method of every SDK client. A test holds the two together.
func call(s snapshot.Source) string {
	for _, name := range []func(snapshot.Source) string{networkCall, machineCall, managedCall, kubernetesCall} {
		if call := name(s); call != "" {
			return call
		}
	}
	return ""
}

func networkCall(s snapshot.Source) string {
	switch s {
	case snapshot.Subnets:
		return "ec2:DescribeSubnets"
	case snapshot.VPCs:
		return "ec2:DescribeVpcs"
	case snapshot.RouteTables:
		return "ec2:DescribeRouteTables"
	case snapshot.NATGateways:
		return "ec2:DescribeNatGateways"
	case snapshot.InternetGateways:
		return "ec2:DescribeInternetGateways"
	case snapshot.EgressOnly:
		return "ec2:DescribeEgressOnlyInternetGateways"
	case snapshot.Endpoints:
		return "ec2:DescribeVpcEndpoints"
	case snapshot.SecurityGroups:
		return "ec2:DescribeSecurityGroups"
	case snapshot.NetworkACLs:
		return "ec2:DescribeNetworkAcls"
	case snapshot.VPCDNS:
		return "ec2:DescribeVpcAttribute"
	case snapshot.DHCP:
		return "ec2:DescribeDhcpOptions"
	case snapshot.PrefixListEntries:
		return "ec2:DescribeManagedPrefixLists"
	case snapshot.Peerings:
		return "ec2:DescribeVpcPeeringConnections"
	case snapshot.TransitGateways:
		return "ec2:DescribeTransitGatewayAttachments"
	case snapshot.Interfaces, snapshot.Usage, snapshot.Unattached:
		return "ec2:DescribeNetworkInterfaces"
	case snapshot.CIDRsKept:
		return "ec2:GetSubnetCidrReservations"
	}
	return ""
}

func machineCall(s snapshot.Source) string {
	switch s {
	case snapshot.Instances, snapshot.CreatorsOf:
		return "ec2:DescribeInstances"
	case snapshot.InstanceTypes:
		return "ec2:DescribeInstanceTypes"
	case snapshot.Statuses:
		return "ec2:DescribeInstanceStatus"
	case snapshot.UserDataOf:
		return "ec2:DescribeInstanceAttribute"
	case snapshot.Consoles:
		return "ec2:GetConsoleOutput"
	case snapshot.Images:
		return "ec2:DescribeImages"
	case snapshot.LaunchTemplates:
		return "ec2:DescribeLaunchTemplateVersions"
	case snapshot.VolumesOf:
		return "ec2:DescribeVolumes"
	case snapshot.ZonesOf:
		return "ec2:DescribeAvailabilityZones"
	case snapshot.Groups:
		return "autoscaling:DescribeAutoScalingGroups"
	case snapshot.Activities:
		return "autoscaling:DescribeScalingActivities"
	}
	return ""
}

func managedCall(s snapshot.Source) string {
	switch s {
	case snapshot.Clusters:
		return "eks:DescribeCluster"
	case snapshot.Nodegroups:
		return "eks:DescribeNodegroup"
	case snapshot.Updates:
		return "eks:ListUpdates"
	case snapshot.Addons:
		return "eks:ListAddons"
	case snapshot.Access:
		return "eks:ListAccessEntries"
	case snapshot.PodIdentities:
		return "eks:ListPodIdentityAssociations"
	case snapshot.Profiles:
		return "iam:GetInstanceProfile"
	case snapshot.Roles:
		return "iam:GetRole"
	}
	return ""
}

func kubernetesCall(s snapshot.Source) string {
	switch s {
	case snapshot.Nodes:
		return "kubernetes: list nodes"
	case snapshot.AWSNode:
		return "kubernetes: get daemonset aws-node in kube-system"
	case snapshot.Pods:
		return "kubernetes: list pods in kube-system"
	case snapshot.AWSAuthMap:
		return "kubernetes: get configmap aws-auth in kube-system"
	case snapshot.CSRs:
		return "kubernetes: list certificatesigningrequests"
	case snapshot.NodeEventsOf:
		return "kubernetes: list events in default"
	case snapshot.ENIConfigsOf:
		return "kubernetes: list eniconfigs"
	case snapshot.PersistentVolumes:
		return "kubernetes: list persistentvolumes"
	case snapshot.ClaimsOf:
		return "kubernetes: list persistentvolumeclaims"
	case snapshot.WaitingPods:
		return "kubernetes: list pods"
	}
	return ""
}
