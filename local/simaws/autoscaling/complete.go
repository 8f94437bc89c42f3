package autoscaling

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/state"
)

// CompleteHookDefaults fills in what a lifecycle hook leaves out.
func CompleteHookDefaults(h *astypes.LifecycleHook) {
	defaults.Set(&h.DefaultResult, "CONTINUE")
	defaults.Set(&h.HeartbeatTimeout, 1800)
	// The longest wait: 48 hours or 100 heartbeats, whichever is less.
	defaults.Set(&h.GlobalTimeout, min(48*3600, 100**h.HeartbeatTimeout))
}

// PutGroup fills in what every group has and keeps it.
func PutGroup(w *state.State, g *state.Group) {
	defaults.Set(&g.AutoScalingGroupARN, w.ARN("autoscaling", "autoScalingGroup:"+w.IDs.UUID()+":autoScalingGroupName/"+g.Name()))
	defaults.Set(&g.MinSize, 0)
	defaults.Set(&g.MaxSize, *g.MinSize)
	defaults.Set(&g.DesiredCapacity, *g.MinSize)
	defaults.Set(&g.DefaultCooldown, 300)
	defaults.Set(&g.HealthCheckType, "EC2")
	defaults.Set(&g.HealthCheckGracePeriod, 15)
	defaults.Set(&g.NewInstancesProtectedFromScaleIn, false)
	defaults.Set(&g.CapacityRebalance, false)
	defaults.Set(&g.CreatedTime, w.Start.Add(-state.Age))
	defaults.Set(&g.ServiceLinkedRoleARN, fmt.Sprintf("arn:aws:iam::%s:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling", w.Account))
	if g.TerminationPolicies == nil {
		g.TerminationPolicies = []string{"AllocationStrategy", "OldestLaunchTemplate", "OldestInstance"}
	}
	if g.AvailabilityZones == nil {
		seen := map[string]bool{}
		for _, id := range g.Subnets() {
			if s := w.Subnets.Get(id); s != nil && !seen[aws.ToString(s.AvailabilityZone)] {
				seen[aws.ToString(s.AvailabilityZone)] = true
				g.AvailabilityZones = append(g.AvailabilityZones, aws.ToString(s.AvailabilityZone))
			}
		}
	}
	for i := range g.Tags {
		t := &g.Tags[i]
		defaults.Set(&t.ResourceId, g.Name())
		defaults.Set(&t.ResourceType, "auto-scaling-group")
		defaults.Set(&t.PropagateAtLaunch, true)
	}
	if c, ok := w.File.AutoScaling.WarmPools[g.Name()]; ok {
		defaults.SetPlain(&c.PoolState, astypes.WarmPoolStateStopped)
		g.WarmPoolConfiguration = &c
	}
	w.Groups.Put(g.Name(), g)
}
