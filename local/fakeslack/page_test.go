package fakeslack

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/slack-go/slack"
)

const evil = `</span><script>alert(1)</script>"'><img src=x onerror=alert(1)>`

func TestNothingIsInjected(t *testing.T) {
	s, api := start(t, func(c *Config) {
		c.Workspace, c.Bot.Name, c.Users[1].Name, c.Channels[0].Topic = evil, evil, evil, evil
	})
	s.SetBanner(evil)
	mrk := slack.NewTextBlockObject(slack.MarkdownType, evil, false, false)
	btn := slack.NewButtonBlockElement(evil, evil, plainObj(evil))
	btn.URL = "javascript:alert(1)"
	btn.Confirm = slack.NewConfirmationBlockObject(plainObj(evil), mrk, plainObj("y"), plainObj("n"))
	ts := post(t, api, say(evil), slack.MsgOptionBlocks(
		slack.NewHeaderBlock(plainObj(evil)), slack.NewSectionBlock(mrk, []*slack.TextBlockObject{mrk}, slack.NewAccessory(btn)),
		slack.NewContextBlock("", mrk), slack.NewImageBlock("javascript:alert(1)", evil, "", plainObj(evil)),
	))
	post(t, api, say(evil), slack.MsgOptionTS(ts))
	if _, err := s.Say(alerts, "U0DANA0001", evil, ""); err != nil {
		t.Fatal(err)
	}
	post(t, api, slack.MsgOptionAttachments(slack.Attachment{Title: evil, TitleLink: "javascript:1", Text: evil, Footer: evil, Color: `"><script>`}))
	if _, err := api.UploadFile(slack.UploadFileParameters{Content: evil, FileSize: len(evil), Filename: evil, Title: evil, Channel: alerts}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/?thread=" + ts, "/?static=1&history=" + ts} {
		status, body := get(t, s.URL()+path)
		if status != 200 {
			t.Fatalf("%s: got status %d", path, status)
		}
		if n := strings.Count(body, "<script"); n != 1 {
			t.Errorf("%s: got %d scripts, want the page's own", path, n)
		}
		for _, bad := range []string{"<img src=x", `href="javascript:`, `src="javascript:`} {
			if strings.Contains(body, bad) {
				t.Errorf("%s: the page contains %q", path, bad)
			}
		}
	}
}

func TestPageParts(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("parent *bold*"))
	post(t, api, say("evidence"), slack.MsgOptionTS(ts))
	post(t, api, say("more"), slack.MsgOptionTS(ts))
	if _, _, _, err := api.UpdateMessage(alerts, ts, say("parent *changed*")); err != nil {
		t.Fatal(err)
	}
	if _, err := api.PostEphemeral(alerts, oncall, say("psst")); err != nil {
		t.Fatal(err)
	}
	another := post(t, api, say("another line"))
	tests := map[string]struct {
		path       string
		has, lacks []string
	}{
		"one message":     {"/?message=" + ts, []string{"<b>changed</b>", "<b>2 replies</b>"}, []string{"another line", "psst"}},
		"another message": {"/?message=" + another, []string{"another line"}, []string{"<b>changed</b>"}},
		"channel":         {"/", []string{"<b>changed</b>", "(edited)", "<b>2 replies</b>", "Only visible to you", `<aside id="pane" hidden>`}, []string{"evidence", "data-static"}},
		"thread":          {"/?thread=" + ts, []string{"evidence", "more", `data-list="thread:` + alerts + ":" + ts}, nil},
		"history":         {"/?history=" + ts, []string{"<b>bold</b>", "<b>changed</b>"}, nil},
		"static":          {"/?static=1", []string{"data-static"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, body := get(t, s.URL()+tt.path)
			for _, x := range tt.has {
				if !strings.Contains(body, x) {
					t.Errorf("the page lacks %q", x)
				}
			}
			for _, x := range tt.lacks {
				if strings.Contains(body, x) {
					t.Errorf("the page has %q", x)
				}
			}
		})
	}
	for _, path := range []string{"/?channel=C404", "/?thread=1.1", "/?message=1.1", "/archives/x/y", "/emoji/none.svg", "/web/none", "/nothing"} {
		if status, _ := get(t, s.URL()+path); status != http.StatusNotFound {
			t.Errorf("%s: got status %d, want 404", path, status)
		}
	}
}

func TestState(t *testing.T) {
	s, api := start(t, nil)
	s.SetBanner("route")
	post(t, api, say("x"))
	_, body := get(t, s.URL()+"/state.json")
	var got struct {
		Banner   string
		Calls    int
		Channels []struct{ Messages []Message }
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Banner != "route" || got.Calls != 1 || got.Channels[0].Messages[0].Text != "x" {
		t.Errorf("got %+v", got)
	}
}

func TestLive(t *testing.T) {
	s, api := start(t, nil)
	resp, err := http.Get(s.URL() + "/live")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	next := func() (f fragment) {
		t.Helper()
		for in.Scan() {
			if in.Text() != "event: fragment" {
				continue
			}
			in.Scan()
			if err := json.Unmarshal([]byte(strings.TrimPrefix(in.Text(), "data: ")), &f); err != nil {
				t.Fatal(err)
			}
			return f
		}
		t.Fatalf("the stream ended: %v", in.Err())
		return f
	}
	// The first line says that the page is watched.
	in.Scan()
	ts := post(t, api, say("hello"))
	if f := next(); f.List != "channel:"+alerts || f.TS != ts || !strings.Contains(f.HTML, "hello") {
		t.Errorf("got %+v, want the message in the channel", f)
	}
	if f := next(); f.List != "thread:"+alerts+":"+ts {
		t.Errorf("got list %q, want the thread", f.List)
	}
	reply := post(t, api, say("evidence"), slack.MsgOptionTS(ts))
	if f := next(); f.List != "thread:"+alerts+":"+ts || f.TS != reply {
		t.Errorf("got %+v, want the reply in the thread", f)
	}
	if f := next(); f.TS != ts || !strings.Contains(f.HTML, "1 reply") {
		t.Errorf("got %+v, want the parent with its summary", f)
	}
	if _, _, err := api.DeleteMessage(alerts, ts); err != nil {
		t.Fatal(err)
	}
	if f := next(); f.TS != ts || f.HTML != "" {
		t.Errorf("got %+v, want the end of the message", f)
	}
}

func TestPressOnThePage(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("x"), slack.MsgOptionBlocks(slack.NewActionBlock("row", slack.NewButtonBlockElement("go", "", plainObj("Go")))))
	send := func(path, contentType, body string) (int, string) {
		resp, err := http.Post(s.URL()+path, contentType, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var a struct{ Hint string }
		_ = json.NewDecoder(resp.Body).Decode(&a)
		return resp.StatusCode, a.Hint
	}
	body := `{"channel":"` + alerts + `","ts":"` + ts + `","action":"go"}`
	if status, hint := send("/press", "application/json", body); status != 200 || !strings.Contains(hint, "No interactivity URL") {
		t.Errorf("got %d %q, want the hint", status, hint)
	}
	if status, _ := send("/press", "text/plain", body); status != http.StatusBadRequest {
		t.Errorf("a form of another site was taken: %d", status)
	}
	if status, _ := send("/say", "application/json", `{"channel":"`+alerts+`","text":"a <b> & c"}`); status != 200 {
		t.Errorf("say: got %d", status)
	}
	if m := s.Messages(alerts); m[1].Text != "a &lt;b&gt; &amp; c" || m[1].User != oncall {
		t.Errorf("got %+v", m[1])
	}
}
