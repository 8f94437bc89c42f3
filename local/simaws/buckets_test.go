package simaws

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
)

func TestLimits(t *testing.T) {
	filtered := &ec2.DescribeNetworkInterfacesInput{Filters: []ec2types.Filter{{Name: aws.String("status")}}}
	tests := []struct {
		operation string
		in        any
		name      string
		want      Limit
	}{
		{"DeleteNetworkInterface", &ec2.DeleteNetworkInterfaceInput{}, "DeleteNetworkInterface", Limit{100, 5}},
		{"DescribeNetworkInterfaces", &ec2.DescribeNetworkInterfacesInput{}, "DescribeNetworkInterfaces (unfiltered)", Limit{50, 10}},
		{"DescribeNetworkInterfaces", filtered, "DescribeNetworkInterfaces", Limit{100, 20}},
		{"DescribeNetworkInterfaces", &ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(1000)}, "DescribeNetworkInterfaces", Limit{100, 20}},
		{"DescribeInstances", &ec2.DescribeInstancesInput{InstanceIds: []string{"i-1"}}, "DescribeInstances", Limit{100, 20}},
		{"DescribeSubnets", &ec2.DescribeSubnetsInput{}, "DescribeSubnets", Limit{100, 20}},
		{"GetSubnetCidrReservations", &ec2.GetSubnetCidrReservationsInput{}, "GetSubnetCidrReservations", Limit{100, 20}},
		{"DetachNetworkInterface", &ec2.DetachNetworkInterfaceInput{}, "DetachNetworkInterface", Limit{50, 5}},
		{"CreateTags", &ec2.CreateTagsInput{}, "CreateTags", Limit{100, 10}},
	}
	for _, tt := range tests {
		name, got := limitOf(tt.operation, tt.in)
		if name != tt.name || got != tt.want {
			t.Errorf("%s: got %q %v, want %q %v", tt.operation, name, got, tt.name, tt.want)
		}
	}
}

// burst makes so many deletes at once and says how many went through.
func burst(t *testing.T, b *Buckets, n int) (through int) {
	t.Helper()
	call := &wire.Call{Service: "ec2", Operation: "DeleteNetworkInterface"}
	for range n {
		switch err := b.Admit(t.Context(), call, &ec2.DeleteNetworkInterfaceInput{}); {
		case err == nil:
			through++
		case !errors.Is(err, wire.Throttled):
			t.Fatal(err)
		}
	}
	return through
}

func TestBucketEmptiesAndFills(t *testing.T) {
	now := stageNow
	b := NewBuckets(func() time.Time { return now })
	var got []int
	for _, wait := range []time.Duration{0, time.Second, 10 * time.Second, time.Hour} {
		now = now.Add(wait)
		got = append(got, burst(t, b, 150))
	}
	if diff := cmp.Diff(got, []int{100, 5, 50, 100}); diff != "" {
		t.Errorf("let through (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(b.Counts(), map[string]Count{"DeleteNetworkInterface": {Calls: 600, Throttled: 345}}); diff != "" {
		t.Errorf("counts (-got +want):\n%s", diff)
	}
	for _, call := range []wire.Call{{Service: "eks", Operation: "DescribeCluster"}, {Service: "ec2", Operation: "DescribeVpcs"}} {
		if err := b.Admit(t.Context(), &call, nil); err != nil {
			t.Errorf("%s has another bucket: %v", call.Operation, err)
		}
	}
}

func TestRivalTakesItsShare(t *testing.T) {
	now := stageNow
	b := NewBuckets(func() time.Time { return now }, Rival{Operation: "DeleteNetworkInterface", PerSecond: 2.5, From: stageNow, Until: stageNow.Add(time.Hour)})
	burst(t, b, 100)
	through := 0
	for range 100 {
		now = now.Add(time.Second)
		through += burst(t, b, 5)
	}
	c := b.Counts()["DeleteNetworkInterface"]
	if c.RivalCalls != 250 {
		t.Errorf("the rival called %d times, want 250", c.RivalCalls)
	}
	// 5 a second come back for 100 s; what the rival gets, the other does not. A
	// call in the same moment finds the bucket empty now and then.
	if got := through + c.RivalCalls - c.RivalThrottled; got != 500 || through < 240 || through > 320 {
		t.Errorf("%d went through beside a rival, together %d, want 500 together", through, got)
	}
	now = stageNow.Add(2 * time.Hour)
	if got := burst(t, b, 150); got != 100 {
		t.Errorf("after the rival, %d at once, want 100", got)
	}
}

// Over the wire it is EC2's own error.
func TestThrottledAsEC2Says(t *testing.T) {
	b := NewBuckets(func() time.Time { return stageNow })
	c := start(t, func(cfg *Config) { cfg.Admit = b.Admit })
	client := ec2.NewFromConfig(c.sdk(RoleIdentity(testAccount, "join-check")))
	var err error
	for range 101 {
		_, err = client.DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{})
	}
	if errorCode(err) != "RequestLimitExceeded" {
		t.Errorf("error of the 101st call = %v, want RequestLimitExceeded", err)
	}
	calls := c.Calls()
	if got := calls[len(calls)-1].Status; got != 503 {
		t.Errorf("status = %d, want 503", got)
	}
}
