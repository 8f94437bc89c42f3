package capture

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/platform/wire"
)

// DescribeInstances answers with the instances that the capture holds.
func (a API) DescribeInstances(in *ec2.DescribeInstancesInput) (*ec2.DescribeInstancesOutput, error) {
	all, err := read[ec2.DescribeInstancesOutput](a.c, "ec2-describe-instances")
	if err != nil {
		return nil, err
	}
	var list []ec2types.Instance
	for _, r := range all.Reservations {
		list = append(list, r.Instances...)
	}
	if err := a.c.unseen(in.Filters, list); err != nil {
		return nil, err
	}
	list, err = choice[ec2types.Instance]{
		list: list, ids: in.InstanceIds, id: "InstanceId", missing: "InvalidInstanceID.NotFound", filters: in.Filters,
		also: map[string]string{
			"instance-state-name": "state.name", "availability-zone": "placement.availability-zone",
			"instance.group-id": "security-groups.group-id", "iam-instance-profile.arn": "iam-instance-profile.arn",
			"network-interface.network-interface-id": "network-interfaces.network-interface-id",
		},
	}.run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstancesOutput{}
	for _, r := range all.Reservations {
		kept := items(r.Instances, func(in ec2types.Instance) bool {
			return slices.ContainsFunc(list, func(l ec2types.Instance) bool {
				return aws.ToString(l.InstanceId) == aws.ToString(in.InstanceId)
			})
		})
		if len(kept) > 0 {
			r.Instances = kept
			out.Reservations = append(out.Reservations, r)
		}
	}
	return out, nil
}

// DescribeInstanceStatus answers with the states that the capture holds: those
// of running instances, unless it was taken with --include-all-instances.
func (a API) DescribeInstanceStatus(in *ec2.DescribeInstanceStatusInput) (*ec2.DescribeInstanceStatusOutput, error) {
	all, err := read[ec2.DescribeInstanceStatusOutput](a.c, "ec2-describe-instance-status")
	if err != nil {
		return nil, err
	}
	list := all.InstanceStatuses
	if len(in.InstanceIds) > 0 {
		list = items(list, func(s ec2types.InstanceStatus) bool {
			return slices.Contains(in.InstanceIds, aws.ToString(s.InstanceId))
		})
	}
	list, err = choice[ec2types.InstanceStatus]{
		list: list, filters: in.Filters, also: map[string]string{"instance-state-name": "instance-state.name"},
	}.run()
	return &ec2.DescribeInstanceStatusOutput{InstanceStatuses: list}, err
}

// DescribeInstanceTypes answers for types that the capture holds. One that it
// does not hold was not looked up: EC2 has all that an instance can be of.
func (a API) DescribeInstanceTypes(in *ec2.DescribeInstanceTypesInput) (*ec2.DescribeInstanceTypesOutput, error) {
	const file = "ec2-describe-instance-types"
	all, err := read[ec2.DescribeInstanceTypesOutput](a.c, file)
	if err != nil {
		return nil, err
	}
	list := all.InstanceTypes
	if len(in.InstanceTypes) > 0 {
		list = items(list, func(t ec2types.InstanceTypeInfo) bool { return slices.Contains(in.InstanceTypes, t.InstanceType) })
	}
	for _, want := range in.InstanceTypes {
		if !slices.ContainsFunc(list, func(t ec2types.InstanceTypeInfo) bool { return t.InstanceType == want }) {
			return nil, wire.Errorf(NotCaptured, "%s.json "+NotAmong+" %s", file, want)
		}
	}
	list, err = choice[ec2types.InstanceTypeInfo]{list: list, filters: in.Filters}.run()
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: list}, err
}

// DescribeInstanceTypeOfferings answers with those that the capture holds, which
// are those of the zones.
func (a API) DescribeInstanceTypeOfferings(in *ec2.DescribeInstanceTypeOfferingsInput) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	all, err := read[ec2.DescribeInstanceTypeOfferingsOutput](a.c, "ec2-describe-instance-type-offerings")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.InstanceTypeOffering]{
		list: items(all.InstanceTypeOfferings, func(o ec2types.InstanceTypeOffering) bool { return o.LocationType == in.LocationType }), filters: in.Filters,
	}.run()
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: list}, err
}

// DescribeCapacityReservations answers with those of the region.
func (a API) DescribeCapacityReservations(in *ec2.DescribeCapacityReservationsInput) (*ec2.DescribeCapacityReservationsOutput, error) {
	all, err := read[ec2.DescribeCapacityReservationsOutput](a.c, "ec2-describe-capacity-reservations")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.CapacityReservation]{
		list: all.CapacityReservations, ids: in.CapacityReservationIds, id: "CapacityReservationId", missing: "InvalidCapacityReservationId.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeCapacityReservationsOutput{CapacityReservations: list}, err
}

// DescribePlacementGroups answers with those of the region.
func (a API) DescribePlacementGroups(in *ec2.DescribePlacementGroupsInput) (*ec2.DescribePlacementGroupsOutput, error) {
	all, err := read[ec2.DescribePlacementGroupsOutput](a.c, "ec2-describe-placement-groups")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.PlacementGroup]{
		list: all.PlacementGroups, ids: in.GroupIds, id: "GroupId", missing: "InvalidPlacementGroup.Unknown", filters: in.Filters,
	}.run()
	return &ec2.DescribePlacementGroupsOutput{PlacementGroups: list}, err
}

// DescribeInstanceAttribute answers with the one attribute that was asked for.
func (a API) DescribeInstanceAttribute(in *ec2.DescribeInstanceAttributeInput) (*ec2.DescribeInstanceAttributeOutput, error) {
	all, err := read[ec2.DescribeInstanceAttributeOutput](a.c, "ec2-describe-instance-attribute", aws.ToString(in.InstanceId), string(in.Attribute))
	if err != nil {
		return nil, err
	}
	out := *all
	out.InstanceId = in.InstanceId
	if out.UserData == nil {
		out.UserData = &ec2types.AttributeValue{}
	} else {
		out.UserData = &ec2types.AttributeValue{Value: inBase64(out.UserData.Value)}
	}
	return &out, nil
}

// GetConsoleOutput answers with the console's text. The CLI has decoded it;
// the API's answer is base64.
func (a API) GetConsoleOutput(in *ec2.GetConsoleOutputInput) (*ec2.GetConsoleOutputOutput, error) {
	all, err := read[ec2.GetConsoleOutputOutput](a.c, "ec2-get-console-output", aws.ToString(in.InstanceId))
	if err != nil {
		return nil, err
	}
	out := *all
	out.InstanceId, out.Output = in.InstanceId, inBase64(out.Output)
	return &out, nil
}

// inBase64 is text as EC2 sends it. What is base64 already is left as it is:
// a console's text never is, as it has spaces and brackets.
func inBase64(text *string) *string {
	if text == nil || *text == "" {
		return text
	}
	packed := strings.Join(strings.Fields(*text), "")
	if _, err := base64.StdEncoding.DecodeString(packed); err == nil {
		return &packed
	}
	return aws.String(base64.StdEncoding.EncodeToString([]byte(*text)))
}

// DescribeVpcAttribute answers with one attribute of a VPC.
func (a API) DescribeVpcAttribute(in *ec2.DescribeVpcAttributeInput) (*ec2.DescribeVpcAttributeOutput, error) {
	return read[ec2.DescribeVpcAttributeOutput](a.c, "ec2-describe-vpc-attribute", aws.ToString(in.VpcId), string(in.Attribute))
}

// GetManagedPrefixListEntries answers with the entries of a list.
func (a API) GetManagedPrefixListEntries(in *ec2.GetManagedPrefixListEntriesInput) (*ec2.GetManagedPrefixListEntriesOutput, error) {
	return read[ec2.GetManagedPrefixListEntriesOutput](a.c, "ec2-get-managed-prefix-list-entries", aws.ToString(in.PrefixListId))
}

// GetSubnetCidrReservations answers with the reservations of a subnet.
func (a API) GetSubnetCidrReservations(in *ec2.GetSubnetCidrReservationsInput) (*ec2.GetSubnetCidrReservationsOutput, error) {
	return read[ec2.GetSubnetCidrReservationsOutput](a.c, "ec2-get-subnet-cidr-reservations", aws.ToString(in.SubnetId))
}

// SearchTransitGatewayRoutes answers with the routes of a table.
func (a API) SearchTransitGatewayRoutes(in *ec2.SearchTransitGatewayRoutesInput) (*ec2.SearchTransitGatewayRoutesOutput, error) {
	all, err := read[ec2.SearchTransitGatewayRoutesOutput](a.c, "ec2-search-transit-gateway-routes", aws.ToString(in.TransitGatewayRouteTableId))
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.TransitGatewayRoute]{
		list: all.Routes, filters: in.Filters,
		also: map[string]string{
			"attachment.transit-gateway-attachment-id": "transit-gateway-attachments.transit-gateway-attachment-id",
			"attachment.resource-id":                   "transit-gateway-attachments.resource-id",
			"attachment.resource-type":                 "transit-gateway-attachments.resource-type",
		},
	}.run()
	return &ec2.SearchTransitGatewayRoutesOutput{Routes: list, AdditionalRoutesAvailable: all.AdditionalRoutesAvailable}, err
}

// DescribeLaunchTemplateVersions answers with the versions that the capture
// holds. The file holds those of the templates that somebody looked at: one
// that it lacks was not looked at, unless it says that there is none at all.
func (a API) DescribeLaunchTemplateVersions(in *ec2.DescribeLaunchTemplateVersionsInput) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
	const file = "ec2-describe-launch-template-versions"
	all, err := read[ec2.DescribeLaunchTemplateVersionsOutput](a.c, file)
	if err != nil {
		return nil, err
	}
	id, name := aws.ToString(in.LaunchTemplateId), aws.ToString(in.LaunchTemplateName)
	list := items(all.LaunchTemplateVersions, func(v ec2types.LaunchTemplateVersion) bool {
		return (id == "" || aws.ToString(v.LaunchTemplateId) == id) && (name == "" || aws.ToString(v.LaunchTemplateName) == name)
	})
	switch {
	case len(list) == 0 && len(all.LaunchTemplateVersions) == 0 && id != "":
		return nil, wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
	case len(list) == 0 && len(all.LaunchTemplateVersions) == 0 && name != "":
		return nil, wire.Errorf("InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does not exist.")
	case len(list) == 0:
		return nil, wire.Errorf(NotCaptured, "%s.json of the capture does not hold the launch template %s%s", file, id, name)
	}
	out := &ec2.DescribeLaunchTemplateVersionsOutput{}
	if len(in.Versions) == 0 {
		out.LaunchTemplateVersions = list
		return out, nil
	}
	for _, want := range in.Versions {
		v, ok := version(list, want)
		if !ok {
			return nil, wire.Errorf(NotCaptured, "%s.json of the capture does not hold the version %s of the launch template %s%s", file, want, id, name)
		}
		out.LaunchTemplateVersions = append(out.LaunchTemplateVersions, v)
	}
	for i, v := range out.LaunchTemplateVersions {
		if d := v.LaunchTemplateData; d != nil && d.UserData != nil {
			data := *d
			data.UserData = inBase64(d.UserData)
			out.LaunchTemplateVersions[i].LaunchTemplateData = &data
		}
	}
	return out, nil
}

// version finds a version by its number, "$Latest" or "$Default". The newest
// that was captured is taken for the latest.
func version(list []ec2types.LaunchTemplateVersion, want string) (ec2types.LaunchTemplateVersion, bool) {
	i := -1
	switch want {
	case "$Latest":
		for k, v := range list {
			if i < 0 || aws.ToInt64(v.VersionNumber) > aws.ToInt64(list[i].VersionNumber) {
				i = k
			}
		}
	case "$Default":
		i = slices.IndexFunc(list, func(v ec2types.LaunchTemplateVersion) bool { return aws.ToBool(v.DefaultVersion) })
	default:
		i = slices.IndexFunc(list, func(v ec2types.LaunchTemplateVersion) bool {
			return strconv.FormatInt(aws.ToInt64(v.VersionNumber), 10) == want
		})
	}
	if i < 0 {
		return ec2types.LaunchTemplateVersion{}, false
	}
	return list[i], true
}

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
