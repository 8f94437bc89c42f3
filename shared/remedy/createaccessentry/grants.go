package createaccessentry

import (
	"rollcall/shared/spec"

	"rollcall/shared/remedy/action"
)

// grants are for the roles that the operator named, and for nodes' entries alone.
//
// That eks:accessEntryType (String) and eks:principalArn (ARN) count in
// CreateAccessEntry stands in a public list made from the service authorization
// reference (list_amazonelastickubernetesservice, "Condition keys"). AWS's own
// AmazonPrometheusScraperServiceRolePolicy narrows by eks:principalArn with
// ArnLike, which is the same as ArnEquals (IAM user guide, "ARN condition
// operators"). It was not tried in AWS.
func grants(o action.OptIn) []spec.Grant {
	var grants []spec.Grant
	for _, roles := range upTo(o.Roles, roleCharacters) {
		list := o.ByARN("arn:${Partition}:eks:${Region}:${Account}:cluster/%s", spec.Grant{
			Sid: "AdmitRoles", Why: "create-access-entry lets the node roles that the operator named into the cluster, as nodes and as nothing else.",
			Actions:    []string{"eks:CreateAccessEntry"},
			Conditions: map[string]map[string][]string{"StringEquals": {"eks:accessEntryType": {"EC2_LINUX", "EC2_WINDOWS"}}, "ArnEquals": {"eks:principalArn": roles}},
		})
		for i := range list {
			list[i].Sid = action.Numbered("AdmitRoles", len(grants)+i)
		}
		grants = append(grants, list...)
	}
	return grants
}

// roleCharacters is how long the ARNs of roles in a statement are together, so
// that it fits into a managed policy with those of its clusters.
const roleCharacters = 2_400

// upTo splits a list into parts of at most so many characters each, or of one
// element.
func upTo(list []string, most int) [][]string {
	var parts [][]string
	var left int // of the last part
	for _, text := range list {
		size := len(text) + len(`"",`)
		if size > left {
			parts, left = append(parts, nil), most
		}
		left -= size
		last := len(parts) - 1
		parts[last] = append(parts[last], text)
	}
	return parts
}
