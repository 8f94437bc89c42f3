package coverzones

import (
	"rollcall/shared/checks"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBounds(t *testing.T) {
	activity := func(a snapshot.Activity) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, _ *action.Subject) {
			if a.Group == "" {
				a.Group = "eks-workers"
			}
			if a.Started.IsZero() {
				a.Started = s.Time.Add(-10 * time.Minute)
			}
			s.Activities = append(s.Activities, a)
		}
	}
	found := remedytest.Saying(gap, gapAt("us-west-2c"))
	remedytest.Refuses(t, Remedy(), threeZones, found, []remedytest.Wrong{
		{"the zone of a subnet is not known", func(s *snapshot.Snapshot, _ *action.Subject) { s.Subnets[len(s.Subnets)-1].Zone = "" }, action.CouldNotLook},
		{"the zone of an instance is not known", remedytest.Instance(func(i *snapshot.Instance) { i.Zone = "" }), action.CouldNotLook},
		{"the group is a nodegroup's that was not read", func(s *snapshot.Snapshot, of *action.Subject) {
			s.Nodegroups, of.Nodegroups = nil, []string{"eks-workers"}
		}, action.CouldNotLook},
		{"an activity without a known status", activity(snapshot.Activity{Status: "Wobbling"}), action.AnotherChange},
	})
	end := snapshottest.Now()
	remedytest.Allows(t, Remedy(), threeZones, found, []remedytest.Harmless{
		{"another group is at work", activity(snapshot.Activity{Group: "eks-other", Status: "InProgress"})},
		{"another group was refused there", activity(snapshot.Activity{Group: "eks-other", Status: "Failed", Zone: "us-west-2c", Ended: end})},
		{"it was refused in another zone", activity(snapshot.Activity{Status: "Failed", Zone: "us-west-2a", Ended: end})},
		{"a launch there came about", activity(snapshot.Activity{Status: "Successful", Zone: "us-west-2c", Ended: end})},
		{"a launch was cancelled", activity(snapshot.Activity{Status: "Cancelled", Zone: "us-west-2c"})},
		{"it was refused hours ago", activity(snapshot.Activity{Status: "Failed", Zone: "us-west-2c", Started: end.Add(-2 * time.Hour), Ended: end.Add(-2 * time.Hour)})},
		{"activities without an end that are over", func(s *snapshot.Snapshot, of *action.Subject) {
			activity(snapshot.Activity{Status: "Successful"})(s, of)
			activity(snapshot.Activity{Status: "Failed", Zone: "us-west-2a"})(s, of)
		}},
		{"it was refused an hour ago to the second", activity(snapshot.Activity{Status: "Failed", Zone: "us-west-2c", Started: end.Add(-time.Hour), Ended: end})},
		{"an activity without a known status has ended", activity(snapshot.Activity{Status: "Wobbling", Ended: end})},
		{"nothing says whose the nodegroup is", nodegroup(func(n *snapshot.Nodegroup) { n.Cluster = "" })},
	})
}

// The volume's zone must be among those that get an instance: where the group
// has one there, which does not take the pod, one more would come elsewhere.
func TestReachesTheZone(t *testing.T) {
	for name, f := range map[string]checks.Finding{
		"a zone that has an instance":           gapAt("us-west-2b"),
		"a zone in which it launches no longer": gapAt("us-west-2d"),
		"no zone is named":                      gapAt(),
	} {
		s, of := threeZones()
		if p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(gap, f)); no == nil || no.Reason != ZoneNotReached {
			t.Errorf("%s: planned %v, %+v; want %s", name, p, no, ZoneNotReached)
		}
	}
	s, of := threeZones()
	if _, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(gap, gapAt("us-west-2b", "us-west-2c"))); no != nil {
		t.Errorf("one of two zones: %s", no.Says)
	}
}

// gapAt is what the check finds of a gap in zones.
func gapAt(zones ...string) checks.Finding {
	return checks.Finding{Outcome: checks.Fail, Resource: "vol-0a", Covers: zones}
}

// The incident's own resource is the group, by whichever name, before the
// nodegroups that it names.
func TestTheResourceIsTheGroup(t *testing.T) {
	for _, test := range []struct {
		name, resource string
		more           func(*snapshot.Snapshot)
		want           Plan
	}{
		{"a nodegroup", "workers", func(*snapshot.Snapshot) {}, Plan{Nodegroup: "workers"}},
		{"a group of one's own", "eks-workers", func(s *snapshot.Snapshot) {
			s.Nodegroups = nil
			delete(s.Groups[0].Tags, "eks:nodegroup-name")
		}, Plan{Group: "eks-workers"}},
	} {
		s, of := threeZones()
		test.more(s)
		of.Resource, of.Nodegroups = test.resource, []string{"other", "another"}
		test.want.From, test.want.To, test.want.Max = 2, 3, 3
		test.want.Zones, test.want.Without = []string{"us-west-2a", "us-west-2b", "us-west-2c"}, []string{"us-west-2c"}
		found := checks.Finding{Outcome: checks.Fail, Resource: test.resource, Covers: []string{"us-west-2c"}}
		p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(gap, found))
		if no != nil {
			t.Errorf("%s: refused as %s: %s", test.name, no.Reason, no.Says)
			continue
		}
		if diff := cmp.Diff(&test.want, p); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// There is a choice to be made in this world.
func TestSameInAnyOrder(t *testing.T) {
	remedytest.SameInAnyOrder(t, Remedy(), threeZones, remedytest.Saying(gap, gapAt("us-west-2c")))
}

func TestFoundElsewhereIsNotSo(t *testing.T) {
	remedytest.FoundElsewhereIsNotSo(t, Remedy(), threeZones)
}

func TestApplied(t *testing.T) {
	remedytest.Applied(t, Remedy(), threeZones, snapshot.Groups, func(s *snapshot.Snapshot) { s.Groups[0].Desired = 3 }, func(s *snapshot.Snapshot) {
		s.Groups = append(s.Groups, snapshot.Group{Name: "eks-other", Desired: 3, Tags: map[string]string{"eks:nodegroup-name": "other"}})
	}, remedytest.Saying(gap, gapAt("us-west-2c"))...)
	ofGroup, ofNodegroup := Plan{Group: "eks-a", To: 3}, Plan{Nodegroup: "a", To: 3}
	managed := map[string]string{"eks:nodegroup-name": "a"}
	for _, test := range []struct {
		name string
		plan Plan
		is   snapshot.Group
		want bool
	}{
		{"the group", ofGroup, snapshot.Group{Name: "eks-a", Desired: 3}, true},
		{"the group, and more", ofGroup, snapshot.Group{Name: "eks-a", Desired: 4}, true},
		{"the group, too few", ofGroup, snapshot.Group{Name: "eks-a", Desired: 2}, false},
		{"another group, which is no nodegroup's either", ofGroup, snapshot.Group{Name: "eks-b", Desired: 3}, false},
		{"the nodegroup's group", ofNodegroup, snapshot.Group{Name: "eks-a-0123", Desired: 3, Tags: managed}, true},
		{"the nodegroup's group, too few", ofNodegroup, snapshot.Group{Name: "eks-a-0123", Desired: 2, Tags: managed}, false},
		{"another nodegroup's", ofNodegroup, snapshot.Group{Name: "eks-b-0123", Desired: 3, Tags: map[string]string{"eks:nodegroup-name": "b"}}, false},
	} {
		s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Groups: true}, Groups: []snapshot.Group{test.is}}
		if done, known := applied(test.plan, s); done != test.want || !known {
			t.Errorf("%s: done %v, known %v; want %v, true", test.name, done, known, test.want)
		}
	}
}
