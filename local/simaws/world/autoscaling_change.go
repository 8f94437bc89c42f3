package world

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
)

// SetDesiredCapacity asks for a number of instances within the group's bounds.
func (s AutoScaling) SetDesiredCapacity(in *autoscaling.SetDesiredCapacityInput) (*autoscaling.SetDesiredCapacityOutput, error) {
	defer s.w.enter()()
	g, err := s.w.groupNamed(in.AutoScalingGroupName)
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
		s.w.because(g, "a user request explicitly set group desired capacity changing the desired capacity from %d to %d.", was, want)
	}
	s.w.setCapacity(g, want)
	return &autoscaling.SetDesiredCapacityOutput{}, nil
}

// UpdateAutoScalingGroup changes a group's bounds, capacity, subnets and
// launch template.
func (s AutoScaling) UpdateAutoScalingGroup(in *autoscaling.UpdateAutoScalingGroupInput) (*autoscaling.UpdateAutoScalingGroupOutput, error) {
	defer s.w.enter()()
	g, err := s.w.groupNamed(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	if err := s.w.resize(g, in.MinSize, in.MaxSize, in.DesiredCapacity); err != nil {
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

// resize changes bounds and capacity. A capacity that is not given follows the
// bounds.
func (w *World) resize(g *group, minSize, maxSize, desired *int32) error {
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
		w.because(g, "a user request update of AutoScalingGroup constraints to min: %d, max: %d, desired: %d changing the desired capacity from %d to %d.", lo, hi, want, was, want)
	}
	w.setCapacity(g, want)
	return nil
}

// TerminateInstanceInAutoScalingGroup ends an instance; without a smaller
// capacity the group replaces it.
func (s AutoScaling) TerminateInstanceInAutoScalingGroup(in *autoscaling.TerminateInstanceInAutoScalingGroupInput) (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error) {
	defer s.w.enter()()
	w := s.w
	id := aws.ToString(in.InstanceId)
	if in.ShouldDecrementDesiredCapacity == nil {
		return nil, wire.Errorf("ValidationError", "1 validation error detected: Value null at 'shouldDecrementDesiredCapacity' failed to satisfy constraint: Member must not be null")
	}
	g := w.groupOf(id)
	var m *astypes.Instance
	if g != nil {
		m = g.member(id)
	}
	if m == nil {
		return nil, wire.Errorf("ValidationError", "Instance Id not found - No managed instance found for instance ID: %s", id)
	}
	if strings.HasPrefix(string(m.LifecycleState), "Terminat") {
		return nil, wire.Errorf("ScalingActivityInProgress", "Instance %s is already being terminated.", id)
	}
	cause := "At " + w.now.UTC().Format(time.RFC3339) + " instance " + id + " was taken out of service in response to a user request"
	if *in.ShouldDecrementDesiredCapacity {
		was := aws.ToInt32(g.DesiredCapacity)
		if was <= aws.ToInt32(g.MinSize) {
			return nil, wire.Errorf("ValidationError", "Currently, desiredSize equals minSize (%d). Terminating instance without replacement will violate group's min size constraint. Either set shouldDecrementDesiredCapacity flag to false or lower group's min size.", was)
		}
		g.DesiredCapacity = aws.Int32(was - 1)
		cause += ", shrinking the capacity from " + strconv.Itoa(int(was)) + " to " + strconv.Itoa(int(was-1))
	}
	a := w.endInGroup(g, id, cause+".")
	w.reconcileLater(g, reconcileTime)
	return &autoscaling.TerminateInstanceInAutoScalingGroupOutput{Activity: deepcopy.Of(&a.Activity)}, nil
}

// PutWarmPool gives a group a warm pool.
func (s AutoScaling) PutWarmPool(in *autoscaling.PutWarmPoolInput) (*autoscaling.PutWarmPoolOutput, error) {
	defer s.w.enter()()
	g, err := s.w.groupNamed(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	s.w.putWarmPool(g, astypes.WarmPoolConfiguration{
		InstanceReusePolicy: deepcopy.Of(in.InstanceReusePolicy), MaxGroupPreparedCapacity: deepcopy.Of(in.MaxGroupPreparedCapacity),
		MinSize: deepcopy.Of(in.MinSize), PoolState: in.PoolState,
	})
	return &autoscaling.PutWarmPoolOutput{}, nil
}

func (w *World) putWarmPool(g *group, c astypes.WarmPoolConfiguration) {
	orZero(&c.PoolState, astypes.WarmPoolStateStopped)
	or(&c.MinSize, 0)
	g.WarmPoolConfiguration = &c
	w.reconcileLater(g, reconcileTime)
}

// DeleteWarmPool takes the warm pool away and ends what is in it.
func (s AutoScaling) DeleteWarmPool(in *autoscaling.DeleteWarmPoolInput) (*autoscaling.DeleteWarmPoolOutput, error) {
	defer s.w.enter()()
	g, err := s.w.groupNamed(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	if g.WarmPoolConfiguration == nil {
		return nil, wire.Errorf("ValidationError", "No warm pool found for Auto Scaling group %s", g.name())
	}
	if len(g.warm) > 0 && !aws.ToBool(in.ForceDelete) {
		g.WarmPoolConfiguration.MinSize, g.WarmPoolConfiguration.MaxGroupPreparedCapacity = aws.Int32(0), aws.Int32(0)
	}
	g.WarmPoolConfiguration.Status = astypes.WarmPoolStatusPendingDelete
	s.w.fillWarmPool(g)
	g.WarmPoolConfiguration, g.WarmPoolSize = nil, nil
	return &autoscaling.DeleteWarmPoolOutput{}, nil
}

// SuspendProcesses stops processes of a group, all where none is named.
func (s AutoScaling) SuspendProcesses(in *autoscaling.SuspendProcessesInput) (*autoscaling.SuspendProcessesOutput, error) {
	defer s.w.enter()()
	g, err := s.w.groupNamed(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	for _, p := range processes(in.ScalingProcesses) {
		if !g.suspended(p) {
			g.SuspendedProcesses = append(g.SuspendedProcesses, astypes.SuspendedProcess{
				ProcessName: aws.String(p), SuspensionReason: aws.String("User suspended at " + s.w.now.UTC().Format(time.RFC3339)),
			})
		}
	}
	return &autoscaling.SuspendProcessesOutput{}, nil
}

// ResumeProcesses starts suspended processes again.
func (s AutoScaling) ResumeProcesses(in *autoscaling.ResumeProcessesInput) (*autoscaling.ResumeProcessesOutput, error) {
	defer s.w.enter()()
	g, err := s.w.groupNamed(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	resumed := processes(in.ScalingProcesses)
	g.SuspendedProcesses = slices.DeleteFunc(g.SuspendedProcesses, func(p astypes.SuspendedProcess) bool {
		return slices.Contains(resumed, aws.ToString(p.ProcessName))
	})
	s.w.reconcileLater(g, reconcileTime)
	return &autoscaling.ResumeProcessesOutput{}, nil
}

func processes(named []string) []string {
	if len(named) > 0 {
		return named
	}
	return []string{"Launch", "Terminate", "AddToLoadBalancer", "AlarmNotification", "AZRebalance", "HealthCheck", "InstanceRefresh", "ReplaceUnhealthy", "ScheduledActions"}
}

// CreateOrUpdateTags sets tags of groups.
func (s AutoScaling) CreateOrUpdateTags(in *autoscaling.CreateOrUpdateTagsInput) (*autoscaling.CreateOrUpdateTagsOutput, error) {
	defer s.w.enter()()
	for _, t := range in.Tags {
		if _, err := s.w.groupNamed(t.ResourceId); err != nil {
			return nil, err
		}
	}
	for _, t := range in.Tags {
		g := s.w.groups.Get(*t.ResourceId)
		g.Tags = slices.DeleteFunc(g.Tags, func(have astypes.TagDescription) bool { return aws.ToString(have.Key) == aws.ToString(t.Key) })
		g.Tags = append(g.Tags, deepcopy.Of(astypes.TagDescription{
			Key: t.Key, Value: t.Value, ResourceId: t.ResourceId, ResourceType: aws.String("auto-scaling-group"), PropagateAtLaunch: aws.Bool(aws.ToBool(t.PropagateAtLaunch)),
		}))
	}
	return &autoscaling.CreateOrUpdateTagsOutput{}, nil
}
