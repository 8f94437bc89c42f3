package ec2

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/table"
)

// DescribeVpcs lists VPCs.
func (s API) DescribeVpcs(in *ec2.DescribeVpcsInput) (*ec2.DescribeVpcsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.Vpc]{
		Table: s.w.Vpcs, ID: func(v *ec2types.Vpc) *string { return v.VpcId }, IDs: in.VpcIds,
		Missing: notFound("InvalidVpcID.NotFound", "vpc ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.Vpc]{
			"vpc-id":          func(v *ec2types.Vpc) []string { return table.One(v.VpcId) },
			"cidr":            func(v *ec2types.Vpc) []string { return table.One(v.CidrBlock) },
			"state":           func(v *ec2types.Vpc) []string { return []string{string(v.State)} },
			"owner-id":        func(v *ec2types.Vpc) []string { return table.One(v.OwnerId) },
			"is-default":      func(v *ec2types.Vpc) []string { return table.YesNo(v.IsDefault) },
			"dhcp-options-id": func(v *ec2types.Vpc) []string { return table.One(v.DhcpOptionsId) },
		},
		Tags: func(v *ec2types.Vpc) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVpcsOutput{Vpcs: deepcopy.Each(list), NextToken: next}, nil
}

// DescribeVpcAttribute shows one of a VPC's DNS switches.
func (s API) DescribeVpcAttribute(in *ec2.DescribeVpcAttributeInput) (*ec2.DescribeVpcAttributeOutput, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.VpcId)
	if s.w.Vpcs.Get(id) == nil {
		return nil, notFound("InvalidVpcID.NotFound", "vpc ID")([]string{id})
	}
	a := s.w.VPCAttributes[id]
	on := func(b *bool) *ec2types.AttributeBooleanValue {
		return &ec2types.AttributeBooleanValue{Value: aws.Bool(b == nil || *b)}
	}
	out := &ec2.DescribeVpcAttributeOutput{VpcId: in.VpcId}
	switch in.Attribute {
	case ec2types.VpcAttributeNameEnableDnsSupport:
		out.EnableDnsSupport = on(a.EnableDnsSupport)
	case ec2types.VpcAttributeNameEnableDnsHostnames:
		out.EnableDnsHostnames = on(a.EnableDnsHostnames)
	case ec2types.VpcAttributeNameEnableNetworkAddressUsageMetrics:
		out.EnableNetworkAddressUsageMetrics = &ec2types.AttributeBooleanValue{Value: aws.Bool(false)}
	default:
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter attribute is invalid.", in.Attribute)
	}
	return out, nil
}

// DescribeSubnets lists subnets with their free addresses as of now.
func (s API) DescribeSubnets(in *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
	defer s.w.Enter()()
	zone := func(v *ec2types.Subnet) []string { return table.One(v.AvailabilityZone) }
	cidr := func(v *ec2types.Subnet) []string { return table.One(v.CidrBlock) }
	list, next, err := table.Selection[ec2types.Subnet]{
		Table: s.w.Subnets, ID: func(v *ec2types.Subnet) *string { return v.SubnetId }, IDs: in.SubnetIds,
		Missing: notFound("InvalidSubnetID.NotFound", "subnet ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.Subnet]{
			"subnet-id":               func(v *ec2types.Subnet) []string { return table.One(v.SubnetId) },
			"vpc-id":                  func(v *ec2types.Subnet) []string { return table.One(v.VpcId) },
			"availability-zone":       zone,
			"availability-zone-id":    func(v *ec2types.Subnet) []string { return table.One(v.AvailabilityZoneId) },
			"cidr-block":              cidr,
			"state":                   func(v *ec2types.Subnet) []string { return []string{string(v.State)} },
			"owner-id":                func(v *ec2types.Subnet) []string { return table.One(v.OwnerId) },
			"map-public-ip-on-launch": func(v *ec2types.Subnet) []string { return table.YesNo(v.MapPublicIpOnLaunch) },
			"default-for-az":          func(v *ec2types.Subnet) []string { return table.YesNo(v.DefaultForAz) },
			"available-ip-address-count": func(v *ec2types.Subnet) []string {
				return []string{strconv.Itoa(s.w.Pools[*v.SubnetId].Free())}
			},
		},
		Tags: func(v *ec2types.Subnet) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	out := deepcopy.Each(list)
	for i := range out {
		out[i].AvailableIpAddressCount = aws.Int32(int32(s.w.Pools[*out[i].SubnetId].Free()))
	}
	return &ec2.DescribeSubnetsOutput{Subnets: out, NextToken: next}, nil
}

// ModifySubnetAttribute changes whether launches get a public address.
func (s API) ModifySubnetAttribute(in *ec2.ModifySubnetAttributeInput) (*ec2.ModifySubnetAttributeOutput, error) {
	defer s.w.Enter()()
	v := s.w.Subnets.Get(aws.ToString(in.SubnetId))
	if v == nil {
		return nil, notFound("InvalidSubnetID.NotFound", "subnet ID")([]string{aws.ToString(in.SubnetId)})
	}
	if in.MapPublicIpOnLaunch == nil {
		return nil, wire.Errorf("InvalidParameterCombination", "This world changes mapPublicIpOnLaunch only.")
	}
	v.MapPublicIpOnLaunch = in.MapPublicIpOnLaunch.Value
	return &ec2.ModifySubnetAttributeOutput{}, nil
}

// GetSubnetCidrReservations lists the reserved blocks of a subnet.
func (s API) GetSubnetCidrReservations(in *ec2.GetSubnetCidrReservationsInput) (*ec2.GetSubnetCidrReservationsOutput, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.SubnetId)
	if s.w.Subnets.Get(id) == nil {
		return nil, notFound("InvalidSubnetID.NotFound", "subnet ID")([]string{id})
	}
	out := &ec2.GetSubnetCidrReservationsOutput{}
	for _, r := range s.w.CidrReservations.All() {
		if aws.ToString(r.SubnetId) == id {
			out.SubnetIpv4CidrReservations = append(out.SubnetIpv4CidrReservations, deepcopy.Of(*r))
		}
	}
	return out, nil
}

// DescribeInternetGateways lists internet gateways.
func (s API) DescribeInternetGateways(in *ec2.DescribeInternetGatewaysInput) (*ec2.DescribeInternetGatewaysOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.InternetGateway]{
		Table: s.w.InternetGateways, ID: func(v *ec2types.InternetGateway) *string { return v.InternetGatewayId }, IDs: in.InternetGatewayIds,
		Missing: notFound("InvalidInternetGatewayID.NotFound", "internetGateway ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.InternetGateway]{
			"internet-gateway-id": func(v *ec2types.InternetGateway) []string { return table.One(v.InternetGatewayId) },
			"owner-id":            func(v *ec2types.InternetGateway) []string { return table.One(v.OwnerId) },
			"attachment.vpc-id": func(v *ec2types.InternetGateway) []string {
				return table.Each(v.Attachments, func(a ec2types.InternetGatewayAttachment) *string { return a.VpcId })
			},
			"attachment.state": func(v *ec2types.InternetGateway) []string {
				return table.Each(v.Attachments, func(a ec2types.InternetGatewayAttachment) *string { return aws.String(string(a.State)) })
			},
		},
		Tags: func(v *ec2types.InternetGateway) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeInternetGatewaysOutput{InternetGateways: deepcopy.Each(list), NextToken: next}, nil
}

// DescribeEgressOnlyInternetGateways lists IPv6's gateways.
func (s API) DescribeEgressOnlyInternetGateways(in *ec2.DescribeEgressOnlyInternetGatewaysInput) (*ec2.DescribeEgressOnlyInternetGatewaysOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.EgressOnlyInternetGateway]{
		Table: s.w.EgressOnlyGateways, ID: func(v *ec2types.EgressOnlyInternetGateway) *string { return v.EgressOnlyInternetGatewayId },
		IDs: in.EgressOnlyInternetGatewayIds, Missing: notFound("InvalidGatewayID.NotFound", "eigw ID"), Filters: in.Filters,
		Tags: func(v *ec2types.EgressOnlyInternetGateway) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: 255,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeEgressOnlyInternetGatewaysOutput{EgressOnlyInternetGateways: deepcopy.Each(list), NextToken: next}, nil
}

// DescribeNetworkAcls lists network ACLs.
func (s API) DescribeNetworkAcls(in *ec2.DescribeNetworkAclsInput) (*ec2.DescribeNetworkAclsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.NetworkAcl]{
		Table: s.w.NetworkACLs, ID: func(v *ec2types.NetworkAcl) *string { return v.NetworkAclId }, IDs: in.NetworkAclIds,
		Missing: notFound("InvalidNetworkAclID.NotFound", "networkAcl ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.NetworkAcl]{
			"network-acl-id": func(v *ec2types.NetworkAcl) []string { return table.One(v.NetworkAclId) },
			"vpc-id":         func(v *ec2types.NetworkAcl) []string { return table.One(v.VpcId) },
			"default":        func(v *ec2types.NetworkAcl) []string { return table.YesNo(v.IsDefault) },
			"owner-id":       func(v *ec2types.NetworkAcl) []string { return table.One(v.OwnerId) },
			"association.subnet-id": func(v *ec2types.NetworkAcl) []string {
				return table.Each(v.Associations, func(a ec2types.NetworkAclAssociation) *string { return a.SubnetId })
			},
		},
		Tags: func(v *ec2types.NetworkAcl) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeNetworkAclsOutput{NetworkAcls: deepcopy.Each(list), NextToken: next}, nil
}

// DescribeDhcpOptions lists DHCP option sets.
func (s API) DescribeDhcpOptions(in *ec2.DescribeDhcpOptionsInput) (*ec2.DescribeDhcpOptionsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.DhcpOptions]{
		Table: s.w.DhcpOptions, ID: func(v *ec2types.DhcpOptions) *string { return v.DhcpOptionsId }, IDs: in.DhcpOptionsIds,
		Missing: notFound("InvalidDhcpOptionID.NotFound", "dhcpOption ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.DhcpOptions]{
			"dhcp-options-id": func(v *ec2types.DhcpOptions) []string { return table.One(v.DhcpOptionsId) },
			"owner-id":        func(v *ec2types.DhcpOptions) []string { return table.One(v.OwnerId) },
			"key": func(v *ec2types.DhcpOptions) []string {
				return table.Each(v.DhcpConfigurations, func(c ec2types.DhcpConfiguration) *string { return c.Key })
			},
		},
		Tags: func(v *ec2types.DhcpOptions) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeDhcpOptionsOutput{DhcpOptions: deepcopy.Each(list), NextToken: next}, nil
}
