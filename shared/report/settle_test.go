package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

// Of two verdicts the later counts, whichever comes first; of two at the same time
// the failure.
func TestFind(t *testing.T) {
	const before, same, after = -time.Minute, 0, time.Minute
	for _, test := range []struct {
		have  Found
		found Found
		at    time.Duration
		want  bool
	}{
		{Failing, Passing, before, false},
		{Passing, Failing, before, false},
		{Failing, Failing, before, false},
		{Failing, Passing, same, false},
		{Failing, Absent, same, false},
		{Failing, Failing, same, false},
		{Passing, Failing, same, true},
		{Absent, Failing, same, true},
		{Passing, Passing, same, false},
		{Passing, Absent, same, false},
		{Absent, Passing, same, false},
		{Failing, Passing, after, true},
		{Passing, Failing, after, true},
		{Failing, Failing, after, true},
		{Absent, Passing, after, true},
	} {
		f := &draft{Incident: Incident{Covers: []string{"subnet-1"}, Verdicts: []Verdict{{Of: "subnet-1", Found: test.have, At: noon}}}}
		want := f.Verdicts[0]
		if test.want {
			want = Verdict{Of: "subnet-1", Found: test.found, At: noon.Add(test.at)}
		}
		if got := f.find("subnet-1", test.found, noon.Add(test.at)); got != test.want {
			t.Errorf("%s %s later over %s: news %t", test.found, test.at, test.have, got)
		}
		if diff := cmp.Diff([]Verdict{want}, f.Verdicts); diff != "" {
			t.Errorf("%s %s later over %s (-want +got):\n%s", test.found, test.at, test.have, diff)
		}
	}
}

// What is about instances that have ended can never be found well: it is closed
// without proof when the time for proof is over since it was last seen, and not
// before.
func TestOneOffEndsUnproved(t *testing.T) {
	obs := Observation{Format: Format, ID: "a", By: "join-check", At: noon, Cluster: "prod"}
	obs.Diagnosis.Causes = []diagnose.Cause{{Check: endedEarly, Resource: "workers", Covers: []string{"i-1"}, Instances: []string{"i-1"}, Confidence: checks.Certain, Title: "x"}}
	obs.Launches = []Launch{{Instance: "i-1", Nodegroup: "workers", Started: noon.Add(-time.Hour), Standing: Gone}}
	list, _ := decided(nil, obs, noon)
	obs.ID, obs.At = "b", noon.Add(30*time.Minute)
	list, _ = decided(list, obs, obs.At)
	for _, test := range []struct {
		after time.Duration // since it was last seen; the time for proof is an hour
		want  State
	}{{time.Hour - time.Second, Open}, {time.Hour, Closed}} {
		now := obs.At.Add(test.after)
		got, _ := decided(list, Observation{Format: Format, ID: "sweep", By: "join-check", At: now, Cluster: "prod", Sweep: true}, now)
		if got[0].State != test.want || test.want == Closed && got[0].Ending != Unproved {
			t.Errorf("after %s it is %s, %s; want %s", test.after, got[0].State, got[0].Ending, test.want)
		}
	}
}
