package report

import (
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

// An incident of a nodegroup is about what EKS says: that it passes closes it
// at once, a node is not waited for, and a nodegroup that is gone takes its
// incident along.
func TestNodegroupIncidentsCloseByThemselves(t *testing.T) {
	for _, check := range []checks.ID{"nodegroup/health", "nodegroup/status", "nodegroup/update-failed"} {
		for _, confidence := range []checks.Confidence{checks.Certain, checks.Symptom} {
			for name, test := range map[string]struct {
				after func(*Observation)
				want  Ending
			}{
				"well": {passed(check, "workers"), Proved},
				"gone": {func(o *Observation) { o.Absent = []string{"workers"} }, Withdrawn},
			} {
				broken := observe(func(o *Observation) {
					o.ID, o.At = "1", at(0)
					o.Diagnosis.Causes = []diagnose.Cause{{Check: check, Confidence: confidence, Resource: "workers", Covers: []string{"workers"}, Instances: []string{"i-1"}, Title: "nodegroup workers is DEGRADED", Nodegroups: []string{"workers"}}}
				}, launched("i-1", 0, Missed))
				opened := Decide(nil, broken, at(0), policy)
				if len(opened) != 1 || opened[0].Incident.State != Open {
					t.Fatalf("%s: %+v, want one that is open", check, opened)
				}
				later := observe(func(o *Observation) { o.ID, o.At = "2", at(10) }, test.after)
				got := Decide([]Incident{opened[0].Incident}, later, at(10), policy)
				if len(got) != 1 || got[0].Incident.State != Closed || got[0].Incident.Ending != test.want {
					t.Errorf("%s (%s) %s: %+v, want it closed, %s", check, confidence, name, got, test.want)
				}
			}
		}
	}
}
