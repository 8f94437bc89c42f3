package incident_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/tools/expect"
)

// ended is when the week of the tests did.
func ended() time.Time { return time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC) }

// manyOf is a week in which so many incidents are open, and so many things were not looked at
// and not read.
func manyOf(n int) report.Summary {
	p := report.Period{From: ended().AddDate(0, 0, -7), To: ended(), Clusters: 3, Seen: 2 * n, Opened: n, Resolved: n, Open: n, Critical: 1, MoreUnseen: 2, MoreUnread: 3}
	for i := range n {
		p.Incidents = append(p.Incidents,
			report.PeriodIncident{Cluster: "prod", Title: fmt.Sprint("closed ", i), Closed: ended().Add(-time.Hour)},
			report.PeriodIncident{Cluster: "prod", Title: fmt.Sprint("open ", i)})
		p.Unseen = append(p.Unseen, report.Unseen{Cluster: fmt.Sprint("c", i)})
		p.Unread = append(p.Unread, fmt.Sprint("record ", i))
	}
	return report.Summary{ID: "weekly/2026-11-23", At: ended().Add(8 * time.Hour), Period: &p}
}

// TestWeek: what the event of a week does not list it counts.
func TestWeek(t *testing.T) {
	for _, tt := range []struct{ n, listed int }{{2, 2}, {25, 25}, {26, 25}} {
		w := incident.NewWeek(manyOf(tt.n), incident.Words{Headline: "Week of 16 Nov"})
		got := []int{len(w.Open), len(w.Unseen), w.UnseenCount, len(w.Unread), w.UnreadCount, w.Incidents.Seen, w.Incidents.Open}
		expect.Same(t, fmt.Sprintf("%d: open, unseen, their count, unread, their count, seen, open", tt.n), got, []int{tt.listed, tt.listed, tt.n + 2, tt.listed, tt.n + 3, 2 * tt.n, tt.n})
		for _, i := range w.Open {
			if !strings.HasPrefix(i.Title, "open ") {
				t.Errorf("%d: %q is listed as open", tt.n, i.Title)
			}
		}
	}
}

// TestWeekFits: lists are left out before words, in their order, and what does not fit at all
// is nothing.
func TestWeekFits(t *testing.T) {
	words := incident.Words{Headline: "Week of 16 Nov"}
	for i := range 30 {
		words.Lines = append(words.Lines, incident.Line{Label: "Next", Text: fmt.Sprint("line ", i)})
	}
	w := incident.NewWeek(manyOf(25), words)
	whole, err := w.Encode(1 << 20)
	expect.OK(t, err)
	last := whole
	for _, want := range []struct{ open, unseen, unread, lines int }{{25, 25, 25, 30}, {0, 25, 25, 30}, {0, 0, 0, 30}, {0, 0, 0, 10}} {
		var got incident.Week
		expect.OK(t, json.Unmarshal(last, &got))
		if len(got.Open) != want.open || len(got.Unseen) != want.unseen || len(got.Unread) != want.unread || len(got.Words.Lines) != want.lines {
			t.Errorf("%d open, %d unseen, %d unread, %d lines, want %+v", len(got.Open), len(got.Unseen), len(got.Unread), len(got.Words.Lines), want)
		}
		if same, err := w.Encode(len(last)); err != nil || len(same) != len(last) {
			t.Errorf("%d bytes do not fit themselves: %d, %v", len(last), len(same), err)
		}
		if last, err = w.Encode(len(last) - 1); err != nil {
			t.Fatal(err)
		}
	}
	if last != nil {
		t.Errorf("what cannot be shortened is %s", last)
	}
	if _, err := (incident.Week{At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}).Encode(1 << 20); err == nil {
		t.Error("a time that JSON has no form for is written")
	}
}

// TestReadWeek: an event has one digest, in whichever order its fields are; another has another.
func TestReadWeek(t *testing.T) {
	w := incident.NewWeek(manyOf(2), incident.Words{Headline: "Week of 16 Nov"})
	body, err := w.Encode(incident.MaxWeek)
	expect.OK(t, err)
	var fields map[string]json.RawMessage
	expect.OK(t, json.Unmarshal(body, &fields))
	sorted, err := json.Marshal(fields)
	expect.OK(t, err)
	read, digest, err := incident.ReadWeek(body)
	_, again, errAgain := incident.ReadWeek(sorted)
	if err != nil || errAgain != nil || read.ID != w.ID || len(digest) != 24 || again != digest {
		t.Errorf("%q, %q and %q: %v, %v", read.ID, digest, again, err, errAgain)
	}
	_, other, err := incident.ReadWeek([]byte(strings.Replace(string(body), "16 Nov", "17 Nov", 1)))
	if err != nil || other == digest {
		t.Errorf("another headline has the digest %q: %v", other, err)
	}
	if _, _, err := incident.ReadWeek([]byte("[")); err == nil {
		t.Error("what is no JSON is read")
	}
}

// TestPublished: what the bus took is known by its digest; the newest fifty are.
func TestPublished(t *testing.T) {
	var inc incident.Incident
	for i := range 51 {
		inc.PendingEvents = append(inc.PendingEvents, incident.Event{ID: fmt.Sprint(i)})
	}
	events := inc.PendingEvents
	inc.Publish()
	if len(inc.PendingEvents) != 0 || len(inc.Published) != 50 || inc.WasPublished(events[0]) || !inc.WasPublished(events[1]) || !inc.WasPublished(events[50]) {
		t.Errorf("%d pending, %d published", len(inc.PendingEvents), len(inc.Published))
	}
	inc.AddPublished([]string{events[50].Digest(), events[0].Digest()})
	if len(inc.Published) != 50 || !inc.WasPublished(events[0]) || inc.WasPublished(events[1]) || !inc.WasPublished(events[50]) {
		t.Errorf("of another copy: %d published", len(inc.Published))
	}
}
