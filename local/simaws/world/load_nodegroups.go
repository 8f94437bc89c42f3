package world

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/worldfile"
)

func (w *World) loadNodegroups(f *worldfile.File) error {
	var errs []error
	for i := range f.EKS.Nodegroups {
		ng := &nodegroup{Nodegroup: f.EKS.Nodegroups[i]}
		cluster, name := aws.ToString(ng.ClusterName), aws.ToString(ng.NodegroupName)
		c := w.clusters.Get(cluster)
		if c == nil {
			errs = append(errs, fmt.Errorf("eks.nodegroups %s: cluster %q is not in the world", name, cluster))
			continue
		}
		w.completeNodegroup(ng, c)
		w.nodegroups.Put(nodegroupKey(cluster, name), ng)
		if err := w.completeNodegroupGroup(ng, c); err != nil {
			errs = append(errs, fmt.Errorf("eks.nodegroups %s: %w", name, err))
		}
		w.watchCreation(ng)
	}
	return errors.Join(errs...)
}

func (w *World) completeNodegroup(ng *nodegroup, c *ekstypes.Cluster) {
	cluster, name := aws.ToString(ng.ClusterName), aws.ToString(ng.NodegroupName)
	or(&ng.NodegroupArn, w.arn("eks", fmt.Sprintf("nodegroup/%s/%s/%s", cluster, name, w.ids.UUID())))
	or(&ng.Version, aws.ToString(c.Version))
	or(&ng.ReleaseVersion, *ng.Version+".1-20261112")
	or(&ng.CreatedAt, w.start.Add(-long))
	or(&ng.ModifiedAt, *ng.CreatedAt)
	orZero(&ng.Status, ekstypes.NodegroupStatusActive)
	orZero(&ng.CapacityType, ekstypes.CapacityTypesOnDemand)
	orZero(&ng.AmiType, ekstypes.AMITypesAl2023X8664Standard)
	if ng.InstanceTypes == nil {
		ng.InstanceTypes = []string{"t3.medium"}
	}
	if ng.Health == nil {
		ng.Health = &ekstypes.NodegroupHealth{Issues: []ekstypes.Issue{}}
	}
	if ng.ScalingConfig == nil {
		ng.ScalingConfig = &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(1), MaxSize: aws.Int32(2), DesiredSize: aws.Int32(2)}
	}
	if ng.UpdateConfig == nil {
		ng.UpdateConfig = &ekstypes.NodegroupUpdateConfig{MaxUnavailable: aws.Int32(1)}
	}
	or(&ng.DiskSize, 20)
}

// completeNodegroupGroup gives a nodegroup the Auto Scaling group and launch
// template that EKS would have made for it.
func (w *World) completeNodegroupGroup(ng *nodegroup, c *ekstypes.Cluster) error {
	if ng.Resources == nil || len(ng.Resources.AutoScalingGroups) == 0 {
		name := "eks-" + aws.ToString(ng.NodegroupName) + "-" + w.ids.UUID()
		ng.Resources = &ekstypes.NodegroupResources{AutoScalingGroups: []ekstypes.AutoScalingGroup{{Name: aws.String(name)}}}
	}
	for _, a := range ng.Resources.AutoScalingGroups {
		g := w.groups.Get(aws.ToString(a.Name))
		if g == nil {
			g = &group{waits: map[string]*hookWait{}}
			g.AutoScalingGroupName = a.Name
			g.MinSize, g.MaxSize, g.DesiredCapacity = ng.ScalingConfig.MinSize, ng.ScalingConfig.MaxSize, ng.ScalingConfig.DesiredSize
			g.CreatedTime = ng.CreatedAt
			g.VPCZoneIdentifier = aws.String(strings.Join(ng.Subnets, ","))
			// EKS turns capacity rebalancing on for Spot (EKS user guide, "Managed
			// node group capacity types").
			g.CapacityRebalance = aws.Bool(ng.CapacityType == ekstypes.CapacityTypesSpot)
			w.completeGroup(g)
		}
		w.nodegroupTags(ng, g)
		if g.templateSpec() == nil {
			if err := w.nodegroupTemplate(ng, g, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *World) nodegroupTags(ng *nodegroup, g *group) {
	cluster := aws.ToString(ng.ClusterName)
	for _, t := range [][2]string{
		{"eks:cluster-name", cluster}, {"eks:nodegroup-name", aws.ToString(ng.NodegroupName)},
		{"k8s.io/cluster-autoscaler/" + cluster, "owned"}, {"k8s.io/cluster-autoscaler/enabled", "true"},
		{"kubernetes.io/cluster/" + cluster, "owned"},
	} {
		if g.tag(t[0]) == "" {
			g.Tags = append(g.Tags, astypes.TagDescription{
				Key: aws.String(t[0]), Value: aws.String(t[1]), PropagateAtLaunch: aws.Bool(true),
				ResourceId: g.AutoScalingGroupName, ResourceType: aws.String("auto-scaling-group"),
			})
		}
	}
}

// nodegroupTemplate makes the template that EKS derives from a nodegroup: the
// cluster's security group, the role's profile and the image of the release.
func (w *World) nodegroupTemplate(ng *nodegroup, g *group, c *ekstypes.Cluster) error {
	uuid := strings.TrimPrefix(g.name(), "eks-"+aws.ToString(ng.NodegroupName)+"-")
	data := &ec2types.ResponseLaunchTemplateData{
		InstanceType: ec2types.InstanceType(ng.InstanceTypes[0]),
		ImageId:      aws.String(w.nodegroupImage(ng)),
		UserData:     aws.String(nodeConfig(c)),
		MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptions{
			HttpTokens: ec2types.LaunchTemplateHttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(2),
		},
	}
	if v := c.ResourcesVpcConfig; v != nil && v.ClusterSecurityGroupId != nil {
		data.SecurityGroupIds = []string{*v.ClusterSecurityGroupId}
	}
	role := aws.ToString(ng.NodeRole)
	for _, p := range w.profiles.All() {
		if len(p.Roles) > 0 && aws.ToString(p.Roles[0].Arn) == role {
			data.IamInstanceProfile = &ec2types.LaunchTemplateIamInstanceProfileSpecification{Name: p.InstanceProfileName}
		}
	}
	for _, kind := range []ec2types.ResourceType{ec2types.ResourceTypeInstance, ec2types.ResourceTypeVolume} {
		data.TagSpecifications = append(data.TagSpecifications, ec2types.LaunchTemplateTagSpecification{
			ResourceType: kind, Tags: []ec2types.Tag{
				{Key: aws.String("eks:cluster-name"), Value: ng.ClusterName},
				{Key: aws.String("eks:nodegroup-name"), Value: ng.NodegroupName},
			},
		})
	}
	v := &ec2types.LaunchTemplateVersion{
		LaunchTemplateId: aws.String(w.ids.EC2("lt")), LaunchTemplateName: aws.String("eks-" + uuid),
		VersionNumber: aws.Int64(1), DefaultVersion: aws.Bool(true), CreateTime: ng.CreatedAt,
		CreatedBy:          aws.String(fmt.Sprintf("arn:aws:sts::%s:assumed-role/AWSServiceRoleForAmazonEKSNodegroup/EKS", w.account)),
		LaunchTemplateData: data,
	}
	w.addTemplateVersion(v)
	spec := &astypes.LaunchTemplateSpecification{LaunchTemplateId: v.LaunchTemplateId, LaunchTemplateName: v.LaunchTemplateName, Version: aws.String("1")}
	policy := &astypes.LaunchTemplate{LaunchTemplateSpecification: spec}
	for _, t := range ng.InstanceTypes {
		if w.instanceTypes.Get(t) == nil {
			return fmt.Errorf("instance type %q is not known; add it to ec2.InstanceTypes", t)
		}
		policy.Overrides = append(policy.Overrides, astypes.LaunchTemplateOverrides{InstanceType: aws.String(t)})
	}
	onDemand := int32(100)
	if ng.CapacityType == ekstypes.CapacityTypesSpot {
		onDemand = 0
	}
	g.MixedInstancesPolicy = &astypes.MixedInstancesPolicy{
		LaunchTemplate: policy,
		InstancesDistribution: &astypes.InstancesDistribution{
			OnDemandAllocationStrategy: aws.String("prioritized"), OnDemandBaseCapacity: aws.Int32(0),
			OnDemandPercentageAboveBaseCapacity: aws.Int32(onDemand), SpotAllocationStrategy: aws.String("price-capacity-optimized"),
		},
	}
	return nil
}
