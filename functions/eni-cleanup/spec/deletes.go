package spec

import (
	"maps"
	"slices"
	"strconv"

	"rollcall/shared/config"
	"rollcall/shared/fn"
	"rollcall/shared/network/leak"
	"rollcall/shared/plan"
)

// listed is how many clusters a statement names at most: with the longest names
// that EKS takes (100 characters) they are 2,100 characters, so that a
// statement fits into a managed policy, which takes 6,144.
const listed = 20

// Deletes is the permission to delete, as the settings have it: none where no
// cluster is in mode dry-run or delete, or has the remedy
// delete-leaked-interfaces. EC2 itself then refuses what is not
// the VPC CNI's, or of another cluster, whatever a fault in our code asks for.
//
// Both condition keys count for a network interface that is deleted:
// aws:ResourceTag in AWS's own policies (AmazonWorkSpacesWebServiceRolePolicy,
// AmazonEKSServiceRolePolicy), ec2:Vpc by the service authorization reference
// of EC2, as mirrored in udondan/iam-floyd (ec2.ts, ifVpc).
func Deletes(getenv func(string) string) ([]fn.Grant, error) {
	c, err := config.Load(getenv, chosen())
	if err != nil {
		return nil, err
	}
	var clusters []string
	for _, name := range slices.Sorted(maps.Keys(c.Cleanups)) {
		if c.CleanupOf(name) != config.Report {
			clusters = append(clusters, name)
		}
	}
	for name := range c.Remedied {
		if c.RemedyOf(name, plan.DeleteLeakedInterfaces) != plan.Off {
			clusters = append(clusters, name)
		}
	}
	slices.Sort(clusters)
	clusters = slices.Compact(clusters)
	if len(clusters) == 0 {
		return nil, nil
	}
	const tag = "aws:ResourceTag/"
	grant := fn.Grant{
		Why:     "Interfaces of dead nodes give their addresses back. EC2's dry run takes the permission too.",
		Actions: []string{"ec2:DeleteNetworkInterface"},
		// An interface has its id only when it is there.
		Resources: []fn.Resource{"arn:${Partition}:ec2:${Region}:${Account}:network-interface/*"},
	}
	var grants []fn.Grant
	for names := range slices.Chunk(clusters, listed) {
		grant.Sid = "DeleteLeakedInterfaces"
		if n := len(grants) + 1; n > 1 {
			grant.Sid += strconv.Itoa(n)
		}
		grant.Conditions = map[string]map[string][]string{
			"StringLike":   {tag + leak.TagInstance: {"i-*"}},
			"StringEquals": {tag + leak.TagCluster: names},
		}
		grants = append(grants, grant)
	}
	// A remedy takes nothing that names no cluster.
	if len(c.CleanupUntagged) == 0 || !acts(c) {
		return grants, nil
	}
	var vpcs []string
	for _, id := range c.CleanupUntagged {
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
	return append(grants, grant), nil
}

// acts tells that some cluster is in a mode that acts.
func acts(c config.Config) bool {
	for name := range c.Cleanups {
		if c.CleanupOf(name) != config.Report {
			return true
		}
	}
	return false
}
