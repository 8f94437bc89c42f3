package autoscaling

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Groups describes Auto Scaling groups and their warm pools.
type Groups interface {
	DescribeAutoScalingGroups(context.Context, *autoscaling.DescribeAutoScalingGroupsInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error)
	DescribeWarmPool(context.Context, *autoscaling.DescribeWarmPoolInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeWarmPoolOutput, error)
}

const (
	// groupPage is the largest page of DescribeAutoScalingGroups, and as many
	// names as one call takes.
	groupPage = 100
	// newest is how many of a group's activities are read: they come newest
	// first, and those of the last launches are what matters. It is the most
	// that one call gives.
	newest = 100
)

// groups are those that a query brings: Groups and GroupsOf.
func groups() source.Source {
	return source.Source{
		Name: snapshot.Groups,
		Calls: []source.Call{
			{Action: "autoscaling:DescribeAutoScalingGroups"},
			{Action: "autoscaling:DescribeWarmPool"},
		},
	}
}

// GroupsNamed reads groups by name.
func GroupsNamed(ctx context.Context, api Groups, names []string) ([]snapshot.Group, error) {
	var all []snapshot.Group
	for chunk := range slices.Chunk(names, groupPage) {
		list, err := describeGroups(ctx, api, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: chunk})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return warmed(ctx, api, all)
}

// GroupsOf reads the groups tagged as a cluster's. Filters of one call
// must all hold, so the two ways of tagging take a call each.
func GroupsOf(ctx context.Context, api Groups, cluster string) ([]snapshot.Group, error) {
	var all []snapshot.Group
	for _, filter := range []types.Filter{
		{Name: aws.String("tag-key"), Values: []string{"kubernetes.io/cluster/" + cluster, "k8s.io/cluster/" + cluster}},
		{Name: aws.String("tag:eks:cluster-name"), Values: []string{cluster}},
	} {
		list, err := describeGroups(ctx, api, &autoscaling.DescribeAutoScalingGroupsInput{Filters: []types.Filter{filter}})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return warmed(ctx, api, source.Unique(all, func(g snapshot.Group) string { return g.Name }))
}

func describeGroups(ctx context.Context, api Groups, input *autoscaling.DescribeAutoScalingGroupsInput) ([]snapshot.Group, error) {
	input.MaxRecords = aws.Int32(groupPage)
	var all []snapshot.Group
	p := autoscaling.NewDescribeAutoScalingGroupsPaginator(api, input)
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("describe auto scaling groups: %w", err)
		}
		all = append(all, source.Each(page.AutoScalingGroups, group)...)
	}
	return all, nil
}

// warmed adds the instances in the groups' warm pools.
func warmed(ctx context.Context, api Groups, groups []snapshot.Group) ([]snapshot.Group, error) {
	for i := range groups {
		if !groups[i].WarmPool {
			continue
		}
		warm, err := readWarmPool(ctx, api, groups[i].Name)
		if err != nil {
			return nil, err
		}
		groups[i].Warm = warm
	}
	return groups, nil
}

func readWarmPool(ctx context.Context, api Groups, name string) ([]string, error) {
	var ids []string
	p := autoscaling.NewDescribeWarmPoolPaginator(api, &autoscaling.DescribeWarmPoolInput{AutoScalingGroupName: aws.String(name)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("describe the warm pool of %s: %w", name, err)
		}
		for _, in := range page.Instances {
			ids = append(ids, aws.ToString(in.InstanceId))
		}
	}
	slices.Sort(ids)
	return ids, nil
}
