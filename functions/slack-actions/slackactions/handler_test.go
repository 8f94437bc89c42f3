package slackactions

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/report"
)

func TestPresses(t *testing.T) {
	press := report.Press{
		At: stageTime, Key: key(), Number: 2, User: report.User{ID: "U0ONCALL01", Name: "oncall"}, Team: "T1",
		Channel: "C0123456789", TS: "1763650800.000100", Thread: "1763650700.000100",
	}
	for _, test := range []struct {
		action report.Action
		plan   string
		lasts  time.Duration
	}{
		{report.Acknowledge, "", 0}, {report.Unmute, "", 0}, {report.CheckAgain, "", 0}, {report.MuteFor, "", 4 * time.Hour},
		{report.ApprovePlan, plan, 0}, {report.RefusePlan, plan, 0},
	} {
		b := newBench(t)
		got := b.call(b.request(b.body(string(test.action), b.value(test.plan), "1")))
		if diff := cmp.Diff(events.LambdaFunctionURLResponse{StatusCode: 200}, got); diff != "" {
			t.Errorf("%s is answered (-want +got):\n%s", test.action, diff)
		}
		want := press
		want.Action, want.Plan, want.For = test.action, test.plan, test.lasts
		for i := range b.sent {
			if len(b.sent[i].ID) != 64 {
				t.Errorf("%s has the id %q", test.action, b.sent[i].ID)
			}
			b.sent[i].ID = ""
		}
		if diff := cmp.Diff([]report.Press{want}, b.sent); diff != "" {
			t.Errorf("%s is passed on (-want +got):\n%s", test.action, diff)
		}
		if len(b.records)+len(b.told) > 0 {
			t.Errorf("%s: records %+v, told %q", test.action, b.records, b.told)
		}
	}
}

func TestALinkIsNothingToDo(t *testing.T) {
	b := newBench(t)
	if got := b.call(b.request(b.body("console", "", "1"))); got.StatusCode != 200 || len(b.sent)+len(b.told)+len(b.records) > 0 {
		t.Errorf("answered %+v, sent %+v, told %q", got, b.sent, b.told)
	}
	if got := b.call(b.request("ssl_check=1&token=x")); got.StatusCode != 200 || len(b.sent) > 0 {
		t.Errorf("ssl_check is answered %+v", got)
	}
}

// TestAReplayCountsOnce, and a press that could not be passed on may come again.
func TestAReplayCountsOnce(t *testing.T) {
	b := newBench(t)
	r := b.request(b.body("approve", b.value(plan), "1"))
	b.sendErr = errors.New("SQS is away")
	if got := b.call(r); got.StatusCode != 500 {
		t.Errorf("what cannot be passed on is answered %+v", got)
	}
	b.sendErr = nil
	for i, want := range []int{200, 409, 409} {
		if got := b.call(r); got.StatusCode != want {
			t.Errorf("time %d: answered %+v, want %d", i+1, got, want)
		}
	}
	if len(b.sent) != 1 || len(b.records) != 2 {
		t.Errorf("%d presses and %d records, want 1 and 2", len(b.sent), len(b.records))
	}
	if got := b.call(b.request(b.body("approve", b.value(plan), "2"))); got.StatusCode != 200 || len(b.sent) != 2 {
		t.Errorf("the next press is answered %+v; %d sent", got, len(b.sent))
	}
}

func TestWhatIsBrokenIsSaidAndAlarmed(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*bench)
		status int
		log    string
	}{
		{"no secret", func(b *bench) { b.secret = "" }, 503, "SlackSigningSecretCommand"},
		{"the token in its place", func(b *bench) { b.secret = "xoxb-12345678-SECRET" }, 503, "does not hold a Slack app's Signing Secret"},
		{"no permission", func(b *bench) { b.secretErr = errors.New("AccessDeniedException") }, 503, "AccessDeniedException"},
		{"no table", func(b *bench) { b.claimErr = errors.New("ThrottlingException") }, 500, "ThrottlingException"},
		{"no table by now", func(b *bench) { b.passErr = errors.New("RequestLimitExceeded") }, 500, "RequestLimitExceeded"},
		{"no queue", func(b *bench) { b.sendErr = errors.New("QueueDoesNotExist") }, 500, "QueueDoesNotExist"},
	} {
		b := newBench(t)
		test.change(b)
		got := b.call(b.request(b.body("acknowledge", b.value(""), "1")))
		if got.StatusCode != test.status || !strings.Contains(b.logs.String(), "level=ERROR") || !strings.Contains(b.logs.String(), test.log) {
			t.Errorf("%s: answered %+v, logged %s", test.name, got, b.logs.String())
		}
		b.handler.audit.metrics.Flush(stageTime)
		if !strings.Contains(b.numbers.String(), `"NotPassedOn":1`) {
			t.Errorf("%s: no alarm would ring: %s", test.name, b.numbers.String())
		}
		if len(b.sent) > 0 {
			t.Errorf("%s: passed on", test.name)
		}
		b.leaks(got.Body)
	}
}

func TestNoCall(t *testing.T) {
	b := newBench(t)
	for _, raw := range []string{`{}`, `[]`, `{"source":"aws.events"}`, `{"Records":[]}`} {
		if _, err := b.handle(t.Context(), json.RawMessage(raw)); !errors.Is(err, errNoCall) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// FuzzReceived: whatever Lambda hands over is read or refused.
func FuzzReceived(f *testing.F) {
	f.Add([]byte(`{"version":"2.0","headers":{"content-type":"x"},"requestContext":{"http":{"method":"POST","sourceIp":"1.2.3.4"}},"body":"cGF5bG9hZA==","isBase64Encoded":true}`))
	f.Add([]byte(`{"requestContext":{"http":{"method":"GET"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := received(raw)
		if err == nil && c.Method == "" {
			t.Error("a request without a method")
		}
	})
}

// deadlines keeps how long what is behind the function may take.
type deadlines struct {
	*bench
	left []time.Duration
}

func (d *deadlines) note(ctx context.Context) {
	at, ok := ctx.Deadline()
	if !ok {
		at = time.Now().Add(time.Hour)
	}
	d.left = append(d.left, time.Until(at))
}

func (d *deadlines) ClaimPress(ctx context.Context, id, by string) (bool, error) {
	d.note(ctx)
	return d.bench.ClaimPress(ctx, id, by)
}

func (d *deadlines) PassPress(ctx context.Context, id, by, digest string) error {
	d.note(ctx)
	return d.bench.PassPress(ctx, id, by, digest)
}

func (d *deadlines) SendPress(ctx context.Context, m report.PressMessage) error {
	d.note(ctx)
	return d.bench.SendPress(ctx, m)
}

// TestNothingIsWaitedForBeyondSlack: every call ends early enough for an answer
// within three seconds, the taking back of a claim included.
func TestNothingIsWaitedForBeyondSlack(t *testing.T) {
	if answerWithin+releaseWithin > 2500*time.Millisecond {
		t.Errorf("an answer may take %s", answerWithin+releaseWithin)
	}
	b := newBench(t)
	d := &deadlines{bench: b}
	b.handler.once, b.handler.send = d, d
	b.call(b.request(b.body("acknowledge", b.value(""), "1")))
	if len(d.left) != 3 || slices.Max(d.left) > answerWithin {
		t.Errorf("calls may take %v", d.left)
	}
}
