package reconcile_test

import (
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
)

// What was foretold of an instance that EC2 then takes back is nobody's work
// any more: it is withdrawn when a sweep finds the instance ended, and not
// before, nor because its launch is only said to be gone. A route that is broken
// stays broken whatever becomes of the instance.
func TestForetoldOfAnInstanceThatIsTakenBack(t *testing.T) {
	foretold := func(check checks.ID, covers string) report.Observation {
		return incidenttest.Observe(func(o *report.Observation) {
			o.ID, o.At = "1", incidenttest.At(0)
			o.Diagnosis.Causes = []diagnose.Cause{{Check: check, Confidence: checks.Certain, Resource: covers, Covers: []string{covers}, Instances: []string{"i-1"}, Title: "i-1 will not be able to join", Nodegroups: []string{"workers"}}}
		}, incidenttest.Launched("i-1", 0, report.Waiting))
	}
	for _, test := range []struct {
		check  checks.ID
		covers string
		state  incident.State
		ending incident.Resolution
	}{
		{"instance/user-data", "i-1", incident.Closed, incident.Withdrawn},
		{"route/no-egress", incidenttest.Subnet, incident.Open, ""},
	} {
		opened := reconcile.Decide(nil, foretold(test.check, test.covers), incidenttest.At(0), incidenttest.Policy)
		if len(opened) != 1 || opened[0].Incident.State != incident.Open {
			t.Fatalf("%s: %+v, want one that is open", test.check, opened)
		}
		incidents := []incident.Incident{opened[0].Incident}
		for i, obs := range []report.Observation{incidenttest.Observe(incidenttest.Launched("i-1", 0, report.Gone)), incidenttest.Observe(incidenttest.Absent("i-1"))} {
			obs.ID, obs.At = string(rune('2'+i)), incidenttest.At(2+i)
			for _, c := range reconcile.Decide(incidents, obs, incidenttest.At(2+i), incidenttest.Policy) {
				incidents[0] = c.Incident
			}
			if i == 0 && incidents[0].State != incident.Open {
				t.Errorf("%s: %s before a sweep has seen it", test.check, incidents[0].State)
			}
		}
		if got := incidents[0]; got.State != test.state || got.Resolution != test.ending {
			t.Errorf("%s: %s, %q; want %s, %q", test.check, got.State, got.Resolution, test.state, test.ending)
		}
	}
}
