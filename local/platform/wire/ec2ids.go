package wire

import (
	"regexp"
	"strings"
)

// idForm is how the ids of one kind of EC2's resources look, and what EC2 says
// of one that does not. The codes are those of the EC2 API reference, "Error
// codes for the Amazon EC2 API"; parameters that it has no such code for are
// not looked at.
type idForm struct{ prefix, code string }

// idForms are the parameters that are ids, by their Go fields' names without
// the plural's s.
func idForms() map[string]idForm {
	return map[string]idForm{
		"InstanceId":             {"i", "InvalidInstanceID.Malformed"},
		"SubnetId":               {"subnet", "InvalidSubnetID.Malformed"},
		"VpcId":                  {"vpc", "InvalidVpcID.Malformed"},
		"GroupId":                {"sg", "InvalidGroupId.Malformed"},
		"SecurityGroupId":        {"sg", "InvalidGroupId.Malformed"},
		"RouteTableId":           {"rtb", "InvalidRouteTableId.Malformed"},
		"NetworkInterfaceId":     {"eni", "InvalidNetworkInterfaceId.Malformed"},
		"NetworkAclId":           {"acl", "InvalidNetworkAclId.Malformed"},
		"NatGatewayId":           {"nat", "NatGatewayMalformed"},
		"InternetGatewayId":      {"igw", "InvalidInternetGatewayId.Malformed"},
		"VolumeId":               {"vol", "InvalidVolumeID.Malformed"},
		"ImageId":                {"ami", "InvalidAMIID.Malformed"},
		"LaunchTemplateId":       {"lt", "InvalidLaunchTemplateId.Malformed"},
		"PrefixListId":           {"pl", "InvalidPrefixListId.Malformed"},
		"VpcEndpointId":          {"vpce", "InvalidVpcEndpointId.Malformed"},
		"VpcPeeringConnectionId": {"pcx", "InvalidVpcPeeringConnectionId.Malformed"},
		"AttachmentId":           {"eni-attach", "InvalidNetworkInterfaceAttachmentId.Malformed"},
	}
}

// digits are those of an id behind its prefix: 8 of the old form, 17 of the new
// one. Amazon's own prefix lists and old resources have 8.
var digits = regexp.MustCompile(`^([0-9a-f]{8}|[0-9a-f]{17})$`)

// malformed finds the first id in a request to EC2 that cannot be one. Filters
// are not ids: EC2 looks for their values and finds nothing.
func malformed(in map[string]any) *Error {
	forms := idForms()
	for _, name := range sortedKeysOf(in) {
		form, ok := forms[strings.TrimSuffix(name, "s")]
		if !ok {
			continue
		}
		values, list := in[name].([]any)
		if !list {
			values = []any{in[name]}
		}
		for _, v := range values {
			id, _ := v.(string)
			rest, ok := strings.CutPrefix(id, form.prefix+"-")
			if !ok {
				return Errorf(form.code, "Invalid id: \"%s\" (expecting \"%s-...\")", id, form.prefix)
			}
			if !digits.MatchString(rest) {
				return Errorf(form.code, "Invalid id: \"%s\"", id)
			}
		}
	}
	return nil
}
