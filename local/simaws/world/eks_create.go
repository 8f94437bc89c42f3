package world

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/ids"
)

// groupTime is how long EKS takes until a new nodegroup's Auto Scaling group
// begins to launch.
const groupTime = 15 * time.Second

const (
	terminateHook = "Terminate-LC-Hook"
	// hookTimeout is the heartbeat of EKS's own hooks, in seconds.
	hookTimeout = 1800
)

// CreateNodegroup makes a nodegroup with its Auto Scaling group. It is
// CREATING until its nodes are Ready.
func (s EKS) CreateNodegroup(in *eks.CreateNodegroupInput) (*eks.CreateNodegroupOutput, error) {
	defer s.w.enter()()
	w := s.w
	c, err := w.eksCluster(in.ClusterName)
	if err != nil {
		return nil, err
	}
	size, err := w.checkNodegroup(in)
	if err != nil {
		return nil, err
	}
	ng := &nodegroup{Nodegroup: deepcopy.Of(ekstypes.Nodegroup{
		ClusterName: in.ClusterName, NodegroupName: in.NodegroupName, NodeRole: in.NodeRole, Subnets: in.Subnets,
		AmiType: in.AmiType, CapacityType: in.CapacityType, DiskSize: in.DiskSize, InstanceTypes: in.InstanceTypes,
		Labels: in.Labels, LaunchTemplate: in.LaunchTemplate, NodeRepairConfig: in.NodeRepairConfig, ReleaseVersion: in.ReleaseVersion,
		RemoteAccess: in.RemoteAccess, ScalingConfig: &size, Tags: in.Tags, Taints: in.Taints, UpdateConfig: in.UpdateConfig,
		Version: in.Version, CreatedAt: aws.Time(w.now),
	})}
	w.completeNodegroup(ng, c)
	w.nodegroups.Put(nodegroupKey(*in.ClusterName, *in.NodegroupName), ng)
	w.grantNodegroup(ng, c)
	if err := w.completeNodegroupGroup(ng, c); err != nil {
		w.nodegroups.Remove(nodegroupKey(*in.ClusterName, *in.NodegroupName))
		return nil, wire.Errorf("InvalidParameterException", "%s", err)
	}
	for _, g := range w.groupsOf(ng) {
		w.overlayTemplate(ng.LaunchTemplate, g)
		w.putNodegroupHooks(g)
		w.applyWarmPool(ng, g, deepcopy.Of(in.WarmPoolConfig))
		w.reconcileLater(g, groupTime)
	}
	w.setNodegroup(ng, ekstypes.NodegroupStatusCreating)
	w.watchCreation(ng)
	return &eks.CreateNodegroupOutput{Nodegroup: deepcopy.Of(&ng.Nodegroup)}, nil
}

// checkNodegroup says whether EKS would take a new nodegroup, and its size.
func (w *World) checkNodegroup(in *eks.CreateNodegroupInput) (ekstypes.NodegroupScalingConfig, error) {
	size := ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(1), MaxSize: aws.Int32(2), DesiredSize: aws.Int32(2)}
	bad := func(format string, args ...any) (ekstypes.NodegroupScalingConfig, error) {
		return size, wire.Errorf("InvalidParameterException", format, args...)
	}
	name, role := aws.ToString(in.NodegroupName), ids.NameInARN(aws.ToString(in.NodeRole))
	switch {
	case name == "":
		return bad("nodegroupName can't be empty.")
	case !strings.HasPrefix(aws.ToString(in.NodeRole), "arn:"):
		return bad("The provided nodeRole is invalid.")
	case w.roles.Get(role) == nil:
		return bad("Following required service role could not be found: %s", aws.ToString(in.NodeRole))
	case len(in.Subnets) == 0:
		return bad("Subnets can't be empty.")
	}
	if w.nodegroups.Get(nodegroupKey(*in.ClusterName, name)) != nil {
		return size, &wire.Error{Code: "ResourceInUseException", Message: "NodeGroup already exists with name " + name + " and cluster name " + *in.ClusterName, Status: 409}
	}
	for _, id := range in.Subnets {
		if w.subnets.Get(id) == nil {
			return bad("The subnet ID '%s' does not exist", id)
		}
	}
	for _, t := range in.InstanceTypes {
		if w.instanceTypes.Get(t) == nil {
			return bad("The following instance types do not exist: [%s]", t)
		}
	}
	if t := in.LaunchTemplate; t != nil && w.templateVersion(aws.ToString(t.Id), aws.ToString(t.Name), aws.ToString(t.Version)) == nil {
		return bad("Launch template details can't be found: %s", aws.ToString(t.Id)+aws.ToString(t.Name))
	}
	return newSize(&size, in.ScalingConfig)
}

// grantNodegroup gives a nodegroup's role what EKS gives it: a profile, and an
// access entry in clusters that have them.
func (w *World) grantNodegroup(ng *nodegroup, c *ekstypes.Cluster) {
	role := w.roles.Get(ids.NameInARN(aws.ToString(ng.NodeRole)))
	if role == nil {
		return
	}
	arn := aws.ToString(role.Arn)
	if a := c.AccessConfig; (a == nil || a.AuthenticationMode != ekstypes.AuthenticationModeConfigMap) && w.accessEntries.Get(nodegroupKey(aws.ToString(c.Name), arn)) == nil {
		w.putAccessEntry(&ekstypes.AccessEntry{ClusterName: c.Name, PrincipalArn: aws.String(arn), Type: aws.String("EC2_LINUX")})
	}
	has := func(p *iamtypes.InstanceProfile) bool {
		return len(p.Roles) > 0 && aws.ToString(p.Roles[0].RoleName) == aws.ToString(role.RoleName)
	}
	if slices.ContainsFunc(w.profiles.All(), has) {
		return
	}
	name := "eks-" + w.ids.UUID()
	w.profiles.Put(name, &iamtypes.InstanceProfile{
		InstanceProfileName: aws.String(name), Path: aws.String("/"), CreateDate: aws.Time(w.now), Roles: []iamtypes.Role{deepcopy.Of(role.Role)},
		Arn: aws.String("arn:aws:iam::" + w.account + ":instance-profile/" + name), InstanceProfileId: aws.String("AIPA" + strings.ToUpper(w.ids.Hex(17))),
	})
}

// overlayTemplate puts what the user's launch template says over the template
// that EKS has made.
func (w *World) overlayTemplate(t *ekstypes.LaunchTemplateSpecification, g *group) {
	own := w.groupTemplate(g)
	if t == nil || own == nil {
		return
	}
	from := w.templateVersion(aws.ToString(t.Id), aws.ToString(t.Name), aws.ToString(t.Version))
	if from == nil || from.LaunchTemplateData == nil {
		return
	}
	d := deepcopy.Of(*from.LaunchTemplateData)
	if d.ImageId != nil {
		own.LaunchTemplateData.ImageId = d.ImageId
		own.LaunchTemplateData.UserData = d.UserData // with an own image EKS adds nothing to it
	}
	if len(d.SecurityGroupIds) > 0 {
		own.LaunchTemplateData.SecurityGroupIds = d.SecurityGroupIds
	}
	if d.InstanceType != "" {
		own.LaunchTemplateData.InstanceType = d.InstanceType
	}
}

// putNodegroupHooks gives a group the two hooks that EKS keeps on it.
func (w *World) putNodegroupHooks(g *group) {
	for _, hook := range [][2]string{{launchHook, transitionLaunching}, {terminateHook, transitionTerminating}} {
		h := &astypes.LifecycleHook{
			AutoScalingGroupName: deepcopy.Of(g.AutoScalingGroupName), LifecycleHookName: aws.String(hook[0]), LifecycleTransition: aws.String(hook[1]),
			DefaultResult: aws.String("CONTINUE"), HeartbeatTimeout: aws.Int32(hookTimeout),
		}
		completeHookDefaults(h)
		w.hooks.Put(hookKey(g.name(), hook[0]), h)
	}
}
