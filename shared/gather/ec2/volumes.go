package ec2

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Volumes describes EBS volumes.
type Volumes interface {
	DescribeVolumes(context.Context, *ec2.DescribeVolumesInput, ...func(*ec2.Options)) (*ec2.DescribeVolumesOutput, error)
}

// volumes are those whose tags say that they are the cluster's, and those that
// its PersistentVolumes name.
func volumes(api Volumes) source.Source {
	return source.Source{
		Name: snapshot.VolumesOf,
		After: []snapshot.Source{
			snapshot.PersistentVolumes, // which name volumes
		},
		Calls: []source.Call{{Action: "ec2:DescribeVolumes"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readVolumes(ctx, api, v)
		},
	}
}

// volumePage is the page of DescribeVolumes that EC2 advises (the most that it
// gives where a filter is set is 1,000, before 2024 500).
const volumePage = 500

// readVolumes reads the volumes whose tags say that they are the cluster's, and
// those that its PersistentVolumes name. Everything else in the account is
// dropped page by page: whose it is cannot be told, or it is another cluster's.
func readVolumes(ctx context.Context, api Volumes, v *source.View) (source.Store, error) {
	cluster := v.Cluster
	keys := append([]string{"kubernetes.io/cluster/" + cluster}, snapshot.ClusterTags()...)
	named := namedVolumes(v)
	list, err := describeVolumes(ctx, api, ec2api.AnyOf("tag-key", keys), func(x snapshot.Volume) bool {
		return x.Of(cluster) || named[x.ID]
	})
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		delete(named, x.ID)
	}
	// Volumes that somebody made by hand, or with a driver that knows no cluster,
	// have no tag to find them by. A filter rather than the id parameter: one
	// that was deleted would make EC2 refuse the whole request.
	var ids []string
	for id := range named {
		ids = append(ids, id)
	}
	for chunk := range slices.Chunk(source.Distinct(ids), ec2api.MaxFilterValues) {
		more, err := describeVolumes(ctx, api, ec2api.AnyOf("volume-id", chunk), func(snapshot.Volume) bool { return true })
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	list = source.Unique(list, func(x snapshot.Volume) string { return x.ID })
	return func(s *snapshot.Snapshot) { s.Volumes = list }, nil
}

// namedVolumes are the EBS volumes that PersistentVolumes name.
func namedVolumes(v *source.View) map[string]bool {
	named := map[string]bool{}
	if v.Snapshot.Has(snapshot.PersistentVolumes) {
		for _, p := range v.Snapshot.PersistentVolumes {
			if p.Volume != "" {
				named[p.Volume] = true
			}
		}
	}
	return named
}

func describeVolumes(ctx context.Context, api Volumes, filters []types.Filter, wanted func(snapshot.Volume) bool) ([]snapshot.Volume, error) {
	p := ec2.NewDescribeVolumesPaginator(api, &ec2.DescribeVolumesInput{Filters: filters, MaxResults: aws.Int32(volumePage)})
	return ec2api.Pages(ctx, "volumes", p.HasMorePages, p.NextPage, func(out *ec2.DescribeVolumesOutput) []snapshot.Volume {
		return slices.DeleteFunc(source.Each(out.Volumes, volume), func(v snapshot.Volume) bool { return !wanted(v) })
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
		Tags:    ec2api.Tags(v.Tags),
	}
	for _, a := range v.Attachments {
		if a.State != types.VolumeAttachmentStateDetached {
			out.Attached = append(out.Attached, aws.ToString(a.InstanceId))
		}
	}
	out.Attached = source.Distinct(out.Attached)
	return out
}
