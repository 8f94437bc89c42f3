package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/backoff"
	"rollcall/shared/snapshot"
)

func TestBackoffs(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	none, err := s.Backoff(t.Context(), "prod")
	if diff := cmp.Diff(backoff.Record{Cluster: "prod"}, none); err != nil || diff != "" {
		t.Fatalf("%v, before there is one (-want +got):\n%s", err, diff)
	}
	silent, _ := backoff.After(none, backoff.Silent, backoff.Silence{Endpoint: "https://a", Reason: snapshot.TimedOut, Message: "no answer in time"}, now, 5*time.Minute)
	if err := s.SaveBackoff(t.Context(), silent); err != nil {
		t.Fatal(err)
	}
	var taken *Conflict
	if err := s.SaveBackoff(t.Context(), silent); !errors.As(err, &taken) {
		t.Errorf("written over another: %v, want a conflict", err)
	}
	silent.Version = 1
	got, err := s.Backoff(t.Context(), "prod")
	if diff := cmp.Diff(silent, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	// What answers again is remembered no more, and what nobody writes for a day.
	well, _ := backoff.After(got, backoff.Answered, backoff.Silence{}, now, 5*time.Minute)
	if err := s.SaveBackoff(t.Context(), well); err != nil {
		t.Fatal(err)
	}
	if gone, err := s.Backoff(t.Context(), "prod"); err != nil || gone.Version != 0 {
		t.Errorf("%+v, %v; want none", gone, err)
	}
	silent.Version = 0
	if err := s.SaveBackoff(t.Context(), silent); err != nil {
		t.Fatal(err)
	}
	now = now.Add(keepBackoff)
	if old, err := s.Backoff(t.Context(), "prod"); err != nil || old.Attempts != 0 {
		t.Errorf("%+v, %v; want none", old, err)
	}
}
