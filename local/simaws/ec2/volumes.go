package ec2

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

func volume(w *state.State, id *string) (*ec2types.Volume, error) {
	if v := w.Volumes.Get(aws.ToString(id)); v != nil {
		return v, nil
	}
	return nil, notFound("InvalidVolume.NotFound", "volume")([]string{aws.ToString(id)})
}

// AttachVolume attaches a volume to an instance of its zone.
func (s API) AttachVolume(in *ec2.AttachVolumeInput) (*ec2.AttachVolumeOutput, error) {
	defer s.w.Enter()()
	v, err := volume(s.w, in.VolumeId)
	if err != nil {
		return nil, err
	}
	if err := s.w.AttachVolume(v, aws.ToString(in.InstanceId), aws.ToString(in.Device)); err != nil {
		return nil, err
	}
	a := v.Attachments[len(v.Attachments)-1]
	return &ec2.AttachVolumeOutput{AttachTime: a.AttachTime, Device: a.Device, InstanceId: a.InstanceId, VolumeId: a.VolumeId, State: a.State, DeleteOnTermination: a.DeleteOnTermination}, nil
}

// DetachVolume takes a volume from its instance.
func (s API) DetachVolume(in *ec2.DetachVolumeInput) (*ec2.DetachVolumeOutput, error) {
	defer s.w.Enter()()
	v, err := volume(s.w, in.VolumeId)
	if err != nil {
		return nil, err
	}
	instance := in.InstanceId
	if instance == nil && len(v.Attachments) == 1 {
		instance = v.Attachments[0].InstanceId
	}
	if !state.DetachVolume(v, aws.ToString(instance)) {
		return nil, wire.Errorf("IncorrectState", "Volume '%s' is in the 'available' state.", aws.ToString(v.VolumeId))
	}
	return &ec2.DetachVolumeOutput{InstanceId: instance, VolumeId: v.VolumeId, State: ec2types.VolumeAttachmentStateDetached}, nil
}

// DescribeVolumes lists volumes.
func (s API) DescribeVolumes(in *ec2.DescribeVolumesInput) (*ec2.DescribeVolumesOutput, error) {
	defer s.w.Enter()()
	attached := func(value func(ec2types.VolumeAttachment) *string) func(*ec2types.Volume) []string {
		return func(v *ec2types.Volume) []string { return table.Each(v.Attachments, value) }
	}
	list, next, err := table.Selection[ec2types.Volume]{
		Table: s.w.Volumes, ID: func(v *ec2types.Volume) *string { return v.VolumeId }, IDs: in.VolumeIds,
		Missing: notFound("InvalidVolume.NotFound", "volume"), Filters: in.Filters,
		Hidden: func(v *ec2types.Volume) bool { return hides(s.w, v.Operator, in.IncludeManagedResources) },
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
		out.Volumes[i].Operator = operatorShown(s.w, out.Volumes[i].Operator)
	}
	return out, nil
}
