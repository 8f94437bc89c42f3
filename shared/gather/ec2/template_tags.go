package ec2

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// TemplateTags gives the tags that launch templates put on instances. One that is
// gone, or was never there, puts none.
func TemplateTags(ctx context.Context, api LaunchTemplates, refs []snapshot.TemplateRef) (map[snapshot.TemplateRef]map[string]string, error) {
	all := map[snapshot.TemplateRef]map[string]string{}
	for _, ref := range refs {
		p := ec2.NewDescribeLaunchTemplateVersionsPaginator(api, templateInput(ref))
		list, err := ec2api.Pages(ctx, "launch template "+versionKey(ref), p.HasMorePages, p.NextPage, func(out *ec2.DescribeLaunchTemplateVersionsOutput) []map[string]string {
			return source.Each(out.LaunchTemplateVersions, instanceTags)
		})
		switch {
		case source.Gone(err):
		case err != nil:
			return nil, err
		case len(list) > 0:
			all[ref] = list[0]
		}
	}
	return all, nil
}

func instanceTags(v types.LaunchTemplateVersion) map[string]string {
	tags := map[string]string{}
	if v.LaunchTemplateData == nil {
		return tags
	}
	for _, s := range v.LaunchTemplateData.TagSpecifications {
		for _, t := range s.Tags {
			if s.ResourceType == types.ResourceTypeInstance {
				tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
			}
		}
	}
	return tags
}
