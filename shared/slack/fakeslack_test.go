package slack

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	slackgo "github.com/slack-go/slack"

	"rollcall/local/fakeslack"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

// serveSlack starts the stand-in for Slack, with one channel.
func serveSlack(t *testing.T, cfg fakeslack.Config) (*fakeslack.Server, *slackapi.Client) {
	t.Helper()
	cfg.Token = "xoxb-1"
	if cfg.Channels == nil {
		cfg.Channels = []fakeslack.Channel{{ID: "C0000000001", Name: "alerts"}}
	}
	if cfg.Users == nil {
		cfg.Users = []fakeslack.User{{ID: "U0ONCALL01", Name: "oncall"}, {ID: "U0DEV00001", Name: "dev"}, {ID: "U0LEAD0001", Name: "lead"}}
		cfg.Groups = []fakeslack.Group{{ID: "S0LEADS001", Handle: "leads", Users: []string{"U0LEAD0001"}}}
	}
	s, err := fakeslack.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := slackapi.NewClient(s.APIURL(), cfg.Token, &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// plain is a message of one word.
func plain() slackapi.Message {
	block := slackgo.NewRichTextBlock("", slackgo.NewRichTextSection(slackgo.NewRichTextSectionTextElement("plain", nil)))
	return slackapi.Message{Text: "plain", Blocks: []slackgo.Block{block}, Tag: slackapi.Tag{Key: "prod|route/no-egress|rtb-0cd2"}}
}

// TestScenesAreTaken: the stand-in, which is as strict as Slack, takes every
// message of every scene.
func TestScenesAreTaken(t *testing.T) {
	s, c := serveSlack(t, fakeslack.Config{})
	for _, sc := range scenes() {
		postScene(t, c, "C0000000001", sc)
	}
	if got, want := len(s.Messages("C0000000001")), len(scenes()); got != want {
		t.Errorf("%d messages in the channel, want %d", got, want)
	}
}

func postScene(t *testing.T, c *slackapi.Client, channel string, sc scene) {
	t.Helper()
	if s := sc.incident.Chart; s != nil && s.File != "" {
		id, err := c.Upload(t.Context(), slackapi.File{Name: "addresses.png", Title: "Free addresses", Alt: s.Alt, Data: dummy(t)})
		if err != nil {
			t.Fatal(err)
		}
		shown := *s
		shown.File, sc.incident.Chart = id, &shown
	}
	ts, err := c.Post(t.Context(), channel, Render(sc.incident, sc.options()))
	if err != nil {
		t.Fatalf("%s: %v", sc.name, err)
	}
	for _, n := range sc.notes {
		if _, err := c.Reply(t.Context(), channel, ts, RenderNote(sc.incident, n)); err != nil {
			t.Fatalf("%s, %s: %v", sc.name, n.ID, err)
		}
		if f, is := Attached(sc.incident, n); is {
			if _, err := c.Share(t.Context(), channel, ts, f); err != nil {
				t.Fatalf("%s, %s: %v", sc.name, f.Name, err)
			}
		}
	}
}

// TestOneMessageForAnIncident: posted, found after a crash, edited, and closed
// in place.
func TestOneMessageForAnIncident(t *testing.T) {
	s, c := serveSlack(t, fakeslack.Config{})
	const channel = "C0000000001"
	i := incidentOf(noEgress(), launches(1, report.Waiting))
	since := time.Now()

	search := slackapi.Search{Channel: channel, Tag: Render(i, Options{}).Tag, Since: since}
	if found, err := c.Find(t.Context(), search); err != nil || found.TS != "" || found.Unsure != nil {
		t.Fatalf("before the post Find gave %+v, %v", found, err)
	}
	other := i
	other.Key.Resource = "rtb-0ffffffff"
	if _, err := c.Post(t.Context(), channel, Render(other, Options{})); err != nil {
		t.Fatal(err)
	}
	if err := s.Inject(fakeslack.Fault{Method: "chat.postMessage", Times: 1, Reset: true, Applied: true}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Post(t.Context(), channel, Render(i, Options{}))
	var e *slackapi.Error
	if !errors.As(err, &e) || e.Kind != slackapi.Unavailable {
		t.Fatalf("the answer was lost, and Post gave %v, want Unavailable", err)
	}
	found, err := c.Find(t.Context(), search)
	if err != nil || found.TS == "" {
		t.Fatalf("after the lost answer Find gave %+v, %v, want the message", found, err)
	}

	n := note(i, incident.Opened, i.Opened)
	reply, err := c.Reply(t.Context(), channel, found.TS, RenderNote(i, n))
	if err != nil {
		t.Fatal(err)
	}
	inThread := slackapi.Search{Channel: channel, Thread: found.TS, Tag: RenderNote(i, n).Tag, Since: since}
	if got, err := c.Find(t.Context(), inThread); err != nil || got.TS != reply {
		t.Errorf("Find in the thread gave %+v, %v, want %q", got, err, reply)
	}
	inThread.Tag.Note = "missed"
	if got, err := c.Find(t.Context(), inThread); err != nil || got.TS != "" {
		t.Errorf("Find of a reply that is not there gave %+v, %v", got, err)
	}

	closed := with(i, provedAt)
	if err := c.Update(t.Context(), channel, found.TS, Render(closed, Options{})); err != nil {
		t.Fatal(err)
	}
	if again, err := c.Find(t.Context(), search); err != nil || again != found {
		t.Errorf("after the edit Find gave %+v, %v, want %+v", again, err, found)
	}
	var texts []string
	for _, m := range s.Messages(channel) {
		texts = append(texts, m.Text)
	}
	if diff := cmp.Diff(texts, []string{Render(other, Options{}).Text, Render(closed, Options{}).Text}); diff != "" {
		t.Errorf("messages (-got +want):\n%s", diff)
	}
	if err := c.Update(t.Context(), channel, "1.000001", Render(closed, Options{})); !errors.As(err, &e) || e.Kind != slackapi.MessageGone {
		t.Errorf("an edit of a message that is not there gave %v, want MessageGone", err)
	}
}

// TestFindAmongMany turns pages.
func TestFindAmongMany(t *testing.T) {
	_, c := serveSlack(t, fakeslack.Config{})
	const channel = "C0000000001"
	i := incidentOf(noEgress(), nil)
	want, err := c.Post(t.Context(), channel, Render(i, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for range 250 {
		if _, err := c.Post(t.Context(), channel, plain()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := c.Find(t.Context(), slackapi.Search{Channel: channel, Tag: Render(i, Options{}).Tag, Since: time.Now().Add(-time.Hour)})
	if err != nil || got.TS != want {
		t.Errorf("Find gave %+v, %v, want %q", got, err, want)
	}
	got, err = c.Find(t.Context(), slackapi.Search{Channel: channel, Tag: Render(i, Options{}).Tag, Since: time.Now().Add(time.Hour)})
	if err != nil || got.TS != "" {
		t.Errorf("Find of later messages gave %+v, %v, want none", got, err)
	}
}

func TestWithoutScopeOrInvitation(t *testing.T) {
	_, c := serveSlack(t, fakeslack.Config{Scopes: []string{"chat:write"}})
	found, err := c.Find(t.Context(), slackapi.Search{Channel: "C0000000001", Tag: plain().Tag})
	if err != nil || found.Unsure == nil || found.Unsure.Scope != "channels:history" {
		t.Errorf("Find gave %+v, %v, want Unsure", found, err)
	}
	_, c = serveSlack(t, fakeslack.Config{Channels: []fakeslack.Channel{{ID: "C2", Name: "absent", BotAbsent: true}}})
	var e *slackapi.Error
	if _, err := c.Post(t.Context(), "C2", plain()); !errors.As(err, &e) || e.Kind != slackapi.Channel || !strings.Contains(err.Error(), "invite the bot") {
		t.Errorf("Post into a channel without the bot gave %v, want Channel", err)
	}
	if _, err := c.Post(t.Context(), "C3", plain()); !errors.As(err, &e) || e.Kind != slackapi.Channel {
		t.Errorf("Post into no channel gave %v, want Channel", err)
	}
}

func TestBroadcastIsShownInTheChannel(t *testing.T) {
	s, c := serveSlack(t, fakeslack.Config{
		Users:  []fakeslack.User{{ID: "U0ONCALL01", Name: "oncall"}, {ID: "U0DANA0001", Name: "Dana Weber"}},
		Groups: []fakeslack.Group{{ID: "S0ONCALL01", Handle: "platform-oncall", Users: []string{"U0ONCALL01"}}},
	})
	ts, err := c.Post(t.Context(), "C0000000001", plain())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Broadcast(t.Context(), "C0000000001", ts, RenderNote(incident.Incident{Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0a"}}, incident.Note{
		ID: "called", Reason: incident.IsCalled, Mention: []string{"S0ONCALL01", "U0DANA0001", "here"},
	})); err != nil {
		t.Fatal(err)
	}
	list := s.Messages("C0000000001")
	if len(list) != 2 || len(list[0].Replies) != 1 || !list[1].Broadcast || list[1].ThreadTS != ts {
		t.Fatalf("%d messages, want the reply in the channel too", len(list))
	}
	for _, want := range []string{`"usergroup_id":"S0ONCALL01"`, `"user_id":"U0DANA0001"`, `"range":"here"`} {
		if blocks := string(list[0].Replies[0].Blocks); !strings.Contains(blocks, want) {
			t.Errorf("no %s in %s", want, blocks)
		}
	}
}

// TestGallery posts every scene for people to look at: with ROLLCALL_GALLERY
// naming a file it writes the page's address there, and keeps the page up until
// the file is deleted.
func TestGallery(t *testing.T) {
	file := os.Getenv("ROLLCALL_GALLERY")
	s, c := serveSlack(t, fakeslack.Config{Now: func() time.Time { return began.Add(20 * time.Minute) }})
	only := os.Getenv("ROLLCALL_GALLERY_SCENES")
	for _, sc := range scenes() {
		if only == "" || strings.Contains(","+only+",", ","+sc.name+",") {
			postScene(t, c, "C0000000001", sc)
		}
	}
	if file == "" {
		return
	}
	hold(t, file, s.URL())
}

// hold writes a page's address to a file, and waits until the file is deleted.
func hold(t *testing.T, file, url string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(url+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			return
		}
	}
}
