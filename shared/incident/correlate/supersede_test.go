package correlate_test

import (
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
)

// A nodegroup is DEGRADED without an issue, and gets one later: one message
// stands, the one that says more.
func TestStatusGivesWayToItsIssue(t *testing.T) {
	cause := func(check checks.ID, resource string, hidden ...diagnose.Hidden) diagnose.Cause {
		return diagnose.Cause{Check: check, Confidence: checks.Certain, Resource: resource, Covers: []string{resource}, Title: "nodegroup is degraded", Nodegroups: []string{resource}, Hidden: hidden}
	}
	at0 := incidenttest.Observe(func(o *report.Observation) {
		o.ID, o.At = "1", incidenttest.At(0)
		o.Diagnosis.Causes = []diagnose.Cause{cause("nodegroup/status", "workers"), cause("nodegroup/status", "others")}
	})
	var incidents []incident.Incident
	for _, d := range reconcile.Decide(nil, at0, incidenttest.At(0), incidenttest.Policy) {
		incidents = append(incidents, d.Incident)
	}
	at5 := incidenttest.Observe(func(o *report.Observation) {
		o.ID, o.At = "2", incidenttest.At(5)
		o.Diagnosis.Causes = []diagnose.Cause{cause("nodegroup/health", "workers", diagnose.Hidden{Check: "nodegroup/status", Because: "nodegroup/health"})}
	})
	got := map[report.Key]incident.Incident{}
	for _, d := range reconcile.Decide(incidents, at5, incidenttest.At(5), incidenttest.Policy) {
		got[d.Incident.Key] = d.Incident
	}
	key := func(check checks.ID, resource string) report.Key {
		return report.Key{Cluster: at5.Cluster, Check: check, Resource: resource}
	}
	if i := got[key("nodegroup/status", "workers")]; i.State != incident.Closed || i.Resolution != incident.Superseded {
		t.Errorf("the status of workers is %s %s, want it superseded", i.State, i.Resolution)
	}
	if i := got[key("nodegroup/health", "workers")]; i.State != incident.Open {
		t.Errorf("the issue of workers is %s, want it open", i.State)
	}
	if i, touched := got[key("nodegroup/status", "others")]; touched {
		t.Errorf("the status of others is %s %s, want it left alone", i.State, i.Resolution)
	}
}
