package gather

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/shared/snapshot"
)

// Groups describes Auto Scaling groups and their warm pools.
type Groups interface {
	DescribeAutoScalingGroups(context.Context, *autoscaling.DescribeAutoScalingGroupsInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error)
	DescribeWarmPool(context.Context, *autoscaling.DescribeWarmPoolInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeWarmPoolOutput, error)
}

// Activities describes scaling activities.
type Activities interface {
	DescribeScalingActivities(context.Context, *autoscaling.DescribeScalingActivitiesInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeScalingActivitiesOutput, error)
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

func (r *Reader) readGroups(ctx context.Context, names []string) ([]snapshot.Group, error) {
	var all []snapshot.Group
	for chunk := range slices.Chunk(names, groupPage) {
		list, err := r.describeGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: chunk})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return r.warmed(ctx, all)
}

// readGroupsOf reads the groups tagged as a cluster's. Filters of one call
// must all hold, so the two ways of tagging take a call each.
func (r *Reader) readGroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, error) {
	var all []snapshot.Group
	for _, filter := range []types.Filter{
		{Name: aws.String("tag-key"), Values: []string{"kubernetes.io/cluster/" + cluster, "k8s.io/cluster/" + cluster}},
		{Name: aws.String("tag:eks:cluster-name"), Values: []string{cluster}},
	} {
		list, err := r.describeGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{Filters: []types.Filter{filter}})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return r.warmed(ctx, unique(all, func(g snapshot.Group) string { return g.Name }))
}

func (r *Reader) describeGroups(ctx context.Context, input *autoscaling.DescribeAutoScalingGroupsInput) ([]snapshot.Group, error) {
	input.MaxRecords = aws.Int32(groupPage)
	var all []snapshot.Group
	p := autoscaling.NewDescribeAutoScalingGroupsPaginator(r.groups, input)
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("describe auto scaling groups: %w", err)
		}
		all = append(all, each(page.AutoScalingGroups, group)...)
	}
	return all, nil
}

// warmed adds the instances in the groups' warm pools.
func (r *Reader) warmed(ctx context.Context, groups []snapshot.Group) ([]snapshot.Group, error) {
	for i := range groups {
		if !groups[i].WarmPool {
			continue
		}
		warm, err := r.readWarmPool(ctx, groups[i].Name)
		if err != nil {
			return nil, err
		}
		groups[i].Warm = warm
	}
	return groups, nil
}

func (r *Reader) readWarmPool(ctx context.Context, name string) ([]string, error) {
	var ids []string
	p := autoscaling.NewDescribeWarmPoolPaginator(r.groups, &autoscaling.DescribeWarmPoolInput{AutoScalingGroupName: aws.String(name)})
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

func (r *Reader) readActivities(ctx context.Context, groups []string) ([]snapshot.Activity, error) {
	var all []snapshot.Activity
	for _, name := range groups {
		out, err := r.activities.DescribeScalingActivities(ctx, &autoscaling.DescribeScalingActivitiesInput{
			AutoScalingGroupName: aws.String(name), MaxRecords: aws.Int32(newest),
		})
		if err != nil {
			return nil, fmt.Errorf("describe the scaling activities of %s: %w", name, err)
		}
		all = append(all, each(out.Activities, activity)...)
	}
	return all, nil
}

// instanceIn finds the id in "Launching a new EC2 instance: i-0ef3c1b2a4d5968f1":
// an activity names its instance nowhere else.
var instanceIn = regexp.MustCompile(`\bi-[0-9a-f]{8,17}\b`)

func activity(a types.Activity) snapshot.Activity {
	out := snapshot.Activity{
		ID:       aws.ToString(a.ActivityId),
		Group:    aws.ToString(a.AutoScalingGroupName),
		Status:   string(a.StatusCode),
		Message:  aws.ToString(a.StatusMessage),
		Cause:    aws.ToString(a.Cause),
		About:    aws.ToString(a.Description),
		Started:  aws.ToTime(a.StartTime),
		Ended:    aws.ToTime(a.EndTime),
		Instance: instanceIn.FindString(aws.ToString(a.Description)),
	}
	// Details is JSON in a string, with members that are no strings.
	var details map[string]json.RawMessage
	if json.Unmarshal([]byte(aws.ToString(a.Details)), &details) == nil {
		_ = json.Unmarshal(details["Subnet ID"], &out.Subnet)
		_ = json.Unmarshal(details["Availability Zone"], &out.Zone)
	}
	return out
}
