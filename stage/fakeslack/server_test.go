package fakeslack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"
)

const (
	testToken  = "xoxb-test"
	testSecret = "shh"
	alerts     = "C0ALERTS01"
	oncall     = "U0ONCALL01"
)

// hand is a clock that a test moves by hand.
type hand struct {
	mu sync.Mutex
	at time.Time
}

func (h *hand) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hand) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

func noon() *hand { return &hand{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)} }

// start runs a stand-in with change applied to its usual settings.
func start(t *testing.T, change func(*Config)) (*Server, *slack.Client) {
	t.Helper()
	cfg := Config{
		Token: testToken, SigningSecret: testSecret, Now: noon().now, Wall: noon().now,
		SignatureClock: time.Now,
		Channels: []Channel{
			{ID: alerts, Name: "alerts", Topic: "Node alerts"},
			{ID: "C0PRIVATE1", Name: "private", Private: true},
			{ID: "C0ABSENT01", Name: "absent", BotAbsent: true},
			{ID: "C0HIDDEN01", Name: "hidden", BotAbsent: true, Private: true},
			{ID: "C0ARCHIVE1", Name: "old", Archived: true},
		},
		Users:  []User{{ID: oncall, Name: "oncall", Timezone: "Europe/Berlin"}, {ID: "U0DANA0001", Name: "Dana"}},
		Groups: []Group{{ID: "S0ONCALL01", Handle: "platform", Users: []string{oncall}}},
	}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s, slack.New(cfg.Token, slack.OptionAPIURL(s.APIURL()))
}

func say(s string) slack.MsgOption { return slack.MsgOptionText(s, false) }

func post(t *testing.T, api *slack.Client, opts ...slack.MsgOption) string {
	t.Helper()
	_, ts, err := api.PostMessage(alerts, opts...)
	if err != nil {
		t.Fatalf("PostMessage: %v", err)
	}
	return ts
}

// code is the Slack error code in err, or "".
func code(err error) string {
	var e slack.SlackErrorResponse
	if errors.As(err, &e) {
		return e.Err
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func plainObj(s string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, s, false, false)
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestOneMessageEdited(t *testing.T) {
	s, api := start(t, nil)
	meta := slack.SlackMetadata{EventType: "incident", EventPayload: map[string]any{"fingerprint": "route/no-egress|rtb-1"}}
	ts := post(t, api, say("broken"), slack.MsgOptionBlocks(slack.NewHeaderBlock(plainObj("Broken"))), slack.MsgOptionMetadata(meta))
	reply := post(t, api, say("evidence"), slack.MsgOptionTS(ts))
	if _, _, _, err := api.UpdateMessage(alerts, ts, say("fixed")); err != nil {
		t.Fatalf("UpdateMessage: %v", err)
	}

	got := s.Messages(alerts)
	if len(got) != 1 {
		t.Fatalf("got %d messages, want 1", len(got))
	}
	m := got[0]
	if m.TS != ts || m.Text != "fixed" || m.Edited == nil || len(m.Versions) != 1 || m.Versions[0].Text != "broken" {
		t.Errorf("got %+v, want the text \"fixed\" with one earlier version", m)
	}
	if len(m.Blocks) != 0 {
		t.Errorf("got blocks %s, want none: new text alone takes them away", m.Blocks)
	}
	if len(m.Replies) != 1 || m.Replies[0].TS != reply {
		t.Errorf("got replies %+v, want %q", m.Replies, reply)
	}
	var methods []string
	for _, c := range s.Calls() {
		methods = append(methods, c.Method+" "+c.TS)
		if c.Params["token"] != "" {
			t.Errorf("%s: the record holds the token", c.Method)
		}
	}
	want := []string{"chat.postMessage " + ts, "chat.postMessage " + reply, "chat.update " + ts}
	if diff := cmp.Diff(want, methods); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}

	h, err := api.GetConversationHistory(&slack.GetConversationHistoryParameters{ChannelID: alerts, IncludeAllMetadata: true})
	if err != nil {
		t.Fatalf("GetConversationHistory: %v", err)
	}
	if len(h.Messages) != 1 || h.Messages[0].ReplyCount != 1 || h.Messages[0].Edited == nil {
		t.Fatalf("got history %+v, want one edited message with one reply", h.Messages)
	}
	if diff := cmp.Diff(meta, h.Messages[0].Metadata); diff != "" {
		t.Errorf("metadata was not kept by the update (-want +got):\n%s", diff)
	}
}

// TestTally holds what is a line, a reply, an edit, and an invisible edit.
func TestTally(t *testing.T) {
	blocks := func(id, word, value string) json.RawMessage {
		return json.RawMessage(`[{"type":"actions","block_id":"` + id + `","elements":[{"type":"button","text":{"text":"` + word + `"},"value":"` + value + `"}]}]`)
	}
	version := func(text string, b json.RawMessage) Version { return Version{Text: text, Blocks: b} }
	got := TallyOf([]Message{
		{TS: "1", Text: "b", Blocks: blocks("2", "Press", "x"), Versions: []Version{
			version("a", blocks("1", "Press", "x")),  // then the text changed
			version("b", blocks("1", "Press", "x")),  // then the id of a block
			version("b", blocks("2", "Press", "x")),  // then the word on the button
			version("b", blocks("2", "Push", "x")),   // then what the button does
			version("b", blocks("2", "Push", "old")), // then both
		}, Replies: []Message{{TS: "2", ThreadTS: "1"}, {TS: "3", ThreadTS: "1", Broadcast: true}}},
		{TS: "3", ThreadTS: "1", Broadcast: true},
		{TS: "4", Visible: "U0ONCALL01"},
	})
	want := Tally{Lines: 2, Replies: 1, Edits: 5, Unseen: 1}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("tally (-got +want):\n%s", diff)
	}
}

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

// TestPressUnanswered: an app without an answer in time is reported as Slack does.
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

// TestAnswers: an answer has the fields that Slack's has, and no others.
func TestAnswers(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("parent"))
	post(t, api, say("reply"), slack.MsgOptionTS(ts))
	ask := func(method string, args url.Values) map[string]any {
		args.Set("token", testToken)
		status, body := get(t, s.APIURL()+method+"?"+args.Encode())
		var a map[string]any
		if err := json.Unmarshal([]byte(body), &a); err != nil || status != 200 {
			t.Fatalf("%s: status %d, %q, %v", method, status, body, err)
		}
		return a
	}
	names := func(a any) []string { return slices.Sorted(maps.Keys(a.(map[string]any))) }

	updated := ask("chat.update", url.Values{"channel": {alerts}, "ts": {ts}, "text": {"edited"}})
	want := []string{"app_id", "bot_id", "bot_profile", "edited", "team", "text", "type", "user"}
	if diff := cmp.Diff(names(updated["message"]), want); diff != "" {
		t.Errorf("message of chat.update (-got +want):\n%s", diff)
	}
	replies := ask("conversations.replies", url.Values{"channel": {alerts}, "ts": {ts}})
	if diff := cmp.Diff(names(replies), []string{"has_more", "messages", "ok", "response_metadata"}); diff != "" {
		t.Errorf("conversations.replies (-got +want):\n%s", diff)
	}
	history := ask("conversations.history", url.Values{"channel": {alerts}})
	if diff := cmp.Diff(names(history), []string{"has_more", "messages", "ok", "pin_count", "response_metadata"}); diff != "" {
		t.Errorf("conversations.history (-got +want):\n%s", diff)
	}
}
