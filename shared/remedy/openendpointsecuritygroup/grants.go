package openendpointsecuritygroup

import (
	"rollcall/shared/spec"

	"rollcall/shared/remedy/action"
)

func grants(o action.OptIn) []spec.Grant {
	return o.InVPCs(spec.Grant{
		Sid: "OpenEndpoints", Why: "open-endpoint-security-group admits nodes at endpoints, in the VPCs that the operator named.",
		Actions: []string{"ec2:AuthorizeSecurityGroupIngress"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:security-group/*"},
	})
}
