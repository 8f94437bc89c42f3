package ec2

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Images describes machine images.
type Images interface {
	DescribeImages(context.Context, *ec2.DescribeImagesInput, ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error)
}

// images are those of the scope's instances and of the launch templates. It takes no call
// in a look that has no instance and at which no launch was refused.
func images(api Images) source.Source {
	return source.Source{
		Name:  snapshot.Images,
		After: []snapshot.Source{snapshot.LaunchTemplates, snapshot.Activities, snapshot.NodeClaimsOf},
		Calls: []source.Call{{Action: "ec2:DescribeImages"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if len(v.Snapshot.Scope.Instances) == 0 && len(v.ImageTerms) == 0 && !refused(v.Snapshot) {
				return func(*snapshot.Snapshot) {}, nil
			}
			return readImages(ctx, api, v)
		},
	}
}

// LaunchedImages describes the images that instances were launched from.
type LaunchedImages interface {
	DescribeInstanceImageMetadata(context.Context, *ec2.DescribeInstanceImageMetadataInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceImageMetadataOutput, error)
}

// launchedImages are those of instances of the scope that EC2 does not list. The instance
// keeps their name and owner (EC2 API, DescribeInstanceImageMetadata: also "if the AMI is
// deregistered or no longer shared"). No call is made where all are listed.
func launchedImages(api LaunchedImages) source.Source {
	return source.Source{
		Name:  snapshot.LaunchedImagesOf,
		After: []snapshot.Source{snapshot.Images},
		Calls: []source.Call{{Action: "ec2:DescribeInstanceImageMetadata"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if !v.Snapshot.Has(snapshot.Images) {
				return source.Nothing, nil // which are listed is unknown, and said there
			}
			listed := map[string]bool{}
			for _, i := range v.Snapshot.Images {
				listed[i.ID] = true
			}
			var instances []string
			for _, in := range v.InScope() {
				if strings.HasPrefix(in.AMI, "ami-") && !listed[in.AMI] {
					instances = append(instances, in.ID)
				}
			}
			var list []snapshot.Image
			for chunk := range slices.Chunk(instances, ec2api.MaxFilterValues) {
				p := ec2.NewDescribeInstanceImageMetadataPaginator(api, &ec2.DescribeInstanceImageMetadataInput{Filters: ec2api.AnyOf("instance-id", chunk)})
				more, err := ec2api.Pages(ctx, "images of instances", p.HasMorePages, p.NextPage, func(out *ec2.DescribeInstanceImageMetadataOutput) []snapshot.Image {
					return source.Each(out.InstanceImageMetadata, launchedImage)
				})
				if err != nil {
					return nil, err
				}
				list = append(list, more...)
			}
			// An id alone is no knowledge of an image: it stays one that EC2 does not list.
			list = slices.DeleteFunc(list, func(i snapshot.Image) bool { return i.ID == "" || i.Name == "" })
			list = source.Unique(list, func(i snapshot.Image) string { return i.ID })
			return func(s *snapshot.Snapshot) { s.LaunchedImages = list }, nil
		},
	}
}

// launchedImage is what an instance keeps of its image. There is no architecture in it.
func launchedImage(i types.InstanceImageMetadata) snapshot.Image {
	m := i.ImageMetadata
	if m == nil {
		return snapshot.Image{}
	}
	return snapshot.Image{
		ID: aws.ToString(m.ImageId), Name: aws.ToString(m.Name), State: string(m.State), OwnerAlias: aws.ToString(m.ImageOwnerAlias),
		Owner: aws.ToString(m.OwnerId), Public: aws.ToBool(m.IsPublic), Created: instant(m.CreationDate), Deprecated: instant(m.DeprecationTime),
	}
}

// readImages takes a filter rather than the id parameter: one that was deregistered
// would make EC2 refuse the whole request.
func readImages(ctx context.Context, api Images, v *source.View) (source.Store, error) {
	var ids []string
	for _, in := range v.InScope() {
		ids = append(ids, in.AMI)
	}
	for _, t := range v.Snapshot.LaunchTemplates {
		ids = append(ids, t.Image)
	}
	for _, t := range v.ImageTerms {
		ids = append(ids, t.ID)
	}
	// A launch template may name a parameter in place of an image.
	ids = slices.DeleteFunc(source.Distinct(ids), func(id string) bool { return !strings.HasPrefix(id, "ami-") })
	var list []snapshot.Image
	for chunk := range slices.Chunk(ids, ec2api.MaxFilterValues) {
		p := ec2.NewDescribeImagesPaginator(api, &ec2.DescribeImagesInput{
			Filters: ec2api.AnyOf("image-id", chunk), IncludeDeprecated: aws.Bool(true), IncludeDisabled: aws.Bool(true),
		})
		more, err := ec2api.Pages(ctx, "images", p.HasMorePages, p.NextPage, func(out *ec2.DescribeImagesOutput) []snapshot.Image {
			return source.Each(out.Images, image)
		})
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	selected, more, err := selectImages(ctx, api, v.ImageTerms)
	if err != nil {
		return nil, err
	}
	list = source.Unique(append(list, more...), func(i snapshot.Image) string { return i.ID })
	return func(s *snapshot.Snapshot) { s.Images, s.SelectedImages = list, selected }, nil
}

// selectImages asks for the images of terms by name or tags, with the filters and the
// owners that Karpenter asks with (aws/karpenter-provider-aws pkg/providers/amifamily/ami.go,
// getFiltersAndOwners).
func selectImages(ctx context.Context, api Images, terms []snapshot.SelectorTerm) (selected []snapshot.SelectedImages, list []snapshot.Image, err error) {
	for _, t := range terms {
		if t.ID != "" || t.Name == "" && len(t.Tags) == 0 {
			continue
		}
		in := &ec2.DescribeImagesInput{Owners: []string{"self", "amazon"}, IncludeDeprecated: aws.Bool(true)}
		if t.Owner != "" {
			in.Owners = []string{t.Owner}
		}
		if t.Name != "" {
			in.Filters = ec2api.AnyOf("name", []string{t.Name})
		}
		for _, key := range slices.Sorted(maps.Keys(t.Tags)) {
			name, value := "tag:"+key, t.Tags[key]
			if value == "*" {
				name, value = "tag-key", key
			}
			in.Filters = append(in.Filters, ec2api.AnyOf(name, []string{value})...)
		}
		p := ec2.NewDescribeImagesPaginator(api, in)
		found, err := ec2api.Pages(ctx, "images", p.HasMorePages, p.NextPage, func(out *ec2.DescribeImagesOutput) []snapshot.Image {
			return source.Each(out.Images, image)
		})
		if err != nil {
			return nil, nil, err
		}
		list = append(list, found...)
		selected = append(selected, snapshot.SelectedImages{Term: t, Images: source.Each(found, func(i snapshot.Image) string { return i.ID })})
	}
	return selected, list, nil
}

func image(i types.Image) snapshot.Image {
	out := snapshot.Image{
		ID:           aws.ToString(i.ImageId),
		Name:         aws.ToString(i.Name),
		Architecture: string(i.Architecture),
		State:        string(i.State),
		OwnerAlias:   aws.ToString(i.ImageOwnerAlias),
		Owner:        aws.ToString(i.OwnerId),
		Public:       aws.ToBool(i.Public),
		Windows:      windows(i.Platform, i.PlatformDetails),
		Created:      instant(i.CreationDate),
		Deprecated:   instant(i.DeprecationTime),
	}
	if i.ImageAllowed != nil {
		out.Allowed = strconv.FormatBool(*i.ImageAllowed)
	}
	if t := i.InstanceTypeSpecification; t != nil {
		pattern := func(t types.InstanceTypeItem) string { return aws.ToString(t.InstanceType) }
		out.Supported, out.Unsupported = source.Each(t.SupportedInstanceTypes, pattern), source.Each(t.UnsupportedInstanceTypes, pattern)
	}
	return out
}

// instant reads a time that EC2 gives as text, "2026-11-12T01:02:03.000Z".
func instant(text *string) time.Time {
	t, err := time.Parse(time.RFC3339, aws.ToString(text))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
