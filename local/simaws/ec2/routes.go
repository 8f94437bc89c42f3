package ec2

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/reach"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

// DescribeRouteTables lists route tables.
func (s API) DescribeRouteTables(in *ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) {
	defer s.w.Enter()()
	assoc := func(value func(ec2types.RouteTableAssociation) *string) func(*ec2types.RouteTable) []string {
		return func(t *ec2types.RouteTable) []string { return table.Each(t.Associations, value) }
	}
	route := func(value func(ec2types.Route) *string) func(*ec2types.RouteTable) []string {
		return func(t *ec2types.RouteTable) []string { return table.Each(t.Routes, value) }
	}
	list, next, err := table.Selection[ec2types.RouteTable]{
		Table: s.w.RouteTables, ID: func(v *ec2types.RouteTable) *string { return v.RouteTableId }, IDs: in.RouteTableIds,
		Missing: notFound("InvalidRouteTableID.NotFound", "routeTable ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.RouteTable]{
			"route-table-id":                         func(v *ec2types.RouteTable) []string { return table.One(v.RouteTableId) },
			"vpc-id":                                 func(v *ec2types.RouteTable) []string { return table.One(v.VpcId) },
			"owner-id":                               func(v *ec2types.RouteTable) []string { return table.One(v.OwnerId) },
			"association.subnet-id":                  assoc(func(a ec2types.RouteTableAssociation) *string { return a.SubnetId }),
			"association.gateway-id":                 assoc(func(a ec2types.RouteTableAssociation) *string { return a.GatewayId }),
			"association.route-table-id":             assoc(func(a ec2types.RouteTableAssociation) *string { return a.RouteTableId }),
			"association.route-table-association-id": assoc(func(a ec2types.RouteTableAssociation) *string { return a.RouteTableAssociationId }),
			"association.main":                       assoc(func(a ec2types.RouteTableAssociation) *string { return aws.String(table.YesNo(a.Main)[0]) }),
			"route.destination-cidr-block":           route(func(r ec2types.Route) *string { return r.DestinationCidrBlock }),
			"route.destination-ipv6-cidr-block":      route(func(r ec2types.Route) *string { return r.DestinationIpv6CidrBlock }),
			"route.destination-prefix-list-id":       route(func(r ec2types.Route) *string { return r.DestinationPrefixListId }),
			"route.gateway-id":                       route(func(r ec2types.Route) *string { return r.GatewayId }),
			"route.nat-gateway-id":                   route(func(r ec2types.Route) *string { return r.NatGatewayId }),
			"route.instance-id":                      route(func(r ec2types.Route) *string { return r.InstanceId }),
			"route.transit-gateway-id":               route(func(r ec2types.Route) *string { return r.TransitGatewayId }),
			"route.vpc-peering-connection-id":        route(func(r ec2types.Route) *string { return r.VpcPeeringConnectionId }),
			"route.origin":                           route(func(r ec2types.Route) *string { return aws.String(string(r.Origin)) }),
			"route.state":                            route(func(r ec2types.Route) *string { return aws.String(string(r.State)) }),
		},
		Tags: func(v *ec2types.RouteTable) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: 100,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeRouteTablesOutput{RouteTables: deepcopy.Each(list), NextToken: next}, nil
}

// CreateRoute adds a route to a target that exists.
func (s API) CreateRoute(in *ec2.CreateRouteInput) (*ec2.CreateRouteOutput, error) {
	defer s.w.Enter()()
	t, err := routeTable(s.w, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	r := ec2types.Route{
		DestinationCidrBlock: in.DestinationCidrBlock, DestinationIpv6CidrBlock: in.DestinationIpv6CidrBlock, DestinationPrefixListId: in.DestinationPrefixListId,
		GatewayId: in.GatewayId, NatGatewayId: in.NatGatewayId, InstanceId: in.InstanceId, NetworkInterfaceId: in.NetworkInterfaceId,
		TransitGatewayId: in.TransitGatewayId, VpcPeeringConnectionId: in.VpcPeeringConnectionId, EgressOnlyInternetGatewayId: in.EgressOnlyInternetGatewayId,
		Origin: ec2types.RouteOriginCreateRoute, State: ec2types.RouteStateActive,
	}
	if in.VpcEndpointId != nil {
		r.GatewayId = in.VpcEndpointId
	}
	if err := checkRoute(s.w, t, &r); err != nil {
		return nil, err
	}
	if i := routeIndex(t, &r); i >= 0 {
		if !sameTarget(t.Routes[i], r) {
			return nil, wire.Errorf("RouteAlreadyExists", "The route identified by %s already exists.", destination(&r))
		}
		// The same route again is not an error.
		return &ec2.CreateRouteOutput{Return: aws.Bool(true)}, nil
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	t.Routes = append(t.Routes, r)
	return &ec2.CreateRouteOutput{Return: aws.Bool(true)}, nil
}

// ReplaceRoute changes the target of a route.
func (s API) ReplaceRoute(in *ec2.ReplaceRouteInput) (*ec2.ReplaceRouteOutput, error) {
	defer s.w.Enter()()
	t, err := routeTable(s.w, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	r := ec2types.Route{
		DestinationCidrBlock: in.DestinationCidrBlock, DestinationIpv6CidrBlock: in.DestinationIpv6CidrBlock, DestinationPrefixListId: in.DestinationPrefixListId,
		GatewayId: in.GatewayId, NatGatewayId: in.NatGatewayId, InstanceId: in.InstanceId, NetworkInterfaceId: in.NetworkInterfaceId,
		TransitGatewayId: in.TransitGatewayId, VpcPeeringConnectionId: in.VpcPeeringConnectionId, EgressOnlyInternetGatewayId: in.EgressOnlyInternetGatewayId,
		Origin: ec2types.RouteOriginCreateRoute, State: ec2types.RouteStateActive,
	}
	if in.VpcEndpointId != nil {
		r.GatewayId = in.VpcEndpointId
	}
	if err := checkRoute(s.w, t, &r); err != nil {
		return nil, err
	}
	i := routeIndex(t, &r)
	if i < 0 {
		return nil, wire.Errorf("InvalidParameterValue", "There is no route defined for '%s' in the route table. Use CreateRoute instead.", destination(&r))
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	t.Routes[i] = r
	return &ec2.ReplaceRouteOutput{}, nil
}

// DeleteRoute takes a route away; the local one stays.
func (s API) DeleteRoute(in *ec2.DeleteRouteInput) (*ec2.DeleteRouteOutput, error) {
	defer s.w.Enter()()
	t, err := routeTable(s.w, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	r := ec2types.Route{DestinationCidrBlock: in.DestinationCidrBlock, DestinationIpv6CidrBlock: in.DestinationIpv6CidrBlock, DestinationPrefixListId: in.DestinationPrefixListId}
	i := routeIndex(t, &r)
	if i < 0 {
		return nil, wire.Errorf("InvalidRoute.NotFound", "no route with destination-cidr-block %s in route table %s", destination(&r), aws.ToString(in.RouteTableId))
	}
	if aws.ToString(t.Routes[i].GatewayId) == "local" {
		return nil, wire.Errorf("InvalidParameterValue", "cannot remove local route %s in route table %s", destination(&r), aws.ToString(in.RouteTableId))
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	t.Routes = slices.Delete(t.Routes, i, i+1)
	return &ec2.DeleteRouteOutput{}, nil
}

func routeTable(w *state.State, id *string) (*ec2types.RouteTable, error) {
	if t := w.RouteTables.Get(aws.ToString(id)); t != nil {
		return t, nil
	}
	return nil, notFound("InvalidRouteTableID.NotFound", "routeTable ID")([]string{aws.ToString(id)})
}

// checkRoute says whether a route can be made: one destination, one target,
// and the target exists where the table's VPC can use it.
func checkRoute(w *state.State, t *ec2types.RouteTable, r *ec2types.Route) error {
	if destination(r) == "" {
		return wire.Errorf("MissingParameter", "The request must contain the parameter destinationCidrBlock or destinationIpv6CidrBlock or destinationPrefixListId")
	}
	if c := aws.ToString(r.DestinationCidrBlock); c != "" {
		p, err := netip.ParsePrefix(c)
		if err != nil || !p.Addr().Is4() {
			return wire.Errorf("InvalidParameterValue", "Value (%s) for parameter destinationCidrBlock is invalid. This is not a valid CIDR block.", c)
		}
		// EC2 takes 10.0.0.1/16 for 10.0.0.0/16.
		r.DestinationCidrBlock = aws.String(p.Masked().String())
	}
	targets := 0
	for _, target := range []*string{r.GatewayId, r.NatGatewayId, r.InstanceId, r.NetworkInterfaceId, r.TransitGatewayId, r.VpcPeeringConnectionId, r.EgressOnlyInternetGatewayId} {
		if target != nil {
			targets++
		}
	}
	if targets != 1 {
		return wire.Errorf("InvalidParameterCombination", "The parameter gatewayId, natGatewayId, instanceId, networkInterfaceId, transitGatewayId or vpcPeeringConnectionId must be given exactly once")
	}
	return checkTarget(w, t, r)
}

func checkTarget(w *state.State, t *ec2types.RouteTable, r *ec2types.Route) error {
	vpc := aws.ToString(t.VpcId)
	switch {
	case r.NatGatewayId != nil:
		n := w.NATGateways.Get(*r.NatGatewayId)
		if n == nil || n.State == ec2types.NatGatewayStateDeleted || n.State == ec2types.NatGatewayStateFailed {
			return wire.Errorf("InvalidNatGatewayID.NotFound", "The natGateway ID '%s' does not exist", *r.NatGatewayId)
		}
		if aws.ToString(n.VpcId) != vpc {
			return wire.Errorf("InvalidParameterValue", "route table %s and network gateway %s belong to different networks", aws.ToString(t.RouteTableId), *r.NatGatewayId)
		}
	case strings.HasPrefix(aws.ToString(r.GatewayId), "igw-"):
		if w.InternetGateways.Get(*r.GatewayId) == nil {
			return notFound("InvalidInternetGatewayID.NotFound", "internetGateway ID")([]string{*r.GatewayId})
		}
		if !reach.GatewayAttached(w, *r.GatewayId, vpc) {
			return wire.Errorf("InvalidParameterValue", "route table %s and network gateway %s belong to different networks", aws.ToString(t.RouteTableId), *r.GatewayId)
		}
	case strings.HasPrefix(aws.ToString(r.GatewayId), "vpce-"):
		if w.Endpoints.Get(*r.GatewayId) == nil {
			return notFound("InvalidVpcEndpointId.NotFound", "Vpc Endpoint Id")([]string{*r.GatewayId})
		}
	case r.GatewayId != nil && !strings.HasPrefix(*r.GatewayId, "vgw-"):
		return wire.Errorf("InvalidGatewayID.NotFound", "The gateway ID '%s' does not exist", *r.GatewayId)
	case r.NetworkInterfaceId != nil:
		if w.Interfaces.Get(*r.NetworkInterfaceId) == nil {
			return notFound("InvalidNetworkInterfaceID.NotFound", "networkInterface ID")([]string{*r.NetworkInterfaceId})
		}
	case r.InstanceId != nil:
		in := w.Instances.Get(*r.InstanceId)
		if in == nil || state.Ended(in) {
			return wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", *r.InstanceId)
		}
	case r.VpcPeeringConnectionId != nil:
		if w.Peerings.Get(*r.VpcPeeringConnectionId) == nil {
			return notFound("InvalidVpcPeeringConnectionID.NotFound", "vpcPeeringConnection ID")([]string{*r.VpcPeeringConnectionId})
		}
	case r.EgressOnlyInternetGatewayId != nil:
		if w.EgressOnlyGateways.Get(*r.EgressOnlyInternetGatewayId) == nil {
			return notFound("InvalidGatewayID.NotFound", "eigw ID")([]string{*r.EgressOnlyInternetGatewayId})
		}
	case r.TransitGatewayId != nil:
		if !slices.ContainsFunc(w.TransitAttachments.All(), func(a *ec2types.TransitGatewayAttachment) bool {
			return aws.ToString(a.TransitGatewayId) == *r.TransitGatewayId && aws.ToString(a.ResourceId) == vpc
		}) {
			return wire.Errorf("InvalidTransitGatewayID.NotFound", "Transit Gateway %s was deleted or does not exist.", *r.TransitGatewayId)
		}
	}
	return nil
}

func destination(r *ec2types.Route) string {
	for _, d := range []*string{r.DestinationCidrBlock, r.DestinationIpv6CidrBlock, r.DestinationPrefixListId} {
		if aws.ToString(d) != "" {
			return *d
		}
	}
	return ""
}

func routeIndex(t *ec2types.RouteTable, r *ec2types.Route) int {
	return slices.IndexFunc(t.Routes, func(have ec2types.Route) bool { return destination(&have) == destination(r) })
}

func sameTarget(a, b ec2types.Route) bool {
	pairs := [][2]*string{
		{a.GatewayId, b.GatewayId}, {a.NatGatewayId, b.NatGatewayId}, {a.InstanceId, b.InstanceId}, {a.NetworkInterfaceId, b.NetworkInterfaceId},
		{a.TransitGatewayId, b.TransitGatewayId}, {a.VpcPeeringConnectionId, b.VpcPeeringConnectionId}, {a.EgressOnlyInternetGatewayId, b.EgressOnlyInternetGatewayId},
	}
	for _, p := range pairs {
		if aws.ToString(p[0]) != aws.ToString(p[1]) {
			return false
		}
	}
	return true
}
