package slackactions

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/interaction"
	"rollcall/shared/lambda"
	"rollcall/shared/report"
	"rollcall/shared/slack/button"
	"rollcall/shared/slack/hook"
	"rollcall/shared/spoke"
	"rollcall/tools/expect"
)

// typed is what Slack sends for a command
// (docs.slack.dev/interactivity/implementing-slash-commands).
func (b *bench) typed(text string) string {
	return url.Values{
		"token": {"x"}, "team_id": {"T1"}, "team_domain": {"acme"}, "channel_id": {"D0123456789"}, "channel_name": {"directmessage"}, "user_id": {"U0ONCALL01"}, "user_name": {"oncall"},
		"command": {"/rollcall"}, "text": {text}, "api_app_id": {"A1"}, "is_enterprise_install": {"false"}, "response_url": {b.slack.URL + "/response/SECRET"}, "trigger_id": {text},
	}.Encode()
}

// ephemeralText is what the person reads at once.
func ephemeralText(t *testing.T, got events.LambdaFunctionURLResponse) string {
	t.Helper()
	var body struct {
		Type string `json:"response_type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal([]byte(got.Body), &body); err != nil || got.StatusCode != 200 || body.Type != "ephemeral" || !strings.HasPrefix(got.Headers["content-type"], "application/json") {
		t.Errorf("answered %+v, %v", got, err)
	}
	return body.Text
}

// What is wrong, and what needs no incident, is answered here.
func TestCommandsAnsweredHere(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "Rollcall commands",
		"help":                        "/rollcall silence cluster=prod for 2h",
		"staus":                       "Unknown command: /rollcall “staus”",
		"silence cluster=prod for 9y": "is not a duration",
		"silence cluster=prod check=route/nothing for 2h": "Unknown check:",
		"why prod": "Which instance?",
	} {
		b := newBench(t)
		if got := ephemeralText(t, b.call(b.request(b.typed(text)))); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if len(b.commands) > 0 || len(b.told) > 0 {
			t.Errorf("%s: passed on %+v, told %q", text, b.commands, b.told)
		}
	}
}

func TestCommandsPassedOn(t *testing.T) {
	b := newBench(t)
	user := report.User{ID: "U0ONCALL01", Name: "oncall"}
	want := report.Command{At: stageTime, User: user, Team: "T1", Home: "T1", Channel: "D0123456789", ResponseURL: b.slack.URL + "/response/SECRET"}
	for i, test := range []struct {
		text string
		ask  report.Ask
	}{
		{"status", report.Ask{Verb: report.AskStatus}},
		{"silence cluster=prod check=route/no-egress for 2h", report.Ask{Verb: report.AskSilence, Cluster: spoke.Cluster{Name: "prod"}, Check: "route/no-egress", For: 2 * time.Hour}},
		{"unsilence AB12CD34", report.Ask{Verb: report.AskUnsilence, Silence: "ab12cd34"}},
	} {
		expect.Equal(t, fmt.Sprint(test.text), ephemeralText(t, b.call(b.request(b.typed(test.text)))), "Looking…")
		if len(b.commands) != i+1 {
			t.Fatalf("%s: passed on %+v", test.text, b.commands)
		}
		got := b.commands[i]
		want.Ask, want.ID, want.Format, want.Kind = test.ask, got.ID, report.CommandFormat, report.CommandKind
		if diff := cmp.Diff(want, got); diff != "" || len(got.ID) != 64 {
			t.Errorf("%s (-want +got):\n%s", test.text, diff)
		}
	}
	b.leaks()
	// The very same request again is refused.
	again := b.request(b.typed("status"))
	if got := b.call(again); got.StatusCode != 409 || len(b.commands) != 3 {
		t.Errorf("a copy: %+v, passed on %d", got, len(b.commands))
	}
}

// Slack would say "dispatch_failed": the person reads what to do instead.
func TestCommandsThatCannotBePassedOn(t *testing.T) {
	b := newBench(t)
	b.sendErr = errors.New("QueueDoesNotExist")
	if got := ephemeralText(t, b.call(b.request(b.typed("status")))); !strings.Contains(got, "Try again in a minute") {
		t.Errorf("%q", got)
	}
	b.handler.audit.metrics.Flush(stageTime)
	if !strings.Contains(b.numbers.String(), `"NotPassedOn":1`) || !strings.Contains(b.logs.String(), "QueueDoesNotExist") {
		t.Errorf("no alarm would ring: %s, %s", b.numbers.String(), b.logs.String())
	}
	if len(b.claimed) > 0 {
		t.Error("it cannot come again")
	}
}

// event is a request of the Events API.
func (b *bench) event(body string) events.LambdaFunctionURLRequest {
	r := b.request(body)
	r.Headers["content-type"] = "application/json"
	return r
}

const opened = `{"token":"x","team_id":"T1","api_app_id":"A1","type":"event_callback","event_id":"Ev1","event_time":1,
"event":{"type":"app_home_opened","user":"U0ONCALL01","channel":"D1","tab":"home","event_ts":"1.1","view":{"id":"V1","type":"home","hash":"1.abc"}}}`

func TestEvents(t *testing.T) {
	b := newBench(t)
	got := b.call(b.event(`{"token":"x","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}`))
	if got.StatusCode != 200 || got.Body != "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" {
		t.Errorf("the challenge is answered by %+v", got)
	}
	forged := b.event(`{"challenge":"x","type":"url_verification"}`)
	forged.Body = "eyJjaGFsbGVuZ2UiOiJ5IiwidHlwZSI6InVybF92ZXJpZmljYXRpb24ifQ=="
	if got := b.call(forged); got.StatusCode != 401 || strings.Contains(got.Body, "y\"") {
		t.Errorf("a forged challenge is answered by %+v", got)
	}
	if got := b.call(b.event(opened)); got.StatusCode != 200 || len(b.commands) != 1 {
		t.Fatalf("%+v, passed on %+v", got, b.commands)
	}
	c := b.commands[0]
	if c.Ask.Verb != report.OpenHome || !c.OnHome || c.View != "1.abc" || c.User.ID != "U0ONCALL01" || c.Home != "T1" || c.ResponseURL != "" {
		t.Errorf("passed on %+v", c)
	}
	for name, body := range map[string]string{
		"another event": strings.Replace(opened, "app_home_opened", "message", 1),
		"nobody":        strings.Replace(opened, "U0ONCALL01", "", 1),
		"no JSON":       `{"type":`,
		"no challenge":  `{"type":"url_verification"}`,
	} {
		if got := b.call(b.event(body)); got.StatusCode != 400 || got.Headers["x-slack-no-retry"] != "1" || len(b.commands) != 1 {
			t.Errorf("%s: %+v, passed on %d", name, got, len(b.commands))
		}
	}
	// The tab of messages shows nothing of ours.
	if got := b.call(b.event(strings.Replace(opened, `"tab":"home"`, `"tab":"messages"`, 1))); got.StatusCode != 200 || len(b.commands) != 1 {
		t.Errorf("%+v, passed on %d", got, len(b.commands))
	}
}

// pressedOnHome is a press on the home page: it has no message and no response_url.
func pressedOnHome(action, value string) string {
	payload, _ := json.Marshal(map[string]any{
		"type": "block_actions", "team": map[string]any{"id": "T1"}, "user": map[string]any{"id": "U0ONCALL01", "team_id": "T1", "username": "oncall"},
		"container": map[string]any{"type": "view", "view_id": "V1"}, "view": map[string]any{"id": "V1", "type": "home", "hash": "2.def"},
		"actions": []any{map[string]any{"type": "button", "action_id": action, "block_id": "silence-ab12cd34", "value": value}},
	})
	return url.Values{"payload": {string(payload)}}.Encode()
}

func TestPressesThatEndASilence(t *testing.T) {
	b := newBench(t)
	if got := b.call(b.request(pressedOnHome("unsilence", "ab12cd34"))); got.StatusCode != 200 || len(b.commands) != 1 {
		t.Fatalf("%+v, passed on %+v", got, b.commands)
	}
	if c := b.commands[0]; c.Ask != (report.Ask{Verb: report.AskUnsilence, Silence: "ab12cd34"}) || !c.OnHome || c.View != "2.def" || c.Home != "T1" {
		t.Errorf("passed on %+v", c)
	}
	for name, body := range map[string]string{
		"a dialog": strings.Replace(pressedOnHome("unsilence", "ab12cd34"), "home", "modal", 1),
	} {
		if got := b.call(b.request(body)); got.StatusCode != 400 || len(b.commands) != 1 {
			t.Errorf("%s: %+v, passed on %d", name, got, len(b.commands))
		}
	}
	if got := b.call(b.request(b.body("unsilence", "ab12cd34", "9"))); got.StatusCode != 200 || len(b.commands) != 2 || b.commands[1].OnHome || b.commands[1].ResponseURL == "" {
		t.Errorf("in the channel: %+v, passed on %+v", got, b.commands)
	}
}

// What is not done of a press on the home page is said on that page: report, which has
// the token, draws it anew with the reason.
func TestRefusedPressesOnHome(t *testing.T) {
	for name, test := range map[string]struct{ body, says string }{
		"another value":                  {pressedOnHome("unsilence", "all"), "Nothing was done: this version of Rollcall does not know that button's value."},
		"two words that would be parsed": {pressedOnHome("unsilence", "ab12cd34 x"), "Nothing was done: this version of Rollcall does not know that button's value."},
		"a button of an incident":        {pressedOnHome("acknowledge", "x"), "Nothing was done: this version of Rollcall does not know that button."},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if got := b.call(b.request(test.body)); got.StatusCode != 200 || len(b.commands) != 1 || len(b.records) != 1 {
				t.Fatalf("%+v, passed on %+v, recorded %d", got, b.commands, len(b.records))
			}
			if c := b.commands[0]; c.Ask != (report.Ask{Verb: report.OpenHome}) || !c.OnHome || c.View != "2.def" || c.Says != test.says {
				t.Errorf("passed on %+v", c)
			}
			b = newBench(t)
			b.sendErr = errors.New("no queue")
			if got := b.call(b.request(test.body)); got.StatusCode != 400 {
				t.Errorf("not passed on: %+v; Slack would show no error", got)
			}
		})
	}
	b := newBench(t)
	nobody := strings.Replace(pressedOnHome("acknowledge", "x"), "U0ONCALL01", "nobody", 1)
	if got := b.call(b.request(nobody)); got.StatusCode != 400 || len(b.commands) != 0 {
		t.Errorf("of nobody: %+v, passed on %+v", got, b.commands)
	}
	b.sendErr = errors.New("no queue")
	if got := b.call(b.request(pressedOnHome("unsilence", "ab12cd34"))); got.StatusCode != 500 {
		t.Errorf("not passed on: %+v; Slack would show no error", got)
	}
}

func TestPresses(t *testing.T) {
	press := report.Press{
		Head: report.Head{At: stageTime, Key: key()}, Number: 2, User: report.User{ID: "U0ONCALL01", Name: "oncall"}, Team: "T1",
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
		expect.Same(t, fmt.Sprintf("%s is answered", test.action), got, events.LambdaFunctionURLResponse{StatusCode: 200})
		want := press
		want.Action, want.Plan, want.For = test.action, test.plan, test.lasts
		for i := range b.sent {
			if len(b.sent[i].ID) != 64 {
				t.Errorf("%s has the id %q", test.action, b.sent[i].ID)
			}
			b.sent[i].ID = ""
		}
		expect.Same(t, fmt.Sprintf("%s is passed on", test.action), b.sent, []report.Press{want})
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

const rightSecret = "8f742231b10e8888abcd99a0a1a285a5"

// bench is the handler with everything around it in memory.
type bench struct {
	handler
	t       *testing.T
	wallNow time.Time
	// secret is what Secrets Manager holds, or fails with.
	secret    string
	secretErr error
	reads     int
	claimed   map[string]string
	claimErr  error
	digests   map[string]string
	passErr   error
	records   []interaction.Record
	recordErr error
	sent      []report.Press
	commands  []report.Command
	sendErr   error
	told      []string
	slack     *httptest.Server
	logs      bytes.Buffer
	numbers   bytes.Buffer
}

func (b *bench) GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	b.reads++
	return &secretsmanager.GetSecretValueOutput{SecretString: aws.String(b.secret)}, b.secretErr
}

func (b *bench) ClaimPress(_ context.Context, id, by string) (bool, error) {
	if b.claimErr != nil {
		return false, b.claimErr
	}
	if other, taken := b.claimed[id]; taken && other != by {
		return false, nil
	}
	b.claimed[id] = by
	return true, nil
}

func (b *bench) ReleasePress(ctx context.Context, id, by string) error {
	if ctx.Err() != nil || b.claimed[id] != by {
		return errors.New("not released")
	}
	delete(b.claimed, id)
	return nil
}

func (b *bench) RecordRefusal(_ context.Context, r interaction.Record) (bool, error) {
	b.records = append(b.records, r)
	return true, b.recordErr
}

func (b *bench) PassPress(_ context.Context, id, by, digest string) error {
	if b.claimed[id] != by {
		return errors.New("somebody else's")
	}
	b.digests[id] = digest
	return b.passErr
}

// SendPress takes what is proven by then, as report would.
func (b *bench) SendPress(_ context.Context, m report.PressMessage) error {
	got, err := report.DecodeMessage(m.Body)
	if err == nil && got.Command != nil {
		if b.digests[m.ID] != got.Digest || m.Of.Name != report.Commands+got.Command.User.ID || got.Command.ID != m.ID {
			b.t.Errorf("%s is sent, and %s is written down", got.Digest, b.digests[m.ID])
		}
		if b.sendErr == nil {
			b.commands = append(b.commands, *got.Command)
		}
		return b.sendErr
	}
	if err != nil || got.Press == nil {
		b.t.Fatalf("%s is no press: %v", m.Body, err)
	}
	if b.digests[m.ID] != got.Digest || got.Cluster() != m.Of.Name || got.Press.ID != m.ID {
		b.t.Errorf("%s is sent, and %s is written down", got.Digest, b.digests[m.ID])
	}
	if b.sendErr == nil {
		p := *got.Press
		p.Format, p.Kind = 0, ""
		b.sent = append(b.sent, p)
	}
	return b.sendErr
}

var stageTime = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)

// left is a spoke that was taken out of the settings.
var left = spoke.ID{Account: "999900001111", Region: "eu-west-1"}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, secret: rightSecret, claimed: map[string]string{}, digests: map[string]string{}, wallNow: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
	b.slack = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var answer struct{ Text string }
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
			t.Error(err)
		}
		b.told = append(b.told, answer.Text)
	}))
	t.Cleanup(b.slack.Close)
	log := slog.New(slog.NewTextHandler(&b.logs, nil))
	metrics := lambda.NewMetrics("slack-actions", "", &b.numbers)
	b.handler = handler{
		watched: func(id spoke.ID) bool { return id != left },
		signing: &signing{secrets: b, arn: "arn", log: log}, once: b, audit: &audit{store: b, log: log, metrics: metrics}, send: b,
		replies: hook.NewResponder(b.slack.URL+"/api/", nil),
		wall:    func() time.Time { return b.wallNow }, now: func() time.Time { return stageTime },
		log: log, count: metrics.Count,
	}
	return b
}

// request is a signed one, as Lambda hands it over.
func (b *bench) request(body string) events.LambdaFunctionURLRequest {
	stamp := fmt.Sprint(b.wallNow.Unix())
	mac := hmac.New(sha256.New, []byte(rightSecret))
	io.WriteString(mac, "v0:"+stamp+":"+body)
	r := events.LambdaFunctionURLRequest{
		Version: "2.0", Body: base64.StdEncoding.EncodeToString([]byte(body)), IsBase64Encoded: true,
		Headers: map[string]string{
			"content-type": "application/x-www-form-urlencoded", "x-slack-request-timestamp": stamp, "x-slack-signature": "v0=" + hex.EncodeToString(mac.Sum(nil)),
		},
	}
	r.RequestContext.HTTP.Method, r.RequestContext.HTTP.SourceIP = "POST", "192.0.2.7"
	return r
}

func (b *bench) call(r events.LambdaFunctionURLRequest) events.LambdaFunctionURLResponse {
	b.t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		b.t.Fatal(err)
	}
	out, err := b.handle(b.t.Context(), raw)
	if err != nil {
		b.t.Fatal(err)
	}
	return out.(events.LambdaFunctionURLResponse)
}

// body is a press; answers go to this bench's Slack.
func (b *bench) body(action, value, trigger string) string {
	payload, err := json.Marshal(map[string]any{
		"type": "block_actions", "trigger_id": trigger, "team": map[string]any{"id": "T1"}, "user": map[string]any{"id": "U0ONCALL01", "username": "oncall"},
		"container": map[string]any{"type": "message", "message_ts": "1763650800.000100", "channel_id": "C0123456789", "thread_ts": "1763650700.000100"},
		"message": map[string]any{"blocks": []any{map[string]any{"type": "actions", "block_id": "do", "elements": []any{
			map[string]any{"type": "button", "action_id": "acknowledge", "value": b.value("")},
			map[string]any{"type": "static_select", "action_id": "mute"},
			map[string]any{"type": "button", "action_id": "console", "url": "https://console.aws.amazon.com/"},
		}}}},
		"response_url": b.slack.URL + "/response/SECRET",
		"actions":      []any{map[string]any{"type": "button", "action_id": action, "block_id": "do", "value": value, "selected_option": map[string]any{"value": "4h"}}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return url.Values{"payload": {string(payload)}}.Encode()
}

func key() report.Key {
	return report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}
}

func (b *bench) value(plan string) string {
	text, ok := button.Value{Key: key(), Number: 2, Plan: plan}.Text()
	if !ok {
		b.t.Fatal("the value does not fit")
	}
	return text
}

const plan = "0123456789abcdef0123456789abcdef"

// leaks holds that nothing secret is in the logs, in a record or in an answer.
func (b *bench) leaks(more ...string) {
	b.t.Helper()
	records, err := json.Marshal(b.records)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, text := range append(more, b.logs.String(), string(records), b.numbers.String()) {
		for _, secret := range []string{"SECRET", rightSecret, "payload="} {
			if strings.Contains(text, secret) {
				b.t.Errorf("%s is in %s", secret, text)
			}
		}
	}
}

// rawOf is the event of a signed request.
func rawOf(b *bench, body string) json.RawMessage {
	raw, err := json.Marshal(b.request(body))
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

// errKilled stands for the end of the process.
var errKilled = errors.New("the process ended")

// killedAt ends the process at its n-th write: before it, or after it took
// effect. It panics, as nothing of the function runs after that.
type killedAt struct {
	*bench
	write int // counted from 0; negative: never
	after bool
	names []string // of the writes so far
}

func (k *killedAt) intercept(name string, do func() error) error {
	n := len(k.names)
	k.names = append(k.names, name)
	if n == k.write && !k.after {
		panic(errKilled)
	}
	err := do()
	if n == k.write {
		panic(errKilled)
	}
	return err
}

func (k *killedAt) ClaimPress(ctx context.Context, id, by string) (first bool, err error) {
	err = k.intercept("ClaimPress", func() error { first, err = k.bench.ClaimPress(ctx, id, by); return err })
	return first, err
}

func (k *killedAt) PassPress(ctx context.Context, id, by, digest string) error {
	return k.intercept("PassPress", func() error { return k.bench.PassPress(ctx, id, by, digest) })
}

func (k *killedAt) SendPress(ctx context.Context, m report.PressMessage) error {
	return k.intercept("SendPress", func() error { return k.bench.SendPress(ctx, m) })
}

func (k *killedAt) RecordRefusal(ctx context.Context, r interaction.Record) (created bool, err error) {
	err = k.intercept("RecordRefusal", func() error { created, err = k.bench.RecordRefusal(ctx, r); return err })
	return created, err
}

// invoke calls the function, and reports whether it was killed.
func (k *killedAt) invoke(r events.LambdaFunctionURLRequest) (status int, killed bool) {
	k.t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		k.t.Fatal(err)
	}
	h := k.handler
	h.once, h.send = k, k
	h.audit = &audit{store: k, log: h.log, metrics: k.audit.metrics, told: map[interaction.Reason]*tally{}}
	defer func() {
		switch p := recover(); p {
		case nil:
		case errKilled:
			killed = true
		default:
			panic(p)
		}
	}()
	out, err := h.handle(k.t.Context(), raw)
	if err != nil {
		k.t.Fatal(err)
	}
	return out.(events.LambdaFunctionURLResponse).StatusCode, false
}

// TestKilledAtEachWrite: wherever the function ends, what was pressed is passed
// on once at most by that request, also if the request comes again, and the
// person, who sees Slack's warning sign and presses again, is heard.
func TestKilledAtEachWrite(t *testing.T) {
	undisturbed := &killedAt{bench: newBench(t), write: -1}
	undisturbed.invoke(undisturbed.request(undisturbed.body("acknowledge", undisturbed.value(""), "one")))
	if diff := cmp.Diff([]string{"ClaimPress", "PassPress", "SendPress"}, undisturbed.names); diff != "" {
		t.Fatalf("writes (-want +got):\n%s", diff)
	}
	for n, name := range undisturbed.names {
		for _, after := range []bool{false, true} {
			k := &killedAt{bench: newBench(t), write: n, after: after}
			what := name + ", before"
			if after {
				what = name + ", after"
			}
			request := k.request(k.body("acknowledge", k.value(""), "one"))
			if _, killed := k.invoke(request); !killed {
				t.Fatalf("%s: not killed", what)
			}
			k.write = -1
			first := len(k.sent)
			if want := count(name == "SendPress" && after); first != want {
				t.Errorf("%s: %d presses sent, want %d", what, first, want)
			}

			// The same request again: a replayed copy.
			status, _ := k.invoke(request)
			taken := name == "ClaimPress" && !after // nothing was written of it
			if got := len(k.sent) - first; got != count(taken) || (status == 200) != taken {
				t.Errorf("%s, the same request again: status %d, %d presses more; want it taken: %t", what, status, got, taken)
			}

			// The person presses again.
			before := len(k.sent)
			k.wallNow = k.wallNow.Add(2 * time.Second)
			if status, _ := k.invoke(k.request(k.body("acknowledge", k.value(""), "two"))); status != 200 || len(k.sent) != before+1 {
				t.Errorf("%s, pressed again: status %d, %d presses more; want one", what, status, len(k.sent)-before)
			}
			ids := map[string]bool{}
			for _, p := range k.sent {
				if ids[p.ID] {
					t.Errorf("%s: the press %s was sent twice", what, p.ID)
				}
				ids[p.ID] = true
			}
		}
	}
}

// TestKilledAtARefusal: what is not let in is not passed on, wherever the function
// ends, and is on record once when it comes again.
func TestKilledAtARefusal(t *testing.T) {
	for _, after := range []bool{false, true} {
		k := &killedAt{bench: newBench(t), after: after}
		request := k.request(k.body("acknowledge", k.value(""), "one"))
		request.Headers["x-slack-signature"] = "v0=" + strings.Repeat("a", 64)
		if _, killed := k.invoke(request); !killed || !slices.Equal(k.names, []string{"RecordRefusal"}) {
			t.Fatalf("killed %t at %q", killed, k.names)
		}
		k.write = -1
		status, _ := k.invoke(request)
		if status != 401 || len(k.sent) != 0 || len(k.names) != 2 || k.names[1] != "RecordRefusal" {
			t.Errorf("after it took effect %t: status %d, %d presses sent, writes %q", after, status, len(k.sent), k.names)
		}
		ids := map[string]bool{}
		for _, r := range k.records {
			ids[r.Request] = true
			if r.Reason != interaction.Forged {
				t.Errorf("recorded as %s", r.Reason)
			}
		}
		if len(ids) != 1 {
			t.Errorf("after it took effect %t: %d requests on record, want the one", after, len(ids))
		}
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

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
		{name: "no plan", action: "approve", status: 200, reason: interaction.UnknownValue, told: "Nothing was done: this version of Rollcall does not know that button's value."},
		{name: "another value", action: "acknowledge", value: func(*bench) string { return "rtb-1" }, status: 200, reason: interaction.UnknownValue, told: "Nothing was done: this version of Rollcall does not know that button's value."},
		{name: "of a spoke that was taken out of the settings", action: "acknowledge", value: func(*bench) string {
			text, _ := button.Value{Key: report.Key{Spoke: left, Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}, Number: 2}.Text()
			return text
		}, status: 200, reason: interaction.NotWatched,
			told: "Nothing was done: its account and region are no longer watched (setting spokes); open incidents there are closed within half an hour."},
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
			expect.Same(t, "told", append(b.told, "")[:1], []string{test.told})
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

// verify judges a request that the right secret signed, after a while.
func (b *bench) verify(after time.Duration) error {
	c, err := received(rawOf(b, "payload={}"))
	if err != nil {
		b.t.Fatal(err)
	}
	return b.signing.verify(b.t.Context(), c.Request, b.wallNow.Add(after))
}

func forged(err error) bool {
	var r *interaction.Refusal
	return errors.As(err, &r) && r.Reason == interaction.Forged
}

// TestARotatedSecretCounts: after a minute at the latest, and a flood does not
// read more often than that. The one before counts no more.
func TestARotatedSecretCounts(t *testing.T) {
	b := newBench(t)
	b.secret = "0000000000000000000000000000000f" // the secret before
	for range 50 {
		if err := b.verify(0); !forged(err) {
			t.Fatalf("before it was rotated: %v", err)
		}
	}
	b.secret = rightSecret
	if err := b.verify(59 * time.Second); !forged(err) || b.reads != 1 {
		t.Errorf("within the minute: %v, %d reads", err, b.reads)
	}
	if err := b.verify(61 * time.Second); err != nil || b.reads != 2 {
		t.Errorf("after it: %v, %d reads", err, b.reads)
	}
	if err := b.verify(90 * time.Second); err != nil || b.reads != 2 {
		t.Errorf("one that was read just now is read again: %v, %d reads", err, b.reads)
	}
}

// TestTheSecretBeforeCountsNoMore: a warm process that knows the old secret, and
// meets nothing that contradicts it, gives it up a minute after it was rotated.
// Whoever has the old secret would else be let in as long as the process lives.
func TestTheSecretBeforeCountsNoMore(t *testing.T) {
	b := newBench(t)
	expect.OK(t, b.verify(0))
	b.secret = "0000000000000000000000000000001f" // rotated; the requests are signed with the one before
	if err := b.verify(59 * time.Second); err != nil || b.reads != 1 {
		t.Errorf("within the minute: %v, %d reads", err, b.reads)
	}
	for range 20 {
		if err := b.verify(time.Minute); !forged(err) || b.reads != 2 {
			t.Fatalf("the old secret fits still: %v, %d reads", err, b.reads)
		}
	}
	if err := b.verify(-time.Hour); !forged(err) || b.reads != 3 {
		t.Errorf("after the clock was set back: %v, %d reads", err, b.reads)
	}
}

// TestASecretTakenAwayCountsNoMore, but one that cannot be read now does.
func TestASecretTakenAwayCountsNoMore(t *testing.T) {
	b := newBench(t)
	expect.OK(t, b.verify(0))
	b.secretErr = errors.New("ThrottlingException")
	wrong := func(after time.Duration) error {
		c, err := received(rawOf(b, "payload={}"))
		expect.OK(t, err)
		c.Body = []byte("payload={other}")
		return b.signing.verify(t.Context(), c.Request, b.wallNow.Add(after))
	}
	if err := wrong(2 * time.Minute); !forged(err) {
		t.Errorf("got %v", err)
	}
	if err := b.verify(2 * time.Minute); err != nil {
		t.Errorf("the known secret is gone: %v", err)
	}
	b.secretErr, b.secret = nil, ""
	if err := wrong(4 * time.Minute); !errors.Is(err, hook.ErrNoSigning) {
		t.Errorf("got %v", err)
	}
	if err := b.verify(4 * time.Minute); !errors.Is(err, hook.ErrNoSigning) {
		t.Errorf("a secret that was taken away still counts: %v", err)
	}
	if reads := b.reads; b.verify(4*time.Minute+time.Second) == nil || b.reads != reads {
		t.Error("that there is none is asked again at once")
	}
	b.secret = rightSecret
	if err := b.verify(5 * time.Minute); err != nil {
		t.Errorf("filled in again: %v", err)
	}
}

// TestASecretThatCannotBeReadIsKeptForAnHour: an outage of Secrets Manager stops
// no one, and a permission that is gone does not make a secret good for ever.
func TestASecretThatCannotBeReadIsKeptForAnHour(t *testing.T) {
	b := newBench(t)
	expect.OK(t, b.verify(0))
	denied := errors.New("AccessDeniedException")
	b.secretErr = denied
	for minute := range 60 {
		if err := b.verify(time.Duration(minute) * time.Minute); err != nil {
			t.Fatalf("minute %d: %v", minute, err)
		}
	}
	if err := b.verify(time.Hour); !errors.Is(err, denied) {
		t.Errorf("after an hour: %v", err)
	}
	b.secretErr = nil
	if err := b.verify(time.Hour + lookAgain); err != nil {
		t.Errorf("when it can be read again: %v", err)
	}
}

// TestTheLargestMessageIsNotTooLarge: a payload holds the whole message that was
// pressed, its blocks and its text, as PHP writes JSON: \u2026, and then %5Cu2026.
func TestTheLargestMessageIsNotTooLarge(t *testing.T) {
	ascii := func(text string) string {
		quoted := strconv.QuoteToASCII(text)
		return quoted[1 : len(quoted)-1]
	}
	// 11,000 and 4,000 are what package slack lets a message have.
	blocks, text := ascii(strings.Repeat("…", 11_000)), ascii(strings.Repeat("…", 4_000))
	payload := `{"type":"block_actions","message":{"text":"` + text + `","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"` + blocks + `"}}]},"rest":"` + strings.Repeat("x", 8_000) + `"}`
	if !json.Valid([]byte(payload)) {
		t.Fatal("the payload is not JSON")
	}
	body := url.Values{"payload": {payload}}.Encode()
	if len(body) > interaction.MaxBody*2/3 {
		t.Errorf("the largest body has %d bytes; %d are let in, which leaves too little room", len(body), interaction.MaxBody)
	}
	b := newBench(t)
	if got := b.call(b.request(body)); got.StatusCode == 413 {
		t.Errorf("answered %+v", got)
	}
}
