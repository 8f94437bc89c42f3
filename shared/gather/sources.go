package gather

import (
	"maps"
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/fn"
	"rollcall/shared/snapshot"
)

// LaunchSources is what a look at a launch reads: what its checks need, and
// what tells whose instance it is.
func LaunchSources(list []checks.Check) []snapshot.Source {
	return union(list, snapshot.Instances, snapshot.Clusters, snapshot.Groups, snapshot.Activities, snapshot.Nodegroups)
}

// JoinSources is what a roll call reads: what its checks need, and the nodes.
func JoinSources(list []checks.Check) []snapshot.Source {
	return union(list, snapshot.Instances, snapshot.Clusters, snapshot.Groups, snapshot.Activities, snapshot.Nodegroups, snapshot.Nodes)
}

func union(list []checks.Check, more ...snapshot.Source) []snapshot.Source {
	set := map[snapshot.Source]bool{}
	for _, s := range more {
		set[s] = true
	}
	for _, c := range list {
		for _, s := range c.Needs {
			set[s] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// Reads is the permissions that reading the sources takes. They come from the
// interfaces that the reader calls, so the policy cannot say more or less.
func Reads(sources ...snapshot.Source) []fn.Read {
	var anything, clusters, nodegroups []string
	for _, s := range sources {
		switch s {
		case snapshot.Clusters:
			clusters = append(clusters, Permissions(s)...)
		case snapshot.Nodegroups:
			nodegroups = append(nodegroups, Permissions(s)...)
		default:
			anything = append(anything, Permissions(s)...)
		}
	}
	var reads []fn.Read
	for _, r := range []fn.Read{
		{Actions: anything, Resources: []string{"*"}}, // Describe calls of EC2 and Auto Scaling take no resource
		{Actions: clusters, Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}},
		{Actions: nodegroups, Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:nodegroup/*/*/*"}},
	} {
		if len(r.Actions) > 0 {
			slices.Sort(r.Actions)
			r.Actions = slices.Compact(r.Actions)
			reads = append(reads, r)
		}
	}
	return reads
}

// ListClusters is the permission of Reader.Clusters.
func ListClusters() fn.Read {
	return fn.Read{Actions: fn.Actions[ClusterList]("eks"), Resources: []string{"*"}} // takes no resource
}

// Permissions names the calls that read a source. For the network each source
// has one call of the interface; a test holds that every call has its source.
func Permissions(s snapshot.Source) []string {
	switch s {
	case snapshot.Clusters:
		return fn.Actions[Clusters]("eks")
	case snapshot.Nodegroups:
		return fn.Actions[Nodegroups]("eks")
	case snapshot.Instances:
		return fn.Actions[Instances]("ec2")
	case snapshot.InstanceTypes:
		return fn.Actions[InstanceTypes]("ec2")
	case snapshot.Groups:
		return fn.Actions[Groups]("autoscaling")
	case snapshot.Activities:
		return fn.Actions[Activities]("autoscaling")
	case snapshot.Nodes:
		return nil // Kubernetes: kube.Rules
	}
	if call := networkCall(s); call != "" {
		return []string{call}
	}
	return nil
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
	case snapshot.Endpoints:
		return "ec2:DescribeVpcEndpoints"
	}
	return ""
}

// call is the permission named when a source could not be read. The names are
// written out: Permissions finds them by reflection, and a function that calls
// it would carry every method of every SDK client. A test holds the two together.
func call(s snapshot.Source) string {
	switch s {
	case snapshot.Clusters:
		return "eks:DescribeCluster"
	case snapshot.Nodegroups:
		return "eks:DescribeNodegroup"
	case snapshot.Instances:
		return "ec2:DescribeInstances"
	case snapshot.InstanceTypes:
		return "ec2:DescribeInstanceTypes"
	case snapshot.Groups:
		return "autoscaling:DescribeAutoScalingGroups"
	case snapshot.Activities:
		return "autoscaling:DescribeScalingActivities"
	case snapshot.Nodes:
		return "kubernetes: list nodes"
	}
	return networkCall(s)
}
