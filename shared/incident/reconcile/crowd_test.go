package reconcile_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// Whatever the crowd, each message fits, and together they say what the one
// would have said.
func TestSplit(t *testing.T) {
	const limit = 1 << 20
	for _, n := range []int{1, 1000, 5000} {
		for _, confidence := range []checks.Confidence{checks.Symptom, checks.Certain} {
			obs := incidenttest.Crowd(n, "node/not-registered", confidence)
			parts, err := obs.Split(limit)
			if err != nil {
				t.Fatalf("%d instances: %v", n, err)
			}
			var launches, affected, passed []string
			ids := map[string]bool{}
			for _, p := range parts {
				body, err := json.Marshal(p)
				if err != nil || len(body) > limit {
					t.Errorf("%d instances: a part of %d bytes, %v; want at most %d", n, len(body), err, limit)
				}
				if _, err := report.Decode(body); err != nil {
					t.Errorf("%d instances: %v", n, err)
				}
				ids[p.ID] = true
				for _, l := range p.Launches {
					launches = append(launches, l.Instance)
				}
				for _, c := range p.Diagnosis.Causes {
					affected = append(affected, c.Instances...)
				}
				for _, c := range p.Diagnosis.Passed {
					passed = append(passed, c.Covers...)
				}
			}
			slices.Sort(launches)
			want := obs.Diagnosis.Causes[0].Instances
			if !slices.Equal(launches, want) || !slices.Equal(affected, want) || !slices.Equal(passed, want) {
				t.Errorf("%d instances: parts tell of %d launches, %d affected, %d passed, want each once", n, len(launches), len(affected), len(passed))
			}
			if len(ids) != len(parts) || parts[0].ID != obs.ID {
				t.Errorf("%d instances: %d ids for %d parts, the first %q", n, len(ids), len(parts), parts[0].ID)
			}
			if n <= 1000 && len(parts) != 1 {
				t.Errorf("%d instances: %d parts, want 1", n, len(parts))
			}
		}
	}
}

// An observation that no cut makes small enough is an error, not a loop.
func TestSplitTooLarge(t *testing.T) {
	if parts, err := incidenttest.Crowd(3, "node/not-registered", checks.Symptom).Split(1 << 10); err == nil {
		t.Errorf("%d parts, want an error", len(parts))
	}
}

// The parts of one look count as one: a throttle seen once is not said.
func TestPartsAreOneLook(t *testing.T) {
	obs := incidenttest.Crowd(5000, "node/not-registered", checks.Symptom)
	obs.Blind = []snapshot.Failure{{Source: snapshot.Endpoints, Reason: snapshot.Throttled, Call: "ec2:DescribeVpcEndpoints"}}
	parts, err := obs.Split(256 << 10)
	if err != nil || len(parts) < reconcile.LooksBeforeSaid {
		t.Fatalf("%d parts, %v; want at least %d", len(parts), err, reconcile.LooksBeforeSaid)
	}
	incidents := incidenttest.DecideAll(nil, parts, incidenttest.At(10))
	for _, inc := range incidents {
		if inc.Key.Check == incident.CannotLook && inc.State != incident.Pending {
			t.Errorf("a throttle seen in one look is %q, want %q", inc.State, incident.Pending)
		}
		if inc.Key.Check != incident.CannotLook && (inc.Affected != 5000 || inc.Number != 1) {
			t.Errorf("%s: %d affected, opened %d times, want 5000 and once", inc.Key.Check, inc.Affected, inc.Number)
		}
	}
}

// The record of a crowd fits, says how many there are, and reads back as it
// was, so far as it is needed to decide.
func TestRecordOfACrowdFits(t *testing.T) {
	for _, n := range []int{1, 1000, 5000} {
		for _, confidence := range []checks.Confidence{checks.Symptom, checks.Certain} {
			incidents := incidenttest.DecideAll(nil, []report.Observation{incidenttest.Crowd(n, "node/not-registered", confidence)}, incidenttest.At(10))
			inc := incidents[0].Fit(incidenttest.Record)
			body, err := json.Marshal(inc)
			if err != nil || len(body) > incidenttest.Record {
				t.Fatalf("%d instances, %s: %d bytes, %v; want at most %d", n, confidence, len(body), err, incidenttest.Record)
			}
			var back incident.Incident
			if err := json.Unmarshal(body, &back); err != nil {
				t.Fatal(err)
			}
			if back.Affected != n {
				t.Errorf("%d instances, %s: %d affected", n, confidence, back.Affected)
			}
			if f := incidents[0].Facts; len(f) != incident.MaxFacts+1 || f[incident.MaxFacts].Value != "70 more were left out" {
				t.Errorf("%d instances, %s: %d facts are kept, want %d and how many were left out", n, confidence, len(f), incident.MaxFacts)
			}
			if diff := cmp.Diff(inc, back); diff != "" {
				t.Errorf("%d instances, %s: read back (-want +got):\n%.2000s", n, confidence, diff)
			}
			for _, l := range incidenttest.Crowd(n, "", confidence).Launches {
				if !back.Affects(l.Instance) {
					t.Fatalf("%d instances, %s: %s is not known as affected", n, confidence, l.Instance)
				}
			}
		}
	}
}

// While Slack and the bus are down for a day, a cause that comes and goes must
// not make the record too large to be written.
func TestRecordFitsWhileNobodyListens(t *testing.T) {
	var incidents []incident.Incident
	for i := range 288 {
		obs := incidenttest.Crowd(1000, "route/no-egress", checks.Certain)
		obs.ID, obs.At = fmt.Sprint(i), incidenttest.At(10+5*i)
		if i%2 == 1 {
			obs.Diagnosis = diagnose.Diagnosis{Passed: []diagnose.Passed{{Check: "route/no-egress", Covers: []string{incidenttest.Subnet}}}}
		}
		incidents = incidenttest.DecideAll(incidents, []report.Observation{obs}, obs.At)
		incidents[0] = incidents[0].Fit(incidenttest.Record)
		if body, err := json.Marshal(incidents[0]); err != nil || len(body) > incidenttest.Record {
			t.Fatalf("after %d observations: %d bytes, %v; want at most %d", i+1, len(body), err, incidenttest.Record)
		}
	}
	inc := incidents[0]
	if inc.Affected != 1000 || len(inc.PendingEvents) == 0 || inc.PendingEvents[0].Kind != incident.EventOpened {
		t.Errorf("affected %d, %d untold, want 1000 and the opening first", inc.Affected, len(inc.PendingEvents))
	}
}

// A symptom whose instances are too many to be kept by name ends when the last
// is given up.
func TestCrowdIsGivenUp(t *testing.T) {
	obs := incidenttest.Crowd(1000, "node/not-registered", checks.Symptom)
	incidents := incidenttest.DecideAll(nil, []report.Observation{obs}, incidenttest.At(10))
	obs.ID, obs.At = "2", incidenttest.At(130)
	obs.Launches = slices.Clone(obs.Launches)
	for i := range obs.Launches {
		obs.Launches[i].Status = report.GivenUp
	}
	incidents = incidenttest.DecideAll(incidents, []report.Observation{obs}, incidenttest.At(130))
	if got := incidents[0]; got.State != incident.Closed || got.Resolution != incident.GivenUpOn || got.Affected != 1000 {
		t.Errorf("%s, %s with %d affected, want closed, given-up, 1000", got.State, got.Resolution, got.Affected)
	}
}

// The note on who missed roll call counts all of a look, however many messages
// brought it, and however many are kept by name.
func TestAllWhoMissedAreCounted(t *testing.T) {
	for _, limit := range []int{1 << 20, 256 << 10} {
		obs := incidenttest.Crowd(1000, "route/no-egress", checks.Certain)
		obs.At = incidenttest.At(1)
		obs.Launches = slices.Clone(obs.Launches)
		for i := range obs.Launches {
			obs.Launches[i].Status = report.Waiting
		}
		incidents := incidenttest.DecideAll(nil, []report.Observation{obs}, incidenttest.At(1))
		obs = incidenttest.Crowd(1000, "route/no-egress", checks.Certain)
		obs.ID = "2"
		parts, err := obs.Split(limit)
		if err != nil {
			t.Fatal(err)
		}
		incidents = incidenttest.DecideAll(incidents, parts, incidenttest.At(10))
		var counts []int
		for _, n := range incidents[0].Delivery.Notes {
			if n.Reason == incident.HasMissed {
				counts = append(counts, n.Count)
			}
		}
		if !slices.Equal(counts, []int{1000}) {
			t.Errorf("in %d parts: notes tell of %v who missed, want one of 1000", len(parts), counts)
		}
		again := obs
		again.ID, again.At = "3", incidenttest.At(15)
		if got := incidenttest.DecideAll(incidents, []report.Observation{again}, incidenttest.At(15))[0]; len(got.Delivery.Notes) != len(incidents[0].Delivery.Notes) || got.Events != incidents[0].Events {
			t.Errorf("in %d parts: the next look, with no news, says more", len(parts))
		}
	}
}
