package gather

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

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

func (r *Reader) readSubnets(ctx context.Context, vpc string) ([]snapshot.Subnet, error) {
	p := ec2.NewDescribeSubnetsPaginator(r.network, &ec2.DescribeSubnetsInput{Filters: in("vpc-id", vpc)})
	return pages(ctx, "subnets", p.HasMorePages, p.NextPage, func(out *ec2.DescribeSubnetsOutput) []snapshot.Subnet {
		return each(out.Subnets, subnet)
	})
}

func (r *Reader) readVPCs(ctx context.Context, vpc string) ([]snapshot.VPC, error) {
	out, err := r.network.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{vpc}})
	if err != nil {
		return nil, fmt.Errorf("describe vpcs: %w", err)
	}
	return each(out.Vpcs, vpcOf), nil
}

func (r *Reader) readRouteTables(ctx context.Context, vpc string) ([]snapshot.RouteTable, error) {
	p := ec2.NewDescribeRouteTablesPaginator(r.network, &ec2.DescribeRouteTablesInput{Filters: in("vpc-id", vpc)})
	return pages(ctx, "route tables", p.HasMorePages, p.NextPage, func(out *ec2.DescribeRouteTablesOutput) []snapshot.RouteTable {
		return each(out.RouteTables, routeTable)
	})
}

func (r *Reader) readNATGateways(ctx context.Context, vpc string) ([]snapshot.NATGateway, error) {
	p := ec2.NewDescribeNatGatewaysPaginator(r.network, &ec2.DescribeNatGatewaysInput{Filter: in("vpc-id", vpc)})
	return pages(ctx, "nat gateways", p.HasMorePages, p.NextPage, func(out *ec2.DescribeNatGatewaysOutput) []snapshot.NATGateway {
		return each(out.NatGateways, natGateway)
	})
}

func (r *Reader) readInternetGateways(ctx context.Context, vpc string) ([]snapshot.InternetGateway, error) {
	p := ec2.NewDescribeInternetGatewaysPaginator(r.network, &ec2.DescribeInternetGatewaysInput{Filters: in("attachment.vpc-id", vpc)})
	return pages(ctx, "internet gateways", p.HasMorePages, p.NextPage, func(out *ec2.DescribeInternetGatewaysOutput) []snapshot.InternetGateway {
		return each(out.InternetGateways, internetGateway)
	})
}

func (r *Reader) readEndpoints(ctx context.Context, vpc string) ([]snapshot.Endpoint, error) {
	p := ec2.NewDescribeVpcEndpointsPaginator(r.network, &ec2.DescribeVpcEndpointsInput{Filters: in("vpc-id", vpc)})
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
		Name:           tags(s.Tags)["Name"],
	}
	for _, a := range s.Ipv6CidrBlockAssociationSet {
		if p := prefix(a.Ipv6CidrBlock); p.IsValid() {
			out.IPv6 = append(out.IPv6, p)
		}
	}
	return out
}

func vpcOf(v types.Vpc) snapshot.VPC {
	out := snapshot.VPC{ID: aws.ToString(v.VpcId)}
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
	return out
}

func internetGateway(g types.InternetGateway) snapshot.InternetGateway {
	out := snapshot.InternetGateway{ID: aws.ToString(g.InternetGatewayId)}
	for _, a := range g.Attachments {
		// EC2 answers "available" for attached internet gateways, though the
		// enum documents only "attached".
		if a.State == "available" || a.State == types.AttachmentStatusAttached {
			out.Attached = append(out.Attached, aws.ToString(a.VpcId))
		}
	}
	slices.Sort(out.Attached)
	return out
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

func natGateway(g types.NatGateway) snapshot.NATGateway {
	out := snapshot.NATGateway{
		ID:     aws.ToString(g.NatGatewayId),
		VPC:    aws.ToString(g.VpcId),
		Subnet: aws.ToString(g.SubnetId),
		State:  string(g.State),
		// Gateways from before private ones existed may lack the field.
		Public:     g.ConnectivityType != types.ConnectivityTypePrivate,
		Failure:    aws.ToString(g.FailureMessage),
		RouteTable: aws.ToString(g.RouteTableId),
	}
	for _, a := range g.NatGatewayAddresses {
		if ip := address(a.PublicIp); ip.IsValid() {
			out.PublicIPs = append(out.PublicIPs, ip)
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
