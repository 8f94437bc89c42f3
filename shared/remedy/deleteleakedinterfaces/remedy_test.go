package deleteleakedinterfaces

import (
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), leaked, checks.Finding{Outcome: checks.Fail, Resource: snapshottest.Private},
		snapshot.Clusters, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf)
}

// What earlier runs have seen is part of the plan's grounds.
func TestReadsSightings(t *testing.T) {
	if !Remedy().More.Sightings {
		t.Error("what earlier runs have seen is not read")
	}
}
