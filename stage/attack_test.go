package stage

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/interaction"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/slack/button"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/template"
	"rollcall/stage/simaws"
)

// TestAttacksAreRefusedAndAudited sends what only Slack may send, and what
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
		t.Errorf("report got %+v", p)
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
	other, _ := button.Value{Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-of-somebody-else"}, Number: 9, Plan: strings.Repeat("f", 32)}.Text()
	if status, text := r.attempt(forgedPress{body: form("approve", other, "")}); status != 200 {
		t.Fatalf("answered %d %q", status, text)
	}
	got := r.passed()
	if len(got) != 1 || got[0].Key.Resource != "rtb-of-somebody-else" || got[0].Number != 9 || got[0].Plan != strings.Repeat("f", 32) {
		t.Errorf("report got %+v", got)
	}
}

// TestAPressInSlack goes the whole way: Slack signs, the address takes it, and
// report gets it; a refusal goes to whoever pressed alone.
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
			t.Errorf("%s: report got %+v", test.action, got)
		}
		told := 0
		for _, c := range r.Slack.Calls() {
			if c.Method == "response_url" && strings.Contains(c.Params["text"], "does not know that button") && c.Params["response_type"] == "ephemeral" {
				told++
			}
		}
		if told != test.told {
			t.Errorf("%s: the person got %d answers, want %d", test.action, told, test.told)
		}
	}
}

// The tests here attack slack-actions from outside: the real program, at its
// address. Nothing wakes the other functions, so that what is passed on stays
// in the results queue to be counted.
func quiet(o *Options) { o.Quiet = true }

// forgedPress is a request of an attacker who would like it to be Slack's.
type forgedPress struct {
	method, contentType, secret string
	body                        string
	at                          time.Time
	headers                     map[string]string
}

// someValue is a button's value for an incident.
func someValue(t *testing.T, plan string) string {
	t.Helper()
	text, ok := button.Value{Key: report.Key{Cluster: "eks-workshop", Check: "route/no-egress", Resource: table}, Number: 1, Plan: plan}.Text()
	if !ok {
		t.Fatal("the value does not fit")
	}
	return text
}

// foreignValue is a button's value for an incident of an account that is not watched.
func foreignValue(t *testing.T) string {
	t.Helper()
	key := report.Key{Spoke: spoke.ID{Account: "999900001111", Region: "eu-west-1"}, Cluster: "eks-workshop", Check: "route/no-egress", Resource: table}
	text, ok := button.Value{Key: key, Number: 1}.Text()
	if !ok {
		t.Fatal("the value does not fit")
	}
	return text
}

// form is the body of a press on a button.
func form(action, value, extra string) string {
	payload := fmt.Sprintf(`{"type":"block_actions","api_app_id":"A0BOT00001","team":{"id":"T0STAGE001"},"user":{"id":%q,"username":"oncall","team_id":"T0STAGE001"},
		"container":{"type":"message","message_ts":"1763650800.000100","channel_id":%q},"channel":{"id":%q},"message":{"ts":"1763650800.000100","blocks":[]},
		"actions":[{"type":"button","action_id":%q,"block_id":"b","value":%q}]%s}`, OnCall, Channel, Channel, action, value, extra)
	return url.Values{"payload": {payload}}.Encode()
}

// attempt sends it, and tells the status and what was answered.
func (r *running) attempt(f forgedPress) (int, string) {
	r.t.Helper()
	if f.at.IsZero() {
		f.at = time.Now()
	}
	stamp := fmt.Sprint(f.at.Unix())
	mac := hmac.New(sha256.New, []byte(first(f.secret, SigningSecret)))
	mac.Write([]byte("v0:" + stamp + ":" + f.body))
	req, err := http.NewRequest(first(f.method, http.MethodPost), r.URL(slackActions), strings.NewReader(f.body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", first(f.contentType, "application/x-www-form-urlencoded"))
	req.Header.Set("X-Slack-Request-Timestamp", stamp)
	req.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	for name, value := range f.headers {
		req.Header.Del(name)
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := r.HTTPClient().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// refusals are the audit records of refused requests.
func (r *running) refusals() []interaction.Record {
	r.t.Helper()
	table := store.New(r.Table.Client(), r.Template.Tables[0].Name).WithClock(r.Clock.Now)
	list, err := table.Refusals(context.Background(), r.Clock.Now().Add(-24*time.Hour))
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// passed are the presses that reached the results queue.
func (r *running) passed() []report.Press {
	r.t.Helper()
	var list []report.Press
	for _, q := range r.Template.Queues {
		if q.Name != "rollcall-results.fifo" {
			continue
		}
		for r.queued(q.Name) > 0 {
			messages, err := r.Queues.Receive(context.Background(), q.ARN, 10, 0)
			if err != nil {
				r.t.Fatal(err)
			}
			for _, m := range messages {
				got, err := report.DecodeMessage([]byte(m.Body))
				if err != nil || got.Press == nil {
					r.t.Fatalf("what reached report is no press: %v", err)
				}
				list = append(list, *got.Press)
			}
			if err := r.Queues.Delete(q.ARN, messages...); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	return list
}

const offered = "0123456789abcdef0123456789abcdef"

// post puts a message with a button into the channel, as the app.
func (r *running) post(blocks string) (ts string) {
	r.t.Helper()
	resp, err := r.HTTPClient().PostForm(r.Slack.APIURL()+"chat.postMessage", url.Values{"token": {SlackToken}, "channel": {Channel}, "text": {"x"}, "blocks": {blocks}})
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var out struct {
		TS    string `json:"ts"`
		Error string `json:"error"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || out.TS == "" {
		r.t.Fatalf("post: %v %s", err, out.Error)
	}
	return out.TS
}

// TestAFloodOfForgeriesFillsNothing: a thousand in a row leave a handful of
// records, and a real press is answered in time.
func TestAFloodOfForgeriesFillsNothing(t *testing.T) { virtual(t, aFloodOfForgeriesFillsNothing) }

func aFloodOfForgeriesFillsNothing(t *testing.T) {
	r := start(t, "route", quiet)
	began := r.Clock.Now()
	work := make(chan int)
	done := make(chan int)
	for range 8 {
		go func() {
			refused := 0
			for n := range work {
				if status, _ := r.attempt(forgedPress{body: fmt.Sprintf("payload=%d", n), secret: "another-secret-0123456789"}); status == 401 {
					refused++
				}
			}
			done <- refused
		}()
	}
	for n := range 1000 {
		work <- n
		if n != 500 {
			continue
		}
		if status, text := r.attempt(forgedPress{body: form("acknowledge", someValue(t, ""), "")}); status != 200 {
			t.Errorf("a real press in the flood is answered %d %q", status, text)
		}
	}
	close(work)
	refused := 0
	for range 8 {
		refused += <-done
	}
	if refused != 1000 {
		t.Errorf("%d of 1000 are refused", refused)
	}
	minutes := int(r.Clock.Now().Sub(began)/time.Minute) + 2
	if got := len(r.refusals()); got == 0 || got > minutes {
		t.Errorf("%d records of %d minutes, want one a minute", got, minutes)
	}
	if got := r.passed(); len(got) != 1 || got[0].Action != report.Acknowledge {
		t.Errorf("report got %+v, want the one real press", got)
	}
}

// TestASlowBodyBlocksNoOther: Lambda hands a request over once it is there.
//
// It has real programs: connections that stay open are real ones.
func TestASlowBodyBlocksNoOther(t *testing.T) {
	t.Parallel()
	r := startReal(t, "route", quiet)
	at, err := url.Parse(r.URL(slackActions))
	if err != nil {
		t.Fatal(err)
	}
	for range 30 { // more than are let in at once
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\npayload=", at.Host)
	}
	// The slow ones would take half a minute.
	if status, text := r.attempt(forgedPress{body: form("acknowledge", someValue(t, ""), "")}); status != 200 {
		t.Errorf("answered %d %q", status, text)
	}
}

// TestWithoutASecretNothingIsTaken: an empty one, and then the right one, with
// no new deployment.
func TestWithoutASecretNothingIsTaken(t *testing.T) { virtual(t, withoutASecretNothingIsTaken) }

func withoutASecretNothingIsTaken(t *testing.T) {
	r := start(t, "route", quiet)
	secret, ok := r.SecretFor(config.SigningARN)
	if !ok {
		t.Fatal("no function reads a signing secret")
	}
	r.Cloud.SetSecret(secret.Name, "")
	body := form("acknowledge", someValue(t, ""), "")
	if status, _ := r.attempt(forgedPress{body: body}); status != 503 {
		t.Errorf("without a secret it is answered %d, want 503", status)
	}
	if !r.logged(`"level":"ERROR"`, "the signing secret is empty: put")() || !r.logged(`"NotPassedOn":1`, "CloudWatchMetrics")() {
		t.Error("it is not said what to do, or not counted")
	}
	r.Cloud.SetSecret(secret.Name, SigningSecret)
	r.until("the secret counts", func() bool { status, _ := r.attempt(forgedPress{body: body}); return status == 200 })
}

// TestAQueueThatTakesNothingSwallowsNoPress: the person sees a warning, and the
// next press goes through.
func TestAQueueThatTakesNothingSwallowsNoPress(t *testing.T) {
	virtual(t, aQueueThatTakesNothingSwallowsNoPress)
}

func aQueueThatTakesNothingSwallowsNoPress(t *testing.T) {
	r := start(t, "route", quiet, func(o *Options) {
		o.CallFaults = []simaws.FaultRule{{Call: "sqs:SendMessage", Deny: true, Times: 1}}
	})
	body := form("acknowledge", someValue(t, ""), "")
	press := forgedPress{body: body, at: time.Now()}
	if status, text := r.attempt(press); status != 500 {
		t.Fatalf("answered %d %q, want 500", status, text)
	}
	if status, text := r.attempt(press); status != 200 {
		t.Errorf("the same press again is answered %d %q, want 200", status, text)
	}
	if status, _ := r.attempt(press); status != 409 {
		t.Errorf("a copy of what was taken is answered %d, want 409", status)
	}
	if got := r.passed(); len(got) != 1 {
		t.Errorf("%d presses reached report, want 1", len(got))
	}
}

// TestASlowTableIsAnsweredInTime: Slack is answered before what waits behind. The
// bound is far from both, for a busy machine; that it is two and a half seconds,
// a test of the function holds.
//
// It has real programs: its time is the wall's, in a process of its own.
func TestASlowTableIsAnsweredInTime(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"secretsmanager:GetSecretValue", "dynamodb:PutItem", "sqs:SendMessage"} {
		r := startReal(t, "route", quiet, func(o *Options) {
			o.CallFaults = []simaws.FaultRule{{Call: call, Latency: 20 * time.Second}}
		})
		// The start of the process is the machine's, not the function's.
		r.attempt(forgedPress{headers: map[string]string{"X-Slack-Signature": ""}})
		sent := time.Now()
		status, _ := r.attempt(forgedPress{body: form("acknowledge", someValue(t, ""), "")})
		if took := time.Since(sent); status < 500 || took > 12*time.Second {
			t.Errorf("slow %s: answered %d after %s, want 5xx long before 20 s", call, status, took)
		}
		if got := r.passed(); len(got) > 0 {
			t.Errorf("slow %s: %d presses reached report", call, len(got))
		}
	}
}

// TestNoOtherRoleCanPress: with the credentials of every other function, an
// approval is put into the results queue, which they may write, and its proof into
// the table, which they may not. Nothing is approved and no message changes; what Lead
// presses then counts.
func TestNoOtherRoleCanPress(t *testing.T) { virtual(t, noOtherRoleCanPress) }

func noOtherRoleCanPress(t *testing.T) {
	r := start(t, "route", approvable)
	good := r.offeredRoute()
	before := r.routes()
	var results string
	for _, q := range r.Template.Queues {
		if q.Name == "rollcall-results.fifo" {
			results = q.URL
		}
	}
	sent := 0
	for _, f := range r.Template.Functions {
		if strings.HasSuffix(f.Name, "-"+slackActions) {
			continue
		}
		forged, err := report.EncodePress(report.Press{
			Head: report.Head{ID: "forged-by-" + f.Name, At: r.Clock.Now(), Key: good.Key}, Number: good.Number, Action: report.ApprovePlan, Plan: good.Plan,
			User: report.User{ID: OnCall}, Channel: Channel, TS: r.messages()[0].TS,
		})
		if err != nil {
			t.Fatal(err)
		}
		r.noProof(f, forged)
		err = queue.Queues{Client: sqs.NewFromConfig(r.AsFunction(f)), Results: results}.SendPress(t.Context(), forged)
		if err != nil {
			t.Fatal(err)
		}
		sent++
	}
	if sent < 8 {
		t.Fatalf("%d functions were tried", sent)
	}
	refused := func() bool {
		n := 0
		for _, f := range r.Template.Functions {
			if r.logged(`"answer":"not-passed-on"`, `"press":"forged-by-`+f.Name+`"`)() {
				n++
			}
		}
		// Those of one batch are one line.
		return n > 0 && r.refusedPresses() == sent
	}
	r.until("all are refused", refused)
	if o := r.offer(); o.State != incident.Offered || len(r.acts()) > 0 || len(r.toldAlone(OnCall)) > 0 {
		t.Errorf("the offer is %s, audited %+v, told %q", o.State, r.acts(), r.toldAlone(OnCall))
	}
	r.untouched("forged", before)
	r.answers("a real press", Lead, incident.AnswerApproved, func() { r.press(Lead) })
	r.until("what was done", r.replied("Done"))
	r.doneOnce(before, Lead)
}

// noProof holds that a function may not write the proof of a press, in any of the
// ways in which DynamoDB lets records be written.
func (r *running) noProof(f template.Function, m report.PressMessage) {
	r.t.Helper()
	db, table := dynamodb.NewFromConfig(r.AsFunction(f)), &r.Template.Tables[0].Name
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	key := map[string]types.AttributeValue{"pk": text("press#" + m.ID), "sk": text("press")}
	item := map[string]types.AttributeValue{
		"pk": key["pk"], "sk": key["sk"], "by": text(f.Name), "body": text(`{"format":2,"digest":"` + m.Digest() + `"}`),
		"format": &types.AttributeValueMemberN{Value: "2"}, "version": &types.AttributeValueMemberN{Value: "1"},
		"expires": &types.AttributeValueMemberN{Value: fmt.Sprint(time.Now().Add(time.Hour).Unix())},
	}
	ctx := r.t.Context()
	for what, write := range map[string]func() error{
		"PutItem": func() error {
			_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item})
			return err
		},
		"UpdateItem": func() error {
			_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: key, UpdateExpression: aws.String("SET body = :b"), ExpressionAttributeValues: map[string]types.AttributeValue{":b": item["body"]}})
			return err
		},
		"BatchWriteItem": func() error {
			_, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*table: {{PutRequest: &types.PutRequest{Item: item}}}}})
			return err
		},
		"TransactWriteItems": func() error {
			_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: table, Item: item}}}})
			return err
		},
		"ExecuteStatement": func() error {
			_, err := db.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: aws.String(`INSERT INTO "` + *table + `" VALUE {'pk': 'press#` + m.ID + `', 'sk': 'press'}`)})
			return err
		},
	} {
		var api smithy.APIError
		if err := write(); !errors.As(err, &api) || api.ErrorCode() != "AccessDeniedException" {
			r.t.Errorf("%s of a press's proof by %s: %v, want AccessDeniedException", what, f.Name, err)
		}
	}
}

// refusedPresses counts the presses that report refused because slack-actions had
// not passed them on.
func (r *running) refusedPresses() int {
	n := 0
	for line := range strings.SplitSeq(r.out.String(), "\n") {
		if _, rest, found := strings.Cut(line, `"answer":"not-passed-on","presses":`); found {
			var some int
			if _, err := fmt.Sscanf(rest, "%d", &some); err == nil {
				n += some
			}
		}
	}
	return n
}

// TestAGuestOfTheChannelDoesNothing: a user of another company, in a channel of
// Slack Connect, presses what the message shows. A colleague then does, and another
// takes it over.
func TestAGuestOfTheChannelDoesNothing(t *testing.T) { virtual(t, aGuestOfTheChannelDoesNothing) }

func aGuestOfTheChannelDoesNothing(t *testing.T) {
	r := start(t, "route", approvable)
	r.offeredRoute()
	before, ts := r.routes(), r.messages()[0].TS
	on := func(user string, action report.Action) {
		t.Helper()
		if err := r.Slack.Press(t.Context(), fakeslack.Press{Channel: Channel, TS: ts, ActionID: string(action), User: user, Value: "1h"}); err != nil {
			t.Fatalf("%s presses %s: %v", user, action, err)
		}
	}
	for n, action := range []report.Action{report.Acknowledge, report.MuteFor, report.CheckAgain, report.ApprovePlan} {
		on(Guest, action)
		r.until(string(action)+": the answer", func() bool { return len(r.toldAlone(Guest)) == n+1 })
	}
	for _, text := range r.toldAlone(Guest) {
		if !strings.HasPrefix(text, "Nothing was done. Only members of Rollcall’s Slack workspace") {
			t.Errorf("the guest got %q", text)
		}
	}
	if inc := r.incident(); inc.Ack != nil || inc.Mute != nil || !inc.Asked.IsZero() || r.offer().State != incident.Offered {
		t.Errorf("after the guest: %+v %+v, asked %s, the offer is %s", inc.Ack, inc.Mute, inc.Asked, r.offer().State)
	}
	r.untouched("the guest", before)
	on(OnCall, report.Acknowledge)
	r.until("it is acknowledged", func() bool { return r.incident().Ack != nil && r.shows(report.TakeOver) })
	on(Dev, report.TakeOver)
	r.until("that is said", r.replied("New owner: "))
	if a := r.incident().Ack; a.By.ID != Dev || a.From == nil || a.From.ID != OnCall {
		t.Errorf("it is %+v", a)
	}
}

// shows reports whether the message has the button.
func (r *running) shows(action report.Action) bool {
	r.t.Helper()
	return strings.Contains(string(r.messages()[0].Blocks), `"action_id":"`+string(action)+`"`)
}
