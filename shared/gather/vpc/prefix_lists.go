package vpc

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// PrefixLists describes prefix lists and what is in them.
type PrefixLists interface {
	DescribeManagedPrefixLists(context.Context, *ec2.DescribeManagedPrefixListsInput, ...func(*ec2.Options)) (*ec2.DescribeManagedPrefixListsOutput, error)
	GetManagedPrefixListEntries(context.Context, *ec2.GetManagedPrefixListEntriesInput, ...func(*ec2.Options)) (*ec2.GetManagedPrefixListEntriesOutput, error)
}

// prefixLists are the lists that the route tables and security groups name,
// those of AWS among them: their entries can be read like a customer's.
func prefixLists(api PrefixLists) source.Source {
	return source.Source{
		Name:  snapshot.PrefixListEntries,
		Needs: []snapshot.Source{snapshot.RouteTables},
		After: []snapshot.Source{
			snapshot.SecurityGroups,
			snapshot.TransitGateways, // whose far route tables name some too
		},
		Calls: []source.Call{
			{Action: "ec2:DescribeManagedPrefixLists"},
			// AWS's own lists bear the account "aws", shared ones their owner's.
			{Action: "ec2:GetManagedPrefixListEntries", Resources: []string{"arn:${Partition}:ec2:${Region}:*:prefix-list/*"}},
		},
		Read: source.Through(api, readPrefixLists),
	}
}

func readPrefixLists(ctx context.Context, api PrefixLists, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.RouteTables) && !v.Snapshot.Has(snapshot.SecurityGroups) {
		return nil, v.Unread(snapshot.RouteTables)
	}
	ids := listsNamed(v.Snapshot)
	if len(ids) == 0 {
		return source.Nothing, nil
	}
	var list []snapshot.PrefixList
	for chunk := range slices.Chunk(ids, ec2api.MaxFilterValues) {
		p := ec2.NewDescribeManagedPrefixListsPaginator(api, &ec2.DescribeManagedPrefixListsInput{Filters: ec2api.AnyOf("prefix-list-id", chunk)})
		more, err := ec2api.Pages(ctx, "managed prefix lists", p.HasMorePages, p.NextPage, func(out *ec2.DescribeManagedPrefixListsOutput) []snapshot.PrefixList {
			return source.Each(out.PrefixLists, func(m types.ManagedPrefixList) snapshot.PrefixList {
				return snapshot.PrefixList{ID: aws.ToString(m.PrefixListId), Name: aws.ToString(m.PrefixListName)}
			})
		})
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	lacks := map[string]snapshot.Failure{}
	for _, id := range ids {
		if !slices.ContainsFunc(list, func(p snapshot.PrefixList) bool { return p.ID == id }) {
			lacks[id] = snapshot.Failure{Source: snapshot.PrefixListEntries, Reason: snapshot.Broken, Call: v.Source.Call(), Message: "EC2 does not describe this prefix list"}
		}
	}
	var read []snapshot.PrefixList
	for _, p := range list {
		cidrs, err := entriesOf(ctx, api, p.ID)
		switch {
		case err == nil:
			p.CIDRs = cidrs
			read = append(read, p)
		case source.Gone(err):
			lacks[p.ID] = *v.Source.Failure(err)
		default:
			return nil, err
		}
	}
	read = source.Unique(read, func(p snapshot.PrefixList) string { return p.ID })
	return func(s *snapshot.Snapshot) {
		s.PrefixLists = read
		source.LackAll(s, snapshot.PrefixListEntries, lacks)
	}, nil
}

func entriesOf(ctx context.Context, api PrefixLists, id string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	p := ec2.NewGetManagedPrefixListEntriesPaginator(api, &ec2.GetManagedPrefixListEntriesInput{PrefixListId: aws.String(id)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("get the entries of %s: %w", id, err)
		}
		for _, e := range page.Entries {
			list = ec2api.AppendValid(list, source.Prefix(e.Cidr))
		}
	}
	return list, nil
}

// listsNamed are the prefix lists that routes and rules name.
func listsNamed(s *snapshot.Snapshot) []string {
	var ids []string
	for _, t := range s.RouteTables {
		for _, r := range t.Routes {
			ids = append(ids, r.PrefixList)
		}
	}
	for _, g := range s.SecurityGroups {
		for _, r := range slices.Concat(g.Ingress, g.Egress) {
			ids = append(ids, r.PrefixLists...)
		}
	}
	return source.Distinct(ids)
}
