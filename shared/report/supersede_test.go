package report

import (
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

// A nodegroup is DEGRADED without an issue, and gets one later: one message
// stands, the one that says more.
func TestStatusGivesWayToItsIssue(t *testing.T) {
	cause := func(check checks.ID, resource string, hidden ...diagnose.Hidden) diagnose.Cause {
		return diagnose.Cause{Check: check, Confidence: checks.Certain, Resource: resource, Covers: []string{resource}, Title: "nodegroup is degraded", Nodegroups: []string{resource}, Hidden: hidden}
	}
	at0 := observe(func(o *Observation) {
		o.ID, o.At = "1", at(0)
		o.Diagnosis.Causes = []diagnose.Cause{cause("nodegroup/status", "workers"), cause("nodegroup/status", "others")}
	})
	var incidents []Incident
	for _, d := range Decide(nil, at0, at(0), policy) {
		incidents = append(incidents, d.Incident)
	}
	at5 := observe(func(o *Observation) {
		o.ID, o.At = "2", at(5)
		o.Diagnosis.Causes = []diagnose.Cause{cause("nodegroup/health", "workers", diagnose.Hidden{Check: "nodegroup/status", Because: "nodegroup/health"})}
	})
	got := map[Key]Incident{}
	for _, d := range Decide(incidents, at5, at(5), policy) {
		got[d.Incident.Key] = d.Incident
	}
	key := func(check checks.ID, resource string) Key {
		return Key{Cluster: at5.Cluster, Check: check, Resource: resource}
	}
	if i := got[key("nodegroup/status", "workers")]; i.State != Closed || i.Ending != Superseded {
		t.Errorf("the status of workers is %s %s, want it superseded", i.State, i.Ending)
	}
	if i := got[key("nodegroup/health", "workers")]; i.State != Open {
		t.Errorf("the issue of workers is %s, want it open", i.State)
	}
	if i, touched := got[key("nodegroup/status", "others")]; touched {
		t.Errorf("the status of others is %s %s, want it left alone", i.State, i.Ending)
	}
}
