package deleteleakedinterfaces

import (
	"slices"

	"rollcall/shared/spec"

	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/action"
)

// listed is how many clusters a statement names at most: with the longest names
// that EKS takes (100 characters) they are 2,100 characters, so that a
// statement fits into a managed policy, which takes 6,144.
const listed = 20

// Grants allow eni-cleanup to delete what nodes of these clusters left behind,
// and in the VPCs what names no cluster. EC2 itself then refuses what is not the
// VPC CNI's, or of another cluster, whatever a fault in our code asks for.
//
// Both condition keys count for a network interface that is deleted:
// aws:ResourceTag in AWS's own policies (AmazonWorkSpacesWebServiceRolePolicy,
// AmazonEKSServiceRolePolicy), ec2:Vpc by the service authorization reference
// of EC2, as mirrored in udondan/iam-floyd (ec2.ts, ifVpc).
func Grants(clusters, untagged []string) []spec.Grant {
	const tag = "aws:ResourceTag/"
	grant := spec.Grant{
		Why:     "Interfaces of dead nodes give their addresses back. EC2's dry run takes the permission too.",
		Actions: []string{"ec2:DeleteNetworkInterface"},
		// An interface has its id only when it is there.
		Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:network-interface/*"},
	}
	var grants []spec.Grant
	for names := range slices.Chunk(clusters, listed) {
		grant.Sid = "DeleteLeakedInterfaces"
		if n := len(grants); n > 0 {
			grant.Sid = action.Numbered(grant.Sid, n)
		}
		grant.Conditions = map[string]map[string][]string{
			"StringLike":   {tag + leak.TagInstance: {"i-*"}},
			"StringEquals": {tag + leak.TagCluster: names},
		}
		grants = append(grants, grant)
	}
	if len(untagged) == 0 {
		return grants
	}
	var vpcs []string
	for _, id := range untagged {
		// A shared VPC bears its owner's account.
		vpcs = append(vpcs, "arn:${Partition}:ec2:${Region}:*:vpc/"+id)
	}
	grant.Sid = "DeleteLeakedInterfacesWithoutCluster"
	grant.Why = "The VPC CNI without CLUSTER_NAME names no cluster; the operator opted these VPCs in."
	grant.Conditions = map[string]map[string][]string{
		"StringLike": {tag + leak.TagInstance: {"i-*"}},
		"Null":       {tag + leak.TagCluster: {"true"}},
		"ArnLike":    {"ec2:Vpc": vpcs},
	}
	return append(grants, grant)
}
