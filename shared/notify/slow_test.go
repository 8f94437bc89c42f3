package notify

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/routing"
	"rollcall/shared/slack/slackapi"
)

// slow takes its time for whatever is no message, or does not answer at all.
type slow struct {
	*notifytest.Slack
	takes time.Duration
}

func (s slow) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return &slackapi.Error{Kind: slackapi.Unavailable, Method: "any"}
	case <-time.After(s.takes):
		return nil
	}
}

func (s slow) Ephemeral(ctx context.Context, id, user, thread string, m slackapi.Message) error {
	if err := s.wait(ctx); err != nil {
		s.Calls = append(s.Calls, "in vain")
		return err
	}
	return s.Slack.Ephemeral(ctx, id, user, thread, m)
}

func slowCluster(s slow, budget time.Duration) *Cluster {
	v := Notifier{Slack: s, Answers: s, Now: time.Now, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {}}.Begin()
	return &Cluster{Invocation: v, wanted: map[outbox.Target]bool{}, name: "prod", timeBudgetEnds: time.Now().Add(budget)}
}

// A Slack that is slow with answers does not eat the turns of other clusters,
// and one that does not answer is waited for once. What is left comes again.
func TestAnswersKeepToTheBudget(t *testing.T) {
	for name, test := range map[string]struct {
		takes        time.Duration
		most         time.Duration
		sent, resume int
		slackDown    bool
	}{
		"quick":        {100 * time.Millisecond, 2 * time.Second, 20, 0, false},
		"slow":         {4 * time.Second, 20 * time.Second, 4, 1, false},
		"does nothing": {time.Hour, CallTimeout, 0, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			said := &notifytest.Slack{}
			p := slowCluster(slow{said, test.takes}, 20*time.Second)
			var acts []incident.ActRecord
			for i := range 20 {
				acts = append(acts, incident.ActRecord{ID: fmt.Sprint(i), User: report.User{ID: notifytest.Oncall}, Channel: "C0123456789", Answer: incident.Answer{Reason: incident.AnswerApproved}, Decided: time.Now()})
			}
			began := time.Now()
			left := p.answer(t.Context(), acts)
			if took := time.Since(began); took > test.most || len(said.Answers) != test.sent || len(left) != len(acts)-test.sent || p.slackDown != test.slackDown || min(len(p.unfinished), 1) != test.resume {
				t.Errorf("%s: took %s, %d answered, %d left, silent %v, goes on with %d", name, took, len(said.Answers), len(left), p.slackDown, len(p.unfinished))
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
	b.Policy.Routes, b.Policy.RemindAfter = routes, 30*time.Minute
	b.channel.Fail = notifytest.Down
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	var minutes []int
	for minute := 5; minute <= 100; minute += 5 {
		if minute == 60 {
			b.channel.Fail = nil
		}
		before := broadcasts(b.channel)
		b.must(minute, notifytest.Sweep())
		for range broadcasts(b.channel) - before {
			minutes = append(minutes, minute)
		}
	}
	if diff := cmp.Diff([]int{60, 90}, minutes); diff != "" {
		t.Errorf("people are called at (-want +got):\n%s", diff)
	}
}

func broadcasts(c *notifytest.Slack) (n int) {
	for _, m := range c.Messages {
		if m.Broadcast {
			n++
		}
	}
	return n
}
