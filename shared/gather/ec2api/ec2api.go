// Package ec2api is how EC2 is asked: with what services manage included, filters within
// their limits, pages to their end.
package ec2api

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/shared/gather/source"
)

// MaxFilterValues is EC2's limit of values in one request's filters.
const MaxFilterValues = 200

// In is the filter for all that belongs to a VPC.
func In(filter, vpc string) []types.Filter {
	return []types.Filter{{Name: aws.String(filter), Values: []string{vpc}}}
}

// AnyOf is the filter for all that have one of the values.
func AnyOf(filter string, values []string) []types.Filter {
	return []types.Filter{{Name: aws.String(filter), Values: values}}
}

// Pages collects all pages of a call.
func Pages[P, T any](ctx context.Context, what string, more func() bool, next func(context.Context, ...func(*ec2.Options)) (P, error), items func(P) []T) ([]T, error) {
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

// Fresh is next where the answer must be of now, whatever was read a moment ago (package
// askonce).
func Fresh[P any](next func(context.Context, ...func(*ec2.Options)) (P, error)) func(context.Context, ...func(*ec2.Options)) (P, error) {
	return func(ctx context.Context, options ...func(*ec2.Options)) (P, error) {
		return next(ctx, append(options, ec2.WithAPIOptions(smithyhttp.SetHeaderValue("Cache-Control", "no-cache")))...)
	}
}

// TurnPage sets the token of the next page. A page may be empty and not the
// last; one that leads to itself leads nowhere, and what was read is not all.
func TurnPage(at **string, next *string) (more bool, err error) {
	if aws.ToString(next) == "" {
		return false, nil
	}
	if aws.ToString(*at) == *next {
		return false, source.ErrHalf
	}
	*at = next
	return true, nil
}

func Tags(list []types.Tag) map[string]string {
	m := make(map[string]string, len(list))
	for _, t := range list {
		m[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return m
}

func AddressOf(text *string) netip.Addr {
	a, err := netip.ParseAddr(aws.ToString(text))
	if err != nil {
		return netip.Addr{}
	}
	return a
}

func AppendValid(list []netip.Prefix, p netip.Prefix) []netip.Prefix {
	if !p.IsValid() {
		return list
	}
	return append(list, p)
}

// InstanceIDs matches an instance's id, and nothing with a wildcard in it.
func InstanceIDs() *regexp.Regexp { return regexp.MustCompile(`^i-(?:[0-9a-f]{8}|[0-9a-f]{17})$`) }

// NewEC2 makes the client that all of EC2 is read with. EC2 leaves out of its
// lists what AWS services manage in the account (EKS Auto Mode's instances,
// interfaces and volumes among it) unless a request has
// IncludeManagedResources (EC2's model, botocore 1.43.11). An instance that is
// left out would look dead, and its addresses free.
func NewEC2(cfg aws.Config) *ec2.Client {
	return ec2.NewFromConfig(cfg, func(o *ec2.Options) { o.APIOptions = append(o.APIOptions, includeManaged) })
}

// includeManaged sets IncludeManagedResources in every request that has it, so
// that no call can forget it. The caller's input stays as it is.
func includeManaged(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RollcallIncludeManagedResources",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			in.Parameters = withManaged(in.Parameters)
			return next.HandleInitialize(ctx, in)
		}), middleware.Before)
}

// withManaged is an operation's input that asks for managed resources too,
// where the operation has the parameter; else the input itself.
func withManaged(input any) any {
	p := reflect.ValueOf(input)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Struct {
		return input
	}
	if f, ok := p.Type().Elem().FieldByName("IncludeManagedResources"); !ok || f.Type != reflect.TypeFor[*bool]() {
		return input
	}
	out := reflect.New(p.Type().Elem())
	out.Elem().Set(p.Elem())
	out.Elem().FieldByName("IncludeManagedResources").Set(reflect.ValueOf(aws.Bool(true)))
	return out.Interface()
}
