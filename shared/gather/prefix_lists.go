package gather

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"rollcall/shared/snapshot"
)

// PrefixLists describes prefix lists and what is in them.
type PrefixLists interface {
	DescribeManagedPrefixLists(context.Context, *ec2.DescribeManagedPrefixListsInput, ...func(*ec2.Options)) (*ec2.DescribeManagedPrefixListsOutput, error)
	GetManagedPrefixListEntries(context.Context, *ec2.GetManagedPrefixListEntriesInput, ...func(*ec2.Options)) (*ec2.GetManagedPrefixListEntriesOutput, error)
}

// prefixLists reads the lists that the route tables and security groups name,
// those of AWS among them: their entries can be read like a customer's.
func (l *look) prefixLists(ctx context.Context) (store, error) {
	if !l.s.Has(snapshot.RouteTables) && !l.s.Has(snapshot.SecurityGroups) {
		return nil, unread(snapshot.RouteTables)
	}
	ids := listsNamed(l.s)
	if len(ids) == 0 {
		return func(*snapshot.Snapshot) {}, nil
	}
	var list []snapshot.PrefixList
	for chunk := range slices.Chunk(ids, maxFilterValues) {
		p := ec2.NewDescribeManagedPrefixListsPaginator(l.r.prefixLists, &ec2.DescribeManagedPrefixListsInput{Filters: anyOf("prefix-list-id", chunk)})
		more, err := pages(ctx, "managed prefix lists", p.HasMorePages, p.NextPage, func(out *ec2.DescribeManagedPrefixListsOutput) []snapshot.PrefixList {
			return each(out.PrefixLists, func(m types.ManagedPrefixList) snapshot.PrefixList {
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
			lacks[id] = snapshot.Failure{Source: snapshot.PrefixListEntries, Reason: snapshot.Broken, Call: call(snapshot.PrefixListEntries), Message: "EC2 does not describe this prefix list"}
		}
	}
	var read []snapshot.PrefixList
	for _, p := range list {
		cidrs, err := l.r.entriesOf(ctx, p.ID)
		switch {
		case err == nil:
			p.CIDRs = cidrs
			read = append(read, p)
		case gone(err):
			lacks[p.ID] = *failure(snapshot.PrefixListEntries, call(snapshot.PrefixListEntries), err)
		default:
			return nil, err
		}
	}
	read = unique(read, func(p snapshot.PrefixList) string { return p.ID })
	return func(s *snapshot.Snapshot) {
		s.PrefixLists = read
		lackAll(s, snapshot.PrefixListEntries, lacks)
	}, nil
}

func (r *Reader) entriesOf(ctx context.Context, id string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	p := ec2.NewGetManagedPrefixListEntriesPaginator(r.prefixLists, &ec2.GetManagedPrefixListEntriesInput{PrefixListId: aws.String(id)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("get the entries of %s: %w", id, err)
		}
		for _, e := range page.Entries {
			list = appendValid(list, prefix(e.Cidr))
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
	return distinct(ids)
}

// gone tells that a service does not have the thing that was asked for. EC2
// has a code for each kind: InvalidInstanceID.NotFound and the like.
func gone(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	code := api.ErrorCode()
	return code == "ResourceNotFoundException" || code == "NoSuchEntity" ||
		strings.HasSuffix(code, ".NotFound") || strings.HasSuffix(code, ".NotFoundException") || strings.HasSuffix(code, ".VersionNotFound")
}
