package slackapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

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
