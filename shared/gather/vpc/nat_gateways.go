package vpc

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// natGateways are those of the VPCs. Their zones are those of their subnets: zonesOfGateways.
func natGateways(api ec2.DescribeNatGatewaysAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.NATGateways,
		Calls: []source.Call{{Action: "ec2:DescribeNatGateways"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.NATGateway, error) {
			return readNATGateways(ctx, api, v.VPCs)
		}, func(x snapshot.NATGateway) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.NATGateway { return &s.NATGateways }),
	}
}

func readNATGateways(ctx context.Context, api ec2.DescribeNatGatewaysAPIClient, vpcs []string) ([]snapshot.NATGateway, error) {
	p := ec2.NewDescribeNatGatewaysPaginator(api, &ec2.DescribeNatGatewaysInput{Filter: ec2api.AnyOf("vpc-id", vpcs)})
	return ec2api.Pages(ctx, "nat gateways", p.HasMorePages, p.NextPage, func(out *ec2.DescribeNatGatewaysOutput) []snapshot.NATGateway {
		return source.Each(out.NatGateways, natGateway)
	})
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
		if ip := ec2api.AddressOf(a.PublicIp); ip.IsValid() && (a.Status == "" || a.Status == types.NatGatewayAddressStatusSucceeded) {
			out.Addresses = append(out.Addresses, snapshot.NATAddress{IP: ip, Zone: aws.ToString(a.AvailabilityZone), ZoneID: aws.ToString(a.AvailabilityZoneId)})
		}
	}
	for _, p := range g.AttachedAppliances {
		if p.AttachmentState == types.NatGatewayApplianceStateAttached {
			out.Proxy = cmp.Or(aws.ToString(p.ApplianceArn), string(p.Type))
		}
	}
	return out
}

func ZoneOf(subnets []snapshot.Subnet, id string) string {
	for _, s := range subnets {
		if s.ID == id {
			return s.Zone
		}
	}
	return ""
}
