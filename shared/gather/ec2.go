package gather

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/source"
)

// in is the filter for all that belongs to a VPC.
func in(filter, vpc string) []types.Filter {
	return []types.Filter{{Name: aws.String(filter), Values: []string{vpc}}}
}

// anyOf is the filter for all that have one of the values.
func anyOf(filter string, values []string) []types.Filter {
	return []types.Filter{{Name: aws.String(filter), Values: values}}
}

// pages collects all pages of a call.
func pages[P, T any](ctx context.Context, what string, more func() bool, next func(context.Context, ...func(*ec2.Options)) (P, error), items func(P) []T) ([]T, error) {
	var all []T
	for more() {
		page, err := next(ctx)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", what, err)
		}
		all = append(all, items(page)...)
	}
	return all, nil
}

// turnPage sets the token of the next page. A page may be empty and not the
// last; one that leads to itself leads nowhere, and what was read is not all.
func turnPage(at **string, next *string) (more bool, err error) {
	if aws.ToString(next) == "" {
		return false, nil
	}
	if aws.ToString(*at) == *next {
		return false, source.ErrHalf
	}
	*at = next
	return true, nil
}

func tags(list []types.Tag) map[string]string {
	m := make(map[string]string, len(list))
	for _, t := range list {
		m[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return m
}

func addressOf(text *string) netip.Addr {
	a, err := netip.ParseAddr(aws.ToString(text))
	if err != nil {
		return netip.Addr{}
	}
	return a
}

func appendValid(list []netip.Prefix, p netip.Prefix) []netip.Prefix {
	if !p.IsValid() {
		return list
	}
	return append(list, p)
}
