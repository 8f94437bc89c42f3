package world

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/autoscaling"
	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/eks"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
)

func loadTemplates(w *state.State, f *worldfile.File) error {
	for _, row := range instanceTypeTable() {
		w.InstanceTypes.Put(row.name, row.info())
	}
	for i := range f.EC2.InstanceTypes {
		t := &f.EC2.InstanceTypes[i]
		w.InstanceTypes.Put(string(t.InstanceType), t)
	}
	for i := range f.EC2.Images {
		defaults.Set(&f.EC2.Images[i].OwnerId, "602401143452") // EKS's own images in most regions
		defaults.SetPlain(&f.EC2.Images[i].State, ec2types.ImageStateAvailable)
	}
	for i := range f.EC2.LaunchTemplateVersions {
		v := &f.EC2.LaunchTemplateVersions[i]
		defaults.Set(&v.VersionNumber, 1)
		defaults.Set(&v.DefaultVersion, *v.VersionNumber == 1)
		defaults.Set(&v.CreateTime, w.Start.Add(-state.Age))
		defaults.Set(&v.CreatedBy, fmt.Sprintf("arn:aws:iam::%s:root", w.Account))
		w.AddTemplateVersion(v)
	}
	for i := range f.EC2.LaunchTemplates {
		t := &f.EC2.LaunchTemplates[i]
		w.Templates.Put(aws.ToString(t.LaunchTemplateId), t)
	}
	return errors.Join(
		fill(w.Images, f.EC2.Images, "ec2.Images", func(v *ec2types.Image) *string { return v.ImageId }),
		fill(w.PlacementGroups, f.EC2.PlacementGroups, "ec2.PlacementGroups", func(v *ec2types.PlacementGroup) *string { return v.GroupId }),
		fill(w.CapacityReservations, f.EC2.CapacityReservations, "ec2.CapacityReservations", func(v *ec2types.CapacityReservation) *string { return v.CapacityReservationId }),
	)
}

func loadClusters(w *state.State, f *worldfile.File) error {
	for i := range f.EKS.Clusters {
		c := &f.EKS.Clusters[i]
		name := aws.ToString(c.Name)
		defaults.Set(&c.Arn, w.ARN("eks", "cluster/"+name))
		defaults.Set(&c.Endpoint, "https://"+strings.ToUpper(w.IDs.Hex(32))+".gr7."+w.Region+".eks.amazonaws.com")
		defaults.Set(&c.CreatedAt, w.Start.Add(-state.Age))
		defaults.SetPlain(&c.Status, ekstypes.ClusterStatusActive)
		w.Kubernetes[name] = &kubestate.Cluster{Name: name, Nodes: table.New[map[string]any](), Objects: map[string][]map[string]any{}, Version: 1000}
	}
	for i := range f.EKS.Addons {
		a := &f.EKS.Addons[i]
		defaults.Set(&a.AddonArn, w.ARN("eks", fmt.Sprintf("addon/%s/%s/%s", aws.ToString(a.ClusterName), aws.ToString(a.AddonName), w.IDs.UUID())))
		defaults.Set(&a.CreatedAt, w.Start.Add(-state.Age))
		defaults.Set(&a.ModifiedAt, w.Start.Add(-state.Age))
		defaults.SetPlain(&a.Status, ekstypes.AddonStatusActive)
		if a.Health == nil {
			a.Health = &ekstypes.AddonHealth{Issues: []ekstypes.AddonIssue{}}
		}
		w.Addons.Put(state.NodegroupKey(aws.ToString(a.ClusterName), aws.ToString(a.AddonName)), a)
	}
	for i := range f.EKS.PodIdentityAssociations {
		eks.PutPodIdentity(w, &f.EKS.PodIdentityAssociations[i])
	}
	for i := range f.EKS.AccessEntries {
		eks.PutAccessEntry(w, &f.EKS.AccessEntries[i])
	}
	for _, p := range f.EKS.AccessPolicies {
		for _, a := range p.AssociatedAccessPolicies {
			eks.AssociatePolicy(w, state.NodegroupKey(p.ClusterName, p.PrincipalArn), a)
		}
	}
	return fill(w.Clusters, f.EKS.Clusters, "eks.clusters", func(v *ekstypes.Cluster) *string { return v.Name })
}

func loadGroups(w *state.State, f *worldfile.File) error {
	var errs []error
	for i := range f.AutoScaling.AutoScalingGroups {
		g := &state.Group{AutoScalingGroup: f.AutoScaling.AutoScalingGroups[i], Waits: map[string]*state.HookWait{}}
		if g.Name() == "" || w.Groups.Get(g.Name()) != nil {
			errs = append(errs, fmt.Errorf("autoscaling.AutoScalingGroups[%d] has no name of its own", i))
			continue
		}
		autoscaling.PutGroup(w, g)
	}
	for i := range f.AutoScaling.LifecycleHooks {
		h := &f.AutoScaling.LifecycleHooks[i]
		autoscaling.CompleteHookDefaults(h)
		if aws.ToString(h.LifecycleTransition) != state.TransitionLaunching && aws.ToString(h.LifecycleTransition) != state.TransitionTerminating {
			errs = append(errs, fmt.Errorf("autoscaling.LifecycleHooks[%d]: unknown transition %q", i, aws.ToString(h.LifecycleTransition)))
		}
		w.Hooks.Put(state.HookKey(aws.ToString(h.AutoScalingGroupName), aws.ToString(h.LifecycleHookName)), h)
	}
	return errors.Join(errs...)
}
