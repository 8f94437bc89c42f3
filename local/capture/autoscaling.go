package capture

import (
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/shared/node/activity"
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

// DescribeWarmPool answers with the instances of a group that are in its warm pool: a
// capture has no file of warm pools, and DescribeAutoScalingGroups lists no instance of
// one (kops, upup/pkg/fi/cloudup/awsup/aws_cloud.go, findAutoscalingGroups, reads
// both). They have the group's tag, are none of its members, and are in the pool's
// state, or the newest activity about them brought them into the pool.
func (a API) DescribeWarmPool(in *autoscaling.DescribeWarmPoolInput) (*autoscaling.DescribeWarmPoolOutput, error) {
	all, err := read[autoscaling.DescribeAutoScalingGroupsOutput](a.c, "autoscaling-describe-auto-scaling-groups")
	if err != nil {
		return nil, err
	}
	name := aws.ToString(in.AutoScalingGroupName)
	i := slices.IndexFunc(all.AutoScalingGroups, func(g astypes.AutoScalingGroup) bool { return aws.ToString(g.AutoScalingGroupName) == name })
	if i < 0 {
		return nil, wire.Errorf("ValidationError", "AutoScalingGroup name not found - no such group: %s", name)
	}
	g := all.AutoScalingGroups[i]
	out := &autoscaling.DescribeWarmPoolOutput{WarmPoolConfiguration: g.WarmPoolConfiguration, Instances: items(g.Instances, func(i astypes.Instance) bool {
		return strings.HasPrefix(text(reflect.ValueOf(i), "LifecycleState"), "Warmed:")
	})}
	described, err := read[ec2.DescribeInstancesOutput](a.c, "ec2-describe-instances")
	if err != nil || g.WarmPoolConfiguration == nil {
		return out, nil
	}
	brought := a.broughtInto(name)
	for _, r := range described.Reservations {
		for _, in := range r.Instances {
			id := aws.ToString(in.InstanceId)
			member := slices.ContainsFunc(g.Instances, func(m astypes.Instance) bool { return aws.ToString(m.InstanceId) == id })
			ofGroup := slices.ContainsFunc(in.Tags, func(t ec2types.Tag) bool {
				return aws.ToString(t.Key) == "aws:autoscaling:groupName" && aws.ToString(t.Value) == name
			})
			if state := warmState(in, g.WarmPoolConfiguration, brought[id]); state != "" && ofGroup && !member {
				out.Instances = append(out.Instances, astypes.Instance{InstanceId: in.InstanceId, LifecycleState: state})
			}
		}
	}
	return out, nil
}

// broughtInto are the instances that an activity brought into the warm pool of a group
// and none later out of it.
func (a API) broughtInto(group string) map[string]bool {
	out, err := a.DescribeScalingActivities(&autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: &group})
	into := map[string]bool{}
	if err != nil {
		return into
	}
	for _, x := range slices.Backward(out.Activities) {
		if warm, is := activity.WarmPool(aws.ToString(x.Description)); is {
			_, id, _ := strings.Cut(aws.ToString(x.Description), " pool: ")
			into[strings.TrimSpace(id)] = warm
		}
	}
	return into
}

// warmState is the state in which an instance waits in a warm pool; empty for one that
// does not.
func warmState(in ec2types.Instance, pool *astypes.WarmPoolConfiguration, brought bool) astypes.LifecycleState {
	state := ec2types.InstanceStateName("")
	if in.State != nil {
		state = in.State.Name
	}
	switch state {
	case ec2types.InstanceStateNameStopping, ec2types.InstanceStateNameStopped:
		if pool.PoolState == astypes.WarmPoolStateHibernated {
			return astypes.LifecycleStateWarmedHibernated
		}
		return astypes.LifecycleStateWarmedStopped
	case ec2types.InstanceStateNamePending, ec2types.InstanceStateNameRunning:
		switch {
		case pool.PoolState == astypes.WarmPoolStateRunning:
			return astypes.LifecycleStateWarmedRunning
		case brought:
			return astypes.LifecycleStateWarmedPending
		}
	}
	return ""
}
