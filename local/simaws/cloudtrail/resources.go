package cloudtrail

import (
	"maps"
	"slices"
	"strings"
)

// ResourcesOf are the resources that CloudTrail lists with a call, so that it
// is found by them: those of the services whose resources its event history
// knows (CloudTrail's guide, "resource types supported by event history"). EKS
// is not among them: a nodegroup's calls have an empty list, and are found by
// their source or name.
func ResourcesOf(r *Record) []Resource {
	var out []Resource
	if r.EventSource == "eks.amazonaws.com" {
		return nil
	}
	listed(r.RequestParameters, &out)
	listed(r.ResponseElements, &out)
	return out
}

// resourceType is what a parameter of that name is the name of.
func resourceType(key, value string) string {
	prefix, _, _ := strings.Cut(value, "-")
	switch key {
	case "routeTableId", "vpcId", "subnetId", "natGatewayId", "gatewayId", "groupId", "instanceId", "networkInterfaceId",
		"vpcEndpointId", "volumeId", "launchTemplateId", "imageId", "networkAclId", "internetGatewayId", "resourceId", "allocationId":
		return map[string]string{
			"rtb": "AWS::EC2::RouteTable", "vpc": "AWS::EC2::VPC", "subnet": "AWS::EC2::Subnet", "nat": "AWS::EC2::NatGateway",
			"igw": "AWS::EC2::InternetGateway", "sg": "AWS::EC2::SecurityGroup", "i": "AWS::EC2::Instance", "eni": "AWS::EC2::NetworkInterface",
			"vpce": "AWS::EC2::VPCEndpoint", "vol": "AWS::EC2::Volume", "lt": "AWS::EC2::LaunchTemplate", "ami": "AWS::EC2::Ami",
			"acl": "AWS::EC2::NetworkAcl", "eipalloc": "AWS::EC2::EIP",
		}[prefix]
	case "autoScalingGroupName":
		return "AWS::AutoScaling::AutoScalingGroup"
	case "roleName":
		return "AWS::IAM::Role"
	case "instanceProfileName":
		return "AWS::IAM::InstanceProfile"
	case "policyArn":
		return "AWS::IAM::Policy"
	}
	return ""
}

// listed walks what a call said and was told, and collects the names.
func listed(v any, out *[]Resource) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[key].(string); ok {
				found := Resource{ResourceType: resourceType(key, text), ResourceName: text}
				if found.ResourceType != "" && !slices.Contains(*out, found) {
					*out = append(*out, found)
				}
				continue
			}
			listed(v[key], out)
		}
	case []any:
		for _, item := range v {
			listed(item, out)
		}
	}
}
