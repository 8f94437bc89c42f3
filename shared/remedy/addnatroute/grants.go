package addnatroute

import (
	"rollcall/shared/spec"

	"rollcall/shared/remedy/action"
)

func grants(o action.OptIn) []spec.Grant {
	return o.InVPCs(spec.Grant{
		Sid: "AddRoutes", Why: "add-nat-route adds a default route to a NAT gateway, in the VPCs that the operator named.",
		Actions: []string{"ec2:CreateRoute"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:route-table/*"},
	})
}
