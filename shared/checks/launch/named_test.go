package launch

import (
	"slices"
	"testing"

	"rollcall/shared/checks/facts"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// What the text of a failed launch names is among the resources.
func TestNamedResources(t *testing.T) {
	f := launchFault{resource: "lt-0a1b2c3d", list: []facts.Attempt{
		{Group: "g", Subnet: "subnet-1", Verdict: activity.Verdict{Named: activity.Named{AMI: "ami-1", SecurityGroup: "sg-1", Profile: "nodes"}}},
		{Group: "g", Subnet: "subnet-1", Verdict: activity.Verdict{Named: activity.Named{Key: "arn:aws:kms:us-west-2:111122223333:key/1"}}},
	}}
	want := []string{"lt-0a1b2c3d", "g", "subnet-1", "ami-1", "sg-1", "nodes", "arn:aws:kms:us-west-2:111122223333:key/1"}
	if got := f.resources(); !slices.Equal(got, want) {
		t.Errorf("resources %q, want %q", got, want)
	}
}

// An override's image replaces the launch template's; where several can be meant, none is
// named.
func TestImageOfOverride(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	s.LaunchTemplates = []snapshot.LaunchTemplate{{ID: "lt-1", Version: "1", Image: "ami-template"}}
	s.Groups = []snapshot.Group{{Name: "g", Template: snapshot.TemplateRef{ID: "lt-1", Version: "1"}, Types: []string{"m5.large", "c5.large"}, Images: map[string]string{"m5.large": "ami-override"}}}
	a := facts.NewView(s).Attempts()
	for name, tt := range map[string]struct {
		of   activity.Named
		want string
	}{
		"the text names it":              {activity.Named{AMI: "ami-text", Type: "m5.large"}, "ami-text"},
		"the type has an override":       {activity.Named{Type: "m5.large"}, "ami-override"},
		"the type has none":              {activity.Named{Type: "c5.large"}, "ami-template"},
		"the text names no type, of two": {activity.Named{}, ""},
	} {
		if got := a.Image(facts.Attempt{Group: "g", Verdict: activity.Verdict{Named: tt.of}}); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	s.Groups[0].Images = nil
	if got := facts.NewView(s).Attempts().Image(facts.Attempt{Group: "g"}); got != "ami-template" {
		t.Errorf("without overrides: %q, want the template's", got)
	}
}
