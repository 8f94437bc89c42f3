package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/event/inbox"
	"rollcall/shared/spoke"
	"rollcall/tools/testfile"
)

const samples = "../../events/in"

func sample(t testing.TB, name string) []byte {
	t.Helper()
	return testfile.Read(t, filepath.Join(samples, name))
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
		var malformed *inbox.Malformed
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
	body, err := inbox.LookAgain(spoke.ID{}, ids, now)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(body)
	want := Trigger{ID: "look/2026-11-20T15:00:00Z", Kind: Reminder, Source: "rollcall", Type: "Rollcall Look Again", Time: now, Instances: ids}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Parse(LookAgain) error %v (-want +got):\n%s", err, diff)
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
			var malformed *inbox.Malformed
			if !errors.As(err, &malformed) {
				t.Fatalf("error %v is not Malformed", err)
			}
			return
		}
		switch got.Kind {
		case Reminder:
			if len(got.Instances) == 0 && (got.Cluster == "" || got.Nodegroup == "") {
				t.Fatalf("a reminder without an owner: %+v", got)
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
				t.Fatalf("%s without an owner: %+v", got.Kind, got)
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

func TestAskedByHand(t *testing.T) {
	by := func(detail string) string {
		return `{"source":"rollcall","detail-type":"Rollcall Spot Report Wanted","detail":` + detail + `}`
	}
	for body, want := range map[string]Trigger{
		by(`{}`):                           {Hours: 24},
		by(`{"cluster":"prod"}`):           {Cluster: "prod", Hours: 24},
		by(`{"cluster":"x","hours":168}`):  {Cluster: "x", Hours: 168},
		by(`{"cluster":"x","hours":2160}`): {Cluster: "x", Hours: 2160},
	} {
		want.Kind, want.Source, want.Type = Asked, "rollcall", "Rollcall Spot Report Wanted"
		got, err := Parse([]byte(body))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", body, err, diff)
		}
	}
	for _, body := range []string{by(`{"hours":-1}`), by(`{"hours":2161}`), by(`"prod"`), by(`{"hours":"24"}`), `{"source":"rollcall","detail-type":"Rollcall Spot Report Wanted"}`} {
		var malformed *inbox.Malformed
		if got, err := Parse([]byte(body)); !errors.As(err, &malformed) {
			t.Errorf("%s: %+v, %v; want it malformed", body, got, err)
		}
	}
}

func TestLookForChanges(t *testing.T) {
	opened := time.Date(2026, 11, 20, 14, 59, 4, 120e6, time.UTC)
	now := opened.Add(5 * time.Minute)
	body, err := inbox.LookForChanges(spoke.ID{}, "prod", "route/no-egress", "rtb-1", opened, 2, now)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	want := Trigger{
		ID: "look/prod/route/no-egress/rtb-1/2/2026-11-20T15:04:04.12Z", Kind: Reminder, Source: "rollcall", Type: "Rollcall Look For Changes", Time: now,
		Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1", Opened: opened, Round: 2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, detail := range []string{`{}`, `{"cluster":"prod","check":"c","resource":"r","round":1}`, `{"cluster":"prod","check":"c","resource":"r","opened":"2026-11-20T14:59:04Z"}`, `5`} {
		var malformed *inbox.Malformed
		if _, err := Parse([]byte(`{"id":"1","source":"rollcall","detail-type":"Rollcall Look For Changes","time":"2026-11-20T14:59:04Z","detail":` + detail + `}`)); !errors.As(err, &malformed) {
			t.Errorf("%s: %v", detail, err)
		}
	}
}

func TestSweepCluster(t *testing.T) {
	tick := time.Date(2026, 11, 23, 12, 5, 0, 0, time.UTC)
	raw, err := inbox.SweepCluster(spoke.ID{}, "prod", "111122223333", "eu-west-1", tick)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(raw)
	want := Trigger{
		ID: "sweep/prod/2026-11-23T12:05:00Z", Kind: ClusterSweep, Source: "rollcall", Type: "Rollcall Cluster Sweep",
		Account: "111122223333", Region: "eu-west-1", Time: tick, Cluster: "prod",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	raw, err = inbox.SweepCluster(spoke.ID{}, "", "111122223333", "eu-west-1", tick)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse(raw)
	// A spoke's is whose it says, and comes from the hub.
	other, hub := spoke.ID{Account: "222233334444", Region: "us-west-2"}, spoke.ID{Account: "111122223333", Region: "eu-west-1"}
	theirs, wrong := inbox.SweepCluster(other, "prod", other.Account, other.Region, tick)
	if wrong != nil {
		t.Fatal(wrong)
	}
	turn, wrong := Parse(theirs)
	whose, forged := inbox.OriginOf(theirs, hub)
	if wrong != nil || forged != nil || turn.Account != other.Account || turn.Region != other.Region || turn.ID == got.ID || whose.Spoke != other {
		t.Errorf("%v, %v, a spoke's turn %+v of %+v", wrong, forged, turn, whose)
	}
	var malformed *inbox.Malformed
	if !errors.As(err, &malformed) || malformed.Err.Error() != "the cluster is missing" {
		t.Errorf("error %v, want that the cluster is missing", err)
	}
}

// eksEvent is an event of EKS with the detail.
func eksEvent(kind, resources, detail string) []byte {
	return []byte(`{"id":"1","source":"aws.eks","detail-type":"` + kind + `","time":"2026-11-20T15:00:00Z","resources":[` + resources + `],"detail":` + detail + `}`)
}

// CloudTrail's records are not of one form: whatever names the nodegroup is
// taken.
func TestNodegroupCalls(t *testing.T) {
	const call = `{"eventSource":"eks.amazonaws.com","eventName":"UpdateNodegroupVersion",`
	for _, test := range []struct {
		name, detail string
		want         string // cluster/nodegroup/update
		foreign      string
		malformed    string
	}{
		{name: "by the wire's name", detail: call + `"requestParameters":{"name":"prod","nodegroupName":"w"},"responseElements":{"update":{"id":"u1"}}}`, want: "prod/w/u1"},
		{name: "by the API's name", detail: call + `"requestParameters":{"clusterName":"prod","nodegroupName":"w"}}`, want: "prod/w/"},
		{name: "the answer counts", detail: call + `"requestParameters":{"name":"other"},"responseElements":{"nodegroup":{"clusterName":"prod","nodegroupName":"w","status":"CREATING","createdAt":"Nov 20"}}}`, want: "prod/w/"},
		{name: "URL-encoded", detail: call + `"requestParameters":{"name":"a%2Db","nodegroupName":"w%20x"}}`, want: "a-b/w x/"},
		{name: "an escape that is none", detail: call + `"requestParameters":{"name":"a%zz","nodegroupName":"w"}}`, want: "a%zz/w/"},
		{name: "members of other forms", detail: call + `"requestParameters":{"name":"prod","nodegroupName":"w"},"responseElements":{"update":[1],"nodegroup":"x"}}`, want: "prod/w/"},
		{name: "no source", detail: `{"eventName":"DeleteNodegroup","requestParameters":{"name":"prod","nodegroupName":"w"}}`, want: "prod/w/"},
		{name: "refused", detail: call + `"errorCode":"AccessDenied","requestParameters":null,"responseElements":null}`, foreign: "EKS refused the call: AccessDenied"},
		{name: "another call", detail: `{"eventSource":"eks.amazonaws.com","eventName":"CreateCluster"}`, foreign: "a call that changes no nodegroup"},
		{name: "another service", detail: `{"eventSource":"ec2.amazonaws.com","eventName":"CreateNodegroup"}`, foreign: "a call of another service"},
		{name: "no cluster", detail: call + `"requestParameters":{"nodegroupName":"w"}}`, malformed: "is missing"},
		{name: "no nodegroup", detail: call + `"requestParameters":{"name":"prod"},"responseElements":null}`, malformed: "is missing"},
		{name: "no object", detail: `[]`, malformed: "AWS API Call via CloudTrail"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(eksEvent("AWS API Call via CloudTrail", "", test.detail))
			var malformed *inbox.Malformed
			switch {
			case test.malformed != "":
				if !errors.As(err, &malformed) || !strings.Contains(err.Error(), test.malformed) {
					t.Errorf("got %+v, error %v; want it malformed: %s", got, err, test.malformed)
				}
			case err != nil:
				t.Error(err)
			case test.foreign != "":
				if got.Kind != Foreign || got.Why != test.foreign {
					t.Errorf("got %s (%s), want foreign: %s", got.Kind, got.Why, test.foreign)
				}
			case got.Kind != NodegroupCalled || got.Cluster+"/"+got.Nodegroup+"/"+got.Update != test.want:
				t.Errorf("got %s %s/%s/%s, want %s", got.Kind, got.Cluster, got.Nodegroup, got.Update, test.want)
			}
		})
	}
}

func TestAddonHealth(t *testing.T) {
	const arn = `"arn:aws:eks:us-west-2:111122223333:addon/prod/vpc-cni/9c"`
	for _, test := range []struct{ name, resources, detail, cluster, addon string }{
		{"the ARN", arn, `{}`, "prod", "vpc-cni"},
		{"the detail", "", `{"clusterName":"prod","addonName":"coredns"}`, "prod", "coredns"},
		{"with hyphens", `"x"`, `{"cluster-name":"prod","addon-name":"coredns"}`, "prod", "coredns"},
		{"members of other forms", arn, `{"addon":{"name":"x"},"cluster":7}`, "prod", "vpc-cni"},
		{"nothing", "", `{"x":1}`, "", ""},
	} {
		got, err := Parse(eksEvent("EKS Addon Health Restored", test.resources, test.detail))
		if err != nil || got.Kind != AddonHealth || got.Cluster != test.cluster || got.Addon != test.addon {
			t.Errorf("%s: %+v, %v; want %s of %s", test.name, got, err, test.addon, test.cluster)
		}
	}
}

func TestNodegroupResource(t *testing.T) {
	event := func(detail string) []byte {
		return []byte(`{"id":"1","source":"aws.cloudformation","detail-type":"CloudFormation Resource Status Change","time":"2026-11-20T15:00:00Z","detail":` + detail + `}`)
	}
	for name, detail := range map[string]string{
		"a bucket":     `{"resource-type":"AWS::S3::Bucket","physical-resource-id":"b"}`,
		"not made yet": `{"resource-type":"AWS::EKS::Nodegroup","physical-resource-id":"","status-details":{"status":"CREATE_IN_PROGRESS"}}`,
	} {
		if got, err := Parse(event(detail)); err != nil || got.Kind != Foreign || got.Why == "" {
			t.Errorf("%s: %+v, %v; want it foreign", name, got, err)
		}
	}
	for _, id := range []string{"prod", "prod/", "/w"} {
		if got, err := Parse(event(`{"resource-type":"AWS::EKS::Nodegroup","physical-resource-id":"` + id + `"}`)); err == nil {
			t.Errorf("%q: got %+v, want it malformed", id, got)
		}
	}
}

func TestLookAtNodegroupIsRead(t *testing.T) {
	now := at("2026-11-20T15:00:00Z")
	body, err := inbox.LookAtNodegroup(spoke.ID{}, "prod", "workers", now)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(body)
	want := Trigger{ID: "look/prod/workers/2026-11-20T15:00:00Z", Kind: Reminder, Source: "rollcall", Type: "Rollcall Look At Nodegroup", Time: now, Cluster: "prod", Nodegroup: "workers"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Parse(LookAtNodegroup) error %v (-want +got):\n%s", err, diff)
	}
	body, err = inbox.LookAtNodegroup(spoke.ID{}, "", "workers", time.Time{}.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Parse(body); err == nil {
		t.Errorf("a reminder without a cluster is read as %+v", got)
	}
}

func TestHealth(t *testing.T) {
	whole := string(sample(t, "health-ec2-scheduled-change.json"))
	one := `[{"entityValue": "i-0ef3c1b2a4d5968f1", "tags": {}}]`
	tests := []struct {
		name, old, with string
		kind            Kind
		instances       []string
	}{
		{"as it is", "", "", Maintenance, []string{"i-0ef3c1b2a4d5968f1"}},
		{"volumes and ARNs beside it", one, `[{"entityValue":"vol-1"},{"entityValue":"arn:aws:ec2:us-west-2:111122223333:instance/i-2"},{"entityValue":"i-2"},{"entityValue":"i-3"}]`, Maintenance, []string{"i-2", "i-3"}},
		{"nobody is named", one, `[]`, Foreign, nil},
		{"nobody is named, null", one, `null`, Foreign, nil},
		{"over", `"upcoming"`, `"closed"`, Foreign, nil},
		{"an issue", `"scheduledChange"`, `"issue"`, Foreign, nil},
		{"another service", `"service": "EC2"`, `"service": "RDS"`, Foreign, nil},
		{"the wrong day of the week", "Fri, 27 Nov", "Sat, 27 Nov", Maintenance, []string{"i-0ef3c1b2a4d5968f1"}},
		{"no start", `"startTime": "Fri, 27 Nov 2026 15:05:00 GMT",`, "", Maintenance, []string{"i-0ef3c1b2a4d5968f1"}},
	}
	for _, test := range tests {
		got, err := Parse([]byte(strings.Replace(whole, test.old, test.with, 1)))
		if err != nil || got.Kind != test.kind || !slices.Equal(got.Instances, test.instances) {
			t.Errorf("%s: %s of %q, %v; want %s of %q", test.name, got.Kind, got.Instances, err, test.kind, test.instances)
		}
	}
	var malformed *inbox.Malformed
	if _, err := Parse([]byte(strings.Replace(whole, "Fri, 27 Nov 2026 15:05:00 GMT", "2026-11-27T15:05:00Z", 1))); !errors.As(err, &malformed) {
		t.Errorf("a time of another form gives %v, want that it is malformed", err)
	}
}

// callOf is an event of a call to EC2 with these members beside what each has.
func callOf(name, members string) []byte {
	return []byte(`{"id":"1","source":"aws.ec2","detail-type":"AWS API Call via CloudTrail","time":"2026-11-20T15:00:00Z","detail":{"eventSource":"ec2.amazonaws.com",` +
		`"eventName":"` + name + `","requestID":"r1",` + members + `}}`)
}

const (
	ours    = `{"CreateFleetRequest":{"TagSpecification":{"ResourceType":"instance","Tag":{"Key":"eks:eks-cluster-name","Value":"prod"}}}}`
	oneFail = `"responseElements":{"CreateFleetResponse":{"fleetInstanceSet":"","errorSet":{"item":{"errorCode":"UnfulfillableCapacity","errorMessage":"no"}}}}`
)

func TestLaunchCallsThatAreNoneOfOurs(t *testing.T) {
	for _, test := range []struct{ name, call, members, why string }{
		{"Auto Scaling's, by who invoked it", "CreateFleet", `"userIdentity":{"invokedBy":"autoscaling.amazonaws.com"},"requestParameters":` + ours + `,` + oneFail, OfAService},
		{"Auto Scaling's, by where it came from", "CreateFleet", `"sourceIPAddress":"autoscaling.amazonaws.com","requestParameters":` + ours + `,` + oneFail, OfAService},
		{"a fleet's own", "RunInstances", `"sourceIPAddress":"ec2fleet.amazonaws.com","errorCode":"Server.InsufficientInstanceCapacity"`, OfAService},
		{"a dry run that may", "CreateFleet", `"errorCode":"Client.DryRunOperation","requestParameters":` + ours, DryRun},
		{"a dry run that may not", "CreateFleet", `"errorCode":"Client.UnauthorizedOperation","requestParameters":{"CreateFleetRequest":{"DryRun":"true"}}`, DryRun},
		{"a dry run of RunInstances", "RunInstances", `"errorCode":"Client.UnauthorizedOperation","requestParameters":{"dryRun":true}`, DryRun},
		{"one instance, ids as a text", "CreateFleet", `"requestParameters":` + ours + `,"responseElements":{"CreateFleetResponse":{"errorSet":"","fleetInstanceSet":{"item":{"instanceIds":{"item":"i-1"}}}}}`, BroughtInstances},
		{"many, ids as a list", "CreateFleet", `"requestParameters":` + ours + `,"responseElements":{"CreateFleetResponse":{"fleetInstanceSet":{"item":[{"instanceIds":""},{"instanceIds":{"item":["i-1","i-2"]}}]}}}`, BroughtInstances},
		{"instances that run", "RunInstances", `"requestParameters":{},"responseElements":{"instancesSet":{"items":[{"instanceId":"i-1"}]}}`, BroughtInstances},
		{"no answer", "CreateFleet", `"requestParameters":` + ours + `,"responseElements":null`, AnswerLeftOut},
		{"no tags and no template", "RunInstances", `"errorCode":"Client.VcpuLimitExceeded","requestParameters":{"tagSpecificationSet":{"items":[{"tags":[{"key":"Name","value":"web"}]}]}}`, NoTrace},
		{"no parameters", "CreateFleet", `"errorCode":"Client.UnauthorizedOperation","requestParameters":null`, NoTrace},
		{"another call", "TerminateInstances", `"errorCode":"Client.UnauthorizedOperation"`, otherCall},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(callOf(test.call, test.members))
			if err != nil || got.Kind != Foreign || got.Why != test.why || got.Refusal != nil || got.Call != test.call {
				t.Errorf("got %s of %s (%s), %v, want foreign: %s", got.Kind, got.Call, got.Why, err, test.why)
			}
		})
	}
	if got, err := Parse([]byte(strings.Replace(string(callOf("CreateFleet", oneFail)), "ec2.amazonaws.com", "ecs.amazonaws.com", 1))); err != nil || got.Why != otherCall {
		t.Errorf("a call of another service: %+v, %v", got, err)
	}
	if _, err := Parse([]byte(strings.Replace(string(callOf("CreateFleet", `"requestParameters":`+ours+`,`+oneFail)), `"requestID":"r1",`, "", 1))); err == nil || !strings.Contains(err.Error(), "requestID is missing") {
		t.Errorf("without a request's id: %v", err)
	}
}

// The samples hold the forms that CloudTrail makes of lists, and what is read of
// each.
func TestRefusals(t *testing.T) {
	karpenter := map[string]string{
		"karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default", "eks:eks-cluster-name": "eks-workshop", "kubernetes.io/cluster/eks-workshop": "owned",
	}
	const a, b = "subnet-0ab1c2d3e4f506172", "subnet-0b20000000000000a"
	for name, want := range map[string]Refusal{
		"ec2-call-create-fleet-refused.json": {
			Request: "80085587-62ab-41e8-9f79-81ce5b2b7d01", Tags: karpenter, Template: "karpenter.k8s.aws/12345678901234567890", Version: "$Latest",
			Caller: "arn:aws:iam::111122223333:role/karpenter", Asked: 29, Spot: true, Errors: []LaunchError{{Code: "UnauthorizedOperation", Offers: 1}},
		},
		"ec2-call-create-fleet-no-capacity.json": {
			Request: "80085587-62ab-41e8-9f79-81ce5b2b7d02", Tags: karpenter, Template: "karpenter.k8s.aws/12345678901234567890", Version: "$Latest",
			Caller: "arn:aws:iam::111122223333:role/karpenter", Asked: 29, Spot: true, Errors: []LaunchError{
				{Code: "InsufficientInstanceCapacity", Offers: 2, Subnets: []string{a, b}, Zones: []string{"us-west-2a", "us-west-2b"}, Types: []string{"g5.xlarge", "g5.2xlarge"}},
				{Code: "UnfulfillableCapacity", Offers: 1, Subnets: []string{b}, Zones: []string{"us-west-2b"}, Types: []string{"g5.xlarge"}},
			},
		},
		"ec2-call-create-fleet-auto-mode.json": {
			Request: "80085587-62ab-41e8-9f79-81ce5b2b7d03", Template: "eks.amazonaws.com/0c1d2e3f", Version: "$Latest", Caller: "arn:aws:iam::111122223333:role/eks-workshop-cluster", Asked: 1,
			Tags: map[string]string{
				"eks:kubernetes-node-pool-name": "general-purpose", "eks:kubernetes-node-class-name": "default", "eks:eks-cluster-name": "eks-workshop", "kubernetes.io/cluster/eks-workshop": "owned",
			},
			Errors: []LaunchError{{Code: "InsufficientFreeAddressesInSubnet", Offers: 1, Subnets: []string{a}, Zones: []string{"us-west-2a"}, Types: []string{"c6g.large"}}},
		},
		"ec2-call-run-instances-refused.json": {
			Request: "80085587-62ab-41e8-9f79-81ce5b2b7d08", Template: "lt-0a1b2c3d4e5f60718", Version: "1", Caller: "arn:aws:iam::111122223333:role/ci-deploy", Asked: 1,
			Tags: map[string]string{"kubernetes.io/cluster/eks-workshop": "owned"}, Errors: []LaunchError{{Code: "UnauthorizedOperation", Offers: 1}},
		},
	} {
		got, err := Parse(sample(t, name))
		if err != nil || got.Kind != LaunchRefused || got.Refusal == nil || !got.Time.Equal(at("2026-11-20T14:58:40Z")) {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		for i := range got.Refusal.Errors {
			if got.Refusal.Errors[i].Message == "" {
				t.Errorf("%s: no message", name)
			}
			got.Refusal.Errors[i].Message = ""
		}
		if diff := cmp.Diff(want, *got.Refusal); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The instances' own tags count before those of their volumes; a number is a
// text; tags of what is not a cluster's are left out.
func TestTagsOfARefusal(t *testing.T) {
	got, err := Parse(callOf("CreateFleet", `"errorCode":"Server.InternalError","errorMessage":"x","requestParameters":{"CreateFleetRequest":{"TagSpecification":[`+
		`{"ResourceType":"volume","Tag":[{"Key":"karpenter.sh/nodepool","Value":"of-the-volume"},{"Key":"eks:eks-cluster-name","Value":"prod"}]},`+
		`{"ResourceType":"instance","Tag":[{"Key":"karpenter.sh/nodepool","Value":7},{"Key":"team","Value":"x"},{"Key":["no"],"Value":1}]}]}}`))
	if err != nil || got.Refusal == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if diff := cmp.Diff(map[string]string{"karpenter.sh/nodepool": "7", "eks:eks-cluster-name": "prod"}, got.Refusal.Tags); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	if got.Refusal.Errors[0].Code != "InternalError" {
		t.Errorf("code %q", got.Refusal.Errors[0].Code)
	}
}

// bigFleet is the largest answer that there is, of 60 types in three zones, each
// with a text of its own; one code of them stands last.
func bigFleet(offers int) []byte {
	var items []string
	for i := range offers {
		code := "InsufficientInstanceCapacity"
		if i == offers-1 {
			code = "VcpuLimitExceeded"
		}
		items = append(items, fmt.Sprintf(`{"errorCode":%q,"errorMessage":"no %d","launchTemplateAndOverrides":{"overrides":{"instanceType":"m5.%dxlarge","subnetId":"subnet-%d"}}}`, code, i, i, i))
	}
	return callOf("CreateFleet", `"requestParameters":`+ours+`,"responseElements":{"CreateFleetResponse":{"fleetInstanceSet":"","errorSet":{"item":[`+strings.Join(items, ",")+`]}}}`)
}

// However long an answer is, what is kept of it is bounded, and nothing of it is
// uncounted.
func TestRefusalIsBounded(t *testing.T) {
	got, err := Parse(bigFleet(180))
	if err != nil {
		t.Fatal(err)
	}
	offers, codes := 0, map[string]int{}
	for _, e := range got.Refusal.Errors {
		offers += e.Offers
		codes[e.Code]++
		if len(e.Subnets) > maxPlaces || len(e.Types) > maxPlaces {
			t.Errorf("%d subnets and %d types are kept", len(e.Subnets), len(e.Types))
		}
	}
	if diff := cmp.Diff(map[string]int{"InsufficientInstanceCapacity": maxTexts, "VcpuLimitExceeded": 1}, codes); diff != "" || offers != 180 {
		t.Errorf("%d offers of 180; texts of each code (-want +got):\n%s", offers, diff)
	}
}

func FuzzLaunchCall(f *testing.F) {
	for _, name := range []string{"refused", "no-capacity", "auto-mode", "partial", "dry-run", "autoscaling", "answer-left-out"} {
		f.Add(sample(f, "ec2-call-create-fleet-"+name+".json"))
	}
	f.Add(sample(f, "ec2-call-run-instances-refused.json"))
	f.Add(sample(f, "ec2-call-run-instances-by-fleet.json"))
	f.Add(bigFleet(40))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e inbox.Envelope
		if json.Unmarshal(raw, &e) != nil {
			return
		}
		got := Trigger{Type: apiCallType}
		if launchCall(&got, e.Detail) != nil {
			return
		}
		switch {
		case got.Kind == Foreign && got.Why != "" && got.Refusal == nil:
		case got.Kind != LaunchRefused || got.Refusal == nil || got.Refusal.Request == "" || len(got.Refusal.Errors) == 0 || len(got.Refusal.Tags) == 0 && got.Refusal.Template == "":
			t.Fatalf("%+v", got)
		case len(got.Refusal.Errors) > maxErrors || len(got.Refusal.Tags) > maxTags || got.Refusal.Asked < 0:
			t.Fatalf("not bounded: %+v", got.Refusal)
		}
	})
}

// What the patterns let through and is none of ours costs microseconds: a fleet
// that brought instances is the most of it.
func BenchmarkDroppedCall(b *testing.B) {
	raw := sample(b, "ec2-call-create-fleet-partial.json")
	b.ReportAllocs()
	for b.Loop() {
		if t, err := Parse(raw); err != nil || t.Why != BroughtInstances {
			b.Fatal(t.Why, err)
		}
	}
}

func TestToldEvents(t *testing.T) {
	about := `{"cluster":"prod","check":"route/no-egress","resource":"rtb-0a","nodegroup":"workers"}`
	for _, test := range []struct {
		name, detail string
		want         Kind
		told         string
	}{
		{"Rollcall Incident Opened", about, IncidentTold, "Opened"},
		{"Rollcall Incident Changed", about, IncidentTold, "Changed"},
		{"Rollcall Remedy Approved", about, IncidentTold, "Approved"},
		{"Rollcall Check Wanted", about, CheckWanted, ""},
		{"EKS Nodegroup Status Change", about, StatusChanged, ""},
		{"Rollcall Incident Opened", `{"cluster":"prod"}`, "", ""},
		{"Rollcall Check Wanted", `{"check":"a","resource":"b"}`, "", ""},
		{"Rollcall Remedy Approved", `[]`, "", ""},
	} {
		got, err := Parse([]byte(`{"source":"rollcall","time":"2026-01-02T03:04:05Z","detail-type":"` + test.name + `","detail":` + test.detail + `}`))
		var malformed *inbox.Malformed
		if (test.want == "") != errors.As(err, &malformed) || got.Kind != test.want || got.Told != test.told {
			t.Errorf("%s %s: %q %q, %v", test.name, test.detail, got.Kind, got.Told, err)
		}
		if err == nil && got.Cluster != "prod" {
			t.Errorf("%s: cluster %q", test.name, got.Cluster)
		}
	}
}
