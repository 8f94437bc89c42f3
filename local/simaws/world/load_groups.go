package world

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
)

func (w *World) loadTemplates(f *worldfile.File) error {
	for _, row := range instanceTypeTable() {
		w.instanceTypes.Put(row.name, row.info())
	}
	for i := range f.EC2.InstanceTypes {
		t := &f.EC2.InstanceTypes[i]
		w.instanceTypes.Put(string(t.InstanceType), t)
	}
	for i := range f.EC2.Images {
		or(&f.EC2.Images[i].OwnerId, "602401143452") // EKS's own images in most regions
		orZero(&f.EC2.Images[i].State, ec2types.ImageStateAvailable)
	}
	for i := range f.EC2.LaunchTemplateVersions {
		v := &f.EC2.LaunchTemplateVersions[i]
		or(&v.VersionNumber, 1)
		or(&v.DefaultVersion, *v.VersionNumber == 1)
		or(&v.CreateTime, w.start.Add(-long))
		or(&v.CreatedBy, fmt.Sprintf("arn:aws:iam::%s:root", w.account))
		w.addTemplateVersion(v)
	}
	for i := range f.EC2.LaunchTemplates {
		t := &f.EC2.LaunchTemplates[i]
		w.templates.Put(aws.ToString(t.LaunchTemplateId), t)
	}
	return fill(w.images, f.EC2.Images, "ec2.Images", func(v *ec2types.Image) *string { return v.ImageId })
}

func (w *World) addTemplateVersion(v *ec2types.LaunchTemplateVersion) {
	id := aws.ToString(v.LaunchTemplateId)
	w.templateVersions.Put(templateKey(id, aws.ToInt64(v.VersionNumber)), v)
	t := w.templates.Get(id)
	if t == nil {
		t = &ec2types.LaunchTemplate{
			LaunchTemplateId: v.LaunchTemplateId, LaunchTemplateName: v.LaunchTemplateName,
			CreateTime: v.CreateTime, CreatedBy: v.CreatedBy, DefaultVersionNumber: v.VersionNumber, LatestVersionNumber: v.VersionNumber,
		}
		w.templates.Put(id, t)
	}
	if aws.ToBool(v.DefaultVersion) {
		t.DefaultVersionNumber = v.VersionNumber
	}
	if aws.ToInt64(v.VersionNumber) > aws.ToInt64(t.LatestVersionNumber) {
		t.LatestVersionNumber = v.VersionNumber
	}
}

func (w *World) loadClusters(f *worldfile.File) error {
	for i := range f.EKS.Clusters {
		c := &f.EKS.Clusters[i]
		name := aws.ToString(c.Name)
		or(&c.Arn, w.arn("eks", "cluster/"+name))
		or(&c.Endpoint, "https://"+strings.ToUpper(w.ids.Hex(32))+".gr7."+w.region+".eks.amazonaws.com")
		or(&c.CreatedAt, w.start.Add(-long))
		orZero(&c.Status, ekstypes.ClusterStatusActive)
		w.kubernetes[name] = &kubestate.Cluster{Name: name, Nodes: table.New[map[string]any](), Objects: map[string][]map[string]any{}, Version: 1000}
	}
	for i := range f.EKS.Addons {
		a := &f.EKS.Addons[i]
		or(&a.AddonArn, w.arn("eks", fmt.Sprintf("addon/%s/%s/%s", aws.ToString(a.ClusterName), aws.ToString(a.AddonName), w.ids.UUID())))
		or(&a.CreatedAt, w.start.Add(-long))
		or(&a.ModifiedAt, w.start.Add(-long))
		orZero(&a.Status, ekstypes.AddonStatusActive)
		if a.Health == nil {
			a.Health = &ekstypes.AddonHealth{Issues: []ekstypes.AddonIssue{}}
		}
		w.addons.Put(nodegroupKey(aws.ToString(a.ClusterName), aws.ToString(a.AddonName)), a)
	}
	for i := range f.EKS.PodIdentityAssociations {
		w.putPodIdentity(&f.EKS.PodIdentityAssociations[i])
	}
	for i := range f.EKS.AccessEntries {
		w.putAccessEntry(&f.EKS.AccessEntries[i])
	}
	for _, p := range f.EKS.AccessPolicies {
		for _, a := range p.AssociatedAccessPolicies {
			w.associatePolicy(nodegroupKey(p.ClusterName, p.PrincipalArn), a)
		}
	}
	return fill(w.clusters, f.EKS.Clusters, "eks.clusters", func(v *ekstypes.Cluster) *string { return v.Name })
}

func (w *World) putAccessEntry(a *ekstypes.AccessEntry) {
	principal := aws.ToString(a.PrincipalArn)
	role := principal[strings.LastIndex(principal, "/")+1:]
	or(&a.Type, "STANDARD")
	or(&a.CreatedAt, w.now)
	or(&a.ModifiedAt, w.now)
	or(&a.AccessEntryArn, w.arn("eks", fmt.Sprintf("access-entry/%s/role/%s/%s/%s", aws.ToString(a.ClusterName), w.account, role, w.ids.UUID())))
	if *a.Type == "EC2_LINUX" {
		or(&a.Username, "system:node:{{EC2PrivateDNSName}}")
		if a.KubernetesGroups == nil {
			a.KubernetesGroups = []string{"system:nodes"}
		}
	}
	or(&a.Username, principal)
	w.accessEntries.Put(nodegroupKey(aws.ToString(a.ClusterName), principal), a)
}

func (w *World) loadGroups(f *worldfile.File) error {
	var errs []error
	for i := range f.AutoScaling.AutoScalingGroups {
		g := &group{AutoScalingGroup: f.AutoScaling.AutoScalingGroups[i], waits: map[string]*hookWait{}}
		if g.name() == "" || w.groups.Get(g.name()) != nil {
			errs = append(errs, fmt.Errorf("autoscaling.AutoScalingGroups[%d] has no name of its own", i))
			continue
		}
		w.completeGroup(g)
	}
	for i := range f.AutoScaling.LifecycleHooks {
		h := &f.AutoScaling.LifecycleHooks[i]
		completeHookDefaults(h)
		if aws.ToString(h.LifecycleTransition) != transitionLaunching && aws.ToString(h.LifecycleTransition) != transitionTerminating {
			errs = append(errs, fmt.Errorf("autoscaling.LifecycleHooks[%d]: unknown transition %q", i, aws.ToString(h.LifecycleTransition)))
		}
		w.hooks.Put(hookKey(aws.ToString(h.AutoScalingGroupName), aws.ToString(h.LifecycleHookName)), h)
	}
	return errors.Join(errs...)
}

func completeHookDefaults(h *astypes.LifecycleHook) {
	or(&h.DefaultResult, "CONTINUE")
	or(&h.HeartbeatTimeout, 1800)
	// The longest wait: 48 hours or 100 heartbeats, whichever is less.
	or(&h.GlobalTimeout, min(48*3600, 100**h.HeartbeatTimeout))
}

// completeGroup fills in what every group has and keeps it.
func (w *World) completeGroup(g *group) {
	or(&g.AutoScalingGroupARN, w.arn("autoscaling", "autoScalingGroup:"+w.ids.UUID()+":autoScalingGroupName/"+g.name()))
	or(&g.MinSize, 0)
	or(&g.MaxSize, *g.MinSize)
	or(&g.DesiredCapacity, *g.MinSize)
	or(&g.DefaultCooldown, 300)
	or(&g.HealthCheckType, "EC2")
	or(&g.HealthCheckGracePeriod, 15)
	or(&g.NewInstancesProtectedFromScaleIn, false)
	or(&g.CapacityRebalance, false)
	or(&g.CreatedTime, w.start.Add(-long))
	or(&g.ServiceLinkedRoleARN, fmt.Sprintf("arn:aws:iam::%s:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling", w.account))
	if g.TerminationPolicies == nil {
		g.TerminationPolicies = []string{"AllocationStrategy", "OldestLaunchTemplate", "OldestInstance"}
	}
	if g.AvailabilityZones == nil {
		seen := map[string]bool{}
		for _, id := range g.subnets() {
			if s := w.subnets.Get(id); s != nil && !seen[aws.ToString(s.AvailabilityZone)] {
				seen[aws.ToString(s.AvailabilityZone)] = true
				g.AvailabilityZones = append(g.AvailabilityZones, aws.ToString(s.AvailabilityZone))
			}
		}
	}
	for i := range g.Tags {
		t := &g.Tags[i]
		or(&t.ResourceId, g.name())
		or(&t.ResourceType, "auto-scaling-group")
		or(&t.PropagateAtLaunch, true)
	}
	if c, ok := w.file.AutoScaling.WarmPools[g.name()]; ok {
		orZero(&c.PoolState, astypes.WarmPoolStateStopped)
		g.WarmPoolConfiguration = &c
	}
	w.groups.Put(g.name(), g)
}
