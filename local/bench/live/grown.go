package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/worldfile"
)

// world is the story of a blackhole, to be grown.
const world = "local/worlds/route-blackhole.yaml"

const (
	vpc = "vpc-0a1b2c3d4e5f60718"
	// perSubnet is how many nodes stand in a subnet of the added ones: each is a /18
	// of the VPC's secondary blocks, and a node takes up to thirty addresses of it.
	perSubnet = 400
)

// start is when the world begins.
func start() time.Time { return time.Date(2026, 11, 20, 14, 58, 0, 0, time.UTC) }

// grow adds nodes that have joined to the group that is well, and lets the other group
// launch so many that cannot.
func grow(joined, broken int) func(*worldfile.File) {
	return func(f *worldfile.File) {
		k := f.Kubernetes[clusterName]
		group := &f.AutoScaling.AutoScalingGroups[0]
		have := len(k.Joined)
		for i := range max(0, joined-have) {
			subnet := subnetID(i / perSubnet)
			if i%perSubnet == 0 {
				f.EC2.Subnets = append(f.EC2.Subnets, types.Subnet{
					SubnetId: aws.String(subnet), VpcId: aws.String(vpc), AvailabilityZone: aws.String("us-west-2a"), AvailabilityZoneId: aws.String("usw2-az1"),
					CidrBlock: aws.String(fmt.Sprintf("100.%d.0.0/16", 64+i/perSubnet)),
				})
				group.VPCZoneIdentifier = aws.String(*group.VPCZoneIdentifier + "," + subnet)
			}
			in := f.EC2.Instances[0]
			in.InstanceId, in.SubnetId = aws.String(fmt.Sprintf("i-0e%015x", i)), aws.String(subnet)
			in.PrivateIpAddress = aws.String(fmt.Sprintf("100.%d.%d.%d", 64+i/perSubnet, 1+i%perSubnet/200, 10+i%200))
			f.EC2.Instances = append(f.EC2.Instances, in)
			group.Instances = append(group.Instances, asgtypes.Instance{InstanceId: in.InstanceId})
			k.Joined = append(k.Joined, *in.InstanceId)
		}
		n := int32(len(group.Instances))
		group.DesiredCapacity, group.MaxSize = aws.Int32(n), aws.Int32(n+10)
		f.Kubernetes[clusterName] = k
		f.Timeline[0].With["scalingConfig"] = map[string]any{"minSize": 0, "maxSize": broken, "desiredSize": broken}
	}
}

func subnetID(i int) string { return fmt.Sprintf("subnet-0e7%014x", i) }
