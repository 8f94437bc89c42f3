package stage

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall/shared/config"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// The week of these tests, which is told on Friday at 16:00: the stage begins an hour before.
var (
	weekEnds   = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	weekBegins = weekEnds.AddDate(0, 0, -7)
)

// tellWeek starts a stage of two accounts that have the records of a week, and lets it go on
// until after the message is due. The records are written as sweep and the detectors write
// them; the hour in between, the schedule, the queue and Slack are the stage's own.
func tellWeek(t *testing.T, write func(of spoke.ID, s *store.Store)) *running {
	t.Helper()
	r, _ := tellWeekTo(t, "", write)
	return r
}

// tellWeekTo is tellWeek with targets besides Slack, if any.
func tellWeekTo(t *testing.T, setting string, write func(of spoke.ID, s *store.Store)) (*running, targets) {
	t.Helper()
	two := watching(nil)
	var all targets
	r := start(t, "route", func(o *Options) {
		if setting != "" {
			all = withTargets(t, o)
			o.Settings[string(config.Targets)] = setting
		}
		own := o.Settings
		two(o)
		maps.Copy(o.Settings, own)
		o.Settings["ROLLCALL_WEEKLY"] = "Fri/16:00"
	})
	table := store.New(r.Table.Client(), r.Template.Tables[0].Name).At(r.Clock.Now)
	for _, id := range []spoke.ID{{}, payments} {
		write(id, table.In(id))
	}
	r.pass(2*time.Hour + 5*time.Minute)
	return r, all
}

// lookAt writes the turns of the workshop's cluster from before the week to now, but in a gap.
func lookAt(t *testing.T, s *store.Store, gap overview.Gap) {
	t.Helper()
	record := overview.Sweep{Cluster: "eks-workshop"}
	for at := weekBegins.Add(2 * time.Minute); at.Before(time.Date(2026, 11, 20, 15, 1, 0, 0, time.UTC)); at = at.Add(5 * time.Minute) {
		if !at.After(gap.From) || !at.Before(gap.To) {
			record = record.After(overview.Turn{At: at})
		}
	}
	if err := s.SaveSweep(t.Context(), record); err != nil {
		t.Fatal(err)
	}
}

// launched writes launches of the week that became Ready nodes, or did not join.
func launched(t *testing.T, s *store.Store, of string, n int, joins bool) {
	t.Helper()
	for i := range n {
		l := store.LaunchRecord{Cluster: "eks-workshop"}
		l.Instance, l.Started = fmt.Sprintf("i-%s%04d", of, i), weekBegins.Add(time.Duration(i+1)*time.Hour)
		if _, err := s.CreateLaunch(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		read, err := s.GetLaunches(t.Context(), []string{l.Instance})
		if err != nil {
			t.Fatal(err)
		}
		l = read[l.Instance]
		if joins {
			l.Registered, l.Ready, l.End = l.Started.Add(50*time.Second), l.Started.Add(62*time.Second), snapshot.Joined
		} else {
			l.Missed, l.Root, l.GaveUp = l.Started.Add(5*time.Minute), "route/no-egress", l.Started.Add(2*time.Hour)
			l.End, l.Cause = snapshot.NotJoined, "route/no-egress"
		}
		if err := s.SaveLaunch(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
}

// weeks are the channel's messages of a week.
func (r *running) weeks() (list []string) {
	for _, m := range r.messages() {
		if text := whole(m); strings.Contains(text, "Week of ") {
			list = append(list, text)
		}
	}
	return list
}

// theWeek is the one message of the week, which has all the words.
func (r *running) theWeek(words ...string) {
	r.t.Helper()
	list := r.weeks()
	if len(list) != 1 {
		r.t.Fatalf("%d messages of the week, want one: %q", len(list), list)
	}
	for _, w := range words {
		if !strings.Contains(list[0], w) {
			r.t.Errorf("the message does not say %q:\n%s", w, list[0])
		}
	}
}

// TestQuietWeek: a week in two accounts in which all joined is told as one, with the proof that
// it was looked at; and once, however often the schedule fires.
func TestQuietWeek(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := tellWeek(t, func(of spoke.ID, s *store.Store) {
			lookAt(t, s, overview.Gap{})
			launched(t, s, map[bool]string{true: "a", false: "b"}[of.Hub()], 20, true)
		})
		r.theWeek("Week of 13 Nov: 40 of 40 launches joined; no incidents", "half within 62 s", "4,032 times at 2 clusters", "never more than 12 min apart", "Nothing to do.")
		// EventBridge may run a target twice (user guide, "Retry policy and using DLQs": at
		// least once), Lambda an event again, and two at once.
		f, _ := r.Function("spot-report")
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := r.Runtime.Invoke(context.Background(), f.Name, []byte(r.sweep())); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		r.pass(65 * time.Minute)
		r.theWeek()
		r.nothingLost()
	})
}

// TestBadWeek: what did not join, what is open and for how long, worst first and linked.
func TestBadWeek(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := tellWeek(t, func(of spoke.ID, s *store.Store) {
			lookAt(t, s, overview.Gap{})
			if of.Hub() {
				launched(t, s, "a", 30, true)
				return
			}
			launched(t, s, "b", 9, false)
			open := incident.Incident{
				Key: report.Key{Spoke: of, Cluster: "eks-workshop", Check: "route/no-egress", Resource: table}, State: incident.Open, Number: 1, Account: of.Account, Region: of.Region,
				Opened: weekBegins.Add(20 * time.Hour), Began: weekBegins.Add(20 * time.Hour), Seen: weekEnds, Affected: 9, Covers: []string{"subnet-0c30000000000000d"},
				Cause:    diagnose.Cause{Check: "route/no-egress", Confidence: "certain", Resource: table, Title: "subnet-0c30000000000000d has no route to the internet"},
				Delivery: incident.Delivery{Channel: Channel, TS: "1794600000.000100"},
			}
			over := open
			over.Key.Resource, over.State, over.Resolution = "rtb-0bbbbbbbbbbbbbbbb", incident.Closed, incident.Proved
			over.Resolved, over.Cause.Title = over.Opened.Add(3*time.Hour), "subnet-0bbbbbbbbbbbbbbbb has no route to the internet"
			for _, inc := range []incident.Incident{open, over} {
				if _, err := s.SaveIncident(t.Context(), inc); err != nil {
					t.Fatal(err)
				}
			}
		})
		r.theWeek("Week of 13 Nov: 30 of 39 launches joined; 2 incidents, 1 open", "9 did not join: route/no-egress 9", "payments", "no route to the internet",
			"open for 3 h", "/archives/"+Channel+"/p1794600000000100", "Fix ")
		text := r.weeks()[0]
		if open, over := strings.Index(text, "subnet-0c30000000000000d"), strings.Index(text, "subnet-0bbbbbbbbbbbbbbbb"); open > over {
			t.Error("what is over stands before what is open")
		}
		r.nothingLost()
	})
}

// TestWeekToTargets: mail, Teams and the webhook get the week once each, in the same words, and
// PagerDuty and a target for incidents nothing, however often the schedule fires.
func TestWeekToTargets(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r, all := tellWeekTo(t, "sns,pagerduty=rollcall/pagerduty,teams=rollcall/teams,webhook=rollcall/webhook", func(of spoke.ID, s *store.Store) {
			lookAt(t, s, overview.Gap{})
			launched(t, s, map[bool]string{true: "a", false: "b"}[of.Hub()], 20, true)
		})
		f, _ := r.Function("spot-report")
		for range 3 {
			if _, err := r.Runtime.Invoke(context.Background(), f.Name, []byte(r.sweep())); err != nil {
				t.Error(err)
			}
		}
		r.pass(65 * time.Minute)
		const result = "Week of 13 Nov: 40 of 40 launches joined; no incidents"
		r.theWeek(result)
		mails, cards, kinds := r.Cloud.Mails(), all.teams.Cards(), 0
		if len(mails) != 1 || mails[0].Subject != "Rollcall: "+result || !strings.Contains(mails[0].Message, "Next: Nothing to do.") ||
			!strings.Contains(mails[0].Message, "4,032 times at 2 clusters") {
			t.Errorf("mails %+v", mails)
		}
		if len(cards) != 1 || cards[0].Lines[0] != "Rollcall · "+result || !strings.Contains(strings.Join(cards[0].Lines, "\n"), "4,032 times at 2 clusters") {
			t.Errorf("cards %+v", cards)
		}
		told, repeats := all.kinds(t)
		for _, kind := range told {
			if kind == "Weekly Report" {
				kinds++
			}
		}
		if kinds != 1 || repeats > 0 || all.pagerduty.Requests() > 0 {
			t.Errorf("the webhook was told %q, %d repeats; PagerDuty was asked %d times", told, repeats, all.pagerduty.Requests())
		}
		r.nothingLost()
	})
}

// TestWeekWithoutSweeps: nothing is wrong in what was seen, and a day was not seen at all:
// that is the result, and never a quiet week.
func TestWeekWithoutSweeps(t *testing.T) {
	virtual(t, func(t *testing.T) {
		out := overview.Gap{From: weekBegins.Add(30 * time.Hour), To: weekBegins.Add(62 * time.Hour)}
		r := tellWeek(t, func(of spoke.ID, s *store.Store) { lookAt(t, s, out) })
		r.theWeek("⚪ Week of 13 Nov: no launches; no incident seen; Rollcall did not look for 32 h", "No cluster was looked at", "sweeps did not run", "rollcall doctor")
		if text := r.weeks()[0]; strings.Contains(text, "never more than") || strings.Contains(text, "Nothing to do") {
			t.Errorf("it says that all was looked at:\n%s", text)
		}
	})
}

// TestNoWeekBefore: a stack that was made this afternoon says nothing of the week before it.
func TestNoWeekBefore(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := tellWeek(t, func(spoke.ID, *store.Store) {})
		if list := r.weeks(); len(list) > 0 {
			t.Errorf("it tells of a week in which it was not there: %q", list)
		}
	})
}
