package capture

import (
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
)

// ListClusters answers with the clusters of the capture: those of the list,
// and those that are described.
func (a API) ListClusters(*eks.ListClustersInput) (*eks.ListClustersOutput, error) {
	if _, err := read[eks.ListClustersOutput](a.c, "eks-list-clusters"); err != nil && len(a.c.Clusters) == 0 {
		return nil, err
	}
	return &eks.ListClustersOutput{Clusters: a.c.Clusters}, nil
}

// DescribeCluster answers with a cluster as EKS described it.
func (a API) DescribeCluster(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	return read[eks.DescribeClusterOutput](a.c, "eks-describe-cluster", aws.ToString(in.Name))
}

// ListNodegroups answers with the names of a cluster's node groups.
func (a API) ListNodegroups(in *eks.ListNodegroupsInput) (*eks.ListNodegroupsOutput, error) {
	return read[eks.ListNodegroupsOutput](a.c, "eks-list-nodegroups", aws.ToString(in.ClusterName))
}

// DescribeNodegroup answers with a node group.
func (a API) DescribeNodegroup(in *eks.DescribeNodegroupInput) (*eks.DescribeNodegroupOutput, error) {
	return read[eks.DescribeNodegroupOutput](a.c, "eks-describe-nodegroup", aws.ToString(in.ClusterName), aws.ToString(in.NodegroupName))
}

// ListAddons answers with the names of a cluster's add-ons.
func (a API) ListAddons(in *eks.ListAddonsInput) (*eks.ListAddonsOutput, error) {
	return read[eks.ListAddonsOutput](a.c, "eks-list-addons", aws.ToString(in.ClusterName))
}

// DescribeAddon answers with an add-on.
func (a API) DescribeAddon(in *eks.DescribeAddonInput) (*eks.DescribeAddonOutput, error) {
	return read[eks.DescribeAddonOutput](a.c, "eks-describe-addon", aws.ToString(in.ClusterName), aws.ToString(in.AddonName))
}

// ListAccessEntries answers with the principals of a cluster's access entries.
func (a API) ListAccessEntries(in *eks.ListAccessEntriesInput) (*eks.ListAccessEntriesOutput, error) {
	return read[eks.ListAccessEntriesOutput](a.c, "eks-list-access-entries", aws.ToString(in.ClusterName))
}

// DescribeAccessEntry answers with an access entry. Its file has the role's
// name, so two entries of the same name and different paths, or of a role and
// a user, share one: an entry of another principal is not the answer.
func (a API) DescribeAccessEntry(in *eks.DescribeAccessEntryInput) (*eks.DescribeAccessEntryOutput, error) {
	arn := aws.ToString(in.PrincipalArn)
	out, err := read[eks.DescribeAccessEntryOutput](a.c, "eks-describe-access-entry", aws.ToString(in.ClusterName), lastPart(arn))
	if err != nil {
		return nil, err
	}
	if e := out.AccessEntry; e != nil && e.PrincipalArn != nil && *e.PrincipalArn != arn {
		return nil, wire.Errorf(NotCaptured, "the capture holds the access entry of %s, not that of %s", *e.PrincipalArn, arn)
	}
	return out, nil
}

// ListAssociatedAccessPolicies answers with the access policies of an entry, whose file has
// the role's name too.
func (a API) ListAssociatedAccessPolicies(in *eks.ListAssociatedAccessPoliciesInput) (*eks.ListAssociatedAccessPoliciesOutput, error) {
	arn := aws.ToString(in.PrincipalArn)
	out, err := read[eks.ListAssociatedAccessPoliciesOutput](a.c, "eks-list-associated-access-policies", aws.ToString(in.ClusterName), lastPart(arn))
	if err != nil {
		return nil, err
	}
	if out.PrincipalArn != nil && *out.PrincipalArn != arn {
		return nil, wire.Errorf(NotCaptured, "the capture holds the access policies of %s, not those of %s", *out.PrincipalArn, arn)
	}
	return out, nil
}

// ListPodIdentityAssociations answers with a cluster's associations.
func (a API) ListPodIdentityAssociations(in *eks.ListPodIdentityAssociationsInput) (*eks.ListPodIdentityAssociationsOutput, error) {
	all, err := read[eks.ListPodIdentityAssociationsOutput](a.c, "eks-list-pod-identity-associations", aws.ToString(in.ClusterName))
	if err != nil {
		return nil, err
	}
	same := func(want, have *string) bool { return want == nil || aws.ToString(want) == aws.ToString(have) }
	return &eks.ListPodIdentityAssociationsOutput{
		Associations: items(all.Associations, func(s ekstypes.PodIdentityAssociationSummary) bool {
			return same(in.Namespace, s.Namespace) && same(in.ServiceAccount, s.ServiceAccount)
		}),
	}, nil
}

// DescribePodIdentityAssociation answers with an association.
func (a API) DescribePodIdentityAssociation(in *eks.DescribePodIdentityAssociationInput) (*eks.DescribePodIdentityAssociationOutput, error) {
	return read[eks.DescribePodIdentityAssociationOutput](a.c, "eks-describe-pod-identity-association", aws.ToString(in.ClusterName), aws.ToString(in.AssociationId))
}

// ListUpdates answers with the ids of a node group's updates, or the cluster's.
func (a API) ListUpdates(in *eks.ListUpdatesInput) (*eks.ListUpdatesOutput, error) {
	keys := updateKeys(in.Name, in.NodegroupName, in.AddonName)
	out, err := read[eks.ListUpdatesOutput](a.c, "eks-list-updates", keys...)
	described := a.c.describedUpdates(keys)
	var e *wire.Error
	switch {
	case len(described) == 0:
		return out, err
	case err == nil:
		all := *out
		all.UpdateIds = slices.Compact(slices.Sorted(slices.Values(slices.Concat(out.UpdateIds, described))))
		if len(all.UpdateIds) == len(out.UpdateIds) {
			return out, nil // in the order of EKS
		}
		return &all, nil
	case errors.As(err, &e) && e.Code == NotCaptured:
		return &eks.ListUpdatesOutput{UpdateIds: described}, nil
	}
	return out, err
}

// describedUpdates are the ids of the updates that the capture describes,
// sorted: who looked at one knew its id, and need not have kept the list.
func (c *Capture) describedUpdates(keys []string) []string {
	var list []string
	for name, file := range c.files {
		if _, ok := file.(*eks.DescribeUpdateOutput); !ok {
			continue
		}
		for _, prefix := range []string{fileName("eks-describe-update", keys...), plainName("eks-describe-update", slices.Clone(keys)...)} {
			id, ok := strings.CutPrefix(name, prefix+".")
			if ok && id != "" && !strings.Contains(id, ".") && !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	slices.Sort(list)
	return list
}

// DescribeUpdate answers with an update.
func (a API) DescribeUpdate(in *eks.DescribeUpdateInput) (*eks.DescribeUpdateOutput, error) {
	return read[eks.DescribeUpdateOutput](a.c, "eks-describe-update", append(updateKeys(in.Name, in.NodegroupName, in.AddonName), aws.ToString(in.UpdateId))...)
}

func updateKeys(cluster, nodegroup, addon *string) []string {
	keys := []string{aws.ToString(cluster)}
	for _, k := range []*string{nodegroup, addon} {
		if k != nil {
			keys = append(keys, *k)
		}
	}
	return keys
}
