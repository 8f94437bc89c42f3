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

// An incident of a nodegroup is about what EKS says: that it passes closes it
// at once, a node is not waited for, and a nodegroup that is gone takes its
// incident along.
func TestNodegroupIncidentsCloseByThemselves(t *testing.T) {
	for _, check := range []checks.ID{"nodegroup/health", "nodegroup/status", "nodegroup/update-failed"} {
		for _, confidence := range []checks.Confidence{checks.Certain, checks.Symptom} {
			for name, test := range map[string]struct {
				after func(*report.Observation)
				want  incident.Resolution
			}{
				"well": {incidenttest.Passed(check, "workers"), incident.Proved},
				"gone": {func(o *report.Observation) { o.Absent = []string{"workers"} }, incident.Withdrawn},
			} {
				broken := incidenttest.Observe(func(o *report.Observation) {
					o.ID, o.At = "1", incidenttest.At(0)
					o.Diagnosis.Causes = []diagnose.Cause{{Check: check, Confidence: confidence, Resource: "workers", Covers: []string{"workers"}, Instances: []string{"i-1"}, Title: "nodegroup workers is DEGRADED", Nodegroups: []string{"workers"}}}
				}, incidenttest.Launched("i-1", 0, report.Missed))
				opened := reconcile.Decide(nil, broken, incidenttest.At(0), incidenttest.Policy)
				if len(opened) != 1 || opened[0].Incident.State != incident.Open {
					t.Fatalf("%s: %+v, want one that is open", check, opened)
				}
				later := incidenttest.Observe(func(o *report.Observation) { o.ID, o.At = "2", incidenttest.At(10) }, test.after)
				got := reconcile.Decide([]incident.Incident{opened[0].Incident}, later, incidenttest.At(10), incidenttest.Policy)
				if len(got) != 1 || got[0].Incident.State != incident.Closed || got[0].Incident.Resolution != test.want {
					t.Errorf("%s (%s) %s: %+v, want it closed, %s", check, confidence, name, got, test.want)
				}
			}
		}
	}
}
