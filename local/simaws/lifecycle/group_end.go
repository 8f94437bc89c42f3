package lifecycle

import (
	"cmp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/kubernetes"
	"rollcall/local/simaws/nodegroup"
	"rollcall/local/simaws/state"
)

// EndInGroup begins to terminate an instance of a group, and returns the
// activity about it.
func EndInGroup(w *state.State, g *state.Group, id, cause string) *state.Activity {
	m := g.Member(id)
	if m == nil {
		return nil
	}
	if open := g.OpenActivity(id); open != nil {
		finish(w, open, astypes.ScalingActivityStatusCodeCancelled, "")
	}
	a := &state.Activity{Instance: id, Origin: "AutoScalingGroup", Destination: "EC2"}
	a.Cause = aws.String(cause)
	a.Description = aws.String("Terminating EC2 instance: " + id)
	subnet := ""
	if in := w.Instances.Get(id); in != nil {
		subnet = aws.ToString(in.SubnetId)
	}
	a.Details = aws.String(details(w, subnet))
	a.StatusCode = astypes.ScalingActivityStatusCodeInProgress
	a.Progress = aws.Int32(0)
	record(w, g, a)
	delete(g.Waits, id)
	m.LifecycleState = astypes.LifecycleStateTerminating
	if hookFor(w, g, state.TransitionTerminating) != nil {
		waitInHook(w, g, id, state.TransitionTerminating, "AutoScalingGroup", "EC2")
		return a
	}
	endForGroup(w, id)
	return a
}

// groupInstanceRunning moves an instance on once EC2 says it runs, unless a
// hook holds it.
func groupInstanceRunning(w *state.State, id string) {
	registerLater(w, id)
	g := w.GroupOf(id)
	if g == nil || g.Waits[id] != nil {
		return
	}
	warm := warmMember(w, g, id)
	// An instance that has yet to enter its hook's wait goes on from there.
	if m := cmp.Or(g.Member(id), warm); m != nil && hookFor(w, g, state.TransitionLaunching) != nil && !strings.HasSuffix(string(m.LifecycleState), ":Proceed") {
		return
	}
	if warm != nil {
		warmed(w, g, id)
		return
	}
	inService(w, g, id)
}

// groupInstanceEnding is told of every shutdown, whoever began it.
func groupInstanceEnding(w *state.State, id string) {
	g := w.GroupOf(id)
	if g == nil {
		return
	}
	if warmMember(w, g, id) != nil {
		g.DropMember(id)
		ReconcileLater(w, g, healthCheckTime)
		return
	}
	m := g.Member(id)
	if m == nil || strings.HasPrefix(string(m.LifecycleState), "Terminat") {
		return
	}
	if strings.HasPrefix(string(m.LifecycleState), "Pending") {
		launchCancelled(w, g, id)
		return
	}
	m.HealthStatus = aws.String("Unhealthy")
	w.After(healthCheckTime, func() { replaceEnded(w, g, id) })
}

// launchCancelled is a launched instance that ended before it was in service.
func launchCancelled(w *state.State, g *state.Group, id string) {
	reason := ""
	if in := w.Instances.Get(id); in != nil && in.StateReason != nil {
		reason = aws.ToString(in.StateReason.Message)
	}
	cancelActivity(w, g, id, "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: "+reason)
	if !g.IsReplaced(id) {
		g.Replacing++
	}
	g.DropMember(id)
	g.Failures++
	ReconcileLater(w, g, min(retryTime<<min(g.Failures-1, 10), retryTimeMax))
}

// cancelActivity ends the activity that launches an instance, with why.
func cancelActivity(w *state.State, g *state.Group, id, message string) {
	a := g.OpenActivity(id)
	if a == nil {
		return
	}
	a.Description = aws.String("Launching a new EC2 instance: " + id + ".  Status Reason: " + message)
	finish(w, a, astypes.ScalingActivityStatusCodeCancelled, message)
	w.EmitActivity("EC2 Instance Launch Unsuccessful", g, a, "Cancelled")
	nodegroup.LaunchFailed(w, g, message)
}

// replaceEnded is the health check that finds a serving instance gone.
func replaceEnded(w *state.State, g *state.Group, id string) {
	if g.Member(id) == nil || g.Suspended("HealthCheck") {
		return
	}
	a := &state.Activity{Instance: id, Origin: "AutoScalingGroup", Destination: "EC2"}
	a.Cause = aws.String("At " + w.Now.UTC().Format(time.RFC3339) + " an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")
	a.Description = aws.String("Terminating EC2 instance: " + id)
	a.Details = aws.String(details(w, ""))
	record(w, g, a)
	finish(w, a, astypes.ScalingActivityStatusCodeSuccessful, "")
	w.EmitActivity("EC2 Instance Terminate Successful", g, a, "InProgress")
	if !g.IsReplaced(id) {
		g.Replacing++
	}
	g.DropMember(id)
	ReconcileLater(w, g, ReconcileTime)
}

// groupInstanceTerminated ends the activity of an instance that its group
// terminated.
func groupInstanceTerminated(w *state.State, id string) {
	g := w.GroupOf(id)
	if g == nil {
		return
	}
	m := g.Member(id)
	if m == nil || !strings.HasPrefix(string(m.LifecycleState), "Terminat") {
		return
	}
	if a := g.OpenActivity(id); a != nil {
		finish(w, a, astypes.ScalingActivityStatusCodeSuccessful, "")
		w.EmitActivity("EC2 Instance Terminate Successful", g, a, "InProgress")
	}
	g.DropMember(id)
	ReconcileLater(w, g, ReconcileTime)
}

// hookFor is the group's hook on a transition, nil where it has none.
func hookFor(w *state.State, g *state.Group, transition string) *astypes.LifecycleHook {
	for _, h := range w.Hooks.All() {
		if aws.ToString(h.AutoScalingGroupName) == g.Name() && aws.ToString(h.LifecycleTransition) == transition {
			return h
		}
	}
	return nil
}

// waitInHook holds an instance until the hook is completed or runs out.
func waitInHook(w *state.State, g *state.Group, id, transition, origin, destination string) {
	hook := hookFor(w, g, transition)
	m := g.Member(id)
	if m == nil {
		m = warmMember(w, g, id)
	}
	in := w.Instances.Get(id)
	if hook == nil || m == nil || in == nil || state.Ended(in) {
		return
	}
	m.LifecycleState += ":Wait"
	if a := g.OpenActivity(id); a != nil {
		a.StatusCode = astypes.ScalingActivityStatusCodeMidLifecycleAction
		a.Progress = aws.Int32(60)
	}
	wait := &state.HookWait{Hook: aws.ToString(hook.LifecycleHookName), Token: w.IDs.UUID()}
	g.Waits[id] = wait
	w.EmitLifecycleAction(g, hook, id, wait.Token, origin, destination)
	Heartbeat(w, g, id, hook)
	if transition == state.TransitionTerminating && g.Tag("eks:nodegroup-name") != "" {
		kubernetes.Drain(w, id)
		w.After(drainTime, func() { completeIf(w, g, id, wait, "CONTINUE") })
	}
}

// Heartbeat has the wait run out after the hook's time.
func Heartbeat(w *state.State, g *state.Group, id string, hook *astypes.LifecycleHook) {
	wait := g.Waits[id]
	wait.Seq++
	seq := wait.Seq
	result := aws.ToString(hook.DefaultResult)
	w.After(time.Duration(aws.ToInt32(hook.HeartbeatTimeout))*time.Second, func() {
		if wait.Seq != seq || g.Waits[id] != wait {
			return
		}
		if m := g.Member(id); result == "ABANDON" && m != nil && m.LifecycleState == astypes.LifecycleStatePendingWait {
			cancelActivity(w, g, id, abandoned(wait.Token, "Heartbeat Timeout"))
		}
		CompleteHook(w, g, id, result)
	})
}

func completeIf(w *state.State, g *state.Group, id string, wait *state.HookWait, result string) {
	if g.Waits[id] == wait {
		CompleteHook(w, g, id, result)
	}
}

// abandoned is what an activity reports of a launch that its hook gave up (Amazon EC2
// Auto Scaling User Guide, "Tutorial: Use data script and instance metadata to retrieve
// lifecycle state"; the time-out: AWS CodeDeploy User Guide, "Heartbeat Timeout").
func abandoned(token, why string) string {
	return "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token " + token + " was abandoned: " + why
}

// CompleteHook lets an instance go on, or gives it up.
func CompleteHook(w *state.State, g *state.Group, id, result string) {
	wait := g.Waits[id]
	delete(g.Waits, id)
	in := w.Instances.Get(id)
	if m := warmMember(w, g, id); m != nil {
		m.LifecycleState = astypes.LifecycleStateWarmedPendingProceed
		if in != nil && in.State.Name == ec2types.InstanceStateNameRunning {
			warmed(w, g, id)
		}
		return
	}
	m := g.Member(id)
	if m == nil {
		return
	}
	switch m.LifecycleState {
	case astypes.LifecycleStateTerminatingWait:
		m.LifecycleState = astypes.LifecycleStateTerminatingProceed
		endForGroup(w, id)
	case astypes.LifecycleStatePendingWait:
		if result == "ABANDON" {
			if wait != nil {
				cancelActivity(w, g, id, abandoned(wait.Token, "Lifecycle Action Completed with ABANDON Result"))
			}
			Terminate(w, id, UserShutdown())
			return
		}
		m.LifecycleState = astypes.LifecycleStatePendingProceed
		if in != nil && in.State.Name == ec2types.InstanceStateNameRunning {
			inService(w, g, id)
		}
	}
}
