package incident_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
)

// Two sights of one launch are one, in whichever order they come.
func TestSightsOfALaunch(t *testing.T) {
	at := incidenttest.At
	full := report.Launch{
		Instance: "i-1", Nodegroup: "g", Group: "asg", Subnet: "s", Zone: "z", Type: "t", EndedWhy: "w",
		Started: at(1), Registered: at(2), Ready: at(3), Ended: at(4), Status: report.Gone,
	}
	bare := report.Launch{Instance: "i-1", Status: report.Waiting}
	later := report.Launch{
		Instance: "i-1", Nodegroup: "h", Group: "b", Subnet: "t", Zone: "a", Type: "u", EndedWhy: "v",
		Started: at(2), Registered: at(3), Ready: at(4), Ended: at(5), Status: report.Missed,
	}
	both := full
	both.Group, both.Zone, both.EndedWhy = "asg", "a", "v"
	for name, test := range map[string]struct{ a, b, want report.Launch }{
		"one that says all":  {full, bare, full},
		"the same":           {full, full, full},
		"each says its part": {full, later, both},
	} {
		for _, order := range [][]report.Launch{{test.a, test.b}, {test.b, test.a}} {
			inc := incident.Incident{}
			first, second := inc.AddAffected(order[0]), inc.AddAffected(order[1])
			if diff := cmp.Diff([]report.Launch{test.want}, inc.Launches); diff != "" || inc.Affected != 1 || !first || second {
				t.Errorf("%s: %d affected, added %t, %t (-want +got):\n%s", name, inc.Affected, first, second, diff)
			}
		}
	}
	// A launch never goes back.
	steps := []report.LaunchStatus{"never heard of", report.Waiting, report.Missed, report.GivenUp, report.Gone, report.Joined}
	for i, a := range steps {
		for j, b := range steps {
			inc := incident.Incident{}
			inc.AddAffected(report.Launch{Instance: "i-1", Status: a})
			inc.AddAffected(report.Launch{Instance: "i-1", Status: b})
			if want := steps[max(i, j)]; inc.Launches[0].Status != want {
				t.Errorf("%s and then %s is %s", a, b, inc.Launches[0].Status)
			}
		}
	}
	inc := incident.Incident{}
	inc.AddAffected(report.Launch{Instance: "i-1", Status: "one word"})
	inc.AddAffected(report.Launch{Instance: "i-1", Status: "another"})
	if got := inc.Launches[0].Status; got != "one word" {
		t.Errorf("of two that nobody knows it is %q", got)
	}
}

func TestEarlierAndLater(t *testing.T) {
	one, two, none := incidenttest.At(1), incidenttest.At(2), time.Time{}
	for _, test := range []struct{ a, b, earlier, later time.Time }{
		{one, two, one, two}, {two, one, one, two}, {one, none, one, one}, {none, one, one, one}, {none, none, none, none},
	} {
		if got := incident.Earlier(test.a, test.b); !got.Equal(test.earlier) {
			t.Errorf("the earlier of %s and %s is %s", test.a, test.b, got)
		}
		if got := incident.Later(test.a, test.b); !got.Equal(test.later) {
			t.Errorf("the later of %s and %s is %s", test.a, test.b, got)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, incident.Union([]string{"c", "a"}, []string{"b", "a"})); diff != "" {
		t.Errorf("both lists (-want +got):\n%s", diff)
	}
}

// 300 launches are kept by name, 5,000 more by id; each is counted once.
func TestHowManyLaunchesAreKept(t *testing.T) {
	id := func(i int) string { return fmt.Sprintf("i-%05d", i) }
	var inc incident.Incident
	const most = incident.MaxLaunches + 5000
	for i := range most + 3 {
		if added := inc.AddAffected(report.Launch{Instance: id(most + 3 - i)}); added != (i < most) {
			t.Fatalf("launch %d: added %t", i, added)
		}
	}
	last, kept := id(most+3), id(4)
	if len(inc.Launches) != incident.MaxLaunches || len(inc.More) != 5000 || inc.Affected != most || !slices.IsSorted(inc.More) || !slices.IsSortedFunc(inc.Launches, func(a, b report.Launch) int { return strings.Compare(a.Instance, b.Instance) }) {
		t.Errorf("%d launches, %d more, %d affected", len(inc.Launches), len(inc.More), inc.Affected)
	}
	if inc.AddAffected(report.Launch{Instance: kept}) || inc.AddAffected(report.Launch{Instance: last}) || inc.Affected != most {
		t.Errorf("one is counted twice: %d", inc.Affected)
	}
	for who, want := range map[string]bool{last: true, kept: true, id(1): false} {
		if got := inc.Affects(who); got != want {
			t.Errorf("%s is affected: %t", who, got)
		}
	}
	if _, known := inc.KeptLaunch(kept); known {
		t.Error("one beyond those that are kept by name has a name")
	}
	inc.More = inc.More[1:]
	if !inc.AddAffected(report.Launch{Instance: id(1)}) || inc.Affected != most+1 || inc.More[0] != id(1) {
		t.Errorf("where there is room for one, it is not added: %d", inc.Affected)
	}
	if inc.AddAffected(report.Launch{Instance: id(1)}) {
		t.Error("and then again")
	}
	inc.More = inc.More[:4998]
	if inc.AddAffected(report.Launch{Instance: inc.More[7]}) || len(inc.More) != 4998 {
		t.Error("one that is known by its id is added again where there is room")
	}
}

// Of launches that are known, what changed is told; who missed roll call is told
// once.
func TestWhoMissedRollCall(t *testing.T) {
	with := func(statuses ...report.LaunchStatus) []report.Launch {
		var list []report.Launch
		for i, s := range statuses {
			list = append(list, report.Launch{Instance: fmt.Sprint("i-", i), Status: s})
		}
		return list
	}
	known := with(report.Waiting, report.Waiting, report.Waiting, report.Waiting, report.Missed)
	for name, test := range map[string]struct {
		seen    []report.Launch
		missed  []string
		changed bool
	}{
		"nothing new":   {with(report.Waiting, report.Waiting), nil, false},
		"a stranger":    {[]report.Launch{{Instance: "i-99", Status: report.Missed}}, nil, false},
		"all that may":  {append([]report.Launch{{Instance: "i-99", Status: report.Missed}}, with(report.Waiting, report.Missed, report.GivenUp, report.Gone, report.GivenUp)...), []string{"i-1", "i-2"}, true},
		"one has ended": {with(report.Gone), nil, true},
	} {
		inc := incident.Incident{Launches: slices.Clone(known)}
		missed, changed := inc.UpdateLaunches(test.seen)
		if diff := cmp.Diff(test.missed, missed); diff != "" || changed != test.changed {
			t.Errorf("%s: changed %t, missed (-want +got):\n%s", name, changed, diff)
		}
	}
	inc := incident.Incident{Launches: with(report.Waiting, report.Missed, report.Waiting)}
	if got := []int{inc.Count(report.Waiting), inc.Count(report.Missed), inc.Count(report.Gone)}; !slices.Equal(got, []int{2, 1, 0}) {
		t.Errorf("waiting, missed, gone: %v", got)
	}
}
