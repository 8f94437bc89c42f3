package vpc

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// subnets are those of the VPCs.
func subnets(api ec2.DescribeSubnetsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.Subnets,
		Calls: []source.Call{{Action: "ec2:DescribeSubnets"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.Subnet, error) {
			return readSubnets(ctx, api, v.VPCs)
		}, func(x snapshot.Subnet) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.Subnet { return &s.Subnets }),
	}
}

func readSubnets(ctx context.Context, api ec2.DescribeSubnetsAPIClient, vpcs []string) ([]snapshot.Subnet, error) {
	p := ec2.NewDescribeSubnetsPaginator(api, &ec2.DescribeSubnetsInput{Filters: ec2api.AnyOf("vpc-id", vpcs)})
	return ec2api.Pages(ctx, "subnets", p.HasMorePages, p.NextPage, func(out *ec2.DescribeSubnetsOutput) []snapshot.Subnet {
		return source.Each(out.Subnets, subnet)
	})
}

// little is below what a check of addresses can find too few: a node takes that
// many at most with its first interface (facts.MostFirst).
const little = 64

// freeAgain reads once more how much is free in the subnets where it was little.
// The interfaces are described after the subnets, a large VPC's for a minute:
// addresses that were given back in between would be neither free nor held, and
// the subnet would be told as full with nothing that holds it. The permission is
// that of the subnets: where they were not read nothing is short.
func freeAgain(ctx context.Context, api ec2.DescribeSubnetsAPIClient, list []snapshot.Subnet) (source.Store, error) {
	var short []string
	for _, s := range list {
		// Of a subnet without IPv4 range EC2 says that 0 are free.
		if s.CIDR.IsValid() && s.Free < little {
			short = append(short, s.ID)
		}
	}
	free := map[string]int{}
	for chunk := range slices.Chunk(short, ec2api.MaxFilterValues) {
		p := ec2.NewDescribeSubnetsPaginator(api, &ec2.DescribeSubnetsInput{Filters: ec2api.AnyOf("subnet-id", chunk)})
		now, err := ec2api.Pages(ctx, "subnets", p.HasMorePages, ec2api.Fresh(p.NextPage), func(out *ec2.DescribeSubnetsOutput) []snapshot.Subnet {
			return source.Each(out.Subnets, subnet)
		})
		if err != nil {
			return nil, err
		}
		for _, s := range now {
			free[s.ID] = s.Free
		}
	}
	return func(s *snapshot.Snapshot) {
		for i := range s.Subnets {
			if n, ok := free[s.Subnets[i].ID]; ok {
				s.Subnets[i].Free = n
			}
		}
	}, nil
}

func subnet(s types.Subnet) snapshot.Subnet {
	out := snapshot.Subnet{
		ID:             aws.ToString(s.SubnetId),
		ARN:            aws.ToString(s.SubnetArn),
		VPC:            aws.ToString(s.VpcId),
		Zone:           aws.ToString(s.AvailabilityZone),
		ZoneID:         aws.ToString(s.AvailabilityZoneId),
		BlockMode:      blockMode(s.BlockPublicAccessStates),
		CIDR:           source.Prefix(s.CidrBlock),
		Free:           int(aws.ToInt32(s.AvailableIpAddressCount)),
		AssignPublicIP: aws.ToBool(s.MapPublicIpOnLaunch),
		AssignIPv6:     aws.ToBool(s.AssignIpv6AddressOnCreation),
		Tags:           ec2api.Tags(s.Tags),
	}
	out.Name = out.Tags["Name"]
	for _, a := range s.Ipv6CidrBlockAssociationSet {
		if a.Ipv6CidrBlockState != nil && a.Ipv6CidrBlockState.State != types.SubnetCidrBlockStateCodeAssociated {
			continue
		}
		if p := source.Prefix(a.Ipv6CidrBlock); p.IsValid() {
			out.IPv6 = append(out.IPv6, p)
		}
	}
	return out
}
