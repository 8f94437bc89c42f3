package launch

import (
	"slices"
	"testing"

	"rollcall/shared/checks/facts"
	"rollcall/shared/node/activity"
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
