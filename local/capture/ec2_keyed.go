package capture

import (
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
)

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
