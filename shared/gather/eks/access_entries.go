package eks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/gather/iam"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// AccessEntries lists and describes a cluster's access entries.
type AccessEntries interface {
	ListAccessEntries(context.Context, *eks.ListAccessEntriesInput, ...func(*eks.Options)) (*eks.ListAccessEntriesOutput, error)
	DescribeAccessEntry(context.Context, *eks.DescribeAccessEntryInput, ...func(*eks.Options)) (*eks.DescribeAccessEntryOutput, error)
	ListAssociatedAccessPolicies(context.Context, *eks.ListAssociatedAccessPoliciesInput, ...func(*eks.Options)) (*eks.ListAssociatedAccessPoliciesOutput, error)
}

// entryCalls are the calls that read access entries.
func entryCalls() []source.Call {
	entries := []string{"arn:${Partition}:eks:${Region}:${Account}:access-entry/*/*/*/*/*"} // cluster, kind, account, name, id
	return []source.Call{
		{Action: "eks:ListAccessEntries", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}},
		{Action: "eks:DescribeAccessEntry", Resources: entries},
		{Action: "eks:ListAssociatedAccessPolicies", Resources: entries},
	}
}

// accessEntries tell who may enter the cluster, and the entries of node roles,
// also of roles that have a node role's name under another path.
func accessEntries(api AccessEntries) source.Source {
	return source.Source{
		Name:  snapshot.Access,
		Needs: []snapshot.Source{snapshot.Profiles},
		After: []snapshot.Source{
			snapshot.Nodegroups, // which name node roles too
		},
		Calls: entryCalls(),
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readAccess(ctx, api, v)
		},
	}
}

// readAccess reads who may enter the cluster, and the entries of node roles, also
// of roles that have a node role's name under another path.
func readAccess(ctx context.Context, api AccessEntries, v *source.View) (source.Store, error) {
	principals, err := readPrincipals(ctx, api, v.Cluster)
	if err != nil {
		return nil, err
	}
	roles := iam.NodeRoles(v.Snapshot)
	lacks := map[string]snapshot.Failure{}
	entries, gone, err := describeEntries(ctx, api, v, principals, func(principal string) bool {
		return slices.ContainsFunc(roles, func(role string) bool { return iam.NameOf(role) == iam.NameOf(principal) })
	}, lacks)
	if err != nil {
		return nil, err
	}
	principals = slices.DeleteFunc(principals, func(p string) bool { return slices.Contains(gone, p) })
	return func(s *snapshot.Snapshot) {
		s.Principals = principals
		s.AccessEntries = entries
		source.LackAll(s, snapshot.Access, lacks)
	}, nil
}

// describeEntries describes the entries of some of the principals; gone are those that were
// deleted since they were listed. Access policies that could not be read are added to lacks.
func describeEntries(
	ctx context.Context, api AccessEntries, v *source.View, principals []string, some func(principal string) bool, lacks map[string]snapshot.Failure,
) (entries []snapshot.AccessEntry, gone []string, err error) {
	for _, p := range principals {
		if !some(p) {
			continue
		}
		out, err := api.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String(v.Cluster), PrincipalArn: aws.String(p)})
		if missing(err) {
			gone = append(gone, p)
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("describe access entry of %s: %w", p, err)
		}
		if out.AccessEntry == nil {
			return nil, nil, fmt.Errorf("describe access entry of %s: the answer holds none", p)
		}
		e := accessEntry(p, *out.AccessEntry)
		// Of the types of nodes this one alone takes access policies (EKS user guide, "Create
		// access entries").
		if e.Type == "EC2" {
			e.Policies, err = readAccessPolicies(ctx, api, v.Cluster, p)
			if f := v.Source.Failure(err); err != nil && f.Reason == snapshot.Denied {
				return nil, nil, err
			} else if err != nil {
				lacks[snapshot.AccessPoliciesOf(p)] = *f
			}
		}
		entries = append(entries, e)
	}
	return entries, gone, nil
}

func readAccessPolicies(ctx context.Context, api AccessEntries, cluster, principal string) ([]snapshot.AccessPolicy, error) {
	var list []snapshot.AccessPolicy
	p := eks.NewListAssociatedAccessPoliciesPaginator(api, &eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(principal)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list access policies of %s: %w", principal, err)
		}
		for _, a := range page.AssociatedAccessPolicies {
			policy := snapshot.AccessPolicy{ARN: aws.ToString(a.PolicyArn)}
			if a.AccessScope != nil && a.AccessScope.Type == types.AccessScopeTypeNamespace {
				policy.Namespaces = slices.Sorted(slices.Values(a.AccessScope.Namespaces))
			}
			list = append(list, policy)
		}
	}
	return list, nil
}

// readPrincipals lists the principals with an access entry. A cluster in mode
// CONFIG_MAP refuses the question: it has none.
func readPrincipals(ctx context.Context, api AccessEntries, cluster string) ([]string, error) {
	var list []string
	p := eks.NewListAccessEntriesPaginator(api, &eks.ListAccessEntriesInput{ClusterName: aws.String(cluster)})
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
	return source.Distinct(list), nil
}

func accessEntry(principal string, e types.AccessEntry) snapshot.AccessEntry {
	return snapshot.AccessEntry{
		Principal: principal,
		Type:      aws.ToString(e.Type),
		Username:  aws.ToString(e.Username),
		Groups:    slices.Sorted(slices.Values(e.KubernetesGroups)),
		Created:   aws.ToTime(e.CreatedAt), Modified: aws.ToTime(e.ModifiedAt),
	}
}
