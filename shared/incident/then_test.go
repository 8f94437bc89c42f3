package incident_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
)

// A note that is sent late shows what there was, not what there is.
func TestAsOf(t *testing.T) {
	steps := []incidenttest.Step{
		{Name: "launch", Obs: incidenttest.Observe(incidenttest.Route("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.Waiting), incidenttest.Launched("i-2", 0, report.Waiting)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.Opened}},
		{Name: "missed", Minute: 5, Obs: incidenttest.Observe(incidenttest.Route("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.Launched("i-2", 0, report.Missed)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.HasMissed}},
	}
	then := incidenttest.Play(t, steps)[0]
	now := incidenttest.Play(t, append(steps,
		incidenttest.Step{Name: "gone", Minute: 10, Obs: incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-1", 0, report.Gone), incidenttest.Launched("i-2", 0, report.Joined), incidenttest.ReadyAt(11)), Want: map[report.Key]incident.Reason{incidenttest.TheRoute: incident.IsProved}},
	))[0]
	got := now.AsOf(now.Delivery.Notes[1])
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"state", got.State, then.State},
		{"ending", got.Resolution, then.Resolution},
		{"resolved", got.Resolved, then.Resolved},
		{"cleared by", got.ClearedBy, then.ClearedBy},
		{"launches", got.Launches, then.Launches},
		{"affected", got.Affected, then.Affected},
		{"changed", got.Changed, incidenttest.At(5)},
	} {
		if diff := cmp.Diff(f.want, f.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.name, diff)
		}
	}
	if now.State != incident.Closed || now.Count(report.Gone) != 1 {
		t.Errorf("AsOf changed the incident: %q, %d gone", now.State, now.Count(report.Gone))
	}
}

func TestSent(t *testing.T) {
	n := incident.Note{ID: "opened", At: incidenttest.Start, Reason: incident.Opened, Times: 1, Sending: incidenttest.Start.Add(time.Minute), Count: 3, Then: &incident.Then{}}
	want := incident.Note{ID: "opened", At: incidenttest.Start, Reason: incident.Opened, Times: 1, TS: "1.2"}
	got := n.Sent("1.2")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("note (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(incident.Incident{State: incident.Open}, incident.Incident{State: incident.Open}.AsOf(got)); diff != "" {
		t.Errorf("a sent note changes nothing (-want +got):\n%s", diff)
	}
}
