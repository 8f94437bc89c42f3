package outbox

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
)

func TestDecodeCleanup(t *testing.T) {
	want := incidenttest.Cleaned(0, nil, 31)
	got, err := report.DecodeMessage(incidenttest.Encoded(t, want))
	if diff := cmp.Diff(report.Message{Summary: &want}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := report.DecodeMessage([]byte(`{"format":101,"kind":"cleanup","id":"x","cluster":"c","at":"2026-11-20T14:59:00Z"}`)); !errors.Is(err, report.ErrNoSummary) {
		t.Errorf("a cleanup of nothing: %v", err)
	}
	// A report function from before takes neither the message nor the record.
	if _, err := report.Decode(incidenttest.Encoded(t, want)); !errors.Is(err, report.ErrNewerFormat) {
		t.Errorf("an observation: %v", err)
	}
}

func TestRenew(t *testing.T) {
	stop := &report.CleanupStop{Candidates: 480, Interfaces: 900, Share: 50}
	type said struct {
		ID              string
		Addresses       int
		Stopped, IsOver bool
	}
	var known []Posting
	for i, step := range []struct {
		s    report.Summary
		want []said
	}{
		{incidenttest.Cleaned(0, nil, 0), nil}, // nothing came back: nobody is told
		{incidenttest.Cleaned(15, nil, 31), []said{{"cleanup/prod/2026-11-20", 31, false, false}}},
		{incidenttest.Cleaned(15, nil, 31), nil},
		{incidenttest.Cleaned(10, nil, 12), nil},
		{incidenttest.Cleaned(30, stop, 31), []said{{"cleanup/prod/2026-11-20/stopped", 0, true, false}, {"cleanup/prod/2026-11-20", 31, false, false}}},
		{incidenttest.Cleaned(20, nil, 31), nil}, // from before it stopped
		{incidenttest.Cleaned(45, nil, 40), []said{{"cleanup/prod/2026-11-20/stopped", 0, true, true}, {"cleanup/prod/2026-11-20", 40, false, false}}},
		{incidenttest.Cleaned(60, nil, 41), []said{{"cleanup/prod/2026-11-20", 41, false, false}}},
		{incidenttest.Cleaned(75, stop, 41), []said{{"cleanup/prod/2026-11-20/stopped", 0, true, false}, {"cleanup/prod/2026-11-20", 41, false, false}}},
	} {
		var got []said
		for _, p := range Renew(known, step.s) {
			c := p.Summary.Cleanup
			line := said{ID: p.Summary.ID, Stopped: c.Stopped != nil, IsOver: c.Stopped != nil && !c.Stopped.Over.IsZero()}
			for _, s := range c.Subnets {
				line.Addresses += s.Addresses
			}
			got = append(got, line)
			if !p.Due() || !p.Done {
				t.Errorf("step %d: %s is due %v, done to others %v", i, p.Summary.ID, p.Due(), p.Done)
			}
			replaced := false
			for k := range known {
				if known[k].Summary.ID == p.Summary.ID {
					known[k], replaced = p, true
				}
			}
			if !replaced {
				known = append(known, p)
			}
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
	}
	if stop.Over != (time.Time{}) {
		t.Error("what was given is changed")
	}
}
