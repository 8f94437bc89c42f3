package world

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

const (
	// creationTime is how long EKS waits for the nodes of a new nodegroup.
	creationTime = 15 * time.Minute
	// nodegroupHealthTime is how long EKS takes to show a failed launch as an
	// issue of the nodegroup.
	nodegroupHealthTime = 5 * time.Minute
	// updateTime is how long a change of a nodegroup's configuration takes.
	updateTime = 3 * time.Second
)

// nodegroup is a managed nodegroup with its updates.
type nodegroup struct {
	ekstypes.Nodegroup
	updates []*ekstypes.Update
	// failing is set while the group's last launch failed.
	failing bool
}

func nodegroupKey(cluster, name string) string { return cluster + "/" + name }

// nodegroupOf is the nodegroup that an instance's tags name, nil without one.
func (w *World) nodegroupOf(id string) *nodegroup {
	in := w.instances.get(id)
	if in == nil {
		return nil
	}
	return w.nodegroups.get(nodegroupKey(tagValue(in.Tags, "eks:cluster-name"), tagValue(in.Tags, "eks:nodegroup-name")))
}

func (w *World) nodegroupOfGroup(g *group) *nodegroup {
	return w.nodegroups.get(nodegroupKey(g.tag("eks:cluster-name"), g.tag("eks:nodegroup-name")))
}

// groupsOf are the Auto Scaling groups of a nodegroup.
func (w *World) groupsOf(ng *nodegroup) []*group {
	var out []*group
	if ng.Resources == nil {
		return nil
	}
	for _, a := range ng.Resources.AutoScalingGroups {
		if g := w.groups.get(aws.ToString(a.Name)); g != nil {
			out = append(out, g)
		}
	}
	return out
}

// watchCreation ends the wait for the nodes of a nodegroup that is CREATING.
func (w *World) watchCreation(ng *nodegroup) {
	if ng.Status != ekstypes.NodegroupStatusCreating {
		return
	}
	deadline := aws.ToTime(ng.CreatedAt).Add(creationTime)
	w.after(max(deadline.Sub(w.now), 0), func() {
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
		}
		ng.Status = ekstypes.NodegroupStatusActive
		if len(missing) > 0 {
			ng.Status = ekstypes.NodegroupStatusCreateFailed
			w.addIssue(ng, ekstypes.NodegroupIssueCodeNodeCreationFailure, "Instances failed to join the kubernetes cluster", missing)
		}
		ng.ModifiedAt = aws.Time(w.now)
	})
}

// nodegroupJoined makes a new nodegroup ACTIVE once its nodes are Ready.
func (w *World) nodegroupJoined(ng *nodegroup) {
	if ng.Status != ekstypes.NodegroupStatusCreating {
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
	ng.Status = ekstypes.NodegroupStatusActive
	ng.ModifiedAt = aws.Time(w.now)
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

func (w *World) addIssue(ng *nodegroup, code ekstypes.NodegroupIssueCode, message string, ids []string) {
	ng.Health = &ekstypes.NodegroupHealth{Issues: []ekstypes.Issue{{Code: code, Message: aws.String(message), ResourceIds: ids}}}
}

// nodegroupLaunchFailed shows a failed launch as an issue of the nodegroup if
// no launch works until EKS looks.
func (w *World) nodegroupLaunchFailed(g *group, message string) {
	ng := w.nodegroupOfGroup(g)
	if ng == nil || ng.failing {
		return
	}
	ng.failing = true
	code, text := ekstypes.NodegroupIssueCodeAsgInstanceLaunchFailures, message
	if strings.Contains(message, "not enough free addresses") {
		code = ekstypes.NodegroupIssueCodeInsufficientFreeAddresses
		text = "Amazon AutoScaling was unable to launch instances because there are not enough free addresses in the subnet associated with your AutoScaling group(s)."
	}
	ids := []string{g.name()}
	w.after(nodegroupHealthTime, func() {
		if !ng.failing || ng.Status != ekstypes.NodegroupStatusActive {
			return
		}
		ng.Status = ekstypes.NodegroupStatusDegraded
		w.addIssue(ng, code, text, ids)
		ng.ModifiedAt = aws.Time(w.now)
	})
}

// nodegroupLaunched clears what failed launches left: EKS takes DEGRADED back
// only after a launch that worked.
func (w *World) nodegroupLaunched(g *group) {
	ng := w.nodegroupOfGroup(g)
	if ng == nil {
		return
	}
	ng.failing = false
	if ng.Status == ekstypes.NodegroupStatusDegraded {
		ng.Status = ekstypes.NodegroupStatusActive
		ng.Health = &ekstypes.NodegroupHealth{Issues: []ekstypes.Issue{}}
		ng.ModifiedAt = aws.Time(w.now)
	}
}
