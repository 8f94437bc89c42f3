package checks

import (
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// Nothing else accuses an instance that EC2 took back, and it is no end to look
// into.
func TestNothingAccusesWhatEC2TookBack(t *testing.T) {
	const user, spot = "Client.UserInitiatedShutdown", "Server.SpotInstanceTermination"
	worlds := map[string]func() *snapshot.Snapshot{
		"EC2's reason": func() *snapshot.Snapshot { return checktest.Ended(spot, 2*time.Minute) },
		"warned": func() *snapshot.Snapshot {
			return checktest.Change(checktest.Ended(user, 3*time.Minute), checktest.Noticed(90*time.Second))
		},
		"still there": func() *snapshot.Snapshot {
			s := snapshottest.PrivateWithNAT()
			snapshottest.Unjoin(s, snapshottest.Node)
			return checktest.Change(s, checktest.Noticed(9*time.Minute))
		},
	}
	for name, world := range worlds {
		s := world()
		for i := range s.RouteTables {
			s.RouteTables[i].Routes = s.RouteTables[i].Routes[:0]
		}
		told := false
		for _, r := range check.Eval(All(), s) {
			if r.Outcome != finding.Fail {
				continue
			}
			told = told || r.Check == checkid.SpotReclaimedBeforeJoin
			if r.Check != checkid.SpotReclaimedBeforeJoin && (len(r.Instances) > 0) {
				t.Errorf("%s: %s accuses %v", name, r.Check, r.Instances)
			}
		}
		if !told {
			t.Errorf("%s: spot/reclaimed-before-join says nothing", name)
		}
	}
}
