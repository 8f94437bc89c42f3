// Package nodegroup is how EKS judges a managed nodegroup: its status and its
// health issues follow from which instances join, which launches fail and which
// of its resources are gone; its CloudFormation stack tells of it.
package nodegroup

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/state"
)

// SetStatus gives a nodegroup a status. EKS sends no event of it; the
// stack, if it has one, tells of what it waits for.
func SetStatus(w *state.State, ng *state.Nodegroup, status ekstypes.NodegroupStatus) {
	before := ng.Status
	ng.Status, ng.ModifiedAt = status, aws.Time(w.Now)
	if status == ekstypes.NodegroupStatusDegraded && before != status {
		ng.Degraded = w.Now
	}
	tellStack(w, ng, before)
}

// WatchCreation brings a nodegroup that is CREATING to its end: ACTIVE when
// its nodes are Ready, CREATE_FAILED when EKS has waited long enough.
func WatchCreation(w *state.State, ng *state.Nodegroup) {
	if ng.Status != ekstypes.NodegroupStatusCreating {
		return
	}
	since := w.Now.Sub(aws.ToTime(ng.CreatedAt))
	w.After(max(w.File.EKS.Rules.CreateTime-since, 0), func() { Joined(w, ng, "") })
	w.After(max(w.File.EKS.Rules.JoinTimeout-since, 0), func() { creationTimedOut(w, ng) })
}

// creationTimedOut judges a nodegroup that is still CREATING. Instances that
// never came to be have made-up ids, as EKS gives them.
func creationTimedOut(w *state.State, ng *state.Nodegroup) {
	if ng.Status != ekstypes.NodegroupStatusCreating {
		return
	}
	var missing []string
	for _, g := range w.GroupsOf(ng) {
		for _, i := range g.Instances {
			if id := aws.ToString(i.InstanceId); !w.IsReady(id) {
				missing = append(missing, id)
			}
		}
		for n := int(aws.ToInt32(g.DesiredCapacity)) - g.Capacity(); n > 0; n-- {
			missing = append(missing, "DUMMY_"+w.IDs.UUID())
		}
	}
	if len(missing) == 0 {
		SetStatus(w, ng, ekstypes.NodegroupStatusActive)
		return
	}
	if ng.Failing != nil {
		AddIssue(ng, *ng.Failing)
	}
	AddIssue(ng, notJoined(missing))
	SetStatus(w, ng, ekstypes.NodegroupStatusCreateFailed)
}

// Joined makes a new nodegroup ACTIVE once its nodes are Ready, and
// takes DEGRADED back where the node that has just become Ready (id) was
// launched since: to EKS that is the scale-out that worked.
func Joined(w *state.State, ng *state.Nodegroup, id string) {
	switch ng.Status {
	case ekstypes.NodegroupStatusDegraded:
		in := w.Instances.Get(id)
		// EC2 knows the launch to the second.
		if in != nil && !aws.ToTime(in.LaunchTime).Before(ng.Degraded.Truncate(time.Second)) {
			ClearIssues(w, ng)
		}
	case ekstypes.NodegroupStatusCreating:
		if w.Now.Sub(aws.ToTime(ng.CreatedAt)) < w.File.EKS.Rules.CreateTime {
			return
		}
		for _, g := range w.GroupsOf(ng) {
			if g.Capacity() < int(aws.ToInt32(g.DesiredCapacity)) {
				return
			}
			for _, i := range g.Instances {
				if !w.IsReady(aws.ToString(i.InstanceId)) {
					return
				}
			}
		}
		SetStatus(w, ng, ekstypes.NodegroupStatusActive)
	}
}

// WatchJoin looks, when EKS has waited long enough, whether a launched
// instance has become a Ready node.
func WatchJoin(w *state.State, g *state.Group, id string) {
	if w.NodegroupOfGroup(g) == nil {
		return
	}
	w.After(w.File.EKS.Rules.JoinTimeout, func() { joinTimedOut(w, g, id) })
}

func joinTimedOut(w *state.State, g *state.Group, id string) {
	ng, m := w.NodegroupOfGroup(g), g.Member(id)
	if ng == nil || m == nil || strings.HasPrefix(string(m.LifecycleState), "Terminat") || w.IsReady(id) {
		return
	}
	switch ng.Status {
	case ekstypes.NodegroupStatusActive, ekstypes.NodegroupStatusDegraded:
		AddIssue(ng, notJoined([]string{id}))
		SetStatus(w, ng, ekstypes.NodegroupStatusDegraded)
	case ekstypes.NodegroupStatusUpdating:
		// A rolling update judges its own instances; after any other the
		// instance is still to be judged.
		w.After(time.Minute, func() { joinTimedOut(w, g, id) })
	}
}

// SameCluster tells whether the cluster that a part of the file names, if any,
// is this one.
func SameCluster(named, cluster string) bool { return named == "" || named == cluster }
