package store

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/report"
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

// TestWhatAPressIsPassedOnAs: only who claimed it says so, and report reads it as
// long as its message may lie in a queue.
func TestWhatAPressIsPassedOnAs(t *testing.T) {
	now := start
	s := open(t, &now)
	want := func(what string, want *report.PressRecord) {
		t.Helper()
		got, err := s.PassedPress(t.Context(), "abc")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", what, diff, err)
		}
	}
	want("nobody took it", nil)
	if err := s.PassPress(t.Context(), "abc", "one", "digest"); err == nil {
		t.Error("it is passed on without a claim")
	}
	if _, err := s.ClaimPress(t.Context(), "abc", "one"); err != nil {
		t.Fatal(err)
	}
	want("claimed", &report.PressRecord{Format: 1})
	if err := s.PassPress(t.Context(), "abc", "two", "another"); err == nil {
		t.Error("somebody else passes it on")
	}
	if err := s.PassPress(t.Context(), "abc", "one", "digest"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(18 * 24 * time.Hour)
	want("passed on", &report.PressRecord{Format: 1, Digest: "digest"})
	if err := s.ReleasePress(t.Context(), "abc", "one"); err != nil {
		t.Fatal(err)
	}
	want("given back", nil)
}

// TestAPressOfTheReleaseBefore has a record that says no more than that.
func TestAPressOfTheReleaseBefore(t *testing.T) {
	now := start
	s := open(t, &now)
	_, err := s.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &s.table, Item: map[string]types.AttributeValue{
		attrPK: text("press#abc"), attrSK: text("press"), attrBy: text("x"), attrFormat: number(1), attrVersion: number(1), attrExpires: number(now.Add(time.Hour).Unix()), attrBody: text("{}"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.PassedPress(t.Context(), "abc")
	if diff := cmp.Diff(&report.PressRecord{Format: 1}, got); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
}
