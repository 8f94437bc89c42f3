package slackactions

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/interaction"
	"rollcall/shared/report"
	"rollcall/shared/slack"
)

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name   string
		action string
		value  func(*bench) string
		change func(*bench, *events.LambdaFunctionURLRequest)
		status int
		reason interaction.Reason
		told   string
	}{
		{name: "forged", change: func(_ *bench, r *events.LambdaFunctionURLRequest) {
			r.Headers["x-slack-signature"] = "v0=" + strings.Repeat("a", 64)
		}, status: 401, reason: interaction.Forged},
		{name: "another body under the same signature", change: func(_ *bench, r *events.LambdaFunctionURLRequest) {
			r.Body = base64.StdEncoding.EncodeToString([]byte("payload={}"))
		}, status: 401, reason: interaction.Forged},
		{name: "old", change: func(b *bench, _ *events.LambdaFunctionURLRequest) { b.wallNow = b.wallNow.Add(301 * time.Second) }, status: 401, reason: interaction.TooOld},
		{name: "from the future", change: func(b *bench, _ *events.LambdaFunctionURLRequest) { b.wallNow = b.wallNow.Add(-61 * time.Second) }, status: 401, reason: interaction.FromFuture},
		{name: "not base64", change: func(_ *bench, r *events.LambdaFunctionURLRequest) { r.Body = "%%%" }, status: 415, reason: interaction.NotForm},
		{name: "large", change: func(_ *bench, r *events.LambdaFunctionURLRequest) { r.Body = strings.Repeat("A", 3<<20) }, status: 413, reason: interaction.TooLarge},
		{name: "no headers", change: func(_ *bench, r *events.LambdaFunctionURLRequest) { r.Headers = nil }, status: 415, reason: interaction.NotForm},
		{name: "a button of another app", action: "deploy", status: 200, reason: interaction.UnknownAction, told: "Nothing was done: this version of Rollcall does not know that button."},
		{name: "no plan", action: "approve", status: 200, reason: interaction.UnknownValue, told: "Nothing was done: this version of Rollcall does not know what that button stands for."},
		{name: "another value", action: "acknowledge", value: func(*bench) string { return "rtb-1" }, status: 200, reason: interaction.UnknownValue, told: "Nothing was done: this version of Rollcall does not know what that button stands for."},
		{name: "of a spoke that was taken out of the settings", action: "acknowledge", value: func(*bench) string {
			text, _ := slack.Value{Key: report.Key{Spoke: left, Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}, Number: 2}.Text()
			return text
		}, status: 200, reason: interaction.NotWatched,
			told: "Nothing was done: the account and region that it is about are no longer watched (setting spokes); what is open there is closed within half an hour."},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			value := b.value("")
			if test.value != nil {
				value = test.value(b)
			}
			action := test.action
			if action == "" {
				action = "acknowledge"
			}
			r := b.request(b.body(action, value, "1"))
			if test.change != nil {
				test.change(b, &r)
			}
			got := b.call(r)
			if got.StatusCode != test.status || test.told == "" && !strings.HasPrefix(got.Body, string(test.reason)+": ") {
				t.Errorf("answered %+v, want %d %s", got, test.status, test.reason)
			}
			if len(b.sent) > 0 {
				t.Errorf("passed on: %+v", b.sent)
			}
			if diff := cmp.Diff([]string{test.told}, append(b.told, "")[:1]); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if len(b.records) != 1 || b.records[0].Reason != test.reason || b.records[0].Source != "192.0.2.7" || len(b.records[0].Request) != 64 || !b.records[0].At.Equal(stageTime) {
				t.Fatalf("recorded: %+v", b.records)
			}
			if signed := test.reason.Signed(); (b.records[0].User == "U0ONCALL01") != signed {
				t.Errorf("of a request signed %v, the user is %q", signed, b.records[0].User)
			}
			b.handler.audit.metrics.Flush(stageTime)
			if text := b.numbers.String(); !strings.Contains(text, `"RefusedRequests":1`) || !strings.Contains(text, `"reason":"`+string(test.reason)+`"`) {
				t.Errorf("the figures are %s", text)
			}
			b.leaks(got.Body)
		})
	}
}

func TestARefusalThatCannotBeRecordedIsStillOne(t *testing.T) {
	b := newBench(t)
	b.recordErr = errors.New("ThrottlingException")
	b.slack.Close() // and the person cannot be told
	if got := b.call(b.request(b.body("deploy", "x", "1"))); got.StatusCode != 400 || len(b.sent) > 0 {
		t.Errorf("answered %+v", got)
	}
	b.leaks()
}

func TestAFloodWritesOneRecordAMinute(t *testing.T) {
	b := newBench(t)
	now := stageTime
	b.handler.now = func() time.Time { return now }
	forge := func() {
		r := b.request("payload={}")
		r.Headers["x-slack-signature"] = "v0=" + strings.Repeat("a", 64)
		b.call(r)
	}
	for range 100 {
		forge()
	}
	if len(b.records) != 1 || b.reads != 1 {
		t.Errorf("%d records and %d reads of the secret, want one each", len(b.records), b.reads)
	}
	if got := strings.Count(b.logs.String(), "msg=refused"); got != 1 {
		t.Errorf("%d lines in the log, want one:\n%s", got, b.logs.String())
	}
	now = now.Add(time.Minute)
	forge()
	if lines := strings.Split(strings.TrimSpace(b.logs.String()), "\n"); len(lines) != 2 || !strings.Contains(lines[1], "unsaid=99") {
		t.Errorf("the next minute does not say how many were left out:\n%s", b.logs.String())
	}
	b.handler.audit.metrics.Flush(now)
	if !strings.Contains(b.numbers.String(), `"RefusedRequests":101`) {
		t.Errorf("not all are counted: %s", b.numbers.String())
	}
	for n := range 3 { // what Slack signed is said each time
		b.call(b.request(b.body("deploy", "x", strconv.Itoa(n))))
	}
	if got := strings.Count(b.logs.String(), "msg=refused"); got != 5 || len(b.records) != 5 {
		t.Errorf("%d lines and %d records, want 5", got, len(b.records))
	}
}
