package trail

import (
	"slices"
	"strings"
	"time"
)

// Lookup is one thing to ask CloudTrail for.
type Lookup struct {
	// Resource or Call is set: what CloudTrail is to look for.
	Resource, Call string
	Start, End     time.Time
	// Global tells that the records are where IAM's are, whatever region this is.
	Global bool
}

// mostCalls is how many names of calls are looked up for an incident.
const mostCalls = 10

// Lookups are what to ask CloudTrail for. By name it lists those records beside
// which it names the resource. It does not name it beside all: of a route that
// was deleted or a table that was exchanged it may list nothing. So the rare
// calls that change such a thing are looked up too, by their own names, and
// told by their requests.
func Lookups(targets []Target, w Window) []Lookup {
	var list []Lookup
	for _, t := range targets {
		if t.Kind != Access {
			list = append(list, Lookup{Resource: t.Name, Start: w.start, End: w.To, Global: t.global()})
		}
	}
	seen := 0
	for _, t := range targets {
		for _, call := range t.calls() {
			l := Lookup{Call: call, Start: w.start, End: w.To, Global: t.global()}
			if slices.Contains(associating(), call) {
				// Who made the association that was taken away later.
				l.Start = w.oldest
			}
			if seen < mostCalls && !slices.Contains(list, l) {
				list = append(list, l)
				seen++
			}
		}
	}
	return list
}

// global tells that the target's calls are recorded in one region alone.
func (t Target) global() bool { return t.Kind == Role || t.Kind == Profile }

// associating are the calls whose answers name an association of a subnet with
// a route table.
func associating() []string { return []string{"AssociateRouteTable", "ReplaceRouteTableAssociation"} }

// calls are those that change what the target does to nodes, the most likely
// first.
func (t Target) calls() []string {
	switch t.Kind {
	case RouteTable:
		return []string{"DeleteRoute", "ReplaceRoute", "CreateRoute", "ReplaceRouteTableAssociation", "AssociateRouteTable", "DisassociateRouteTable"}
	case Subnet:
		return []string{"ReplaceRouteTableAssociation", "AssociateRouteTable", "DisassociateRouteTable", "ReplaceNetworkAclAssociation", "ModifySubnetAttribute"}
	case SecurityGroup:
		return []string{"RevokeSecurityGroupIngress", "RevokeSecurityGroupEgress", "ModifySecurityGroupRules", "AuthorizeSecurityGroupIngress", "AuthorizeSecurityGroupEgress"}
	case NetworkACL:
		return []string{"CreateNetworkAclEntry", "ReplaceNetworkAclEntry", "DeleteNetworkAclEntry", "ReplaceNetworkAclAssociation"}
	case NATGateway:
		return []string{"DeleteNatGateway", "DisassociateNatGatewayAddress"}
	case Gateway:
		return []string{"DetachInternetGateway", "DeleteInternetGateway"}
	case Endpoint:
		return []string{"ModifyVpcEndpoint", "DeleteVpcEndpoints"}
	case VPC:
		return []string{"ModifyVpcAttribute", "AssociateDhcpOptions"}
	case TransitGateway:
		return []string{"DeleteTransitGatewayVpcAttachment", "ModifyTransitGateway"}
	case LaunchTemplate:
		return []string{"CreateLaunchTemplateVersion", "ModifyLaunchTemplate", "DeleteLaunchTemplateVersions"}
	case Role:
		return []string{"DetachRolePolicy", "DeleteRolePolicy", "PutRolePolicy", "AttachRolePolicy", "UpdateAssumeRolePolicy", "RemoveRoleFromInstanceProfile"}
	case Profile:
		return []string{"RemoveRoleFromInstanceProfile", "AddRoleToInstanceProfile", "DeleteInstanceProfile"}
	case Access:
		return []string{"DeleteAccessEntry", "UpdateAccessEntry", "CreateAccessEntry"}
	case Nodegroup:
		return []string{"UpdateNodegroupConfig", "UpdateNodegroupVersion", "CreateNodegroup"}
	case Group:
		return []string{"UpdateAutoScalingGroup", "SuspendProcesses"}
	case Cluster:
		return []string{"UpdateClusterConfig", "UpdateClusterVersion", "DeleteAccessEntry"}
	case Addon:
		return []string{"UpdateAddon", "DeleteAddon", "CreateAddon"}
	}
	return nil
}

// changes tells whether a call of EC2 changes things of the target's kind. Many
// calls only name one: a launch its subnet, its security groups and its launch
// template, a route of another table the NAT gateway that it leads to.
func (t Target) changes(call string) bool {
	words := map[Kind][]string{
		RouteTable:     {"Route", "VpcEndpoint"}, // a gateway endpoint has its routes in tables
		Subnet:         {"Subnet", "RouteTable", "NetworkAcl"},
		SecurityGroup:  {"SecurityGroup"},
		NetworkACL:     {"NetworkAcl"},
		NATGateway:     {"NatGateway"},
		Gateway:        {"InternetGateway"},
		Endpoint:       {"VpcEndpoint"},
		VPC:            {"VpcAttribute", "DhcpOptions", "VpcCidrBlock", "DeleteVpc", "CreateVpc"},
		TransitGateway: {"TransitGateway"},
		LaunchTemplate: {"LaunchTemplate"},
	}[t.Kind]
	return words == nil || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(call, w) })
}
