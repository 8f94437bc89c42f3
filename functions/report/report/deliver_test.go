package report

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
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/store"
)

// Whatever call is cut off after Slack took it, nothing is said twice.
func TestCutOff(t *testing.T) {
	want := newBench(t)
	for _, s := range routeStory() {
		want.must(s.minute, s.obs)
	}
	for _, call := range []string{"post", "update", "reply opened", "reply missed", "reply cleared", "reply proved"} {
		t.Run(call, func(t *testing.T) {
			b := newBench(t)
			b.channel.fail = cutOff(call)
			for _, s := range routeStory() {
				b.must(s.minute, s.obs)
			}
			b.must(20, sweep())
			if diff := cmp.Diff(want.channel.view(), b.channel.view()); diff != "" {
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
	for _, s := range routeStory() {
		want.must(s.minute, s.obs)
	}
	for n := 1; n <= 8; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := newBench(t)
			b.incidents = &forgetful{Records: b.store, from: n, to: n + 1}
			back := 0
			for i, s := range routeStory() {
				s.obs.ID = fmt.Sprint("story-", i)
				failed, err := b.at(s.minute, s.obs)
				if err != nil {
					t.Fatal(err)
				}
				if len(failed) > 0 {
					back++
					b.must(s.minute, s.obs)
				}
			}
			if back != 1 {
				t.Errorf("%d batches went back, want 1", back)
			}
			if diff := cmp.Diff(want.channel.view(), b.channel.view()); diff != "" {
				t.Errorf("the channel (-as without the fault +got):\n%s", diff)
			}
			seen := map[string]bool{}
			var kinds []string
			for _, e := range b.bus.told {
				if !seen[e.ID] {
					kinds = append(kinds, string(e.Kind))
				}
				seen[e.ID] = true
			}
			if got := strings.Join(kinds, " "); got != want.bus.kinds() {
				t.Errorf("the bus was told %q, repeats left out; want %q", got, want.bus.kinds())
			}
		})
	}
}

// Slack is away for a while: afterwards the channel is as it would have been.
func TestSlackAway(t *testing.T) {
	want := newBench(t)
	for _, s := range routeStory() {
		want.must(s.minute, s.obs)
	}
	for name, fault := range map[string]func(string) (error, bool){"down": down, "rate limited": limited} {
		for until := 1; until <= len(routeStory()); until++ {
			t.Run(fmt.Sprint(name, " for ", until), func(t *testing.T) {
				b := newBench(t)
				b.channel.fail = fault
				for i, s := range routeStory() {
					if i == until {
						b.channel.fail = nil
					}
					b.must(s.minute, s.obs)
					if i < until && len(b.channel.calls) != i+1 {
						t.Errorf("after %d invocations Slack was called %d times, want once each", i+1, len(b.channel.calls))
					}
				}
				b.channel.fail = nil
				b.must(60, sweep())
				if diff := cmp.Diff(want.channel.view(), b.channel.view()); diff != "" {
					t.Errorf("the channel (-as without the fault +got):\n%s", diff)
				}
				if b.bus.kinds() != want.bus.kinds() {
					t.Errorf("the bus was told %q, want %q", b.bus.kinds(), want.bus.kinds())
				}
			})
		}
	}
}

// Once Slack is known to be away, a pass does not wait for it again.
func TestSlackAwayForSeveralIncidents(t *testing.T) {
	b := newBench(t)
	b.channel.fail = down
	obs := failing(launch(i1, 0, report.Waiting))
	second := obs.Diagnosis.Causes[0]
	second.Check = "route/blackhole"
	obs.Diagnosis.Causes = append(obs.Diagnosis.Causes, second)
	b.must(0, obs)
	if diff := cmp.Diff([]string{"post"}, b.channel.calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if got := b.bus.kinds(); got != "Opened Opened" {
		t.Errorf("the bus was told %q", got)
	}
	b.channel.fail = nil
	b.must(5, sweep())
	if got := len(b.channel.posts()); got != 2 {
		t.Errorf("%d posts, want 2", got)
	}
}

// What changes nothing that a reader sees edits nothing.
func TestNothingToEdit(t *testing.T) {
	b := newBench(t)
	b.must(0, failing(launch(i1, 0, report.Waiting)))
	b.must(1, failing(launch(i1, 0, report.Waiting)))
	if diff := cmp.Diff([]string{"post", "reply opened"}, b.channel.calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if inc := b.incident(); inc.Delivery.Dirty || !inc.Seen.Equal(b.now) {
		t.Errorf("behind %v, seen %v; want a record that is up to date", inc.Delivery.Dirty, inc.Seen)
	}
}

// A wrong token fails no batch, says what to do, and loses nothing.
func TestWrongToken(t *testing.T) {
	b := newBench(t)
	b.channel.fail = refused
	b.must(0, failing(launch(i1, 0, report.Waiting)))
	if !strings.Contains(b.log.String(), "put a valid bot token") {
		t.Errorf("the log does not tell to put a token into the secret: %s", b.log)
	}
	if !strings.Contains(b.log.String(), "waiting does not help") || b.counts["SlackFailures"] != 1 || b.counts["Undelivered"] != 1 {
		t.Errorf("log is %s, failures %d", b.log, b.counts["SlackFailures"])
	}
	if b.bus.kinds() != "Opened" {
		t.Errorf("the bus was told %q", b.bus.kinds())
	}
	b.channel.fail = nil
	b.must(5, sweep())
	if diff := cmp.Diff([]string{"post", "post", "reply opened"}, b.channel.calls); diff != "" {
		t.Errorf("calls of Slack: the post was refused and the reply never tried, so nobody looks for them (-want +got):\n%s", diff)
	}
	if got := strings.Join(b.channel.notes(), " "); got != "opened" {
		t.Errorf("the thread has %q", got)
	}
}

func TestBusAway(t *testing.T) {
	b := newBench(t)
	b.bus.fail = errors.New("no bus")
	b.must(0, failing(launch(i1, 0, report.Waiting)))
	b.must(5, failing(launch(i1, 0, report.Missed)))
	if b.counts["BusFailures"] != 2 || b.counts["Undelivered"] != 2 {
		t.Errorf("%d failures, %d undelivered, want 2 and 2", b.counts["BusFailures"], b.counts["Undelivered"])
	}
	if got := strings.Join(b.channel.notes(), " "); got != "opened missed" {
		t.Errorf("the thread has %q: Slack must not wait for the bus", got)
	}
	b.bus.fail = nil
	b.must(10, sweep())
	if got := b.bus.kinds(); got != "Opened Changed" {
		t.Errorf("the bus was told %q", got)
	}
	b.must(15, sweep())
	if got := b.bus.kinds(); got != "Opened Changed" {
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
			other := b.handler
			b.incidents = &racing{Records: b.store, at: test.at, other: func() {
				// Another invocation of the same function with another observation.
				obs := failing(launch(i2, 0, report.Waiting))
				obs.ID, obs.At = "other", b.now
				list, err := other.incidents.Incidents(t.Context(), "eks-workshop")
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range reconcile.Decide(list, obs, b.now, other.policy) {
					if _, err := other.incidents.SaveIncident(t.Context(), d.Incident); err != nil {
						t.Fatal(err)
					}
				}
			}}
			b.must(0, failing(launch(i1, 0, report.Waiting)))
			b.must(1, sweep())
			if inc := b.incident(); inc.Affected != 2 || len(b.channel.posts()) != 1 {
				t.Errorf("%d affected, %d messages; want 2 and 1", inc.Affected, len(b.channel.posts()))
			}
			if got := strings.Join(b.channel.notes(), " "); got != "opened" {
				t.Errorf("the thread has %q", got)
			}
			if b.counts["LostRaces"] != 1 {
				t.Errorf("%d lost races counted, want 1", b.counts["LostRaces"])
			}
			if test.at == 3 && slices.Contains(b.channel.calls, "find ") {
				t.Errorf("calls of Slack are %q: the post was recorded, nobody has to look for it", b.channel.calls)
			}
			if got := b.channel.posts()[0].text; !strings.Contains(got, "2 instances") {
				t.Errorf("the message is %q, want both instances in it", got)
			}
		})
	}
}

func TestConflictForEver(t *testing.T) {
	b := newBench(t)
	b.must(0, failing(launch(i1, 0, report.Waiting)))
	b.incidents = always{b.store}
	failed, err := b.at(5, failing(launch(i1, 0, report.Missed)))
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
	b.must(0, failing(launch(i1, 0, report.Waiting)))
	b.channel.messages = nil
	b.must(5, failing(launch(i1, 0, report.Missed)))
	if got := strings.Join(b.channel.notes(), " "); len(b.channel.posts()) != 1 || got != "missed" {
		t.Errorf("%d messages, thread %q; want one, with the new note", len(b.channel.posts()), got)
	}
	// The message says already what it should, only the thread is gone.
	b.channel.fail = func(call string) (error, bool) {
		if call == "reply cleared" {
			b.channel.fail = nil
			b.channel.messages = nil
			return &slack.Error{Kind: slack.MessageGone}, false
		}
		return nil, false
	}
	b.must(10, passing())
	b.must(15, sweep())
	if got := strings.Join(b.channel.notes(), " "); len(b.channel.posts()) != 1 || got != "cleared" {
		t.Errorf("%d messages, thread %q; want one, with the last note", len(b.channel.posts()), got)
	}
}
