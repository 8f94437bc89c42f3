package slackactions

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

// typed is what Slack sends for a command
// (docs.slack.dev/interactivity/implementing-slash-commands).
func (b *bench) typed(text string) string {
	return url.Values{
		"token": {"x"}, "team_id": {"T1"}, "team_domain": {"acme"}, "channel_id": {"D0123456789"}, "channel_name": {"directmessage"}, "user_id": {"U0ONCALL01"}, "user_name": {"oncall"},
		"command": {"/rollcall"}, "text": {text}, "api_app_id": {"A1"}, "is_enterprise_install": {"false"}, "response_url": {b.slack.URL + "/response/SECRET"}, "trigger_id": {text},
	}.Encode()
}

// says is what the person reads at once.
func says(t *testing.T, got events.LambdaFunctionURLResponse) string {
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

// What is wrong, and what needs nobody, is answered here.
func TestCommandsAnsweredHere(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "What you can ask Rollcall",
		"help":                        "/rollcall silence cluster=prod for 2h",
		"staus":                       "There is no /rollcall “staus”",
		"silence cluster=prod for 9y": "is no length of time",
		"silence cluster=prod check=route/nothing for 2h": "There is no check",
		"why prod": "Say which instance",
	} {
		b := newBench(t)
		if got := says(t, b.call(b.request(b.typed(text)))); !strings.Contains(got, want) {
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
		if got := says(t, b.call(b.request(b.typed(test.text)))); got != "Looking…" {
			t.Errorf("%s: %q", test.text, got)
		}
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
	if got := says(t, b.call(b.request(b.typed("status")))); !strings.Contains(got, "Try again in a minute") {
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
		"another value":                  {pressedOnHome("unsilence", "all"), "Nothing was done: this version of Rollcall does not know what that button stands for."},
		"two words that would be parsed": {pressedOnHome("unsilence", "ab12cd34 x"), "Nothing was done: this version of Rollcall does not know what that button stands for."},
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
