package reconcile_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
)

// Of two verdicts the later counts, whichever comes first; of two at the same time
// the failure.
func TestFind(t *testing.T) {
	const before, same, after = -time.Minute, 0, time.Minute
	for _, test := range []struct {
		have  incident.Found
		found incident.Found
		at    time.Duration
		want  bool
	}{
		{incident.Failing, incident.Passing, before, false},
		{incident.Passing, incident.Failing, before, false},
		{incident.Failing, incident.Failing, before, false},
		{incident.Failing, incident.Passing, same, false},
		{incident.Failing, incident.Absent, same, false},
		{incident.Failing, incident.Failing, same, false},
		{incident.Passing, incident.Failing, same, true},
		{incident.Absent, incident.Failing, same, true},
		{incident.Passing, incident.Passing, same, false},
		{incident.Passing, incident.Absent, same, false},
		{incident.Absent, incident.Passing, same, false},
		{incident.Failing, incident.Passing, after, true},
		{incident.Passing, incident.Failing, after, true},
		{incident.Failing, incident.Failing, after, true},
		{incident.Absent, incident.Passing, after, true},
	} {
		f := &incident.Update{Incident: incident.Incident{Covers: []string{"subnet-1"}, Verdicts: []incident.Verdict{{Of: "subnet-1", Found: test.have, At: incidenttest.Noon}}}}
		want := f.Verdicts[0]
		if test.want {
			want = incident.Verdict{Of: "subnet-1", Found: test.found, At: incidenttest.Noon.Add(test.at)}
		}
		if got := f.RecordVerdict("subnet-1", test.found, incidenttest.Noon.Add(test.at)); got != test.want {
			t.Errorf("%s %s later over %s: news %t", test.found, test.at, test.have, got)
		}
		if diff := cmp.Diff([]incident.Verdict{want}, f.Verdicts); diff != "" {
			t.Errorf("%s %s later over %s (-want +got):\n%s", test.found, test.at, test.have, diff)
		}
	}
}

// What is about instances that have ended can never be found well: it is closed
// without proof when the time for proof is over since it was last seen, and not
// before.
func TestOneOffEndsUnproved(t *testing.T) {
	obs := report.Observation{Format: report.Format, ID: "a", By: "join-check", At: incidenttest.Noon, Cluster: "prod"}
	obs.Diagnosis.Causes = []diagnose.Cause{{Check: checkid.InstanceEndedEarly, Resource: "workers", Covers: []string{"i-1"}, Instances: []string{"i-1"}, Confidence: checks.Certain, Title: "x"}}
	obs.Launches = []report.Launch{{Instance: "i-1", Nodegroup: "workers", Started: incidenttest.Noon.Add(-time.Hour), Status: report.Gone}}
	list, _ := decided(nil, obs, incidenttest.Noon)
	obs.ID, obs.At = "b", incidenttest.Noon.Add(30*time.Minute)
	list, _ = decided(list, obs, obs.At)
	for _, test := range []struct {
		after time.Duration // since it was last seen; the time for proof is an hour
		want  incident.State
	}{{time.Hour - time.Second, incident.Open}, {time.Hour, incident.Closed}} {
		now := obs.At.Add(test.after)
		got, _ := decided(list, report.Observation{Format: report.Format, ID: "sweep", By: "join-check", At: now, Cluster: "prod", Sweep: true}, now)
		if got[0].State != test.want || test.want == incident.Closed && got[0].Resolution != incident.Unproved {
			t.Errorf("after %s it is %s, %s; want %s", test.after, got[0].State, got[0].Resolution, test.want)
		}
	}
}
