package diagnose

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/result"
	"rollcall/shared/gather"
)

// waits tells whether a cluster may have an instance at some time that should be a
// node by then. Where its nodes could not be read this decides whether they were
// needed. What cannot be read may be anything.
func waits(instances func() (*ec2.DescribeInstancesOutput, error), now time.Time) func(cluster string) bool {
	return func(cluster string) bool {
		out, err := instances()
		if err != nil {
			return true
		}
		for _, reservation := range out.Reservations {
			for _, in := range reservation.Instances {
				tags := map[string]string{}
				for _, t := range in.Tags {
					tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
				}
				if of, ok := gather.ClusterOf(tags); ok && of != cluster {
					continue
				}
				ended := in.State != nil && in.State.Name != ec2types.InstanceStateNameRunning && in.State.Name != ec2types.InstanceStateNamePending
				if !ended && now.Sub(aws.ToTime(in.LaunchTime)) >= result.JoinTime {
					return true
				}
			}
		}
		return false
	}
}

// waits is that of the subject. The stage's time stands still.
func (r *run) waits(cluster string) bool {
	return waits(r.describeInstances, r.stage.Clock.Now())(cluster)
}

func (r *run) describeInstances() (*ec2.DescribeInstancesOutput, error) {
	if r.capture != nil {
		return r.capture.API().DescribeInstances(&ec2.DescribeInstancesInput{})
	}
	return r.stage.World.EC2().DescribeInstances(&ec2.DescribeInstancesInput{})
}
