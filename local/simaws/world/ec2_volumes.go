package world

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
)

// loadVolumes fills in what AWS would show, and holds that a volume is attached
// in its own zone.
func (w *World) loadVolumes(*worldfile.File) error {
	var errs []error
	for _, v := range w.volumes.All() {
		or(&v.AvailabilityZone, "")
		or(&v.CreateTime, w.start.Add(-long))
		or(&v.Size, 8)
		or(&v.Encrypted, false)
		or(&v.MultiAttachEnabled, false)
		orZero(&v.VolumeType, ec2types.VolumeTypeGp3)
		if *v.AvailabilityZone == "" {
			errs = append(errs, fmt.Errorf("ec2.Volumes %s has no zone", *v.VolumeId))
			continue
		}
		or(&v.AvailabilityZoneId, ids.ZoneID(*v.AvailabilityZone))
		attachments := v.Attachments
		v.Attachments = []ec2types.VolumeAttachment{}
		for _, a := range attachments {
			if err := w.attachVolume(v, aws.ToString(a.InstanceId), aws.ToString(a.Device)); err != nil {
				errs = append(errs, fmt.Errorf("ec2.Volumes %s: %w", *v.VolumeId, err))
			}
		}
		orZero(&v.State, ec2types.VolumeStateAvailable)
	}
	return errors.Join(errs...)
}

func (w *World) volume(id *string) (*ec2types.Volume, error) {
	if v := w.volumes.Get(aws.ToString(id)); v != nil {
		return v, nil
	}
	return nil, notFound("InvalidVolume.NotFound", "volume")([]string{aws.ToString(id)})
}

// attachVolume attaches a volume to an instance of its zone.
func (w *World) attachVolume(v *ec2types.Volume, instance, device string) error {
	in := w.instances.Get(instance)
	switch {
	case in == nil:
		return wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", instance)
	case ended(in):
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
		AttachTime: aws.Time(w.now), Device: aws.String(device), InstanceId: aws.String(instance), VolumeId: v.VolumeId,
		State: ec2types.VolumeAttachmentStateAttached, DeleteOnTermination: aws.Bool(false),
	})
	return nil
}

// detachVolumes gives up all attachments to an instance.
func (w *World) detachVolumes(instance string) {
	for _, v := range w.volumes.All() {
		detach(v, instance)
	}
}

func detach(v *ec2types.Volume, instance string) bool {
	before := len(v.Attachments)
	v.Attachments = slices.DeleteFunc(v.Attachments, func(a ec2types.VolumeAttachment) bool { return aws.ToString(a.InstanceId) == instance })
	if len(v.Attachments) == 0 && v.State == ec2types.VolumeStateInUse {
		v.State = ec2types.VolumeStateAvailable
	}
	return len(v.Attachments) < before
}

// AttachVolume attaches a volume to an instance of its zone.
func (s EC2) AttachVolume(in *ec2.AttachVolumeInput) (*ec2.AttachVolumeOutput, error) {
	defer s.w.enter()()
	v, err := s.w.volume(in.VolumeId)
	if err != nil {
		return nil, err
	}
	if err := s.w.attachVolume(v, aws.ToString(in.InstanceId), aws.ToString(in.Device)); err != nil {
		return nil, err
	}
	a := v.Attachments[len(v.Attachments)-1]
	return &ec2.AttachVolumeOutput{AttachTime: a.AttachTime, Device: a.Device, InstanceId: a.InstanceId, VolumeId: a.VolumeId, State: a.State, DeleteOnTermination: a.DeleteOnTermination}, nil
}

// DetachVolume takes a volume from its instance.
func (s EC2) DetachVolume(in *ec2.DetachVolumeInput) (*ec2.DetachVolumeOutput, error) {
	defer s.w.enter()()
	v, err := s.w.volume(in.VolumeId)
	if err != nil {
		return nil, err
	}
	instance := in.InstanceId
	if instance == nil && len(v.Attachments) == 1 {
		instance = v.Attachments[0].InstanceId
	}
	if !detach(v, aws.ToString(instance)) {
		return nil, wire.Errorf("IncorrectState", "Volume '%s' is in the 'available' state.", aws.ToString(v.VolumeId))
	}
	return &ec2.DetachVolumeOutput{InstanceId: instance, VolumeId: v.VolumeId, State: ec2types.VolumeAttachmentStateDetached}, nil
}

// DescribeVolumes lists volumes.
func (s EC2) DescribeVolumes(in *ec2.DescribeVolumesInput) (*ec2.DescribeVolumesOutput, error) {
	defer s.w.enter()()
	attached := func(value func(ec2types.VolumeAttachment) *string) func(*ec2types.Volume) []string {
		return func(v *ec2types.Volume) []string { return table.Each(v.Attachments, value) }
	}
	list, next, err := table.Selection[ec2types.Volume]{
		Table: s.w.volumes, ID: func(v *ec2types.Volume) *string { return v.VolumeId }, IDs: in.VolumeIds,
		Missing: notFound("InvalidVolume.NotFound", "volume"), Filters: in.Filters,
		Hidden: func(v *ec2types.Volume) bool { return s.w.hides(v.Operator, in.IncludeManagedResources) },
		Known: operatorFilters(table.Filters[ec2types.Volume]{
			"volume-id":              func(v *ec2types.Volume) []string { return table.One(v.VolumeId) },
			"volume-type":            func(v *ec2types.Volume) []string { return []string{string(v.VolumeType)} },
			"status":                 func(v *ec2types.Volume) []string { return []string{string(v.State)} },
			"availability-zone":      func(v *ec2types.Volume) []string { return table.One(v.AvailabilityZone) },
			"availability-zone-id":   func(v *ec2types.Volume) []string { return table.One(v.AvailabilityZoneId) },
			"encrypted":              func(v *ec2types.Volume) []string { return table.YesNo(v.Encrypted) },
			"multi-attach-enabled":   func(v *ec2types.Volume) []string { return table.YesNo(v.MultiAttachEnabled) },
			"size":                   func(v *ec2types.Volume) []string { return []string{strconv.Itoa(int(aws.ToInt32(v.Size)))} },
			"snapshot-id":            func(v *ec2types.Volume) []string { return table.One(v.SnapshotId) },
			"attachment.instance-id": attached(func(a ec2types.VolumeAttachment) *string { return a.InstanceId }),
			"attachment.device":      attached(func(a ec2types.VolumeAttachment) *string { return a.Device }),
			"attachment.status":      attached(func(a ec2types.VolumeAttachment) *string { return aws.String(string(a.State)) }),
		}, func(v *ec2types.Volume) *ec2types.OperatorResponse { return v.Operator }),
		Tags: func(v *ec2types.Volume) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage, IDsBarPaging: "volumeIds",
	}.Run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeVolumesOutput{Volumes: deepcopy.Each(list), NextToken: next}
	for i := range out.Volumes {
		out.Volumes[i].Operator = s.w.operatorShown(out.Volumes[i].Operator)
	}
	return out, nil
}
