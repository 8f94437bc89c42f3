package autoscaling

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/state"
)

// CompleteLifecycleAction ends an instance's wait in a hook.
func (s API) CompleteLifecycleAction(in *autoscaling.CompleteLifecycleActionInput) (*autoscaling.CompleteLifecycleActionOutput, error) {
	defer s.w.Enter()()
	g, id, _, err := waiting(s.w, in.AutoScalingGroupName, in.LifecycleHookName, in.InstanceId, in.LifecycleActionToken)
	if err != nil {
		return nil, err
	}
	result := aws.ToString(in.LifecycleActionResult)
	if result != "CONTINUE" && result != "ABANDON" {
		return nil, wire.Errorf("ValidationError", "Lifecycle Action Result must be CONTINUE or ABANDON")
	}
	lifecycle.CompleteHook(s.w, g, id, result)
	return &autoscaling.CompleteLifecycleActionOutput{}, nil
}

// RecordLifecycleActionHeartbeat begins the hook's time anew.
func (s API) RecordLifecycleActionHeartbeat(in *autoscaling.RecordLifecycleActionHeartbeatInput) (*autoscaling.RecordLifecycleActionHeartbeatOutput, error) {
	defer s.w.Enter()()
	g, id, hook, err := waiting(s.w, in.AutoScalingGroupName, in.LifecycleHookName, in.InstanceId, in.LifecycleActionToken)
	if err != nil {
		return nil, err
	}
	lifecycle.Heartbeat(s.w, g, id, hook)
	return &autoscaling.RecordLifecycleActionHeartbeatOutput{}, nil
}

// waiting finds the instance that waits in a hook, by its id or its token.
func waiting(w *state.State, name, hookName, instance, token *string) (*state.Group, string, *astypes.LifecycleHook, error) {
	g, err := groupNamed(w, name)
	if err != nil {
		return nil, "", nil, err
	}
	hook := w.Hooks.Get(state.HookKey(g.Name(), aws.ToString(hookName)))
	if hook == nil {
		return nil, "", nil, wire.Errorf("ValidationError", "No Lifecycle Hook found with name %s", aws.ToString(hookName))
	}
	for _, id := range slices.Sorted(maps.Keys(g.Waits)) {
		wait := g.Waits[id]
		if wait.Hook == *hookName && (id == aws.ToString(instance) || (token != nil && wait.Token == *token)) {
			return g, id, hook, nil
		}
	}
	if token != nil {
		return nil, "", nil, wire.Errorf("ValidationError", "No active Lifecycle Action found with token %s", *token)
	}
	return nil, "", nil, wire.Errorf("ValidationError", "No active Lifecycle Action found with instance ID %s", aws.ToString(instance))
}

// PutLifecycleHook makes or changes a hook.
func (s API) PutLifecycleHook(in *autoscaling.PutLifecycleHookInput) (*autoscaling.PutLifecycleHookOutput, error) {
	defer s.w.Enter()()
	g, err := groupNamed(s.w, in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	if t := aws.ToString(in.LifecycleTransition); t != state.TransitionLaunching && t != state.TransitionTerminating {
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
	defaults.Set(&h.HeartbeatTimeout, 3600)
	CompleteHookDefaults(h)
	s.w.Hooks.Put(state.HookKey(g.Name(), aws.ToString(in.LifecycleHookName)), deepcopy.Of(h))
	return &autoscaling.PutLifecycleHookOutput{}, nil
}

// DeleteLifecycleHook takes a hook away; those that wait in it go on.
func (s API) DeleteLifecycleHook(in *autoscaling.DeleteLifecycleHookInput) (*autoscaling.DeleteLifecycleHookOutput, error) {
	defer s.w.Enter()()
	g, err := groupNamed(s.w, in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	key := state.HookKey(g.Name(), aws.ToString(in.LifecycleHookName))
	if s.w.Hooks.Get(key) == nil {
		return nil, wire.Errorf("ValidationError", "No Lifecycle Hook found with name %s", aws.ToString(in.LifecycleHookName))
	}
	s.w.Hooks.Remove(key)
	for _, id := range slices.Sorted(maps.Keys(g.Waits)) {
		if g.Waits[id].Hook == *in.LifecycleHookName {
			lifecycle.CompleteHook(s.w, g, id, "CONTINUE")
		}
	}
	return &autoscaling.DeleteLifecycleHookOutput{}, nil
}
