package state

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
)

const tagAutoCluster = "eks:eks-cluster-name"

const tagAutoNode = "eks:kubernetes-cni-node-name"

// AttachVolume attaches a volume to an instance of its zone.
func (w *State) AttachVolume(v *ec2types.Volume, instance, device string) error {
	in := w.Instances.Get(instance)
	switch {
	case in == nil:
		return wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", instance)
	case Ended(in):
		return wire.Errorf("IncorrectState", "Instance '%s' is not 'running'.", instance)
	case aws.ToString(in.Placement.AvailabilityZone) != aws.ToString(v.AvailabilityZone):
		return wire.Errorf("InvalidVolume.ZoneMismatch", "The volume '%s' is not in the same availability zone as instance '%s'", aws.ToString(v.VolumeId), instance)
	case len(v.Attachments) > 0 && !aws.ToBool(v.MultiAttachEnabled):
		return wire.Errorf("VolumeInUse", "%s is already attached to an instance", aws.ToString(v.VolumeId))
	case v.State != "" && v.State != ec2types.VolumeStateAvailable && v.State != ec2types.VolumeStateInUse:
		return wire.Errorf("IncorrectState", "Volume '%s' is in the '%s' state, and must be 'available' or 'in-use'.", aws.ToString(v.VolumeId), v.State)
	}
	if device == "" {
		device = "/dev/xvdaa"
	}
	v.State = ec2types.VolumeStateInUse
	v.Attachments = append(v.Attachments, ec2types.VolumeAttachment{
		AttachTime: aws.Time(w.Now), Device: aws.String(device), InstanceId: aws.String(instance), VolumeId: v.VolumeId,
		State: ec2types.VolumeAttachmentStateAttached, DeleteOnTermination: aws.Bool(false),
	})
	return nil
}

// ManageParts gives a managed instance its managed volumes, and makes its
// interfaces managed.
func (w *State) ManageParts(in *ec2types.Instance) error {
	id := aws.ToString(in.InstanceId)
	for _, eni := range w.InterfacesOf(id) {
		eni.Operator = deepcopy.Of(in.Operator)
		if IsAutoMode(in) && len(eni.TagSet) == 0 {
			cluster := w.ClusterOf(id)
			eni.TagSet = []ec2types.Tag{
				{Key: aws.String(tagAutoCluster), Value: aws.String(cluster)}, {Key: aws.String(tagAutoNode), Value: aws.String(id)},
				{Key: aws.String("kubernetes.io/cluster/" + cluster), Value: aws.String("owned")},
			}
		}
	}
	if slices.ContainsFunc(w.Volumes.All(), func(v *ec2types.Volume) bool {
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
			VolumeId: aws.String(w.IDs.EC2("vol")), AvailabilityZone: in.Placement.AvailabilityZone, AvailabilityZoneId: in.Placement.AvailabilityZoneId,
			CreateTime: in.LaunchTime, Size: aws.Int32(disk.gib), VolumeType: ec2types.VolumeTypeGp3, Encrypted: aws.Bool(true),
			MultiAttachEnabled: aws.Bool(false), Operator: deepcopy.Of(in.Operator), Tags: slices.Clone(in.Tags), State: ec2types.VolumeStateAvailable,
		}
		w.Volumes.Put(*v.VolumeId, v)
		if err := w.AttachVolume(v, id, disk.device); err != nil {
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

// DetachVolumes gives up all attachments to an instance.
func (w *State) DetachVolumes(instance string) {
	for _, v := range w.Volumes.All() {
		DetachVolume(v, instance)
	}
}

// DetachVolume takes a volume from an instance; false where it was not attached.
func DetachVolume(v *ec2types.Volume, instance string) bool {
	before := len(v.Attachments)
	v.Attachments = slices.DeleteFunc(v.Attachments, func(a ec2types.VolumeAttachment) bool { return aws.ToString(a.InstanceId) == instance })
	if len(v.Attachments) == 0 && v.State == ec2types.VolumeStateInUse {
		v.State = ec2types.VolumeStateAvailable
	}
	return len(v.Attachments) < before
}

// DropVolumes deletes the volumes that go with an instance.
func (w *State) DropVolumes(instance string) {
	for _, v := range w.Volumes.All() {
		if slices.ContainsFunc(v.Attachments, func(a ec2types.VolumeAttachment) bool {
			return aws.ToString(a.InstanceId) == instance && aws.ToBool(a.DeleteOnTermination)
		}) {
			w.Volumes.Remove(aws.ToString(v.VolumeId))
		}
	}
}
