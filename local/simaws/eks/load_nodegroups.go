package eks

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/autoscaling"
	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/state"
)

// CompleteNodegroup fills in what a nodegroup leaves out.
func CompleteNodegroup(w *state.State, ng *state.Nodegroup, c *ekstypes.Cluster) {
	cluster, name := aws.ToString(ng.ClusterName), aws.ToString(ng.NodegroupName)
	defaults.Set(&ng.NodegroupArn, w.ARN("eks", fmt.Sprintf("nodegroup/%s/%s/%s", cluster, name, w.IDs.UUID())))
	defaults.Set(&ng.Version, aws.ToString(c.Version))
	defaults.Set(&ng.ReleaseVersion, *ng.Version+".1-20261112")
	defaults.Set(&ng.CreatedAt, w.Start.Add(-state.Age))
	defaults.Set(&ng.ModifiedAt, *ng.CreatedAt)
	defaults.SetPlain(&ng.Status, ekstypes.NodegroupStatusActive)
	defaults.SetPlain(&ng.CapacityType, ekstypes.CapacityTypesOnDemand)
	defaults.SetPlain(&ng.AmiType, ekstypes.AMITypesAl2023X8664Standard)
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
	defaults.Set(&ng.DiskSize, 20)
}

// CompleteNodegroupGroup gives a nodegroup the Auto Scaling group and launch
// template that EKS would have made for it.
func CompleteNodegroupGroup(w *state.State, ng *state.Nodegroup, c *ekstypes.Cluster) error {
	if ng.Resources == nil || len(ng.Resources.AutoScalingGroups) == 0 {
		name := "eks-" + aws.ToString(ng.NodegroupName) + "-" + w.IDs.UUID()
		ng.Resources = &ekstypes.NodegroupResources{AutoScalingGroups: []ekstypes.AutoScalingGroup{{Name: aws.String(name)}}}
	}
	for _, a := range ng.Resources.AutoScalingGroups {
		g := w.Groups.Get(aws.ToString(a.Name))
		if g == nil {
			g = &state.Group{Waits: map[string]*state.HookWait{}}
			g.AutoScalingGroupName = a.Name
			g.MinSize, g.MaxSize, g.DesiredCapacity = ng.ScalingConfig.MinSize, ng.ScalingConfig.MaxSize, ng.ScalingConfig.DesiredSize
			g.CreatedTime = ng.CreatedAt
			g.VPCZoneIdentifier = aws.String(strings.Join(ng.Subnets, ","))
			// EKS turns capacity rebalancing on for Spot (EKS user guide, "Managed
			// node group capacity types").
			g.CapacityRebalance = aws.Bool(ng.CapacityType == ekstypes.CapacityTypesSpot)
			autoscaling.PutGroup(w, g)
		}
		nodegroupTags(w, ng, g)
		if g.TemplateSpec() == nil {
			if err := nodegroupTemplate(w, ng, g, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func nodegroupTags(w *state.State, ng *state.Nodegroup, g *state.Group) {
	cluster := aws.ToString(ng.ClusterName)
	for _, t := range [][2]string{
		{"eks:cluster-name", cluster}, {"eks:nodegroup-name", aws.ToString(ng.NodegroupName)},
		{"k8s.io/cluster-autoscaler/" + cluster, "owned"}, {"k8s.io/cluster-autoscaler/enabled", "true"},
		{"kubernetes.io/cluster/" + cluster, "owned"},
	} {
		if g.Tag(t[0]) == "" {
			g.Tags = append(g.Tags, astypes.TagDescription{
				Key: aws.String(t[0]), Value: aws.String(t[1]), PropagateAtLaunch: aws.Bool(true),
				ResourceId: g.AutoScalingGroupName, ResourceType: aws.String("auto-scaling-group"),
			})
		}
	}
}

// nodegroupTemplate makes the template that EKS derives from a nodegroup: the
// cluster's security group, the role's profile and the image of the release.
func nodegroupTemplate(w *state.State, ng *state.Nodegroup, g *state.Group, c *ekstypes.Cluster) error {
	uuid := strings.TrimPrefix(g.Name(), "eks-"+aws.ToString(ng.NodegroupName)+"-")
	data := &ec2types.ResponseLaunchTemplateData{
		InstanceType: ec2types.InstanceType(ng.InstanceTypes[0]),
		ImageId:      aws.String(nodegroupImage(w, ng)),
		UserData:     aws.String(nodeConfig(c)),
		MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptions{
			HttpTokens: ec2types.LaunchTemplateHttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(2),
		},
	}
	if v := c.ResourcesVpcConfig; v != nil && v.ClusterSecurityGroupId != nil {
		data.SecurityGroupIds = []string{*v.ClusterSecurityGroupId}
	}
	role := aws.ToString(ng.NodeRole)
	for _, p := range w.Profiles.All() {
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
		LaunchTemplateId: aws.String(w.IDs.EC2("lt")), LaunchTemplateName: aws.String("eks-" + uuid),
		VersionNumber: aws.Int64(1), DefaultVersion: aws.Bool(true), CreateTime: ng.CreatedAt,
		CreatedBy:          aws.String(fmt.Sprintf("arn:aws:sts::%s:assumed-role/AWSServiceRoleForAmazonEKSNodegroup/EKS", w.Account)),
		LaunchTemplateData: data,
	}
	w.AddTemplateVersion(v)
	spec := &astypes.LaunchTemplateSpecification{LaunchTemplateId: v.LaunchTemplateId, LaunchTemplateName: v.LaunchTemplateName, Version: aws.String("1")}
	policy := &astypes.LaunchTemplate{LaunchTemplateSpecification: spec}
	for _, t := range ng.InstanceTypes {
		if w.InstanceTypes.Get(t) == nil {
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
