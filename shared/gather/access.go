package gather

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/snapshot"
)

// AccessEntries lists and describes a cluster's access entries.
type AccessEntries interface {
	ListAccessEntries(context.Context, *eks.ListAccessEntriesInput, ...func(*eks.Options)) (*eks.ListAccessEntriesOutput, error)
	DescribeAccessEntry(context.Context, *eks.DescribeAccessEntryInput, ...func(*eks.Options)) (*eks.DescribeAccessEntryOutput, error)
}

// PodIdentities lists and describes a cluster's Pod Identity associations.
type PodIdentities interface {
	ListPodIdentityAssociations(context.Context, *eks.ListPodIdentityAssociationsInput, ...func(*eks.Options)) (*eks.ListPodIdentityAssociationsOutput, error)
	DescribePodIdentityAssociation(context.Context, *eks.DescribePodIdentityAssociationInput, ...func(*eks.Options)) (*eks.DescribePodIdentityAssociationOutput, error)
}

// awsNode is the VPC CNI's DaemonSet and service account.
const awsNode = "aws-node"

// access reads who may enter the cluster, and the entries of node roles, also
// of roles that have a node role's name under another path.
func (l *look) access(ctx context.Context) (store, error) {
	principals, err := l.r.readPrincipals(ctx, l.q.Cluster)
	if err != nil {
		return nil, err
	}
	roles := nodeRoles(l.s)
	var entries []snapshot.AccessEntry
	for _, p := range principals {
		if !slices.ContainsFunc(roles, func(role string) bool { return nameOf(role) == nameOf(p) }) {
			continue
		}
		out, err := l.r.accessEntries.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String(l.q.Cluster), PrincipalArn: aws.String(p)})
		var missing *types.ResourceNotFoundException
		if errors.As(err, &missing) {
			principals = slices.DeleteFunc(slices.Clone(principals), func(other string) bool { return other == p })
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("describe access entry of %s: %w", p, err)
		}
		if out.AccessEntry == nil {
			return nil, fmt.Errorf("describe access entry of %s: the answer holds none", p)
		}
		entries = append(entries, accessEntry(p, *out.AccessEntry))
	}
	return func(s *snapshot.Snapshot) {
		s.Principals = principals
		s.AccessEntries = entries
	}, nil
}

// readPrincipals lists the principals with an access entry. A cluster in mode
// CONFIG_MAP refuses the question: it has none.
func (r *Reader) readPrincipals(ctx context.Context, cluster string) ([]string, error) {
	var list []string
	p := eks.NewListAccessEntriesPaginator(r.accessEntries, &eks.ListAccessEntriesInput{ClusterName: aws.String(cluster)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		var refused *types.InvalidRequestException
		if errors.As(err, &refused) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list access entries: %w", err)
		}
		list = append(list, page.AccessEntries...)
	}
	return distinct(list), nil
}

func accessEntry(principal string, e types.AccessEntry) snapshot.AccessEntry {
	return snapshot.AccessEntry{
		Principal: principal,
		Type:      aws.ToString(e.Type),
		Username:  aws.ToString(e.Username),
		Groups:    slices.Sorted(slices.Values(e.KubernetesGroups)),
	}
}

// readPodIdentities lists the associations in kube-system. Only that of
// aws-node is described: of the others it matters that they exist, and their
// Role is empty.
func (r *Reader) readPodIdentities(ctx context.Context, cluster string) ([]snapshot.PodIdentity, error) {
	var list []snapshot.PodIdentity
	p := eks.NewListPodIdentityAssociationsPaginator(r.podIdentities, &eks.ListPodIdentityAssociationsInput{ClusterName: aws.String(cluster), Namespace: aws.String("kube-system")})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list pod identity associations: %w", err)
		}
		for _, a := range page.Associations {
			found := snapshot.PodIdentity{Namespace: aws.ToString(a.Namespace), ServiceAccount: aws.ToString(a.ServiceAccount)}
			if found.ServiceAccount == awsNode {
				role, err := r.podIdentityRole(ctx, cluster, a.AssociationId)
				if err != nil {
					return nil, err
				}
				if role == "" {
					continue // gone since it was listed
				}
				found.Role = role
			}
			list = append(list, found)
		}
	}
	return list, nil
}

func (r *Reader) podIdentityRole(ctx context.Context, cluster string, id *string) (string, error) {
	out, err := r.podIdentities.DescribePodIdentityAssociation(ctx, &eks.DescribePodIdentityAssociationInput{ClusterName: aws.String(cluster), AssociationId: id})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("describe pod identity association %s: %w", aws.ToString(id), err)
	}
	if out.Association == nil || !strings.HasPrefix(aws.ToString(out.Association.RoleArn), "arn:") {
		return "", fmt.Errorf("describe pod identity association %s: the answer holds no role", aws.ToString(id))
	}
	return *out.Association.RoleArn, nil
}
