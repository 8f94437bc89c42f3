// Package autoscaling is the account's Auto Scaling API: one method for each
// operation.
package autoscaling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
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
		shown := state.Copy(g.AutoScalingGroup)
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
	return &autoscaling.DescribeAutoScalingInstancesOutput{AutoScalingInstances: state.CopyEach(list), NextToken: next}, nil
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
	return &autoscaling.DescribeScalingActivitiesOutput{Activities: state.CopyEach(list), NextToken: next}, nil
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
			out.LifecycleHooks = append(out.LifecycleHooks, state.Copy(*h))
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
	return &autoscaling.DescribeWarmPoolOutput{Instances: state.CopyEach(list), WarmPoolConfiguration: state.Copy(g.WarmPoolConfiguration), NextToken: next}, nil
}

// SetDesiredCapacity asks for a number of instances within the group's bounds.
func (s API) SetDesiredCapacity(in *autoscaling.SetDesiredCapacityInput) (*autoscaling.SetDesiredCapacityOutput, error) {
	defer s.w.Enter()()
	g, err := groupNamed(s.w, in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	want, was := aws.ToInt32(in.DesiredCapacity), aws.ToInt32(g.DesiredCapacity)
	if want > aws.ToInt32(g.MaxSize) {
		return nil, wire.Errorf("ValidationError", "New SetDesiredCapacity value %d is above max value %d for the AutoScalingGroup.", want, aws.ToInt32(g.MaxSize))
	}
	if want < aws.ToInt32(g.MinSize) {
		return nil, wire.Errorf("ValidationError", "New SetDesiredCapacity value %d is below min value %d for the AutoScalingGroup.", want, aws.ToInt32(g.MinSize))
	}
	if want != was {
		s.w.Because(g, "a user request explicitly set group desired capacity changing the desired capacity from %d to %d.", was, want)
	}
	lifecycle.SetCapacity(s.w, g, want)
	return &autoscaling.SetDesiredCapacityOutput{}, nil
}

// UpdateAutoScalingGroup changes a group's bounds, capacity, subnets and
// launch template.
func (s API) UpdateAutoScalingGroup(in *autoscaling.UpdateAutoScalingGroupInput) (*autoscaling.UpdateAutoScalingGroupOutput, error) {
	defer s.w.Enter()()
	g, err := groupNamed(s.w, in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	if err := Resize(s.w, g, in.MinSize, in.MaxSize, in.DesiredCapacity); err != nil {
		return nil, err
	}
	if in.VPCZoneIdentifier != nil {
		g.VPCZoneIdentifier = state.Copy(in.VPCZoneIdentifier)
	}
	if in.LaunchTemplate != nil {
		g.LaunchTemplate, g.MixedInstancesPolicy = state.Copy(in.LaunchTemplate), nil
	}
	if in.MixedInstancesPolicy != nil {
		g.MixedInstancesPolicy, g.LaunchTemplate = state.Copy(in.MixedInstancesPolicy), nil
	}
	if in.NewInstancesProtectedFromScaleIn != nil {
		g.NewInstancesProtectedFromScaleIn = state.Copy(in.NewInstancesProtectedFromScaleIn)
	}
	if in.CapacityRebalance != nil {
		g.CapacityRebalance = state.Copy(in.CapacityRebalance)
	}
	return &autoscaling.UpdateAutoScalingGroupOutput{}, nil
}

// Resize changes bounds and capacity. A capacity that is not given follows the
// bounds.
func Resize(w *state.State, g *state.Group, minSize, maxSize, desired *int32) error {
	lo, hi, was := aws.ToInt32(g.MinSize), aws.ToInt32(g.MaxSize), aws.ToInt32(g.DesiredCapacity)
	if minSize != nil {
		lo = *minSize
	}
	if maxSize != nil {
		hi = *maxSize
	}
	if lo < 0 || hi < 0 {
		return wire.Errorf("ValidationError", "Min and max bounds must not be negative.")
	}
	if lo > hi {
		return wire.Errorf("ValidationError", "Max bound, %d, must be greater than or equal to min bound, %d", hi, lo)
	}
	want := min(max(was, lo), hi)
	if desired != nil {
		want = *desired
	}
	if want < lo || want > hi {
		return wire.Errorf("ValidationError", "Desired capacity:%d must be between the specified min size:%d and max size:%d", want, lo, hi)
	}
	g.MinSize, g.MaxSize = aws.Int32(lo), aws.Int32(hi)
	if want != was {
		w.Because(g, "a user request update of AutoScalingGroup constraints to min: %d, max: %d, desired: %d changing the desired capacity from %d to %d.", lo, hi, want, was, want)
	}
	lifecycle.SetCapacity(w, g, want)
	return nil
}

// TerminateInstanceInAutoScalingGroup ends an instance; without a smaller
// capacity the group replaces it.
func (s API) TerminateInstanceInAutoScalingGroup(in *autoscaling.TerminateInstanceInAutoScalingGroupInput) (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error) {
	defer s.w.Enter()()
	w := s.w
	id := aws.ToString(in.InstanceId)
	if in.ShouldDecrementDesiredCapacity == nil {
		return nil, wire.Errorf("ValidationError", "1 validation error detected: Value null at 'shouldDecrementDesiredCapacity' failed to satisfy constraint: Member must not be null")
	}
	g := w.GroupOf(id)
	var m *astypes.Instance
	if g != nil {
		m = g.Member(id)
	}
	if m == nil {
		return nil, wire.Errorf("ValidationError", "Instance Id not found - No managed instance found for instance ID: %s", id)
	}
	if strings.HasPrefix(string(m.LifecycleState), "Terminat") {
		return nil, wire.Errorf("ScalingActivityInProgress", "Instance %s is already being terminated.", id)
	}
	cause := "At " + w.Now.UTC().Format(time.RFC3339) + " instance " + id + " was taken out of service in response to a user request"
	if *in.ShouldDecrementDesiredCapacity {
		was := aws.ToInt32(g.DesiredCapacity)
		if was <= aws.ToInt32(g.MinSize) {
			return nil, wire.Errorf("ValidationError", "Currently, desiredSize equals minSize (%d). Terminating instance without replacement will violate group's min size constraint. Either set shouldDecrementDesiredCapacity flag to false or lower group's min size.", was)
		}
		g.DesiredCapacity = aws.Int32(was - 1)
		cause += ", shrinking the capacity from " + strconv.Itoa(int(was)) + " to " + strconv.Itoa(int(was-1))
	}
	a := lifecycle.EndInGroup(w, g, id, cause+".")
	lifecycle.ReconcileLater(w, g, lifecycle.ReconcileTime)
	return &autoscaling.TerminateInstanceInAutoScalingGroupOutput{Activity: state.Copy(&a.Activity)}, nil
}

// PutWarmPool gives a group a warm pool.
func (s API) PutWarmPool(in *autoscaling.PutWarmPoolInput) (*autoscaling.PutWarmPoolOutput, error) {
	defer s.w.Enter()()
	g, err := groupNamed(s.w, in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	PutWarmPool(s.w, g, astypes.WarmPoolConfiguration{
		InstanceReusePolicy: state.Copy(in.InstanceReusePolicy), MaxGroupPreparedCapacity: state.Copy(in.MaxGroupPreparedCapacity),
		MinSize: state.Copy(in.MinSize), PoolState: in.PoolState,
	})
	return &autoscaling.PutWarmPoolOutput{}, nil
}

// PutWarmPool gives a group a warm pool.
func PutWarmPool(w *state.State, g *state.Group, c astypes.WarmPoolConfiguration) {
	state.DefaultPlain(&c.PoolState, astypes.WarmPoolStateStopped)
	state.Default(&c.MinSize, 0)
	g.WarmPoolConfiguration = &c
	lifecycle.ReconcileLater(w, g, lifecycle.ReconcileTime)
}

// SuspendProcesses stops processes of a group, all where none is named.
func (s API) SuspendProcesses(in *autoscaling.SuspendProcessesInput) (*autoscaling.SuspendProcessesOutput, error) {
	defer s.w.Enter()()
	g, err := groupNamed(s.w, in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	for _, p := range processes(in.ScalingProcesses) {
		if !g.Suspended(p) {
			g.SuspendedProcesses = append(g.SuspendedProcesses, astypes.SuspendedProcess{
				ProcessName: aws.String(p), SuspensionReason: aws.String("User suspended at " + s.w.Now.UTC().Format(time.RFC3339)),
			})
		}
	}
	return &autoscaling.SuspendProcessesOutput{}, nil
}

// ResumeProcesses starts suspended processes again.
func (s API) ResumeProcesses(in *autoscaling.ResumeProcessesInput) (*autoscaling.ResumeProcessesOutput, error) {
	defer s.w.Enter()()
	g, err := groupNamed(s.w, in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	resumed := processes(in.ScalingProcesses)
	g.SuspendedProcesses = slices.DeleteFunc(g.SuspendedProcesses, func(p astypes.SuspendedProcess) bool {
		return slices.Contains(resumed, aws.ToString(p.ProcessName))
	})
	lifecycle.ReconcileLater(s.w, g, lifecycle.ReconcileTime)
	return &autoscaling.ResumeProcessesOutput{}, nil
}

func processes(named []string) []string {
	if len(named) > 0 {
		return named
	}
	return []string{"Launch", "Terminate", "AddToLoadBalancer", "AlarmNotification", "AZRebalance", "HealthCheck", "InstanceRefresh", "ReplaceUnhealthy", "ScheduledActions"}
}

// CreateOrUpdateTags sets tags of groups.
func (s API) CreateOrUpdateTags(in *autoscaling.CreateOrUpdateTagsInput) (*autoscaling.CreateOrUpdateTagsOutput, error) {
	defer s.w.Enter()()
	for _, t := range in.Tags {
		if _, err := groupNamed(s.w, t.ResourceId); err != nil {
			return nil, err
		}
	}
	for _, t := range in.Tags {
		g := s.w.Groups.Get(*t.ResourceId)
		g.Tags = slices.DeleteFunc(g.Tags, func(have astypes.TagDescription) bool { return aws.ToString(have.Key) == aws.ToString(t.Key) })
		g.Tags = append(g.Tags, state.Copy(astypes.TagDescription{
			Key: t.Key, Value: t.Value, ResourceId: t.ResourceId, ResourceType: aws.String("auto-scaling-group"), PropagateAtLaunch: aws.Bool(aws.ToBool(t.PropagateAtLaunch)),
		}))
	}
	return &autoscaling.CreateOrUpdateTagsOutput{}, nil
}

// CompleteHookDefaults fills in what a lifecycle hook leaves out.
func CompleteHookDefaults(h *astypes.LifecycleHook) {
	state.Default(&h.DefaultResult, "CONTINUE")
	state.Default(&h.HeartbeatTimeout, 1800)
	// The longest wait: 48 hours or 100 heartbeats, whichever is less.
	state.Default(&h.GlobalTimeout, min(48*3600, 100**h.HeartbeatTimeout))
}

// PutGroup fills in what every group has and keeps it.
func PutGroup(w *state.State, g *state.Group) {
	state.Default(&g.AutoScalingGroupARN, w.ARN("autoscaling", "autoScalingGroup:"+w.IDs.UUID()+":autoScalingGroupName/"+g.Name()))
	state.Default(&g.MinSize, 0)
	state.Default(&g.MaxSize, *g.MinSize)
	state.Default(&g.DesiredCapacity, *g.MinSize)
	state.Default(&g.DefaultCooldown, 300)
	state.Default(&g.HealthCheckType, "EC2")
	state.Default(&g.HealthCheckGracePeriod, 15)
	state.Default(&g.NewInstancesProtectedFromScaleIn, false)
	state.Default(&g.CapacityRebalance, false)
	state.Default(&g.CreatedTime, w.Start.Add(-state.Age))
	state.Default(&g.ServiceLinkedRoleARN, fmt.Sprintf("arn:aws:iam::%s:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling", w.Account))
	if g.TerminationPolicies == nil {
		g.TerminationPolicies = []string{"AllocationStrategy", "OldestLaunchTemplate", "OldestInstance"}
	}
	if g.AvailabilityZones == nil {
		seen := map[string]bool{}
		for _, id := range g.Subnets() {
			if s := w.Subnets.Get(id); s != nil && !seen[aws.ToString(s.AvailabilityZone)] {
				seen[aws.ToString(s.AvailabilityZone)] = true
				g.AvailabilityZones = append(g.AvailabilityZones, aws.ToString(s.AvailabilityZone))
			}
		}
	}
	for i := range g.Tags {
		t := &g.Tags[i]
		state.Default(&t.ResourceId, g.Name())
		state.Default(&t.ResourceType, "auto-scaling-group")
		state.Default(&t.PropagateAtLaunch, true)
	}
	if c, ok := w.File.AutoScaling.WarmPools[g.Name()]; ok {
		state.DefaultPlain(&c.PoolState, astypes.WarmPoolStateStopped)
		g.WarmPoolConfiguration = &c
	}
	w.Groups.Put(g.Name(), g)
}
