package reconcile_test

import (
	"testing"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
)

// A sweep sees that a subnet is empty, minutes before the roll call of the burst
// that emptied it: what the burst asked for is said then, in place of it, and
// the next sweep does not say again that the subnet is empty.
func TestTheBurstTakesThePlaceOfTheEmptySubnet(t *testing.T) {
	seen := func(id string, minute int, causes ...diagnose.Cause) report.Observation {
		return incidenttest.Observe(func(o *report.Observation) { o.ID, o.At, o.Diagnosis.Causes = id, incidenttest.At(minute), causes })
	}
	empty := diagnose.Cause{Check: checkid.IPSubnetExhausted, Confidence: checks.Certain, Resource: incidenttest.Subnet, Covers: []string{incidenttest.Subnet}, Title: incidenttest.Subnet + " has no free address"}
	burst := diagnose.Cause{
		Check: "spot/burst-exceeds-subnet", Confidence: checks.Certain, Resource: incidenttest.Subnet, Covers: []string{incidenttest.Subnet}, Instances: []string{"i-1"},
		Title: "12 launches needed 720 addresses", Hidden: []diagnose.Hidden{{Check: checkid.IPSubnetExhausted, Because: "spot/burst-exceeds-subnet"}},
	}
	other := empty
	other.Resource, other.Covers = "subnet-other", []string{"subnet-other"}
	var incidents []incident.Incident
	for n, obs := range []report.Observation{
		seen("1", 0, empty, other),
		seen("2", 3, burst, other),
		seen("3", 5, empty, other),
	} {
		for _, c := range reconcile.Decide(incidents, obs, obs.At, incidenttest.Policy) {
			i := -1
			for k := range incidents {
				if incidents[k].Key == c.Incident.Key {
					i = k
				}
			}
			if i < 0 {
				incidents = append(incidents, c.Incident)
				continue
			}
			incidents[i] = c.Incident
		}
		states := map[report.Key]string{}
		for _, inc := range incidents {
			states[inc.Key] = string(inc.State) + " " + string(inc.Resolution)
		}
		want := "open "
		if n > 0 {
			want = "closed superseded"
		}
		key := func(c diagnose.Cause) report.Key {
			return report.Key{Cluster: obs.Cluster, Check: c.Check, Resource: c.Resource}
		}
		if got := states[key(empty)]; got != want {
			t.Errorf("look %d: the empty subnet is %q, want %q", n+1, got, want)
		}
		if got := states[key(burst)]; n > 0 && got != "open " {
			t.Errorf("look %d: the burst is %q, want open", n+1, got)
		}
		if got := states[key(other)]; got != "open " {
			t.Errorf("look %d: another subnet is %q, want open: no burst tells of it", n+1, got)
		}
	}
}
