package world

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/wire"
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

// DescribeAvailabilityZones lists the zones in which the world has subnets.
func (s EC2) DescribeAvailabilityZones(in *ec2.DescribeAvailabilityZonesInput) (*ec2.DescribeAvailabilityZonesOutput, error) {
	defer s.w.enter()()
	zones := newTable[ec2types.AvailabilityZone]()
	for _, sub := range s.w.subnets.all() {
		name := aws.ToString(sub.AvailabilityZone)
		if zones.get(name) == nil {
			zones.put(name, &ec2types.AvailabilityZone{
				ZoneName: clone(sub.AvailabilityZone), ZoneId: clone(sub.AvailabilityZoneId), RegionName: aws.String(s.w.region),
				State: ec2types.AvailabilityZoneStateAvailable, OptInStatus: ec2types.AvailabilityZoneOptInStatusOptInNotRequired,
				GroupName: aws.String(s.w.region + "-zg-1"), NetworkBorderGroup: aws.String(s.w.region), ZoneType: aws.String("availability-zone"),
			})
		}
	}
	want := slices.Clone(in.Filters)
	if len(in.ZoneIds) > 0 {
		want = append(want, ec2types.Filter{Name: aws.String("zone-id"), Values: in.ZoneIds})
	}
	list, _, err := selection[ec2types.AvailabilityZone]{
		table: zones, id: func(v *ec2types.AvailabilityZone) *string { return v.ZoneName }, ids: in.ZoneNames,
		missing: func(ids []string) *wire.Error {
			return wire.Errorf("InvalidParameterValue", "Invalid availability zone: [%s]", ids[0])
		},
		filters: want,
		known: filters[ec2types.AvailabilityZone]{
			"zone-id":     func(v *ec2types.AvailabilityZone) []string { return one(v.ZoneId) },
			"zone-name":   func(v *ec2types.AvailabilityZone) []string { return one(v.ZoneName) },
			"region-name": func(v *ec2types.AvailabilityZone) []string { return one(v.RegionName) },
			"state":       func(v *ec2types.AvailabilityZone) []string { return []string{string(v.State)} },
			"zone-type":   func(v *ec2types.AvailabilityZone) []string { return one(v.ZoneType) },
		},
	}.run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeAvailabilityZonesOutput{AvailabilityZones: clones(list)}, nil
}

// DescribeVolumes lists volumes.
func (s EC2) DescribeVolumes(in *ec2.DescribeVolumesInput) (*ec2.DescribeVolumesOutput, error) {
	defer s.w.enter()()
	list, next, err := selection[ec2types.Volume]{
		table: s.w.volumes, id: func(v *ec2types.Volume) *string { return v.VolumeId }, ids: in.VolumeIds,
		missing: notFound("InvalidVolume.NotFound", "volume"), filters: in.Filters,
		known: filters[ec2types.Volume]{
			"volume-id":         func(v *ec2types.Volume) []string { return one(v.VolumeId) },
			"status":            func(v *ec2types.Volume) []string { return []string{string(v.State)} },
			"availability-zone": func(v *ec2types.Volume) []string { return one(v.AvailabilityZone) },
			"encrypted":         func(v *ec2types.Volume) []string { return yesNo(v.Encrypted) },
			"attachment.instance-id": func(v *ec2types.Volume) []string {
				return each(v.Attachments, func(a ec2types.VolumeAttachment) *string { return a.InstanceId })
			},
		},
		tags: func(v *ec2types.Volume) []ec2types.Tag { return v.Tags },
		size: in.MaxResults, token: in.NextToken, min: ec2MinPage, max: ec2MaxPage, idsBarPaging: "volumeIds",
	}.run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVolumesOutput{Volumes: clones(list), NextToken: next}, nil
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
