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
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"rollcall/shared/interaction"
	"rollcall/shared/lambda"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/spoke"
)

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
		replies: slackapi.NewResponder(b.slack.URL+"/api/", nil),
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
	text, ok := slack.Value{Key: key(), Number: 2, Plan: plan}.Text()
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
