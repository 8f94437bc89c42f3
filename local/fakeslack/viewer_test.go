package fakeslack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
)

const dana = "U0DANA0001"

// TestEphemeralIsForOne: who it is not for sees nothing of it, in the channel,
// in the thread, and while the page is open.
func TestEphemeralIsForOne(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("parent"))
	for _, options := range [][]slack.MsgOption{{say("secret-root")}, {say("secret-reply"), slack.MsgOptionTS(ts)}} {
		if _, err := api.PostEphemeral(alerts, dana, options...); err != nil {
			t.Fatal(err)
		}
	}
	for path, sees := range map[string]bool{"/": false, "/?as=" + oncall: false, "/?as=nobody": false, "/?as=" + dana: true} {
		_, body := get(t, s.URL()+path)
		_, thread := get(t, s.URL()+"/?thread="+ts+"&"+strings.TrimPrefix(path, "/?"))
		if strings.Contains(body, "secret-root") != sees || strings.Contains(thread, "secret-reply") != sees {
			t.Errorf("%s: sees root %v, reply %v, want %v", path, strings.Contains(body, "secret-root"), strings.Contains(thread, "secret-reply"), sees)
		}
		if sees && !strings.Contains(thread, "Only visible to you") {
			t.Error("it does not say that it is visible to one alone")
		}
		if strings.Contains(body, "reply</b>") {
			t.Error("an ephemeral reply is counted")
		}
	}
	req, err := http.NewRequest(http.MethodGet, s.URL()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: viewerCookie, Value: dana})
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), "secret-root") || !strings.Contains(string(body), `data-viewer="`+dana+`"`) {
		t.Error("the cookie does not choose the viewer")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	secret := s.store.channels[0].messages[1]
	for user, want := range map[string]int{oncall: 0, dana: 2} {
		f, err := s.fragments(change{channel: alerts, ts: secret.TS}, user)
		if err != nil || len(f) != want {
			t.Errorf("%s is sent %d pieces (%v), want %d", user, len(f), err, want)
		}
	}
}

// TestPressAsAnother: the page presses and speaks as whoever looks at it.
func TestPressAsAnother(t *testing.T) {
	users := make(chan string, 1)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		var p struct{ User struct{ ID string } }
		_ = json.Unmarshal([]byte(form.Get("payload")), &p)
		users <- p.User.ID
	}))
	defer app.Close()
	s, api := start(t, func(c *Config) { c.InteractivityURL = app.URL })
	ts := post(t, api, say("x"), slack.MsgOptionBlocks(slack.NewActionBlock("row", slack.NewButtonBlockElement("go", "v", plainObj("Go")))))
	send := func(path, body string) {
		resp, err := http.Post(s.URL()+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	send("/press", `{"channel":"`+alerts+`","ts":"`+ts+`","action":"go","user":"`+dana+`"}`)
	if got := <-users; got != dana {
		t.Errorf("pressed by %q, want Dana", got)
	}
	send("/say", `{"channel":"`+alerts+`","text":"on it","user":"`+dana+`"}`)
	if m := s.Messages(alerts); len(m) != 2 || m[1].User != dana {
		t.Errorf("%+v", m)
	}
}

// TestPressUnanswered: what does not answer in time is told as Slack tells it.
func TestPressUnanswered(t *testing.T) {
	hold := make(chan struct{})
	app := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}))
	defer app.Close()
	defer close(hold)
	s, api := start(t, func(c *Config) { c.InteractivityURL = app.URL })
	ts := post(t, api, say("x"), slack.MsgOptionBlocks(slack.NewActionBlock("row", slack.NewButtonBlockElement("go", "v", plainObj("Go")))))
	// A deadline of the caller's stands for Slack's: nothing waits three seconds here.
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	var e *PressError
	if err := s.Press(ctx, Press{Channel: alerts, TS: ts, ActionID: "go"}); !errors.As(err, &e) || e.Status != 0 || !strings.Contains(err.Error(), "within 3 seconds") {
		t.Errorf("got %v", err)
	}
}

// TestGroupMembers: they are read with usergroups:read only.
func TestGroupMembers(t *testing.T) {
	_, api := start(t, nil)
	if got, err := api.GetUserGroupMembers("S0ONCALL01"); err != nil || len(got) != 1 || got[0] != oncall {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := api.GetUserGroupMembers("S404"); err == nil || err.Error() != "no_such_subteam" {
		t.Errorf("got %v, want no_such_subteam", err)
	}
	_, api = start(t, func(c *Config) { c.Scopes = []string{"chat:write"} })
	if _, err := api.GetUserGroupMembers("S0ONCALL01"); err == nil || err.Error() != "missing_scope" {
		t.Errorf("got %v, want missing_scope", err)
	}
}

// TestSnippet: a text is shown where it is shared, and nothing in it runs.
func TestSnippet(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("parent"))
	text := "line 1\n<script>alert(1)</script>\n" + strings.Repeat("line\n", 20)
	if _, err := api.UploadFile(slack.UploadFileParameters{Content: text, FileSize: len(text), Filename: "all.txt", Title: "All of it", Channel: alerts, ThreadTimestamp: ts}); err != nil {
		t.Fatal(err)
	}
	_, body := get(t, s.URL()+"/?thread="+ts)
	if !strings.Contains(body, "<pre>line 1\n&lt;script&gt;alert(1)") || !strings.Contains(body, "10 more lines · all.txt") {
		t.Error("the thread does not show the text")
	}
}
