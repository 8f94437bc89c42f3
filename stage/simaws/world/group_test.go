package world

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rollcall/stage/simaws/state"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"
)

const defaultGroupName = "eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"

func activities(t *testing.T, w *World, group string) []astypes.Activity {
	t.Helper()
	out, err := w.AutoScaling().DescribeScalingActivities(&autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: aws.String(group)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Activities
}

// eventDetails are the details of the events of one kind.
func eventDetails(t *testing.T, events []json.RawMessage, kind string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, e := range events {
		var env struct {
			Kind   string         `json:"detail-type"`
			Detail map[string]any `json:"detail"`
		}
		if err := json.Unmarshal(e, &env); err != nil {
			t.Fatal(err)
		}
		if env.Kind == kind {
			out = append(out, env.Detail)
		}
	}
	return out
}

func TestCapacityBounds(t *testing.T) {
	w, _ := open(t, "route")
	tests := map[string]struct {
		call func() error
		want string
	}{
		"above max": {func() error {
			_, err := w.AutoScaling().SetDesiredCapacity(&autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: aws.String(storyGroup), DesiredCapacity: aws.Int32(2)})
			return err
		}, "ValidationError: New SetDesiredCapacity value 2 is above max value 1 for the AutoScalingGroup."},
		"below min": {func() error {
			_, err := w.AutoScaling().SetDesiredCapacity(&autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: aws.String(defaultGroupName), DesiredCapacity: aws.Int32(1)})
			return err
		}, "ValidationError: New SetDesiredCapacity value 1 is below min value 3 for the AutoScalingGroup."},
		"min above max": {func() error {
			_, err := w.AutoScaling().UpdateAutoScalingGroup(&autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: aws.String(storyGroup), MinSize: aws.Int32(2)})
			return err
		}, "ValidationError: Max bound, 1, must be greater than or equal to min bound, 2"},
		"desired outside": {func() error {
			_, err := w.AutoScaling().UpdateAutoScalingGroup(&autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: aws.String(storyGroup), DesiredCapacity: aws.Int32(9)})
			return err
		}, "ValidationError: Desired capacity:9 must be between the specified min size:0 and max size:1"},
		"unknown group": {func() error {
			_, err := w.AutoScaling().SetDesiredCapacity(&autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: aws.String("x"), DesiredCapacity: aws.Int32(2)})
			return err
		}, "ValidationError: AutoScalingGroup name not found - x"},
		"EKS above max": {func() error {
			_, err := w.EKS().UpdateNodegroupConfig(&eks.UpdateNodegroupConfigInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("new_nodegroup_2"), ScalingConfig: &ekstypes.NodegroupScalingConfig{DesiredSize: aws.Int32(2)}})
			return err
		}, "InvalidParameterException: desired capacity 2 can't be greater than max size 1"},
		"EKS below min": {func() error {
			_, err := w.EKS().UpdateNodegroupConfig(&eks.UpdateNodegroupConfigInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("default"), ScalingConfig: &ekstypes.NodegroupScalingConfig{DesiredSize: aws.Int32(2)}})
			return err
		}, "InvalidParameterException: Minimum capacity 3 can't be greater than desired size 2"},
		"EKS unknown nodegroup": {func() error {
			_, err := w.EKS().UpdateNodegroupConfig(&eks.UpdateNodegroupConfigInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("x")})
			return err
		}, "ResourceNotFoundException: No node group found for name: x."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := tt.call(); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestLaunchTexts(t *testing.T) {
	w, events := open(t, "route")
	scale(t, w, 1)
	w.Advance(w.Start().Add(2 * time.Minute))
	a := activities(t, w, storyGroup)[0]
	if got, want := *a.Cause, "At 2026-11-20T14:58:03Z a user request update of AutoScalingGroup constraints to min: 0, max: 1, desired: 1 changing the desired capacity from 0 to 1.  At 2026-11-20T14:58:05Z an instance was started in response to a difference between desired and actual capacity, increasing the capacity from 0 to 1."; got != want {
		t.Errorf("cause:\n got %q\nwant %q", got, want)
	}
	if got, want := *a.Details, `{"Subnet ID":"subnet-0c30000000000000d","Availability Zone":"us-west-2a"}`; got != want {
		t.Errorf("details: got %q, want %q", got, want)
	}
	if a.StatusCode != "Successful" || *a.Progress != 100 || a.EndTime == nil {
		t.Errorf("got %s, %d%%", a.StatusCode, *a.Progress)
	}
	id := members(t, w)[0]
	got := eventDetails(t, *events, "EC2 Instance-launch Lifecycle Action")
	for _, d := range got {
		delete(d, "LifecycleActionToken")
	}
	want := []map[string]any{{
		"AutoScalingGroupName": storyGroup, "LifecycleHookName": "Launch-LC-Hook", "EC2InstanceId": id,
		"LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING", "Origin": "EC2", "Destination": "AutoScalingGroup",
	}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("lifecycle action (-got +want):\n%s", diff)
	}
	done := eventDetails(t, *events, "EC2 Instance Launch Successful")
	if len(done) != 1 || done[0]["StatusCode"] != "InProgress" || done[0]["EC2InstanceId"] != id || done[0]["Details"].(map[string]any)["Subnet ID"] != storySubnet {
		t.Errorf("launch successful: got %v", done)
	}
	out, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		t.Fatal(err)
	}
	in := out.Reservations[0].Instances[0]
	tags := map[string]string{}
	for _, tag := range in.Tags {
		tags[*tag.Key] = *tag.Value
	}
	delete(tags, "aws:ec2launchtemplate:id")
	wantTags := map[string]string{
		"aws:autoscaling:groupName": storyGroup, "aws:ec2launchtemplate:version": "1", "eks:cluster-name": "eks-workshop", "eks:nodegroup-name": "new_nodegroup_2",
		"k8s.io/cluster-autoscaler/eks-workshop": "owned", "k8s.io/cluster-autoscaler/enabled": "true", "kubernetes.io/cluster/eks-workshop": "owned",
	}
	if diff := cmp.Diff(tags, wantTags); diff != "" {
		t.Errorf("tags (-got +want):\n%s", diff)
	}
	if in.InstanceType != "m5.large" || !strings.HasSuffix(*in.IamInstanceProfile.Arn, "/eks-e2ca4e02-248f-cb7e-45a7-6fa9b0230007") {
		t.Errorf("got %s with %s", in.InstanceType, *in.IamInstanceProfile.Arn)
	}
}

func TestFullSubnetFailsTheLaunch(t *testing.T) {
	w, events := open(t, "subnet-exhausted")
	if err := w.Pools[storySubnet].State(0); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(20 * time.Second))
	list := activities(t, w, storyGroup)
	const text = "There are not enough free addresses in subnet 'subnet-0c30000000000000d' to satisfy the requested number of instances. Launching EC2 instance failed."
	if len(list) != 1 || list[0].StatusCode != "Failed" || *list[0].StatusMessage != text || *list[0].Description != "Launching a new EC2 instance.  Status Reason: "+text {
		t.Fatalf("got %v", launched(t, w))
	}
	failed := eventDetails(t, *events, "EC2 Instance Launch Unsuccessful")
	if len(failed) != 1 || failed[0]["StatusCode"] != "Failed" || failed[0]["EC2InstanceId"] != "" || failed[0]["StatusMessage"] != text {
		t.Errorf("event: got %v", failed)
	}
	w.Advance(w.Start().Add(7 * time.Minute))
	// Tried at once, then after 30, 60, 120, 240 seconds.
	if got := len(activities(t, w, storyGroup)); got != 4 {
		t.Errorf("tries in 7 minutes: got %d, want 4", got)
	}
	ng := w.Nodegroups.Get("eks-workshop/new_nodegroup_2")
	if ng.Status != ekstypes.NodegroupStatusDegraded || ng.Health.Issues[0].Code != ekstypes.NodegroupIssueCodeInsufficientFreeAddresses {
		t.Errorf("nodegroup: got %s with %v", ng.Status, ng.Health.Issues)
	}
	if err := w.Pools[storySubnet].State(100); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(20 * time.Minute))
	if ng.Status != ekstypes.NodegroupStatusActive || len(ng.Health.Issues) != 0 {
		t.Errorf("after a launch that worked: got %s with %v", ng.Status, ng.Health.Issues)
	}
}

func TestEndedBeforeService(t *testing.T) {
	w, events := open(t, "ended-early")
	w.Advance(w.Start().Add(25 * time.Second))
	a := activities(t, w, storyGroup)[0]
	const text = "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"
	if a.StatusCode != "Cancelled" || aws.ToString(a.StatusMessage) != text {
		t.Errorf("got %s %q", a.StatusCode, aws.ToString(a.StatusMessage))
	}
	failed := eventDetails(t, *events, "EC2 Instance Launch Unsuccessful")
	if len(failed) != 1 || failed[0]["StatusCode"] != "Cancelled" || failed[0]["EC2InstanceId"] == "" {
		t.Fatalf("event: got %v", failed)
	}
	out, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{failed[0]["EC2InstanceId"].(string)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := *out.Reservations[0].Instances[0].StateReason.Code; got != "Client.InvalidKMSKey.InvalidState" {
		t.Errorf("state reason: got %q", got)
	}
	w.Advance(w.Start().Add(10 * time.Minute))
	if got := len(activities(t, w, storyGroup)); got < 3 || got > 6 {
		t.Errorf("tries in 10 minutes: got %d, want 3 to 6", got)
	}
}

func TestRoundRobinOverSubnets(t *testing.T) {
	w, _ := open(t, "route")
	if _, err := w.AutoScaling().SetDesiredCapacity(&autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: aws.String(defaultGroupName), DesiredCapacity: aws.Int32(6)}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(time.Minute))
	count := map[string]int{}
	for _, i := range w.Groups.Get(defaultGroupName).Instances {
		count[*i.AvailabilityZone]++
	}
	if diff := cmp.Diff(count, map[string]int{"us-west-2a": 2, "us-west-2b": 2, "us-west-2c": 2}); diff != "" {
		t.Errorf("zones (-got +want):\n%s", diff)
	}
}

func TestSuspendedLaunch(t *testing.T) {
	w, _ := open(t, "route")
	if _, err := w.AutoScaling().SuspendProcesses(&autoscaling.SuspendProcessesInput{AutoScalingGroupName: aws.String(storyGroup), ScalingProcesses: []string{"Launch"}}); err != nil {
		t.Fatal(err)
	}
	scale(t, w, 1)
	w.Advance(w.Start().Add(time.Minute))
	if got := members(t, w); len(got) != 0 {
		t.Errorf("suspended group launched %q", got)
	}
	if _, err := w.AutoScaling().ResumeProcesses(&autoscaling.ResumeProcessesInput{AutoScalingGroupName: aws.String(storyGroup)}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Now().Add(time.Minute))
	if got := members(t, w); len(got) != 1 {
		t.Errorf("resumed group has %q, want one", got)
	}
}

func TestBurst(t *testing.T) {
	w, events := open(t, "burst-200")
	w.Advance(w.Start().Add(2 * time.Minute))
	if got := len(eventDetails(t, *events, "EC2 Instance-launch Lifecycle Action")); got != 200 {
		t.Errorf("lifecycle actions: got %d, want 200", got)
	}
	if got := freeOf(t, w, storySubnet); got != 8187-200 {
		t.Errorf("free: got %d, want %d", got, 8187-200)
	}
}

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
	if got := eventDetails(t, *events, "EC2 Instance Launch Successful"); len(got) != 0 {
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

// A launch hook that nothing completes in time abandons the launch, where that is its
// default result.
func TestHookRunsOutAndAbandons(t *testing.T) {
	w, _ := open(t, "healthy-nat")
	hook := w.Hooks.Get(state.HookKey(storyGroup, "Launch-LC-Hook"))
	hook.HeartbeatTimeout, hook.DefaultResult = aws.Int32(30), aws.String("ABANDON")
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
	ended := eventDetails(t, *events, "EC2 Instance Terminate Successful")
	if last := ended[len(ended)-1]; last["EC2InstanceId"] != second || last["Origin"] != "AutoScalingGroup" || last["Destination"] != "EC2" {
		t.Errorf("terminate event: got %v", last)
	}
	if got := freeOf(t, w, storySubnet); got != 8187 {
		t.Errorf("free: got %d, want all 8187 back", got)
	}
}
