package slackapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/local/fakeslack"
)

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
