package gather

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/local/platform/wire"
	"rollcall/shared/snapshot"
)

func TestFindByGroupAndID(t *testing.T) {
	r, s := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "DescribeInstances", answer(func(in *ec2.DescribeInstancesInput) (*ec2.DescribeInstancesOutput, error) {
			one := func(id string) types.Reservation {
				return types.Reservation{Instances: []types.Instance{{InstanceId: aws.String(id), State: &types.InstanceState{Name: types.InstanceStateNameTerminated},
					StateTransitionReason: aws.String("User initiated (2026-11-20 14:59:58 GMT)"), StateReason: &types.StateReason{Code: aws.String("Client.UserInitiatedShutdown"), Message: aws.String("x")}}}}
			}
			if *in.Filters[0].Name == "tag:aws:autoscaling:groupName" {
				if in.NextToken == nil {
					return &ec2.DescribeInstancesOutput{NextToken: aws.String("2"), Reservations: []types.Reservation{one("i-3")}}, nil
				}
				return &ec2.DescribeInstancesOutput{Reservations: []types.Reservation{one("i-1")}}, nil
			}
			if diff := cmp.Diff([]string{"i-2"}, in.Filters[0].Values); diff != "" {
				t.Errorf("asked by id (-want +got):\n%s", diff)
			}
			return &ec2.DescribeInstancesOutput{Reservations: []types.Reservation{one("i-2")}}, nil
		}))
	})
	got, failed := r.Find(context.Background(), []string{"i-1", "i-2"}, []string{"asg"})
	if failed != nil {
		t.Fatal(failed)
	}
	var ids []string
	for _, in := range got {
		ids = append(ids, in.ID)
	}
	if diff := cmp.Diff([]string{"i-1", "i-2", "i-3"}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	want := snapshot.StateReason{Code: "Client.UserInitiatedShutdown", Message: "x", When: time.Date(2026, 11, 20, 14, 59, 58, 0, time.UTC)}
	if diff := cmp.Diff(want, got[0].StateReason); diff != "" {
		t.Errorf("state reason (-want +got):\n%s", diff)
	}
	if n := len(s.Calls()); n != 3 {
		t.Errorf("%d calls, want 3", n)
	}
}

func TestGroupsWithWarmPool(t *testing.T) {
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "autoscaling", "DescribeAutoScalingGroups", answer(func(*autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
			return &autoscaling.DescribeAutoScalingGroupsOutput{AutoScalingGroups: []astypes.AutoScalingGroup{
				{AutoScalingGroupName: aws.String("pool"), MinSize: aws.Int32(0), MaxSize: aws.Int32(3), DesiredCapacity: aws.Int32(1), VPCZoneIdentifier: aws.String("subnet-b, subnet-a"), WarmPoolConfiguration: &astypes.WarmPoolConfiguration{},
					Instances: []astypes.Instance{{InstanceId: aws.String("i-2"), LifecycleState: astypes.LifecycleStateInService, HealthStatus: aws.String("Healthy")}}},
				{AutoScalingGroupName: aws.String("plain")},
			}}, nil
		}))
		wire.Handle(s, "autoscaling", "DescribeWarmPool", answer(func(in *autoscaling.DescribeWarmPoolInput) (*autoscaling.DescribeWarmPoolOutput, error) {
			if *in.AutoScalingGroupName != "pool" {
				t.Errorf("asked for the warm pool of %s, which has none", *in.AutoScalingGroupName)
			}
			return &autoscaling.DescribeWarmPoolOutput{Instances: []astypes.Instance{{InstanceId: aws.String("i-1")}}}, nil
		}))
	})
	got, failed := r.Groups(context.Background(), []string{"pool", "plain"})
	if failed != nil {
		t.Fatal(failed)
	}
	want := []snapshot.Group{
		{Name: "plain"},
		{Name: "pool", Max: 3, Desired: 1, Subnets: []string{"subnet-a", "subnet-b"}, WarmPool: true, Warm: []string{"i-1"},
			Instances: []snapshot.GroupInstance{{ID: "i-2", Lifecycle: "InService", Health: "Healthy"}}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}
