package reconcile_test

import (
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
)

// A look that was woken by a reminder does not know its account: what is known
// stays, or no remedy could be planned until the next sweep.
func TestALookWithoutAnAccountTakesNothingAway(t *testing.T) {
	first := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting))
	first.Account, first.Region, first.Partition, first.ID, first.At = "111122223333", "us-west-2", "aws", "first", incidenttest.Start
	var list []incident.Incident
	for _, d := range reconcile.Decide(nil, first, incidenttest.Start, incident.Policy{}) {
		list = append(list, d.Incident)
	}
	later := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Missed))
	later.Account, later.Region, later.Partition, later.ID, later.At = "", "", "", "later", incidenttest.Start.Add(5*time.Minute)
	got := reconcile.Decide(list, later, incidenttest.Start.Add(5*time.Minute), incident.Policy{})
	if len(got) != 1 || !got[0].Changed || got[0].Incident.Account != "111122223333" || got[0].Incident.Region != "us-west-2" || got[0].Incident.Partition != "aws" {
		t.Errorf("decided %+v, want the same place", got)
	}
}
