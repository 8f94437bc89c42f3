package gather

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/snapshot"
)

// Volumes describes EBS volumes.
type Volumes interface {
	DescribeVolumes(context.Context, *ec2.DescribeVolumesInput, ...func(*ec2.Options)) (*ec2.DescribeVolumesOutput, error)
}

var _ Volumes = (*ec2.Client)(nil)

// volumePage is the page of DescribeVolumes that EC2 advises (the most that it
// gives where a filter is set is 1,000, before 2024 500).
const volumePage = 500

// volumes reads the volumes whose tags say that they are the cluster's, and
// those that its PersistentVolumes name. Everything else in the account is
// dropped page by page: whose it is cannot be told, or it is another cluster's.
func (l *look) volumes(ctx context.Context) (store, error) {
	cluster := l.q.Cluster
	keys := append([]string{"kubernetes.io/cluster/" + cluster}, snapshot.ClusterTags()...)
	named := l.namedVolumes()
	list, err := l.r.readVolumes(ctx, anyOf("tag-key", keys), func(v snapshot.Volume) bool {
		return v.Of(cluster) || named[v.ID]
	})
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		delete(named, v.ID)
	}
	// Volumes that somebody made by hand, or with a driver that knows no cluster,
	// have no tag to find them by. A filter rather than the id parameter: one
	// that was deleted would make EC2 refuse the whole request.
	var ids []string
	for id := range named {
		ids = append(ids, id)
	}
	for chunk := range slices.Chunk(distinct(ids), maxFilterValues) {
		more, err := l.r.readVolumes(ctx, anyOf("volume-id", chunk), func(snapshot.Volume) bool { return true })
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	list = unique(list, func(v snapshot.Volume) string { return v.ID })
	return func(s *snapshot.Snapshot) { s.Volumes = list }, nil
}

// namedVolumes are the EBS volumes that PersistentVolumes name.
func (l *look) namedVolumes() map[string]bool {
	named := map[string]bool{}
	if l.s.Has(snapshot.PersistentVolumes) {
		for _, p := range l.s.PersistentVolumes {
			if p.Volume != "" {
				named[p.Volume] = true
			}
		}
	}
	return named
}

func (r *Reader) readVolumes(ctx context.Context, filters []types.Filter, wanted func(snapshot.Volume) bool) ([]snapshot.Volume, error) {
	p := ec2.NewDescribeVolumesPaginator(r.volumes, &ec2.DescribeVolumesInput{Filters: filters, MaxResults: aws.Int32(volumePage)})
	return pages(ctx, "volumes", p.HasMorePages, p.NextPage, func(out *ec2.DescribeVolumesOutput) []snapshot.Volume {
		return slices.DeleteFunc(each(out.Volumes, volume), func(v snapshot.Volume) bool { return !wanted(v) })
	})
}

func volume(v types.Volume) snapshot.Volume {
	out := snapshot.Volume{
		ID:      aws.ToString(v.VolumeId),
		Zone:    aws.ToString(v.AvailabilityZone),
		State:   string(v.State),
		Type:    string(v.VolumeType),
		GiB:     int(aws.ToInt32(v.Size)),
		Outpost: aws.ToString(v.OutpostArn),
		Created: aws.ToTime(v.CreateTime).UTC(),
		Tags:    tags(v.Tags),
	}
	for _, a := range v.Attachments {
		if a.State != types.VolumeAttachmentStateDetached {
			out.Attached = append(out.Attached, aws.ToString(a.InstanceId))
		}
	}
	out.Attached = distinct(out.Attached)
	return out
}
