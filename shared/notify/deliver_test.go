package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/store"
)

// Whatever call is cut off after Slack took it, nothing is said twice.
func TestCutOff(t *testing.T) {
	want := newBench(t)
	for _, s := range notifytest.RouteStory() {
		want.must(s.Minute, s.Obs)
	}
	for _, call := range []string{"post", "update", "reply opened", "reply missed", "reply cleared", "reply proved"} {
		t.Run(call, func(t *testing.T) {
			b := newBench(t)
			b.channel.Fail = notifytest.CutOff(call)
			for _, s := range notifytest.RouteStory() {
				b.must(s.Minute, s.Obs)
			}
			b.must(20, notifytest.Sweep())
			if diff := cmp.Diff(want.channel.View(), b.channel.View()); diff != "" {
				t.Errorf("the channel (-as without the fault +got):\n%s", diff)
			}
			if b.counts["SlackFailures"] != 1 {
				t.Errorf("%d failures counted, want 1", b.counts["SlackFailures"])
			}
		})
	}
}

// forgetful is a store whose writes fail from the n-th on, as if the function
// were stopped there.
type forgetful struct {
	Records
	writes, from, to int
}

var errStopped = errors.New("stopped")

func (f *forgetful) SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error) {
	f.writes++
	if f.writes >= f.from && f.writes < f.to {
		return incident.Incident{}, errStopped
	}
	return f.Records.SaveIncident(ctx, inc)
}

// Stopped at any write, with the messages coming again: one message, one thread.
func TestStoppedBetweenSendAndSave(t *testing.T) {
	want := newBench(t)
	for _, s := range notifytest.RouteStory() {
		want.must(s.Minute, s.Obs)
	}
	for n := 1; n <= 8; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := newBench(t)
			b.Incidents = &forgetful{Records: b.store, from: n, to: n + 1}
			back := 0
			for i, s := range notifytest.RouteStory() {
				s.Obs.ID = fmt.Sprint("story-", i)
				failed, err := b.at(s.Minute, s.Obs)
				if err != nil {
					t.Fatal(err)
				}
				if len(failed) > 0 {
					back++
					b.must(s.Minute, s.Obs)
				}
			}
			if back != 1 {
				t.Errorf("%d batches went back, want 1", back)
			}
			if diff := cmp.Diff(want.channel.View(), b.channel.View()); diff != "" {
				t.Errorf("the channel (-as without the fault +got):\n%s", diff)
			}
			seen := map[string]bool{}
			var kinds []string
			for _, e := range b.bus.Told {
				if !seen[e.ID] {
					kinds = append(kinds, string(e.Kind))
				}
				seen[e.ID] = true
			}
			if got := strings.Join(kinds, " "); got != want.bus.Kinds() {
				t.Errorf("the bus was told %q, repeats left out; want %q", got, want.bus.Kinds())
			}
		})
	}
}

// Slack is away for a while: afterwards the channel is as it would have been.
func TestSlackAway(t *testing.T) {
	want := newBench(t)
	for _, s := range notifytest.RouteStory() {
		want.must(s.Minute, s.Obs)
	}
	for name, fault := range map[string]func(string) (error, bool){"down": notifytest.Down, "rate limited": notifytest.RateLimited} {
		for until := 1; until <= len(notifytest.RouteStory()); until++ {
			t.Run(fmt.Sprint(name, " for ", until), func(t *testing.T) {
				b := newBench(t)
				b.channel.Fail = fault
				for i, s := range notifytest.RouteStory() {
					if i == until {
						b.channel.Fail = nil
					}
					b.must(s.Minute, s.Obs)
					if i < until && len(b.channel.Calls) != i+1 {
						t.Errorf("after %d invocations Slack was called %d times, want once each", i+1, len(b.channel.Calls))
					}
				}
				b.channel.Fail = nil
				b.must(60, notifytest.Sweep())
				if diff := cmp.Diff(want.channel.View(), b.channel.View()); diff != "" {
					t.Errorf("the channel (-as without the fault +got):\n%s", diff)
				}
				if b.bus.Kinds() != want.bus.Kinds() {
					t.Errorf("the bus was told %q, want %q", b.bus.Kinds(), want.bus.Kinds())
				}
			})
		}
	}
}

// Once Slack is known to be away, a pass does not wait for it again.
func TestSlackAwayForSeveralIncidents(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = notifytest.Down
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	second := obs.Diagnosis.Causes[0]
	second.Check = "route/blackhole"
	obs.Diagnosis.Causes = append(obs.Diagnosis.Causes, second)
	b.must(0, obs)
	if diff := cmp.Diff([]string{"post"}, b.channel.Calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if got := b.bus.Kinds(); got != "Opened Opened" {
		t.Errorf("the bus was told %q", got)
	}
	b.channel.Fail = nil
	b.must(5, notifytest.Sweep())
	if got := len(b.channel.Posts()); got != 2 {
		t.Errorf("%d posts, want 2", got)
	}
}

// What changes nothing that a reader sees edits nothing.
func TestNothingToEdit(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.must(1, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	if diff := cmp.Diff([]string{"post", "reply opened"}, b.channel.Calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if inc := b.incident(); inc.Delivery.Dirty || !inc.Seen.Equal(b.now) {
		t.Errorf("behind %v, seen %v; want a record that is up to date", inc.Delivery.Dirty, inc.Seen)
	}
}

// A wrong token fails no batch, says what to do, and loses nothing.
func TestWrongToken(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = notifytest.Refused
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	if !strings.Contains(b.log.String(), "put a valid bot token") {
		t.Errorf("the log does not tell to put a token into the secret: %s", b.log)
	}
	if !strings.Contains(b.log.String(), "waiting does not help") || b.counts["SlackFailures"] != 1 || b.counts["Undelivered"] != 1 {
		t.Errorf("log is %s, failures %d", b.log, b.counts["SlackFailures"])
	}
	if b.bus.Kinds() != "Opened" {
		t.Errorf("the bus was told %q", b.bus.Kinds())
	}
	b.channel.Fail = nil
	b.must(5, notifytest.Sweep())
	if diff := cmp.Diff([]string{"post", "post", "reply opened"}, b.channel.Calls); diff != "" {
		t.Errorf("calls of Slack: the post was refused and the reply never tried, so nobody looks for them (-want +got):\n%s", diff)
	}
	if got := strings.Join(b.channel.Notes(), " "); got != "opened" {
		t.Errorf("the thread has %q", got)
	}
}

func TestBusAway(t *testing.T) {
	b := newBench(t)
	b.bus.Fail = errors.New("no bus")
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.must(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if b.counts["BusFailures"] != 2 || b.counts["Undelivered"] != 2 {
		t.Errorf("%d failures, %d undelivered, want 2 and 2", b.counts["BusFailures"], b.counts["Undelivered"])
	}
	if got := strings.Join(b.channel.Notes(), " "); got != "opened missed" {
		t.Errorf("the thread has %q: Slack must not wait for the bus", got)
	}
	b.bus.Fail = nil
	b.must(10, notifytest.Sweep())
	if got := b.bus.Kinds(); got != "Opened Changed" {
		t.Errorf("the bus was told %q", got)
	}
	b.must(15, notifytest.Sweep())
	if got := b.bus.Kinds(); got != "Opened Changed" {
		t.Errorf("the bus was told %q, twice", got)
	}
}

// racing is a store in which somebody else writes just before the n-th write.
type racing struct {
	Records
	writes int
	at     int
	other  func()
}

func (r *racing) SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error) {
	r.writes++
	if r.writes == r.at {
		r.other()
	}
	return r.Records.SaveIncident(ctx, inc)
}

func TestConflict(t *testing.T) {
	for _, test := range []struct {
		name string
		at   int
	}{{"before the first write", 1}, {"before the mark", 2}, {"between send and save", 3}} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			other := b.Notifier
			b.Incidents = &racing{Records: b.store, at: test.at, other: func() {
				// Another invocation of the same function with another observation.
				obs := notifytest.Failing(notifytest.Launch(notifytest.Instance2, 0, report.Waiting))
				obs.ID, obs.At = "other", b.now
				list, err := other.Incidents.Incidents(t.Context(), "eks-workshop")
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range reconcile.Decide(list, obs, b.now, other.Policy) {
					if _, err := other.Incidents.SaveIncident(t.Context(), d.Incident); err != nil {
						t.Fatal(err)
					}
				}
			}}
			b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
			b.must(1, notifytest.Sweep())
			if inc := b.incident(); inc.Affected != 2 || len(b.channel.Posts()) != 1 {
				t.Errorf("%d affected, %d messages; want 2 and 1", inc.Affected, len(b.channel.Posts()))
			}
			if got := strings.Join(b.channel.Notes(), " "); got != "opened" {
				t.Errorf("the thread has %q", got)
			}
			if b.counts["LostRaces"] != 1 {
				t.Errorf("%d lost races counted, want 1", b.counts["LostRaces"])
			}
			if test.at == 3 && slices.Contains(b.channel.Calls, "find ") {
				t.Errorf("calls of Slack are %q: the post was recorded, nobody has to look for it", b.channel.Calls)
			}
			if got := b.channel.Posts()[0].Text; !strings.Contains(got, "2 instances") {
				t.Errorf("the message is %q, want both instances in it", got)
			}
		})
	}
}

func TestConflictForEver(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.Incidents = always{b.store}
	failed, err := b.at(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if err != nil || len(failed) != 1 {
		t.Errorf("failed %q, %v; want the message to go back", failed, err)
	}
}

type always struct{ Records }

func (always) SaveIncident(context.Context, incident.Incident) (incident.Incident, error) {
	return incident.Incident{}, &store.Conflict{Over: 1}
}

func TestMessageDeleted(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.channel.Messages = nil
	b.must(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if got := strings.Join(b.channel.Notes(), " "); len(b.channel.Posts()) != 1 || got != "missed" {
		t.Errorf("%d messages, thread %q; want one, with the new note", len(b.channel.Posts()), got)
	}
	// The message says already what it should, only the thread is gone.
	b.channel.Fail = func(call string) (error, bool) {
		if call == "reply cleared" {
			b.channel.Fail = nil
			b.channel.Messages = nil
			return &slackapi.Error{Kind: slackapi.MessageGone}, false
		}
		return nil, false
	}
	b.must(10, notifytest.Passing())
	b.must(15, notifytest.Sweep())
	if got := strings.Join(b.channel.Notes(), " "); len(b.channel.Posts()) != 1 || got != "cleared" {
		t.Errorf("%d messages, thread %q; want one, with the last note", len(b.channel.Posts()), got)
	}
}
