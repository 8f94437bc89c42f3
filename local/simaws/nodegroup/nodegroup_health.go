package nodegroup

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/state"
)

// busyRetry is when EKS looks again at a nodegroup that is being updated.
const busyRetry = time.Minute

// Issue is a health issue about resources.
func Issue(code ekstypes.NodegroupIssueCode, message string, ids ...string) ekstypes.Issue {
	return ekstypes.Issue{Code: code, Message: aws.String(message), ResourceIds: ids}
}

func notJoined(ids []string) ekstypes.Issue {
	return Issue(ekstypes.NodegroupIssueCodeNodeCreationFailure, "Instances failed to join the kubernetes cluster", ids...)
}

// AddIssue adds an issue, or its resources to the one of the same code.
func AddIssue(ng *state.Nodegroup, i ekstypes.Issue) {
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
func lost(w *state.State, ng *state.Nodegroup) []ekstypes.Issue {
	var out []ekstypes.Issue
	for _, id := range ng.Subnets {
		if w.Subnets.Get(id) == nil {
			out = append(out, Issue(ekstypes.NodegroupIssueCodeEc2SubnetNotFound, "One or more subnets of the node group do not exist: "+id, id))
		}
	}
	if role := ids.NameInARN(aws.ToString(ng.NodeRole)); w.DeletedRoles[role] && w.Roles.Get(role) == nil {
		out = append(out, Issue(ekstypes.NodegroupIssueCodeIamNodeRoleNotFound, "The node role "+role+" does not exist.", role))
	}
	if t := ng.LaunchTemplate; t != nil && w.TemplateNamed(aws.ToString(t.Id), aws.ToString(t.Name)) == nil {
		out = append(out, Issue(ekstypes.NodegroupIssueCodeSourceEc2LaunchTemplateNotFound, "The launch template of the node group does not exist.", aws.ToString(t.Id)+aws.ToString(t.Name)))
	}
	for _, g := range w.GroupsOf(ng) {
		out = append(out, lostByGroup(w, g)...)
	}
	return out
}

func lostByGroup(w *state.State, g *state.Group) []ekstypes.Issue {
	spec := g.TemplateSpec()
	if spec == nil {
		return nil
	}
	if w.TemplateNamed(aws.ToString(spec.LaunchTemplateId), aws.ToString(spec.LaunchTemplateName)) == nil {
		id := aws.ToString(spec.LaunchTemplateId)
		return []ekstypes.Issue{Issue(ekstypes.NodegroupIssueCodeEc2LaunchTemplateNotFound, "The launch template "+id+" of the Auto Scaling group does not exist.", id)}
	}
	v := w.GroupTemplate(g)
	if v == nil || v.LaunchTemplateData == nil || v.LaunchTemplateData.IamInstanceProfile == nil {
		return nil
	}
	p := v.LaunchTemplateData.IamInstanceProfile
	if w.ProfileNamed(aws.ToString(p.Name), aws.ToString(p.Arn)) == nil {
		name := aws.ToString(p.Name) + ids.NameInARN(aws.ToString(p.Arn))
		return []ekstypes.Issue{Issue(ekstypes.NodegroupIssueCodeIamInstanceProfileNotFound, "The instance profile "+name+" does not exist.", name)}
	}
	return nil
}

// CheckHealthLater has EKS look at all nodegroups; it does so after each deletion of
// what one may be made of.
func CheckHealthLater(w *state.State) {
	w.After(w.File.EKS.Rules.HealthDelay, func() {
		for _, ng := range w.Nodegroups.All() {
			look(w, ng)
		}
	})
}

// look holds a nodegroup against what it is made of.
func look(w *state.State, ng *state.Nodegroup) {
	issues := lost(w, ng)
	if len(issues) == 0 {
		return
	}
	to := ekstypes.NodegroupStatusDegraded
	switch ng.Status {
	case ekstypes.NodegroupStatusActive, ekstypes.NodegroupStatusDegraded:
	case ekstypes.NodegroupStatusCreating:
		to = ekstypes.NodegroupStatusCreateFailed
	case ekstypes.NodegroupStatusUpdating:
		w.After(busyRetry, func() { look(w, ng) })
		return
	default:
		return
	}
	for _, i := range issues {
		AddIssue(ng, i)
	}
	SetStatus(w, ng, to)
}

// LaunchFailed shows a failed launch as an issue of the nodegroup if
// no launch works until EKS looks. A creation waits for its own end.
func LaunchFailed(w *state.State, g *state.Group, message string) {
	ng := w.NodegroupOfGroup(g)
	if ng == nil || ng.Failing != nil {
		return
	}
	i := Issue(ekstypes.NodegroupIssueCodeAsgInstanceLaunchFailures, message, g.Name())
	if strings.Contains(message, "not enough free addresses") {
		i = Issue(ekstypes.NodegroupIssueCodeInsufficientFreeAddresses,
			"Amazon AutoScaling was unable to launch instances because there are not enough free addresses in the subnet associated with your AutoScaling group(s).", g.Name())
	}
	ng.Failing = &i
	w.After(w.File.EKS.Rules.HealthDelay, func() { showFailing(w, ng, &i) })
}

func showFailing(w *state.State, ng *state.Nodegroup, i *ekstypes.Issue) {
	if ng.Failing != i {
		return
	}
	if len(lost(w, ng)) > 0 {
		look(w, ng)
		return
	}
	switch ng.Status {
	case ekstypes.NodegroupStatusActive, ekstypes.NodegroupStatusDegraded:
		AddIssue(ng, *i)
		SetStatus(w, ng, ekstypes.NodegroupStatusDegraded)
	case ekstypes.NodegroupStatusUpdating:
		w.After(busyRetry, func() { showFailing(w, ng, i) })
	}
}

// Launched is a launch of the nodegroup's group that worked.
func Launched(w *state.State, g *state.Group) {
	if ng := w.NodegroupOfGroup(g); ng != nil {
		ng.Failing = nil
	}
}

// ClearIssues takes back what no longer holds after a scale-out that worked.
// Nothing else takes DEGRADED back: not the repair, not a size of zero.
func ClearIssues(w *state.State, ng *state.Nodegroup) {
	kept := lost(w, ng)
	for _, i := range ng.Health.Issues {
		if i.Code != ekstypes.NodegroupIssueCodeNodeCreationFailure {
			continue
		}
		still := slices.DeleteFunc(slices.Clone(i.ResourceIds), func(id string) bool {
			return w.GroupOf(id) == nil || w.GroupOf(id).Member(id) == nil || w.IsReady(id)
		})
		if len(still) > 0 {
			kept = append(kept, notJoined(still))
		}
	}
	if kept == nil {
		kept = []ekstypes.Issue{}
	}
	ng.Health = &ekstypes.NodegroupHealth{Issues: kept}
	ng.ModifiedAt = aws.Time(w.Now)
	if len(kept) == 0 {
		SetStatus(w, ng, ekstypes.NodegroupStatusActive)
	}
}

// issueText is an issue as CloudFormation writes it.
func issueText(i ekstypes.Issue) string {
	return fmt.Sprintf("{Code: %s,Message: %s,ResourceIds: [%s]}", i.Code, aws.ToString(i.Message), strings.Join(i.ResourceIds, ", "))
}
