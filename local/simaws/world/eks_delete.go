package world

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
	"rollcall/local/simaws/table"
)

// deleteTick is how often EKS looks whether what it deletes is gone.
const deleteTick = 15 * time.Second

// DeleteNodegroup ends a nodegroup's instances and takes away what EKS made
// for it.
func (s EKS) DeleteNodegroup(in *eks.DeleteNodegroupInput) (*eks.DeleteNodegroupOutput, error) {
	defer s.w.enter()()
	w := s.w
	ng, err := w.eksNodegroup(in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	switch ng.Status {
	case ekstypes.NodegroupStatusUpdating, ekstypes.NodegroupStatusDeleting:
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "Nodegroup " + *ng.NodegroupName + " cannot be deleted as it is currently in " + string(ng.Status) + " state", Status: 409}
	}
	ng.Health = &ekstypes.NodegroupHealth{Issues: []ekstypes.Issue{}}
	w.setNodegroup(ng, ekstypes.NodegroupStatusDeleting)
	for _, g := range w.groupsOf(ng) {
		g.MinSize, g.MaxSize, g.DesiredCapacity = aws.Int32(0), aws.Int32(0), aws.Int32(0)
		g.WarmPoolConfiguration = nil
		w.fillWarmPool(g)
		w.endAll(g)
	}
	deadline := w.now.Add(w.file.EKS.Rules.JoinTimeout)
	w.after(max(deleteTick, w.file.EKS.Rules.DeleteTime), func() { w.deleteStep(ng, deadline) })
	return &eks.DeleteNodegroupOutput{Nodegroup: deepcopy.Of(&ng.Nodegroup)}, nil
}

// endAll ends a group's instances, protected or not, unless the group may end
// none.
func (w *World) endAll(g *group) {
	if g.suspended("Terminate") {
		return
	}
	var ids []string
	for _, i := range g.Instances {
		if !strings.HasPrefix(string(i.LifecycleState), "Terminat") {
			ids = append(ids, aws.ToString(i.InstanceId))
		}
	}
	for _, id := range ids {
		w.endInGroup(g, id, "At "+w.now.UTC().Format(time.RFC3339)+" instance "+id+" was taken out of service in response to a user request.")
	}
}

// deleteStep goes on with a deletion: instances first, then the security group
// of remote access, then the rest.
func (w *World) deleteStep(ng *nodegroup, deadline time.Time) {
	var left []string
	for _, g := range w.groupsOf(ng) {
		w.endAll(g) // those of a process that was resumed
		left = append(left, table.Each(g.Instances, func(i astypes.Instance) *string { return i.InstanceId })...)
	}
	if len(left) > 0 {
		if w.now.Before(deadline) {
			w.after(deleteTick, func() { w.deleteStep(ng, deadline) })
			return
		}
		ng.addIssue(issue(ekstypes.NodegroupIssueCodeNodeTerminationFailure, "Instances of the node group could not be terminated", left...))
		w.setNodegroup(ng, ekstypes.NodegroupStatusDeleteFailed)
		return
	}
	if sg := w.remoteGroup(ng); sg != "" {
		uses := func(i *ec2types.NetworkInterface) bool {
			return slices.ContainsFunc(i.Groups, func(g ec2types.GroupIdentifier) bool { return aws.ToString(g.GroupId) == sg })
		}
		if slices.ContainsFunc(w.interfaces.All(), uses) {
			ng.addIssue(issue(ekstypes.NodegroupIssueCodeEc2SecurityGroupDeletionFailure, "The security group "+sg+" of the node group's remote access has dependencies and could not be deleted", sg))
			w.setNodegroup(ng, ekstypes.NodegroupStatusDeleteFailed)
			return
		}
		w.securityGroups.Remove(sg)
	}
	for _, g := range w.groupsOf(ng) {
		w.dropGroup(g)
	}
	w.nodegroups.Remove(nodegroupKey(aws.ToString(ng.ClusterName), aws.ToString(ng.NodegroupName)))
	if s := w.stackOf(ng); s != nil {
		w.tellStackOf(ng, s, "DELETE_COMPLETE", "")
	}
}

// remoteGroup is the security group that EKS made for remote access.
func (w *World) remoteGroup(ng *nodegroup) string {
	if ng.Resources == nil || w.securityGroups.Get(aws.ToString(ng.Resources.RemoteAccessSecurityGroup)) == nil {
		return ""
	}
	return *ng.Resources.RemoteAccessSecurityGroup
}

// dropGroup takes a nodegroup's empty group away, with its hooks and the
// template that EKS made.
func (w *World) dropGroup(g *group) {
	for _, h := range w.hooks.All() {
		if aws.ToString(h.AutoScalingGroupName) == g.name() {
			w.hooks.Remove(hookKey(g.name(), aws.ToString(h.LifecycleHookName)))
		}
	}
	if spec := g.templateSpec(); spec != nil {
		if t := w.templateNamed(aws.ToString(spec.LaunchTemplateId), aws.ToString(spec.LaunchTemplateName)); t != nil && strings.HasPrefix(aws.ToString(t.LaunchTemplateName), "eks-") {
			w.dropTemplate(aws.ToString(t.LaunchTemplateId))
		}
	}
	w.groups.Remove(g.name())
}
