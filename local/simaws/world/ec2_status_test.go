package world

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// status is what EC2 says of one instance.
func status(t *testing.T, w *World, id string) ec2types.InstanceStatus {
	t.Helper()
	out, err := w.EC2().DescribeInstanceStatus(&ec2.DescribeInstanceStatusInput{InstanceIds: []string{id}, IncludeAllInstances: aws.Bool(true)})
	if err != nil || len(out.InstanceStatuses) != 1 {
		t.Fatalf("DescribeInstanceStatus: %+v, %v", out, err)
	}
	return out.InstanceStatuses[0]
}

func TestInstanceStatuses(t *testing.T) {
	tests := []struct {
		world       string
		system, own ec2types.SummaryStatus
		event       ec2types.EventCode
	}{
		{"base", "ok", "ok", ""},
		{"instance-status-check", "impaired", "impaired", ""},
		{"instance-status-check-healthy", "ok", "impaired", ""},
		{"instance-scheduled-event", "ok", "ok", "instance-retirement"},
	}
	for _, tt := range tests {
		t.Run(tt.world, func(t *testing.T) {
			w, _ := open(t, "corpus/"+tt.world)
			got := status(t, w, "i-0a700000000000001")
			var event ec2types.EventCode
			if len(got.Events) > 0 {
				event = got.Events[0].Code
			}
			if got.SystemStatus.Status != tt.system || got.InstanceStatus.Status != tt.own || event != tt.event ||
				got.InstanceState.Name != ec2types.InstanceStateNameRunning || aws.ToString(got.AvailabilityZone) != "us-west-2a" {
				t.Errorf("system %s, own %s, event %q, %s in %s", got.SystemStatus.Status, got.InstanceStatus.Status, event, got.InstanceState.Name, aws.ToString(got.AvailabilityZone))
			}
		})
	}
	w, _ := open(t, "corpus/instance-status-check")
	if _, err := w.EC2().TerminateInstances(&ec2.TerminateInstancesInput{InstanceIds: []string{"i-0a700000000000001"}}); err != nil {
		t.Fatal(err)
	}
	if got := status(t, w, "i-0a700000000000001"); got.SystemStatus.Status != ec2types.SummaryStatusNotApplicable {
		t.Errorf("the system status of an instance that ends is %s", got.SystemStatus.Status)
	}
}

// A group that stands still wants an instance, and starts none.
func TestGroupsThatStandStill(t *testing.T) {
	w, events := open(t, "corpus/launch-vcpu-limit")
	w.Advance(w.Start().Add(time.Hour))
	if ids := members(t, w); len(ids) > 0 || len(*events) > 0 {
		t.Errorf("after an hour it has %q, and %d events were sent", ids, len(*events))
	}
}
