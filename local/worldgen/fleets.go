package worldgen

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// nodeRange holds the public addresses of nodes in public subnets.
const nodeRange = "192.0.2.0/24"

// console is what a node's console says once the kubelet runs, whatever
// becomes of it then.
const console = `[    0.000000] Linux version 6.12.46
[   12.410021] cloud-init[1571]: Cloud-init v. 22.2.2 finished.
[  OK  ] Started containerd.service - containerd container runtime.
[  OK  ] Started kubelet.service - Kubernetes Kubelet.
login: `

// fleet is a group of instances in the making.
type fleet struct {
	name   string
	kind   Fleet
	image  Image
	ami    string
	role   string
	data   string
	launch time.Time
	spot   bool
}

// makeFleets makes the young instances and the veterans, with their groups.
func (w *World) makeFleets() {
	w.image = w.makeImage(w.Shape.Image)
	w.nodegroup = "workers"
	young := fleet{
		name: w.nodegroup, kind: w.Shape.Fleet, image: w.Shape.Image, ami: w.image, role: "workers",
		data: userData(w.Shape.Image, w.start()), launch: w.now().Add(-Age), spot: w.Shape.Spot,
	}
	w.group, w.template = w.makeFleet(young, w.Shape.Young, &w.Young)
	if w.Shape.Veterans == 0 {
		return
	}
	image := Image(AL2023)
	if w.Shape.Image == AL2 {
		image = AL2
	}
	w.makeFleet(fleet{
		name: "base", kind: ManagedGroup, image: image, ami: w.makeImage(image), role: "base",
		data: userData(image, w.start()), launch: w.now().Add(-30 * 24 * time.Hour),
	}, w.Shape.Veterans, &w.Veterans)
}

func (w *World) makeImage(image Image) string {
	id := w.id("ami")
	i := ec2types.Image{
		ImageId: &id, Architecture: ec2types.ArchitectureValuesX8664, ImageOwnerAlias: aws.String("amazon"), OwnerId: aws.String("602401143452"),
		State: ec2types.ImageStateAvailable, Public: aws.Bool(true), RootDeviceName: aws.String("/dev/xvda"), RootDeviceType: ec2types.DeviceTypeEbs,
	}
	switch image {
	case AL2:
		i.Name = aws.String("amazon-eks-node-" + w.version + "-v20251007")
	case Bottlerocket:
		i.Name = aws.String("bottlerocket-aws-k8s-" + w.version + "-x86_64-v1.50.0-9a1d2c3e")
	case Windows:
		i.Name = aws.String("Windows_Server-2022-English-Core-EKS_Optimized-" + w.version + "-2026.11.12")
		i.Platform = ec2types.PlatformValuesWindows
	case AutoImage:
		i.Name = aws.String("eks-auto-standard-" + w.version + "-x86_64-20261112")
	default:
		i.Name = aws.String("amazon-eks-node-al2023-x86_64-standard-" + w.version + "-v20261112")
	}
	w.File.EC2.Images = append(w.File.EC2.Images, i)
	return id
}

// makeFleet makes a group with its template and n instances.
func (w *World) makeFleet(f fleet, n int, ids *[]string) (group, template string) {
	switch f.kind {
	case Karpenter:
	case AutoMode:
		template = w.makeTemplate(f)
		w.manage(template)
	default:
		template = w.makeTemplate(f)
		group = f.name + "-asg"
		if f.kind == ManagedGroup {
			group = "eks-" + f.name + "-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"
		}
	}
	for i := range n {
		*ids = append(*ids, w.makeInstance(f, group, template, i))
	}
	if group == "" {
		return "", ""
	}
	w.makeGroup(f, group, template, *ids)
	if f.kind == ManagedGroup {
		w.makeNodegroup(f, group, n)
	}
	return group, template
}

// templateData is what a launch template of a fleet says.
func (w *World) templateData(f fleet) *ec2types.ResponseLaunchTemplateData {
	return &ec2types.ResponseLaunchTemplateData{
		ImageId: &f.ami, InstanceType: instanceType, UserData: &f.data, SecurityGroupIds: []string{w.nodeGroup},
		IamInstanceProfile: &ec2types.LaunchTemplateIamInstanceProfileSpecification{Name: aws.String(f.role + "-profile")},
		MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptions{
			HttpEndpoint: ec2types.LaunchTemplateInstanceMetadataEndpointStateEnabled, HttpTokens: ec2types.LaunchTemplateHttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(2),
		},
	}
}

const instanceType = ec2types.InstanceTypeM5Large

func (w *World) makeTemplate(f fleet) string {
	return w.addTemplate(f.name+"-template", w.templateData(f))
}

func (w *World) addTemplate(name string, data *ec2types.ResponseLaunchTemplateData) string {
	id := w.id("lt")
	w.File.EC2.LaunchTemplates = append(w.File.EC2.LaunchTemplates, ec2types.LaunchTemplate{
		LaunchTemplateId: &id, LaunchTemplateName: &name, DefaultVersionNumber: aws.Int64(1), LatestVersionNumber: aws.Int64(1), CreateTime: w.long(),
	})
	w.File.EC2.LaunchTemplateVersions = append(w.File.EC2.LaunchTemplateVersions, ec2types.LaunchTemplateVersion{
		LaunchTemplateId: &id, LaunchTemplateName: &name, VersionNumber: aws.Int64(1), DefaultVersion: aws.Bool(true), CreateTime: w.long(), LaunchTemplateData: data,
	})
	return id
}

func (w *World) makeInstance(f fleet, group, template string, n int) string {
	id := w.id("i")
	subnet := w.subnet(w.Subnets[n%len(w.Subnets)])
	in := ec2types.Instance{
		InstanceId: &id, InstanceType: instanceType, ImageId: &f.ami, SubnetId: subnet.SubnetId, LaunchTime: aws.Time(f.launch.Add(time.Duration(n) * time.Second)),
		PrivateIpAddress: aws.String(address(*subnet.CidrBlock, 20+len(w.File.EC2.Instances))), State: &ec2types.InstanceState{Name: ec2types.InstanceStateNameRunning, Code: aws.Int32(16)},
		SecurityGroups:     []ec2types.GroupIdentifier{{GroupId: &w.nodeGroup}},
		IamInstanceProfile: &ec2types.IamInstanceProfile{Arn: aws.String("arn:aws:iam::" + account + ":instance-profile/" + f.role + "-profile")},
		MetadataOptions: &ec2types.InstanceMetadataOptionsResponse{
			HttpEndpoint: ec2types.InstanceMetadataEndpointStateEnabled, HttpTokens: ec2types.HttpTokensStateRequired,
			HttpPutResponseHopLimit: aws.Int32(2), State: ec2types.InstanceMetadataOptionsStateApplied,
		},
		Tags: w.instanceTags(f, group, template),
	}
	in.PrivateDnsName = aws.String("ip-" + strings.ReplaceAll(*in.PrivateIpAddress, ".", "-") + "." + region + ".compute.internal")
	if f.image == Windows {
		in.Platform = ec2types.PlatformValuesWindows
	}
	if f.spot {
		in.InstanceLifecycle = ec2types.InstanceLifecycleTypeSpot
	}
	if !w.Shape.private() {
		in.PublicIpAddress = aws.String(fmt.Sprintf("192.0.2.%d", 10+len(w.File.EC2.Instances)))
	}
	if f.kind == AutoMode {
		in.Operator = operator()
		in.MetadataOptions.HttpPutResponseHopLimit = aws.Int32(1)
	}
	w.File.EC2.Instances = append(w.File.EC2.Instances, in)
	if f.data != "" {
		w.File.EC2.UserData[id] = f.data
	}
	w.File.EC2.ConsoleOutput[id] = console
	return id
}

func (w *World) instanceTags(f fleet, group, template string) []ec2types.Tag {
	tags := []ec2types.Tag{tag("kubernetes.io/cluster/"+cluster, "owned"), tag("Name", f.name)}
	switch f.kind {
	case AutoMode:
		tags = append(tags, tag("eks:eks-cluster-name", cluster), tag("eks:kubernetes-node-pool-name", f.name), tag("eks:kubernetes-node-class-name", nodeClass),
			tag("aws:ec2launchtemplate:id", template), tag("aws:ec2launchtemplate:version", "1"))
	case ManagedGroup:
		tags = append(tags, tag("eks:cluster-name", cluster), tag("eks:nodegroup-name", f.name))
	case Karpenter:
		tags = append(tags, tag("karpenter.sh/nodepool", f.name), tag("karpenter.k8s.aws/ec2nodeclass", nodeClass), tag("eks:eks-cluster-name", cluster))
	}
	if group != "" {
		tags = append(tags, tag("aws:autoscaling:groupName", group), tag("aws:ec2launchtemplate:id", template), tag("aws:ec2launchtemplate:version", "1"))
	}
	return tags
}

func (w *World) makeGroup(f fleet, name, template string, ids []string) {
	n := aws.Int32(int32(len(ids)))
	spec := &astypes.LaunchTemplateSpecification{LaunchTemplateId: &template, Version: aws.String("1")}
	g := astypes.AutoScalingGroup{
		AutoScalingGroupName: &name, MinSize: aws.Int32(0), MaxSize: aws.Int32(*n + 3), DesiredCapacity: n, VPCZoneIdentifier: aws.String(strings.Join(w.Subnets, ",")), CreatedTime: w.long(),
		Tags: []astypes.TagDescription{
			{Key: aws.String("kubernetes.io/cluster/" + cluster), Value: aws.String("owned"), PropagateAtLaunch: aws.Bool(true)},
			{Key: aws.String("Name"), Value: &f.name, PropagateAtLaunch: aws.Bool(true)},
		},
	}
	if f.kind == ManagedGroup {
		g.Tags = append(g.Tags, astypes.TagDescription{Key: aws.String("eks:cluster-name"), Value: aws.String(cluster)}, astypes.TagDescription{Key: aws.String("eks:nodegroup-name"), Value: &f.name})
		g.MixedInstancesPolicy = &astypes.MixedInstancesPolicy{LaunchTemplate: &astypes.LaunchTemplate{
			LaunchTemplateSpecification: spec, Overrides: []astypes.LaunchTemplateOverrides{{InstanceType: aws.String(string(instanceType))}},
		}}
	} else {
		g.LaunchTemplate = spec
	}
	for _, id := range ids {
		g.Instances = append(g.Instances, astypes.Instance{InstanceId: aws.String(id), LaunchTemplate: spec})
		in := w.instance(id)
		w.File.AutoScaling.Activities = append(w.File.AutoScaling.Activities, astypes.Activity{
			ActivityId: aws.String("a" + id[2:]), AutoScalingGroupName: &name, StatusCode: astypes.ScalingActivityStatusCodeSuccessful, Progress: aws.Int32(100),
			Description: aws.String("Launching a new EC2 instance: " + id), StartTime: in.LaunchTime, EndTime: aws.Time(in.LaunchTime.Add(20 * time.Second)),
			Cause:   aws.String("An instance was started in response to a difference between desired and actual capacity, increasing the capacity from 0 to 1."),
			Details: aws.String(fmt.Sprintf(`{"Subnet ID":%q,"Availability Zone":%q}`, *in.SubnetId, *w.subnet(*in.SubnetId).AvailabilityZone)),
		})
	}
	if w.Shape.WarmPool && f.name == w.nodegroup {
		w.File.AutoScaling.WarmPools = map[string]astypes.WarmPoolConfiguration{name: {MinSize: aws.Int32(0), PoolState: astypes.WarmPoolStateStopped}}
	}
	w.File.AutoScaling.AutoScalingGroups = append(w.File.AutoScaling.AutoScalingGroups, g)
}

func (w *World) makeNodegroup(f fleet, group string, n int) {
	kinds := map[Image]ekstypes.AMITypes{
		AL2023: ekstypes.AMITypesAl2023X8664Standard, AL2: ekstypes.AMITypesAl2X8664,
		Bottlerocket: ekstypes.AMITypesBottlerocketX8664, Windows: ekstypes.AMITypesWindowsCore2022X8664,
	}
	ng := ekstypes.Nodegroup{
		ClusterName: aws.String(cluster), NodegroupName: &f.name, Status: ekstypes.NodegroupStatusActive, AmiType: kinds[f.image], Version: &w.version,
		ReleaseVersion: aws.String(w.version + ".1-20261112"), CapacityType: ekstypes.CapacityTypesOnDemand, InstanceTypes: []string{string(instanceType)},
		NodeRole: w.roleNamed(f.role).Arn, Subnets: w.Subnets, CreatedAt: w.long(),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(int32(n + 3)), DesiredSize: aws.Int32(int32(n))},
		Resources:     &ekstypes.NodegroupResources{AutoScalingGroups: []ekstypes.AutoScalingGroup{{Name: &group}}},
	}
	if f.spot {
		ng.CapacityType = ekstypes.CapacityTypesSpot
	}
	if w.Shape.Template || w.Shape.Groups != ClusterGroup {
		// What the customer gave: EKS's own template is made of it.
		given := &ec2types.ResponseLaunchTemplateData{MetadataOptions: w.templateData(f).MetadataOptions}
		if w.Shape.Groups != ClusterGroup {
			given.SecurityGroupIds = []string{w.nodeGroup}
		}
		id := w.addTemplate(f.name+"-given", given)
		ng.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: &id, Version: aws.String("1")}
	}
	w.File.EKS.Nodegroups = append(w.File.EKS.Nodegroups, ng)
}
