// Package nodegroup is how EKS judges a managed nodegroup: its status and its
// health issues follow from which instances join, which launches fail and which
// of its resources are gone; its CloudFormation stack emits its events.
package nodegroup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/worldfile"
)

// SetStatus gives a nodegroup a status. EKS sends no event of it; the
// stack, if it has one, emits what it waits for.
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

// SameCluster reports whether the cluster that a part of the file names, if any,
// is this one.
func SameCluster(named, cluster string) bool { return named == "" || named == cluster }

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
	ng.Health.Issues = append(ng.Health.Issues, state.Copy(i))
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

// stackTime is how long CloudFormation takes to see a new status: it asks
// again and again.
const stackTime = 20 * time.Second

// StackOf is the stack that a nodegroup is a resource of, nil for none.
func StackOf(w *state.State, ng *state.Nodegroup) *worldfile.NodegroupStack {
	for i := range w.File.EKS.Stacks {
		s := &w.File.EKS.Stacks[i]
		if SameCluster(s.Cluster, aws.ToString(ng.ClusterName)) && s.Nodegroup == aws.ToString(ng.NodegroupName) {
			return s
		}
	}
	return nil
}

// tellStack has the stack of a nodegroup tell of its creation and deletion. A
// status that comes later, such as DEGRADED, is none of CloudFormation's.
func tellStack(w *state.State, ng *state.Nodegroup, before ekstypes.NodegroupStatus) {
	s := StackOf(w, ng)
	if s == nil {
		return
	}
	status, reason := "", ""
	switch {
	case ng.Status == ekstypes.NodegroupStatusCreating:
		status = "CREATE_IN_PROGRESS"
	case before == ekstypes.NodegroupStatusCreating && ng.Status == ekstypes.NodegroupStatusActive:
		status = "CREATE_COMPLETE"
	case ng.Status == ekstypes.NodegroupStatusCreateFailed:
		status, reason = "CREATE_FAILED", unstable(w, ng)
	case ng.Status == ekstypes.NodegroupStatusDeleting:
		status = "DELETE_IN_PROGRESS"
	case ng.Status == ekstypes.NodegroupStatusDeleteFailed:
		status, reason = "DELETE_FAILED", unstable(w, ng)
	}
	TellStackOf(w, ng, s, status, reason)
}

// unstable is CloudFormation's reason for a nodegroup that did not become what
// it should.
func unstable(w *state.State, ng *state.Nodegroup) string {
	var issues []string
	if ng.Health != nil {
		for _, i := range ng.Health.Issues {
			issues = append(issues, issueText(i))
		}
	}
	return fmt.Sprintf("Nodegroup %s failed to stabilize: [%s]", aws.ToString(ng.NodegroupName), strings.Join(issues, ", "))
}

type stackStatus struct {
	Status       string `json:"status"`
	StatusReason string `json:"status-reason"`
}

type stackChange struct {
	StackID            string      `json:"stack-id"`
	LogicalResourceID  string      `json:"logical-resource-id"`
	PhysicalResourceID string      `json:"physical-resource-id"`
	StatusDetails      stackStatus `json:"status-details"`
	ResourceType       string      `json:"resource-type"`
	ClientRequestToken string      `json:"client-request-token"`
}

// TellStackOf has a nodegroup's stack tell of a status.
func TellStackOf(w *state.State, ng *state.Nodegroup, s *worldfile.NodegroupStack, status, reason string) {
	if status == "" || ng.Stacked == status {
		return
	}
	ng.Stacked = status
	// The stack's id is in all of its events, so it is made of its name.
	stack := w.ARN("cloudformation", "stack/"+s.Stack+"/"+ids.OfName(s.Stack))
	physical := aws.ToString(ng.ClusterName) + "/" + aws.ToString(ng.NodegroupName)
	w.After(stackTime, func() {
		w.Emit("aws.cloudformation", "CloudFormation Resource Status Change", []string{stack}, stackChange{
			StackID: stack, LogicalResourceID: cmp.Or(s.LogicalId, "ManagedNodeGroup"), PhysicalResourceID: physical,
			StatusDetails: stackStatus{status, reason}, ResourceType: "AWS::EKS::Nodegroup",
		})
	})
}
