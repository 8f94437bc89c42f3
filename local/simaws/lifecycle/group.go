package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/local/simaws/state"
)

const (
	// LaunchHook is the hook that EKS puts on a managed nodegroup's group; EKS
	// completes it when the node is Ready.
	LaunchHook = "Launch-LC-Hook"

	// ReconcileTime is how long a group takes to act on a new capacity.
	ReconcileTime = 2 * time.Second
	// healthCheckTime is how long a group takes to see that an instance ended.
	healthCheckTime = 30 * time.Second
	// drainTime is how long EKS takes to drain a node that its group ends.
	drainTime = 5 * time.Second
	// Failed launches are tried again after 30 s, doubling up to 10 minutes.
	retryTime    = 30 * time.Second
	retryTimeMax = 10 * time.Minute
)

// cause is the text of the next activity: what was noted, and this.
func cause(w *state.State, g *state.Group, format string, args ...any) string {
	last := "At " + w.Now.UTC().Format(time.RFC3339) + " " + fmt.Sprintf(format, args...)
	return strings.Join(append(slices.Clone(g.Because), last), "  ")
}

// SetCapacity changes a group's desired capacity and has it act on it.
func SetCapacity(w *state.State, g *state.Group, desired int32) {
	g.DesiredCapacity = aws.Int32(desired)
	ReconcileLater(w, g, ReconcileTime)
}

// ReconcileLater has a group act after d, unless it does so before.
func ReconcileLater(w *state.State, g *state.Group, d time.Duration) {
	at := w.Now.Add(d)
	if !g.Next.IsZero() && !at.Before(g.Next) {
		return
	}
	g.Next = at
	w.After(d, func() {
		if g.Next.Equal(at) {
			g.Next = time.Time{}
			reconcile(w, g)
		}
	})
}

// reconcile starts or ends instances until the group has what it should.
func reconcile(w *state.State, g *state.Group) {
	if w.File.AutoScaling.Still {
		return
	}
	have, want := g.Capacity(), int(aws.ToInt32(g.DesiredCapacity))
	switch {
	case have < want:
		scaleOut(w, g, have, want)
	case have > want:
		scaleIn(w, g, have, want)
	}
	g.Because = nil
	FillWarmPool(w, g)
}

func scaleOut(w *state.State, g *state.Group, have, want int) {
	if g.Suspended("Launch") {
		return
	}
	missing := want - have
	for range missing {
		text := cause(w, g, "an instance was started in response to a difference between desired and actual capacity, increasing the capacity from %d to %d.", have, want)
		if g.Replacing > 0 {
			g.Replacing--
			text = cause(w, g, "an instance was launched in response to an unhealthy instance needing to be replaced.")
		}
		if useWarm(w, g, text) {
			continue
		}
		if !launchInGroup(w, g, text, false) {
			// One failure stands for the rest: the group waits before it tries
			// again, longer each time.
			g.Failures++
			wait := retryTime << min(g.Failures-1, 10)
			ReconcileLater(w, g, min(wait, retryTimeMax))
			return
		}
	}
}

func scaleIn(w *state.State, g *state.Group, have, want int) {
	if g.Suspended("Terminate") {
		return
	}
	for n := have - want; n > 0; n-- {
		victim := chooseVictim(w, g)
		if victim == "" {
			return
		}
		text := cause(w, g, "an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from %d to %d.", have, want)
		text += "  At " + w.Now.UTC().Format(time.RFC3339) + " instance " + victim + " was selected for termination."
		EndInGroup(w, g, victim, text)
	}
}

// chooseVictim picks by the default policy, cut short: the zone with the most
// instances, and in it the oldest that is not protected.
func chooseVictim(w *state.State, g *state.Group) string {
	count := map[string]int{}
	for _, i := range g.Instances {
		if !strings.HasPrefix(string(i.LifecycleState), "Terminat") {
			count[aws.ToString(i.AvailabilityZone)]++
		}
	}
	best, bestCount := "", -1
	for _, i := range g.Instances {
		if strings.HasPrefix(string(i.LifecycleState), "Terminat") || aws.ToBool(i.ProtectedFromScaleIn) || g.IsReplaced(aws.ToString(i.InstanceId)) {
			continue
		}
		if n := count[aws.ToString(i.AvailabilityZone)]; n > bestCount {
			best, bestCount = aws.ToString(i.InstanceId), n
		}
	}
	return best
}

// record begins a scaling activity.
func record(w *state.State, g *state.Group, a *state.Activity) {
	a.ActivityId = aws.String(w.IDs.UUID())
	a.AutoScalingGroupName = g.AutoScalingGroupName
	a.AutoScalingGroupARN = g.AutoScalingGroupARN
	a.StartTime = aws.Time(w.Now)
	g.Activities = append(g.Activities, a)
}

func finish(w *state.State, a *state.Activity, status astypes.ScalingActivityStatusCode, message string) {
	a.StatusCode = status
	a.EndTime = aws.Time(w.Now)
	a.Progress = aws.Int32(100)
	if message != "" {
		a.StatusMessage = aws.String(message)
	}
}
