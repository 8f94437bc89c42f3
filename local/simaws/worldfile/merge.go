package worldfile

import (
	"strings"
)

// deleteKey marks an item of a list that a world takes away from the world it
// extends: {NatGatewayId: nat-1, $delete: true}.
const deleteKey = "$delete"

// identity names the field that tells the items of a list apart. A list that
// is not here (routes, faults, the timeline) is replaced as a whole.
func identity(list string) string {
	switch strings.ToLower(list) {
	case "vpcs":
		return "VpcId"
	case "subnets":
		return "SubnetId"
	case "routetables":
		return "RouteTableId"
	case "natgateways":
		return "NatGatewayId"
	case "internetgateways":
		return "InternetGatewayId"
	case "egressonlyinternetgateways":
		return "EgressOnlyInternetGatewayId"
	case "vpcendpoints":
		return "VpcEndpointId"
	case "securitygroups":
		return "GroupId"
	case "networkacls":
		return "NetworkAclId"
	case "networkinterfaces":
		return "NetworkInterfaceId"
	case "instances":
		return "InstanceId"
	case "reservations":
		return "ReservationId"
	case "instancetypes":
		return "InstanceType"
	case "images":
		return "ImageId"
	case "launchtemplates", "launchtemplateversions":
		return "LaunchTemplateId"
	case "addresses":
		return "AllocationId"
	case "prefixlists", "managedprefixlists":
		return "PrefixListId"
	case "dhcpoptions":
		return "DhcpOptionsId"
	case "volumes":
		return "VolumeId"
	case "vpcpeeringconnections":
		return "VpcPeeringConnectionId"
	case "transitgatewayattachments":
		return "TransitGatewayAttachmentId"
	case "autoscalinggroups":
		return "AutoScalingGroupName"
	case "activities":
		return "ActivityId"
	case "clusters":
		return "name"
	case "nodegroups":
		return "nodegroupName"
	case "addons":
		return "addonName"
	case "podidentityassociations":
		return "associationId"
	case "accessentries":
		return "principalArn"
	case "roles":
		return "RoleName"
	case "instanceprofiles":
		return "InstanceProfileName"
	case "policies":
		return "PolicyName"
	}
	return ""
}

// merge lays over on base: mappings by key, lists of resources by the
// resource's id, everything else replaced.
func merge(base, over map[string]any) map[string]any {
	out := make(map[string]any, len(base)+len(over))
	for k, v := range base {
		out[k] = v
	}
	for k, v := range over {
		at := keyLike(out, k)
		old := out[at]
		delete(out, at)
		out[k] = mergeValue(k, old, v)
	}
	return out
}

func mergeValue(key string, old, new any) any {
	switch n := new.(type) {
	case map[string]any:
		if o, ok := old.(map[string]any); ok {
			return merge(o, n)
		}
	case []any:
		id := identity(key)
		o, _ := old.([]any)
		if id != "" && listOfMaps(o) && listOfMaps(n) {
			return mergeList(id, o, n)
		}
	}
	return new
}

func mergeList(id string, old, new []any) []any {
	out := append([]any{}, old...)
	for _, item := range new {
		m := item.(map[string]any)
		name, _ := m[keyLike(m, id)].(string)
		i := indexOf(out, id, name)
		_, gone := m[deleteKey]
		switch {
		case gone && i >= 0:
			out = append(out[:i], out[i+1:]...)
		case gone:
		case i >= 0 && name != "":
			out[i] = merge(out[i].(map[string]any), m)
		default:
			out = append(out, m)
		}
	}
	return out
}

func indexOf(list []any, id, name string) int {
	for i, item := range list {
		m := item.(map[string]any)
		if v, _ := m[keyLike(m, id)].(string); v == name {
			return i
		}
	}
	return -1
}

func listOfMaps(list []any) bool {
	for _, item := range list {
		if _, ok := item.(map[string]any); !ok {
			return false
		}
	}
	return true
}

// keyLike is the key of m that equals key without case, else key itself.
func keyLike(m map[string]any, key string) string {
	if _, ok := m[key]; ok {
		return key
	}
	for k := range m {
		if strings.EqualFold(k, key) {
			return k
		}
	}
	return key
}

// withoutDeleted is the tree without the items marked as taken away, for
// checking the fields of a file that extends another.
func withoutDeleted(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, item := range t {
			out[k] = withoutDeleted(item)
		}
		return out
	case []any:
		out := make([]any, 0, len(t))
		for _, item := range t {
			if m, ok := item.(map[string]any); ok {
				if _, gone := m[deleteKey]; gone {
					continue
				}
			}
			out = append(out, withoutDeleted(item))
		}
		return out
	}
	return v
}
