package world

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
)

func TestWarmPool(t *testing.T) {
	w, events := open(t, "healthy-nat")
	if _, err := w.AutoScaling().PutWarmPool(&autoscaling.PutWarmPoolInput{AutoScalingGroupName: aws.String(defaultGroupName), MaxGroupPreparedCapacity: aws.Int32(4)}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Start().Add(time.Minute))
	pool, err := w.AutoScaling().DescribeWarmPool(&autoscaling.DescribeWarmPoolInput{AutoScalingGroupName: aws.String(defaultGroupName)})
	if err != nil {
		t.Fatal(err)
	}
	if len(pool.Instances) != 1 || pool.Instances[0].LifecycleState != "Warmed:Stopped" {
		t.Fatalf("pool: got %v", pool.Instances)
	}
	id := *pool.Instances[0].InstanceId
	if got := w.Instances.Get(id).State.Name; got != "stopped" {
		t.Errorf("warm instance: got %s, want stopped", got)
	}
	w.Advance(w.Start().Add(10 * time.Minute))
	if got := readiness(t, w, id); got != "" {
		t.Errorf("warm instance joined: %q", got)
	}
	if got := told(t, *events, "EC2 Instance Launch Successful"); got[0]["Destination"] != "WarmPool" {
		t.Errorf("destination: got %v, want WarmPool", got[0]["Destination"])
	}
	if _, err := w.AutoScaling().SetDesiredCapacity(&autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: aws.String(defaultGroupName), DesiredCapacity: aws.Int32(4)}); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Now().Add(2 * time.Minute))
	if got := readiness(t, w, id); got != "True" {
		t.Errorf("instance out of the warm pool: Ready is %q, want True", got)
	}
}
