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
		Calls: []source.Call{
			{Action: "eks:ListAccessEntries", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}},
			{Action: "eks:DescribeAccessEntry", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:access-entry/*/*/*/*/*"}}, // cluster, kind, account, name, id
		},
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
	var entries []snapshot.AccessEntry
	for _, p := range principals {
		if !slices.ContainsFunc(roles, func(role string) bool { return iam.NameOf(role) == iam.NameOf(p) }) {
			continue
		}
		out, err := api.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String(v.Cluster), PrincipalArn: aws.String(p)})
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
	}
}
