package launch_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// ofLaunch are the checks of the family.
func ofLaunch() []check.Check {
	return slices.DeleteFunc(checks.All(), func(c check.Check) bool { return c.ID.Family() != checkid.Launch })
}

// EC2 took the instance back under its launch hook: no launch failed.
func TestTakenBackUnderItsHookIsNoFailedLaunch(t *testing.T) {
	s := checktest.Ended("Server.SpotInstanceTermination", 10*time.Second)
	snapshottest.Instance(s, snapshottest.Node).StateReason.Message = ""
	a := &s.Activities[0]
	for _, status := range []string{"Cancelled", "Failed"} {
		a.Status, a.Message = status, "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: Server.SpotInstanceTermination: Spot instance termination"
		for _, c := range ofLaunch() {
			for _, r := range check.Eval([]check.Check{c}, s) {
				if r.Outcome != check.Pass {
					t.Errorf("%s, %s: %+v", status, c.ID, r)
				}
			}
		}
	}
}

// What the world's launches are of no harm to: nothing breaks on nil fields.
func TestEmptyActivitiesBreakNothing(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	s.Activities = []snapshot.Activity{{}, {Group: checktest.WorkersGroup}, {Group: checktest.WorkersGroup, About: "Launching a new EC2 instance"}, {Group: checktest.WorkersGroup, Status: "Failed"}}
	for _, c := range ofLaunch() {
		for _, r := range check.Eval([]check.Check{c}, s) {
			if r.Outcome == check.Unknown && r.Blocked[0].Source != snapshot.Activities {
				t.Errorf("%s: %v", c.ID, r.Blocked)
			}
		}
	}
}

// A burst of a thousand failed launches beside a thousand nodes: all launch
// checks together.
func BenchmarkFailedLaunches(b *testing.B) {
	s := snapshottest.PrivateWithNAT()
	for n := range 1000 {
		checktest.Fails(s, "Max spot instance count exceeded. Launching EC2 instance failed.", time.Duration(n)*time.Second)
		snapshottest.Launch(s, fmt.Sprintf("i-0%04d", n), snapshottest.Public, 2*time.Hour)
	}
	list := ofLaunch()
	for b.Loop() {
		check.Eval(list, s)
	}
}
