package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
)

// TransitionLaunching and TransitionTerminating are the transitions of lifecycle hooks.
const (
	TransitionLaunching   = "autoscaling:EC2_INSTANCE_LAUNCHING"
	TransitionTerminating = "autoscaling:EC2_INSTANCE_TERMINATING"
)

// Group is an Auto Scaling group with its history.
type Group struct {
	astypes.AutoScalingGroup
	Activities []*Activity
	// Because are the sentences that explain the next change of capacity.
	Because []string
	// Replacing counts instances lost to ill health, whose successors carry
	// another reason.
	Replacing int
	Failures  int
	// Next is when the group acts; zero where nothing is to be done.
	Next  time.Time
	Waits map[string]*HookWait
	Warm  []astypes.Instance
	// Leaving are the instances that capacity rebalancing replaces, by their
	// replacements. They count no longer.
	Leaving map[string]string
	// Launched are the instances that the group ever launched, in order.
	Launched []string
}

// Activity is a scaling activity and what its event needs beside it.
type Activity struct {
	astypes.Activity
	Instance    string
	Origin      string
	Destination string
}

// HookWait is an instance held by a lifecycle hook.
type HookWait struct {
	Hook  string
	Token string
	// Seq tells a wait from a later one of the same instance.
	Seq uint64
}

// Name is the group's name.
func (g *Group) Name() string { return aws.ToString(g.AutoScalingGroupName) }

// Member is the group's record of an instance, nil where it is not in it.
func (g *Group) Member(id string) *astypes.Instance {
	for i := range g.Instances {
		if aws.ToString(g.Instances[i].InstanceId) == id {
			return &g.Instances[i]
		}
	}
	return nil
}

// DropMember takes an instance out of the group and its warm pool.
func (g *Group) DropMember(id string) {
	g.Instances = slices.DeleteFunc(g.Instances, func(i astypes.Instance) bool { return aws.ToString(i.InstanceId) == id })
	g.Warm = slices.DeleteFunc(g.Warm, func(i astypes.Instance) bool { return aws.ToString(i.InstanceId) == id })
	delete(g.Waits, id)
	delete(g.Leaving, id)
}

// IsReplaced tells that capacity rebalancing has launched a successor.
func (g *Group) IsReplaced(id string) bool {
	for _, old := range g.Leaving {
		if old == id {
			return true
		}
	}
	return false
}

// Capacity is how many instances count: those that are not on their way out.
func (g *Group) Capacity() int {
	n := 0
	for _, i := range g.Instances {
		if !strings.HasPrefix(string(i.LifecycleState), "Terminat") && !g.IsReplaced(aws.ToString(i.InstanceId)) {
			n++
		}
	}
	return n
}

// Suspended tells that a process, such as Launch, is suspended.
func (g *Group) Suspended(process string) bool {
	return slices.ContainsFunc(g.SuspendedProcesses, func(p astypes.SuspendedProcess) bool { return aws.ToString(p.ProcessName) == process })
}

// Subnets are the ids of the group's subnets.
func (g *Group) Subnets() []string {
	var out []string
	for _, s := range strings.Split(aws.ToString(g.VPCZoneIdentifier), ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Tag is the value of a tag of the group, empty without it.
func (g *Group) Tag(key string) string {
	for _, t := range g.Tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}

// GroupOf is the group that an instance is in, warm pool included.
func (w *State) GroupOf(id string) *Group {
	in := w.Instances.Get(id)
	if in == nil {
		return nil
	}
	return w.Groups.Get(TagValue(in.Tags, "aws:autoscaling:groupName"))
}

// Because notes why a group's capacity is about to change.
func (w *State) Because(g *Group, format string, args ...any) {
	g.Because = append(g.Because, "At "+w.Now.UTC().Format(time.RFC3339)+" "+fmt.Sprintf(format, args...))
}

// TemplateSpec is the launch template that the group names, nil without one.
func (g *Group) TemplateSpec() *astypes.LaunchTemplateSpecification {
	if g.LaunchTemplate != nil {
		return g.LaunchTemplate
	}
	if m := g.MixedInstancesPolicy; m != nil && m.LaunchTemplate != nil {
		return m.LaunchTemplate.LaunchTemplateSpecification
	}
	return nil
}

// HookKey is where a lifecycle hook is kept.
func HookKey(group, hook string) string { return group + "/" + hook }

// OpenActivity is the unfinished activity about an instance.
func (g *Group) OpenActivity(instance string) *Activity {
	for _, a := range slices.Backward(g.Activities) {
		if a.Instance == instance && a.EndTime == nil {
			return a
		}
	}
	return nil
}
