package report

import (
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

// What was foretold of an instance that EC2 then takes back is nobody's work
// any more: it is withdrawn when a sweep finds the instance ended, and not
// before, nor because its launch is only said to be gone. A route that is broken
// stays broken whatever becomes of the instance.
func TestForetoldOfAnInstanceThatIsTakenBack(t *testing.T) {
	foretold := func(check checks.ID, covers string) Observation {
		return observe(func(o *Observation) {
			o.ID, o.At = "1", at(0)
			o.Diagnosis.Causes = []diagnose.Cause{{Check: check, Confidence: checks.Certain, Resource: covers, Covers: []string{covers}, Instances: []string{"i-1"}, Title: "i-1 will not be able to join", Nodegroups: []string{"workers"}}}
		}, launched("i-1", 0, Waiting))
	}
	for _, test := range []struct {
		check  checks.ID
		covers string
		state  State
		ending Ending
	}{
		{"instance/user-data", "i-1", Closed, Withdrawn},
		{"route/no-egress", subnet, Open, ""},
	} {
		opened := Decide(nil, foretold(test.check, test.covers), at(0), policy)
		if len(opened) != 1 || opened[0].Incident.State != Open {
			t.Fatalf("%s: %+v, want one that is open", test.check, opened)
		}
		incidents := []Incident{opened[0].Incident}
		for i, obs := range []Observation{observe(launched("i-1", 0, Gone)), observe(absent("i-1"))} {
			obs.ID, obs.At = string(rune('2'+i)), at(2+i)
			for _, c := range Decide(incidents, obs, at(2+i), policy) {
				incidents[0] = c.Incident
			}
			if i == 0 && incidents[0].State != Open {
				t.Errorf("%s: %s before a sweep has seen it", test.check, incidents[0].State)
			}
		}
		if got := incidents[0]; got.State != test.state || got.Ending != test.ending {
			t.Errorf("%s: %s, %q; want %s, %q", test.check, got.State, got.Ending, test.state, test.ending)
		}
	}
}
