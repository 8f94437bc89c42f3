package notify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

func stopped(minute int) report.Summary {
	s := notifytest.Cleanup(minute, 12)
	s.Cleanup.Stopped = &report.CleanupStop{Candidates: 480, Interfaces: 900, Share: 50}
	return s
}

func texts(b *bench) (list []string) {
	for _, m := range b.channel.Posts() {
		list = append(list, m.Text)
	}
	return list
}

// One message for a cluster and day, edited as the day goes on.
func TestCleanup(t *testing.T) {
	b := newBench(t)
	for _, s := range []struct {
		minute int
		list   []report.Summary
		calls  string
	}{
		{0, []report.Summary{notifytest.Cleanup(0, 10)}, "post"},
		{1, []report.Summary{notifytest.Cleanup(0, 10)}, ""},
		{15, []report.Summary{notifytest.Cleanup(15, 12)}, "update"},
		{16, nil, ""},
		{17, []report.Summary{notifytest.Cleanup(7, 11)}, ""}, // late
		{30, []report.Summary{notifytest.Cleanup(30, 12), notifytest.Cleanup(45, 13)}, "update"},
	} {
		before := len(b.channel.Calls)
		if failed, err := b.tell(s.minute, s.list...); err != nil || len(failed) > 0 {
			t.Fatal(failed, err)
		}
		if got := strings.Join(b.channel.Calls[before:], ", "); got != s.calls {
			t.Errorf("minute %d: calls %q, want %q", s.minute, got, s.calls)
		}
	}
	if diff := cmp.Diff([]string{"🧹 eks-workshop · 39 addresses back in " + notifytest.Subnet + "; 13 interfaces of 4 dead nodes"}, texts(b)); diff != "" {
		t.Errorf("the channel (-want +got):\n%s", diff)
	}
	next := notifytest.Cleanup(24*60, 2)
	next.ID = "cleanup/eks-workshop/2026-11-21"
	if _, err := b.tell(24*60, next); err != nil || len(b.channel.Posts()) != 2 {
		t.Errorf("the next day: %v, %d posts", err, len(b.channel.Posts()))
	}
}

// A run that stopped is a message of its own; when a later run goes on, that
// message says so.
func TestCleanupStopped(t *testing.T) {
	b := newBench(t)
	for i, s := range []report.Summary{stopped(0), stopped(15), notifytest.Cleanup(30, 14)} {
		if _, err := b.tell(i, s); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"🔴 eks-workshop · the cleanup stopped and deleted nothing: 480 of 900 interfaces of vpc-0ab1c2d3e4f5a6b7c look left behind",
			"🧹 eks-workshop · 36 addresses back in " + notifytest.Subnet + "; 12 interfaces of 4 dead nodes",
		}
		if i == 2 {
			want[0] = "✅ eks-workshop · the cleanup goes on; it had stopped when 480 of 900 interfaces of vpc-0ab1c2d3e4f5a6b7c looked left behind"
			want[1] = "🧹 eks-workshop · 42 addresses back in " + notifytest.Subnet + "; 14 interfaces of 4 dead nodes"
		}
		if diff := cmp.Diff(want, texts(b)); diff != "" {
			t.Errorf("run %d (-want +got):\n%s", i, diff)
		}
	}
	list, err := b.store.Postings(t.Context(), "eks-workshop")
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, p := range list {
		if !p.Done {
			t.Errorf("a report function of before would say %s as a Spot summary", p.Summary.ID)
		}
	}
}

// Whatever call is cut off, whichever write, and while Slack is away: once.
func TestCleanupSaidOnce(t *testing.T) {
	steps := [][]report.Summary{{notifytest.Cleanup(0, 10)}, nil, {notifytest.Cleanup(15, 12)}, nil, nil}
	run := func(t *testing.T, b *bench) {
		t.Helper()
		for i, step := range steps {
			failed, err := b.tell(5*i, step...)
			if err != nil {
				t.Fatal(err)
			}
			if len(failed) > 0 {
				if failed, err := b.tell(5*i+1, step...); err != nil || len(failed) > 0 {
					t.Fatal(failed, err)
				}
			}
		}
		if diff := cmp.Diff([]string{"🧹 eks-workshop · 36 addresses back in " + notifytest.Subnet + "; 12 interfaces of 4 dead nodes"}, texts(b)); diff != "" {
			t.Errorf("the channel (-want +got):\n%s", diff)
		}
	}
	for _, call := range []string{"post", "update"} {
		t.Run("cut off "+call, func(t *testing.T) {
			b := newBench(t)
			b.channel.Fail = notifytest.CutOff(call)
			run(t, b)
		})
	}
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprint("write ", n), func(t *testing.T) {
			b := newBench(t)
			b.Postings = &lapse{Summaries: b.store, at: n}
			run(t, b)
		})
	}
	t.Run("away", func(t *testing.T) {
		b := newBench(t)
		calls := 0
		b.channel.Fail = func(call string) (error, bool) {
			if calls++; calls <= 2 {
				return notifytest.Down(call)
			}
			return nil, false
		}
		run(t, b)
	})
}

// Somebody deletes the day's message: the rest of the day is not said.
func TestCleanupDeleted(t *testing.T) {
	b := newBench(t)
	if _, err := b.tell(0, notifytest.Cleanup(0, 10)); err != nil {
		t.Fatal(err)
	}
	b.channel.Fail = fails("update", slackapi.Error{Kind: slackapi.MessageGone, Method: "chat.update", Code: "message_not_found"}, -1)
	for i := range 3 {
		if _, err := b.tell(15*i+15, notifytest.Cleanup(15*i+15, 11+i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(b.channel.Posts()); n != 1 {
		t.Errorf("%d posts, want 1", n)
	}
}
