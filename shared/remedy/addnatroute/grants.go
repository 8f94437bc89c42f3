package addnatroute

import (
	"rollcall/shared/fn"
	"rollcall/shared/remedy/action"
)

func grants(o action.OptIn) []fn.Grant {
	return o.InVPCs(fn.Grant{
		Sid: "AddRoutes", Why: "add-nat-route adds a default route to a NAT gateway, in the VPCs that the operator named.",
		Actions: []string{"ec2:CreateRoute"}, Resources: []fn.Resource{"arn:${Partition}:ec2:${Region}:${Account}:route-table/*"},
	})
}
