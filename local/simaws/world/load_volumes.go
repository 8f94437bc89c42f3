package world

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// loadVolumes fills in what AWS would show, and holds that a volume is attached
// in its own zone.
func loadVolumes(w *state.State, _ *worldfile.File) error {
	var errs []error
	for _, v := range w.Volumes.All() {
		defaults.Set(&v.AvailabilityZone, "")
		defaults.Set(&v.CreateTime, w.Start.Add(-state.Age))
		defaults.Set(&v.Size, 8)
		defaults.Set(&v.Encrypted, false)
		defaults.Set(&v.MultiAttachEnabled, false)
		defaults.SetPlain(&v.VolumeType, ec2types.VolumeTypeGp3)
		if *v.AvailabilityZone == "" {
			errs = append(errs, fmt.Errorf("ec2.Volumes %s has no zone", *v.VolumeId))
			continue
		}
		defaults.Set(&v.AvailabilityZoneId, ids.ZoneID(*v.AvailabilityZone))
		attachments := v.Attachments
		v.Attachments = []ec2types.VolumeAttachment{}
		for _, a := range attachments {
			if err := w.AttachVolume(v, aws.ToString(a.InstanceId), aws.ToString(a.Device)); err != nil {
				errs = append(errs, fmt.Errorf("ec2.Volumes %s: %w", *v.VolumeId, err))
			}
		}
		defaults.SetPlain(&v.State, ec2types.VolumeStateAvailable)
	}
	return errors.Join(errs...)
}
