package world

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/worldfile"
)

// EKS Auto Mode's nodes, as an account shows them:
//   - Instance, interfaces and volumes are managed by eks.amazonaws.com, and no
//     Auto Scaling group has them.
//   - The tags are those that AmazonEKSComputePolicy and AmazonEKSNetworkingPolicy
//     let the cluster's role set: eks:eks-cluster-name,
//     eks:kubernetes-node-pool-name, eks:kubernetes-node-class-name and
//     kubernetes.io/cluster/<name> on what a fleet starts, eks:eks-cluster-name
//     and eks:kubernetes-cni-node-name on interfaces. None is karpenter.sh's.
//   - The node is called as the instance (aws/aws-cdk#33373), bears the label
//     eks.amazonaws.com/compute-type=auto, and takes at most 110 pods (EKS user
//     guide, "Automate cluster infrastructure with EKS Auto Mode").
//   - The network plugin, kube-proxy and CoreDNS are parts of the system: there
//     is no pod of aws-node. Pods get addresses out of /28 prefixes, single
//     ones where a subnet has no /28 left.
const (
	tagAutoCluster  = "eks:eks-cluster-name"
	tagAutoNodePool = "eks:kubernetes-node-pool-name"
	tagAutoClass    = "eks:kubernetes-node-class-name"
	tagAutoNode     = "eks:kubernetes-cni-node-name"
	// autoModePods is the most pods of an Auto Mode node.
	autoModePods = "110"
)

// isAutoMode tells that EKS Auto Mode runs an instance.
func isAutoMode(in *ec2types.Instance) bool {
	return isManaged(in.Operator) && aws.ToString(in.Operator.Principal) == autoModePrincipal
}

// nodeName is what the Node of an instance is called.
func nodeName(in *ec2types.Instance) string {
	if isAutoMode(in) {
		return aws.ToString(in.InstanceId)
	}
	return aws.ToString(in.PrivateDnsName)
}

// loadManaged makes the managed parts of the managed instances that the file
// lists.
func (w *World) loadManaged(*worldfile.File) error {
	var errs []error
	for _, in := range w.instances.All() {
		if in.Operator != nil && in.Operator.Principal != nil {
			in.Operator.Managed = aws.Bool(true)
		}
		if !isManaged(in.Operator) || ended(in) {
			continue
		}
		if err := w.manageParts(in); err != nil {
			errs = append(errs, fmt.Errorf("ec2.Instances %s: %w", aws.ToString(in.InstanceId), err))
		}
	}
	return errors.Join(errs...)
}

// manageParts gives a managed instance its managed volumes, and makes its
// interfaces managed.
func (w *World) manageParts(in *ec2types.Instance) error {
	id := aws.ToString(in.InstanceId)
	for _, eni := range w.interfacesOf(id) {
		eni.Operator = deepcopy.Of(in.Operator)
		if isAutoMode(in) && len(eni.TagSet) == 0 {
			cluster := w.clusterOf(id)
			eni.TagSet = []ec2types.Tag{
				{Key: aws.String(tagAutoCluster), Value: aws.String(cluster)}, {Key: aws.String(tagAutoNode), Value: aws.String(id)},
				{Key: aws.String("kubernetes.io/cluster/" + cluster), Value: aws.String("owned")},
			}
		}
	}
	if slices.ContainsFunc(w.volumes.All(), func(v *ec2types.Volume) bool {
		return slices.ContainsFunc(v.Attachments, func(a ec2types.VolumeAttachment) bool { return aws.ToString(a.InstanceId) == id })
	}) {
		return nil
	}
	// Bottlerocket's two disks: the system's, and the data's, which the
	// NodeClass sizes (ephemeralStorage.size, 80Gi where it says nothing).
	for _, disk := range []struct {
		device string
		gib    int32
	}{{"/dev/xvda", 4}, {"/dev/xvdb", 80}} {
		v := &ec2types.Volume{
			VolumeId: aws.String(w.ids.EC2("vol")), AvailabilityZone: in.Placement.AvailabilityZone, AvailabilityZoneId: in.Placement.AvailabilityZoneId,
			CreateTime: in.LaunchTime, Size: aws.Int32(disk.gib), VolumeType: ec2types.VolumeTypeGp3, Encrypted: aws.Bool(true),
			MultiAttachEnabled: aws.Bool(false), Operator: deepcopy.Of(in.Operator), Tags: slices.Clone(in.Tags), State: ec2types.VolumeStateAvailable,
		}
		w.volumes.Put(*v.VolumeId, v)
		if err := w.attachVolume(v, id, disk.device); err != nil {
			return err
		}
		v.Attachments[0].DeleteOnTermination, v.Attachments[0].AttachTime = aws.Bool(true), in.LaunchTime
		in.BlockDeviceMappings = append(in.BlockDeviceMappings, ec2types.InstanceBlockDeviceMapping{
			DeviceName: aws.String(disk.device),
			Ebs: &ec2types.EbsInstanceBlockDevice{
				AttachTime: in.LaunchTime, DeleteOnTermination: aws.Bool(true), Status: ec2types.AttachmentStatusAttached, VolumeId: v.VolumeId,
				Operator: deepcopy.Of(in.Operator),
			},
		})
	}
	return nil
}

// dropVolumes deletes the volumes that go with an instance.
func (w *World) dropVolumes(instance string) {
	for _, v := range w.volumes.All() {
		if slices.ContainsFunc(v.Attachments, func(a ec2types.VolumeAttachment) bool {
			return aws.ToString(a.InstanceId) == instance && aws.ToBool(a.DeleteOnTermination)
		}) {
			w.volumes.Remove(aws.ToString(v.VolumeId))
		}
	}
}

// refusedByOperator is EC2's refusal of a customer who would end a managed
// instance (aws/eks-node-monitoring-agent#151): its Node object is what a
// customer deletes.
func refusedByOperator(in *ec2types.Instance) error {
	if !isManaged(in.Operator) {
		return nil
	}
	return wire.Errorf("UnauthorizedOperation", "You are not authorized to perform this operation. "+
		"The instance %s is managed by %s: ec2:TerminateInstances is denied with an explicit deny in a resource-based policy.",
		aws.ToString(in.InstanceId), aws.ToString(in.Operator.Principal))
}

// autoModeLabels are the labels of an Auto Mode node beside every node's.
func autoModeLabels(in *ec2types.Instance) map[string]string {
	capacity := "on-demand"
	if in.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot {
		capacity = "spot"
	}
	return map[string]string{
		"eks.amazonaws.com/compute-type": "auto", "eks.amazonaws.com/nodeclass": tagValue(in.Tags, tagAutoClass),
		"karpenter.sh/capacity-type": capacity, "karpenter.sh/initialized": "true", "karpenter.sh/nodepool": tagValue(in.Tags, tagAutoNodePool),
		"karpenter.sh/registered": "true",
	}
}

// startAutoModeNetwork gives an Auto Mode node addresses for pods; false where
// the subnet has none.
func (w *World) startAutoModeNetwork(in *ec2types.Instance) bool {
	interfaces := w.interfacesOf(aws.ToString(in.InstanceId))
	if len(interfaces) == 0 {
		return false
	}
	eni := interfaces[0]
	p := w.pools[aws.ToString(eni.SubnetId)]
	if len(eni.Ipv4Prefixes) > 0 || len(eni.PrivateIpAddresses) > 1 || p == nil {
		return true
	}
	return w.assign(p, eni, 1, true) || w.assign(p, eni, 1, false)
}
