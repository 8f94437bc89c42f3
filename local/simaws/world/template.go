package world

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// templateKey is where a version of a launch template is kept.
func templateKey(id string, version int64) string { return id + "/" + strconv.FormatInt(version, 10) }

// templateVersion is a version of a launch template by id or name; the version
// is a number, "$Default", "$Latest" or empty for the default.
func (w *World) templateVersion(id, name, version string) *ec2types.LaunchTemplateVersion {
	t := w.templateNamed(id, name)
	if t == nil {
		return nil
	}
	switch version {
	case "", "$Default":
		version = strconv.FormatInt(aws.ToInt64(t.DefaultVersionNumber), 10)
	case "$Latest":
		version = strconv.FormatInt(aws.ToInt64(t.LatestVersionNumber), 10)
	}
	return w.templateVersions.Get(aws.ToString(t.LaunchTemplateId) + "/" + version)
}

func (w *World) templateNamed(id, name string) *ec2types.LaunchTemplate {
	if t := w.templates.Get(id); t != nil {
		return t
	}
	for _, t := range w.templates.All() {
		if name != "" && aws.ToString(t.LaunchTemplateName) == name {
			return t
		}
	}
	return nil
}

// groupTemplate is the template version that a group launches from.
func (w *World) groupTemplate(g *group) *ec2types.LaunchTemplateVersion {
	s := g.templateSpec()
	if s == nil {
		return nil
	}
	return w.templateVersion(aws.ToString(s.LaunchTemplateId), aws.ToString(s.LaunchTemplateName), aws.ToString(s.Version))
}

// profileNamed is an instance profile by name or ARN.
func (w *World) profileNamed(name, arn string) *iamtypes.InstanceProfile {
	for _, p := range w.profiles.All() {
		if (name != "" && aws.ToString(p.InstanceProfileName) == name) || (arn != "" && aws.ToString(p.Arn) == arn) {
			return p
		}
	}
	return nil
}
