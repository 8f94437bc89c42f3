package slackapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	slackgo "github.com/slack-go/slack"
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
