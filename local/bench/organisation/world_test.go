package organisation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/worldfile"
	"rollcall/shared/spoke"
)

// The hub's own account and region are those of the worlds.
var hub = spoke.ID{Account: "111122223333", Region: "us-west-2"}

// company is what is watched: so many accounts in so many regions, with so many clusters
// in each, and nodes in each of those.
type company struct{ accounts, regions, clusters, nodes int }

// places are the accounts and regions but the hub's own.
func (c company) places() []spoke.ID {
	var list []spoke.ID
	for a := range c.accounts {
		for r := range c.regions {
			id := spoke.ID{Account: fmt.Sprintf("2222%08d", a), Region: []string{"us-west-2", "eu-west-1"}[r]}
			if a == 0 {
				id.Account = hub.Account
			}
			if id != hub {
				list = append(list, id)
			}
		}
	}
	return list
}

// Each account has clusters of the same names, with the same ids in them: nothing but the
// account and the region tells them apart.
func clusterName(i int) string {
	if i == 0 {
		return "eks-workshop"
	}
	return fmt.Sprintf("c%02d", i)
}

// silent are those whose API drops all packets: 20 of 100.
func silent(cluster string) bool {
	var i int
	_, err := fmt.Sscanf(cluster[strings.LastIndex(cluster, "/")+1:], "c%d", &i)
	return err == nil && i%5 == 4
}

// broken are the places in which the first cluster has a nodegroup whose subnet has no
// route to the internet: one of ten.
func broken(place int) bool { return place%10 == 1 }

const (
	grows   = "default"
	noRoute = "new_nodegroup_2"
)

// fill makes a place's world of that with the missing route, which it has only where it is
// broken.
func (c company) fill(broken bool) func(*worldfile.File) {
	return func(f *worldfile.File) {
		for i, table := range f.EC2.RouteTables {
			if *table.RouteTableId == "rtb-0cd20000000000002" && !broken {
				f.EC2.RouteTables[i].Routes = append(table.Routes, ec2types.Route{DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String("nat-0aa40000000000001")})
			}
		}
		c.populate(f)
	}
}

// populate makes the clusters and their nodes.
func (c company) populate(f *worldfile.File) {
	f.Timeline, f.Expect = nil, worldfile.Expect{}
	cluster, groups, addons, entries := f.EKS.Clusters[0], f.EKS.Nodegroups, f.EKS.Addons, f.EKS.AccessEntries
	grown := slices.IndexFunc(groups, func(g ekstypes.Nodegroup) bool { return *g.NodegroupName == grows })
	group := slices.IndexFunc(f.AutoScaling.AutoScalingGroups, func(g astypes.AutoScalingGroup) bool { return strings.Contains(*g.AutoScalingGroupName, grows) })
	asg := f.AutoScaling.AutoScalingGroups[group]
	first := f.Kubernetes[*cluster.Name]
	f.EC2.Instances = nil
	for i := range c.clusters {
		name := clusterName(i)
		k := first
		k.Joined = nil
		own := asg
		own.Instances = nil
		for n := range c.nodes {
			id := fmt.Sprintf("i-0e%02d%013d", i, n)
			at := i*c.nodes + n
			zone := at % 3
			f.EC2.Instances = append(f.EC2.Instances, ec2types.Instance{
				InstanceId: aws.String(id), SubnetId: aws.String("subnet-0b20000000000000" + "abc"[zone:zone+1]),
				PrivateIpAddress: aws.String(fmt.Sprintf("10.42.%d.%d", 97+32*zone+at/600, 10+at/3%200)), LaunchTime: aws.Time(f.Time.AddDate(0, 0, -8)),
			})
			k.Joined = append(k.Joined, id)
			own.Instances = append(own.Instances, astypes.Instance{InstanceId: aws.String(id)})
		}
		own.AutoScalingGroupName = aws.String(fmt.Sprintf("eks-default-%08d-1111-4222-8333-000000000001", i))
		own.MinSize, own.MaxSize, own.DesiredCapacity = aws.Int32(0), aws.Int32(200), aws.Int32(int32(c.nodes))
		g := groups[grown]
		g.ClusterName, g.Resources = aws.String(name), &ekstypes.NodegroupResources{AutoScalingGroups: []ekstypes.AutoScalingGroup{{Name: own.AutoScalingGroupName}}}
		g.ScalingConfig = &ekstypes.NodegroupScalingConfig{MinSize: own.MinSize, MaxSize: own.MaxSize, DesiredSize: own.DesiredCapacity}
		f.Kubernetes[name] = k
		if i == 0 {
			f.AutoScaling.AutoScalingGroups[group], f.EKS.Nodegroups[grown] = own, g
			continue
		}
		f.AutoScaling.AutoScalingGroups = append(f.AutoScaling.AutoScalingGroups, own)
		f.EKS.Nodegroups = append(f.EKS.Nodegroups, g)
		another := cluster
		another.Name = aws.String(name)
		f.EKS.Clusters = append(f.EKS.Clusters, another)
		for _, a := range addons {
			a.ClusterName = aws.String(name)
			f.EKS.Addons = append(f.EKS.Addons, a)
		}
		for _, e := range entries {
			e.ClusterName = aws.String(name)
			f.EKS.AccessEntries = append(f.EKS.AccessEntries, e)
		}
	}
}
