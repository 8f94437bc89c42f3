package gather

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

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
		p := autoscaling.NewDescribeAutoScalingGroupsPaginator(r.groups, &autoscaling.DescribeAutoScalingGroupsInput{
			AutoScalingGroupNames: chunk, MaxRecords: aws.Int32(groupPage),
		})
		for p.HasMorePages() {
			page, err := p.NextPage(ctx)
			if err != nil {
				return nil, fmt.Errorf("describe auto scaling groups: %w", err)
			}
			all = append(all, each(page.AutoScalingGroups, group)...)
		}
	}
	for i := range all {
		if !all[i].WarmPool {
			continue
		}
		warm, err := r.readWarmPool(ctx, all[i].Name)
		if err != nil {
			return nil, err
		}
		all[i].Warm = warm
	}
	return all, nil
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

func group(g types.AutoScalingGroup) snapshot.Group {
	out := snapshot.Group{
		Name:     aws.ToString(g.AutoScalingGroupName),
		Min:      int(aws.ToInt32(g.MinSize)),
		Max:      int(aws.ToInt32(g.MaxSize)),
		Desired:  int(aws.ToInt32(g.DesiredCapacity)),
		Zones:    slices.Sorted(slices.Values(g.AvailabilityZones)),
		WarmPool: g.WarmPoolConfiguration != nil,
		Tags:     map[string]string{},
	}
	for s := range strings.SplitSeq(aws.ToString(g.VPCZoneIdentifier), ",") {
		if s = strings.TrimSpace(s); s != "" {
			out.Subnets = append(out.Subnets, s)
		}
	}
	slices.Sort(out.Subnets)
	for _, in := range g.Instances {
		out.Instances = append(out.Instances, snapshot.GroupInstance{
			ID: aws.ToString(in.InstanceId), Lifecycle: string(in.LifecycleState), Health: aws.ToString(in.HealthStatus),
		})
	}
	slices.SortFunc(out.Instances, func(a, b snapshot.GroupInstance) int { return strings.Compare(a.ID, b.ID) })
	for _, t := range g.Tags {
		out.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return out
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
