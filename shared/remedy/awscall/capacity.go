package awscall

import (
	"context"

	"rollcall/shared/remedy/call"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// CapacitySetter sets the desired count of Auto Scaling groups.
type CapacitySetter interface {
	SetDesiredCapacity(context.Context, *autoscaling.SetDesiredCapacityInput, ...func(*autoscaling.Options)) (*autoscaling.SetDesiredCapacityOutput, error)
}

// NodegroupUpdater sets the desired count of managed nodegroups.
type NodegroupUpdater interface {
	UpdateNodegroupConfig(context.Context, *eks.UpdateNodegroupConfigInput, ...func(*eks.Options)) (*eks.UpdateNodegroupConfigOutput, error)
}

var (
	_ CapacitySetter   = (*autoscaling.Client)(nil)
	_ NodegroupUpdater = (*eks.Client)(nil)
)

// Capacity sets desired counts.
type Capacity struct {
	groups     CapacitySetter
	nodegroups NodegroupUpdater
}

// NewCapacity makes one whose clients try each call once.
func NewCapacity(cfg aws.Config) Capacity {
	return Capacity{
		groups:     autoscaling.NewFromConfig(cfg, func(o *autoscaling.Options) { o.Retryer = once() }),
		nodegroups: eks.NewFromConfig(cfg, func(o *eks.Options) { o.Retryer = once() }),
	}
}

// SetDesiredCapacity sets the desired count of an Auto Scaling group.
func (c Capacity) SetDesiredCapacity(ctx context.Context, group string, desired int) call.Answer {
	out, err := c.groups.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{
		AutoScalingGroupName: aws.String(group), DesiredCapacity: aws.Int32(int32(desired)),
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil:
		return empty()
	}
	return answered(out.ResultMetadata)
}

// SetDesiredSize sets the desired count of a managed nodegroup alone: EKS keeps
// minimum and maximum. The token makes EKS take the same update once.
func (c Capacity) SetDesiredSize(ctx context.Context, cluster, nodegroup string, desired int, token string) call.Answer {
	out, err := c.nodegroups.UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String(cluster), NodegroupName: aws.String(nodegroup), ClientRequestToken: aws.String(token),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{DesiredSize: aws.Int32(int32(desired))},
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil:
		return empty()
	}
	return answered(out.ResultMetadata)
}
