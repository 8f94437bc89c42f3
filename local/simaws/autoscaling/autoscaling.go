// Package autoscaling is the account's Auto Scaling API: one method for each
// operation.
package autoscaling

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

// API is the world's Auto Scaling API, one method for each operation.
type API struct{ w *state.State }

// New is the Auto Scaling API of an account.
func New(w *state.State) API { return API{w} }

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

func groupNamed(w *state.State, name *string) (*state.Group, error) {
	if g := w.Groups.Get(aws.ToString(name)); g != nil {
		return g, nil
	}
	return nil, wire.Errorf("ValidationError", "AutoScalingGroup name not found - %s", aws.ToString(name))
}

// DescribeAutoScalingGroups lists groups; an unknown name is no error.
func (s API) DescribeAutoScalingGroups(in *autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	defer s.w.Enter()()
	var list []*state.Group
	for _, g := range s.w.Groups.All() {
		if len(in.AutoScalingGroupNames) == 0 || slices.Contains(in.AutoScalingGroupNames, g.Name()) {
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
	list, next, err := table.Page(list, func(g *state.Group) *string { return g.AutoScalingGroupName }, in.NextToken, size, errASToken)
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

func matchGroups(list []*state.Group, want []astypes.Filter) ([]*state.Group, error) {
	for _, f := range want {
		name := aws.ToString(f.Name)
		var values func(*state.Group) []string
		switch {
		case name == "tag-key":
			values = func(g *state.Group) []string {
				return table.Each(g.Tags, func(t astypes.TagDescription) *string { return t.Key })
			}
		case name == "tag-value":
			values = func(g *state.Group) []string {
				return table.Each(g.Tags, func(t astypes.TagDescription) *string { return t.Value })
			}
		case strings.HasPrefix(name, "tag:"):
			key := strings.TrimPrefix(name, "tag:")
			values = func(g *state.Group) []string {
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
		list = slices.DeleteFunc(list, func(g *state.Group) bool {
			return !slices.ContainsFunc(values(g), func(v string) bool { return slices.Contains(f.Values, v) })
		})
	}
	return list, nil
}

// DescribeAutoScalingInstances shows the groups' records of instances.
func (s API) DescribeAutoScalingInstances(in *autoscaling.DescribeAutoScalingInstancesInput) (*autoscaling.DescribeAutoScalingInstancesOutput, error) {
	defer s.w.Enter()()
	if len(in.InstanceIds) > 50 {
		return nil, wire.Errorf("ValidationError", "The number of instance ids that may be passed in is limited to 50")
	}
	var list []*astypes.AutoScalingInstanceDetails
	for _, g := range s.w.Groups.All() {
		for _, i := range slices.Concat(g.Instances, g.Warm) {
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
func (s API) DescribeScalingActivities(in *autoscaling.DescribeScalingActivitiesInput) (*autoscaling.DescribeScalingActivitiesOutput, error) {
	defer s.w.Enter()()
	if len(in.Filters) > 0 {
		return nil, wire.Errorf("ValidationError", "This world does not filter scaling activities.")
	}
	groups := s.w.Groups.All()
	if in.AutoScalingGroupName != nil {
		g, err := groupNamed(s.w, in.AutoScalingGroupName)
		if err != nil {
			return nil, err
		}
		groups = []*state.Group{g}
	}
	var list []*astypes.Activity
	for _, g := range groups {
		for _, a := range slices.Backward(g.Activities) {
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
func (s API) DescribeLifecycleHooks(in *autoscaling.DescribeLifecycleHooksInput) (*autoscaling.DescribeLifecycleHooksOutput, error) {
	defer s.w.Enter()()
	if _, err := groupNamed(s.w, in.AutoScalingGroupName); err != nil {
		return nil, err
	}
	out := &autoscaling.DescribeLifecycleHooksOutput{}
	for _, h := range s.w.Hooks.All() {
		if aws.ToString(h.AutoScalingGroupName) == *in.AutoScalingGroupName &&
			(len(in.LifecycleHookNames) == 0 || slices.Contains(in.LifecycleHookNames, aws.ToString(h.LifecycleHookName))) {
			out.LifecycleHooks = append(out.LifecycleHooks, deepcopy.Of(*h))
		}
	}
	return out, nil
}

// DescribeWarmPool shows a group's warm pool.
func (s API) DescribeWarmPool(in *autoscaling.DescribeWarmPoolInput) (*autoscaling.DescribeWarmPoolOutput, error) {
	defer s.w.Enter()()
	g, err := groupNamed(s.w, in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	list := make([]*astypes.Instance, len(g.Warm))
	for i := range g.Warm {
		list[i] = &g.Warm[i]
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
func (s API) DescribeTags(in *autoscaling.DescribeTagsInput) (*autoscaling.DescribeTagsOutput, error) {
	defer s.w.Enter()()
	type row struct {
		key string
		tag astypes.TagDescription
	}
	var list []*row
	for _, g := range s.w.Groups.All() {
		for _, t := range g.Tags {
			list = append(list, &row{g.Name() + "\x00" + aws.ToString(t.Key), t})
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
