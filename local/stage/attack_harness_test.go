package stage

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"rollcall/shared/interaction"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// The tests here attack slack-actions from outside: the real program, at its
// address. Nothing wakes the other functions, so that what is passed on stays
// in the results queue to be counted.
func quiet(o *Options) { o.Quiet = true }

// forgedPress is what somebody sends who would like it to be Slack's.
type forgedPress struct {
	method, contentType, secret string
	body                        string
	at                          time.Time
	headers                     map[string]string
}

// someValue is a button's value for an incident.
func someValue(t *testing.T, plan string) string {
	t.Helper()
	text, ok := slack.Value{Key: report.Key{Cluster: "eks-workshop", Check: "route/no-egress", Resource: table}, Number: 1, Plan: plan}.Text()
	if !ok {
		t.Fatal("the value does not fit")
	}
	return text
}

// foreignValue is a button's value for an incident of an account that is not watched.
func foreignValue(t *testing.T) string {
	t.Helper()
	key := report.Key{Spoke: spoke.ID{Account: "999900001111", Region: "eu-west-1"}, Cluster: "eks-workshop", Check: "route/no-egress", Resource: table}
	text, ok := slack.Value{Key: key, Number: 1}.Text()
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
	table := store.New(r.Table.Client(), r.Template.Tables[0].Name).At(r.Clock.Now)
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
