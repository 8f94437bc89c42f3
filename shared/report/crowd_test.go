package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/snapshot"
)

// record is the largest record that is written (package state: 400 KB less
// the keys and some air).
const record = 380 << 10

// crowd is what a look at n instances says that all missed roll call, in a
// nodegroup whose names are as long as they get.
func crowd(n int, check checks.ID, confidence checks.Confidence) Observation {
	obs := Observation{Format: Format, ID: "join-check/" + cluster + "/1", By: "join-check", At: at(10), Account: "123456789012", Region: "us-west-2", Partition: "aws", Cluster: cluster, Read: []snapshot.Source{snapshot.Instances, snapshot.Nodes}}
	var ids []string
	for i := range n {
		id := fmt.Sprintf("i-%017x", uint64(i)*0x9e3779b97f4a7c15>>4)
		ids = append(ids, id)
		obs.Launches = append(obs.Launches, Launch{
			Instance: id, Nodegroup: "a_nodegroup_with_a_rather_long_name", Group: "eks-a_nodegroup_with_a_rather_long_name-0ac1b2c3-d4e5-f607-1829-3a4b5c6d7e8f",
			Subnet: "subnet-0123456789abcdef0", Zone: "us-west-2a", Type: "m5.24xlarge", Started: start.Add(time.Duration(i) * time.Millisecond), Standing: Missed,
		})
	}
	slices.Sort(ids)
	cause := diagnose.Cause{
		Check: check, Confidence: confidence, Resource: "a_nodegroup_with_a_rather_long_name", Covers: ids, Instances: ids,
		Title: fmt.Sprintf("%d instances", n), Why: "No node has their ids.",
	}
	if confidence != checks.Symptom {
		cause.Covers = []string{subnet}
	}
	for range 31 {
		cause.Evidence = append(cause.Evidence, checks.Evidence{What: "i-0123456789abcdef0", Value: fmt.Sprintf("%0200d", 0)})
	}
	obs.Diagnosis.Causes = []diagnose.Cause{cause}
	obs.Diagnosis.Passed = []diagnose.Passed{{Check: "instance/ended-early", Covers: ids}}
	for i := range 100 {
		obs.Facts = append(obs.Facts, Fact{What: fmt.Sprintf("Scaling activity %d", i), Value: fmt.Sprintf("%0200d", 0)})
	}
	return obs
}

// Whatever the crowd, each message fits, and together they say what the one
// would have said.
func TestSplit(t *testing.T) {
	const limit = 1 << 20
	for _, n := range []int{1, 1000, 5000} {
		for _, confidence := range []checks.Confidence{checks.Symptom, checks.Certain} {
			obs := crowd(n, "node/not-registered", confidence)
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
				if _, err := Decode(body); err != nil {
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
	if parts, err := crowd(3, "node/not-registered", checks.Symptom).Split(1 << 10); err == nil {
		t.Errorf("%d parts, want an error", len(parts))
	}
}

// The parts of one look count as one: a throttle seen once is not said.
func TestPartsAreOneLook(t *testing.T) {
	obs := crowd(5000, "node/not-registered", checks.Symptom)
	obs.Blind = []snapshot.Failure{{Source: snapshot.Endpoints, Reason: snapshot.Throttled, Call: "ec2:DescribeVpcEndpoints"}}
	parts, err := obs.Split(256 << 10)
	if err != nil || len(parts) < blindAfter {
		t.Fatalf("%d parts, %v; want at least %d", len(parts), err, blindAfter)
	}
	incidents := decideAll(nil, parts, at(10))
	for _, inc := range incidents {
		if inc.Key.Check == CannotLook && inc.State != Pending {
			t.Errorf("a throttle seen in one look is %q, want %q", inc.State, Pending)
		}
		if inc.Key.Check != CannotLook && (inc.Affected != 5000 || inc.Number != 1) {
			t.Errorf("%s: %d affected, opened %d times, want 5000 and once", inc.Key.Check, inc.Affected, inc.Number)
		}
	}
}

func decideAll(incidents []Incident, list []Observation, now time.Time) []Incident {
	for _, obs := range list {
		for _, d := range Decide(incidents, obs, now, policy) {
			i := slices.IndexFunc(incidents, func(inc Incident) bool { return inc.Key == d.Incident.Key })
			if i < 0 {
				incidents = append(incidents, d.Incident)
			} else {
				incidents[i] = d.Incident
			}
		}
	}
	return incidents
}

// The record of a crowd fits, says how many there are, and reads back as it
// was, so far as it is needed to decide.
func TestRecordOfACrowdFits(t *testing.T) {
	for _, n := range []int{1, 1000, 5000} {
		for _, confidence := range []checks.Confidence{checks.Symptom, checks.Certain} {
			incidents := decideAll(nil, []Observation{crowd(n, "node/not-registered", confidence)}, at(10))
			inc := incidents[0].Fit(record)
			body, err := json.Marshal(inc)
			if err != nil || len(body) > record {
				t.Fatalf("%d instances, %s: %d bytes, %v; want at most %d", n, confidence, len(body), err, record)
			}
			var back Incident
			if err := json.Unmarshal(body, &back); err != nil {
				t.Fatal(err)
			}
			if back.Affected != n {
				t.Errorf("%d instances, %s: %d affected", n, confidence, back.Affected)
			}
			if f := incidents[0].Facts; len(f) != maxFacts+1 || f[maxFacts].Value != "70 more were left out" {
				t.Errorf("%d instances, %s: %d facts are kept, want %d and how many were left out", n, confidence, len(f), maxFacts)
			}
			if diff := cmp.Diff(inc, back); diff != "" {
				t.Errorf("%d instances, %s: read back (-want +got):\n%.2000s", n, confidence, diff)
			}
			for _, l := range crowd(n, "", confidence).Launches {
				if !back.affects(l.Instance) {
					t.Fatalf("%d instances, %s: %s is not known as affected", n, confidence, l.Instance)
				}
			}
		}
	}
}

// While Slack and the bus are down for a day, a cause that comes and goes must
// not make the record too large to be written.
func TestRecordFitsWhileNobodyListens(t *testing.T) {
	var incidents []Incident
	for i := range 288 {
		obs := crowd(1000, "route/no-egress", checks.Certain)
		obs.ID, obs.At = fmt.Sprint(i), at(10+5*i)
		if i%2 == 1 {
			obs.Diagnosis = diagnose.Diagnosis{Passed: []diagnose.Passed{{Check: "route/no-egress", Covers: []string{subnet}}}}
		}
		incidents = decideAll(incidents, []Observation{obs}, obs.At)
		incidents[0] = incidents[0].Fit(record)
		if body, err := json.Marshal(incidents[0]); err != nil || len(body) > record {
			t.Fatalf("after %d observations: %d bytes, %v; want at most %d", i+1, len(body), err, record)
		}
	}
	inc := incidents[0]
	if inc.Affected != 1000 || len(inc.Untold) == 0 || inc.Untold[0].Kind != EventOpened {
		t.Errorf("affected %d, %d untold, want 1000 and the opening first", inc.Affected, len(inc.Untold))
	}
}

// A symptom whose instances are too many to be kept by name ends when the last
// is given up.
func TestCrowdIsGivenUp(t *testing.T) {
	obs := crowd(1000, "node/not-registered", checks.Symptom)
	incidents := decideAll(nil, []Observation{obs}, at(10))
	obs.ID, obs.At = "2", at(130)
	obs.Launches = slices.Clone(obs.Launches)
	for i := range obs.Launches {
		obs.Launches[i].Standing = GivenUp
	}
	incidents = decideAll(incidents, []Observation{obs}, at(130))
	if got := incidents[0]; got.State != Closed || got.Ending != GivenUpOn || got.Affected != 1000 {
		t.Errorf("%s, %s with %d affected, want closed, given-up, 1000", got.State, got.Ending, got.Affected)
	}
}

// The note on who missed roll call counts all of a look, however many messages
// brought it, and however many are kept by name.
func TestAllWhoMissedAreCounted(t *testing.T) {
	for _, limit := range []int{1 << 20, 256 << 10} {
		obs := crowd(1000, "route/no-egress", checks.Certain)
		obs.At = at(1)
		obs.Launches = slices.Clone(obs.Launches)
		for i := range obs.Launches {
			obs.Launches[i].Standing = Waiting
		}
		incidents := decideAll(nil, []Observation{obs}, at(1))
		obs = crowd(1000, "route/no-egress", checks.Certain)
		obs.ID = "2"
		parts, err := obs.Split(limit)
		if err != nil {
			t.Fatal(err)
		}
		incidents = decideAll(incidents, parts, at(10))
		var counts []int
		for _, n := range incidents[0].Said.Notes {
			if n.Reason == HasMissed {
				counts = append(counts, n.Count)
			}
		}
		if !slices.Equal(counts, []int{1000}) {
			t.Errorf("in %d parts: notes tell of %v who missed, want one of 1000", len(parts), counts)
		}
		again := obs
		again.ID, again.At = "3", at(15)
		if got := decideAll(incidents, []Observation{again}, at(15))[0]; len(got.Said.Notes) != len(incidents[0].Said.Notes) || got.Events != incidents[0].Events {
			t.Errorf("in %d parts: the next look, with no news, says more", len(parts))
		}
	}
}
