package vpc

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// usage is how the subnets of the cluster's VPC are used: every interface of it
// is counted.
func usage(api ec2.DescribeSubnetsAPIClient, counted *tally) source.Source {
	return source.Source{
		Name:  snapshot.Usage,
		Needs: []snapshot.Source{snapshot.Subnets, snapshot.CIDRsKept},
		Calls: []source.Call{{Action: "ec2:DescribeNetworkInterfaces"}},
		// 100,000 interfaces are a hundred pages, one after the other, and EC2
		// takes the better part of a second for each.
		Patience: 6,
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			for _, name := range []snapshot.Source{snapshot.Subnets, snapshot.CIDRsKept} {
				if !v.Snapshot.Has(name) {
					return nil, v.Unread(name)
				}
			}
			c, err := counted.count(ctx, v)
			if err != nil {
				return nil, err
			}
			free, err := freeAgain(ctx, api, v.Snapshot.Subnets)
			if err != nil {
				return nil, err
			}
			return func(s *snapshot.Snapshot) {
				s.Uses, s.Tenants = slices.Clone(c.uses), slices.Clone(c.tenants)
				free(s)
			}, nil
		},
	}
}

// unattached are the interfaces that nothing is attached to: out of the pages
// that were counted, or by a filter where nobody counts.
func unattached(api ec2.DescribeSubnetsAPIClient, counted *tally) source.Source {
	return source.Source{
		Name:  snapshot.Unattached,
		After: []snapshot.Source{snapshot.Usage, snapshot.Subnets},
		Calls: []source.Call{{Action: "ec2:DescribeNetworkInterfaces"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if c, err, tried := counted.got(); tried {
				if err != nil {
					return nil, err
				}
				return func(s *snapshot.Snapshot) { s.Idle = slices.Clone(c.idle) }, nil
			}
			var idle []snapshot.Interface
			err := eachInterface(ctx, counted.api, append(ec2api.In("vpc-id", v.VPCs[0]), ec2api.In("status", available)...), func(i snapshot.Interface) { idle = append(idle, i) })
			if err != nil {
				return nil, err
			}
			idle = source.Unique(idle, func(i snapshot.Interface) string { return i.ID })
			free, err := freeAgain(ctx, api, v.Snapshot.Subnets)
			if err != nil {
				return nil, err
			}
			return func(s *snapshot.Snapshot) {
				s.Idle = idle
				free(s)
			}, nil
		},
	}
}
