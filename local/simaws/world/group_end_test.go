package world

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

func TestHookWaitsForTheNode(t *testing.T) {
	w, events := open(t, "healthy-nat")
	state := func() string {
		g := w.Groups.Get(storyGroup)
		return string(g.Instances[0].LifecycleState) + " " + string(g.Activities[0].StatusCode)
	}
	w.Advance(w.Start().Add(30 * time.Second))
	if got := state(); got != "Pending:Wait MidLifecycleAction" {
		t.Errorf("before the node: got %q", got)
	}
	if got := told(t, *events, "EC2 Instance Launch Successful"); len(got) != 0 {
		t.Errorf("success was told before the node: %v", got)
	}
	w.Advance(w.Start().Add(2 * time.Minute))
	if got := state(); got != "InService Successful" {
		t.Errorf("after the node: got %q", got)
	}
}

func TestHookRunsOut(t *testing.T) {
	w, _ := open(t, "healthy-nat")
	if _, err := w.EC2().DeleteNatGateway(&ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(storyNAT)}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(29 * time.Minute))
	g := w.Groups.Get(storyGroup)
	if got := g.Instances[0].LifecycleState; got != "Pending:Wait" {
		t.Errorf("after 29 min: got %s, want Pending:Wait", got)
	}
	w.Advance(w.Start().Add(31 * time.Minute))
	if got := g.Instances[0].LifecycleState; got != "InService" {
		t.Errorf("after 31 min: got %s, want InService", got)
	}
}

func TestCompleteLifecycleAction(t *testing.T) {
	w, events := open(t, "healthy-nat")
	w.Advance(w.Start().Add(20 * time.Second))
	id := members(t, w)[0]
	complete := func(result string) error {
		_, err := w.AutoScaling().CompleteLifecycleAction(&autoscaling.CompleteLifecycleActionInput{
			AutoScalingGroupName: aws.String(storyGroup), LifecycleHookName: aws.String("Launch-LC-Hook"), InstanceId: aws.String(id), LifecycleActionResult: aws.String(result),
		})
		return err
	}
	if err := complete("ABANDON"); err != nil {
		t.Fatal(err)
	}
	if err := complete("CONTINUE"); code(t, err) != "ValidationError" {
		t.Errorf("twice: got %v", err)
	}
	if got := told(t, *events, "EC2 Instance Launch Unsuccessful"); len(got) != 1 {
		t.Errorf("an abandoned launch: got %d events, want 1", len(got))
	}
	wantAbandoned(t, w, "Lifecycle Action Completed with ABANDON Result")
}

// A launch hook that nothing completes in time abandons the launch, where that is its
// default result.
func TestHookRunsOutAndAbandons(t *testing.T) {
	w, _ := open(t, "healthy-nat")
	if _, err := w.AutoScaling().PutLifecycleHook(&autoscaling.PutLifecycleHookInput{
		AutoScalingGroupName: aws.String(storyGroup), LifecycleHookName: aws.String("Launch-LC-Hook"), LifecycleTransition: aws.String("autoscaling:EC2_INSTANCE_LAUNCHING"),
		HeartbeatTimeout: aws.Int32(30), DefaultResult: aws.String("ABANDON"),
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.EC2().DeleteNatGateway(&ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(storyNAT)}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(2 * time.Minute))
	wantAbandoned(t, w, "Heartbeat Timeout")
}

// wantAbandoned wants a cancelled launch with the words of the user guide.
func wantAbandoned(t *testing.T, w *World, why string) {
	t.Helper()
	for _, a := range activities(t, w, storyGroup) {
		if a.StatusCode != "Cancelled" {
			continue
		}
		if got := aws.ToString(a.StatusMessage); !strings.HasPrefix(got, "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token ") || !strings.HasSuffix(got, " was abandoned: "+why) {
			t.Errorf("got %q", got)
		}
		return
	}
	t.Error("no cancelled activity")
}

func TestScaleInAndReplace(t *testing.T) {
	w, events := open(t, "healthy-nat")
	w.Advance(w.Start().Add(2 * time.Minute))
	first := members(t, w)[0]

	_, err := w.AutoScaling().TerminateInstanceInAutoScalingGroup(&autoscaling.TerminateInstanceInAutoScalingGroupInput{InstanceId: aws.String("i-0d0000000000000a1"), ShouldDecrementDesiredCapacity: aws.Bool(true)})
	if got := code(t, err); got != "ValidationError" {
		t.Errorf("below the minimum: got %q", got)
	}

	if _, err := w.EC2().TerminateInstances(&ec2.TerminateInstancesInput{InstanceIds: []string{first}}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Now().Add(3 * time.Minute))
	second := members(t, w)[0]
	if second == first || readiness(t, w, second) != "True" || readiness(t, w, first) != "" {
		t.Errorf("after the loss of %s: group has %s, Ready %q; old node %q", first, second, readiness(t, w, second), readiness(t, w, first))
	}
	if got := *activities(t, w, storyGroup)[0].Cause; !strings.HasSuffix(got, "an instance was launched in response to an unhealthy instance needing to be replaced.") {
		t.Errorf("cause of the replacement: got %q", got)
	}

	scale(t, w, 0)
	w.Advance(w.Now().Add(2 * time.Minute))
	if got := members(t, w); len(got) != 0 {
		t.Errorf("after scale-in: got %q", got)
	}
	a := activities(t, w, storyGroup)[0]
	if a.StatusCode != "Successful" || !strings.Contains(*a.Cause, "shrinking the capacity from 1 to 0.  At ") || !strings.HasSuffix(*a.Cause, "instance "+second+" was selected for termination.") {
		t.Errorf("got %s %q", a.StatusCode, *a.Cause)
	}
	ended := told(t, *events, "EC2 Instance Terminate Successful")
	if last := ended[len(ended)-1]; last["EC2InstanceId"] != second || last["Origin"] != "AutoScalingGroup" || last["Destination"] != "EC2" {
		t.Errorf("terminate event: got %v", last)
	}
	if got := freeOf(t, w, storySubnet); got != 8187 {
		t.Errorf("free: got %d, want all 8187 back", got)
	}
}
