package stage

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"rollcall/local/fakeslack"

	"rollcall/shared/interaction"
	"rollcall/shared/report"
	"rollcall/shared/slack"
)

// TestAttacksAreRefusedAndAudited sends what nobody but Slack may send, and what
// Slack would not.
func TestAttacksAreRefusedAndAudited(t *testing.T) { virtual(t, attacksAreRefusedAndAudited) }

func attacksAreRefusedAndAudited(t *testing.T) {
	r := start(t, "route", quiet)
	good := form("approve", someValue(t, offered), "")
	for _, test := range []struct {
		name   string
		send   forgedPress
		status int
		reason interaction.Reason
	}{
		{"forged with another secret", forgedPress{body: good, secret: "another-secret-0123456789"}, 401, interaction.Forged},
		{"the signature of another body", forgedPress{body: good, headers: map[string]string{"X-Slack-Signature": "v0=" + strings.Repeat("0", 64)}}, 401, interaction.Forged},
		{"no signature", forgedPress{body: good, headers: map[string]string{"X-Slack-Signature": ""}}, 401, interaction.Unsigned},
		{"no time", forgedPress{body: good, headers: map[string]string{"X-Slack-Request-Timestamp": ""}}, 401, interaction.Unsigned},
		{"an old kind of signature", forgedPress{body: good, headers: map[string]string{"X-Slack-Signature": "v1=" + strings.Repeat("0", 64)}}, 401, interaction.Unsigned},
		{"signed five minutes ago", forgedPress{body: good, at: time.Now().Add(-301 * time.Second)}, 401, interaction.TooOld},
		{"signed in two minutes", forgedPress{body: good, at: time.Now().Add(2 * time.Minute)}, 401, interaction.FromFuture},
		{"too large, signed or not", forgedPress{body: "payload=" + strings.Repeat("x", interaction.MaxBody)}, 413, interaction.TooLarge},
		{"not a form", forgedPress{body: good, contentType: "text/plain"}, 415, interaction.NotForm},
		{"a forged challenge", forgedPress{body: `{"type":"url_verification","challenge":"x"}`, contentType: "application/json", secret: "another-secret-0123456789"}, 401, interaction.Forged},
		{"a forged command", forgedPress{body: "command=%2Frollcall&text=silence+cluster%3Deks-workshop+for+2h&user_id=U0ONCALL01&channel_id=C0000000001", secret: "another-secret-0123456789"}, 401, interaction.Forged},
		{"another event", forgedPress{body: `{"type":"event_callback","event":{"type":"message","user":"U0ONCALL01"}}`, contentType: "application/json"}, 400, interaction.NotPressed},
		{"a command of nobody", forgedPress{body: "command=%2Frollcall&text=status&channel_id=C0000000001"}, 400, interaction.Malformed},
		{"another method", forgedPress{method: http.MethodPut, body: good}, 405, interaction.NotPost},
		{"signed garbage", forgedPress{body: "payload=%7B%22half"}, 400, interaction.Malformed},
		{"signed nothing", forgedPress{body: ""}, 400, interaction.Malformed},
		{"another app's button", forgedPress{body: form("deploy_production", "yes", "")}, 400, interaction.UnknownAction},
		{"no plan to approve", forgedPress{body: form("approve", someValue(t, ""), "")}, 400, interaction.UnknownValue},
		{"a value with something more", forgedPress{body: form("acknowledge", strings.Replace(someValue(t, ""), "{", `{"admin":true,`, 1), "")}, 400, interaction.UnknownValue},
		{"of an account that is not watched", forgedPress{body: form("acknowledge", foreignValue(t), "")}, 400, interaction.NotWatched},
		{"a dialog", forgedPress{body: url.Values{"payload": {`{"type":"view_submission","user":{"id":"U0ONCALL01"}}`}}.Encode()}, 400, interaction.NotPressed},
	} {
		status, text := r.attempt(test.send)
		if status != test.status || !strings.HasPrefix(text, string(test.reason)+":") {
			t.Errorf("%s: answered %d %q, want %d %s", test.name, status, text, test.status, test.reason)
		}
	}
	if got := r.passed(); len(got) > 0 {
		t.Errorf("%d presses reached report: %+v", len(got), got)
	}
	recorded := map[interaction.Reason]bool{}
	for _, record := range r.refusals() {
		recorded[record.Reason] = true
		if record.Source != "127.0.0.1" || record.Request == "" || record.At.IsZero() {
			t.Errorf("the record does not say where from, what and when: %+v", record)
		}
	}
	for _, reason := range interaction.Reasons() {
		if reason == interaction.Replayed || reason == interaction.SeveralAtOnce {
			continue // in tests of their own
		}
		if !recorded[reason] || !r.logged(`"audit":true`, `"reason":"`+string(reason)+`"`)() {
			t.Errorf("%s is not audited", reason)
		}
	}
	for _, secret := range []string{SigningSecret, "oncall\\\"", "response/"} {
		if strings.Contains(r.out.String(), secret) {
			t.Errorf("%q is in the logs", secret)
		}
	}
}

// TestAReplayIsRefused: the same signed request counts once, and not at all
// after five minutes. Signatures are judged in wall time: on this stage five
// minutes of it last half a second.
// It has real programs: a signature ages in wall time, the records of its copies are
// kept by the minute of stage time, and here the one is slower than the other.
func TestAReplayIsRefused(t *testing.T) {
	t.Parallel()
	r := startReal(t, "route", quiet, func(o *Options) { o.Rate = 600 })
	press := forgedPress{body: form("approve", someValue(t, offered), ""), at: time.Now()}
	if status, text := r.attempt(press); status != 200 || text != "" {
		t.Fatalf("the first is answered %d %q, want 200 and nothing", status, text)
	}
	r.pass(10 * time.Minute)
	for range 3 {
		if status, text := r.attempt(press); status != 409 || !strings.HasPrefix(text, "replayed:") {
			t.Errorf("a copy is answered %d %q, want 409", status, text)
		}
	}
	press.at = press.at.Add(-6 * time.Minute)
	if status, _ := r.attempt(press); status != 401 {
		t.Errorf("an old copy is answered %d, want 401", status)
	}
	got := r.passed()
	if len(got) != 1 {
		t.Fatalf("%d presses reached report, want 1", len(got))
	}
	p := got[0]
	if p.Action != report.ApprovePlan || p.Plan != offered || p.User.ID != OnCall || p.Key.Resource != table || p.Number != 1 || p.Channel != Channel {
		t.Errorf("report is told %+v", p)
	}
	if behind := r.Clock.Now().Sub(p.At); behind < 10*time.Minute || behind > 24*time.Hour {
		t.Errorf("it was pressed %s ago, want stage time", behind)
	}
	var copies int
	for _, record := range r.refusals() {
		if record.Reason == interaction.Replayed {
			copies++
			if record.Request != p.ID {
				t.Errorf("the record names %s, the press is %s", record.Request, p.ID)
			}
		}
	}
	if copies != 3 {
		t.Errorf("%d copies are recorded, want 3", copies)
	}
}

// TestWhatOnlyReportCanJudgeIsPassedOnAsItIs: an incident that is not there, or
// a plan that was never offered, is signed by Slack all the same. slack-actions
// does not know incidents; it changes nothing about the press.
func TestWhatOnlyReportCanJudgeIsPassedOnAsItIs(t *testing.T) {
	virtual(t, whatOnlyReportCanJudgeIsPassedOnAsItIs)
}

func whatOnlyReportCanJudgeIsPassedOnAsItIs(t *testing.T) {
	r := start(t, "route", quiet)
	other, _ := slack.Value{Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-of-somebody-else"}, Number: 9, Plan: strings.Repeat("f", 32)}.Text()
	if status, text := r.attempt(forgedPress{body: form("approve", other, "")}); status != 200 {
		t.Fatalf("answered %d %q", status, text)
	}
	got := r.passed()
	if len(got) != 1 || got[0].Key.Resource != "rtb-of-somebody-else" || got[0].Number != 9 || got[0].Plan != strings.Repeat("f", 32) {
		t.Errorf("report is told %+v", got)
	}
}

// TestAPressInSlack goes the whole way: Slack signs, the address takes it, and
// report is told; what is refused is told to whoever pressed, and to nobody else.
func TestAPressInSlack(t *testing.T) { virtual(t, aPressInSlack) }

func aPressInSlack(t *testing.T) {
	r := start(t, "route", quiet)
	value, err := json.Marshal(someValue(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	ts := r.post(`[{"type":"actions","block_id":"b","elements":[
		{"type":"button","action_id":"acknowledge","text":{"type":"plain_text","text":"Acknowledge"},"value":` + string(value) + `},
		{"type":"button","action_id":"somebody-elses","text":{"type":"plain_text","text":"?"},"value":"x"},
		{"type":"button","action_id":"console","text":{"type":"plain_text","text":"Open"},"url":"https://console.aws.amazon.com/"}]}]`)
	for _, test := range []struct {
		action, user string
		passed       int
		told         int
	}{
		{"acknowledge", Lead, 1, 0},
		{"console", OnCall, 0, 0},
		{"somebody-elses", Dev, 0, 1},
	} {
		if err := r.Slack.Press(t.Context(), fakeslack.Press{Channel: Channel, TS: ts, ActionID: test.action, User: test.user}); err != nil {
			t.Errorf("%s: %v", test.action, err)
		}
		got := r.passed()
		if len(got) != test.passed || len(got) > 0 && got[0].User.ID != test.user {
			t.Errorf("%s: report is told %+v", test.action, got)
		}
		told := 0
		for _, c := range r.Slack.Calls() {
			if c.Method == "response_url" && strings.Contains(c.Params["text"], "does not know that button") && c.Params["response_type"] == "ephemeral" {
				told++
			}
		}
		if told != test.told {
			t.Errorf("%s: the person is told %d times, want %d", test.action, told, test.told)
		}
	}
}
