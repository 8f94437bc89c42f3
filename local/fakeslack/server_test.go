package fakeslack

import (
	"errors"
	"io"
	"net/http"
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
