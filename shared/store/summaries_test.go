package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/node/spot"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
)

func posting(id string) outbox.Posting {
	return outbox.Posting{Summary: report.Summary{
		Format: report.SummaryFormat, Kind: report.SpotSummary, ID: id, By: "spot-report", At: start, Cluster: "prod",
		Spot: spot.Report{Cluster: "prod", Spot: spot.Funnel{Requested: 3}}, Chart: []byte("\x89PNG"),
	}}
}

func TestPostings(t *testing.T) {
	now := start
	s := open(t, &now)
	first, err := s.SavePosting(t.Context(), posting("spot/prod/2026-11-20"))
	if err != nil || first.Version != 1 {
		t.Fatalf("version %d, %v; want 1", first.Version, err)
	}
	var conflict *Conflict
	if _, err := s.SavePosting(t.Context(), posting("spot/prod/2026-11-20")); !errors.As(err, &conflict) {
		t.Errorf("a second new record gave %v, want a conflict", err)
	}
	first.TS = "1.2"
	if first, err = s.SavePosting(t.Context(), first); err != nil || first.Version != 2 {
		t.Fatalf("version %d, %v; want 2", first.Version, err)
	}
	if _, err := s.SaveIncident(t.Context(), incidentOf("route/no-egress", "rtb-1")); err != nil {
		t.Fatal(err)
	}
	second, err := s.SavePosting(t.Context(), posting("spot/prod/2026-11-21"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Postings(t.Context(), "prod")
	if diff := cmp.Diff([]outbox.Posting{first, second}, got); err != nil || diff != "" {
		t.Errorf("postings: %v (-want +got):\n%s", err, diff)
	}
	if got, err := s.Postings(t.Context(), "other"); err != nil || len(got) != 0 {
		t.Errorf("another cluster's are %v, %v", got, err)
	}
	now = start.Add(keepSummaries)
	if got, err := s.Postings(t.Context(), "prod"); err != nil || len(got) != 0 {
		t.Errorf("after a month: %v, %v; want none", got, err)
	}
}

// The largest summary that may be sent can be recorded.
func TestLargestPosting(t *testing.T) {
	now := start
	s := open(t, &now)
	p := posting("spot/prod/2026-11-20")
	p.Summary.Spot.Assumed = []string{strings.Repeat("x", report.MaxSummary-1000)}
	if _, err := s.SavePosting(t.Context(), p); err != nil {
		t.Error(err)
	}
}

func TestPostingOfANewerFormat(t *testing.T) {
	now := start
	s := open(t, &now)
	newer := posting("newer")
	newer.Summary.Format++
	for _, p := range []outbox.Posting{newer, posting("ours")} {
		if _, err := s.SavePosting(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Postings(t.Context(), "prod")
	var typed *NewerFormat
	if !errors.As(err, &typed) || len(got) != 1 || got[0].Summary.ID != "ours" {
		t.Errorf("%v, %v; want ours, and a newer format", got, err)
	}
}

// A summary outlives its message in the queues.
func TestSummariesAreKeptLongerThanQueues(t *testing.T) {
	const queue, dead = 4 * 24 * time.Hour, 14 * 24 * time.Hour
	if keepSummaries <= queue+dead {
		t.Errorf("kept for %s, a message can wait %s", keepSummaries, queue+dead)
	}
	if got := RecordSummaries().Conditions["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]; got[0] != summaryPrefix+"*" {
		t.Errorf("the grant is for %q, the store writes %q", got, summaryPrefix)
	}
}
