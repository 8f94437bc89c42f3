package fakeslack

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
)

// told is an app that keeps what it was sent, and answers what a test says.
type told struct {
	status int
	kind   string
	body   string
	header http.Header
	got    []*http.Request
	bodies []string
}

func (a *told) start(t *testing.T) string {
	t.Helper()
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		v, err := slack.NewSecretsVerifier(r.Header, testSecret)
		if err == nil {
			_, _ = v.Write(body)
			err = v.Ensure()
		}
		if err != nil {
			t.Errorf("signature: %v", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		a.got, a.bodies = append(a.got, r), append(a.bodies, string(body))
		for name := range a.header {
			w.Header().Set(name, a.header.Get(name))
		}
		w.Header().Set("Content-Type", a.kind)
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(app.Close)
	return app.URL
}

// A command is what slack-go reads as one, and what the app answers at once is for its
// sender alone; later answers come by its response_url.
func TestCommand(t *testing.T) {
	a := &told{status: 200, kind: "application/json", body: `{"response_type":"ephemeral","text":"Looking…"}`}
	s, _ := start(t, nil)
	typed := Command{Channel: alerts, Text: "/rollcall  why i-1 ", User: "U0DANA0001"}
	if err := s.Command(t.Context(), typed); !errors.Is(err, ErrNoInteractivityURL) {
		t.Errorf("without an address: %v", err)
	}
	s.SetInteractivityURL(a.start(t))
	if err := s.Command(t.Context(), typed); err != nil {
		t.Fatal(err)
	}
	c, err := slack.SlashCommandParse(a.got[0])
	if err != nil || c.Command != "/rollcall" || c.Text != "why i-1" || c.UserID != "U0DANA0001" || c.ChannelID != alerts || c.TeamID != teamID {
		t.Errorf("%+v, %v", c, err)
	}
	for range replyURLUses {
		resp, err := http.Post(c.ResponseURL, "application/json", strings.NewReader(`{"text":"later","response_type":"ephemeral"}`))
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v, %v", resp, err)
		}
		resp.Body.Close()
	}
	resp, err := http.Post(c.ResponseURL, "application/json", strings.NewReader(`{"text":"too often"}`))
	if err != nil || resp.StatusCode != 404 {
		t.Errorf("a sixth answer: %v, %v", resp, err)
	}
	resp.Body.Close()
	m := s.Messages(alerts)
	if len(m) != 1+replyURLUses || m[0].Text != "Looking…" || m[0].Visible != "U0DANA0001" || m[1].Visible != "U0DANA0001" {
		t.Errorf("the channel has %+v", m)
	}
}

// Where Slack takes no command, or the app fails, the person reads what Slack says.
func TestCommandsInVain(t *testing.T) {
	s, _ := start(t, func(c *Config) {
		c.Users = append(c.Users, User{ID: "U0GUEST001", Name: "guest", Team: "T0OTHER001"})
	})
	a := &told{status: 500}
	s.SetInteractivityURL(a.start(t))
	for name, test := range map[string]struct {
		c    Command
		want string
	}{
		"another command":    {Command{Channel: alerts, Text: "/giphy cat"}, "/giphy is not a valid command"},
		"in a thread":        {Command{Channel: alerts, Text: "/rollcall status", Thread: "1.1"}, "not supported in threads"},
		"of another company": {Command{Channel: alerts, Text: "/rollcall status", User: "U0GUEST001"}, "is not a valid command"},
		"the app fails":      {Command{Channel: alerts, Text: "/rollcall status"}, `failed with the error "dispatch_failed"`},
	} {
		var says *CommandError
		if err := s.Command(t.Context(), test.c); !errors.As(err, &says) || !strings.Contains(says.Says, test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if len(a.got) != 1 {
		t.Errorf("the app was sent %q", a.bodies)
	}
	scopeless, _ := start(t, func(c *Config) { c.Scopes = []string{"chat:write"} })
	scopeless.SetInteractivityURL("http://127.0.0.1:1")
	var says *CommandError
	if err := scopeless.Command(t.Context(), Command{Channel: alerts, Text: "/rollcall status"}); !errors.As(err, &says) {
		t.Errorf("without the scope commands: %v", err)
	}
}

func TestVerifyEvents(t *testing.T) {
	s, _ := start(t, nil)
	a := &told{status: 200, body: "something else"}
	s.SetInteractivityURL(a.start(t))
	if err := s.VerifyEvents(t.Context()); err == nil || !strings.Contains(err.Error(), "challenge") {
		t.Errorf("no challenge comes back: %v", err)
	}
	e, err := slackevents.ParseEvent([]byte(a.bodies[0]), slackevents.OptionNoVerifyToken())
	if err != nil || e.Type != slackevents.URLVerification {
		t.Errorf("%+v, %v", e, err)
	}
}

// Opening the home page is an event that slack-go reads; one that is not taken comes three
// times more, unless the app says that it is not to.
func TestOpenHome(t *testing.T) {
	s, api := start(t, nil)
	a := &told{status: 200}
	s.SetInteractivityURL(a.start(t))
	view := slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewActionBlock("row", slack.NewButtonBlockElement("end", "ab", plainObj("End")))}}}
	first, err := api.PublishView(oncall, view, "")
	if err != nil || first.Hash == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	if err := s.OpenHome(context.Background(), oncall); err != nil {
		t.Fatal(err)
	}
	e, err := slackevents.ParseEvent([]byte(a.bodies[0]), slackevents.OptionNoVerifyToken())
	opened, ok := e.InnerEvent.Data.(*slackevents.AppHomeOpenedEvent)
	if err != nil || !ok || opened.User != oncall || opened.Tab != "home" || opened.View == nil || opened.View.Hash != first.Hash {
		t.Errorf("%+v, %v", e, err)
	}
	if err := s.Press(t.Context(), Press{Home: true, ActionID: "end", User: oncall}); err != nil {
		t.Fatal(err)
	}
	call, err := slack.InteractionCallbackParse(a.got[1])
	if err != nil || call.Container.Type != "view" || call.View.Hash != first.Hash || call.ResponseURL != "" || call.ActionCallback.BlockActions[0].Value != "ab" {
		t.Errorf("%+v, %v", call, err)
	}
	a.status = 500
	if err := s.OpenHome(t.Context(), oncall); err == nil || len(a.got) != 2+4 || a.got[5].Header.Get("X-Slack-Retry-Num") != "3" || a.got[5].Header.Get("X-Slack-Retry-Reason") != "http_error" {
		t.Errorf("%v, sent %d times", err, len(a.got)-2)
	}
	a.header = http.Header{"X-Slack-No-Retry": {"1"}}
	if err := s.OpenHome(t.Context(), oncall); err == nil || len(a.got) != 7 {
		t.Errorf("%v, sent %d times", err, len(a.got)-6)
	}
	if status, body := get(t, s.URL()+"/?home=1&as="+oncall); status != 200 || !strings.Contains(body, `data-list="home:`+oncall) || !strings.Contains(body, ">End<") {
		t.Errorf("%d: %s", status, body)
	}
}

// A home page is held against Slack's rules, and drawn over the state alone that it names.
func TestPublishHome(t *testing.T) {
	s, api := start(t, nil)
	blocks := func(n int) slack.HomeTabViewRequest {
		v := slack.HomeTabViewRequest{Type: slack.VTHomeTab}
		for range n {
			v.Blocks.BlockSet = append(v.Blocks.BlockSet, slack.NewDividerBlock())
		}
		return v
	}
	first, err := api.PublishView(oncall, blocks(maxHomeBlocks), "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := api.PublishView(oncall, blocks(1), first.Hash)
	if err != nil || second.ID != first.ID || second.Hash == first.Hash {
		t.Errorf("%+v, %v", second, err)
	}
	for name, test := range map[string]struct {
		user, hash string
		view       slack.HomeTabViewRequest
		want       string
	}{
		"one block too many":  {oncall, "", blocks(maxHomeBlocks + 1), "invalid_arguments"},
		"nobody":              {"U0NOBODY01", "", blocks(1), "invalid_arguments"},
		"an older state":      {oncall, first.Hash, blocks(1), "hash_conflict"},
		"a state of nothing":  {"U0DANA0001", first.Hash, blocks(1), "hash_conflict"},
		"a block that is not": {oncall, "", slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewActionBlock("x")}}}, "invalid_arguments"},
	} {
		if _, err := api.PublishView(test.user, test.view, test.hash); code(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	if n := len(s.Views()); n != 2 {
		t.Errorf("%d views are kept", n)
	}
}
