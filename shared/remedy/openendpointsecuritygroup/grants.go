package openendpointsecuritygroup

import (
	"rollcall/shared/fn"
	"rollcall/shared/remedy/action"
)

func grants(o action.OptIn) []fn.Grant {
	return o.InVPCs(fn.Grant{
		Sid: "OpenEndpoints", Why: "open-endpoint-security-group admits nodes at endpoints, in the VPCs that the operator named.",
		Actions: []string{"ec2:AuthorizeSecurityGroupIngress"}, Resources: []fn.Resource{"arn:${Partition}:ec2:${Region}:${Account}:security-group/*"},
	})
}
