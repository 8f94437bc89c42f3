package launch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

const missingImage = "The image id '[ami-02c7e84c65fcfecee]' does not exist. Launching EC2 instance failed."

// allowing sets the account's Allowed AMIs, and lists the image of missingImage where
// ImageAllowed is given.
func allowing(state, allowed string, more ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	return checktest.Change(checktest.Attempted(missingImage), append(more, func(s *snapshot.Snapshot) {
		s.AllowedImages = &snapshot.AllowedImages{State: state, ManagedBy: "account", Providers: []string{"amazon"}}
		if allowed != "" {
			s.Images = append(s.Images, snapshot.Image{ID: "ami-02c7e84c65fcfecee", Name: "ours", Allowed: allowed})
		}
	})...)
}

func TestLaunchImageNotAllowed(t *testing.T) {
	checktest.RunCases(t, ImageNotAllowed(), launchImageNotAllowedCases())
	// What the one check has, the other has not.
	for state, want := range map[string]string{"enabled": "pass prod [eks-workers]", "disabled": "fail ami-02c7e84c65fcfecee [eks-workers] [] workers cannot launch: its AMI cannot be used"} {
		if diff := cmp.Diff(checktest.Lines(checktest.EvalOne(t, AMI(), allowing(state, ""))), []string{want}); diff != "" {
			t.Errorf("%s (-got +want):\n%s", state, diff)
		}
	}
}

const unsupported = "The requested configuration is currently not supported. Please check the documentation for supported configurations. Launching EC2 instance failed."

// ruled gives the AMI rules of types, and has launches of a type refused with a text.
func ruled(text, kind string, supported, not []string) *snapshot.Snapshot {
	return checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) {
		s.LaunchTemplates[0].Type, s.Nodegroups[0].Types, s.Groups[0].Types = kind, nil, nil
		s.Groups[0].Template = snapshot.TemplateRef{ID: snapshottest.Template, Version: "1"}
		for i := range s.Images {
			s.Images[i].Supported, s.Images[i].Unsupported = supported, not
		}
	})
}

func launchImageNotAllowedCases() []checktest.Case {
	const fails = "ami-02c7e84c65fcfecee [eks-workers] [] workers cannot launch: its AMI is not allowed here"
	const zone = "Your requested instance type (t3.large) is not supported in your requested Availability Zone (us-west-2d). Launching EC2 instance failed."
	pass := []string{"pass prod [eks-workers]"}
	excluded := []string{"fail " + snapshottest.AMI + " [eks-workers] [] workers cannot launch: its AMI is not for t3.large"}
	return []checktest.Case{
		{"activities unread", checktest.Change(checktest.Attempted(unsupported), checktest.Unread(snapshot.Activities)), []string{"unknown prod [] scaling activities: denied"}},
		{"EC2 does not list it", allowing("enabled", ""), []string{"fail (likely) " + fails}},
		{"EC2 lists it as not allowed", allowing("enabled", "false"), []string{"fail " + fails}},
		{"EC2 lists it as allowed", allowing("enabled", "true"), pass},
		{"audit mode", allowing("audit-mode", "false"), pass},
		{"disabled", allowing("disabled", ""), pass},
		{"the settings were not read", checktest.Attempted(missingImage), pass},
		{"the settings were not read, and EC2 lists it as not allowed", checktest.Change(allowing("", "false"), func(s *snapshot.Snapshot) { s.AllowedImages = nil }), []string{"fail (likely) " + fails}},
		{"the images were not read", allowing("enabled", "", checktest.Unread(snapshot.Images)), pass},
		{"its rules exclude the type", ruled(unsupported, "t3.large", nil, []string{"t3.*"}), excluded},
		{"its rules name other types", ruled(unsupported, "t3.large", []string{"m5.*", "c5.large"}, nil), excluded},
		{"its rules name the type", ruled(unsupported, "m5.large", []string{"m5.*"}, nil), pass},
		{"its rules exclude the type, and the zone has it not", ruled(zone, "t3.large", nil, []string{"t3.*"}), pass},
	}
}
