package notify

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/store"
)

// remembered is what is known of clusters, without a table.
type remembered struct {
	Clusters
	list []outbox.ClusterRecord
	err  error
}

func (r remembered) ClusterRecords(context.Context) ([]outbox.ClusterRecord, error) {
	return r.list, r.err
}

// The tick wakes the clusters that are due through the queue, and counts what is
// refused with each tick.
func TestTick(t *testing.T) {
	refused := func(cluster string, ago time.Duration) outbox.ClusterRecord {
		r := outbox.ClusterRecord{Cluster: cluster}
		r.Refused(outbox.ToSlack, "token_revoked", notifytest.Start.Add(-ago))
		return r
	}
	quiet := outbox.ClusterRecord{Cluster: "quiet", Open: true, Wake: notifytest.Start.Add(-time.Minute)}
	lively := outbox.ClusterRecord{Cluster: "lively", Open: true, Wake: notifytest.Start.Add(time.Minute)}
	list := []outbox.ClusterRecord{refused("due", time.Hour), refused("held", time.Minute), quiet, lively}
	down := errors.New("no table")
	for name, test := range map[string]struct {
		err    error
		want   []string
		wrong  error
		refuse bool
	}{
		"well":                         {nil, []string{"due", "quiet"}, nil, false},
		"one record is of a newer one": {&store.NewerFormat{Record: "x"}, []string{"due", "quiet"}, nil, false},
		"no table":                     {down, nil, down, false},
		"the queue takes nothing":      {nil, []string{"due", "quiet"}, errQueue, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Clusters = remembered{list: list, err: test.err}
			var woken []string
			b.Again = notifytest.AgainFunc(func(o report.Observation) error {
				body, err := json.Marshal(o)
				if err != nil {
					t.Error(err)
				}
				if _, err := report.Decode(body); err != nil {
					t.Error(err)
				}
				woken = append(woken, o.Cluster)
				if test.refuse {
					return errQueue
				}
				return nil
			})
			err := b.Tick(t.Context())
			if !errors.Is(err, test.wrong) || (err == nil) != (test.wrong == nil) {
				t.Errorf("%v; want %v", err, test.wrong)
			}
			if diff := cmp.Diff(test.want, woken); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
			if n := b.counts["Undelivered"]; test.want != nil && n != 2 {
				t.Errorf("%d undelivered, want 2", n)
			}
		})
	}
}

var errQueue = errors.New("no queue")

// An archived channel holds back what goes there, and nothing else; a content that
// is refused holds back itself alone.
func TestWhoRefusesIsHeldBack(t *testing.T) {
	two := func(minute int) report.Observation {
		obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
		second := obs.Diagnosis.Causes[0]
		second.Resource, second.Title = "rtb-2", "the second"
		obs.Diagnosis.Causes = append(obs.Diagnosis.Causes, second)
		return obs
	}
	refuse := func(kind slackapi.Kind, code string, n int) func(string) (error, bool) {
		return func(call string) (error, bool) {
			if call != "post" || n == 0 {
				return nil, false
			}
			n--
			return &slackapi.Error{Kind: kind, Method: "chat.postMessage", Code: code}, false
		}
	}
	for name, test := range map[string]struct {
		kind  slackapi.Kind
		code  string
		calls []string // at once
		later []string // two minutes later
	}{
		"the channel": {slackapi.Channel, "is_archived", []string{"post"}, []string{"post", "reply opened", "post", "reply opened"}},
		"the token":   {slackapi.Auth, "token_revoked", []string{"post"}, []string{"post", "reply opened", "post", "reply opened"}},
		"a content":   {slackapi.Refused, "invalid_blocks", []string{"post", "post", "reply opened"}, []string{"post", "reply opened"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.channel.Fail = refuse(test.kind, test.code, 1)
			b.must(0, two(0))
			if diff := cmp.Diff(test.calls, b.channel.Calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			b.channel.Calls = nil
			b.must(1, notifytest.Sweep())
			if len(b.channel.Calls) > 0 {
				t.Errorf("a minute later: %q, want nothing tried", b.channel.Calls)
			}
			if n := strings.Count(b.log.String(), `"level":"ERROR"`); n != 1 {
				t.Errorf("%d errors in the log, want 1: %s", n, b.log)
			}
			b.must(2, notifytest.Sweep())
			if diff := cmp.Diff(test.later, b.channel.Calls); diff != "" {
				t.Errorf("two minutes later (-want +got):\n%s", diff)
			}
			if r, err := b.store.ClusterRecord(t.Context(), "eks-workshop"); err != nil || len(r.Refusals) > 0 || !r.Open {
				t.Errorf("%+v, %v; want nothing refused any more, and something open", r, err)
			}
		})
	}
}

// What nothing is due for any more is not held against anybody: the alarm ends.
func TestRefusalOfWhatIsNoLongerDue(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	r, err := b.store.ClusterRecord(t.Context(), "eks-workshop")
	if err != nil {
		t.Fatal(err)
	}
	r.Refused(outbox.ToChannel("C0GONE"), "is_archived", notifytest.Start)
	if err := b.store.SaveClusterRecord(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	b.must(1, notifytest.Sweep())
	if r, err = b.store.ClusterRecord(t.Context(), "eks-workshop"); err != nil || len(r.Refusals) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// unread is a table in which what is remembered of a cluster is of a newer version.
type unread struct{ Clusters }

func (unread) ClusterRecord(_ context.Context, cluster string) (outbox.ClusterRecord, error) {
	return outbox.ClusterRecord{Cluster: cluster}, &store.NewerFormat{Record: cluster}
}

func (unread) SaveClusterRecord(context.Context, outbox.ClusterRecord) error {
	return errors.New("it was written over")
}

func TestNewerClusterRecord(t *testing.T) {
	b := newBench(t)
	b.Clusters = unread{}
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	if len(b.channel.Posts()) != 1 || strings.Contains(b.log.String(), "written over") {
		t.Errorf("%d posts, log %s", len(b.channel.Posts()), b.log)
	}
}

// A message that was deleted is posted anew, and the record of that cannot be
// written: the messages come again, and nobody else's record is written over.
func TestPostedAnewAndNotRecorded(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.channel.Messages = nil
	b.bus.Told = nil
	b.Incidents = &forgetful{Records: b.store, from: 3, to: 4} // the observation's, the mark, and this
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed))
	obs.ID = "again"
	failed, err := b.at(5, obs)
	if err != nil || len(failed) != 1 {
		t.Fatalf("gave back %q, %v; want the message", failed, err)
	}
	b.Incidents = b.store
	b.must(5, obs)
	b.must(10, notifytest.Sweep())
	if got := strings.Join(b.channel.Notes(), " "); len(b.channel.Posts()) != 1 || got != "missed" {
		t.Errorf("%d messages, thread %q", len(b.channel.Posts()), got)
	}
	if b.incident().Key.Check != "route/no-egress" {
		t.Errorf("the record is %+v", b.incident().Key)
	}
}

// A cluster that was deleted is said so once, and not looked after any more; one
// that nobody observes any more is, until its incidents are closed.
func TestClusterIsForgotten(t *testing.T) {
	b := newBench(t)
	var woken []string
	b.Again = notifytest.AgainFunc(func(o report.Observation) error { woken = append(woken, o.Cluster); return nil })
	tick := func(minute int) {
		t.Helper()
		b.now, woken = notifytest.Start.Add(time.Duration(minute)*time.Minute), nil
		if err := b.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const day = 24 * 60
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	tick(day - 1)
	if len(woken) > 0 {
		t.Errorf("woken %q within a day", woken)
	}
	tick(day)
	if diff := cmp.Diff([]string{"eks-workshop"}, woken); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
	b.must(day, b.wake("eks-workshop"))
	tick(day + 5)
	if len(woken) > 0 || b.incident().State != incident.Open {
		t.Errorf("woken %q again, the incident is %s", woken, b.incident().State)
	}
	b.now = notifytest.Start.Add(14 * day * time.Minute)
	b.must(14*day, b.wake("eks-workshop"))
	if inc := b.incident(); inc.State != incident.Closed || inc.Resolution != incident.Unseen || !strings.Contains(b.channel.Posts()[0].Text, "not checked since") {
		t.Errorf("%s, %s, %q", inc.State, inc.Resolution, b.channel.Posts()[0].Text)
	}
	tick(16 * day)
	if len(woken) > 0 {
		t.Errorf("woken %q, and nothing is open", woken)
	}

	b = newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	gone := notifytest.Observation()
	gone.ClusterGone, gone.Sweep = true, true
	b.must(5, gone)
	gone.ID = "once more"
	b.must(10, gone)
	if diff := cmp.Diff([]string{"post", "reply opened", "update", "reply withdrawn"}, b.channel.Calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if got := b.channel.Posts()[0].Text; !strings.Contains(got, "cluster eks-workshop was deleted") || b.bus.Kinds() != "Opened Resolved" {
		t.Errorf("the message is %q, the bus was told %q", got, b.bus.Kinds())
	}
	if r, err := b.store.ClusterRecord(t.Context(), "eks-workshop"); err != nil || r.Open || r.Owed || r.Version == 0 {
		t.Errorf("%+v, %v; want a record with nothing open, by which the closed incident is found", r, err)
	}
}
