package reconcile_test

import (
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
)

// TestCapacityIsOfOneMoment: what the groups want is said as the newest look counted it,
// and not beside launches that stand otherwise since.
func TestCapacityIsOfOneMoment(t *testing.T) {
	launched := func(id string, status report.LaunchStatus) report.Launch {
		return report.Launch{Instance: id, Nodegroup: "workers", Group: "eks-workers", Started: incidenttest.Start, Status: status}
	}
	look := func(after time.Duration, id string, ready int, launches ...report.Launch) report.Observation {
		o := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Named(id))
		o.Launches, o.At = launches, incidenttest.Start.Add(after)
		if ready >= 0 {
			o.Capacity = []report.Capacity{{Group: "eks-workers", Nodegroup: "workers", Desired: 5, Ready: ready}}
		}
		return o
	}
	one := launched("i-1", report.Waiting)
	for name, test := range map[string]struct {
		looks []report.Observation
		want  int // missing; -1 for not told
	}{
		"counted":                        {[]report.Observation{look(0, "a", 4, one)}, 1},
		"counted anew":                   {[]report.Observation{look(0, "a", 4, one), look(5*time.Minute, "b", 2, one)}, 3},
		"not counted":                    {[]report.Observation{look(0, "a", -1, one)}, -1},
		"an old look comes late":         {[]report.Observation{look(5*time.Minute, "b", 2, one), look(0, "a", 4, one)}, 3},
		"counted a sweep ago":            {[]report.Observation{look(0, "a", 4, one), look(5*time.Minute, "b", -1, one)}, 1},
		"counted long ago":               {[]report.Observation{look(0, "a", 4, one), look(20*time.Minute, "b", -1, one)}, -1},
		"a launch joined since":          {[]report.Observation{look(0, "a", 4, one), look(time.Minute, "b", -1, launched("i-1", report.Joined))}, -1},
		"a launch of a group not told":   {[]report.Observation{look(0, "a", 4, report.Launch{Instance: "i-1", Group: "another", Status: report.Waiting})}, -1},
		"a NodePool wants no number":     {[]report.Observation{look(0, "a", 4, report.Launch{Instance: "i-1", Nodegroup: "default", Status: report.Waiting})}, -1},
		"more than wanted, in an update": {[]report.Observation{look(0, "a", 6, one)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var known []incident.Incident
			for _, o := range test.looks {
				for _, d := range reconcile.Decide(known, o, o.At, incidenttest.Policy) {
					known = incidenttest.With(known, d.Incident)
				}
			}
			if len(known) != 1 {
				t.Fatalf("%d incidents", len(known))
			}
			got := -1
			if known[0].Capacity != nil {
				got = known[0].Capacity.Missing()
			}
			if got != test.want {
				t.Errorf("%d missing, want %d: %+v", got, test.want, known[0].Capacity)
			}
		})
	}
}
