package report

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/routing"

	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/notify/outbox"
	"rollcall/shared/report"
	"rollcall/shared/slack"
)

// slow takes its time for whatever is no message, or does not answer at all.
type slow struct {
	*channel
	takes time.Duration
}

func (s slow) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return &slack.Error{Kind: slack.Unavailable, Method: "any"}
	case <-time.After(s.takes):
		return nil
	}
}

func (s slow) Ephemeral(ctx context.Context, id, user, thread string, m slack.Message) error {
	if err := s.wait(ctx); err != nil {
		s.calls = append(s.calls, "in vain")
		return err
	}
	return s.channel.Ephemeral(ctx, id, user, thread, m)
}

func (s slow) GroupMembers(ctx context.Context, group string) ([]string, error) {
	if err := s.wait(ctx); err != nil {
		s.calls = append(s.calls, "in vain")
		return nil, err
	}
	return s.channel.GroupMembers(ctx, group)
}

func slowPass(s slow, turn time.Duration) invocation {
	p := invocation{handler: handler{slack: s, people: s, now: time.Now, log: slog.New(slog.DiscardHandler), count: func(string, int) {}}, delivery: &delivery{wanted: map[outbox.Target]bool{}}}
	p.budgetOf, p.timeBudgetEnds = "prod", time.Now().Add(turn)
	return p
}

// A Slack that is slow with answers does not eat the turns of other clusters,
// and one that does not answer is waited for once. What is left comes again.
func TestAnswersKeepToTheTurn(t *testing.T) {
	for name, test := range map[string]struct {
		takes        time.Duration
		most         time.Duration
		sent, resume int
		silent       bool
	}{
		"quick":        {100 * time.Millisecond, 2 * time.Second, 20, 0, false},
		"slow":         {4 * time.Second, 20 * time.Second, 4, 1, false},
		"does nothing": {time.Hour, callTimeout, 0, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			said := &channel{}
			p := slowPass(slow{said, test.takes}, 20*time.Second)
			var acts []incident.ActRecord
			for i := range 20 {
				acts = append(acts, incident.ActRecord{ID: fmt.Sprint(i), User: report.User{ID: oncall}, Channel: "C0123456789", Answer: incident.Answer{Reason: incident.AnswerApproved}, Decided: time.Now()})
			}
			began := time.Now()
			left := p.answer(t.Context(), acts)
			if took := time.Since(began); took > test.most || len(said.answers) != test.sent || len(left) != len(acts)-test.sent || p.slackDown != test.silent || min(len(p.unfinished), 1) != test.resume {
				t.Errorf("%s: took %s, %d answered, %d left, silent %v, goes on with %d", name, took, len(said.answers), len(left), p.slackDown, len(p.unfinished))
			}
		})
	}
}

// People are called once for an hour in which Slack was away, and again only
// the set time after they could hear it.
func TestCallsAfterAnOutage(t *testing.T) {
	b := newBench(t)
	routes, err := routing.Parse("all/critical=@S0ONCALL01")
	if err != nil {
		t.Fatal(err)
	}
	b.policy.Routes, b.policy.RemindAfter = routes, 30*time.Minute
	b.channel.fail = down
	b.must(0, failing(launch(i1, 0, report.Waiting)))
	var minutes []int
	for minute := 5; minute <= 100; minute += 5 {
		if minute == 60 {
			b.channel.fail = nil
		}
		before := broadcasts(b.channel)
		b.must(minute, sweep())
		for range broadcasts(b.channel) - before {
			minutes = append(minutes, minute)
		}
	}
	if diff := cmp.Diff([]int{60, 90}, minutes); diff != "" {
		t.Errorf("people are called at (-want +got):\n%s", diff)
	}
}

func broadcasts(c *channel) (n int) {
	for _, m := range c.messages {
		if m.broadcast {
			n++
		}
	}
	return n
}

// Two user groups of a Slack that hangs cost one short wait, and a press is
// refused with the reason; the time to record it and to speak is left.
func TestGroupsKeepToTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := &channel{}
		p := slowPass(slow{said, time.Hour}, 58*time.Second)
		p.approvers = []string{"S0LEADS001", "S0LEADS002", dana}
		began := time.Now()
		for range 3 {
			who := p.mayPress(t.Context(), report.Press{Action: report.ApprovePlan, Home: ours, User: report.User{ID: oncall}})
			if who.May != response.Unknown || who.Says != "S0LEADS001: Slack did not answer; S0LEADS002: Slack did not answer" {
				t.Errorf("may %q: %s", who.May, who.Says)
			}
		}
		if took := time.Since(began); took > callTimeout || len(said.calls) != 1 {
			t.Errorf("took %s and %d calls", took, len(said.calls))
		}
		if who := p.mayPress(t.Context(), report.Press{Action: report.ApprovePlan, Home: ours, User: report.User{ID: dana}}); who.May != response.MayYes {
			t.Errorf("who is named may %q", who.May)
		}
	})
}
