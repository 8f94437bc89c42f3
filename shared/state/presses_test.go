package state

import (
	"testing"
	"time"
)

func TestAPressIsClaimedOnce(t *testing.T) {
	now := start
	s := open(t, &now)
	claim := func(by string, want bool) {
		t.Helper()
		if got, err := s.ClaimPress(t.Context(), "abc", by); err != nil || got != want {
			t.Errorf("%s claims it: %v, %v; want %v", by, got, err, want)
		}
	}
	claim("one", true)
	claim("two", false)
	claim("one", true) // its own write, repeated by the client
	if got, err := s.ClaimPress(t.Context(), "abd", "two"); err != nil || !got {
		t.Errorf("another press: %v, %v", got, err)
	}
	now = now.Add(keepPresses - time.Second)
	claim("two", false)
	now = now.Add(2 * time.Second)
	claim("two", true)
}

func TestAReleasedPressMayComeAgain(t *testing.T) {
	now := start
	s := open(t, &now)
	if _, err := s.ClaimPress(t.Context(), "abc", "one"); err != nil {
		t.Fatal(err)
	}
	if err := s.ReleasePress(t.Context(), "abc", "two"); err == nil {
		t.Error("somebody else released it")
	}
	if err := s.ReleasePress(t.Context(), "abc", "one"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.ClaimPress(t.Context(), "abc", "two"); err != nil || !got {
		t.Errorf("after it was released: %v, %v", got, err)
	}
	if got, err := s.ClaimPress(t.Context(), "abc", "one"); err != nil || got {
		t.Errorf("the first one again: %v, %v", got, err)
	}
}
