package slackapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	slackgo "github.com/slack-go/slack"

	"rollcall/shared/slack/hook"
	"rollcall/stage/fakeslack"
)

const secretToken = "xoxb-1234567890-SECRETSECRETSECRET"

// newClient is a client of a server, which does not wait.
func newClient(t *testing.T, h http.Handler) (c *Client, waited *[]time.Duration) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return clientOf(t, srv.URL+"/api/")
}

func clientOf(t *testing.T, api string) (*Client, *[]time.Duration) {
	t.Helper()
	c, err := NewClient(api, secretToken, &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	waited := &[]time.Duration{}
	c.sleep = func(_ context.Context, d time.Duration) error {
		*waited = append(*waited, d)
		return nil
	}
	return c, waited
}

func hello() Message {
	block := slackgo.NewRichTextBlock("", slackgo.NewRichTextSection(slackgo.NewRichTextSectionTextElement("hello", nil)))
	return Message{Text: "hello", Blocks: []slackgo.Block{block}, Tag: Tag{Key: "prod|route/no-egress|rtb-0cd2"}}
}

// every is every way to call Slack.
func every(c *Client, ctx context.Context) map[string]error {
	errs := map[string]error{}
	_, errs["Post"] = c.Post(ctx, "C1", hello())
	_, errs["Reply"] = c.Reply(ctx, "C1", "1.1", hello())
	_, errs["Broadcast"] = c.Broadcast(ctx, "C1", "1.1", hello())
	errs["Ephemeral"] = c.Ephemeral(ctx, "C1", "U1", "", hello())
	_, errs["Workspace"] = c.Workspace(ctx)
	_, errs["GroupMembers"] = c.GroupMembers(ctx, "S1")
	errs["Update"] = c.Update(ctx, "C1", "1.1", hello())
	_, errs["Find"] = c.Find(ctx, Search{Channel: "C1", Tag: hello().Tag})
	_, errs["Find in thread"] = c.Find(ctx, Search{Channel: "C1", Thread: "1.1", Tag: hello().Tag})
	return errs
}

func answer(status int, header map[string]string, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

func TestWaitsAsSlackAsks(t *testing.T) {
	limits := func(n int32, after string) http.Handler {
		var calls atomic.Int32
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if calls.Add(1) <= n {
				w.Header().Set("Retry-After", after)
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			_, _ = io.WriteString(w, `{"ok":true,"channel":"C1","ts":"1.1"}`)
		})
	}
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		server http.Handler
		ok     bool
		waited []time.Duration
	}{
		{"once", soon, limits(1, "3"), true, []time.Duration{3 * time.Second}},
		{"twice", t.Context(), limits(2, "3"), true, []time.Duration{3 * time.Second, 3 * time.Second}},
		{"for ever", t.Context(), limits(100, "3"), false, []time.Duration{3 * time.Second, 3 * time.Second}},
		{"past the deadline", soon, limits(1, "30"), false, nil},
		{"too long even without a deadline", t.Context(), limits(1, "600"), false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, waited := newClient(t, tt.server)
			ts, err := c.Post(tt.ctx, "C1", hello())
			var e *Error
			if tt.ok && (err != nil || ts != "1.1") || !tt.ok && (!errors.As(err, &e) || e.Kind != RateLimited) {
				t.Errorf("Post gave %q, %v, want ok: %v", ts, err, tt.ok)
			}
			if diff := cmp.Diff(*waited, tt.waited, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("waits (-got +want):\n%s", diff)
			}
		})
	}
}

func TestWaitEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("sleep gave %v, want context.Canceled", err)
	}
	if err := sleep(t.Context(), time.Nanosecond); err != nil {
		t.Errorf("sleep gave %v, want nil", err)
	}
}

func TestNetworkFailures(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	c, _ := newClient(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := c.Post(ctx, "C1", hello())
	var e *Error
	if !errors.As(err, &e) || e.Kind != Unavailable || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no answer gave %v, want Unavailable and DeadlineExceeded", err)
	}

	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	c, _ = clientOf(t, srv.URL)
	if _, err := c.Post(t.Context(), "C1", hello()); !errors.As(err, &e) || e.Kind != Unavailable || !e.Retryable() {
		t.Errorf("no server gave %v, want Unavailable", err)
	}
}

func TestFollowsNoRedirect(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		c, _ := newClient(t, answer(status, map[string]string{"Location": other.URL}, ""))
		for call, err := range every(c, t.Context()) {
			var e *Error
			if !errors.As(err, &e) || e.Kind != Refused || !strings.Contains(err.Error(), "redirects") {
				t.Errorf("%d: %s gave %v, want Refused", status, call, err)
			}
		}
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d calls went where the redirect led, want none", n)
	}
}

func TestAddressOfAPI(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://slack.com/api/":       true,
		"https://slack-gov.com/api":    true,
		"http://127.0.0.1:8080/api/":   true,
		"http://localhost:8080/api/":   true,
		"http://[::1]:8080/api/":       true,
		"http://slack.com/api/":        false,
		"http://127.0.0.1.evil/api/":   false,
		"https://u:p@slack.com/api/":   false,
		"https://slack.com/api/?a=b":   false,
		"ftp://slack.com/":             false,
		"slack.com/api":                false,
		"":                             false,
		"https://slack.com/api/#frag":  false,
		"https://slack.com/%zz/broken": false,
	} {
		if _, err := NewClient(address, secretToken, &http.Client{}); (err == nil) != ok {
			t.Errorf("NewClient(%q) gave %v, want ok: %v", address, err, ok)
		}
	}
}

// TestPostIsWhole: what reaches Slack is the message, its metadata and nothing
// that unfurls.
func TestPostIsWhole(t *testing.T) {
	var form url.Values
	c, _ := newClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		form = r.PostForm
		_, _ = io.WriteString(w, `{"ok":true,"channel":"C1","ts":"1700000000.000100"}`)
	}))
	m := hello()
	m.Tag.Note = "opened"
	ts, err := c.Reply(t.Context(), "C1", "1.1", m)
	if err != nil || ts != "1700000000.000100" {
		t.Fatalf("Reply gave %q, %v", ts, err)
	}
	want := url.Values{
		"token": {secretToken}, "channel": {"C1"}, "thread_ts": {"1.1"}, "text": {"hello"},
		"blocks":       {`[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"hello"}]}]}]`},
		"metadata":     {`{"event_type":"rollcall_incident","event_payload":{"key":"prod|route/no-egress|rtb-0cd2","note":"opened"}}`},
		"unfurl_links": {"false"}, "unfurl_media": {"false"},
	}
	if diff := cmp.Diff(form, want); diff != "" {
		t.Errorf("form (-got +want):\n%s", diff)
	}
}

func TestAnswerWithoutTimestamp(t *testing.T) {
	c, _ := newClient(t, answer(200, nil, `{"ok":true}`))
	_, err := c.Post(t.Context(), "C1", hello())
	var e *Error
	if !errors.As(err, &e) || e.Kind != Unavailable {
		t.Errorf("Post gave %v, want Unavailable: the message may be there", err)
	}
}

func TestClassifiesAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		header map[string]string
		body   string
		want   Error
	}{
		{"rate limit", 429, map[string]string{"Retry-After": "90"}, "", Error{Kind: RateLimited, Status: 429, RetryAfter: 90 * time.Second}},
		{"rate limit without a time", 429, nil, "", Error{Kind: RateLimited, Status: 429, RetryAfter: usualWait}},
		{"rate limit with nonsense", 429, map[string]string{"Retry-After": "soon"}, "", Error{Kind: RateLimited, Status: 429, RetryAfter: usualWait}},
		{"rate limit for ever", 429, map[string]string{"Retry-After": "9999999999"}, "", Error{Kind: RateLimited, Status: 429, RetryAfter: mostWait}},
		{"rate limit in the body", 200, nil, `{"ok":false,"error":"ratelimited"}`, Error{Kind: RateLimited, Status: 200, Code: "ratelimited", RetryAfter: usualWait}},
		{"fault", 500, nil, "<html>oops", Error{Kind: Unavailable, Status: 500}},
		{"unavailable", 503, nil, `{"ok":false,"error":"service_unavailable"}`, Error{Kind: Unavailable, Status: 503, Code: "service_unavailable"}},
		{"fault in the body", 200, nil, `{"ok":false,"error":"internal_error"}`, Error{Kind: Unavailable, Status: 200, Code: "internal_error"}},
		{"a proxy's page", 200, nil, "<html>sign in", Error{Kind: Unavailable, Status: 200}},
		{"no answer at all", 200, nil, "", Error{Kind: Unavailable, Status: 200}},
		{"cut off", 200, nil, `{"ok":tr`, Error{Kind: Unavailable, Status: 200}},
		{"not ok and no reason", 200, nil, `{"ok":false}`, Error{Kind: Refused, Status: 200, Code: "unknown_error"}},
		{"wrong token", 200, nil, `{"ok":false,"error":"invalid_auth"}`, Error{Kind: Auth, Status: 200, Code: "invalid_auth"}},
		{"revoked", 200, nil, `{"ok":false,"error":"token_revoked"}`, Error{Kind: Auth, Status: 200, Code: "token_revoked"}},
		{"inactive", 200, nil, `{"ok":false,"error":"account_inactive"}`, Error{Kind: Auth, Status: 200, Code: "account_inactive"}},
		{"no token", 200, nil, `{"ok":false,"error":"not_authed"}`, Error{Kind: Auth, Status: 200, Code: "not_authed"}},
		{"forbidden", 403, nil, "", Error{Kind: Auth, Status: 403}},
		{"no channel", 200, nil, `{"ok":false,"error":"channel_not_found"}`, Error{Kind: Channel, Status: 200, Code: "channel_not_found"}},
		{"not invited", 200, nil, `{"ok":false,"error":"not_in_channel"}`, Error{Kind: Channel, Status: 200, Code: "not_in_channel"}},
		{"archived", 200, nil, `{"ok":false,"error":"is_archived"}`, Error{Kind: Channel, Status: 200, Code: "is_archived"}},
		{"deleted", 200, nil, `{"ok":false,"error":"message_not_found"}`, Error{Kind: MessageGone, Status: 200, Code: "message_not_found"}},
		{"blocks", 200, nil, `{"ok":false,"error":"invalid_blocks","response_metadata":{"messages":["[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text]"]}}`,
			Error{Kind: Refused, Status: 200, Code: "invalid_blocks", Details: []string{"[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text]"}}},
		{"too long", 200, nil, `{"ok":false,"error":"msg_too_long"}`, Error{Kind: Refused, Status: 200, Code: "msg_too_long"}},
		{"a code of next year", 200, nil, `{"ok":false,"error":"brand_new"}`, Error{Kind: Refused, Status: 200, Code: "brand_new"}},
		{"not a code", 200, nil, `{"ok":false,"error":"Bearer xoxb"}`, Error{Kind: Refused, Status: 200, Code: "unknown_error"}},
		{"bad request", 400, nil, `{"ok":false,"error":"invalid_arguments"}`, Error{Kind: Refused, Status: 400, Code: "invalid_arguments"}},
		{"not found", 404, nil, "", Error{Kind: Refused, Status: 404}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := newClient(t, answer(tt.status, tt.header, tt.body))
			for call, err := range every(c, t.Context()) {
				var got *Error
				if !errors.As(err, &got) {
					t.Fatalf("%s gave %v, want an *Error", call, err)
				}
				if diff := cmp.Diff(*got, tt.want, cmpopts.IgnoreUnexported(Error{}), cmpopts.IgnoreFields(Error{}, "Method")); diff != "" {
					t.Errorf("%s (-got +want):\n%s", call, diff)
				}
				if got.Method == "" || got.Advice() == "" || !strings.Contains(err.Error(), got.Advice()) {
					t.Errorf("%s: method %q, advice %q, error %q: all must be said", call, got.Method, got.Advice(), err)
				}
			}
		})
	}
}

func TestMissingScope(t *testing.T) {
	c, _ := newClient(t, answer(200, nil, `{"ok":false,"error":"missing_scope","needed":"channels:history","provided":"chat:write"}`))
	_, err := c.Post(t.Context(), "C1", hello())
	var got *Error
	if !errors.As(err, &got) || got.Kind != Auth || got.Scope != "channels:history" {
		t.Errorf("Post gave %#v, want Auth with the scope", err)
	}
	found, err := c.Find(t.Context(), Search{Channel: "C1"})
	if err != nil || found.TS != "" || found.Unsure == nil || found.Unsure.Scope != "channels:history" {
		t.Errorf("Find gave %+v, %v, want Unsure with the scope and no error", found, err)
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(200, "", `{"ok":false,"error":"invalid_auth"}`)
	f.Add(429, "-1", `{}`)
	f.Add(200, "1e9", `{"ok":true}`)
	f.Fuzz(func(t *testing.T, status int, after, body string) {
		e := classify("chat.postMessage", status, http.Header{"Retry-After": {after}}, []byte(body))
		if e == nil {
			var env struct{ OK bool }
			if status != 200 || json.Unmarshal([]byte(body), &env) != nil || !env.OK {
				t.Errorf("%d %q is taken for a success", status, body)
			}
			return
		}
		if e.Kind == "" || e.RetryAfter < 0 || e.RetryAfter > mostWait || (e.RetryAfter != 0) && e.Kind != RateLimited || strings.ContainsAny(e.Error(), "\n\x00") {
			t.Errorf("classify gave %+v", e)
		}
	})
}

// fakeSlack starts the stand-in for Slack, with one channel.
func fakeSlack(t *testing.T, cfg fakeslack.Config) (*fakeslack.Server, *Client) {
	t.Helper()
	cfg.Token, cfg.Channels = secretToken, []fakeslack.Channel{{ID: alerts, Name: "alerts"}}
	s, err := fakeslack.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := NewClient(s.APIURL(), secretToken, &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

const alerts = "C0000000001"

func people() fakeslack.Config {
	return fakeslack.Config{
		Users:  []fakeslack.User{{ID: "U0ONCALL01", Name: "oncall"}, {ID: "U0DANA0001", Name: "Dana Weber"}},
		Groups: []fakeslack.Group{{ID: "S0ONCALL01", Handle: "platform-oncall", Users: []string{"U0ONCALL01"}}, {ID: "S0EMPTY001", Handle: "nobody"}},
	}
}

func TestEphemeralIsSeenByOne(t *testing.T) {
	s, c := fakeSlack(t, people())
	ts, err := c.Post(t.Context(), alerts, hello())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Ephemeral(t.Context(), alerts, "U0DANA0001", "", Message{Text: "not you"}); err != nil {
		t.Error(err)
	}
	if err := c.Ephemeral(t.Context(), alerts, "U0DANA0001", ts, hello()); err != nil {
		t.Error(err)
	}
	for _, m := range s.Messages(alerts) {
		if m.TS != ts && m.Visible != "U0DANA0001" {
			t.Errorf("%q is seen by %q", m.Text, m.Visible)
		}
	}
	var e *Error
	if err := c.Ephemeral(t.Context(), alerts, "U0NOBODY01", "", Message{Text: "x"}); !errors.As(err, &e) || e.Code != "user_not_in_channel" || e.Retryable() {
		t.Errorf("to an absent user: %v", err)
	}
}

func TestGroupMembers(t *testing.T) {
	_, c := fakeSlack(t, people())
	got, err := c.GroupMembers(t.Context(), "S0ONCALL01")
	if diff := cmp.Diff([]string{"U0ONCALL01"}, got); err != nil || diff != "" {
		t.Errorf("members (-want +got):\n%s%v", diff, err)
	}
	if got, err := c.GroupMembers(t.Context(), "S0EMPTY001"); err != nil || len(got) != 0 {
		t.Errorf("an empty group has %v, %v", got, err)
	}
	var e *Error
	if _, err := c.GroupMembers(t.Context(), "S0NOTHERE1"); !errors.As(err, &e) || e.Kind != Refused || e.Code != "no_such_subteam" {
		t.Errorf("a group that is not there: %v", err)
	}
	cfg := people()
	cfg.Scopes = []string{"chat:write"}
	_, c = fakeSlack(t, cfg)
	if _, err := c.GroupMembers(t.Context(), "S0ONCALL01"); !errors.As(err, &e) || e.Kind != Auth || e.Scope != "usergroups:read" || !strings.Contains(err.Error(), "add the scope usergroups:read") {
		t.Errorf("without the scope: %v", err)
	}
}

// rotating is a Secrets Manager with one secret, whose value changes.
func rotating(t *testing.T, value *string) *secretsmanager.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		if *value == "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"ResourceNotFoundException","Message":"Secrets Manager can't find the specified secret value for staging label: AWSCURRENT"}`)
			return
		}
		fmt.Fprintf(w, `{"SecretString":%q}`, *value)
	}))
	t.Cleanup(server.Close)
	return secretsmanager.New(secretsmanager.Options{
		Region: "us-west-2", BaseEndpoint: aws.String(server.URL), Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	})
}

// takes is a Slack that takes one token.
func takes(t *testing.T, token *string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("token") != *token && r.Header.Get("Authorization") != "Bearer "+*token {
			fmt.Fprint(w, `{"ok":false,"error":"invalid_auth"}`)
			return
		}
		fmt.Fprint(w, `{"ok":true,"channel":"C0123456789","ts":"1700000000.000100","message":{"text":"x"},"messages":[],"has_more":false}`)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/api/"
}

// A secret that is empty at first, and rotated later, needs no new deployment.
func TestSession(t *testing.T) {
	const first, second = "xoxb-first-1234567890", "xoxb-second-1234567890"
	value, valid := "", first
	s := &Session{secret: rotating(t, &value), arn: "arn:secret", api: takes(t, &valid), http: &http.Client{}}
	post := func() error {
		_, err := s.Post(t.Context(), "C0123456789", Message{Text: "x"})
		return err
	}
	if err := post(); !errors.Is(err, hook.ErrNoToken) {
		t.Errorf("with an empty secret: %v, want %v", err, hook.ErrNoToken)
	}
	value = first
	if err := post(); err != nil {
		t.Errorf("after the secret was filled in: %v", err)
	}
	valid = second
	var e *Error
	if err := post(); !errors.As(err, &e) || e.Kind != Auth {
		t.Errorf("with the old token: %v, want not allowed", err)
	}
	value = second
	for name, call := range map[string]func() error{
		"post":   post,
		"update": func() error { return s.Update(t.Context(), "C0123456789", "1.2", Message{Text: "x"}) },
		"reply": func() error {
			_, err := s.Reply(t.Context(), "C0123456789", "1.2", Message{Text: "x"})
			return err
		},
		"find": func() error { _, err := s.Find(t.Context(), Search{Channel: "C0123456789"}); return err },
	} {
		if err := call(); err != nil {
			t.Errorf("%s with the new token: %v", name, err)
		}
	}
	for name, call := range map[string]func(*Session) error{
		"update": func(s *Session) error { return s.Update(t.Context(), "C", "1.2", Message{}) },
		"reply":  func(s *Session) error { _, err := s.Reply(t.Context(), "C", "1.2", Message{}); return err },
		"find":   func(s *Session) error { _, err := s.Find(t.Context(), Search{}); return err },
	} {
		empty := ""
		if err := call(&Session{secret: rotating(t, &empty), arn: "arn:secret", api: s.api, http: &http.Client{}}); !errors.Is(err, hook.ErrNoToken) {
			t.Errorf("%s without a token: %v, want %v", name, err, hook.ErrNoToken)
		}
	}
}

// TestPrepare: a token that was read ahead is not read again; one that could not be is.
func TestPrepare(t *testing.T) {
	value, valid := "", "xoxb-first-1234567890"
	s := &Session{secret: rotating(t, &value), arn: "arn:secret", api: takes(t, &valid), http: &http.Client{}}
	s.Prepare(t.Context())
	value = valid
	s.Prepare(t.Context())
	value = "" // whoever reads it now finds none
	if _, err := s.Post(t.Context(), "C0123456789", Message{Text: "x"}); err != nil {
		t.Errorf("after the token was read ahead: %v", err)
	}
}

// TestLeaksNoSecret holds every status and every kind of failure against the
// rule that the token is in no error.
func TestLeaksNoSecret(t *testing.T) {
	echo := `{"ok":false,"error":"` + secretToken + `","needed":"` + secretToken + `","response_metadata":{"messages":["token=` + secretToken + `"]}}`
	check := func(t *testing.T, c *Client) {
		t.Helper()
		for call, err := range every(c, t.Context()) {
			if err == nil {
				continue // missing_scope is not an error for Find
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				for _, s := range []string{e.Error(), fmt.Sprintf("%v %+v %q", e, e, e)} {
					if strings.Contains(s, "SECRET") {
						t.Errorf("%s leaks the token: %q", call, s)
					}
				}
			}
		}
	}
	for status := 100; status < 600; status++ {
		if http.StatusText(status) == "" || status < 200 {
			continue
		}
		for _, body := range []string{echo, secretToken, `{"ok":true,"ts":` + secretToken + `}`, `{"ok":true,"messages":"` + secretToken + `"}`, strings.Replace(echo, secretToken, "missing_scope", 1)} {
			c := must(NewClient("http://127.0.0.1:1/api/", secretToken, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: status, Status: fmt.Sprintf("%d %s", status, secretToken), Request: r,
					Header: http.Header{"Location": {"https://evil.example/?token=" + secretToken}, "Retry-After": {secretToken}},
					Body:   io.NopCloser(strings.NewReader(body)),
				}, nil
			})}))
			c.sleep = func(context.Context, time.Duration) error { return nil }
			check(t, c)
		}
	}
	t.Run("network", func(t *testing.T) {
		c, err := NewClient("http://127.0.0.1:1/api/", secretToken, &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("proxy says: token=%s", secretToken)
		})})
		if err != nil {
			t.Fatal(err)
		}
		check(t, c)
	})
	t.Run("broken body", func(t *testing.T) {
		c := must(NewClient("http://127.0.0.1:1/api/", secretToken, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Request: r, Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"ok":`), broken{}))}, nil
		})}))
		check(t, c)
	})
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("cut off near " + secretToken) }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func pixel() File {
	return File{Name: "spot.png", Title: "Spot", Alt: "a chart", Data: []byte("\x89PNG\r\n\x1a\nrest")}
}

// TestUpload: the file is there, in no channel, until a message shows it.
func TestUpload(t *testing.T) {
	s, c := fakeSlack(t, fakeslack.Config{})
	id, err := c.Upload(t.Context(), pixel())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Messages("C0000000001")); n != 0 {
		t.Errorf("%d messages in the channel", n)
	}
	m := Message{Text: "x", Blocks: []slackgo.Block{slackgo.NewImageBlockSlackFile(&slackgo.SlackFileObject{ID: id}, "a chart", "", nil)}}
	if _, err := c.Post(t.Context(), "C0000000001", m); err != nil {
		t.Errorf("a message with it: %v", err)
	}
}

func TestUploadFails(t *testing.T) {
	for name, test := range map[string]struct {
		config fakeslack.Config
		fault  fakeslack.Fault
		kind   Kind
		scope  string
	}{
		"no scope":       {fakeslack.Config{Scopes: []string{"chat:write"}}, fakeslack.Fault{}, Auth, "files:write"},
		"asked to wait":  {fakeslack.Config{}, fakeslack.Fault{Method: "files.getUploadURLExternal", RetryAfter: time.Hour}, RateLimited, ""},
		"down":           {fakeslack.Config{}, fakeslack.Fault{Method: "files.completeUploadExternal", Status: 503}, Unavailable, ""},
		"cut off":        {fakeslack.Config{}, fakeslack.Fault{Method: "files.completeUploadExternal", Reset: true, Applied: true}, Unavailable, ""},
		"refused":        {fakeslack.Config{}, fakeslack.Fault{Method: "files.completeUploadExternal", Error: "file_type_not_allowed"}, Refused, ""},
		"token revoked":  {fakeslack.Config{}, fakeslack.Fault{Method: "files.getUploadURLExternal", Error: "token_revoked"}, Auth, ""},
		"internal error": {fakeslack.Config{}, fakeslack.Fault{Method: "files.getUploadURLExternal", Error: "internal_error"}, Unavailable, ""},
	} {
		s, c := fakeSlack(t, test.config)
		if test.fault.Method != "" {
			if err := s.Inject(test.fault); err != nil {
				t.Fatal(err)
			}
		}
		_, err := c.Upload(t.Context(), pixel())
		var e *Error
		if !errors.As(err, &e) || e.Kind != test.kind || e.Scope != test.scope {
			t.Errorf("%s: %v, want %s (scope %q)", name, err, test.kind, test.scope)
		}
	}
}

// What the place for the bytes answers decides; the token never goes there.
func TestUploadPlace(t *testing.T) {
	for status, kind := range map[int]Kind{200: "", 302: Refused, 400: Refused, 403: Refused, 429: RateLimited, 500: Unavailable, 408: Unavailable} {
		place := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var b bytes.Buffer
			if _, err := b.ReadFrom(r.Body); err != nil || b.String() != "data" {
				t.Errorf("%d: the bytes are %q, %v", status, b.String(), err)
			}
			for name, values := range r.Header {
				if strings.Contains(strings.Join(values, " "), secretToken) {
					t.Errorf("the token is in %s", name)
				}
			}
			w.Header().Set("Location", "https://elsewhere.example/")
			w.WriteHeader(status)
		}))
		err := newTransport(&http.Client{}, secretToken).upload(t.Context(), place.URL, []byte("data"))
		place.Close()
		var e *Error
		if errors.As(err, &e); kind == "" && err != nil || kind != "" && (e == nil || e.Kind != kind) {
			t.Errorf("%d: %v, want %q", status, err, kind)
		}
	}
	for _, address := range []string{"", "http://elsewhere.example/x", "ftp://x", "https://", ":"} {
		if err := newTransport(&http.Client{}, secretToken).upload(t.Context(), address, nil); err == nil {
			t.Errorf("%q was taken", address)
		}
	}
}

// A message whose picture Slack has not taken in yet is sent once more, after
// a while; any other refusal is not.
func TestPostWaitsForThePicture(t *testing.T) {
	s, c := fakeSlack(t, fakeslack.Config{})
	var waited []time.Duration
	c.sleep = func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
	id, err := c.Upload(t.Context(), pixel())
	if err != nil {
		t.Fatal(err)
	}
	m := Message{Text: "x", Blocks: []slackgo.Block{slackgo.NewImageBlockSlackFile(&slackgo.SlackFileObject{ID: id}, "a chart", "", nil)}}
	refuse := func(times int) {
		if err := s.Inject(fakeslack.Fault{Method: "chat.postMessage", Error: "invalid_blocks", Times: times}); err != nil {
			t.Fatal(err)
		}
	}
	refuse(1)
	if _, err := c.Post(t.Context(), "C0000000001", m); err != nil || len(waited) != 1 || waited[0] != takingIn {
		t.Errorf("%v after waiting %v", err, waited)
	}
	refuse(2)
	var e *Error
	if _, err := c.Post(t.Context(), "C0000000001", m); !errors.As(err, &e) || e.Kind != Refused || len(waited) != 2 {
		t.Errorf("%v after waiting %v, want it refused", err, waited)
	}
	refuse(1)
	if _, err := c.Post(t.Context(), "C0000000001", hello()); err == nil || len(waited) != 2 {
		t.Errorf("without a picture: %v after waiting %v", err, waited)
	}
}
