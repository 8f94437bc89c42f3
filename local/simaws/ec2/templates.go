package ec2

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/authorization"
	"rollcall/local/simaws/deepcopy"
)

// mostUserData is how long user data may be, decoded (EC2 user guide, "Run commands
// when you launch an EC2 instance with user data input").
const mostUserData = 16 << 10

// CreateLaunchTemplate makes a template with its first version. What a launch from
// it would be refused for is not looked at, but the user data's length.
func (s API) CreateLaunchTemplate(in *ec2.CreateLaunchTemplateInput) (*ec2.CreateLaunchTemplateOutput, error) {
	defer s.w.Enter()()
	w := s.w
	name := aws.ToString(in.LaunchTemplateName)
	if name == "" || in.LaunchTemplateData == nil {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameters LaunchTemplateName and LaunchTemplateData")
	}
	if err := authorization.Template(w, s.caller, in.TagSpecifications); err != nil {
		return nil, err
	}
	if w.TemplateNamed("", name) != nil {
		return nil, wire.Errorf("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
	}
	if data, err := base64.StdEncoding.DecodeString(aws.ToString(in.LaunchTemplateData.UserData)); err != nil || len(data) > mostUserData {
		if err != nil {
			return nil, wire.Errorf("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
		}
		return nil, wire.Errorf("InvalidUserData.Malformed", "User data is limited to %d bytes", mostUserData)
	}
	data, err := responseOf(in.LaunchTemplateData)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	by := s.caller
	if by == "" {
		by = "arn:aws:iam::" + w.Account + ":root"
	}
	v := &ec2types.LaunchTemplateVersion{
		LaunchTemplateId: aws.String(w.IDs.EC2("lt")), LaunchTemplateName: &name, VersionNumber: aws.Int64(1), DefaultVersion: aws.Bool(true),
		CreateTime: aws.Time(w.Now.Truncate(time.Second)), CreatedBy: aws.String(by), VersionDescription: in.VersionDescription, LaunchTemplateData: data,
	}
	w.AddTemplateVersion(v)
	t := w.Templates.Get(*v.LaunchTemplateId)
	t.Tags = tagsFor(in.TagSpecifications, ec2types.ResourceTypeLaunchTemplate)
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: deepcopy.Of(t)}, nil
}

// responseOf is a template's data as it is described: the SDK has it as another
// struct with members of the same names.
func responseOf(in *ec2types.RequestLaunchTemplateData) (*ec2types.ResponseLaunchTemplateData, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("read a launch template: %w", err)
	}
	var out ec2types.ResponseLaunchTemplateData
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("read a launch template: %w", err)
	}
	return &out, nil
}
