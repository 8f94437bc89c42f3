package incident_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// TestCapacityIn: what a look counted of the groups that an incident is about, each once; and
// nothing where it did not count one of them.
func TestCapacityIn(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	workers := report.Capacity{Group: "eks-workers-1", Nodegroup: "workers", Desired: 5, Ready: 3}
	batch := report.Capacity{Group: "batch-asg", Desired: 4, Ready: 4}
	failing := func(group, nodegroup string) report.Launch {
		return report.Launch{Instance: "i-" + group + nodegroup, Group: group, Nodegroup: nodegroup, Status: report.Missed}
	}
	joined := func(group string) report.Launch {
		return report.Launch{Instance: "i-ok", Group: group, Status: report.Joined}
	}
	caused := func(inc incident.Incident, nodegroups ...string) incident.Incident {
		inc.Cause = diagnose.Cause{Nodegroups: nodegroups}
		return inc
	}
	of := func(list ...report.Launch) incident.Incident { return incident.Incident{Launches: list, Affected: 7} }
	for name, test := range map[string]struct {
		inc     incident.Incident
		counted []report.Capacity
		want    *incident.Capacity
	}{
		"nothing it is about":           {of(), []report.Capacity{workers}, nil},
		"only what joined":              {of(joined("eks-workers-1")), []report.Capacity{workers}, nil},
		"a group":                       {of(failing("eks-workers-1", "")), []report.Capacity{batch, workers}, &incident.Capacity{At: at, Desired: 5, Ready: 3, Affected: 7}},
		"by its nodegroup":              {of(failing("", "workers")), []report.Capacity{workers, batch}, &incident.Capacity{At: at, Desired: 5, Ready: 3, Affected: 7}},
		"by both, once":                 {caused(of(failing("eks-workers-1", "workers"), failing("eks-workers-1", "workers")), "workers"), []report.Capacity{workers}, &incident.Capacity{At: at, Desired: 5, Ready: 3, Affected: 7}},
		"two groups":                    {caused(of(failing("batch-asg", ""), joined("other")), "workers"), []report.Capacity{workers, batch}, &incident.Capacity{At: at, Desired: 9, Ready: 7, Affected: 7, Joined: 1}},
		"one of two was not counted":    {of(failing("eks-workers-1", ""), failing("batch-asg", "")), []report.Capacity{workers}, nil},
		"of the cause, and not counted": {caused(of(failing("eks-workers-1", "")), "batch"), []report.Capacity{workers, batch}, nil},
		"nothing was counted":           {of(failing("eks-workers-1", "")), nil, nil},
	} {
		got := test.inc.CapacityIn(report.Observation{At: at, Capacity: test.counted})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCapacityStands: what was counted is told while the launches stand as they did, for a
// quarter of an hour.
func TestCapacityStands(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	counted := func(c *incident.Capacity) incident.Incident {
		return incident.Incident{Affected: 3, Launches: []report.Launch{{Instance: "i-1", Status: report.Joined}}, Capacity: c}
	}
	for name, test := range map[string]struct {
		inc  incident.Incident
		at   time.Time
		want bool
	}{
		"not counted":          {counted(nil), at, false},
		"now":                  {counted(&incident.Capacity{At: at, Affected: 3, Joined: 1}), at, true},
		"a quarter of an hour": {counted(&incident.Capacity{At: at, Affected: 3, Joined: 1}), at.Add(15 * time.Minute), true},
		"longer":               {counted(&incident.Capacity{At: at, Affected: 3, Joined: 1}), at.Add(15*time.Minute + 1), false},
		"one more is affected": {counted(&incident.Capacity{At: at, Affected: 2, Joined: 1}), at, false},
		"one more has joined":  {counted(&incident.Capacity{At: at, Affected: 3}), at, false},
	} {
		if got := test.inc.CapacityStands(test.at); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCapacityMissing(t *testing.T) {
	for want, c := range map[int]*incident.Capacity{2: {Desired: 5, Ready: 3}, 0: {Desired: 3, Ready: 5}} {
		if got := c.Missing(); got != want {
			t.Errorf("%+v: %d, want %d", c, got, want)
		}
	}
	var none, other *incident.Capacity
	one := &incident.Capacity{Desired: 5, Ready: 3}
	if none.Missing() != 0 || (&incident.Capacity{}).Missing() != 0 {
		t.Error("what was not counted is missing")
	}
	if !none.Same(other) || none.Same(one) || one.Same(none) || !one.Same(&incident.Capacity{At: time.Unix(9, 0), Desired: 5, Ready: 3, Affected: 4}) ||
		one.Same(&incident.Capacity{Desired: 5, Ready: 4}) || one.Same(&incident.Capacity{Desired: 4, Ready: 3}) {
		t.Error("two looks that counted the same, or did not")
	}
}
