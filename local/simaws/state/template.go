package state

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// templateKey is where a version of a launch template is kept.
func templateKey(id string, version int64) string { return id + "/" + strconv.FormatInt(version, 10) }

// TemplateVersion is a version of a launch template by id or name; the version
// is a number, "$Default", "$Latest" or empty for the default.
func (w *State) TemplateVersion(id, name, version string) *ec2types.LaunchTemplateVersion {
	t := w.TemplateNamed(id, name)
	if t == nil {
		return nil
	}
	switch version {
	case "", "$Default":
		version = strconv.FormatInt(aws.ToInt64(t.DefaultVersionNumber), 10)
	case "$Latest":
		version = strconv.FormatInt(aws.ToInt64(t.LatestVersionNumber), 10)
	}
	return w.TemplateVersions.Get(aws.ToString(t.LaunchTemplateId) + "/" + version)
}

// TemplateNamed is a launch template by id or name, nil where there is none.
func (w *State) TemplateNamed(id, name string) *ec2types.LaunchTemplate {
	if t := w.Templates.Get(id); t != nil {
		return t
	}
	for _, t := range w.Templates.All() {
		if name != "" && aws.ToString(t.LaunchTemplateName) == name {
			return t
		}
	}
	return nil
}

// GroupTemplate is the template version that a group launches from.
func (w *State) GroupTemplate(g *Group) *ec2types.LaunchTemplateVersion {
	s := g.TemplateSpec()
	if s == nil {
		return nil
	}
	return w.TemplateVersion(aws.ToString(s.LaunchTemplateId), aws.ToString(s.LaunchTemplateName), aws.ToString(s.Version))
}

// ProfileNamed is an instance profile by name or ARN.
func (w *State) ProfileNamed(name, arn string) *iamtypes.InstanceProfile {
	for _, p := range w.Profiles.All() {
		if (name != "" && aws.ToString(p.InstanceProfileName) == name) || (arn != "" && aws.ToString(p.Arn) == arn) {
			return p
		}
	}
	return nil
}

// AddTemplateVersion keeps a version of a launch template, and the template where
// it is the first.
func (w *State) AddTemplateVersion(v *ec2types.LaunchTemplateVersion) {
	id := aws.ToString(v.LaunchTemplateId)
	w.TemplateVersions.Put(templateKey(id, aws.ToInt64(v.VersionNumber)), v)
	t := w.Templates.Get(id)
	if t == nil {
		t = &ec2types.LaunchTemplate{
			LaunchTemplateId: v.LaunchTemplateId, LaunchTemplateName: v.LaunchTemplateName,
			CreateTime: v.CreateTime, CreatedBy: v.CreatedBy, DefaultVersionNumber: v.VersionNumber, LatestVersionNumber: v.VersionNumber,
		}
		w.Templates.Put(id, t)
	}
	if aws.ToBool(v.DefaultVersion) {
		t.DefaultVersionNumber = v.VersionNumber
	}
	if aws.ToInt64(v.VersionNumber) > aws.ToInt64(t.LatestVersionNumber) {
		t.LatestVersionNumber = v.VersionNumber
	}
}

// DropTemplate deletes a launch template with its versions.
func (w *State) DropTemplate(id string) {
	w.Templates.Remove(id)
	for _, v := range w.TemplateVersions.All() {
		if aws.ToString(v.LaunchTemplateId) == id {
			w.TemplateVersions.Remove(templateKey(id, aws.ToInt64(v.VersionNumber)))
		}
	}
}
