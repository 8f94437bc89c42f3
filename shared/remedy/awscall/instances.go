package awscall

import (
	"context"

	"rollcall/shared/remedy/call"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
)

// InstanceEnder ends instances through their Auto Scaling groups.
type InstanceEnder interface {
	TerminateInstanceInAutoScalingGroup(context.Context, *autoscaling.TerminateInstanceInAutoScalingGroupInput, ...func(*autoscaling.Options)) (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error)
}

var _ InstanceEnder = (*autoscaling.Client)(nil)

// Instances ends instances.
type Instances struct{ client InstanceEnder }

// NewInstances makes one whose client tries each call once.
func NewInstances(cfg aws.Config) Instances {
	return Instances{autoscaling.NewFromConfig(cfg, func(o *autoscaling.Options) { o.Retryer = once() })}
}

// EndInGroup ends an instance whose group launches another: the capacity stays.
func (i Instances) EndInGroup(ctx context.Context, id string) call.Answer {
	out, err := i.client.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
		InstanceId: aws.String(id), ShouldDecrementDesiredCapacity: aws.Bool(false),
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil:
		return empty()
	}
	return answered(out.ResultMetadata)
}
