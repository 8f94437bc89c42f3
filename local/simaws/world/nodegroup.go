package world

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// nodegroup is a managed nodegroup with its updates.
type nodegroup struct {
	ekstypes.Nodegroup
	updates []*ekstypes.Update
	// failing is what the group's launches fail with, nil while they work.
	failing *ekstypes.Issue
	// rolling is what a rolling update brings, nil without one.
	rolling *release
	// degraded is when it last became DEGRADED.
	degraded time.Time
	// stacked is the last status that its stack told of.
	stacked string
}

func nodegroupKey(cluster, name string) string { return cluster + "/" + name }

// nodegroupOf is the nodegroup that an instance's tags name, nil without one.
func (w *World) nodegroupOf(id string) *nodegroup {
	in := w.instances.Get(id)
	if in == nil {
		return nil
	}
	return w.nodegroups.Get(nodegroupKey(tagValue(in.Tags, "eks:cluster-name"), tagValue(in.Tags, "eks:nodegroup-name")))
}

func (w *World) nodegroupOfGroup(g *group) *nodegroup {
	return w.nodegroups.Get(nodegroupKey(g.tag("eks:cluster-name"), g.tag("eks:nodegroup-name")))
}

// groupsOf are the Auto Scaling groups of a nodegroup.
func (w *World) groupsOf(ng *nodegroup) []*group {
	var out []*group
	if ng.Resources == nil {
		return nil
	}
	for _, a := range ng.Resources.AutoScalingGroups {
		if g := w.groups.Get(aws.ToString(a.Name)); g != nil {
			out = append(out, g)
		}
	}
	return out
}

// setNodegroup gives a nodegroup a status. EKS sends no event of it; the
// stack, if it has one, tells of what it waits for.
func (w *World) setNodegroup(ng *nodegroup, status ekstypes.NodegroupStatus) {
	before := ng.Status
	ng.Status, ng.ModifiedAt = status, aws.Time(w.now)
	if status == ekstypes.NodegroupStatusDegraded && before != status {
		ng.degraded = w.now
	}
	w.tellStack(ng, before)
}

// watchCreation brings a nodegroup that is CREATING to its end: ACTIVE when
// its nodes are Ready, CREATE_FAILED when EKS has waited long enough.
func (w *World) watchCreation(ng *nodegroup) {
	if ng.Status != ekstypes.NodegroupStatusCreating {
		return
	}
	since := w.now.Sub(aws.ToTime(ng.CreatedAt))
	w.after(max(w.file.EKS.Rules.CreateTime-since, 0), func() { w.nodegroupJoined(ng, "") })
	w.after(max(w.file.EKS.Rules.JoinTimeout-since, 0), func() { w.creationTimedOut(ng) })
}

// creationTimedOut judges a nodegroup that is still CREATING. Instances that
// never came to be have made-up ids, as EKS gives them.
func (w *World) creationTimedOut(ng *nodegroup) {
	if ng.Status != ekstypes.NodegroupStatusCreating {
		return
	}
	var missing []string
	for _, g := range w.groupsOf(ng) {
		for _, i := range g.Instances {
			if id := aws.ToString(i.InstanceId); !w.isReady(id) {
				missing = append(missing, id)
			}
		}
		for n := int(aws.ToInt32(g.DesiredCapacity)) - g.capacity(); n > 0; n-- {
			missing = append(missing, "DUMMY_"+w.ids.UUID())
		}
	}
	if len(missing) == 0 {
		w.setNodegroup(ng, ekstypes.NodegroupStatusActive)
		return
	}
	if ng.failing != nil {
		ng.addIssue(*ng.failing)
	}
	ng.addIssue(notJoined(missing))
	w.setNodegroup(ng, ekstypes.NodegroupStatusCreateFailed)
}

// nodegroupJoined makes a new nodegroup ACTIVE once its nodes are Ready, and
// takes DEGRADED back where the node that has just become Ready (id) was
// launched since: to EKS that is the scale-out that worked.
func (w *World) nodegroupJoined(ng *nodegroup, id string) {
	switch ng.Status {
	case ekstypes.NodegroupStatusDegraded:
		in := w.instances.Get(id)
		// EC2 knows the launch to the second.
		if in != nil && !aws.ToTime(in.LaunchTime).Before(ng.degraded.Truncate(time.Second)) {
			w.clearIssues(ng)
		}
	case ekstypes.NodegroupStatusCreating:
		if w.now.Sub(aws.ToTime(ng.CreatedAt)) < w.file.EKS.Rules.CreateTime {
			return
		}
		for _, g := range w.groupsOf(ng) {
			if g.capacity() < int(aws.ToInt32(g.DesiredCapacity)) {
				return
			}
			for _, i := range g.Instances {
				if !w.isReady(aws.ToString(i.InstanceId)) {
					return
				}
			}
		}
		w.setNodegroup(ng, ekstypes.NodegroupStatusActive)
	}
}

func (w *World) isReady(id string) bool {
	_, n := w.nodeOf(id)
	if n == nil {
		return false
	}
	status, _ := (*n)["status"].(map[string]any)
	list, _ := status["conditions"].([]any)
	for _, item := range list {
		if c, ok := item.(map[string]any); ok && c["type"] == "Ready" {
			return c["status"] == "True"
		}
	}
	return false
}

// watchJoin looks, when EKS has waited long enough, whether a launched
// instance has become a Ready node.
func (w *World) watchJoin(g *group, id string) {
	if w.nodegroupOfGroup(g) == nil {
		return
	}
	w.after(w.file.EKS.Rules.JoinTimeout, func() { w.joinTimedOut(g, id) })
}

func (w *World) joinTimedOut(g *group, id string) {
	ng, m := w.nodegroupOfGroup(g), g.member(id)
	if ng == nil || m == nil || strings.HasPrefix(string(m.LifecycleState), "Terminat") || w.isReady(id) {
		return
	}
	switch ng.Status {
	case ekstypes.NodegroupStatusActive, ekstypes.NodegroupStatusDegraded:
		ng.addIssue(notJoined([]string{id}))
		w.setNodegroup(ng, ekstypes.NodegroupStatusDegraded)
	case ekstypes.NodegroupStatusUpdating:
		// A rolling update judges its own instances; after any other the
		// instance is still to be judged.
		w.after(time.Minute, func() { w.joinTimedOut(g, id) })
	}
}
