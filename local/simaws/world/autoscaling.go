package world

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/table"
)

// AutoScaling is the world's Auto Scaling API, one method for each operation.
type AutoScaling struct{ w *World }

// AutoScaling is the world's Auto Scaling API.
func (w *World) AutoScaling() AutoScaling { return AutoScaling{w} }

// asMaxPage and asPage bound MaxRecords and are the page without it.
const (
	asMaxPage = 100
	asPage    = 50
)

func errASToken() *wire.Error {
	return wire.Errorf("InvalidNextToken", "The token is not valid.")
}

// asPageSize is the size of a page of a describe call.
func asPageSize(asked *int32) (int, error) {
	if asked == nil {
		return asPage, nil
	}
	if *asked < 0 || *asked > asMaxPage {
		return 0, wire.Errorf("ValidationError", "1 validation error detected: Value '%d' at 'maxRecords' failed to satisfy constraint: Member must have value less than or equal to %d", *asked, asMaxPage)
	}
	return int(*asked), nil
}

func (w *World) groupNamed(name *string) (*group, error) {
	if g := w.groups.Get(aws.ToString(name)); g != nil {
		return g, nil
	}
	return nil, wire.Errorf("ValidationError", "AutoScalingGroup name not found - %s", aws.ToString(name))
}

// DescribeAutoScalingGroups lists groups; an unknown name is no error.
func (s AutoScaling) DescribeAutoScalingGroups(in *autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	defer s.w.enter()()
	var list []*group
	for _, g := range s.w.groups.All() {
		if len(in.AutoScalingGroupNames) == 0 || slices.Contains(in.AutoScalingGroupNames, g.name()) {
			list = append(list, g)
		}
	}
	list, err := matchGroups(list, in.Filters)
	if err != nil {
		return nil, err
	}
	size, err := asPageSize(in.MaxRecords)
	if err != nil {
		return nil, err
	}
	list, next, err := table.Page(list, func(g *group) *string { return g.AutoScalingGroupName }, in.NextToken, size, errASToken)
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeAutoScalingGroupsOutput{NextToken: next}
	for _, g := range list {
		shown := deepcopy.Of(g.AutoScalingGroup)
		if in.IncludeInstances != nil && !*in.IncludeInstances {
			shown.Instances = nil
		}
		out.AutoScalingGroups = append(out.AutoScalingGroups, shown)
	}
	return out, nil
}

func matchGroups(list []*group, want []astypes.Filter) ([]*group, error) {
	for _, f := range want {
		name := aws.ToString(f.Name)
		var values func(*group) []string
		switch {
		case name == "tag-key":
			values = func(g *group) []string {
				return table.Each(g.Tags, func(t astypes.TagDescription) *string { return t.Key })
			}
		case name == "tag-value":
			values = func(g *group) []string {
				return table.Each(g.Tags, func(t astypes.TagDescription) *string { return t.Value })
			}
		case strings.HasPrefix(name, "tag:"):
			key := strings.TrimPrefix(name, "tag:")
			values = func(g *group) []string {
				var out []string
				for _, t := range g.Tags {
					if aws.ToString(t.Key) == key {
						out = append(out, aws.ToString(t.Value))
					}
				}
				return out
			}
		default:
			return nil, wire.Errorf("ValidationError", "Invalid filter type. The valid filter types are: tag-key, tag-value, tag:<key>")
		}
		// Auto Scaling compares whole values; it has no wildcards.
		list = slices.DeleteFunc(list, func(g *group) bool {
			return !slices.ContainsFunc(values(g), func(v string) bool { return slices.Contains(f.Values, v) })
		})
	}
	return list, nil
}

// DescribeAutoScalingInstances shows the groups' records of instances.
func (s AutoScaling) DescribeAutoScalingInstances(in *autoscaling.DescribeAutoScalingInstancesInput) (*autoscaling.DescribeAutoScalingInstancesOutput, error) {
	defer s.w.enter()()
	if len(in.InstanceIds) > 50 {
		return nil, wire.Errorf("ValidationError", "The number of instance ids that may be passed in is limited to 50")
	}
	var list []*astypes.AutoScalingInstanceDetails
	for _, g := range s.w.groups.All() {
		for _, i := range slices.Concat(g.Instances, g.warm) {
			if len(in.InstanceIds) > 0 && !slices.Contains(in.InstanceIds, aws.ToString(i.InstanceId)) {
				continue
			}
			d := astypes.AutoScalingInstanceDetails{
				AutoScalingGroupName: g.AutoScalingGroupName, AvailabilityZone: i.AvailabilityZone, HealthStatus: aws.String(strings.ToUpper(aws.ToString(i.HealthStatus))),
				InstanceId: i.InstanceId, InstanceType: i.InstanceType, LaunchTemplate: i.LaunchTemplate,
				LifecycleState: aws.String(string(i.LifecycleState)), ProtectedFromScaleIn: i.ProtectedFromScaleIn,
			}
			list = append(list, &d)
		}
	}
	size, err := asPageSize(in.MaxRecords)
	if err != nil {
		return nil, err
	}
	list, next, err := table.Page(list, func(d *astypes.AutoScalingInstanceDetails) *string { return d.InstanceId }, in.NextToken, size, errASToken)
	if err != nil {
		return nil, err
	}
	return &autoscaling.DescribeAutoScalingInstancesOutput{AutoScalingInstances: deepcopy.Each(list), NextToken: next}, nil
}

// DescribeScalingActivities lists activities, the newest first.
func (s AutoScaling) DescribeScalingActivities(in *autoscaling.DescribeScalingActivitiesInput) (*autoscaling.DescribeScalingActivitiesOutput, error) {
	defer s.w.enter()()
	if len(in.Filters) > 0 {
		return nil, wire.Errorf("ValidationError", "This world does not filter scaling activities.")
	}
	groups := s.w.groups.All()
	if in.AutoScalingGroupName != nil {
		g, err := s.w.groupNamed(in.AutoScalingGroupName)
		if err != nil {
			return nil, err
		}
		groups = []*group{g}
	}
	var list []*astypes.Activity
	for _, g := range groups {
		for _, a := range slices.Backward(g.activities) {
			if len(in.ActivityIds) == 0 || slices.Contains(in.ActivityIds, aws.ToString(a.ActivityId)) {
				list = append(list, &a.Activity)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *astypes.Activity) int { return aws.ToTime(b.StartTime).Compare(aws.ToTime(a.StartTime)) })
	size, err := asPageSize(in.MaxRecords)
	if in.MaxRecords == nil {
		size = asMaxPage
	}
	if err != nil {
		return nil, err
	}
	list, next, err := table.Page(list, func(a *astypes.Activity) *string { return a.ActivityId }, in.NextToken, size, errASToken)
	if err != nil {
		return nil, err
	}
	return &autoscaling.DescribeScalingActivitiesOutput{Activities: deepcopy.Each(list), NextToken: next}, nil
}

// DescribeLifecycleHooks lists a group's hooks.
func (s AutoScaling) DescribeLifecycleHooks(in *autoscaling.DescribeLifecycleHooksInput) (*autoscaling.DescribeLifecycleHooksOutput, error) {
	defer s.w.enter()()
	if _, err := s.w.groupNamed(in.AutoScalingGroupName); err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeLifecycleHooksOutput{}
	for _, h := range s.w.hooks.All() {
		if aws.ToString(h.AutoScalingGroupName) == *in.AutoScalingGroupName &&
			(len(in.LifecycleHookNames) == 0 || slices.Contains(in.LifecycleHookNames, aws.ToString(h.LifecycleHookName))) {
			out.LifecycleHooks = append(out.LifecycleHooks, deepcopy.Of(*h))
		}
	}
	return out, nil
}

// DescribeWarmPool shows a group's warm pool.
func (s AutoScaling) DescribeWarmPool(in *autoscaling.DescribeWarmPoolInput) (*autoscaling.DescribeWarmPoolOutput, error) {
	defer s.w.enter()()
	g, err := s.w.groupNamed(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	list := make([]*astypes.Instance, len(g.warm))
	for i := range g.warm {
		list[i] = &g.warm[i]
	}
	size, err := asPageSize(in.MaxRecords)
	if err != nil {
		return nil, err
	}
	list, next, err := table.Page(list, func(i *astypes.Instance) *string { return i.InstanceId }, in.NextToken, size, errASToken)
	if err != nil {
		return nil, err
	}
	return &autoscaling.DescribeWarmPoolOutput{Instances: deepcopy.Each(list), WarmPoolConfiguration: deepcopy.Of(g.WarmPoolConfiguration), NextToken: next}, nil
}

// DescribeTags lists the tags of all groups.
func (s AutoScaling) DescribeTags(in *autoscaling.DescribeTagsInput) (*autoscaling.DescribeTagsOutput, error) {
	defer s.w.enter()()
	type row struct {
		key string
		tag astypes.TagDescription
	}
	var list []*row
	for _, g := range s.w.groups.All() {
		for _, t := range g.Tags {
			list = append(list, &row{g.name() + "\x00" + aws.ToString(t.Key), t})
		}
	}
	for _, f := range in.Filters {
		var value func(astypes.TagDescription) string
		switch aws.ToString(f.Name) {
		case "auto-scaling-group":
			value = func(t astypes.TagDescription) string { return aws.ToString(t.ResourceId) }
		case "key":
			value = func(t astypes.TagDescription) string { return aws.ToString(t.Key) }
		case "value":
			value = func(t astypes.TagDescription) string { return aws.ToString(t.Value) }
		case "propagate-at-launch":
			value = func(t astypes.TagDescription) string { return table.YesNo(t.PropagateAtLaunch)[0] }
		default:
			return nil, wire.Errorf("ValidationError", "Invalid filter type. The valid filter types are: auto-scaling-group, key, value, propagate-at-launch")
		}
		list = slices.DeleteFunc(list, func(r *row) bool { return !slices.Contains(f.Values, value(r.tag)) })
	}
	size, err := asPageSize(in.MaxRecords)
	if err != nil {
		return nil, err
	}
	list, next, err := table.Page(list, func(r *row) *string { return &r.key }, in.NextToken, size, errASToken)
	if err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeTagsOutput{NextToken: next}
	for _, r := range list {
		out.Tags = append(out.Tags, deepcopy.Of(r.tag))
	}
	return out, nil
}
