package ec2

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/table"
)

// DescribeAddresses lists Elastic IP addresses.
func (s API) DescribeAddresses(in *ec2.DescribeAddressesInput) (*ec2.DescribeAddressesOutput, error) {
	defer s.w.Enter()()
	want := slices.Clone(in.Filters)
	if len(in.PublicIps) > 0 {
		want = append(want, ec2types.Filter{Name: aws.String("public-ip"), Values: in.PublicIps})
	}
	list, _, err := table.Selection[ec2types.Address]{
		Table: s.w.Addresses, ID: func(v *ec2types.Address) *string { return v.AllocationId }, IDs: in.AllocationIds,
		Missing: notFound("InvalidAllocationID.NotFound", "allocation ID"), Filters: want,
		Known: table.Filters[ec2types.Address]{
			"allocation-id":        func(v *ec2types.Address) []string { return table.One(v.AllocationId) },
			"association-id":       func(v *ec2types.Address) []string { return table.One(v.AssociationId) },
			"instance-id":          func(v *ec2types.Address) []string { return table.One(v.InstanceId) },
			"network-interface-id": func(v *ec2types.Address) []string { return table.One(v.NetworkInterfaceId) },
			"public-ip":            func(v *ec2types.Address) []string { return table.One(v.PublicIp) },
			"private-ip-address":   func(v *ec2types.Address) []string { return table.One(v.PrivateIpAddress) },
		},
		Tags: func(v *ec2types.Address) []ec2types.Tag { return v.Tags },
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeAddressesOutput{Addresses: deepcopy.Each(list)}, nil
}

// DescribeVpcPeeringConnections lists VPC peerings.
func (s API) DescribeVpcPeeringConnections(in *ec2.DescribeVpcPeeringConnectionsInput) (*ec2.DescribeVpcPeeringConnectionsOutput, error) {
	defer s.w.Enter()()
	side := func(get func(*ec2types.VpcPeeringConnection) *ec2types.VpcPeeringConnectionVpcInfo) func(*ec2types.VpcPeeringConnection) []string {
		return func(v *ec2types.VpcPeeringConnection) []string {
			if i := get(v); i != nil {
				return table.One(i.VpcId)
			}
			return nil
		}
	}
	list, next, err := table.Selection[ec2types.VpcPeeringConnection]{
		Table: s.w.Peerings, ID: func(v *ec2types.VpcPeeringConnection) *string { return v.VpcPeeringConnectionId }, IDs: in.VpcPeeringConnectionIds,
		Missing: notFound("InvalidVpcPeeringConnectionID.NotFound", "vpcPeeringConnection ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.VpcPeeringConnection]{
			"vpc-peering-connection-id": func(v *ec2types.VpcPeeringConnection) []string { return table.One(v.VpcPeeringConnectionId) },
			"accepter-vpc-info.vpc-id":  side(func(v *ec2types.VpcPeeringConnection) *ec2types.VpcPeeringConnectionVpcInfo { return v.AccepterVpcInfo }),
			"requester-vpc-info.vpc-id": side(func(v *ec2types.VpcPeeringConnection) *ec2types.VpcPeeringConnectionVpcInfo {
				return v.RequesterVpcInfo
			}),
			"status-code": func(v *ec2types.VpcPeeringConnection) []string {
				if v.Status == nil {
					return nil
				}
				return []string{string(v.Status.Code)}
			},
		},
		Tags: func(v *ec2types.VpcPeeringConnection) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVpcPeeringConnectionsOutput{VpcPeeringConnections: deepcopy.Each(list), NextToken: next}, nil
}

// DescribeTransitGatewayAttachments lists transit gateway attachments.
func (s API) DescribeTransitGatewayAttachments(in *ec2.DescribeTransitGatewayAttachmentsInput) (*ec2.DescribeTransitGatewayAttachmentsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.TransitGatewayAttachment]{
		Table: s.w.TransitAttachments, ID: func(v *ec2types.TransitGatewayAttachment) *string { return v.TransitGatewayAttachmentId },
		IDs: in.TransitGatewayAttachmentIds, Missing: notFound("InvalidTransitGatewayAttachmentID.NotFound", "transitGatewayAttachment ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.TransitGatewayAttachment]{
			"transit-gateway-attachment-id": func(v *ec2types.TransitGatewayAttachment) []string { return table.One(v.TransitGatewayAttachmentId) },
			"transit-gateway-id":            func(v *ec2types.TransitGatewayAttachment) []string { return table.One(v.TransitGatewayId) },
			"resource-id":                   func(v *ec2types.TransitGatewayAttachment) []string { return table.One(v.ResourceId) },
			"resource-type":                 func(v *ec2types.TransitGatewayAttachment) []string { return []string{string(v.ResourceType)} },
			"state":                         func(v *ec2types.TransitGatewayAttachment) []string { return []string{string(v.State)} },
		},
		Tags: func(v *ec2types.TransitGatewayAttachment) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeTransitGatewayAttachmentsOutput{TransitGatewayAttachments: deepcopy.Each(list), NextToken: next}, nil
}
