package world

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// stopTime is how long a warm instance takes to stop.
const stopTime = 10 * time.Second

func (w *World) warmMember(g *group, id string) *astypes.Instance {
	for i := range g.warm {
		if aws.ToString(g.warm[i].InstanceId) == id {
			return &g.warm[i]
		}
	}
	return nil
}

// warmTarget is how many instances a group keeps warm: what lies between the
// desired capacity and the prepared capacity, and at least the pool's minimum.
func (g *group) warmTarget() int {
	c := g.WarmPoolConfiguration
	if c == nil || c.Status == astypes.WarmPoolStatusPendingDelete {
		return 0
	}
	prepared := aws.ToInt32(g.MaxSize)
	if c.MaxGroupPreparedCapacity != nil && *c.MaxGroupPreparedCapacity >= 0 {
		prepared = *c.MaxGroupPreparedCapacity
	}
	return int(max(prepared-aws.ToInt32(g.DesiredCapacity), aws.ToInt32(c.MinSize), 0))
}

// fillWarmPool launches or ends warm instances until the pool has its size.
func (w *World) fillWarmPool(g *group) {
	want := g.warmTarget()
	for n := want - len(g.warm); n > 0; n-- {
		cause := w.cause(g, "an instance was started in response to a difference between the warm pool's desired and actual size, increasing the size from %d to %d.", len(g.warm), want)
		if !w.launchInGroup(g, cause, true) {
			return
		}
	}
	for len(g.warm) > want {
		id := aws.ToString(g.warm[len(g.warm)-1].InstanceId)
		g.dropMember(id)
		w.terminate(id, userShutdown())
	}
	g.WarmPoolSize = nil
	if g.WarmPoolConfiguration != nil {
		g.WarmPoolSize = aws.Int32(int32(len(g.warm)))
	}
}

// warmed ends the launch of a warm instance: it waits, stopped or running.
func (w *World) warmed(g *group, id string) {
	m, in := w.warmMember(g, id), w.instances.Get(id)
	if m == nil || in == nil {
		return
	}
	if a := g.openActivity(id); a != nil {
		w.finish(a, astypes.ScalingActivityStatusCodeSuccessful, "")
		w.emitActivity("EC2 Instance Launch Successful", g, a, "InProgress")
	}
	if g.WarmPoolConfiguration != nil && g.WarmPoolConfiguration.PoolState == astypes.WarmPoolStateRunning {
		m.LifecycleState = astypes.LifecycleStateWarmedRunning
		return
	}
	m.LifecycleState = astypes.LifecycleStateWarmedStopped
	in.State = instanceState(ec2types.InstanceStateNameStopping)
	w.emitState(id, "stopping")
	w.after(stopTime, func() {
		if in.State.Name == ec2types.InstanceStateNameStopping {
			in.State = instanceState(ec2types.InstanceStateNameStopped)
			w.emitState(id, "stopped")
		}
	})
}

// useWarm takes an instance out of the warm pool instead of launching one.
func (w *World) useWarm(g *group, cause string) bool {
	for i := range g.warm {
		m := g.warm[i]
		id := aws.ToString(m.InstanceId)
		in := w.instances.Get(id)
		running := m.LifecycleState == astypes.LifecycleStateWarmedRunning
		if in == nil || (!running && in.State.Name != ec2types.InstanceStateNameStopped) {
			continue
		}
		g.dropMember(id)
		m.LifecycleState = astypes.LifecycleStatePending
		g.Instances = append(g.Instances, m)
		a := &activity{instance: id, origin: "WarmPool", destination: "AutoScalingGroup"}
		a.Cause = aws.String(cause)
		a.Description = aws.String("Launching a new EC2 instance from warm pool: " + id)
		a.Details = aws.String(w.details(aws.ToString(in.SubnetId)))
		a.StatusCode = astypes.ScalingActivityStatusCodePreInService
		a.Progress = aws.Int32(30)
		w.record(g, a)
		in.LaunchTime = aws.Time(w.now.Truncate(time.Second))
		if w.hookFor(g, transitionLaunching) != nil {
			w.after(hookTime, func() { w.waitInHook(g, id, transitionLaunching, "WarmPool", "AutoScalingGroup") })
		}
		if running {
			w.after(hookTime, func() { w.groupInstanceRunning(id) })
			return true
		}
		in.State = instanceState(ec2types.InstanceStateNamePending)
		w.emitState(id, "pending")
		w.after(w.runningTime(), func() { w.becomeRunning(id) })
		return true
	}
	return false
}
