package deliver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/target"
	"rollcall/shared/target/message"
	"rollcall/stage/fakeslack"
	"rollcall/stage/faketargets"
	"rollcall/tools/expect"
)

const key = "e93facc04764012d7bfb002500d5d1a6"

var now = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)

// handled is a network with one handler for all hosts.
type handled struct {
	http.Handler
	asked []string
}

func (h *handled) RoundTrip(r *http.Request) (*http.Response, error) {
	h.asked = append(h.asked, r.URL.String())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

func sender(h http.Handler) (Sender, *handled) {
	by := &handled{Handler: h}
	return Sender{HTTP: Client(by), PagerDuty: "https://events.pagerduty.com", JSM: Atlassian, Now: func() time.Time { return now }}, by
}

func alert() message.PagerDuty {
	return message.PagerDuty{Action: message.Trigger, DedupKey: "d", Payload: &message.PagerDutyPayload{Summary: "s", Source: "prod", Severity: "critical", Timestamp: now}}
}

// failed checks of which sort a failure is, and that it holds no secret.
func failed(t *testing.T, name string, err error, kind Kind, says string, secrets ...string) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: got %v, want %s: %q", name, err, kind, says)
		return &Error{}
	}
	for _, s := range append(secrets, key) {
		if strings.Contains(err.Error(), s) {
			t.Errorf("%s: the error holds a secret: %v", name, err)
		}
	}
	return e
}

func TestPage(t *testing.T) {
	fake, err := faketargets.NewPagerDuty(key, func() time.Time { return now })
	expect.OK(t, err)
	s, _ := sender(fake)
	if err := s.Page(t.Context(), "pagerduty=x", key, alert()); err != nil || len(fake.Alerts()) != 1 {
		t.Errorf("got %v, alerts %v", err, fake.Alerts())
	}
	wrong := alert()
	wrong.Payload.Severity = "urgent"
	failed(t, "a severity that is none", s.Page(t.Context(), "pagerduty=x", key, wrong), Refused, "payload.severity")
	failed(t, "another key", s.Page(t.Context(), "pagerduty=x", strings.Repeat("f", 32), alert()), Refused, "Invalid routing key", strings.Repeat("f", 32))
	failed(t, "no key", s.Page(t.Context(), "pagerduty=x", "short", alert()), Later, "32 characters")
	fake.PerMinute = 1
	if e := failed(t, "too many", s.Page(t.Context(), "pagerduty=x", key, alert()), Later, "429"); e.After != time.Minute {
		t.Errorf("asked to wait %s", e.After)
	}
}

func TestAlert(t *testing.T) {
	const genie = "0f1e1b1a-1111-4222-8333-444455556666"
	fake := faketargets.NewJSM(genie, func() time.Time { return now })
	s, by := sender(fake)
	n := message.Event{Type: message.Test, ID: "1", At: now, Words: incidentWords()}
	for _, a := range []message.Action{message.Trigger, message.Resolve} {
		expect.OK(t, s.Alert(t.Context(), "jsm=x", genie, message.ToJSM(n, a)))
	}
	if list := fake.Alerts(); len(list) != 1 || list[0].State != faketargets.Resolved || !strings.HasPrefix(by.asked[0], Atlassian+"/jsm/ops/integration/v2/alerts") {
		t.Errorf("alerts %+v, asked %q", list, by.asked)
	}
	other := strings.Replace(genie, "0", "9", 1)
	failed(t, "another key", s.Alert(t.Context(), "jsm=x", other, message.ToJSM(n, message.Trigger)), Refused, "Could not authenticate", genie, other)
	failed(t, "an API token", s.Alert(t.Context(), "jsm=x", "ATATT3xFfGF0", message.ToJSM(n, message.Trigger)), Later, "a UUID", "ATATT3xFfGF0")
}

// Alerts are read back by their own key, and with a token that may.
func TestAlerts(t *testing.T) {
	pd := target.Target{Kind: target.PagerDuty, Secret: "x"}
	fake, err := faketargets.NewPagerDuty(key, func() time.Time { return now })
	expect.OK(t, err)
	fake.Token = "u+readonly"
	s, by := sender(fake)
	read := func(of string) []message.Alert {
		t.Helper()
		list, err := s.Alerts(t.Context(), pd, Alerting{Key: key, Token: fake.Token}, of)
		expect.OK(t, err)
		return list
	}
	of := alert().DedupKey
	if list := read(of); len(list) != 0 {
		t.Errorf("before any: %+v", list)
	}
	expect.OK(t, s.Page(t.Context(), "pagerduty=x", key, alert()))
	other := alert()
	other.DedupKey += "-2" // begins like ours
	expect.OK(t, s.Page(t.Context(), "pagerduty=x", key, other))
	fake.Respond(other.DedupKey, faketargets.Acknowledged, "Bob")
	want := message.Alert{State: report.AlertTriggered, Created: now.UTC().Truncate(time.Second), Changed: now.UTC().Truncate(time.Second)}
	if diff := cmp.Diff([]message.Alert{want}, read(of)); diff != "" {
		t.Error(diff)
	}
	fake.Respond(of, faketargets.Acknowledged, "Ana")
	want.State, want.By = report.AlertAcknowledged, "Ana"
	if diff := cmp.Diff([]message.Alert{want}, read(of)); diff != "" {
		t.Error(diff)
	}
	// PagerDuty may put it into an incident of others.
	fake.Merge(of)
	if diff := cmp.Diff([]message.Alert{want}, read(of)); diff != "" {
		t.Error(diff)
	}
	if last := by.asked[len(by.asked)-1]; !strings.HasPrefix(last, "https://api.pagerduty.com/incidents/0/alerts") {
		t.Errorf("asked %q", last)
	}
	_, err = s.Alerts(t.Context(), pd, Alerting{Key: key, Token: "0ther"}, of)
	failed(t, "another token", err, Refused, "401", "0ther")
	fake.Trouble(func(time.Time) (int, time.Duration) { return http.StatusTooManyRequests, 0 })
	_, err = s.Alerts(t.Context(), pd, Alerting{Key: key, Token: fake.Token}, of)
	failed(t, "too many", err, Later, "429", fake.Token)

	jira := target.Target{Kind: target.JSM, Secret: "y"}
	secret := Alerting{Key: "0f1e1b1a-1111-4222-8333-444455556666", Token: "ATATT3xFfGF0", Email: "ops@example.com", CloudID: "9f1e1b1a-1111-4222-8333-444455556666"}
	j := faketargets.NewJSM(secret.Key, func() time.Time { return now })
	j.Cloud, j.Email, j.Token = secret.CloudID, secret.Email, secret.Token
	s, _ = sender(j)
	n := message.Event{Type: message.Test, ID: "1", At: now, Words: incidentWords()}
	expect.OK(t, s.Alert(t.Context(), "jsm=y", secret.Key, message.ToJSM(n, message.Trigger)))
	j.Respond(message.Key(n.Subject()), faketargets.Acknowledged, "Ana Example")
	list, err := s.Alerts(t.Context(), jira, secret, message.Key(n.Subject()))
	expect.OK(t, err)
	if diff := cmp.Diff([]message.Alert{{State: report.AlertAcknowledged, Created: now.UTC().Truncate(time.Second), By: "Ana Example"}}, list); diff != "" {
		t.Error(diff)
	}
	if list, err := s.Alerts(t.Context(), jira, secret, "rollcall/another"); err != nil || len(list) != 0 {
		t.Errorf("none: %v, %v", list, err)
	}
	secret.Token = "0ther-token"
	_, err = s.Alerts(t.Context(), jira, secret, "rollcall/another")
	failed(t, "another token", err, Refused, "401", secret.Token)
}

// A secret is the key alone, or all that alerts are read back with.
func TestParseAlerting(t *testing.T) {
	const genie = "0f1e1b1a-1111-4222-8333-444455556666"
	pd, jira := target.Target{Kind: target.PagerDuty, Secret: "x"}, target.Target{Kind: target.JSM, Secret: "y"}
	for name, test := range map[string]struct {
		of    target.Target
		text  string
		reads bool
		wrong string
	}{
		"a key":                   {pd, key, false, ""},
		"a key in JSON":           {pd, `{"key":"` + key + `"}`, false, ""},
		"with a token":            {pd, `{"key":"` + key + `","apiToken":"u+x"}`, true, ""},
		"a key of Jira":           {jira, genie, false, ""},
		"with all of Jira":        {jira, `{"key":"` + genie + `","apiToken":"ATATT","email":"a@b.c","cloudId":"` + genie + `"}`, true, ""},
		"with a part of Jira":     {jira, `{"key":"` + genie + `","apiToken":"ATATT"}`, false, "a part of"},
		"with a path in its site": {jira, `{"key":"` + genie + `","apiToken":"ATATT","email":"a@b.c","cloudId":"../x"}`, false, "a part of"},
		"a broken one":            {pd, `{"key":"` + key, false, "no JSON"},
		"a token and no key":      {pd, `{"apiToken":"ATATT"}`, false, "32 characters"},
	} {
		got, err := ParseAlerting(test.of, test.text)
		if test.wrong != "" {
			failed(t, name, err, Later, test.wrong, "ATATT")
		} else if err != nil || got.ReadsBack(test.of.Kind) != test.reads {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestPost(t *testing.T) {
	const address = "https://prod-01.westus.logic.azure.com/workflows/abc/triggers/manual/paths/invoke?sig=s3cr3t"
	fake, err := faketargets.NewTeams("s3cr3t", func() time.Time { return now })
	expect.OK(t, err)
	s, _ := sender(fake)
	card, err := message.ToTeams(message.Event{Type: message.Test, ID: "1", At: now, Words: incidentWords()})
	expect.OK(t, err)
	if err := s.Post(t.Context(), "teams=x", address, card); err != nil || len(fake.Cards()) != 1 {
		t.Errorf("got %v, cards %v", err, fake.Cards())
	}
	failed(t, "another signature", s.Post(t.Context(), "teams=x", strings.Replace(address, "s3cr3t", "0ther", 1), card), Refused, "401", "0ther")
	failed(t, "no card", s.Post(t.Context(), "teams=x", address, []byte(`{"text":"x"}`)), Refused, "TriggerInputSchemaMismatch", "s3cr3t")
	failed(t, "too large", s.Post(t.Context(), "teams=x", address, []byte(strings.Repeat(" ", 28<<10+1))), Refused, "larger than Teams posts", "s3cr3t")
	if e := failed(t, "the fifth within a second", s.Post(t.Context(), "teams=x", address, card), Later, "429", "s3cr3t"); e.After != time.Second {
		t.Errorf("asked to wait %s", e.After)
	}
}

// An incoming webhook of Slack takes every message that is made for it, and what it refuses
// has Slack's own word, and not the address.
func TestSlackHook(t *testing.T) {
	const path, address = "/services/T0A1B2C3D/B0A1B2C3D/s3cr3ts3cr3t", "https://hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/s3cr3ts3cr3t"
	channels := []fakeslack.Channel{{ID: "C0123456789", Name: "alerts", BotAbsent: true}, {ID: "C0ARCHIVED1", Name: "old", Archived: true}}
	fake, err := fakeslack.New(fakeslack.Config{Token: "xoxb-1", Channels: channels})
	expect.OK(t, err)
	defer fake.Close()
	s, _ := sender(fake.Incoming(path, "C0123456789"))
	n := message.Event{Type: message.Test, ID: "1", At: now, Words: incidentWords()}
	n.Words.Headline = "<!channel> & " + strings.Repeat("h", 5000)
	for range 200 {
		n.Words.Lines = append(n.Words.Lines, incident.Line{Label: "Why", Text: strings.Repeat("ä", 3000)}, incident.Line{Label: "List"}, incident.Line{Text: "item"})
	}
	n.Words.Command, n.Words.Docs = strings.Repeat("c", 9000), "https://docs.example.com/x"
	body, err := message.ToSlack(n)
	expect.OK(t, err)
	expect.OK(t, s.Post(t.Context(), "slackwebhook=x", address, body))
	if list := fake.Messages("C0123456789"); len(list) != 1 || strings.Contains(list[0].Text, "<!") || !strings.Contains(fake.Text(list[0]), "Incoming webhook: no buttons") {
		t.Errorf("posted %+v", list)
	}
	failed(t, "no message", s.Post(t.Context(), "slackwebhook=x", address, []byte(`{"text":""}`)), Refused, "no_text", address)
	failed(t, "broken blocks", s.Post(t.Context(), "slackwebhook=x", address, []byte(`{"text":"x","blocks":[{"type":"x"}]}`)), Refused, "invalid_blocks", address)
	failed(t, "no JSON", s.Post(t.Context(), "slackwebhook=x", address, []byte("{")), Refused, "invalid_payload", address)
	failed(t, "revoked", s.Post(t.Context(), "slackwebhook=x", address+"x", body), Refused, "no_service", address)
	expect.OK(t, fake.Inject(fakeslack.Fault{Method: "incoming-webhook", Times: 1, RetryAfter: 30 * time.Second}))
	if e := failed(t, "too many", s.Post(t.Context(), "slackwebhook=x", address, body), Later, "429", address); e.After != 30*time.Second {
		t.Errorf("asked to wait %s", e.After)
	}
	expect.OK(t, fake.Inject(fakeslack.Fault{Method: "incoming-webhook", Times: 1, Status: 503}))
	failed(t, "Slack is away", s.Post(t.Context(), "slackwebhook=x", address, body), Later, "503", address)
	s, _ = sender(fake.Incoming(path, "C0ARCHIVED1"))
	failed(t, "archived", s.Post(t.Context(), "slackwebhook=x", address, body), Refused, "channel_is_archived", address)
	s, _ = sender(fake.Incoming(path, "C0GONE12345"))
	failed(t, "deleted", s.Post(t.Context(), "slackwebhook=x", address, body), Refused, "channel_not_found", address)

	expect.OK(t, CheckSlackHook("slackwebhook=x", address))
	for name, wrong := range map[string]string{
		"a workflow's": "https://hooks.slack.com/triggers/T0A1B2C3D/123/s3cr3t", "another host": "https://hooks.slack.com.evil.example/services/T1/B1/s3cr3t",
		"a query": address + "?x=1", "a token": "xoxb-s3cr3t", "plain": strings.Replace(address, "https", "http", 1), "a user": strings.Replace(address, "hooks", "a:b@hooks", 1),
	} {
		failed(t, name, CheckSlackHook("slackwebhook=x", wrong), Later, "no incoming webhook", "s3cr3t")
	}
}

func TestHook(t *testing.T) {
	fake := faketargets.NewWebhook(strings.Repeat("k", 32), func() time.Time { return now })
	s, _ := sender(fake)
	to := Webhook{Address: "https://hooks.example.com/rollcall", Key: strings.Repeat("k", 32)}
	if err := s.Hook(t.Context(), "webhook=x", to, "event", []byte("{}")); err != nil || len(fake.Deliveries()) != 1 {
		t.Errorf("got %v, deliveries %v", err, fake.Deliveries())
	}
	to.Key = strings.Repeat("f", 32)
	failed(t, "another key", s.Hook(t.Context(), "webhook=x", to, "event", []byte("{}")), Refused, "401", to.Key)
	to.Key = "short"
	failed(t, "a short key", s.Hook(t.Context(), "webhook=x", to, "event", []byte("{}")), Later, "32 characters")
}

// TestAnswers: what is tried again, and when.
func TestAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		retry  string
		kind   Kind
		after  time.Duration
	}{
		"a bad request":       {400, "", Refused, 0},
		"not found":           {404, "", Refused, 0},
		"gone":                {410, "", Refused, 0},
		"a redirect":          {302, "", Refused, 0},
		"too many":            {429, "30", Later, 30 * time.Second},
		"too many, by a date": {429, "Fri, 20 Nov 2026 15:02:00 GMT", Later, 2 * time.Minute},
		"too many, for ever":  {429, "999999999", Later, time.Hour},
		"too many, nonsense":  {429, "soon", Later, time.Minute},
		"in the past":         {503, "-5", Later, 0},
		"broken":              {500, "", Later, 0},
		"a timeout":           {408, "", Later, 0},
	} {
		s, by := sender(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", test.retry)
			w.Header().Set("Location", "https://elsewhere.example.com/")
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, `{"message":"said with `+key+`"}`)
		}))
		e := failed(t, name, s.Page(t.Context(), "pagerduty=x", key, alert()), test.kind, "")
		if e.After != test.after || e.Status != test.status {
			t.Errorf("%s: %+v", name, e)
		}
		if len(by.asked) != 1 {
			t.Errorf("%s: asked %v", name, by.asked)
		}
	}
}

func TestAddresses(t *testing.T) {
	s, by := sender(http.NotFoundHandler())
	for _, address := range []string{"http://hooks.example.com/", "ftp://x/", "hooks.example.com", "https://", "https://user:pass@example.com/", "", "https://exa mple.com"} {
		failed(t, address, s.Post(t.Context(), "teams=x", address, nil), Later, "the address in its secret", "user:pass")
	}
	if len(by.asked) > 0 {
		t.Errorf("asked %v", by.asked)
	}
}

// TestPublicOnly: what only this function could reach is refused, whatever name leads to it.
func TestPublicOnly(t *testing.T) {
	for _, a := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "169.254.170.2", "100.64.0.1", "0.0.0.0",
		"0.1.2.3", "224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1",
		"::1", "::", "fe80::1", "fd00:ec2::254", "fc00::1", "ff02::1", "::ffff:169.254.169.254", "::ffff:10.0.0.1",
		"64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "2001:db8::1", "fec0::1", "::169.254.169.254",
	} {
		if public(netip.MustParseAddr(a)) {
			t.Errorf("%s is taken for public", a)
		}
		if err := publicOnly("tcp", netip.AddrPortFrom(netip.MustParseAddr(a), 443).String(), nil); !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: %v", a, err)
		}
	}
	for _, a := range []string{"1.1.1.1", "52.94.236.248", "44.236.0.1", "2600:1f18::1", "::ffff:8.8.8.8"} {
		if !public(netip.MustParseAddr(a)) {
			t.Errorf("%s is taken for private", a)
		}
	}
	// By the real way: a listener of this machine is not asked, by address nor by name.
	asked := false
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer server.Close()
	direct := Sender{HTTP: Client(nil), Now: time.Now}
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for _, address := range []string{server.URL, "https://localhost" + port + "/?sig=s3cr3t"} {
		err := direct.Post(t.Context(), "teams=x", address, nil)
		failed(t, address, err, Later, "", "s3cr3t")
		if !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: %v, want %v", address, err, ErrPrivate)
		}
	}
	if asked {
		t.Error("a listener of this machine was asked")
	}
}

// secret is Secrets Manager with one secret.
type secret struct {
	text  string
	err   error
	asked int
}

func (s *secret) GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error) {
	s.asked++
	return &secretsmanager.GetSecretValueOutput{SecretString: aws.String(s.text)}, s.err
}

func TestSecrets(t *testing.T) {
	clock, reader := now, &secret{text: " " + key + "\n"}
	s := NewSecrets(reader, func() time.Time { return clock })
	for range 3 {
		if got, err := s.Read(t.Context(), "pagerduty=x", "x"); got != key || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if reader.asked != 1 {
		t.Errorf("asked %d times", reader.asked)
	}
	clock = clock.Add(5 * time.Minute)
	reader.text = ""
	_, err := s.Read(t.Context(), "pagerduty=x", "x")
	failed(t, "empty now", err, Later, "empty")
	reader.err = errors.New("denied")
	_, err = s.Read(t.Context(), "pagerduty=x", "x")
	failed(t, "denied", err, Later, "read its secret x")
	reader.text, reader.err = key, nil
	if _, err := s.Read(t.Context(), "pagerduty=x", "x"); err != nil {
		t.Error(err)
	}
	s.Forget("x")
	reader.text = "new"
	if got, _ := s.Read(t.Context(), "pagerduty=x", "x"); got != "new" {
		t.Errorf("got %q after it was forgotten", got)
	}
}

func TestParseWebhook(t *testing.T) {
	if got, err := ParseWebhook("webhook=x", `{"url":"https://a/","key":"k"}`); err != nil || got != (Webhook{"https://a/", "k"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, text := range []string{"", "https://a/?" + key, `{"url":"https://a/"}`, `{"url":"` + key, `["` + key + `"]`} {
		_, err := ParseWebhook("webhook=x", text)
		failed(t, text, err, Later, "does not have the form")
	}
}

type topic struct{ err error }

func (p topic) Publish(context.Context, *sns.PublishInput, ...func(*sns.Options)) (*sns.PublishOutput, error) {
	return nil, p.err
}

func TestPublish(t *testing.T) {
	if err := Publish(t.Context(), topic{}, "sns", "arn", message.Mail{}); err != nil {
		t.Error(err)
	}
	for code, want := range map[string]Kind{"NotFound": Refused, "InvalidParameter": Refused, "AuthorizationError": Refused, "Throttled": Later, "KMSThrottling": Later} {
		failed(t, code, Publish(t.Context(), topic{&smithy.GenericAPIError{Code: code, Fault: smithy.FaultClient}}, "sns", "arn", message.Mail{}), want, code)
	}
	failed(t, "broken", Publish(t.Context(), topic{&smithy.GenericAPIError{Code: "InternalError", Fault: smithy.FaultServer}}, "sns", "arn", message.Mail{}), Later, "InternalError")
	failed(t, "no answer", Publish(t.Context(), topic{io.EOF}, "sns", "arn", message.Mail{}), Later, "EOF")
}

func incidentWords() incident.Words { return incident.Words{Headline: "h"} }
