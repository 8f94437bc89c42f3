package world

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/worldfile"
)

// TestSettingsRefuseLaunches holds what EC2 says of a launch that a setting of the account,
// the image or the VPC refuses, and that it starts without the setting.
func TestSettingsRefuseLaunches(t *testing.T) {
	const generic = "The requested configuration is currently not supported."
	image := func(w *World) *ec2types.Image {
		for _, v := range w.TemplateVersions.All() {
			if i := w.Images.Get(aws.ToString(v.LaunchTemplateData.ImageId)); i != nil {
				return i
			}
		}
		t.Fatal("the world's templates name no image that it has")
		return nil
	}
	enforced := &ec2types.InstanceMetadataDefaultsResponse{HttpTokensEnforced: ec2types.HttpTokensEnforcedStateEnabled}
	hidden := func(state string) func(*World) {
		return func(w *World) {
			w.File.EC2.AllowedImagesSettings = &worldfile.AllowedImagesSettings{State: state}
			image(w).ImageAllowed = aws.Bool(false)
		}
	}
	encrypts := func(mode ec2types.VpcEncryptionControlMode) func(*World) {
		return func(w *World) {
			for _, v := range w.Vpcs.All() {
				v.EncryptionControl = &ec2types.VpcEncryptionControl{Mode: mode, State: ec2types.VpcEncryptionControlStateAvailable}
			}
		}
	}
	for name, tt := range map[string]struct {
		set  func(*World)
		want string // in the activity's message; empty for a launch that succeeds
	}{
		"Allowed AMIs":               {hidden("enabled"), "does not exist"},
		"Allowed AMIs in audit mode": {hidden("audit-mode"), ""},
		"IMDSv2 enforced": {func(w *World) {
			w.File.EC2.InstanceMetadataDefaults, image(w).ImdsSupport = enforced, ""
			for _, v := range w.TemplateVersions.All() {
				v.LaunchTemplateData.MetadataOptions = nil
			}
		}, "You can't launch instances with IMDSv1 because httpTokensEnforced is enabled for this account."},
		"IMDSv2 enforced, the image requires tokens": {func(w *World) {
			w.File.EC2.InstanceMetadataDefaults, image(w).ImdsSupport = enforced, ec2types.ImdsSupportValuesV20
		}, ""},
		"the image's rules": {func(w *World) {
			image(w).InstanceTypeSpecification = &ec2types.InstanceTypeSpecification{UnsupportedInstanceTypes: []ec2types.InstanceTypeItem{{InstanceType: aws.String("*.*")}}}
		}, generic},
		"encryption enforced":  {encrypts(ec2types.VpcEncryptionControlModeEnforce), generic},
		"encryption monitored": {encrypts(ec2types.VpcEncryptionControlModeMonitor), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "ips")
			tt.set(w)
			scaleGroups(t, w, 1, "web")
			w.Advance(w.Now().Add(5 * time.Minute))
			var messages []string
			for _, g := range w.Groups.All() {
				for _, a := range g.Activities {
					messages = append(messages, aws.ToString(a.StatusMessage))
				}
			}
			if all := strings.Join(messages, "\n"); tt.want != "" && !strings.Contains(all, tt.want) || tt.want == "" && len(membersOf(t, w, "web")) == 0 {
				t.Errorf("activities say %q, want %q", all, tt.want)
			}
			listed, err := w.EC2().DescribeImages(&ec2.DescribeImagesInput{ImageIds: []string{*image(w).ImageId}})
			if gone := err != nil || len(listed.Images) == 0; gone != (name == "Allowed AMIs") {
				t.Errorf("the image is gone from EC2's list: %v (%v)", gone, err)
			}
		})
	}
}
