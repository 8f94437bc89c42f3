package gather

import (
	"context"

	gatherec2 "rollcall/shared/gather/ec2"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// TemplateTags gives the tags that launch templates put on instances. One that is
// gone, or was never there, puts none.
func (r *Reader) TemplateTags(ctx context.Context, refs []snapshot.TemplateRef) (map[snapshot.TemplateRef]map[string]string, *snapshot.Failure) {
	tags, err := gatherec2.TemplateTags(ctx, r.ec2, refs)
	if err != nil {
		return nil, known(snapshot.LaunchTemplates).Failure(err)
	}
	return tags, nil
}

// ReadTemplates is the permission of Reader.TemplateTags. The call takes no
// resource.
func ReadTemplates() spec.Read {
	return spec.Read{Actions: []string{"ec2:DescribeLaunchTemplateVersions"}, Resources: []string{"*"}}
}
