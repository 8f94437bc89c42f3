package remedy

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/plan"
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

// Capacity raises desired counts.
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

// Raise raises the count. It lowers none, and exceeds no maximum, whatever the
// plan says. Of a managed nodegroup the desired count alone is set: EKS keeps
// minimum and maximum. The token makes EKS take the same update once.
func (c Capacity) Raise(ctx context.Context, cluster string, p plan.Cover, token string) Answer {
	if p.To <= p.From || p.To > p.Max {
		return Answer{Outcome: Refused, Code: "NotARaise", Message: "the count is not raised within its bounds"}
	}
	if p.Nodegroup == "" {
		out, err := c.groups.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{
			AutoScalingGroupName: aws.String(p.Group), DesiredCapacity: aws.Int32(int32(p.To)),
		})
		switch {
		case err != nil:
			return refused(err)
		case out == nil:
			return empty()
		}
		return answered(out.ResultMetadata)
	}
	out, err := c.nodegroups.UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{
		ClusterName: aws.String(cluster), NodegroupName: aws.String(p.Nodegroup), ClientRequestToken: aws.String(token),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{DesiredSize: aws.Int32(int32(p.To))},
	})
	switch {
	case err != nil:
		return refused(err)
	case out == nil:
		return empty()
	}
	return answered(out.ResultMetadata)
}
