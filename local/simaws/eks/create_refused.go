package eks

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/state"
)

// refusedNodegroup says what EKS refuses of a nodegroup whose parts exist, but do
// not go together (EKS API reference, CreateNodegroup; user guide, "Customize
// managed nodes with launch templates" and "Subnet requirements for nodes").
func refusedNodegroup(w *state.State, in *eks.CreateNodegroupInput) error {
	bad := func(format string, args ...any) error {
		return wire.Errorf("InvalidParameterException", format, args...)
	}
	c := w.Clusters.Get(*in.ClusterName)
	for _, id := range in.Subnets {
		if v := c.ResourcesVpcConfig; v != nil && v.VpcId != nil && aws.ToString(w.Subnets.Get(id).VpcId) != *v.VpcId {
			return bad("Subnets are not tagged with the required tag or are not in the VPC of the cluster: [%s]", id)
		}
	}
	if in.AmiType != "" && !slices.Contains(in.AmiType.Values(), in.AmiType) {
		return bad("The amiType %s is not valid", in.AmiType)
	}
	if strings.HasPrefix(string(in.AmiType), "AL2_") && !slices.Contains([]string{"1.30", "1.31", "1.32"}, aws.ToString(c.Version)) {
		return bad("Requested AMI type %s is not supported for kubernetes version %s", in.AmiType, aws.ToString(c.Version))
	}
	if in.Version != nil && *in.Version != aws.ToString(c.Version) {
		return bad("Requested Nodegroup version %s is not the version %s of the cluster", *in.Version, aws.ToString(c.Version))
	}
	var data *ec2types.ResponseLaunchTemplateData
	if t := in.LaunchTemplate; t != nil {
		v := w.TemplateVersion(aws.ToString(t.Id), aws.ToString(t.Name), aws.ToString(t.Version))
		if v == nil {
			return bad("Launch template details can't be found: %s", aws.ToString(t.Id)+aws.ToString(t.Name))
		}
		data = v.LaunchTemplateData
	}
	if err := refusedBeside(in, data); err != nil {
		return err
	}
	return refusedArchitecture(w, in)
}

// refusedBeside says what a request may not say beside its launch template.
func refusedBeside(in *eks.CreateNodegroupInput, d *ec2types.ResponseLaunchTemplateData) error {
	bad := func(format string, args ...any) error {
		return wire.Errorf("InvalidParameterException", format, args...)
	}
	custom := d != nil && d.ImageId != nil
	switch {
	case d == nil && in.AmiType == ekstypes.AMITypesCustom:
		return bad("AMI type CUSTOM needs a launch template with an image")
	case d == nil && in.DiskSize != nil && *in.DiskSize < leastDisk(in.AmiType):
		return bad("Volume of size %dGB is smaller than snapshot, expect size >= %dGB", *in.DiskSize, leastDisk(in.AmiType))
	case d == nil:
		return nil
	case in.DiskSize != nil:
		return bad("Disk size must be specified within the launch template.")
	case in.RemoteAccess != nil:
		return bad("Remote access configuration cannot be specified with a launch template.")
	case d.IamInstanceProfile != nil:
		return bad("Launch template should not specify an instance profile. The noderole in your request will be used to construct an instance profile.")
	case d.InstanceType != "" && len(in.InstanceTypes) > 0:
		return bad("Instance types cannot be specified both in the launch template and in the request.")
	case custom && in.AmiType != "" && in.AmiType != ekstypes.AMITypesCustom:
		return bad("You cannot specify the field amiType when using custom AMIs.")
	case custom && in.Version != nil:
		return bad("You cannot specify the field kubernetesVersion when using custom AMIs.")
	}
	return nil
}

// leastDisk is the root volume of EKS's images in GiB.
func leastDisk(t ekstypes.AMITypes) int32 {
	switch {
	case strings.HasPrefix(string(t), "WINDOWS_"):
		return 50
	case strings.HasPrefix(string(t), "BOTTLEROCKET_"):
		return 1
	}
	return 20
}

func refusedArchitecture(w *state.State, in *eks.CreateNodegroupInput) error {
	want := ec2types.ArchitectureType("")
	switch {
	case strings.Contains(string(in.AmiType), "ARM_64"):
		want = ec2types.ArchitectureTypeArm64
	case strings.Contains(string(in.AmiType), "x86_64"):
		want = ec2types.ArchitectureTypeX8664
	}
	for _, t := range in.InstanceTypes {
		if p := w.InstanceTypes.Get(t).ProcessorInfo; want != "" && p != nil && !slices.Contains(p.SupportedArchitectures, want) {
			return wire.Errorf("InvalidParameterException", "[%s] is not a valid instance type for requested amiType %s", t, in.AmiType)
		}
	}
	return nil
}
