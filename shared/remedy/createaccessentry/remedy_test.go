package createaccessentry

import (
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), outsider, checks.Finding{Outcome: checks.Fail, Resource: snapshottest.NodeRole},
		snapshot.Clusters, snapshot.Instances, snapshot.Profiles, snapshot.Access, snapshot.Groups, snapshot.Nodegroups)
}

// Where tags alone say who launched the instances, no policy decides.
func TestAPersonDecides(t *testing.T) {
	const want = "That Karpenter launched the instances, their tags alone say, which whoever may start an instance may set: look at them before you approve."
	if got := Remedy().PersonDecides(Plan{Tagged: true}); got != want {
		t.Errorf("tagged: %q, want %q", got, want)
	}
	if got := Remedy().PersonDecides(Plan{}); got != "" {
		t.Errorf("proved: %q, want none", got)
	}
}
