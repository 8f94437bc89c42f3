package spotreport

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/digest"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// records are those of one account, of which some cannot be read.
type records struct {
	sweeps    []overview.Sweep
	sweepsErr error
	slow      bool
}

func (r records) Sweeps(context.Context) ([]overview.Sweep, error)               { return r.sweeps, r.sweepsErr }
func (r records) ClusterRecords(context.Context) ([]outbox.ClusterRecord, error) { return nil, nil }
func (r records) AllSilences(context.Context) ([]silence.Silence, error)         { return nil, nil }
func (r records) Incidents(context.Context, string) ([]incident.Incident, error) { return nil, nil }
func (r records) Audits(context.Context, string, time.Time) ([]leak.Audit, error) {
	return nil, nil
}

func (r records) RecentHistory(ctx context.Context, _ string, since time.Time, _ int) ([]snapshot.Past, error) {
	if r.slow {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return []snapshot.Past{{Started: since, End: snapshot.Joined}}, nil
}

// looked is a cluster that was looked at since a time.
func looked(since time.Time) overview.Sweep {
	return overview.Sweep{Cluster: "prod"}.After(overview.Turn{At: since}).After(overview.Turn{At: monday})
}

// monday is two minutes into the hour of the message.
var monday = time.Date(2026, 11, 23, 8, 2, 0, 0, time.UTC)

func newWeekly(r records, now time.Time) (weekly, *memory, *queue) {
	m, q := &memory{}, &queue{}
	return weekly{
		Weekly:   config.Weekly{Day: time.Monday, Hour: 8},
		Detector: detect.Detector{By: "spot-report", Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {}},
		said:     m, send: q, watched: []digest.Watched{{Table: r}},
	}, m, q
}

func told(to time.Time) outbox.Posting {
	return outbox.Posting{Summary: report.Summary{Kind: report.WeeklySummary, Period: &report.Period{To: to}}}.Delivered()
}

// TestWeekIsToldOnce: when it is due and until the next is, unless it was told; a stack tells
// of no week that ended before it was made.
func TestWeekIsToldOnce(t *testing.T) {
	ended := monday.Truncate(24 * time.Hour)
	before := looked(ended.AddDate(0, 0, -3))
	for name, c := range map[string]struct {
		records records
		now     time.Time
		known   []outbox.Posting
		want    string
	}{
		"in its hour":                 {records{sweeps: []overview.Sweep{before}}, monday, nil, "weekly/2026-11-23"},
		"late":                        {records{sweeps: []overview.Sweep{before}}, monday.AddDate(0, 0, 5), nil, "weekly/2026-11-23"},
		"told":                        {records{sweeps: []overview.Sweep{before}}, monday, []outbox.Posting{told(ended)}, ""},
		"the last one told":           {records{sweeps: []overview.Sweep{before}}, monday, []outbox.Posting{told(ended.AddDate(0, 0, -7))}, "weekly/2026-11-23"},
		"another day was set":         {records{sweeps: []overview.Sweep{before}}, monday, []outbox.Posting{told(ended.AddDate(0, 0, 2))}, ""},
		"made since":                  {records{sweeps: []overview.Sweep{looked(ended.Add(time.Hour))}}, monday, nil, ""},
		"upgraded since":              {records{sweeps: []overview.Sweep{{Cluster: "prod", At: monday}}}, monday, nil, ""},
		"nothing was looked at":       {records{}, monday, nil, ""},
		"nothing is looked at since":  {records{}, monday, []outbox.Posting{told(ended.AddDate(0, 0, -7))}, "weekly/2026-11-23"},
		"the looks cannot be read":    {records{sweepsErr: errors.New("throttled")}, monday, nil, "weekly/2026-11-23"},
		"before its hour on that day": {records{sweeps: []overview.Sweep{before}}, monday.Add(-3 * time.Minute), nil, ""},
	} {
		w, m, q := newWeekly(c.records, c.now)
		m.postings = c.known
		if err := w.handle(t.Context(), tick(c.now)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := ""
		if len(q.summaries) == 1 {
			got = q.summaries[0].ID
		}
		if got != c.want || len(q.summaries) > 1 {
			t.Errorf("%s: told %q, want %q", name, q.ids(), c.want)
		}
	}
}

// What was not read in time is not told as if it were all: the next hour tries again.
func TestWeekIsNotToldInPart(t *testing.T) {
	w, _, q := newWeekly(records{sweeps: []overview.Sweep{looked(monday.AddDate(0, 0, -9)), {Cluster: "b", At: monday}}, slow: true}, monday)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.handle(ctx, tick(monday)); err == nil || len(q.summaries) > 0 {
		t.Errorf("%v, told %q; want an error and nothing told", err, q.ids())
	}
	w.said = nobody{}
	if err := w.handle(t.Context(), tick(monday)); err == nil || len(q.summaries) > 0 {
		t.Errorf("%v, told %q; want an error and nothing told", err, q.ids())
	}
}

// nobody knows what was said.
type nobody struct{}

func (nobody) Postings(context.Context, string) ([]outbox.Posting, error) {
	return nil, errors.New("throttled")
}

// What a newer version of Rollcall wrote does not keep the message back, and a wish is none.
func TestWeekBesideNewerRecords(t *testing.T) {
	w, m, q := newWeekly(records{sweeps: []overview.Sweep{looked(monday.AddDate(0, 0, -9))}}, monday)
	w.said = newer{m}
	if err := w.handle(t.Context(), tick(monday)); err != nil || len(q.summaries) != 1 {
		t.Errorf("%v, told %q", err, q.ids())
	}
	q.err = errors.New("no queue")
	if err := w.handle(t.Context(), tick(monday)); err == nil {
		t.Error("the queue does not take it, and there is no error")
	}
	if err := w.handle(t.Context(), []byte(`{"source":"somebody"}`)); err != nil {
		t.Error(err)
	}
}

type newer struct{ *memory }

func (n newer) Postings(context.Context, string) ([]outbox.Posting, error) {
	return nil, &store.NewerFormat{}
}
