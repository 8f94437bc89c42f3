package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/worldfile"
)

// The world under the load: healthy, with the interfaces that load adds to it.
const (
	worldFile = "local/worlds/healthy-nat.yaml"
	cluster   = "eks-workshop"
	vpc       = "vpc-0a1b2c3d4e5f60718"
	// perSubnet is how many interfaces go to a subnet of the added ones, each a
	// /16 of the VPC's secondary blocks.
	perSubnet = 60_000
)

// fill adds interfaces to a world: so many that nodes left behind, and so many
// besides that are in use. Two of each three nodes left one, the third two.
func fill(leaked, inUse int) func(*worldfile.File) {
	return func(f *worldfile.File) {
		n := leaked + inUse
		for i := range (n + perSubnet - 1) / perSubnet {
			f.EC2.Subnets = append(f.EC2.Subnets, types.Subnet{
				SubnetId: aws.String(subnetID(i)), VpcId: aws.String(vpc), AvailabilityZone: aws.String("us-west-2a"), AvailabilityZoneId: aws.String("usw2-az1"),
				CidrBlock: aws.String(fmt.Sprintf("100.%d.0.0/16", 64+i)),
			})
		}
		for i := range n {
			eni := types.NetworkInterface{
				NetworkInterfaceId: aws.String(fmt.Sprintf("eni-0a%015x", i)), SubnetId: aws.String(subnetID(i / perSubnet)),
				Status: types.NetworkInterfaceStatusAvailable, Groups: []types.GroupIdentifier{{GroupId: aws.String("sg-0e50000000000000f")}},
			}
			owner := fmt.Sprintf("i-0b%015x", i*3/4)
			eni.Description = aws.String("aws-K8S-" + owner)
			eni.TagSet = []types.Tag{
				{Key: aws.String("cluster.k8s.amazonaws.com/name"), Value: aws.String(cluster)},
				{Key: aws.String("eks:eni:owner"), Value: aws.String("amazon-vpc-cni")},
				{Key: aws.String("node.k8s.amazonaws.com/createdAt"), Value: aws.String(f.Time.Add(-time.Duration(3600+i%86_400) * time.Second).UTC().Format(time.RFC3339))},
				{Key: aws.String("node.k8s.amazonaws.com/instance_id"), Value: aws.String(owner)},
			}
			if i >= leaked { // of something else that the VPC holds
				eni.Status, eni.Description = types.NetworkInterfaceStatusInUse, aws.String("load balancer")
				eni.RequesterManaged, eni.TagSet = aws.Bool(true), nil
				eni.Attachment = &types.NetworkInterfaceAttachment{AttachmentId: aws.String(fmt.Sprintf("eni-attach-0a%015x", i)), InstanceOwnerId: aws.String("amazon-elb"), Status: types.AttachmentStatusAttached}
			}
			f.EC2.NetworkInterfaces = append(f.EC2.NetworkInterfaces, eni)
		}
	}
}

func subnetID(i int) string { return fmt.Sprintf("subnet-0e6%014x", i) }
