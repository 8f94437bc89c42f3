package coverzones

import (
	"testing"

	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
)

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), threeZones, gapAt("us-west-2c"),
		snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.Groups, snapshot.Nodegroups, snapshot.Activities, snapshot.ZonalShifts, snapshot.AutoshiftsOf)
}

// A group's instances are counted: those that report reads are not all of them.
func TestReadsAllMembers(t *testing.T) {
	if !Remedy().More.GroupMembers {
		t.Error("the instances of the groups are not all read")
	}
}
