package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/notify/notifytest"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

// badWeek is a week of which the message leaves two replies to the thread.
func badWeek() report.Summary {
	p := report.Period{From: notifytest.Start.AddDate(0, 0, -7), To: notifytest.Start, At: notifytest.Start, Clusters: 9, Launches: report.Tally{All: 9, Failed: 9}, Open: 9, Seen: 9}
	for i := range 9 {
		name := fmt.Sprint("c", i)
		p.Incidents = append(p.Incidents, report.PeriodIncident{Cluster: name, Check: "route/no-egress", Title: "no route", Severity: "warning", Opened: notifytest.Start.Add(-time.Hour)})
		p.Wrong = append(p.Wrong, report.PeriodCluster{Cluster: name, Seen: 1, Open: 1})
	}
	return report.Weekly("spot-report", p)
}

// tellAll is an invocation with summaries of all clusters.
func (b *bench) tellAll(minute int, list ...report.Summary) error {
	b.Helper()
	b.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
	v := b.Begin()
	c, err := v.Cluster(b.Context(), report.AllClusters, 1)
	if err == nil {
		err = c.DeliverSummaries(b.Context(), list)
		c.End(b.Context(), err == nil)
	}
	v.End(b.Context())
	return err
}

// toldOnce is the week as it must be told: a message, two replies, an event.
func (b *bench) toldOnce() {
	b.Helper()
	if posts := b.channel.Posts(); len(posts) != 1 || !strings.Contains(posts[0].Text, "Week of ") {
		b.Errorf("the channel has %+v", posts)
	}
	if diff := cmp.Diff([]string{"details", "details-2"}, b.channel.Notes()); diff != "" {
		b.Errorf("the thread (-want +got):\n%s", diff)
	}
	ids := map[string]bool{}
	for _, w := range b.bus.Weeks {
		ids[w.ID] = true
	}
	if len(ids) != 1 || b.bus.Weeks[0].Words.Headline == "" || len(b.bus.Weeks[0].Open) != 9 {
		b.Errorf("the bus was told %v", ids)
	}
	list, err := b.store.Postings(b.Context(), report.AllClusters)
	if err != nil || len(list) != 1 || list[0].Due() || list[0].Untold || !list[0].Done || len(list[0].Summary.Period.Incidents) > 0 {
		b.Errorf("the record is %+v, %v", list, err)
	}
}

// A week is told once, however often its message comes.
func TestWeek(t *testing.T) {
	b := newBench(t)
	for minute := range 3 {
		if err := b.tellAll(minute, badWeek(), badWeek()); err != nil {
			t.Fatal(err)
		}
	}
	b.toldOnce()
	if len(b.bus.Weeks) != 1 {
		t.Errorf("the bus was told %d times", len(b.bus.Weeks))
	}
}

// due tells whether the clock wakes the record of all clusters at a minute.
func (b *bench) due(minute int) bool {
	b.Helper()
	r, err := b.store.ClusterRecord(b.Context(), report.AllClusters)
	if err != nil {
		b.Fatal(err)
	}
	return r.Due(notifytest.Start.Add(time.Duration(minute) * time.Minute))
}

// Of a week no other message comes: where Slack or the bus is away, the clock brings it back,
// and nothing is left for the week after. One that is away does not keep the other waiting,
// and an outage that passes by itself rings nobody.
func TestWeekIsOwed(t *testing.T) {
	for name, test := range map[string]struct {
		fail func(*bench)
		ok   func(*bench) bool
		rang int
	}{
		"Slack is down":      {func(b *bench) { b.channel.Fail = notifytest.Down }, func(b *bench) bool { return len(b.bus.Weeks) == 1 }, 0},
		"Slack asks to wait": {func(b *bench) { b.channel.Fail = notifytest.RateLimited }, func(b *bench) bool { return len(b.bus.Weeks) == 1 }, 0},
		"a reply is not taken": {func(b *bench) {
			b.channel.Fail = fails("reply details-2", slackapi.Error{Kind: slackapi.Unavailable, Method: "x"}, 1)
		}, func(b *bench) bool { return len(b.channel.Notes()) == 1 }, 0},
		"the bus refuses": {func(b *bench) { b.bus.Fail = &smithy.GenericAPIError{Code: "AccessDeniedException"} }, func(b *bench) bool { return len(b.channel.Posts()) == 1 && len(b.channel.Notes()) == 2 }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			test.fail(b)
			if err := b.tellAll(0, badWeek()); err != nil || !test.ok(b) {
				t.Fatalf("%v: %d messages, %d replies, %d events", err, len(b.channel.Posts()), len(b.channel.Notes()), len(b.bus.Weeks))
			}
			if b.counts["Undelivered"] != test.rang {
				t.Errorf("the alarm rang %d times", b.counts["Undelivered"])
			}
			if b.due(1) || !b.due(2) {
				t.Error("it is not brought back after two minutes")
			}
			b.channel.Fail, b.bus.Fail = nil, nil
			if err := b.tellAll(2); err != nil {
				t.Fatal(err)
			}
			b.toldOnce()
			if b.due(1000) {
				t.Error("what was told is brought back")
			}
		})
	}
}

// Stopped at any write, or after any call that Slack took: one message, two replies, one event.
func TestWeekStopped(t *testing.T) {
	for n := 1; n <= 8; n++ {
		b := newBench(t)
		b.Postings = &lapse{Summaries: b.store, at: n}
		if err := b.tellAll(0, badWeek()); n <= 7 && !errors.Is(err, errStopped) {
			t.Fatalf("write %d: %v", n, err)
		}
		if err := b.tellAll(1, badWeek()); err != nil {
			t.Fatal(err)
		}
		b.toldOnce()
	}
	for _, call := range []string{"post", "reply details", "reply details-2"} {
		b := newBench(t)
		b.channel.Fail = notifytest.CutOff(call)
		for minute := range 3 {
			if err := b.tellAll(2*minute, badWeek()); err != nil {
				t.Fatal(err)
			}
		}
		b.toldOnce()
	}
}

// A record of before has no event to tell: it is of a week long said.
func TestWeekOfAnEarlierRelease(t *testing.T) {
	b := newBench(t)
	p := outbox.New(badWeek())
	p.Untold, p.Dirty, p.TS = false, false, "1.2"
	if _, err := b.store.SavePosting(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if err := b.tellAll(0, badWeek()); err != nil || len(b.bus.Weeks)+len(b.channel.Posts()) > 0 {
		t.Errorf("%v: %d events, %d messages", err, len(b.bus.Weeks), len(b.channel.Posts()))
	}
}
