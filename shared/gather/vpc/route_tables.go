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

// routeTables are those of the VPCs.
func routeTables(api ec2.DescribeRouteTablesAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.RouteTables,
		Calls: []source.Call{{Action: "ec2:DescribeRouteTables"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.RouteTable, error) {
			return readRouteTables(ctx, api, v.VPCs)
		}, func(x snapshot.RouteTable) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.RouteTable { return &s.RouteTables }),
	}
}

func readRouteTables(ctx context.Context, api ec2.DescribeRouteTablesAPIClient, vpcs []string) ([]snapshot.RouteTable, error) {
	p := ec2.NewDescribeRouteTablesPaginator(api, &ec2.DescribeRouteTablesInput{Filters: ec2api.AnyOf("vpc-id", vpcs)})
	return ec2api.Pages(ctx, "route tables", p.HasMorePages, p.NextPage, func(out *ec2.DescribeRouteTablesOutput) []snapshot.RouteTable {
		return source.Each(out.RouteTables, routeTable)
	})
}

func routeTable(t types.RouteTable) snapshot.RouteTable {
	out := snapshot.RouteTable{
		ID:   aws.ToString(t.RouteTableId),
		VPC:  aws.ToString(t.VpcId),
		Name: ec2api.Tags(t.Tags)["Name"],
		Tags: ec2api.Tags(t.Tags),
	}
	for _, a := range t.Associations {
		if !routes(a) {
			continue
		}
		if aws.ToBool(a.Main) {
			out.Main = true
		}
		if id := aws.ToString(a.SubnetId); id != "" {
			out.Subnets = append(out.Subnets, id)
		}
	}
	slices.Sort(out.Subnets)
	for _, r := range t.Routes {
		out.Routes = append(out.Routes, route(r))
	}
	return out
}

// routes tells that an association is in force, or about to be. One on its way
// out no longer routes; a state newer than this code is taken for a good one,
// so that no subnet is judged by a main table that it may not use.
func routes(a types.RouteTableAssociation) bool {
	if a.AssociationState == nil {
		return true
	}
	switch a.AssociationState.State {
	case types.RouteTableAssociationStateCodeDisassociating, types.RouteTableAssociationStateCodeDisassociated, types.RouteTableAssociationStateCodeFailed:
		return false
	}
	return true
}

func route(r types.Route) snapshot.Route {
	out := snapshot.Route{
		Destination: source.Prefix(r.DestinationCidrBlock),
		PrefixList:  aws.ToString(r.DestinationPrefixListId),
		Target:      target(r),
		State:       string(r.State),
		Origin:      string(r.Origin),
	}
	if !out.Destination.IsValid() {
		out.Destination = source.Prefix(r.DestinationIpv6CidrBlock)
	}
	return out
}

// target tells where a route leads. GatewayId carries several kinds, which
// only the id's prefix tells apart.
func target(r types.Route) snapshot.Target {
	gateway := aws.ToString(r.GatewayId)
	eni, instance := aws.ToString(r.NetworkInterfaceId), aws.ToString(r.InstanceId)
	switch {
	case gateway == "local":
		return snapshot.Target{Kind: snapshot.ToLocal, ID: "local"}
	case r.NatGatewayId != nil:
		return snapshot.Target{Kind: snapshot.ToNATGateway, ID: *r.NatGatewayId}
	case r.TransitGatewayId != nil:
		return snapshot.Target{Kind: snapshot.ToTransitGateway, ID: *r.TransitGatewayId}
	case r.VpcPeeringConnectionId != nil:
		return snapshot.Target{Kind: snapshot.ToPeering, ID: *r.VpcPeeringConnectionId}
	case r.EgressOnlyInternetGatewayId != nil:
		return snapshot.Target{Kind: snapshot.ToEgressOnly, ID: *r.EgressOnlyInternetGatewayId}
	case r.CarrierGatewayId != nil:
		return snapshot.Target{Kind: snapshot.ToCarrierGateway, ID: *r.CarrierGatewayId}
	case r.LocalGatewayId != nil:
		return snapshot.Target{Kind: snapshot.ToLocalGateway, ID: *r.LocalGatewayId}
	case r.CoreNetworkArn != nil:
		return snapshot.Target{Kind: snapshot.ToCoreNetwork, ID: *r.CoreNetworkArn}
	case eni != "" || instance != "":
		return snapshot.Target{Kind: snapshot.ToInterface, ID: eni, Instance: instance, Owner: aws.ToString(r.InstanceOwnerId)}
	}
	for p, kind := range map[string]snapshot.TargetKind{
		"igw-":  snapshot.ToInternetGateway,
		"vgw-":  snapshot.ToVPNGateway,
		"vpce-": snapshot.ToEndpoint,
		"eigw-": snapshot.ToEgressOnly,
		"nat-":  snapshot.ToNATGateway,
		"tgw-":  snapshot.ToTransitGateway,
	} {
		if strings.HasPrefix(gateway, p) {
			return snapshot.Target{Kind: kind, ID: gateway}
		}
	}
	return snapshot.Target{Kind: snapshot.ToUnknown, ID: gateway}
}

// targets are the ids that routes of one kind lead to.
func targets(s *snapshot.Snapshot, kind snapshot.TargetKind) []string {
	var ids []string
	for _, t := range s.RouteTables {
		for _, r := range t.Routes {
			if r.Target.Kind == kind {
				ids = append(ids, r.Target.ID)
			}
		}
	}
	return source.Distinct(ids)
}
