package event

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spoke"
)

const samples = "../../events/in"

func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(samples, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestParseSamples(t *testing.T) {
	const group = "eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"
	base := Trigger{Account: "111122223333", Region: "us-west-2"}
	with := func(change func(*Trigger)) Trigger { t := base; change(&t); return t }
	want := map[string]Trigger{
		"autoscaling-launch-lifecycle-action.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "6a7e8feb-b491-4cf7-a9f1-bf3703467718", LaunchStarted, "aws.autoscaling", "EC2 Instance-launch Lifecycle Action"
			t.Time, t.Instance, t.Group = at("2026-11-20T14:59:06Z"), "i-0ef3c1b2a4d5968f1", group
		}),
		"autoscaling-launch-lifecycle-action-warm-pool.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "18b2ec17-3e9b-4c15-8024-ff2e8ce8786a", LaunchStarted, "aws.autoscaling", "EC2 Instance-launch Lifecycle Action"
			t.Time, t.Instance, t.Group, t.Warm = at("2026-11-20T14:59:06Z"), "i-0aa4c1b2a4d5968f2", group, true
		}),
		"autoscaling-launch-successful.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "3e3c153a-8339-4e30-8c35-687ebef853fe", LaunchSucceeded, "aws.autoscaling", "EC2 Instance Launch Successful"
			t.Time, t.Instance, t.Group = at("2026-11-20T15:29:12Z"), "i-0ef3c1b2a4d5968f1", group
			t.Activity, t.Subnet, t.Zone = "59864e62-e212-6604-627d-5ac06f09f7ec", "subnet-0ab1c2d3e4f506172", "us-west-2a"
			t.Cause = "At 2026-11-20T14:59:00Z a user request update of AutoScalingGroup constraints to min: 0, max: 1, desired: 1 changing the desired capacity from 0 to 1.  At 2026-11-20T14:59:04Z an instance was started in response to a difference between desired and actual capacity, increasing the capacity from 0 to 1."
		}),
		"autoscaling-launch-unsuccessful.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "5f06afa4-3b7a-4d44-a4f0-12d84d2f9a3f", LaunchFailed, "aws.autoscaling", "EC2 Instance Launch Unsuccessful"
			t.Time, t.Group, t.Activity = at("2026-11-20T14:59:36Z"), group, "87654321-4321-4321-4321-210987654321"
			t.Subnet, t.Zone = "subnet-0ab1c2d3e4f506172", "us-west-2a"
			t.Message = "There are not enough free addresses in subnet 'subnet-0ab1c2d3e4f506172' to satisfy the requested number of instances. Launching EC2 instance failed."
			t.Cause = "At 2026-11-20T14:59:28Z an instance was started in response to a difference between desired and actual capacity, increasing the capacity from 0 to 1."
		}),
		"ec2-state-running.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "7bf73129-1428-4cd3-a780-95db273d1602", InstanceRunning, "aws.ec2", "EC2 Instance State-change Notification"
			t.Time, t.Instance, t.State = at("2026-11-20T14:59:14Z"), "i-0ef3c1b2a4d5968f1", "running"
		}),
		"ec2-state-terminated.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "7bf73129-1428-4cd3-a780-95db273d1603", InstanceEnded, "aws.ec2", "EC2 Instance State-change Notification"
			t.Time, t.Instance, t.State = at("2026-11-20T14:59:58Z"), "i-0ef3c1b2a4d5968f1", "terminated"
		}),
		"ec2-spot-interruption.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "1e5527d7-bb36-4607-3370-4164db56a40e", Interruption, "aws.ec2", "EC2 Spot Instance Interruption Warning"
			t.Time, t.Instance, t.Call = at("2026-11-20T14:59:40Z"), "i-0ef3c1b2a4d5968f1", "terminate"
			t.Instances = []string{t.Instance}
		}),
		"ec2-capacity-reservation-interruption.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "12345678-1234-1234-1234-123456789012", Interruption, "aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"
			t.Time, t.Instance, t.Call = at("2026-11-20T14:59:40Z"), "i-0ef3c1b2a4d5968f1", "terminate"
			t.Instances = []string{t.Instance}
		}),
		"ec2-rebalance-recommendation.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "5d5555d5-dd55-5555-5555-5555dd55d55d", Rebalance, "aws.ec2", "EC2 Instance Rebalance Recommendation"
			t.Time, t.Instance = at("2026-11-20T14:59:30Z"), "i-0ef3c1b2a4d5968f1"
			t.Instances = []string{t.Instance}
		}),
		"health-ec2-scheduled-change.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "7bf73129-1428-4cd3-a780-95db273d1699", Maintenance, "aws.health", "AWS Health Event"
			t.Time, t.Call = at("2026-11-20T14:59:35Z"), "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED"
			t.Instances = []string{"i-0ef3c1b2a4d5968f1"}
		}),
		"eks-call-create-nodegroup.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "c1d4b3a2-62ab-4e1a-9f79-81ce5b2b7d31", NodegroupCalled, "aws.eks", "AWS API Call via CloudTrail"
			t.Time, t.Cluster, t.Nodegroup, t.Call, t.State = at("2026-11-20T14:58:02Z"), "eks-workshop", "new_nodegroup_2", "CreateNodegroup", "CREATING"
		}),
		"eks-call-update-nodegroup-config.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "c1d4b3a2-62ab-4e1a-9f79-81ce5b2b7d32", NodegroupCalled, "aws.eks", "AWS API Call via CloudTrail"
			t.Time, t.Cluster, t.Nodegroup, t.Call = at("2026-11-20T14:58:02Z"), "eks-workshop", "new_nodegroup_2", "UpdateNodegroupConfig"
			t.Update = "7d3f5b0a-8c1e-3f5d-9d64-2d9b8f7a6c10"
		}),
		"eks-call-delete-nodegroup.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "c1d4b3a2-62ab-4e1a-9f79-81ce5b2b7d33", NodegroupCalled, "aws.eks", "AWS API Call via CloudTrail"
			t.Time, t.Cluster, t.Nodegroup, t.Call, t.State = at("2026-11-20T14:58:02Z"), "eks-workshop", "new_nodegroup_2", "DeleteNodegroup", "DELETING"
		}),
		"eks-call-refused.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "c1d4b3a2-62ab-4e1a-9f79-81ce5b2b7d34", Foreign, "aws.eks", "AWS API Call via CloudTrail"
			t.Time, t.Call, t.Why = at("2026-11-20T14:58:02Z"), "CreateNodegroup", "EKS refused the call: ResourceInUseException"
		}),
		"eks-addon-health-degraded.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "5d4e0b1c-2a6f-4c7d-8e9f-0a1b2c3d4e5f", AddonHealth, "aws.eks", "EKS Addon Health Degraded"
			t.Time, t.Cluster, t.Addon = at("2026-11-20T15:02:11Z"), "eks-workshop", "vpc-cni"
		}),
		"cloudformation-nodegroup-create-failed.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "0f9e8d7c-6b5a-4c3d-9e1f-2a3b4c5d6e7f", NodegroupCalled, "aws.cloudformation", "CloudFormation Resource Status Change"
			t.Time, t.Cluster, t.Nodegroup, t.Call, t.State = at("2026-11-20T15:19:40Z"), "eks-workshop", "new_nodegroup_2", "CloudFormation Resource Status Change", "CREATE_FAILED"
			t.Message = "Nodegroup new_nodegroup_2 failed to stabilize: [{Code: NodeCreationFailure,Message: Instances failed to join the kubernetes cluster,ResourceIds: [i-0ef3c1b2a4d5968f1]}]"
		}),
		"spot-report-wanted.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type = "5b0f8c1e-27a4-4d3b-9d61-0c8f4e2a7b19", Asked, "rollcall", "Rollcall Spot Report Wanted"
			t.Time, t.Cluster, t.Hours = at("2026-11-20T15:00:00Z"), "eks-workshop", 24
		}),
		"schedule-rule.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type, t.Time = "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa", Sweep, "aws.events", "Scheduled Event", at("2026-11-20T15:00:00Z")
		}),
		"schedule-scheduler.json": with(func(t *Trigger) {
			t.ID, t.Kind, t.Source, t.Type, t.Time = "a1b2c3d4-cffa-4f76-80c9-8b7d4a4d2eab", Sweep, "aws.scheduler", "Scheduled Event", at("2026-11-20T15:00:00Z")
		}),
	}
	files, err := os.ReadDir(samples)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), "ec2-call-") {
			continue // TestRefusals, TestLaunchCallsThatAreNoneOfOurs
		}
		w, ok := want[f.Name()]
		if !ok {
			t.Errorf("%s has no expectation in this test", f.Name())
			continue
		}
		got, err := Parse(sample(t, f.Name()))
		if err != nil {
			t.Errorf("Parse(%s): %v", f.Name(), err)
			continue
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("Parse(%s) (-want +got):\n%s", f.Name(), diff)
		}
		delete(want, f.Name())
	}
	for name := range want {
		t.Errorf("no sample %s", name)
	}
}

func TestParseRefuses(t *testing.T) {
	lifecycle := string(sample(t, "autoscaling-launch-lifecycle-action.json"))
	failed := string(sample(t, "autoscaling-launch-unsuccessful.json"))
	state := string(sample(t, "ec2-state-running.json"))
	tests := []struct {
		name, event, say string
	}{
		{"no JSON", "hello", "the envelope"},
		{"empty", "", "the envelope"},
		{"an array", "[]", "the envelope"},
		{"null", "null", "source or detail-type is missing"},
		{"another JSON", `{"hello":"world"}`, "source or detail-type is missing"},
		{"no time", `{"source":"aws.ec2","detail-type":"x"}`, "time is missing"},
		{"no detail", strings.Replace(lifecycle, `"detail":`, `"other":`, 1), "detail is missing"},
		{"detail of another form", strings.Replace(state, `{"instance-id": "i-0ef3c1b2a4d5968f1", "state": "running"}`, `"running"`, 1), "EC2 Instance State-change Notification"},
		{"no group", strings.Replace(lifecycle, "AutoScalingGroupName\": \"eks", "Other\": \"eks", 1), "AutoScalingGroupName is missing"},
		{"no instance", strings.Replace(lifecycle, `"EC2InstanceId"`, `"Other"`, 1), "EC2InstanceId is missing"},
		{"state without instance", strings.Replace(state, `"instance-id"`, `"other"`, 1), "instance-id is missing"},
		{"failure without activity", strings.Replace(failed, `"ActivityId"`, `"Other"`, 1), "neither ActivityId nor EC2InstanceId"},
	}
	for _, test := range tests {
		got, err := Parse([]byte(test.event))
		var malformed *Malformed
		if !errors.As(err, &malformed) {
			t.Errorf("%s: got %+v, error %v; want a Malformed error", test.name, got, err)
			continue
		}
		if !strings.Contains(err.Error(), test.say) {
			t.Errorf("%s: error %q does not say %q", test.name, err, test.say)
		}
	}
}

func TestParseForeign(t *testing.T) {
	lifecycle := string(sample(t, "autoscaling-launch-lifecycle-action.json"))
	state := string(sample(t, "ec2-state-running.json"))
	for name, event := range map[string]string{
		"another source":       strings.Replace(state, "aws.ec2", "aws.s3", 1),
		"a termination":        strings.Replace(lifecycle, "EC2 Instance-launch Lifecycle Action", "EC2 Instance-terminate Lifecycle Action", 1),
		"a test notification":  strings.Replace(lifecycle, "autoscaling:EC2_INSTANCE_LAUNCHING", "autoscaling:TEST_NOTIFICATION", 1),
		"a state on the way":   strings.Replace(state, `"running"`, `"pending"`, 1),
		"another type of ec2":  strings.Replace(state, "EC2 Instance State-change Notification", "EBS Volume Notification", 1),
		"another of ours":      strings.Replace(strings.Replace(state, "aws.ec2", "rollcall", 1), "EC2 Instance State-change Notification", "Rollcall Something Else", 1),
		"another of schedules": strings.Replace(string(sample(t, "schedule-rule.json")), "Scheduled Event", "Other", 1),
	} {
		got, err := Parse([]byte(event))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Kind != Foreign || got.Why == "" {
			t.Errorf("%s: got kind %q, why %q; want a foreign event with its reason", name, got.Kind, got.Why)
		}
	}
}

func TestClock(t *testing.T) {
	for name, want := range map[string]bool{
		"autoscaling-launch-lifecycle-action.json": true,
		"ec2-state-running.json":                   true,
		"autoscaling-launch-successful.json":       false, // half an hour late
		"ec2-state-terminated.json":                false,
	} {
		trigger, err := Parse(sample(t, name))
		if err != nil {
			t.Fatal(err)
		}
		clock, got := trigger.Clock()
		if got != want || got && !clock.Equal(trigger.Time) {
			t.Errorf("%s: Clock() = %v, %v; want known %v", name, clock, got, want)
		}
	}
}

func TestLookAgainIsRead(t *testing.T) {
	now := at("2026-11-20T15:00:00Z")
	ids := []string{"i-0ef3c1b2a4d5968f1", "i-0ef3c1b2a4d5968f2"}
	body, err := LookAgain(spoke.ID{}, ids, now)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(body)
	want := Trigger{ID: "look/2026-11-20T15:00:00Z", Kind: Reminder, Source: "rollcall", Type: "Rollcall Look Again", Time: now, Instances: ids}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Parse(LookAgain) error %v (-want +got):\n%s", err, diff)
	}
}

func TestBatch(t *testing.T) {
	raw := `{"Records":[
		{"messageId":"a","body":"one","attributes":{"ApproximateReceiveCount":"3"},"eventSource":"aws:sqs"},
		{"messageId":"b","receiptHandle":"h","body":"two","attributes":{"MessageGroupId":"prod"},"eventSource":"aws:sqs"}]}`
	got, ok := Batch([]byte(raw))
	want := []Message{{"a", "one", 3, "", ""}, {"b", "two", 1, "prod", "h"}}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("Batch = %v (-want +got):\n%s", ok, diff)
	}
	for _, other := range []string{"", "{}", `{"Records":[]}`, `{"Records":[{"eventSource":"aws:sns"}]}`, string(sample(t, "schedule-rule.json"))} {
		if _, ok := Batch([]byte(other)); ok {
			t.Errorf("Batch(%q) is taken for SQS messages", other)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := os.ReadDir(samples)
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		f.Add(sample(f, file.Name()))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Parse(raw)
		if err != nil {
			var malformed *Malformed
			if !errors.As(err, &malformed) {
				t.Fatalf("error %v is not Malformed", err)
			}
			return
		}
		switch got.Kind {
		case Reminder:
			if len(got.Instances) == 0 && (got.Cluster == "" || got.Nodegroup == "") {
				t.Fatalf("a reminder of nobody: %+v", got)
			}
		case LaunchStarted, LaunchSucceeded, InstanceRunning, InstanceEnded:
			if got.Instance == "" {
				t.Fatalf("%s without an instance: %+v", got.Kind, got)
			}
		case LaunchFailed:
			if got.Activity == "" && got.Instance == "" {
				t.Fatalf("a failure of nothing: %+v", got)
			}
		case LaunchRefused:
			if got.Refusal == nil || len(got.Refusal.Errors) == 0 {
				t.Fatalf("refused for nothing: %+v", got)
			}
		case Interruption, Rebalance, Maintenance:
			if len(got.Instances) == 0 {
				t.Fatalf("%s of nobody: %+v", got.Kind, got)
			}
		case NodegroupCalled:
			if got.Cluster == "" || got.Nodegroup == "" {
				t.Fatalf("a call about no nodegroup: %+v", got)
			}
		case Asked:
			if got.Hours < 1 || got.Hours > mostHours {
				t.Fatalf("asked for %d hours", got.Hours)
			}
		case Sweep, AddonHealth:
		case Foreign:
			if got.Why == "" {
				t.Fatalf("foreign without a reason: %+v", got)
			}
		default:
			t.Fatalf("kind %q", got.Kind)
		}
	})
}

func FuzzBatch(f *testing.F) {
	f.Add([]byte(`{"Records":[{"messageId":"a","body":"one","attributes":{"ApproximateReceiveCount":"3"},"eventSource":"aws:sqs"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		messages, ok := Batch(raw)
		if ok != (len(messages) > 0) {
			t.Fatalf("ok %v with %d messages", ok, len(messages))
		}
	})
}
