package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/ids"
)

// busyRetry is when EKS looks again at a nodegroup that is being updated.
const busyRetry = time.Minute

func issue(code ekstypes.NodegroupIssueCode, message string, ids ...string) ekstypes.Issue {
	return ekstypes.Issue{Code: code, Message: aws.String(message), ResourceIds: ids}
}

func notJoined(ids []string) ekstypes.Issue {
	return issue(ekstypes.NodegroupIssueCodeNodeCreationFailure, "Instances failed to join the kubernetes cluster", ids...)
}

// addIssue adds an issue, or its resources to the one of the same code.
func (ng *nodegroup) addIssue(i ekstypes.Issue) {
	if ng.Health == nil {
		ng.Health = &ekstypes.NodegroupHealth{}
	}
	for k := range ng.Health.Issues {
		have := &ng.Health.Issues[k]
		if have.Code != i.Code {
			continue
		}
		have.Message = i.Message
		for _, id := range i.ResourceIds {
			if !slices.Contains(have.ResourceIds, id) {
				have.ResourceIds = append(have.ResourceIds, id)
			}
		}
		return
	}
	ng.Health.Issues = append(ng.Health.Issues, deepcopy.Of(i))
}

// lost are the issues of what a nodegroup is made of and no longer has. A role
// counts once it was deleted: a world need not list all that its nodegroups
// name.
func (w *World) lost(ng *nodegroup) []ekstypes.Issue {
	var out []ekstypes.Issue
	for _, id := range ng.Subnets {
		if w.subnets.Get(id) == nil {
			out = append(out, issue(ekstypes.NodegroupIssueCodeEc2SubnetNotFound, "One or more subnets of the node group do not exist: "+id, id))
		}
	}
	if role := ids.NameInARN(aws.ToString(ng.NodeRole)); w.deletedRoles[role] && w.roles.Get(role) == nil {
		out = append(out, issue(ekstypes.NodegroupIssueCodeIamNodeRoleNotFound, "The node role "+role+" does not exist.", role))
	}
	if t := ng.LaunchTemplate; t != nil && w.templateNamed(aws.ToString(t.Id), aws.ToString(t.Name)) == nil {
		out = append(out, issue(ekstypes.NodegroupIssueCodeSourceEc2LaunchTemplateNotFound, "The launch template of the node group does not exist.", aws.ToString(t.Id)+aws.ToString(t.Name)))
	}
	for _, g := range w.groupsOf(ng) {
		out = append(out, w.lostByGroup(g)...)
	}
	return out
}

func (w *World) lostByGroup(g *group) []ekstypes.Issue {
	spec := g.templateSpec()
	if spec == nil {
		return nil
	}
	if w.templateNamed(aws.ToString(spec.LaunchTemplateId), aws.ToString(spec.LaunchTemplateName)) == nil {
		id := aws.ToString(spec.LaunchTemplateId)
		return []ekstypes.Issue{issue(ekstypes.NodegroupIssueCodeEc2LaunchTemplateNotFound, "The launch template "+id+" of the Auto Scaling group does not exist.", id)}
	}
	v := w.groupTemplate(g)
	if v == nil || v.LaunchTemplateData == nil || v.LaunchTemplateData.IamInstanceProfile == nil {
		return nil
	}
	p := v.LaunchTemplateData.IamInstanceProfile
	if w.profileNamed(aws.ToString(p.Name), aws.ToString(p.Arn)) == nil {
		name := aws.ToString(p.Name) + ids.NameInARN(aws.ToString(p.Arn))
		return []ekstypes.Issue{issue(ekstypes.NodegroupIssueCodeIamInstanceProfileNotFound, "The instance profile "+name+" does not exist.", name)}
	}
	return nil
}

// lookLater has EKS look at all nodegroups; it does so after each deletion of
// what one may be made of.
func (w *World) lookLater() {
	w.after(w.file.EKS.Rules.HealthDelay, func() {
		for _, ng := range w.nodegroups.All() {
			w.look(ng)
		}
	})
}

// look holds a nodegroup against what it is made of.
func (w *World) look(ng *nodegroup) {
	issues := w.lost(ng)
	if len(issues) == 0 {
		return
	}
	to := ekstypes.NodegroupStatusDegraded
	switch ng.Status {
	case ekstypes.NodegroupStatusActive, ekstypes.NodegroupStatusDegraded:
	case ekstypes.NodegroupStatusCreating:
		to = ekstypes.NodegroupStatusCreateFailed
	case ekstypes.NodegroupStatusUpdating:
		w.after(busyRetry, func() { w.look(ng) })
		return
	default:
		return
	}
	for _, i := range issues {
		ng.addIssue(i)
	}
	w.setNodegroup(ng, to)
}

// nodegroupLaunchFailed shows a failed launch as an issue of the nodegroup if
// no launch works until EKS looks. A creation waits for its own end.
func (w *World) nodegroupLaunchFailed(g *group, message string) {
	ng := w.nodegroupOfGroup(g)
	if ng == nil || ng.failing != nil {
		return
	}
	i := issue(ekstypes.NodegroupIssueCodeAsgInstanceLaunchFailures, message, g.name())
	if strings.Contains(message, "not enough free addresses") {
		i = issue(ekstypes.NodegroupIssueCodeInsufficientFreeAddresses,
			"Amazon AutoScaling was unable to launch instances because there are not enough free addresses in the subnet associated with your AutoScaling group(s).", g.name())
	}
	ng.failing = &i
	w.after(w.file.EKS.Rules.HealthDelay, func() { w.showFailing(ng, &i) })
}

func (w *World) showFailing(ng *nodegroup, i *ekstypes.Issue) {
	if ng.failing != i {
		return
	}
	if len(w.lost(ng)) > 0 {
		w.look(ng)
		return
	}
	switch ng.Status {
	case ekstypes.NodegroupStatusActive, ekstypes.NodegroupStatusDegraded:
		ng.addIssue(*i)
		w.setNodegroup(ng, ekstypes.NodegroupStatusDegraded)
	case ekstypes.NodegroupStatusUpdating:
		w.after(busyRetry, func() { w.showFailing(ng, i) })
	}
}

// nodegroupLaunched is a launch of the nodegroup's group that worked.
func (w *World) nodegroupLaunched(g *group) {
	if ng := w.nodegroupOfGroup(g); ng != nil {
		ng.failing = nil
	}
}

// clearIssues takes back what no longer holds after a scale-out that worked.
// Nothing else takes DEGRADED back: not the repair, not a size of zero.
func (w *World) clearIssues(ng *nodegroup) {
	kept := w.lost(ng)
	for _, i := range ng.Health.Issues {
		if i.Code != ekstypes.NodegroupIssueCodeNodeCreationFailure {
			continue
		}
		still := slices.DeleteFunc(slices.Clone(i.ResourceIds), func(id string) bool {
			return w.groupOf(id) == nil || w.groupOf(id).member(id) == nil || w.isReady(id)
		})
		if len(still) > 0 {
			kept = append(kept, notJoined(still))
		}
	}
	if kept == nil {
		kept = []ekstypes.Issue{}
	}
	ng.Health = &ekstypes.NodegroupHealth{Issues: kept}
	ng.ModifiedAt = aws.Time(w.now)
	if len(kept) == 0 {
		w.setNodegroup(ng, ekstypes.NodegroupStatusActive)
	}
}

// issueText is an issue as CloudFormation writes it.
func issueText(i ekstypes.Issue) string {
	return fmt.Sprintf("{Code: %s,Message: %s,ResourceIds: [%s]}", i.Code, aws.ToString(i.Message), strings.Join(i.ResourceIds, ", "))
}
