package ec2

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

const (
	// natTime is how long a NAT gateway takes to become available or deleted.
	natTime = 30 * time.Second
	// endpointTime is the same for an interface endpoint.
	endpointTime = 30 * time.Second
)

func natNotFound(ids []string) *wire.Error {
	return wire.Errorf("NatGatewayNotFound", "The Nat gateway %s was not found", ids[0])
}

// DescribeNatGateways lists NAT gateways; a deleted one for an hour.
func (s API) DescribeNatGateways(in *ec2.DescribeNatGatewaysInput) (*ec2.DescribeNatGatewaysOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.NatGateway]{
		Table: s.w.NATGateways, ID: func(v *ec2types.NatGateway) *string { return v.NatGatewayId }, IDs: in.NatGatewayIds,
		Missing: natNotFound, Filters: in.Filter,
		Known: table.Filters[ec2types.NatGateway]{
			"nat-gateway-id": func(v *ec2types.NatGateway) []string { return table.One(v.NatGatewayId) },
			"vpc-id":         func(v *ec2types.NatGateway) []string { return table.One(v.VpcId) },
			"subnet-id":      func(v *ec2types.NatGateway) []string { return table.One(v.SubnetId) },
			"state":          func(v *ec2types.NatGateway) []string { return []string{string(v.State)} },
		},
		Tags: func(v *ec2types.NatGateway) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeNatGatewaysOutput{NatGateways: deepcopy.Each(list), NextToken: next}, nil
}

// CreateNatGateway makes a NAT gateway, pending at first.
func (s API) CreateNatGateway(in *ec2.CreateNatGatewayInput) (*ec2.CreateNatGatewayOutput, error) {
	defer s.w.Enter()()
	w := s.w
	if in.SubnetId == nil {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter subnetId")
	}
	if w.Subnets.Get(*in.SubnetId) == nil {
		return nil, notFound("InvalidSubnetID.NotFound", "subnet ID")([]string{*in.SubnetId})
	}
	kind := in.ConnectivityType
	defaults.SetPlain(&kind, ec2types.ConnectivityTypePublic)
	if kind == ec2types.ConnectivityTypePublic && in.AllocationId == nil {
		return nil, wire.Errorf("MissingParameter", "The request must include the AllocationId parameter. Add the required parameter and retry the request.")
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	n := &ec2types.NatGateway{
		NatGatewayId: aws.String(w.IDs.EC2("nat")), SubnetId: in.SubnetId, State: ec2types.NatGatewayStatePending,
		ConnectivityType: kind, CreateTime: aws.Time(w.Now), Tags: tagsFor(in.TagSpecifications, ec2types.ResourceTypeNatgateway),
		NatGatewayAddresses: []ec2types.NatGatewayAddress{{AllocationId: in.AllocationId}},
	}
	if a := w.Addresses.Get(aws.ToString(in.AllocationId)); a != nil {
		n.NatGatewayAddresses[0].PublicIp = a.PublicIp
	}
	if err := NATInterface(w, n, *n.NatGatewayId); err != nil {
		return nil, state.ErrSubnetFull()
	}
	w.NATGateways.Put(*n.NatGatewayId, n)
	w.After(natTime, func() {
		if n.State == ec2types.NatGatewayStatePending {
			n.State = ec2types.NatGatewayStateAvailable
		}
	})
	return &ec2.CreateNatGatewayOutput{NatGateway: deepcopy.Of(n), ClientToken: in.ClientToken}, nil
}

// DeleteNatGateway begins to delete a NAT gateway. The routes to it stay, as
// blackholes.
func (s API) DeleteNatGateway(in *ec2.DeleteNatGatewayInput) (*ec2.DeleteNatGatewayOutput, error) {
	defer s.w.Enter()()
	w := s.w
	id := aws.ToString(in.NatGatewayId)
	n := w.NATGateways.Get(id)
	if n == nil || n.State == ec2types.NatGatewayStateDeleted {
		return nil, natNotFound([]string{id})
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if n.State != ec2types.NatGatewayStateDeleting {
		n.State = ec2types.NatGatewayStateDeleting
		w.Blackhole(func(r *ec2types.Route) bool { return aws.ToString(r.NatGatewayId) == id })
		w.After(natTime, func() { natDeleted(w, n) })
	}
	return &ec2.DeleteNatGatewayOutput{NatGatewayId: in.NatGatewayId}, nil
}

func natDeleted(w *state.State, n *ec2types.NatGateway) {
	n.State = ec2types.NatGatewayStateDeleted
	n.DeleteTime = aws.Time(w.Now)
	for _, a := range n.NatGatewayAddresses {
		if eni := w.Interfaces.Get(aws.ToString(a.NetworkInterfaceId)); eni != nil {
			w.DropInterface(eni)
		}
	}
	w.After(state.TerminatedTime, func() { w.NATGateways.Remove(*n.NatGatewayId) })
}

// DescribeVpcEndpoints lists VPC endpoints.
func (s API) DescribeVpcEndpoints(in *ec2.DescribeVpcEndpointsInput) (*ec2.DescribeVpcEndpointsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.VpcEndpoint]{
		Table: s.w.Endpoints, ID: func(v *ec2types.VpcEndpoint) *string { return v.VpcEndpointId }, IDs: in.VpcEndpointIds,
		Missing: notFound("InvalidVpcEndpointId.NotFound", "Vpc Endpoint Id"), Filters: in.Filters,
		Known: table.Filters[ec2types.VpcEndpoint]{
			"vpc-endpoint-id":    func(v *ec2types.VpcEndpoint) []string { return table.One(v.VpcEndpointId) },
			"vpc-id":             func(v *ec2types.VpcEndpoint) []string { return table.One(v.VpcId) },
			"service-name":       func(v *ec2types.VpcEndpoint) []string { return table.One(v.ServiceName) },
			"vpc-endpoint-type":  func(v *ec2types.VpcEndpoint) []string { return []string{string(v.VpcEndpointType)} },
			"vpc-endpoint-state": func(v *ec2types.VpcEndpoint) []string { return []string{string(v.State)} },
			"ip-address-type":    func(v *ec2types.VpcEndpoint) []string { return []string{string(v.IpAddressType)} },
		},
		Tags: func(v *ec2types.VpcEndpoint) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: 1, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVpcEndpointsOutput{VpcEndpoints: deepcopy.Each(list), NextToken: next}, nil
}

// CreateVpcEndpoint makes an interface or gateway endpoint.
func (s API) CreateVpcEndpoint(in *ec2.CreateVpcEndpointInput) (*ec2.CreateVpcEndpointOutput, error) {
	defer s.w.Enter()()
	w := s.w
	if w.Vpcs.Get(aws.ToString(in.VpcId)) == nil {
		return nil, notFound("InvalidVpcID.NotFound", "Vpc Id")([]string{aws.ToString(in.VpcId)})
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	e := &ec2types.VpcEndpoint{
		VpcEndpointId: aws.String(w.IDs.EC2("vpce")), VpcId: in.VpcId, ServiceName: in.ServiceName, VpcEndpointType: in.VpcEndpointType,
		CreationTimestamp: aws.Time(w.Now), OwnerId: aws.String(w.Account), RequesterManaged: aws.Bool(false), PolicyDocument: in.PolicyDocument,
		PrivateDnsEnabled: in.PrivateDnsEnabled, RouteTableIds: in.RouteTableIds, SubnetIds: in.SubnetIds,
		Tags: tagsFor(in.TagSpecifications, ec2types.ResourceTypeVpcEndpoint),
	}
	defaults.SetPlain(&e.VpcEndpointType, ec2types.VpcEndpointTypeGateway)
	e.State = ec2types.StateAvailable
	if e.VpcEndpointType == ec2types.VpcEndpointTypeInterface {
		e.State = ec2types.StatePending
		defaults.Set(&e.PrivateDnsEnabled, true)
		groups := in.SecurityGroupIds
		if len(groups) == 0 {
			groups = w.DefaultGroup(aws.ToString(in.VpcId))
		}
		for _, g := range w.GroupIdentifiers(groups) {
			e.Groups = append(e.Groups, ec2types.SecurityGroupIdentifier{GroupId: g.GroupId, GroupName: g.GroupName})
		}
		if err := EndpointInterfaces(w, e); err != nil {
			return nil, state.ErrSubnetFull()
		}
		w.After(endpointTime, func() { e.State = ec2types.StateAvailable })
	}
	w.Endpoints.Put(*e.VpcEndpointId, e)
	return &ec2.CreateVpcEndpointOutput{VpcEndpoint: deepcopy.Of(e), ClientToken: in.ClientToken}, nil
}

// DeleteVpcEndpoints takes endpoints and their interfaces away.
func (s API) DeleteVpcEndpoints(in *ec2.DeleteVpcEndpointsInput) (*ec2.DeleteVpcEndpointsOutput, error) {
	defer s.w.Enter()()
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	out := &ec2.DeleteVpcEndpointsOutput{}
	for _, id := range in.VpcEndpointIds {
		e := s.w.Endpoints.Get(id)
		if e == nil {
			out.Unsuccessful = append(out.Unsuccessful, ec2types.UnsuccessfulItem{
				ResourceId: aws.String(id),
				Error:      &ec2types.UnsuccessfulItemError{Code: aws.String("InvalidVpcEndpoint.NotFound"), Message: aws.String("The VpcEndpoint Id '" + id + "' does not exist")},
			})
			continue
		}
		for _, n := range e.NetworkInterfaceIds {
			if eni := s.w.Interfaces.Get(n); eni != nil {
				s.w.DropInterface(eni)
			}
		}
		s.w.Endpoints.Remove(id)
	}
	return out, nil
}
