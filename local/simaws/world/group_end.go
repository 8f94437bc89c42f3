package world

import (
	"cmp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// endInGroup begins to terminate an instance of a group, and returns the
// activity about it.
func (w *World) endInGroup(g *group, id, cause string) *activity {
	m := g.member(id)
	if m == nil {
		return nil
	}
	if open := g.openActivity(id); open != nil {
		w.finish(open, astypes.ScalingActivityStatusCodeCancelled, "")
	}
	a := &activity{instance: id, origin: "AutoScalingGroup", destination: "EC2"}
	a.Cause = aws.String(cause)
	a.Description = aws.String("Terminating EC2 instance: " + id)
	subnet := ""
	if in := w.instances.Get(id); in != nil {
		subnet = aws.ToString(in.SubnetId)
	}
	a.Details = aws.String(w.details(subnet))
	a.StatusCode = astypes.ScalingActivityStatusCodeInProgress
	a.Progress = aws.Int32(0)
	w.record(g, a)
	delete(g.waits, id)
	m.LifecycleState = astypes.LifecycleStateTerminating
	if w.hookFor(g, transitionTerminating) != nil {
		w.waitInHook(g, id, transitionTerminating, "AutoScalingGroup", "EC2")
		return a
	}
	w.endForGroup(id)
	return a
}

// groupInstanceRunning moves an instance on once EC2 says it runs, unless a
// hook holds it.
func (w *World) groupInstanceRunning(id string) {
	w.registerLater(id)
	g := w.groupOf(id)
	if g == nil || g.waits[id] != nil {
		return
	}
	warm := w.warmMember(g, id)
	// An instance that has yet to enter its hook's wait goes on from there.
	if m := cmp.Or(g.member(id), warm); m != nil && w.hookFor(g, transitionLaunching) != nil && !strings.HasSuffix(string(m.LifecycleState), ":Proceed") {
		return
	}
	if warm != nil {
		w.warmed(g, id)
		return
	}
	w.inService(g, id)
}

// groupInstanceEnding is told of every shutdown, whoever began it.
func (w *World) groupInstanceEnding(id string) {
	g := w.groupOf(id)
	if g == nil {
		return
	}
	if w.warmMember(g, id) != nil {
		g.dropMember(id)
		w.reconcileLater(g, healthCheckTime)
		return
	}
	m := g.member(id)
	if m == nil || strings.HasPrefix(string(m.LifecycleState), "Terminat") {
		return
	}
	if strings.HasPrefix(string(m.LifecycleState), "Pending") {
		w.launchCancelled(g, id)
		return
	}
	m.HealthStatus = aws.String("Unhealthy")
	w.after(healthCheckTime, func() { w.replaceEnded(g, id) })
}

// launchCancelled is a launched instance that ended before it was in service.
func (w *World) launchCancelled(g *group, id string) {
	reason := ""
	if in := w.instances.Get(id); in != nil && in.StateReason != nil {
		reason = aws.ToString(in.StateReason.Message)
	}
	if a := g.openActivity(id); a != nil {
		message := "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: " + reason
		a.Description = aws.String("Launching a new EC2 instance: " + id + ".  Status Reason: " + message)
		w.finish(a, astypes.ScalingActivityStatusCodeCancelled, message)
		w.emitActivity("EC2 Instance Launch Unsuccessful", g, a, "Cancelled")
		w.nodegroupLaunchFailed(g, message)
	}
	if !g.isReplaced(id) {
		g.replacing++
	}
	g.dropMember(id)
	g.failures++
	w.reconcileLater(g, min(retryTime<<min(g.failures-1, 10), retryTimeMax))
}

// replaceEnded is the health check that finds a serving instance gone.
func (w *World) replaceEnded(g *group, id string) {
	if g.member(id) == nil || g.suspended("HealthCheck") {
		return
	}
	a := &activity{instance: id, origin: "AutoScalingGroup", destination: "EC2"}
	a.Cause = aws.String("At " + w.now.UTC().Format(time.RFC3339) + " an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")
	a.Description = aws.String("Terminating EC2 instance: " + id)
	a.Details = aws.String(w.details(""))
	w.record(g, a)
	w.finish(a, astypes.ScalingActivityStatusCodeSuccessful, "")
	w.emitActivity("EC2 Instance Terminate Successful", g, a, "InProgress")
	if !g.isReplaced(id) {
		g.replacing++
	}
	g.dropMember(id)
	w.reconcileLater(g, reconcileTime)
}

// groupInstanceTerminated ends the activity of an instance that its group
// terminated.
func (w *World) groupInstanceTerminated(id string) {
	g := w.groupOf(id)
	if g == nil {
		return
	}
	m := g.member(id)
	if m == nil || !strings.HasPrefix(string(m.LifecycleState), "Terminat") {
		return
	}
	if a := g.openActivity(id); a != nil {
		w.finish(a, astypes.ScalingActivityStatusCodeSuccessful, "")
		w.emitActivity("EC2 Instance Terminate Successful", g, a, "InProgress")
	}
	g.dropMember(id)
	w.reconcileLater(g, reconcileTime)
}

// hookFor is the group's hook on a transition, nil where it has none.
func (w *World) hookFor(g *group, transition string) *astypes.LifecycleHook {
	for _, h := range w.hooks.All() {
		if aws.ToString(h.AutoScalingGroupName) == g.name() && aws.ToString(h.LifecycleTransition) == transition {
			return h
		}
	}
	return nil
}

func hookKey(group, hook string) string { return group + "/" + hook }

// waitInHook holds an instance until the hook is completed or runs out.
func (w *World) waitInHook(g *group, id, transition, origin, destination string) {
	hook := w.hookFor(g, transition)
	m := g.member(id)
	if m == nil {
		m = w.warmMember(g, id)
	}
	in := w.instances.Get(id)
	if hook == nil || m == nil || in == nil || ended(in) {
		return
	}
	m.LifecycleState += ":Wait"
	if a := g.openActivity(id); a != nil {
		a.StatusCode = astypes.ScalingActivityStatusCodeMidLifecycleAction
		a.Progress = aws.Int32(60)
	}
	wait := &hookWait{hook: aws.ToString(hook.LifecycleHookName), token: w.ids.UUID()}
	g.waits[id] = wait
	w.emitLifecycleAction(g, hook, id, wait.token, origin, destination)
	w.heartbeat(g, id, hook)
	if transition == transitionTerminating && g.tag("eks:nodegroup-name") != "" {
		w.drain(id)
		w.after(drainTime, func() { w.completeIf(g, id, wait, "CONTINUE") })
	}
}

// heartbeat has the wait run out after the hook's time.
func (w *World) heartbeat(g *group, id string, hook *astypes.LifecycleHook) {
	wait := g.waits[id]
	wait.seq++
	seq := wait.seq
	result := aws.ToString(hook.DefaultResult)
	w.after(time.Duration(aws.ToInt32(hook.HeartbeatTimeout))*time.Second, func() {
		if wait.seq == seq {
			w.completeIf(g, id, wait, result)
		}
	})
}

func (w *World) completeIf(g *group, id string, wait *hookWait, result string) {
	if g.waits[id] == wait {
		w.completeHook(g, id, result)
	}
}

// completeHook lets an instance go on, or gives it up.
func (w *World) completeHook(g *group, id, result string) {
	delete(g.waits, id)
	in := w.instances.Get(id)
	if m := w.warmMember(g, id); m != nil {
		m.LifecycleState = astypes.LifecycleStateWarmedPendingProceed
		if in != nil && in.State.Name == ec2types.InstanceStateNameRunning {
			w.warmed(g, id)
		}
		return
	}
	m := g.member(id)
	if m == nil {
		return
	}
	switch m.LifecycleState {
	case astypes.LifecycleStateTerminatingWait:
		m.LifecycleState = astypes.LifecycleStateTerminatingProceed
		w.endForGroup(id)
	case astypes.LifecycleStatePendingWait:
		if result == "ABANDON" {
			w.terminate(id, userShutdown())
			return
		}
		m.LifecycleState = astypes.LifecycleStatePendingProceed
		if in != nil && in.State.Name == ec2types.InstanceStateNameRunning {
			w.inService(g, id)
		}
	}
}
