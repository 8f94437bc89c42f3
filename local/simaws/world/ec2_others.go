package world

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// DescribeAddresses lists Elastic IP addresses.
func (s EC2) DescribeAddresses(in *ec2.DescribeAddressesInput) (*ec2.DescribeAddressesOutput, error) {
	defer s.w.enter()()
	want := slices.Clone(in.Filters)
	if len(in.PublicIps) > 0 {
		want = append(want, ec2types.Filter{Name: aws.String("public-ip"), Values: in.PublicIps})
	}
	list, _, err := selection[ec2types.Address]{
		table: s.w.addresses, id: func(v *ec2types.Address) *string { return v.AllocationId }, ids: in.AllocationIds,
		missing: notFound("InvalidAllocationID.NotFound", "allocation ID"), filters: want,
		known: filters[ec2types.Address]{
			"allocation-id":        func(v *ec2types.Address) []string { return one(v.AllocationId) },
			"association-id":       func(v *ec2types.Address) []string { return one(v.AssociationId) },
			"instance-id":          func(v *ec2types.Address) []string { return one(v.InstanceId) },
			"network-interface-id": func(v *ec2types.Address) []string { return one(v.NetworkInterfaceId) },
			"public-ip":            func(v *ec2types.Address) []string { return one(v.PublicIp) },
			"private-ip-address":   func(v *ec2types.Address) []string { return one(v.PrivateIpAddress) },
		},
		tags: func(v *ec2types.Address) []ec2types.Tag { return v.Tags },
	}.run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeAddressesOutput{Addresses: clones(list)}, nil
}

// DescribeVpcPeeringConnections lists VPC peerings.
func (s EC2) DescribeVpcPeeringConnections(in *ec2.DescribeVpcPeeringConnectionsInput) (*ec2.DescribeVpcPeeringConnectionsOutput, error) {
	defer s.w.enter()()
	side := func(get func(*ec2types.VpcPeeringConnection) *ec2types.VpcPeeringConnectionVpcInfo) func(*ec2types.VpcPeeringConnection) []string {
		return func(v *ec2types.VpcPeeringConnection) []string {
			if i := get(v); i != nil {
				return one(i.VpcId)
			}
			return nil
		}
	}
	list, next, err := selection[ec2types.VpcPeeringConnection]{
		table: s.w.peerings, id: func(v *ec2types.VpcPeeringConnection) *string { return v.VpcPeeringConnectionId }, ids: in.VpcPeeringConnectionIds,
		missing: notFound("InvalidVpcPeeringConnectionID.NotFound", "vpcPeeringConnection ID"), filters: in.Filters,
		known: filters[ec2types.VpcPeeringConnection]{
			"vpc-peering-connection-id": func(v *ec2types.VpcPeeringConnection) []string { return one(v.VpcPeeringConnectionId) },
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
		tags: func(v *ec2types.VpcPeeringConnection) []ec2types.Tag { return v.Tags },
		size: in.MaxResults, token: in.NextToken, min: ec2MinPage, max: ec2MaxPage,
	}.run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVpcPeeringConnectionsOutput{VpcPeeringConnections: clones(list), NextToken: next}, nil
}

// DescribeTransitGatewayAttachments lists transit gateway attachments.
func (s EC2) DescribeTransitGatewayAttachments(in *ec2.DescribeTransitGatewayAttachmentsInput) (*ec2.DescribeTransitGatewayAttachmentsOutput, error) {
	defer s.w.enter()()
	list, next, err := selection[ec2types.TransitGatewayAttachment]{
		table: s.w.transitAttachments, id: func(v *ec2types.TransitGatewayAttachment) *string { return v.TransitGatewayAttachmentId },
		ids: in.TransitGatewayAttachmentIds, missing: notFound("InvalidTransitGatewayAttachmentID.NotFound", "transitGatewayAttachment ID"), filters: in.Filters,
		known: filters[ec2types.TransitGatewayAttachment]{
			"transit-gateway-attachment-id": func(v *ec2types.TransitGatewayAttachment) []string { return one(v.TransitGatewayAttachmentId) },
			"transit-gateway-id":            func(v *ec2types.TransitGatewayAttachment) []string { return one(v.TransitGatewayId) },
			"resource-id":                   func(v *ec2types.TransitGatewayAttachment) []string { return one(v.ResourceId) },
			"resource-type":                 func(v *ec2types.TransitGatewayAttachment) []string { return []string{string(v.ResourceType)} },
			"state":                         func(v *ec2types.TransitGatewayAttachment) []string { return []string{string(v.State)} },
		},
		tags: func(v *ec2types.TransitGatewayAttachment) []ec2types.Tag { return v.Tags },
		size: in.MaxResults, token: in.NextToken, min: ec2MinPage, max: ec2MaxPage,
	}.run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeTransitGatewayAttachmentsOutput{TransitGatewayAttachments: clones(list), NextToken: next}, nil
}
