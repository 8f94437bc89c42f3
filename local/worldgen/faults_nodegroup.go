package worldgen

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/worldfile"
	"rollcall/shared/checkid"
)

func managed(w *World) bool { return w.Shape.Fleet == ManagedGroup }

// eksNodegroup is the young instances' nodegroup.
func (w *World) eksNodegroup() *ekstypes.Nodegroup {
	return find(w.File.EKS.Nodegroups, func(n *ekstypes.Nodegroup) bool { return *n.NodegroupName == w.nodegroup })
}

// wantMore makes the nodegroup want one more node than it has: a nodegroup
// that has all that it wants shows that its launches work.
func (w *World) wantMore() {
	n := aws.Int32(int32(len(w.Young) + 1))
	w.scalingGroup().DesiredCapacity, w.eksNodegroup().ScalingConfig.DesiredSize = n, n
	w.File.AutoScaling.Still = true
}

// saysOf makes EKS give the nodegroup a status and issues.
func (w *World) saysOf(name string, status ekstypes.NodegroupStatus, issues ...ekstypes.Issue) {
	n := find(w.File.EKS.Nodegroups, func(n *ekstypes.Nodegroup) bool { return *n.NodegroupName == name })
	n.Status, n.Health = status, &ekstypes.NodegroupHealth{Issues: issues}
}

func nodegroupIssue(code, message string, ids ...string) ekstypes.Issue {
	return ekstypes.Issue{Code: ekstypes.NodegroupIssueCode(code), Message: &message, ResourceIds: ids}
}

func nodegroupFaults() []Fault {
	list := []Fault{
		{Name: "the nodegroup could not be made", Check: checkid.NodegroupStatus, breaks: func(w *World) {
			w.wantMore()
			w.saysOf(w.nodegroup, ekstypes.NodegroupStatusCreateFailed)
		}},
		{Name: "the nodegroup could not be deleted", Check: checkid.NodegroupStatus, breaks: func(w *World) { w.saysOf(w.nodegroup, ekstypes.NodegroupStatusDeleteFailed) }},
		{Name: "the nodegroup is being made for hours", Check: checkid.NodegroupStatus, breaks: func(w *World) {
			w.wantMore()
			w.saysOf(w.nodegroup, ekstypes.NodegroupStatusCreating)
			w.eksNodegroup().CreatedAt = aws.Time(w.now().Add(-3 * time.Hour))
			w.File.EKS.Rules = worldfile.EKSRules{JoinTimeout: 24 * time.Hour, CreateTime: 24 * time.Hour}
		}},
		{Name: "an update of the nodegroup failed", Check: checkid.NodegroupUpdateFailed, breaks: func(w *World) {
			w.File.EKS.UpdateFaults = []worldfile.UpdateFault{{
				Nodegroup: w.nodegroup, Cluster: cluster, After: time.Second,
				Errors: []worldfile.EKSIssue{{Code: "PodEvictionFailure", Message: "Reached max retries while trying to evict pods"}},
			}}
			w.File.Timeline = append(w.File.Timeline, worldfile.TimelineEntry{Call: "eks:UpdateNodegroupConfig", With: map[string]any{
				"clusterName": cluster, "nodegroupName": w.nodegroup, "scalingConfig": map[string]any{"maxSize": 50},
			}})
			w.wait = time.Minute
		}},
	}
	for _, f := range []struct{ what, code, message string }{
		{"a quota", "InstanceLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of 32 allows"},
		{"a launch template that is gone", "Ec2LaunchTemplateNotFound", "The launch template of the Auto Scaling group does not exist"},
		{"a role that is gone", "IamNodeRoleNotFound", "The node role does not exist"},
		{"a code of tomorrow", "Ec2PlacementGroupNotFound", "The placement group does not exist"},
	} {
		list = append(list, Fault{Name: "EKS names " + f.what, Check: checkid.NodegroupHealth, breaks: func(w *World) {
			w.wantMore()
			w.saysOf(w.nodegroup, ekstypes.NodegroupStatusDegraded, nodegroupIssue(f.code, f.message, w.group))
		}})
	}
	for i := range list {
		list[i].applies, list[i].reach = managed, noLaunch
	}
	return append(list, hiddenIssues()...)
}

// hiddenIssues are faults of which EKS says how they show: what keeps the
// instances from joining, or from being launched, is named, and once.
func hiddenIssues() []Fault {
	const quota = "You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit. Launching EC2 instance failed."
	return []Fault{
		{Name: "EKS says NodeCreationFailure of a role without access", Check: checkid.IAMAccessMissing, applies: both(managed, func(w *World) bool { return w.Shape.Auth == ByEntries }), breaks: func(w *World) {
			w.File.EKS.AccessEntries = without(w.File.EKS.AccessEntries, func(e ekstypes.AccessEntry) bool { return *e.PrincipalArn == w.role })
			w.saysOf(w.nodegroup, ekstypes.NodegroupStatusCreateFailed, nodegroupIssue("NodeCreationFailure", "Instances failed to join the kubernetes cluster", w.Young...))
		}},
		{Name: "EKS makes up ids for what was never launched", Check: checkid.LaunchVCPULimit, reach: noLaunch, applies: managed, breaks: func(w *World) {
			refused(quota)(w)
			w.wantMore()
			w.saysOf(w.nodegroup, ekstypes.NodegroupStatusCreateFailed,
				nodegroupIssue("AsgInstanceLaunchFailures", quota, w.group),
				nodegroupIssue("NodeCreationFailure", "Instances failed to join the kubernetes cluster", "DUMMY_f26a1e10-6b2c-4f5e-9d0a-1f0f8c1f2a3b"))
		}},
	}
}
