//go:build slacktypes

package types

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/slack/slackapi"
	"rollcall/stage/fakeslack"
)

const (
	token   = "xoxb-second-opinion"
	channel = "C0000000001"
	person  = "U0ONCALL01"
)

// drive runs client.mjs against a new stand-in.
func drive(t *testing.T, scenes map[string][]message) (*fakeslack.Server, told) {
	t.Helper()
	_, node := packages(t)
	s, err := fakeslack.New(fakeslack.Config{
		Token: token, Channels: []fakeslack.Channel{{ID: channel, Name: "alerts"}}, Users: []fakeslack.User{{ID: person, Name: "oncall"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	// The picture that the messages show must be there before them.
	ours, err := slackapi.NewClient(s.APIURL(), token, &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Upload(t.Context(), slackapi.File{Name: "chart.png", Title: "Free addresses", Data: []byte("\x89PNG\r\n\x1a\nchart")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Inject(fakeslack.Fault{Method: "chat.postEphemeral", Times: 1, RetryAfter: time.Second}); err != nil {
		t.Fatal(err)
	}
	in := given{URL: s.APIURL(), Token: token, Channel: channel, User: person, Scenes: scenes, Wrong: map[string]json.RawMessage{}}
	for _, w := range wrong {
		in.Wrong[w.name] = json.RawMessage(w.block)
	}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), node, "client.mjs")
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(text), &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("node client.mjs: %v\n%s", err, errs.String())
	}
	var got told
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("read what the client got: %v\n%s", err, out.String())
	}
	if err := json.Unmarshal(out.Bytes(), &got.Answers); err != nil {
		t.Fatal(err)
	}
	return s, got
}

// TestClient: Slack's own client gets from the stand-in what it sent.
func TestClient(t *testing.T) {
	scenes, _ := played(t)
	s, got := drive(t, scenes)

	if a := got.Auth; !a.OK || a.UserID == "" || a.BotID == "" || a.TeamID == "" || a.URL == "" || !slices.Contains(a.Metadata.Scopes, "chat:write") {
		t.Errorf("auth.test gave %+v, want ids, an address and scopes", a)
	}
	history := map[string]shown{}
	for n, page := range got.History {
		if n < len(got.History)-1 && len(page) != 7 {
			t.Errorf("page %d holds %d messages, want 7", n, len(page))
		}
		for _, m := range page {
			history[m.TS] = m
		}
	}
	if len(history) != len(scenes) || len(got.History) < 2 {
		t.Errorf("history holds %d messages in %d pages, want %d in several", len(history), len(got.History), len(scenes))
	}
	for name, list := range scenes {
		post := got.Posts[name]
		m := history[post.TS]
		want := list[0].said(t)
		if name == "proved" {
			want = scenes["reopened"][0].said(t)
		}
		if diff := cmp.Diff(m.said(t), want); diff != "" {
			t.Errorf("%s in the history (-got +want):\n%s", name, diff)
		}
		// An edit with blocks leaves no mark; see the doc of fakeslack.
		if m.Edited != nil || m.Type != "message" || m.BotID == "" || m.Replies != len(list)-1 {
			t.Errorf("%s: got %+v", name, m)
		}
	}
	proved := got.Posts["proved"]
	if u := got.Update; u.TS != proved.TS || u.Channel != channel || u.Message.Text != scenes["reopened"][0].Text {
		t.Errorf("chat.update gave %+v", u)
	}
	var thread []said
	for n, m := range got.Thread.Messages {
		thread = append(thread, m.said(t))
		if m.ThreadTS != proved.TS {
			t.Errorf("message %d of the thread has thread_ts %q, want %q", n, m.ThreadTS, proved.TS)
		}
	}
	want := []said{scenes["reopened"][0].said(t)}
	for _, m := range scenes["proved"][1:] {
		want = append(want, m.said(t))
	}
	if diff := cmp.Diff(thread, want); diff != "" {
		t.Errorf("conversations.replies (-got +want):\n%s", diff)
	}
	if b := got.Bare; len(b.Messages) != 1 || b.Messages[0].Metadata != nil || !b.HasMore {
		t.Errorf("history without include_all_metadata gave %+v, want one message without", b)
	}

	if a, b := got.Home.View, got.HomeAgain.View; a.ID == "" || a.ID != b.ID || a.Hash == "" || a.Hash == b.Hash {
		t.Errorf("home pages %+v and %+v, want one view in two states", a, b)
	}
	upload(t, s, got)
	refusals(t, got)
	answers(t, got)
}

// upload looks at what waited for a 429, and at the file.
func upload(t *testing.T, s *fakeslack.Server, got told) {
	t.Helper()
	if diff := cmp.Diff(got.Limited, []limited{{1, "chat.postEphemeral"}}); diff != "" {
		t.Errorf("answers 429 (-got +want):\n%s", diff)
	}
	var statuses []int
	for _, c := range s.Calls() {
		if c.Method == "chat.postEphemeral" {
			statuses = append(statuses, c.Status)
		}
	}
	if diff := cmp.Diff(statuses, []int{429, 200}); diff != "" || got.Ephemeral.TS == "" {
		t.Errorf("chat.postEphemeral gave %q; statuses (-got +want):\n%s", got.Ephemeral.TS, diff)
	}
	const chart = "\x89PNG\r\n\x1a\nchart"
	if diff := cmp.Diff(got.Complete.Files, []uploaded{{"chart.png", "Launches", "image/png", len(chart)}}); diff != "" {
		t.Errorf("files.uploadV2 (-got +want):\n%s", diff)
	}
	// JavaScript wrote each byte as one character.
	var download []byte
	for _, r := range got.Download {
		download = append(download, byte(r))
	}
	if string(download) != chart {
		t.Errorf("the file came back as %q, want %q", download, chart)
	}
	for _, m := range s.Messages(channel) {
		if m.TS != got.Posts["proved"].TS {
			continue
		}
		last := m.Replies[len(m.Replies)-1]
		if last.Text != "by hour" || len(last.Files) != 1 {
			t.Errorf("the last reply is %+v, want the file", last)
		}
	}
}

// refusals looks at what the client reported as errors. A message that Slack's
// types refuse, the stand-in refuses too.
func refusals(t *testing.T, got told) {
	t.Helper()
	pointers := map[string]string{}
	for _, w := range wrong {
		pointers[w.name] = w.pointer
	}
	for name, r := range got.Refused {
		pointer, isWrong := pointers[name]
		want := name
		if isWrong {
			want = "invalid_blocks"
		}
		if r.Error != want || r.Code != "slack_webapi_platform_error" {
			t.Errorf("%s: got %+v, want %q", name, r, want)
			continue
		}
		if isWrong && (len(r.Messages) != 1 || !strings.HasSuffix(r.Messages[0], "[json-pointer:"+pointer+"]")) {
			t.Errorf("%s: got %q, want one message at %q", name, r.Messages, pointer)
		}
	}
	if got, want := len(got.Refused), len(wrong)+7; got != want {
		t.Errorf("%d refusals, want %d", got, want)
	}
}

// answers holds what the stand-in answered against the types of Slack's client,
// which are made from real answers: a field that is not in them, or of another
// type, does not compile.
func answers(t *testing.T, got told) {
	t.Helper()
	typed := func(kind, answer string) string {
		return "import type { " + kind + " } from '@slack/web-api';\n\nexport default " + answer + " satisfies " + kind + ";\n"
	}
	// A wrong answer shows that the compiler looks.
	const wrong = "wrong-field.ts"
	files := map[string]string{
		"tsconfig.json": settings, wrong: typed("ConversationsHistoryResponse", `{"ok": true, "messages": [{"thread": "a"}]}`),
	}
	for name, kind := range map[string]string{
		"auth": "AuthTestResponse", "post": "ChatPostMessageResponse", "update": "ChatUpdateResponse",
		"thread": "ConversationsRepliesResponse", "bare": "ConversationsHistoryResponse",
		"ephemeral": "ChatPostEphemeralResponse", "home": "ViewsPublishResponse", "homeAgain": "ViewsPublishResponse", "complete": "FilesCompleteUploadExternalResponse",
	} {
		var fields any
		if err := json.Unmarshal(got.Answers[name], &fields); err != nil {
			t.Fatalf("answer %s: %v", name, err)
		}
		dropBlocks(fields)
		answer, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		files["answer-"+name+".ts"] = typed(kind, string(answer))
	}
	looked := false
	for _, r := range compile(t, files) {
		if r.file == wrong {
			looked = true
			continue
		}
		t.Errorf("%s: %s", r.file, r.text)
	}
	if !looked {
		t.Errorf("%s compiles", wrong)
	}
}

// dropBlocks takes the blocks out of an answer: their types there are enums,
// which no JSON is. They are compared with what was sent instead.
func dropBlocks(value any) {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "blocks")
		for _, v := range value {
			dropBlocks(v)
		}
	case []any:
		for _, v := range value {
			dropBlocks(v)
		}
	}
}
