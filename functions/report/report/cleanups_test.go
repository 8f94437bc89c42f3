package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/report"
	"rollcall/shared/slack"
)

// cleanup is what eni-cleanup tells after a run.
func cleanup(minute, interfaces int) report.Summary {
	return report.Summary{
		Format: report.SummaryFormat, Kind: report.CleanupSummary, ID: "cleanup/eks-workshop/2026-11-20", By: "eni-cleanup",
		At: start.Add(time.Duration(minute) * time.Minute), Cluster: "eks-workshop", Region: "us-west-2", Partition: "aws",
		Cleanup: &report.Cleanup{Mode: "delete", Day: start.Truncate(24 * time.Hour), VPC: "vpc-0ab1c2d3e4f5a6b7c", Subnets: []report.CleanupSubnet{
			{Subnet: subnet, Zone: "us-west-2a", Interfaces: interfaces, Addresses: 3 * interfaces, Nodes: 4, Free: 43},
		}},
	}
}

func stopped(minute int) report.Summary {
	s := cleanup(minute, 12)
	s.Cleanup.Stopped = &report.CleanupStop{Candidates: 480, Interfaces: 900, Share: 50}
	return s
}

func texts(b *bench) (list []string) {
	for _, m := range b.channel.posts() {
		list = append(list, m.text)
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
		{0, []report.Summary{cleanup(0, 10)}, "post"},
		{1, []report.Summary{cleanup(0, 10)}, ""},
		{15, []report.Summary{cleanup(15, 12)}, "update"},
		{16, nil, ""},
		{17, []report.Summary{cleanup(7, 11)}, ""}, // late
		{30, []report.Summary{cleanup(30, 12), cleanup(45, 13)}, "update"},
	} {
		before := len(b.channel.calls)
		if failed, err := b.tell(s.minute, s.list...); err != nil || len(failed) > 0 {
			t.Fatal(failed, err)
		}
		if got := strings.Join(b.channel.calls[before:], ", "); got != s.calls {
			t.Errorf("minute %d: calls %q, want %q", s.minute, got, s.calls)
		}
	}
	if diff := cmp.Diff([]string{"🧹 eks-workshop · 39 addresses back in " + subnet + "; 13 interfaces of 4 dead nodes"}, texts(b)); diff != "" {
		t.Errorf("the channel (-want +got):\n%s", diff)
	}
	next := cleanup(24*60, 2)
	next.ID = "cleanup/eks-workshop/2026-11-21"
	if _, err := b.tell(24*60, next); err != nil || len(b.channel.posts()) != 2 {
		t.Errorf("the next day: %v, %d posts", err, len(b.channel.posts()))
	}
}

// A run that stopped is a message of its own; when a later run goes on, that
// message says so.
func TestCleanupStopped(t *testing.T) {
	b := newBench(t)
	for i, s := range []report.Summary{stopped(0), stopped(15), cleanup(30, 14)} {
		if _, err := b.tell(i, s); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"🔴 eks-workshop · the cleanup stopped and deleted nothing: 480 of 900 interfaces of vpc-0ab1c2d3e4f5a6b7c look left behind",
			"🧹 eks-workshop · 36 addresses back in " + subnet + "; 12 interfaces of 4 dead nodes",
		}
		if i == 2 {
			want[0] = "✅ eks-workshop · the cleanup goes on; it had stopped when 480 of 900 interfaces of vpc-0ab1c2d3e4f5a6b7c looked left behind"
			want[1] = "🧹 eks-workshop · 42 addresses back in " + subnet + "; 14 interfaces of 4 dead nodes"
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
	steps := [][]report.Summary{{cleanup(0, 10)}, nil, {cleanup(15, 12)}, nil, nil}
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
		if diff := cmp.Diff([]string{"🧹 eks-workshop · 36 addresses back in " + subnet + "; 12 interfaces of 4 dead nodes"}, texts(b)); diff != "" {
			t.Errorf("the channel (-want +got):\n%s", diff)
		}
	}
	for _, call := range []string{"post", "update"} {
		t.Run("cut off "+call, func(t *testing.T) {
			b := newBench(t)
			b.channel.fail = cutOff(call)
			run(t, b)
		})
	}
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprint("write ", n), func(t *testing.T) {
			b := newBench(t)
			b.postings = &lapse{Summaries: b.store, at: n}
			run(t, b)
		})
	}
	t.Run("away", func(t *testing.T) {
		b := newBench(t)
		calls := 0
		b.channel.fail = func(call string) (error, bool) {
			if calls++; calls <= 2 {
				return down(call)
			}
			return nil, false
		}
		run(t, b)
	})
}

// Somebody deletes the day's message: the rest of the day is not said.
func TestCleanupDeleted(t *testing.T) {
	b := newBench(t)
	if _, err := b.tell(0, cleanup(0, 10)); err != nil {
		t.Fatal(err)
	}
	b.channel.fail = fails("update", slack.Error{Kind: slack.MessageGone, Method: "chat.update", Code: "message_not_found"}, -1)
	for i := range 3 {
		if _, err := b.tell(15*i+15, cleanup(15*i+15, 11+i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(b.channel.posts()); n != 1 {
		t.Errorf("%d posts, want 1", n)
	}
}
