package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
)

// queued is a press as it lies in the results queue.
func (b *bench) queued(p report.Press) string {
	b.Helper()
	body, err := json.Marshal(p)
	if err != nil {
		b.Fatal(err)
	}
	return string(body)
}

// deliverNow hands messages over that nobody has passed on.
func (b *bench) deliverNow(bodies ...string) {
	b.Helper()
	if failed, err := b.deliverBodies(bodies...); err != nil || len(failed) > 0 {
		b.Errorf("failed %q, %v", failed, err)
	}
}

// TestOnlyWhatSlackActionsPassedOnIsBelieved: every function may send to the
// results queue, so whoever has the role of one can put anything there.
func TestOnlyWhatSlackActionsPassedOnIsBelieved(t *testing.T) {
	for name, test := range map[string]struct {
		put  func(*bench, report.Press) string
		want incident.AnswerReason
		// told tells that the person is told, and that there is an audit record.
		told bool
	}{
		"made up": {func(b *bench, p report.Press) string { return b.queued(p) }, incident.NotPassedOn, false},
		"in another's name": {func(b *bench, p report.Press) string {
			b.passOn(p)
			p.User.ID = notifytest.Oncall
			return b.queued(p)
		}, incident.NotPassedOn, false},
		"of another plan": {func(b *bench, p report.Press) string {
			b.passOn(p)
			p.Plan = strings.Repeat("0", 32)
			return b.queued(p)
		}, incident.NotPassedOn, false},
		"an approval of what was an acknowledgement": {func(b *bench, p report.Press) string {
			ack := p
			ack.Action, ack.Plan = report.Acknowledge, ""
			b.passOn(ack)
			return b.queued(p)
		}, incident.NotPassedOn, false},
		"under the id of a request that was refused": {func(b *bench, p report.Press) string {
			if _, err := b.store.ClaimPress(b.Context(), p.ID, "slack-actions"); err != nil {
				b.Fatal(err)
			}
			return b.queued(p)
		}, incident.NotPassedOn, false},
		"given back": {func(b *bench, p report.Press) string {
			b.passOn(p)
			if err := b.store.ReleasePress(b.Context(), p.ID, "slack-actions"); err != nil {
				b.Fatal(err)
			}
			return b.queued(p)
		}, incident.NotPassedOn, false},
		"without a channel": {func(b *bench, p report.Press) string { p.Channel = ""; b.passOn(p); return b.queued(p) }, incident.Incomplete, true},
		"without a message": {func(b *bench, p report.Press) string { p.TS = ""; b.passOn(p); return b.queued(p) }, incident.Incomplete, true},
		"three hours on its way": {func(b *bench, p report.Press) string {
			p.At = b.now.Add(-response.PressLasts - time.Second)
			b.passOn(p)
			return b.queued(p)
		}, incident.TooLate, true},
		"of the future": {func(b *bench, p report.Press) string {
			p.At = b.now.Add(time.Minute + time.Second)
			b.passOn(p)
			return b.queued(p)
		}, incident.FromFuture, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := offering(t)
			body := test.put(b, b.press(notifytest.Dana, report.ApprovePlan))
			b.channel.Calls = nil
			b.deliverNow(body)
			if o := b.incident().Offers[0]; o.State != incident.Offered || strings.Contains(b.bus.Kinds(), "Approved") {
				t.Errorf("the offer is %s, the bus was told %q", o.State, b.bus.Kinds())
			}
			acts := b.acts()
			if test.told != (len(acts) == 1) || test.told && acts[0].Answer.Reason != test.want {
				t.Errorf("audited are %+v, want %s: %v", acts, test.want, test.told)
			}
			answered := 0
			if test.told && test.want != incident.Incomplete { // which names nobody to tell it to, or nowhere
				answered = 1
			}
			if name == "without a message" {
				answered = 1
			}
			if len(b.channel.Answers) != answered {
				t.Errorf("answers are %q, want %d", b.channel.Answers, answered)
			}
			if got := b.log.String(); !strings.Contains(got, `"answer":"`+string(test.want)+`"`) || b.counts["PressesRefused"] != 1 {
				t.Errorf("counted %v, logged %s", b.counts, got)
			}
			b.mustSend(3, b.press(notifytest.Dana, report.ApprovePlan))
			if b.incident().Offers[0].State != incident.Approved {
				t.Error("the next press of the same person does not count")
			}
		})
	}
}

// TestAGenuinePressCannotBeSentAgain: the queue forgets a message after five
// minutes, and an incident after 32 others; the audit record does not.
func TestAGenuinePressCannotBeSentAgain(t *testing.T) {
	b := offering(t)
	muted := b.press(notifytest.Oncall, report.MuteFor)
	b.mustSend(2, muted)
	b.mustSend(3, b.press(notifytest.Oncall, report.Unmute))
	for minute := range 35 {
		b.must(4+minute, notifytest.Failing(notifytest.Launch(fmt.Sprintf("i-0%016d", minute), 0, report.Waiting)))
	}
	b.deliverNow(b.queued(muted))
	if inc := b.incident(); inc.Mute != nil || len(b.acts()) != 2 {
		t.Errorf("muted again: %+v, %d acts", inc.Mute, len(b.acts()))
	}
}

// TestAFloodOfMadeUpPresses is one line in the log for each batch.
func TestAFloodOfMadeUpPresses(t *testing.T) {
	b := offering(t)
	var bodies []string
	for range 10 {
		bodies = append(bodies, b.queued(b.press(notifytest.Dana, report.ApprovePlan)))
	}
	b.log.Reset()
	b.deliverNow(bodies...)
	if got := strings.Count(b.log.String(), `"level":"ERROR"`); got != 1 || !strings.Contains(b.log.String(), `"presses":10`) || b.counts["PressesNotPassedOn"] != 10 {
		t.Errorf("counted %v, logged %s", b.counts, b.log.String())
	}
	if n := len(b.incident().Applied); n > 2 {
		t.Errorf("the incident remembers %d messages", n)
	}
}

// TestAPressThatCannotBeVettedComesAgain: that the table is away proves nothing.
func TestAPressThatCannotBeVettedComesAgain(t *testing.T) {
	b := offering(t)
	p := b.press(notifytest.Dana, report.ApprovePlan)
	b.passed = unreadable{}
	if failed, err := b.send(2, p); err != nil || len(failed) != 1 || len(b.channel.Answers) > 0 || len(b.acts()) > 0 {
		t.Errorf("failed %q, %v, answers %q", failed, err, b.channel.Answers)
	}
	b.passed = b.store
	b.mustSend(3, p)
	if b.incident().Offers[0].State != incident.Approved {
		t.Error("the press is lost")
	}
}

type unreadable struct{}

func (unreadable) PassedPress(context.Context, string) (*report.PressRecord, error) {
	return nil, errors.New("the table is away")
}
