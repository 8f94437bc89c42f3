package report

import (
	"testing"
	"time"
)

// A look that was woken by a reminder does not know its account: what is known
// stays, or no remedy could be planned until the next sweep.
func TestALookWithoutAnAccountTakesNothingAway(t *testing.T) {
	first := observe(route("i-1"), launched("i-1", 0, Waiting))
	first.Account, first.Region, first.Partition, first.ID, first.At = "111122223333", "us-west-2", "aws", "first", start
	var list []Incident
	for _, d := range Decide(nil, first, start, Policy{}) {
		list = append(list, d.Incident)
	}
	later := observe(route("i-1"), launched("i-1", 0, Missed))
	later.Account, later.Region, later.Partition, later.ID, later.At = "", "", "", "later", start.Add(5*time.Minute)
	got := Decide(list, later, start.Add(5*time.Minute), Policy{})
	if len(got) != 1 || !got[0].Changed || got[0].Incident.Account != "111122223333" || got[0].Incident.Region != "us-west-2" || got[0].Incident.Partition != "aws" {
		t.Errorf("decided %+v, want the same place", got)
	}
}
