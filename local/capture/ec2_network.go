package capture

import (
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// DescribeSubnets answers with those that the capture holds.
func (a API) DescribeSubnets(in *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
	all, err := read[ec2.DescribeSubnetsOutput](a.c, "ec2-describe-subnets")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.Subnet]{
		list: all.Subnets, ids: in.SubnetIds, id: "SubnetId", missing: "InvalidSubnetID.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeSubnetsOutput{Subnets: list}, err
}

// DescribeVpcs answers with those that the capture holds.
func (a API) DescribeVpcs(in *ec2.DescribeVpcsInput) (*ec2.DescribeVpcsOutput, error) {
	all, err := read[ec2.DescribeVpcsOutput](a.c, "ec2-describe-vpcs")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.Vpc]{
		list: all.Vpcs, ids: in.VpcIds, id: "VpcId", missing: "InvalidVpcID.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeVpcsOutput{Vpcs: list}, err
}

// DescribeVpcBlockPublicAccessOptions answers with the account's mode.
func (a API) DescribeVpcBlockPublicAccessOptions(*ec2.DescribeVpcBlockPublicAccessOptionsInput) (*ec2.DescribeVpcBlockPublicAccessOptionsOutput, error) {
	return read[ec2.DescribeVpcBlockPublicAccessOptionsOutput](a.c, "ec2-describe-vpc-block-public-access-options")
}

// DescribeVpcBlockPublicAccessExclusions answers with those that the capture holds.
func (a API) DescribeVpcBlockPublicAccessExclusions(in *ec2.DescribeVpcBlockPublicAccessExclusionsInput) (*ec2.DescribeVpcBlockPublicAccessExclusionsOutput, error) {
	all, err := read[ec2.DescribeVpcBlockPublicAccessExclusionsOutput](a.c, "ec2-describe-vpc-block-public-access-exclusions")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.VpcBlockPublicAccessExclusion]{
		list: all.VpcBlockPublicAccessExclusions, id: "ExclusionId", filters: in.Filters,
	}.run()
	return &ec2.DescribeVpcBlockPublicAccessExclusionsOutput{VpcBlockPublicAccessExclusions: list}, err
}

// DescribeSecurityGroupVpcAssociations answers with those that the capture holds.
func (a API) DescribeSecurityGroupVpcAssociations(in *ec2.DescribeSecurityGroupVpcAssociationsInput) (*ec2.DescribeSecurityGroupVpcAssociationsOutput, error) {
	all, err := read[ec2.DescribeSecurityGroupVpcAssociationsOutput](a.c, "ec2-describe-security-group-vpc-associations")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.SecurityGroupVpcAssociation]{list: all.SecurityGroupVpcAssociations, id: "GroupId", filters: in.Filters}.run()
	return &ec2.DescribeSecurityGroupVpcAssociationsOutput{SecurityGroupVpcAssociations: list}, err
}

// DescribeRouteTables answers with those that the capture holds.
func (a API) DescribeRouteTables(in *ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) {
	all, err := read[ec2.DescribeRouteTablesOutput](a.c, "ec2-describe-route-tables")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.RouteTable]{
		list: all.RouteTables, ids: in.RouteTableIds, id: "RouteTableId", missing: "InvalidRouteTableID.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeRouteTablesOutput{RouteTables: list}, err
}

// DescribeNatGateways answers with those that the capture holds.
func (a API) DescribeNatGateways(in *ec2.DescribeNatGatewaysInput) (*ec2.DescribeNatGatewaysOutput, error) {
	all, err := read[ec2.DescribeNatGatewaysOutput](a.c, "ec2-describe-nat-gateways")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.NatGateway]{
		list: all.NatGateways, ids: in.NatGatewayIds, id: "NatGatewayId", missing: "NatGatewayNotFound", filters: in.Filter,
	}.run()
	return &ec2.DescribeNatGatewaysOutput{NatGateways: list}, err
}

// DescribeInternetGateways answers with those that the capture holds.
func (a API) DescribeInternetGateways(in *ec2.DescribeInternetGatewaysInput) (*ec2.DescribeInternetGatewaysOutput, error) {
	all, err := read[ec2.DescribeInternetGatewaysOutput](a.c, "ec2-describe-internet-gateways")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.InternetGateway]{
		list: all.InternetGateways, ids: in.InternetGatewayIds, id: "InternetGatewayId", missing: "InvalidInternetGatewayID.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeInternetGatewaysOutput{InternetGateways: list}, err
}

// DescribeEgressOnlyInternetGateways answers with those that the capture holds.
func (a API) DescribeEgressOnlyInternetGateways(in *ec2.DescribeEgressOnlyInternetGatewaysInput) (*ec2.DescribeEgressOnlyInternetGatewaysOutput, error) {
	all, err := read[ec2.DescribeEgressOnlyInternetGatewaysOutput](a.c, "ec2-describe-egress-only-internet-gateways")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.EgressOnlyInternetGateway]{
		list: all.EgressOnlyInternetGateways, ids: in.EgressOnlyInternetGatewayIds, id: "EgressOnlyInternetGatewayId", missing: "InvalidGatewayID.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeEgressOnlyInternetGatewaysOutput{EgressOnlyInternetGateways: list}, err
}

// DescribeVpcEndpoints answers with those that the capture holds.
func (a API) DescribeVpcEndpoints(in *ec2.DescribeVpcEndpointsInput) (*ec2.DescribeVpcEndpointsOutput, error) {
	all, err := read[ec2.DescribeVpcEndpointsOutput](a.c, "ec2-describe-vpc-endpoints")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.VpcEndpoint]{
		list: all.VpcEndpoints, ids: in.VpcEndpointIds, id: "VpcEndpointId", missing: "InvalidVpcEndpointId.NotFound", filters: in.Filters,
		also: map[string]string{"vpc-endpoint-state": "state"},
	}.run()
	return &ec2.DescribeVpcEndpointsOutput{VpcEndpoints: list}, err
}

// DescribeSecurityGroups answers with those that the capture holds.
func (a API) DescribeSecurityGroups(in *ec2.DescribeSecurityGroupsInput) (*ec2.DescribeSecurityGroupsOutput, error) {
	all, err := read[ec2.DescribeSecurityGroupsOutput](a.c, "ec2-describe-security-groups")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.SecurityGroup]{
		list: all.SecurityGroups, ids: in.GroupIds, id: "GroupId", missing: "InvalidGroup.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: list}, err
}

// DescribeNetworkAcls answers with those that the capture holds.
func (a API) DescribeNetworkAcls(in *ec2.DescribeNetworkAclsInput) (*ec2.DescribeNetworkAclsOutput, error) {
	all, err := read[ec2.DescribeNetworkAclsOutput](a.c, "ec2-describe-network-acls")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.NetworkAcl]{
		list: all.NetworkAcls, ids: in.NetworkAclIds, id: "NetworkAclId", missing: "InvalidNetworkAclID.NotFound", filters: in.Filters,
		also: map[string]string{"default": "is-default"},
	}.run()
	return &ec2.DescribeNetworkAclsOutput{NetworkAcls: list}, err
}
