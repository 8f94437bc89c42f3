package capture

import (
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/local/platform/wire"
)

// DescribeAutoScalingGroups answers with the groups that the capture holds.
// Names that it does not hold are left out, as Auto Scaling does.
func (a API) DescribeAutoScalingGroups(in *autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	all, err := read[autoscaling.DescribeAutoScalingGroupsOutput](a.c, "autoscaling-describe-auto-scaling-groups")
	if err != nil {
		return nil, err
	}
	list := all.AutoScalingGroups
	if len(in.AutoScalingGroupNames) > 0 {
		list = items(list, func(g astypes.AutoScalingGroup) bool {
			return slices.Contains(in.AutoScalingGroupNames, aws.ToString(g.AutoScalingGroupName))
		})
	}
	for _, f := range in.Filters {
		name := aws.ToString(f.Name)
		if name != "tag-key" && name != "tag-value" && !strings.HasPrefix(name, "tag:") {
			return nil, wire.Errorf("ValidationError", "Filter type %s is not correct. Allowed Filter types are: tag-key tag-value tag:<key>", name)
		}
		list = items(list, func(g astypes.AutoScalingGroup) bool {
			return slices.ContainsFunc(g.Tags, func(t astypes.TagDescription) bool {
				key, value := aws.ToString(t.Key), aws.ToString(t.Value)
				switch name {
				case "tag-key":
					return slices.Contains(f.Values, key)
				case "tag-value":
					return slices.Contains(f.Values, value)
				}
				return "tag:"+key == name && slices.Contains(f.Values, value)
			})
		})
	}
	return &autoscaling.DescribeAutoScalingGroupsOutput{AutoScalingGroups: list}, nil
}

// mostActivities is the largest page of DescribeScalingActivities, and what
// it gives without a number.
const mostActivities = 100

// DescribeScalingActivities answers with a group's activities, newest first.
func (a API) DescribeScalingActivities(in *autoscaling.DescribeScalingActivitiesInput) (*autoscaling.DescribeScalingActivitiesOutput, error) {
	all, err := read[autoscaling.DescribeScalingActivitiesOutput](a.c, "autoscaling-describe-scaling-activities")
	if err != nil {
		return nil, err
	}
	group := aws.ToString(in.AutoScalingGroupName)
	list := items(all.Activities, func(x astypes.Activity) bool {
		return (group == "" || aws.ToString(x.AutoScalingGroupName) == group) &&
			(len(in.ActivityIds) == 0 || slices.Contains(in.ActivityIds, aws.ToString(x.ActivityId)))
	})
	slices.SortStableFunc(list, func(x, y astypes.Activity) int { return aws.ToTime(y.StartTime).Compare(aws.ToTime(x.StartTime)) })
	most := mostActivities
	if n := int(aws.ToInt32(in.MaxRecords)); n > 0 {
		most = min(n, most)
	}
	return &autoscaling.DescribeScalingActivitiesOutput{Activities: list[:min(len(list), most)]}, nil
}

// DescribeWarmPool answers with the instances of a group that are in its warm
// pool by their lifecycle: a capture has no file of warm pools.
func (a API) DescribeWarmPool(in *autoscaling.DescribeWarmPoolInput) (*autoscaling.DescribeWarmPoolOutput, error) {
	all, err := read[autoscaling.DescribeAutoScalingGroupsOutput](a.c, "autoscaling-describe-auto-scaling-groups")
	if err != nil {
		return nil, err
	}
	for _, g := range all.AutoScalingGroups {
		if aws.ToString(g.AutoScalingGroupName) != aws.ToString(in.AutoScalingGroupName) {
			continue
		}
		return &autoscaling.DescribeWarmPoolOutput{
			WarmPoolConfiguration: g.WarmPoolConfiguration,
			Instances: items(g.Instances, func(i astypes.Instance) bool {
				return strings.HasPrefix(text(reflect.ValueOf(i), "LifecycleState"), "Warmed:")
			}),
		}, nil
	}
	return nil, wire.Errorf("ValidationError", "AutoScalingGroup name not found - no such group: %s", aws.ToString(in.AutoScalingGroupName))
}
