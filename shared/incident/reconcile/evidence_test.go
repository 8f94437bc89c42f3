package reconcile

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// TestEvidenceOfAnIncident: it keeps the evidence of when it opened, and the newest; when
// it comes back both are new. A look that kept none, and one from before, change nothing.
func TestEvidenceOfAnIncident(t *testing.T) {
	var known []incident.Incident
	look := func(minute int, key string, fails bool) *incident.Evidence {
		t.Helper()
		obs := report.Observation{Format: report.Format, ID: key + at(minute).String(), By: "join-check", At: at(minute), Cluster: "prod", Evidence: key}
		if fails {
			obs.Diagnosis.Causes = []diagnose.Cause{{Check: "route/a", Resource: "rtb-1", Covers: []string{"subnet-1"}, Confidence: checks.Certain, Title: "x"}}
		} else {
			obs.Absent = []string{"subnet-1"}
		}
		for _, d := range Decide(known, obs, at(minute+1), incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour}) {
			known = []incident.Incident{d.Incident}
		}
		return known[0].Evidence
	}
	for _, step := range []struct {
		minute int
		key    string
		fails  bool
		want   incident.Evidence
	}{
		{10, "a", true, incident.Evidence{Opened: "a", Newest: "a"}},
		{20, "b", true, incident.Evidence{Opened: "a", Newest: "b"}},
		{30, "", true, incident.Evidence{Opened: "a", Newest: "b"}},
		{15, "late", true, incident.Evidence{Opened: "a", Newest: "b"}},
		{40, "", false, incident.Evidence{Opened: "a", Newest: "b"}},
		{50, "c", true, incident.Evidence{Opened: "c", Newest: "c"}},
	} {
		before := known
		if diff := cmp.Diff(&step.want, look(step.minute, step.key, step.fails)); diff != "" {
			t.Errorf("minute %d (-want +got):\n%s", step.minute, diff)
		}
		if len(before) > 0 && step.minute == 20 && before[0].Evidence.Newest != "a" {
			t.Error("what was known before is changed")
		}
	}
	if known[0].Number != 2 {
		t.Errorf("it opened %d times, want twice", known[0].Number)
	}
	var earlier incident.Incident
	if err := json.Unmarshal([]byte(`{"key":{"cluster":"prod","check":"route/a","resource":"rtb-1"},"state":"open"}`), &earlier); err != nil || earlier.Evidence != nil {
		t.Errorf("a record of an earlier release: %v, %+v", err, earlier.Evidence)
	}
}
