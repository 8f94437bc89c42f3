package action

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/spec"
)

// OptIn is what an operator lets a remedy do.
type OptIn struct {
	// Clusters are those that have opted in to the remedy, Any those that have to
	// any, sorted.
	Clusters, Any []string
	// VPCs are those in which remedies may change the network, Roles the ARNs of the
	// roles that may be added as nodes.
	VPCs, Roles []string
}

// InVPCs narrows a grant by VPC; without a cluster or a VPC there is none.
//
// That ec2:Vpc (compared with ArnEquals) counts for route tables in CreateRoute
// and for security groups in AuthorizeSecurityGroupIngress stands in public lists
// made from the service authorization reference (github.com/udondan/iam-floyd,
// lib/generated/amazonec2.ts, ifVpc). It was not tried in AWS. A key that did not
// count would make AWS refuse the call: the remedy would fail and say so, not act
// more widely.
func (o OptIn) InVPCs(grant spec.Grant) []spec.Grant {
	if len(o.VPCs) == 0 || len(o.Clusters) == 0 {
		return nil
	}
	var vpcs []string
	for _, id := range o.VPCs {
		vpcs = append(vpcs, "arn:${Partition}:ec2:${Region}:${Account}:vpc/"+id)
	}
	grant.Conditions = map[string]map[string][]string{"ArnEquals": {"ec2:Vpc": vpcs}}
	return []spec.Grant{grant}
}

// ToGroups gives a grant on the Auto Scaling groups that are owned by the
// clusters that have opted in. A group is its cluster's by a tag whose key holds
// the cluster's name, and a statement holds only where all its keys do: there is
// one for each cluster. Remedies share them (Join).
//
// That aws:ResourceTag counts for groups in SetDesiredCapacity and
// TerminateInstanceInAutoScalingGroup is what the cluster autoscaler's policies
// rest on (aws:ResourceTag/k8s.io/cluster-autoscaler/CLUSTER). It was not tried in
// AWS.
func (o OptIn) ToGroups(call, why string) []spec.Grant {
	var grants []spec.Grant
	for _, cluster := range o.Clusters {
		grants = append(grants, spec.Grant{
			// The number makes ids unique: a cluster's name may hold what an id may not.
			Sid: Numbered("ChangeGroups", slices.Index(o.Any, cluster)), Why: why, Actions: []string{call},
			Resources:  []spec.Resource{"arn:${Partition}:autoscaling:${Region}:${Account}:autoScalingGroup:*"},
			Conditions: map[string]map[string][]string{"StringEquals": {"aws:ResourceTag/" + ClusterTag(cluster): {"owned"}}},
		})
	}
	return grants
}

// listed is how many clusters a statement names at most: with the longest names
// that EKS takes (100 characters) their ARNs are then 3,300 characters, so that
// a statement fits into a managed policy, which takes 6,144.
const listed = 20

// ByARN gives a grant on what is of the clusters that have opted in, and of no
// other: a statement holds for any of its resources. The form has %s for a
// cluster's name.
func (o OptIn) ByARN(form string, grant spec.Grant) []spec.Grant {
	var arns []spec.Resource
	for _, cluster := range o.Clusters {
		arns = append(arns, spec.Resource(strings.Replace(form, "%s", cluster, 1)))
	}
	var grants []spec.Grant
	for list := range slices.Chunk(arns, listed) {
		g := grant
		g.Sid, g.Resources = Numbered(grant.Sid, len(grants)), list
		grants = append(grants, g)
	}
	return grants
}

// Numbered is the id of the n-th statement of a kind, from 0.
func Numbered(sid string, n int) string { return sid + strconv.Itoa(n+1) }

// Join makes one statement of those of the same id, which remedies share: on the
// same resources, under the same conditions. Numbered ones come together, by their
// number.
func Join(grants []spec.Grant) []spec.Grant {
	var joined []spec.Grant
	for _, g := range grants {
		i := slices.IndexFunc(joined, func(x spec.Grant) bool { return x.Sid == g.Sid })
		if i < 0 {
			joined = append(joined, g)
			continue
		}
		joined[i].Actions = slices.Concat(joined[i].Actions, g.Actions)
		joined[i].Why += " " + g.Why
	}
	kind := func(g spec.Grant) string { return strings.TrimRight(g.Sid, "0123456789") }
	var kinds []string
	for _, g := range joined {
		kinds = append(kinds, kind(g))
	}
	slices.SortStableFunc(joined, func(a, b spec.Grant) int {
		return cmp.Or(
			cmp.Compare(slices.Index(kinds, kind(a)), slices.Index(kinds, kind(b))),
			cmp.Compare(len(a.Sid), len(b.Sid)), cmp.Compare(a.Sid, b.Sid),
		)
	})
	return joined
}
