package incident_test

import (
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// What an event says is believed as far as the record says the same.
func TestFromRecord(t *testing.T) {
	opened := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	record := func(state incident.State, acked bool) incident.Incident {
		inc := incident.Incident{Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0a"}, State: state, Opened: opened, Changed: opened.Add(time.Hour), Events: 4}
		if acked {
			inc.Ack = &incident.Ack{}
		}
		return inc
	}
	for name, tt := range map[string]struct {
		state    incident.State
		acked    bool
		kind     incident.EventKind
		sequence int
		opened   time.Time
		want     bool
	}{
		"opened":                     {incident.Open, false, incident.EventOpened, 1, opened, true},
		"reopened":                   {incident.Open, false, incident.EventReopened, 3, opened, true},
		"changed, the newest":        {incident.Open, false, incident.EventChanged, 4, opened, true},
		"changed, of a closed one":   {incident.Closed, false, incident.EventChanged, 4, opened, false},
		"resolved":                   {incident.Closed, false, incident.EventResolved, 4, opened, true},
		"resolved, and is open":      {incident.Open, false, incident.EventResolved, 4, opened, false},
		"acknowledged":               {incident.Open, true, incident.EventAcknowledged, 2, opened, true},
		"acknowledged by nobody":     {incident.Open, false, incident.EventAcknowledged, 2, opened, false},
		"acknowledged, and closed":   {incident.Closed, true, incident.EventAcknowledged, 2, opened, false},
		"newer than the record":      {incident.Open, false, incident.EventChanged, 5, opened, false},
		"before the first":           {incident.Open, false, incident.EventChanged, 0, opened, false},
		"of another opening":         {incident.Open, false, incident.EventChanged, 4, opened.Add(time.Second), false},
		"a remedy, of which it says": {incident.Open, false, incident.EventActed, 4, opened, false},
	} {
		inc := record(tt.state, tt.acked)
		e, ok := inc.FromRecord(incident.Event{Kind: tt.kind, Sequence: tt.sequence, Opened: tt.opened, Title: "forged"})
		if ok != tt.want || ok && (e.Kind != tt.kind || e.Sequence != tt.sequence || e.Cluster != "prod" || e.Title == "forged") {
			t.Errorf("%s: %t, %+v", name, ok, e)
		}
		if !ok && e.Kind != "" {
			t.Errorf("%s: refused with an event: %+v", name, e)
		}
	}
}

// An event is the record's where the bus took it, or is about to, with all that it says.
func TestWasPublished(t *testing.T) {
	e := incident.Event{ID: "a/1", Kind: incident.EventOpened, Title: "said"}
	other := e
	other.Title = "forged"
	if d := e.Digest(); len(d) != 24 || d == other.Digest() {
		t.Fatalf("digests %q and %q", d, other.Digest())
	}
	for name, inc := range map[string]incident.Incident{
		"published": {Published: []string{e.Digest()}},
		"pending":   {PendingEvents: []incident.Event{e}},
	} {
		if !inc.WasPublished(e) || inc.WasPublished(other) {
			t.Errorf("%s: %t, and the forged one %t", name, inc.WasPublished(e), inc.WasPublished(other))
		}
	}
	if (&incident.Incident{}).WasPublished(e) {
		t.Error("of a record without events")
	}
}
