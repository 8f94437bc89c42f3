package world

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
)

// CompleteLifecycleAction ends an instance's wait in a hook.
func (s AutoScaling) CompleteLifecycleAction(in *autoscaling.CompleteLifecycleActionInput) (*autoscaling.CompleteLifecycleActionOutput, error) {
	defer s.w.enter()()
	g, id, _, err := s.w.waiting(in.AutoScalingGroupName, in.LifecycleHookName, in.InstanceId, in.LifecycleActionToken)
	if err != nil {
		return nil, err
	}
	result := aws.ToString(in.LifecycleActionResult)
	if result != "CONTINUE" && result != "ABANDON" {
		return nil, wire.Errorf("ValidationError", "Lifecycle Action Result must be CONTINUE or ABANDON")
	}
	s.w.completeHook(g, id, result)
	return &autoscaling.CompleteLifecycleActionOutput{}, nil
}

// RecordLifecycleActionHeartbeat begins the hook's time anew.
func (s AutoScaling) RecordLifecycleActionHeartbeat(in *autoscaling.RecordLifecycleActionHeartbeatInput) (*autoscaling.RecordLifecycleActionHeartbeatOutput, error) {
	defer s.w.enter()()
	g, id, hook, err := s.w.waiting(in.AutoScalingGroupName, in.LifecycleHookName, in.InstanceId, in.LifecycleActionToken)
	if err != nil {
		return nil, err
	}
	s.w.heartbeat(g, id, hook)
	return &autoscaling.RecordLifecycleActionHeartbeatOutput{}, nil
}

// waiting finds the instance that waits in a hook, by its id or its token.
func (w *World) waiting(name, hookName, instance, token *string) (*group, string, *astypes.LifecycleHook, error) {
	g, err := w.groupNamed(name)
	if err != nil {
		return nil, "", nil, err
	}
	hook := w.hooks.Get(hookKey(g.name(), aws.ToString(hookName)))
	if hook == nil {
		return nil, "", nil, wire.Errorf("ValidationError", "No Lifecycle Hook found with name %s", aws.ToString(hookName))
	}
	for _, id := range slices.Sorted(maps.Keys(g.waits)) {
		wait := g.waits[id]
		if wait.hook == *hookName && (id == aws.ToString(instance) || (token != nil && wait.token == *token)) {
			return g, id, hook, nil
		}
	}
	if token != nil {
		return nil, "", nil, wire.Errorf("ValidationError", "No active Lifecycle Action found with token %s", *token)
	}
	return nil, "", nil, wire.Errorf("ValidationError", "No active Lifecycle Action found with instance ID %s", aws.ToString(instance))
}

// PutLifecycleHook makes or changes a hook.
func (s AutoScaling) PutLifecycleHook(in *autoscaling.PutLifecycleHookInput) (*autoscaling.PutLifecycleHookOutput, error) {
	defer s.w.enter()()
	g, err := s.w.groupNamed(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	if t := aws.ToString(in.LifecycleTransition); t != transitionLaunching && t != transitionTerminating {
		return nil, wire.Errorf("ValidationError", "Unsupported Lifecycle Transition: %s", t)
	}
	if h := in.HeartbeatTimeout; h != nil && (*h < 30 || *h > 7200) {
		return nil, wire.Errorf("ValidationError", "Heartbeat timeout must be between 30 and 7200 seconds.")
	}
	h := &astypes.LifecycleHook{
		AutoScalingGroupName: in.AutoScalingGroupName, LifecycleHookName: in.LifecycleHookName, LifecycleTransition: in.LifecycleTransition,
		DefaultResult: in.DefaultResult, HeartbeatTimeout: in.HeartbeatTimeout, NotificationMetadata: in.NotificationMetadata,
		NotificationTargetARN: in.NotificationTargetARN, RoleARN: in.RoleARN,
	}
	if h.DefaultResult == nil {
		// The API's own default is ABANDON; EKS sets CONTINUE on its hooks.
		h.DefaultResult = aws.String("ABANDON")
	}
	or(&h.HeartbeatTimeout, 3600)
	completeHookDefaults(h)
	s.w.hooks.Put(hookKey(g.name(), aws.ToString(in.LifecycleHookName)), deepcopy.Of(h))
	return &autoscaling.PutLifecycleHookOutput{}, nil
}

// DeleteLifecycleHook takes a hook away; those that wait in it go on.
func (s AutoScaling) DeleteLifecycleHook(in *autoscaling.DeleteLifecycleHookInput) (*autoscaling.DeleteLifecycleHookOutput, error) {
	defer s.w.enter()()
	g, err := s.w.groupNamed(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	key := hookKey(g.name(), aws.ToString(in.LifecycleHookName))
	if s.w.hooks.Get(key) == nil {
		return nil, wire.Errorf("ValidationError", "No Lifecycle Hook found with name %s", aws.ToString(in.LifecycleHookName))
	}
	s.w.hooks.Remove(key)
	for _, id := range slices.Sorted(maps.Keys(g.waits)) {
		if g.waits[id].hook == *in.LifecycleHookName {
			s.w.completeHook(g, id, "CONTINUE")
		}
	}
	return &autoscaling.DeleteLifecycleHookOutput{}, nil
}
