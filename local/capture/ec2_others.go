package capture

import (
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
)

// DescribeDhcpOptions answers with those that the capture holds.
func (a API) DescribeDhcpOptions(in *ec2.DescribeDhcpOptionsInput) (*ec2.DescribeDhcpOptionsOutput, error) {
	all, err := read[ec2.DescribeDhcpOptionsOutput](a.c, "ec2-describe-dhcp-options")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.DhcpOptions]{
		list: all.DhcpOptions, ids: in.DhcpOptionsIds, id: "DhcpOptionsId", missing: "InvalidDhcpOptionID.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeDhcpOptionsOutput{DhcpOptions: list}, err
}

// DescribeNetworkInterfaces answers with those that the capture holds.
func (a API) DescribeNetworkInterfaces(in *ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
	all, err := read[ec2.DescribeNetworkInterfacesOutput](a.c, "ec2-describe-network-interfaces")
	if err != nil {
		return nil, err
	}
	if err := a.c.uncounted(in.Filters); err != nil {
		return nil, err
	}
	list, err := choice[ec2types.NetworkInterface]{
		list: all.NetworkInterfaces, ids: in.NetworkInterfaceIds, id: "NetworkInterfaceId", missing: "InvalidNetworkInterfaceID.NotFound", filters: in.Filters,
		also: map[string]string{"group-id": "groups.group-id", "addresses.private-ip-address": "private-ip-addresses.private-ip-address"},
	}.run()
	return &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: list}, err
}

// DescribeVolumes answers with those that the capture holds.
func (a API) DescribeVolumes(in *ec2.DescribeVolumesInput) (*ec2.DescribeVolumesOutput, error) {
	all, err := read[ec2.DescribeVolumesOutput](a.c, "ec2-describe-volumes")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.Volume]{
		list: all.Volumes, ids: in.VolumeIds, id: "VolumeId", missing: "InvalidVolume.NotFound", filters: in.Filters,
		also: map[string]string{"status": "state"},
	}.run()
	return &ec2.DescribeVolumesOutput{Volumes: list}, err
}

// DescribeAvailabilityZones answers with those that the capture holds.
func (a API) DescribeAvailabilityZones(in *ec2.DescribeAvailabilityZonesInput) (*ec2.DescribeAvailabilityZonesOutput, error) {
	all, err := read[ec2.DescribeAvailabilityZonesOutput](a.c, "ec2-describe-availability-zones")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.AvailabilityZone]{
		list: all.AvailabilityZones, ids: in.ZoneNames, id: "ZoneName", missing: "InvalidParameterValue", filters: in.Filters,
	}.run()
	return &ec2.DescribeAvailabilityZonesOutput{AvailabilityZones: list}, err
}

// DescribeImages answers with those that the capture holds.
func (a API) DescribeImages(in *ec2.DescribeImagesInput) (*ec2.DescribeImagesOutput, error) {
	if len(in.Owners) > 0 {
		return nil, wire.Errorf(NotCaptured, "a capture holds the images that something names, and not all of an owner")
	}
	all, err := read[ec2.DescribeImagesOutput](a.c, "ec2-describe-images")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.Image]{
		list: all.Images, ids: in.ImageIds, id: "ImageId", missing: "InvalidAMIID.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeImagesOutput{Images: list}, err
}

// DescribeInstanceImageMetadata answers with the images of instances that the capture holds.
func (a API) DescribeInstanceImageMetadata(in *ec2.DescribeInstanceImageMetadataInput) (*ec2.DescribeInstanceImageMetadataOutput, error) {
	all, err := read[ec2.DescribeInstanceImageMetadataOutput](a.c, "ec2-describe-instance-image-metadata")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.InstanceImageMetadata]{
		list: all.InstanceImageMetadata, ids: in.InstanceIds, id: "InstanceId", missing: "InvalidInstanceID.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeInstanceImageMetadataOutput{InstanceImageMetadata: list}, err
}

// DescribeManagedPrefixLists answers with those that the capture holds.
func (a API) DescribeManagedPrefixLists(in *ec2.DescribeManagedPrefixListsInput) (*ec2.DescribeManagedPrefixListsOutput, error) {
	all, err := read[ec2.DescribeManagedPrefixListsOutput](a.c, "ec2-describe-managed-prefix-lists")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.ManagedPrefixList]{
		list: all.PrefixLists, ids: in.PrefixListIds, id: "PrefixListId", missing: "InvalidPrefixListID.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeManagedPrefixListsOutput{PrefixLists: list}, err
}

// DescribeVpcPeeringConnections answers with those that the capture holds.
func (a API) DescribeVpcPeeringConnections(in *ec2.DescribeVpcPeeringConnectionsInput) (*ec2.DescribeVpcPeeringConnectionsOutput, error) {
	all, err := read[ec2.DescribeVpcPeeringConnectionsOutput](a.c, "ec2-describe-vpc-peering-connections")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.VpcPeeringConnection]{
		list: all.VpcPeeringConnections, ids: in.VpcPeeringConnectionIds, id: "VpcPeeringConnectionId", missing: "InvalidVpcPeeringConnectionID.NotFound", filters: in.Filters,
		also: map[string]string{"status-code": "status.code"},
	}.run()
	return &ec2.DescribeVpcPeeringConnectionsOutput{VpcPeeringConnections: list}, err
}

// DescribeTransitGatewayAttachments answers with those that the capture holds.
func (a API) DescribeTransitGatewayAttachments(in *ec2.DescribeTransitGatewayAttachmentsInput) (*ec2.DescribeTransitGatewayAttachmentsOutput, error) {
	all, err := read[ec2.DescribeTransitGatewayAttachmentsOutput](a.c, "ec2-describe-transit-gateway-attachments")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.TransitGatewayAttachment]{
		list: all.TransitGatewayAttachments, ids: in.TransitGatewayAttachmentIds, id: "TransitGatewayAttachmentId", missing: "InvalidTransitGatewayAttachmentID.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeTransitGatewayAttachmentsOutput{TransitGatewayAttachments: list}, err
}

// DescribeTransitGatewayRouteTables answers with those that the capture holds.
func (a API) DescribeTransitGatewayRouteTables(in *ec2.DescribeTransitGatewayRouteTablesInput) (*ec2.DescribeTransitGatewayRouteTablesOutput, error) {
	all, err := read[ec2.DescribeTransitGatewayRouteTablesOutput](a.c, "ec2-describe-transit-gateway-route-tables")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.TransitGatewayRouteTable]{
		list: all.TransitGatewayRouteTables, ids: in.TransitGatewayRouteTableIds, id: "TransitGatewayRouteTableId", missing: "InvalidRouteTableID.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeTransitGatewayRouteTablesOutput{TransitGatewayRouteTables: list}, err
}
