package gather

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/snapshot"
)

// Network describes what a packet from a node meets. Each source has its own
// call, so that one refusal does not blind the others.
type Network interface {
	DescribeSubnets(context.Context, *ec2.DescribeSubnetsInput, ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error)
	DescribeVpcs(context.Context, *ec2.DescribeVpcsInput, ...func(*ec2.Options)) (*ec2.DescribeVpcsOutput, error)
	DescribeRouteTables(context.Context, *ec2.DescribeRouteTablesInput, ...func(*ec2.Options)) (*ec2.DescribeRouteTablesOutput, error)
	DescribeNatGateways(context.Context, *ec2.DescribeNatGatewaysInput, ...func(*ec2.Options)) (*ec2.DescribeNatGatewaysOutput, error)
	DescribeInternetGateways(context.Context, *ec2.DescribeInternetGatewaysInput, ...func(*ec2.Options)) (*ec2.DescribeInternetGatewaysOutput, error)
	DescribeEgressOnlyInternetGateways(context.Context, *ec2.DescribeEgressOnlyInternetGatewaysInput, ...func(*ec2.Options)) (*ec2.DescribeEgressOnlyInternetGatewaysOutput, error)
	DescribeVpcEndpoints(context.Context, *ec2.DescribeVpcEndpointsInput, ...func(*ec2.Options)) (*ec2.DescribeVpcEndpointsOutput, error)
}

var _ Network = (*ec2.Client)(nil)

// in is the filter for all that belongs to a VPC.
func in(filter, vpc string) []types.Filter {
	return []types.Filter{{Name: aws.String(filter), Values: []string{vpc}}}
}

// pages collects all pages of a call.
func pages[P, T any](ctx context.Context, what string, more func() bool, next func(context.Context, ...func(*ec2.Options)) (P, error), items func(P) []T) ([]T, error) {
	var all []T
	for more() {
		page, err := next(ctx)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", what, err)
		}
		all = append(all, items(page)...)
	}
	return all, nil
}

func (r *Reader) readSubnets(ctx context.Context, vpcs []string) ([]snapshot.Subnet, error) {
	p := ec2.NewDescribeSubnetsPaginator(r.network, &ec2.DescribeSubnetsInput{Filters: anyOf("vpc-id", vpcs)})
	return pages(ctx, "subnets", p.HasMorePages, p.NextPage, func(out *ec2.DescribeSubnetsOutput) []snapshot.Subnet {
		return each(out.Subnets, subnet)
	})
}

func (r *Reader) readVPCs(ctx context.Context, vpcs []string) ([]snapshot.VPC, error) {
	out, err := r.network.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: vpcs})
	if err != nil {
		return nil, fmt.Errorf("describe vpcs: %w", err)
	}
	return each(out.Vpcs, vpcOf), nil
}

func (r *Reader) readRouteTables(ctx context.Context, vpcs []string) ([]snapshot.RouteTable, error) {
	p := ec2.NewDescribeRouteTablesPaginator(r.network, &ec2.DescribeRouteTablesInput{Filters: anyOf("vpc-id", vpcs)})
	return pages(ctx, "route tables", p.HasMorePages, p.NextPage, func(out *ec2.DescribeRouteTablesOutput) []snapshot.RouteTable {
		return each(out.RouteTables, routeTable)
	})
}

func (r *Reader) readNATGateways(ctx context.Context, vpcs []string) ([]snapshot.NATGateway, error) {
	p := ec2.NewDescribeNatGatewaysPaginator(r.network, &ec2.DescribeNatGatewaysInput{Filter: anyOf("vpc-id", vpcs)})
	return pages(ctx, "nat gateways", p.HasMorePages, p.NextPage, func(out *ec2.DescribeNatGatewaysOutput) []snapshot.NATGateway {
		return each(out.NatGateways, natGateway)
	})
}

// readInternetGateways reads all of the region's: one that a route leads to may
// be detached, and then no filter by VPC finds it.
func (r *Reader) readInternetGateways(ctx context.Context) ([]snapshot.InternetGateway, error) {
	p := ec2.NewDescribeInternetGatewaysPaginator(r.network, &ec2.DescribeInternetGatewaysInput{})
	return pages(ctx, "internet gateways", p.HasMorePages, p.NextPage, func(out *ec2.DescribeInternetGatewaysOutput) []snapshot.InternetGateway {
		return each(out.InternetGateways, internetGateway)
	})
}

// readEgressOnly reads all of the region's: the call has no filter by VPC.
func (r *Reader) readEgressOnly(ctx context.Context) ([]snapshot.EgressOnlyGateway, error) {
	p := ec2.NewDescribeEgressOnlyInternetGatewaysPaginator(r.network, &ec2.DescribeEgressOnlyInternetGatewaysInput{})
	return pages(ctx, "egress-only internet gateways", p.HasMorePages, p.NextPage, func(out *ec2.DescribeEgressOnlyInternetGatewaysOutput) []snapshot.EgressOnlyGateway {
		return each(out.EgressOnlyInternetGateways, egressOnly)
	})
}

func (r *Reader) readEndpoints(ctx context.Context, vpcs []string) ([]snapshot.Endpoint, error) {
	p := ec2.NewDescribeVpcEndpointsPaginator(r.network, &ec2.DescribeVpcEndpointsInput{Filters: anyOf("vpc-id", vpcs)})
	return pages(ctx, "vpc endpoints", p.HasMorePages, p.NextPage, func(out *ec2.DescribeVpcEndpointsOutput) []snapshot.Endpoint {
		return each(out.VpcEndpoints, endpoint)
	})
}

// each converts a list.
func each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, 0, len(list))
	for _, a := range list {
		out = append(out, f(a))
	}
	return out
}

func subnet(s types.Subnet) snapshot.Subnet {
	out := snapshot.Subnet{
		ID:             aws.ToString(s.SubnetId),
		ARN:            aws.ToString(s.SubnetArn),
		VPC:            aws.ToString(s.VpcId),
		Zone:           aws.ToString(s.AvailabilityZone),
		CIDR:           prefix(s.CidrBlock),
		Free:           int(aws.ToInt32(s.AvailableIpAddressCount)),
		AssignPublicIP: aws.ToBool(s.MapPublicIpOnLaunch),
		AssignIPv6:     aws.ToBool(s.AssignIpv6AddressOnCreation),
		Tags:           tags(s.Tags),
	}
	out.Name = out.Tags["Name"]
	for _, a := range s.Ipv6CidrBlockAssociationSet {
		if a.Ipv6CidrBlockState != nil && a.Ipv6CidrBlockState.State != types.SubnetCidrBlockStateCodeAssociated {
			continue
		}
		if p := prefix(a.Ipv6CidrBlock); p.IsValid() {
			out.IPv6 = append(out.IPv6, p)
		}
	}
	return out
}

func vpcOf(v types.Vpc) snapshot.VPC {
	out := snapshot.VPC{ID: aws.ToString(v.VpcId), DHCP: aws.ToString(v.DhcpOptionsId), Owner: aws.ToString(v.OwnerId)}
	for _, a := range v.CidrBlockAssociationSet {
		// A block that is being taken away still stands in the list.
		if a.CidrBlockState != nil && a.CidrBlockState.State != types.VpcCidrBlockStateCodeAssociated {
			continue
		}
		if p := prefix(a.CidrBlock); p.IsValid() {
			out.CIDRs = append(out.CIDRs, p)
		}
	}
	if p := prefix(v.CidrBlock); p.IsValid() && !slices.Contains(out.CIDRs, p) {
		out.CIDRs = append(out.CIDRs, p)
	}
	for _, a := range v.Ipv6CidrBlockAssociationSet {
		if a.Ipv6CidrBlockState != nil && a.Ipv6CidrBlockState.State != types.VpcCidrBlockStateCodeAssociated {
			continue
		}
		if p := prefix(a.Ipv6CidrBlock); p.IsValid() {
			out.IPv6 = append(out.IPv6, p)
		}
	}
	return out
}

func prefix(text *string) netip.Prefix {
	p, err := netip.ParsePrefix(aws.ToString(text))
	if err != nil {
		return netip.Prefix{}
	}
	return p.Masked()
}
