package lifecycle

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/state"
)

// stopTime is how long a warm instance takes to stop.
const stopTime = 10 * time.Second

func warmMember(w *state.State, g *state.Group, id string) *astypes.Instance {
	for i := range g.Warm {
		if aws.ToString(g.Warm[i].InstanceId) == id {
			return &g.Warm[i]
		}
	}
	return nil
}

// warmTarget is how many instances a group keeps warm: what lies between the
// desired capacity and the prepared capacity, and at least the pool's minimum.
func warmTarget(g *state.Group) int {
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

// FillWarmPool launches or ends warm instances until the pool has its size.
func FillWarmPool(w *state.State, g *state.Group) {
	want := warmTarget(g)
	for n := want - len(g.Warm); n > 0; n-- {
		cause := cause(w, g, "an instance was started in response to a difference between the warm pool's desired and actual size, increasing the size from %d to %d.", len(g.Warm), want)
		if !launchInGroup(w, g, cause, true) {
			return
		}
	}
	for len(g.Warm) > want {
		id := aws.ToString(g.Warm[len(g.Warm)-1].InstanceId)
		g.DropMember(id)
		Terminate(w, id, UserShutdown())
	}
	g.WarmPoolSize = nil
	if g.WarmPoolConfiguration != nil {
		g.WarmPoolSize = aws.Int32(int32(len(g.Warm)))
	}
}

// warmed ends the launch of a warm instance: it waits, stopped or running.
func warmed(w *state.State, g *state.Group, id string) {
	m, in := warmMember(w, g, id), w.Instances.Get(id)
	if m == nil || in == nil {
		return
	}
	if a := g.OpenActivity(id); a != nil {
		finish(w, a, astypes.ScalingActivityStatusCodeSuccessful, "")
		w.EmitActivity("EC2 Instance Launch Successful", g, a, "InProgress")
	}
	if g.WarmPoolConfiguration != nil && g.WarmPoolConfiguration.PoolState == astypes.WarmPoolStateRunning {
		m.LifecycleState = astypes.LifecycleStateWarmedRunning
		return
	}
	m.LifecycleState = astypes.LifecycleStateWarmedStopped
	in.State = state.InstanceState(ec2types.InstanceStateNameStopping)
	w.EmitState(id, "stopping")
	w.After(stopTime, func() {
		if in.State.Name == ec2types.InstanceStateNameStopping {
			in.State = state.InstanceState(ec2types.InstanceStateNameStopped)
			w.EmitState(id, "stopped")
		}
	})
}

// useWarm takes an instance out of the warm pool instead of launching one.
func useWarm(w *state.State, g *state.Group, cause string) bool {
	for i := range g.Warm {
		m := g.Warm[i]
		id := aws.ToString(m.InstanceId)
		in := w.Instances.Get(id)
		running := m.LifecycleState == astypes.LifecycleStateWarmedRunning
		if in == nil || (!running && in.State.Name != ec2types.InstanceStateNameStopped) {
			continue
		}
		g.DropMember(id)
		m.LifecycleState = astypes.LifecycleStatePending
		g.Instances = append(g.Instances, m)
		a := &state.Activity{Instance: id, Origin: "WarmPool", Destination: "AutoScalingGroup"}
		a.Cause = aws.String(cause)
		a.Description = aws.String("Launching a new EC2 instance from warm pool: " + id)
		a.Details = aws.String(details(w, aws.ToString(in.SubnetId)))
		a.StatusCode = astypes.ScalingActivityStatusCodePreInService
		a.Progress = aws.Int32(30)
		record(w, g, a)
		in.LaunchTime = aws.Time(w.Now.Truncate(time.Second))
		if hookFor(w, g, state.TransitionLaunching) != nil {
			w.After(hookTime, func() { waitInHook(w, g, id, state.TransitionLaunching, "WarmPool", "AutoScalingGroup") })
		}
		if running {
			w.After(hookTime, func() { groupInstanceRunning(w, id) })
			return true
		}
		in.State = state.InstanceState(ec2types.InstanceStateNamePending)
		w.EmitState(id, "pending")
		w.After(w.RunningTime(), func() { BecomeRunning(w, id) })
		return true
	}
	return false
}
