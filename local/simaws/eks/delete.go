package eks

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/nodegroup"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

// deleteTick is how often EKS looks whether what it deletes is gone.
const deleteTick = 15 * time.Second

// DeleteNodegroup ends a nodegroup's instances and takes away what EKS made
// for it.
func (s API) DeleteNodegroup(in *eks.DeleteNodegroupInput) (*eks.DeleteNodegroupOutput, error) {
	defer s.w.Enter()()
	w := s.w
	ng, err := eksNodegroup(w, in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	switch ng.Status {
	case ekstypes.NodegroupStatusUpdating, ekstypes.NodegroupStatusDeleting:
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "Nodegroup " + *ng.NodegroupName + " cannot be deleted as it is currently in " + string(ng.Status) + " state", Status: 409}
	}
	ng.Health = &ekstypes.NodegroupHealth{Issues: []ekstypes.Issue{}}
	nodegroup.SetStatus(w, ng, ekstypes.NodegroupStatusDeleting)
	for _, g := range w.GroupsOf(ng) {
		g.MinSize, g.MaxSize, g.DesiredCapacity = aws.Int32(0), aws.Int32(0), aws.Int32(0)
		g.WarmPoolConfiguration = nil
		lifecycle.FillWarmPool(w, g)
		endAll(w, g)
	}
	deadline := w.Now.Add(w.File.EKS.Rules.JoinTimeout)
	w.After(max(deleteTick, w.File.EKS.Rules.DeleteTime), func() { deleteStep(w, ng, deadline) })
	return &eks.DeleteNodegroupOutput{Nodegroup: deepcopy.Of(&ng.Nodegroup)}, nil
}

// endAll ends a group's instances, protected or not, unless the group may end
// none.
func endAll(w *state.State, g *state.Group) {
	if g.Suspended("Terminate") {
		return
	}
	var ids []string
	for _, i := range g.Instances {
		if !strings.HasPrefix(string(i.LifecycleState), "Terminat") {
			ids = append(ids, aws.ToString(i.InstanceId))
		}
	}
	for _, id := range ids {
		lifecycle.EndInGroup(w, g, id, "At "+w.Now.UTC().Format(time.RFC3339)+" instance "+id+" was taken out of service in response to a user request.")
	}
}

// deleteStep goes on with a deletion: instances first, then the security group
// of remote access, then the rest.
func deleteStep(w *state.State, ng *state.Nodegroup, deadline time.Time) {
	var left []string
	for _, g := range w.GroupsOf(ng) {
		endAll(w, g) // those of a process that was resumed
		left = append(left, table.Each(g.Instances, func(i astypes.Instance) *string { return i.InstanceId })...)
	}
	if len(left) > 0 {
		if w.Now.Before(deadline) {
			w.After(deleteTick, func() { deleteStep(w, ng, deadline) })
			return
		}
		nodegroup.AddIssue(ng, nodegroup.Issue(ekstypes.NodegroupIssueCodeNodeTerminationFailure, "Instances of the node group could not be terminated", left...))
		nodegroup.SetStatus(w, ng, ekstypes.NodegroupStatusDeleteFailed)
		return
	}
	if sg := remoteGroup(w, ng); sg != "" {
		uses := func(i *ec2types.NetworkInterface) bool {
			return slices.ContainsFunc(i.Groups, func(g ec2types.GroupIdentifier) bool { return aws.ToString(g.GroupId) == sg })
		}
		if slices.ContainsFunc(w.Interfaces.All(), uses) {
			nodegroup.AddIssue(ng, nodegroup.Issue(ekstypes.NodegroupIssueCodeEc2SecurityGroupDeletionFailure, "The security group "+sg+" of the node group's remote access has dependencies and could not be deleted", sg))
			nodegroup.SetStatus(w, ng, ekstypes.NodegroupStatusDeleteFailed)
			return
		}
		w.SecurityGroups.Remove(sg)
	}
	for _, g := range w.GroupsOf(ng) {
		dropGroup(w, g)
	}
	w.Nodegroups.Remove(state.NodegroupKey(aws.ToString(ng.ClusterName), aws.ToString(ng.NodegroupName)))
	if s := nodegroup.StackOf(w, ng); s != nil {
		nodegroup.TellStackOf(w, ng, s, "DELETE_COMPLETE", "")
	}
}

// remoteGroup is the security group that EKS made for remote access.
func remoteGroup(w *state.State, ng *state.Nodegroup) string {
	if ng.Resources == nil || w.SecurityGroups.Get(aws.ToString(ng.Resources.RemoteAccessSecurityGroup)) == nil {
		return ""
	}
	return *ng.Resources.RemoteAccessSecurityGroup
}

// dropGroup takes a nodegroup's empty group away, with its hooks and the
// template that EKS made.
func dropGroup(w *state.State, g *state.Group) {
	for _, h := range w.Hooks.All() {
		if aws.ToString(h.AutoScalingGroupName) == g.Name() {
			w.Hooks.Remove(state.HookKey(g.Name(), aws.ToString(h.LifecycleHookName)))
		}
	}
	if spec := g.TemplateSpec(); spec != nil {
		if t := w.TemplateNamed(aws.ToString(spec.LaunchTemplateId), aws.ToString(spec.LaunchTemplateName)); t != nil && strings.HasPrefix(aws.ToString(t.LaunchTemplateName), "eks-") {
			w.DropTemplate(aws.ToString(t.LaunchTemplateId))
		}
	}
	w.Groups.Remove(g.Name())
}
