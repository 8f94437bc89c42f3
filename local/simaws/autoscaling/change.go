package autoscaling

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/state"
)

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
		g.VPCZoneIdentifier = deepcopy.Of(in.VPCZoneIdentifier)
	}
	if in.LaunchTemplate != nil {
		g.LaunchTemplate, g.MixedInstancesPolicy = deepcopy.Of(in.LaunchTemplate), nil
	}
	if in.MixedInstancesPolicy != nil {
		g.MixedInstancesPolicy, g.LaunchTemplate = deepcopy.Of(in.MixedInstancesPolicy), nil
	}
	if in.NewInstancesProtectedFromScaleIn != nil {
		g.NewInstancesProtectedFromScaleIn = deepcopy.Of(in.NewInstancesProtectedFromScaleIn)
	}
	if in.CapacityRebalance != nil {
		g.CapacityRebalance = deepcopy.Of(in.CapacityRebalance)
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
	return &autoscaling.TerminateInstanceInAutoScalingGroupOutput{Activity: deepcopy.Of(&a.Activity)}, nil
}

// PutWarmPool gives a group a warm pool.
func (s API) PutWarmPool(in *autoscaling.PutWarmPoolInput) (*autoscaling.PutWarmPoolOutput, error) {
	defer s.w.Enter()()
	g, err := groupNamed(s.w, in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	PutWarmPool(s.w, g, astypes.WarmPoolConfiguration{
		InstanceReusePolicy: deepcopy.Of(in.InstanceReusePolicy), MaxGroupPreparedCapacity: deepcopy.Of(in.MaxGroupPreparedCapacity),
		MinSize: deepcopy.Of(in.MinSize), PoolState: in.PoolState,
	})
	return &autoscaling.PutWarmPoolOutput{}, nil
}

// PutWarmPool gives a group a warm pool.
func PutWarmPool(w *state.State, g *state.Group, c astypes.WarmPoolConfiguration) {
	defaults.SetPlain(&c.PoolState, astypes.WarmPoolStateStopped)
	defaults.Set(&c.MinSize, 0)
	g.WarmPoolConfiguration = &c
	lifecycle.ReconcileLater(w, g, lifecycle.ReconcileTime)
}

// DeleteWarmPool takes the warm pool away and ends what is in it.
func (s API) DeleteWarmPool(in *autoscaling.DeleteWarmPoolInput) (*autoscaling.DeleteWarmPoolOutput, error) {
	defer s.w.Enter()()
	g, err := groupNamed(s.w, in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	if g.WarmPoolConfiguration == nil {
		return nil, wire.Errorf("ValidationError", "No warm pool found for Auto Scaling group %s", g.Name())
	}
	if len(g.Warm) > 0 && !aws.ToBool(in.ForceDelete) {
		g.WarmPoolConfiguration.MinSize, g.WarmPoolConfiguration.MaxGroupPreparedCapacity = aws.Int32(0), aws.Int32(0)
	}
	g.WarmPoolConfiguration.Status = astypes.WarmPoolStatusPendingDelete
	lifecycle.FillWarmPool(s.w, g)
	g.WarmPoolConfiguration, g.WarmPoolSize = nil, nil
	return &autoscaling.DeleteWarmPoolOutput{}, nil
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
		g.Tags = append(g.Tags, deepcopy.Of(astypes.TagDescription{
			Key: t.Key, Value: t.Value, ResourceId: t.ResourceId, ResourceType: aws.String("auto-scaling-group"), PropagateAtLaunch: aws.Bool(aws.ToBool(t.PropagateAtLaunch)),
		}))
	}
	return &autoscaling.CreateOrUpdateTagsOutput{}, nil
}
