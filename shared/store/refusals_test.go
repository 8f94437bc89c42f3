package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/interaction"
)

func TestRefusals(t *testing.T) {
	now := start
	s := open(t, &now)
	record := func(reason interaction.Reason, request string, after time.Duration) interaction.Record {
		return interaction.Record{Format: interaction.RecordFormat, At: start.Add(after), Reason: reason, Says: "why", Source: "192.0.2.1", Request: request, Bytes: 9}
	}
	var want []interaction.Record
	for _, test := range []struct {
		record  interaction.Record
		written bool
	}{
		{record(interaction.Forged, "a", time.Second), true},
		{record(interaction.Forged, "b", 2*time.Second), false}, // one stands for its minute
		{record(interaction.Replayed, "c", 5*time.Second), true},
		{record(interaction.Replayed, "d", 5*time.Second), true},
		{record(interaction.Replayed, "d", 5*time.Second), false},
		{record(interaction.TooOld, "e", 61*time.Second), true},
		{record(interaction.Forged, "f", 62*time.Second), true},
	} {
		written, err := s.RecordRefusal(t.Context(), test.record)
		if err != nil || written != test.written {
			t.Errorf("%s %s: written %v, %v; want %v", test.record.Reason, test.record.Request, written, err, test.written)
		}
		if test.written {
			want = append(want, test.record)
		}
	}
	// By minute for the unsigned, by time for the others; forged sorts before too-old.
	want[3], want[4] = want[4], want[3]
	got, err := s.Refusals(t.Context(), start)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("refusals: %v (-want +got):\n%s", err, diff)
	}
	if got, err := s.Refusals(t.Context(), start.Add(time.Minute)); err != nil || len(got) != 2 {
		t.Errorf("since a minute later: %d, %v; want 2", len(got), err)
	}
}

// TestRefusalsAreNobodysIncidents: a cluster may have the function's name.
func TestRefusalsAreNobodysIncidents(t *testing.T) {
	now := start
	s := open(t, &now)
	if _, err := s.RecordRefusal(t.Context(), interaction.Record{At: start, Reason: interaction.Forged, Request: "a"}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Incidents(t.Context(), "slack-actions")
	if diff := cmp.Diff([]incident.Incident(nil), got); err != nil || diff != "" {
		t.Errorf("incidents: %v (-want +got):\n%s", err, diff)
	}
}
