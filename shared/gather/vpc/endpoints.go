package vpc

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// endpoints are the VPC endpoints of the VPCs.
func endpoints(api ec2.DescribeVpcEndpointsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.Endpoints,
		Calls: []source.Call{{Action: "ec2:DescribeVpcEndpoints"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.Endpoint, error) {
			return readEndpoints(ctx, api, v.VPCs)
		}, func(x snapshot.Endpoint) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.Endpoint { return &s.Endpoints }),
	}
}

func readEndpoints(ctx context.Context, api ec2.DescribeVpcEndpointsAPIClient, vpcs []string) ([]snapshot.Endpoint, error) {
	p := ec2.NewDescribeVpcEndpointsPaginator(api, &ec2.DescribeVpcEndpointsInput{Filters: ec2api.AnyOf("vpc-id", vpcs)})
	return ec2api.Pages(ctx, "vpc endpoints", p.HasMorePages, p.NextPage, func(out *ec2.DescribeVpcEndpointsOutput) []snapshot.Endpoint {
		return source.Each(out.VpcEndpoints, endpoint)
	})
}

func endpoint(e types.VpcEndpoint) snapshot.Endpoint {
	out := snapshot.Endpoint{
		ID:      aws.ToString(e.VpcEndpointId),
		VPC:     aws.ToString(e.VpcId),
		Service: aws.ToString(e.ServiceName),
		Kind:    string(e.VpcEndpointType),
		// EC2 answers "available" where the SDK's enum says "Available".
		State:       strings.ToLower(string(e.State)),
		PrivateDNS:  aws.ToBool(e.PrivateDnsEnabled) && !inboundOnly(e),
		Subnets:     slices.Sorted(slices.Values(e.SubnetIds)),
		RouteTables: slices.Sorted(slices.Values(e.RouteTableIds)),
		Policy:      aws.ToString(e.PolicyDocument),
		Interfaces:  slices.Sorted(slices.Values(e.NetworkInterfaceIds)),
	}
	if e.LastError != nil {
		out.Error = aws.ToString(e.LastError.Message)
	}
	for _, g := range e.Groups {
		out.Groups = append(out.Groups, aws.ToString(g.GroupId))
	}
	slices.Sort(out.Groups)
	return out
}

// inboundOnly tells that an endpoint's private names are for inbound resolver
// endpoints only, as is the default for S3 beside a gateway endpoint: nodes in
// the VPC get S3's public addresses.
func inboundOnly(e types.VpcEndpoint) bool {
	return e.DnsOptions != nil && aws.ToBool(e.DnsOptions.PrivateDnsOnlyForInboundResolverEndpoint)
}
