package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
)

const (
	transitionLaunching   = "autoscaling:EC2_INSTANCE_LAUNCHING"
	transitionTerminating = "autoscaling:EC2_INSTANCE_TERMINATING"
	// launchHook is the hook that EKS puts on a managed nodegroup's group; EKS
	// completes it when the node is Ready.
	launchHook = "Launch-LC-Hook"

	// reconcileTime is how long a group takes to act on a new capacity.
	reconcileTime = 2 * time.Second
	// healthCheckTime is how long a group takes to see that an instance ended.
	healthCheckTime = 30 * time.Second
	// drainTime is how long EKS takes to drain a node that its group ends.
	drainTime = 5 * time.Second
	// Failed launches are tried again after 30 s, doubling up to 10 minutes.
	retryTime    = 30 * time.Second
	retryTimeMax = 10 * time.Minute
)

// group is an Auto Scaling group with its history.
type group struct {
	astypes.AutoScalingGroup
	activities []*activity
	// because are the sentences that explain the next change of capacity.
	because []string
	// replacing counts instances lost to ill health, whose successors carry
	// another reason.
	replacing int
	failures  int
	// next is when the group acts; zero where nothing is to be done.
	next  time.Time
	waits map[string]*hookWait
	warm  []astypes.Instance
	// leaving are the instances that capacity rebalancing replaces, by their
	// replacements. They count no longer.
	leaving map[string]string
	// launched are the instances that the group ever launched, in order.
	launched []string
}

// activity is a scaling activity and what its event needs beside it.
type activity struct {
	astypes.Activity
	instance    string
	origin      string
	destination string
}

// hookWait is an instance held by a lifecycle hook.
type hookWait struct {
	hook  string
	token string
	// seq tells a wait from a later one of the same instance.
	seq uint64
}

func (g *group) name() string { return aws.ToString(g.AutoScalingGroupName) }

// member is the group's record of an instance, nil where it is not in it.
func (g *group) member(id string) *astypes.Instance {
	for i := range g.Instances {
		if aws.ToString(g.Instances[i].InstanceId) == id {
			return &g.Instances[i]
		}
	}
	return nil
}

func (g *group) dropMember(id string) {
	g.Instances = slices.DeleteFunc(g.Instances, func(i astypes.Instance) bool { return aws.ToString(i.InstanceId) == id })
	g.warm = slices.DeleteFunc(g.warm, func(i astypes.Instance) bool { return aws.ToString(i.InstanceId) == id })
	delete(g.waits, id)
	delete(g.leaving, id)
}

// isReplaced tells that capacity rebalancing has launched a successor.
func (g *group) isReplaced(id string) bool {
	for _, old := range g.leaving {
		if old == id {
			return true
		}
	}
	return false
}

// capacity is how many instances count: those that are not on their way out.
func (g *group) capacity() int {
	n := 0
	for _, i := range g.Instances {
		if !strings.HasPrefix(string(i.LifecycleState), "Terminat") && !g.isReplaced(aws.ToString(i.InstanceId)) {
			n++
		}
	}
	return n
}

func (g *group) suspended(process string) bool {
	return slices.ContainsFunc(g.SuspendedProcesses, func(p astypes.SuspendedProcess) bool { return aws.ToString(p.ProcessName) == process })
}

func (g *group) subnets() []string {
	var out []string
	for _, s := range strings.Split(aws.ToString(g.VPCZoneIdentifier), ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (g *group) tag(key string) string {
	for _, t := range g.Tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}

// groupOf is the group that an instance is in, warm pool included.
func (w *World) groupOf(id string) *group {
	in := w.instances.Get(id)
	if in == nil {
		return nil
	}
	return w.groups.Get(tagValue(in.Tags, "aws:autoscaling:groupName"))
}

// because notes why a group's capacity is about to change.
func (w *World) because(g *group, format string, args ...any) {
	g.because = append(g.because, "At "+w.now.UTC().Format(time.RFC3339)+" "+fmt.Sprintf(format, args...))
}

// cause is the text of the next activity: what was noted, and this.
func (w *World) cause(g *group, format string, args ...any) string {
	last := "At " + w.now.UTC().Format(time.RFC3339) + " " + fmt.Sprintf(format, args...)
	return strings.Join(append(slices.Clone(g.because), last), "  ")
}

// setCapacity changes a group's desired capacity and has it act on it.
func (w *World) setCapacity(g *group, desired int32) {
	g.DesiredCapacity = aws.Int32(desired)
	w.reconcileLater(g, reconcileTime)
}

// reconcileLater has a group act after d, unless it does so before.
func (w *World) reconcileLater(g *group, d time.Duration) {
	at := w.now.Add(d)
	if !g.next.IsZero() && !at.Before(g.next) {
		return
	}
	g.next = at
	w.after(d, func() {
		if g.next.Equal(at) {
			g.next = time.Time{}
			w.reconcile(g)
		}
	})
}

// reconcile starts or ends instances until the group has what it should.
func (w *World) reconcile(g *group) {
	if w.file.AutoScaling.Still {
		return
	}
	have, want := g.capacity(), int(aws.ToInt32(g.DesiredCapacity))
	switch {
	case have < want:
		w.scaleOut(g, have, want)
	case have > want:
		w.scaleIn(g, have, want)
	}
	g.because = nil
	w.fillWarmPool(g)
}

func (w *World) scaleOut(g *group, have, want int) {
	if g.suspended("Launch") {
		return
	}
	missing := want - have
	for range missing {
		cause := w.cause(g, "an instance was started in response to a difference between desired and actual capacity, increasing the capacity from %d to %d.", have, want)
		if g.replacing > 0 {
			g.replacing--
			cause = w.cause(g, "an instance was launched in response to an unhealthy instance needing to be replaced.")
		}
		if w.useWarm(g, cause) {
			continue
		}
		if !w.launchInGroup(g, cause, false) {
			// One failure stands for the rest: the group waits before it tries
			// again, longer each time.
			g.failures++
			wait := retryTime << min(g.failures-1, 10)
			w.reconcileLater(g, min(wait, retryTimeMax))
			return
		}
	}
}

func (w *World) scaleIn(g *group, have, want int) {
	if g.suspended("Terminate") {
		return
	}
	for n := have - want; n > 0; n-- {
		victim := w.chooseVictim(g)
		if victim == "" {
			return
		}
		cause := w.cause(g, "an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from %d to %d.", have, want)
		cause += "  At " + w.now.UTC().Format(time.RFC3339) + " instance " + victim + " was selected for termination."
		w.endInGroup(g, victim, cause)
	}
}

// chooseVictim picks by the default policy, cut short: the zone with the most
// instances, and in it the oldest that is not protected.
func (w *World) chooseVictim(g *group) string {
	count := map[string]int{}
	for _, i := range g.Instances {
		if !strings.HasPrefix(string(i.LifecycleState), "Terminat") {
			count[aws.ToString(i.AvailabilityZone)]++
		}
	}
	best, bestCount := "", -1
	for _, i := range g.Instances {
		if strings.HasPrefix(string(i.LifecycleState), "Terminat") || aws.ToBool(i.ProtectedFromScaleIn) || g.isReplaced(aws.ToString(i.InstanceId)) {
			continue
		}
		if n := count[aws.ToString(i.AvailabilityZone)]; n > bestCount {
			best, bestCount = aws.ToString(i.InstanceId), n
		}
	}
	return best
}

// record begins a scaling activity.
func (w *World) record(g *group, a *activity) {
	a.ActivityId = aws.String(w.ids.UUID())
	a.AutoScalingGroupName = g.AutoScalingGroupName
	a.AutoScalingGroupARN = g.AutoScalingGroupARN
	a.StartTime = aws.Time(w.now)
	g.activities = append(g.activities, a)
}

func (w *World) finish(a *activity, status astypes.ScalingActivityStatusCode, message string) {
	a.StatusCode = status
	a.EndTime = aws.Time(w.now)
	a.Progress = aws.Int32(100)
	if message != "" {
		a.StatusMessage = aws.String(message)
	}
}

// openActivity is the unfinished activity about an instance.
func (g *group) openActivity(instance string) *activity {
	for _, a := range slices.Backward(g.activities) {
		if a.instance == instance && a.EndTime == nil {
			return a
		}
	}
	return nil
}
