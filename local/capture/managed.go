package capture

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/local/platform/wire"
)

// visibilityFile tells how the account's setting is.
const visibilityFile = "ec2-get-managed-resource-visibility"

// GetManagedResourceVisibility answers with the account's setting.
func (a API) GetManagedResourceVisibility(*ec2.GetManagedResourceVisibilityInput) (*ec2.GetManagedResourceVisibilityOutput, error) {
	return read[ec2.GetManagedResourceVisibilityOutput](a.c, visibilityFile)
}

// GetAllowedImagesSettings answers with the account's Allowed AMIs.
func (a API) GetAllowedImagesSettings(*ec2.GetAllowedImagesSettingsInput) (*ec2.GetAllowedImagesSettingsOutput, error) {
	return read[ec2.GetAllowedImagesSettingsOutput](a.c, "ec2-get-allowed-images-settings")
}

// GetInstanceMetadataDefaults answers with the account's metadata defaults.
func (a API) GetInstanceMetadataDefaults(*ec2.GetInstanceMetadataDefaultsInput) (*ec2.GetInstanceMetadataDefaultsOutput, error) {
	return read[ec2.GetInstanceMetadataDefaultsOutput](a.c, "ec2-get-instance-metadata-defaults")
}

// lacksManaged tells that EC2's lists may lack what AWS services manage: EKS Auto
// Mode runs nodes, nothing that it manages is in the capture, and the account's
// setting hides it, or is not told.
func (c *Capture) lacksManaged() bool {
	if out, told := c.files[visibilityFile].(*ec2.GetManagedResourceVisibilityOutput); told && out.Visibility != nil &&
		out.Visibility.DefaultVisibility == ec2types.ManagedResourceDefaultVisibilityVisible {
		return false
	}
	auto := false
	for _, file := range c.files {
		switch out := file.(type) {
		case *eks.DescribeClusterOutput:
			auto = auto || out.Cluster != nil && out.Cluster.ComputeConfig != nil && aws.ToBool(out.Cluster.ComputeConfig.Enabled)
		case *ec2.DescribeInstancesOutput:
			for _, r := range out.Reservations {
				if slices.ContainsFunc(r.Instances, func(in ec2types.Instance) bool { return managed(in.Operator) }) {
					return false
				}
			}
		case *ec2.DescribeNetworkInterfacesOutput:
			if slices.ContainsFunc(out.NetworkInterfaces, func(n ec2types.NetworkInterface) bool { return managed(n.Operator) }) {
				return false
			}
		}
	}
	return auto
}

func managed(o *ec2types.OperatorResponse) bool { return o != nil && aws.ToBool(o.Managed) }

// WithoutManaged is what such a capture is.
const WithoutManaged = "EKS Auto Mode runs nodes, and the capture has nothing that it manages (take it with --include-managed-resources)"

// unseen refuses to tell of instances that a filter names by id and the capture
// does not hold, where it may lack them: that EC2 does not know them is not said.
func (c *Capture) unseen(filters []ec2types.Filter, list []ec2types.Instance) error {
	if !c.lacksManaged() {
		return nil
	}
	for _, f := range filters {
		if aws.ToString(f.Name) != "instance-id" {
			continue
		}
		for _, id := range f.Values {
			if !slices.ContainsFunc(list, func(in ec2types.Instance) bool { return aws.ToString(in.InstanceId) == id }) {
				return wire.Errorf(NotCaptured, "%s: %s may be hidden", WithoutManaged, id)
			}
		}
	}
	return nil
}

// uncounted refuses to give all interfaces of a VPC where some may be lacking:
// what they hold would look free.
func (c *Capture) uncounted(filters []ec2types.Filter) error {
	if !c.lacksManaged() || slices.ContainsFunc(filters, func(f ec2types.Filter) bool { return aws.ToString(f.Name) != "vpc-id" }) {
		return nil
	}
	return wire.Errorf(NotCaptured, "%s: its interfaces may be hidden", WithoutManaged)
}
