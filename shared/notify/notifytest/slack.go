package notifytest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/incident/response"
	"rollcall/shared/slack/slackapi"
)

// Slack is a Slack in memory: what was said, and how it fails.
type Slack struct {
	Messages []Message
	Files    []slackapi.File
	Shared   []slackapi.File // in threads
	Answers  []string
	Members  map[string][]string // of user groups
	// Enterprise is the app's organization, unplaced why its workspace is not known.
	Enterprise     string
	WorkspaceError error
	// Guests are users that are guests of the workspace; GuestError is why that is not known.
	Guests     []string
	GuestError error
	// Fail, if set, decides on each call: an error before it is done, or, with
	// cut, after it.
	Fail func(call string) (err error, cut bool)
	// Calls are all that were made, in order.
	Calls []string
}

type Message struct {
	Channel, Ts, thread string
	Text                string
	digest              string
	Tag                 slackapi.Tag
	Picture             string
	Edits               int
	Broadcast           bool
}

func (c *Slack) do(call string, act func()) error {
	c.Calls = append(c.Calls, call)
	if c.Fail != nil {
		if err, cut := c.Fail(call); err != nil {
			if cut {
				act()
			}
			return err
		}
	}
	act()
	return nil
}

func (c *Slack) add(id, thread string, m slackapi.Message) (ts string) {
	ts = fmt.Sprintf("%d.000100", 1700000000+len(c.Messages))
	c.Messages = append(c.Messages, Message{Channel: id, Ts: ts, thread: thread, Text: m.Text, digest: m.Digest(), Tag: m.Tag, Picture: pictureOf(m)})
	return ts
}

func (c *Slack) Post(_ context.Context, id string, m slackapi.Message) (ts string, err error) {
	err = c.do("post", func() { ts = c.add(id, "", m) })
	if err != nil {
		return "", err
	}
	return ts, nil
}

func (c *Slack) Upload(_ context.Context, f slackapi.File) (id string, err error) {
	err = c.do("upload", func() {
		c.Files = append(c.Files, f)
		id = fmt.Sprintf("F%09d", len(c.Files))
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

func (c *Slack) Share(_ context.Context, _, thread string, f slackapi.File) (id string, err error) {
	err = c.do("share", func() { c.Shared = append(c.Shared, f) })
	if err != nil {
		return "", err
	}
	return thread + "/" + f.Name, nil
}

func (c *Slack) Reply(_ context.Context, id, thread string, m slackapi.Message) (ts string, err error) {
	if c.find(thread) < 0 {
		return "", &slackapi.Error{Kind: slackapi.MessageGone, Method: "chat.postMessage", Code: "thread_not_found"}
	}
	err = c.do("reply "+m.Tag.Note, func() { ts = c.add(id, thread, m) })
	if err != nil {
		return "", err
	}
	return ts, nil
}

func (c *Slack) Broadcast(ctx context.Context, id, thread string, m slackapi.Message) (ts string, err error) {
	if ts, err = c.Reply(ctx, id, thread, m); err == nil {
		c.Messages[c.find(ts)].Broadcast = true
	}
	return ts, err
}

func (c *Slack) Ephemeral(_ context.Context, id, user, thread string, m slackapi.Message) error {
	return c.do("ephemeral "+user, func() { c.Answers = append(c.Answers, user+": "+m.Text) })
}

// Home is the workspace of the tests' people.
const Home = "T0STAGE001"

// Workspace is known from before, as the session knows it, unless a test says that
// it is not.
func (c *Slack) Workspace(context.Context) (response.Workspace, error) {
	return response.Workspace{ID: Home, Enterprise: c.Enterprise}, c.WorkspaceError
}

// Guest tells of the guests, unless a test says that it cannot be told.
func (c *Slack) Guest(_ context.Context, user string) (bool, error) {
	return slices.Contains(c.Guests, user), c.GuestError
}

func (c *Slack) GroupMembers(_ context.Context, group string) (users []string, err error) {
	err = c.do("members "+group, func() { users = c.Members[group] })
	if err != nil {
		return nil, err
	}
	return users, nil
}

func (c *Slack) Update(_ context.Context, _, ts string, m slackapi.Message) error {
	i := c.find(ts)
	if i < 0 {
		c.Calls = append(c.Calls, "update")
		return &slackapi.Error{Kind: slackapi.MessageGone, Method: "chat.update", Code: "message_not_found"}
	}
	return c.do("update", func() {
		c.Messages[i].Text, c.Messages[i].digest, c.Messages[i].Picture = m.Text, m.Digest(), pictureOf(m)
		c.Messages[i].Edits++
	})
}

func (c *Slack) Find(_ context.Context, s slackapi.Search) (found slackapi.Found, err error) {
	err = c.do("find "+s.Tag.Note, func() {
		for _, m := range c.Messages {
			if m.Channel == s.Channel && m.thread == s.Thread && m.Tag == s.Tag {
				found.TS = m.Ts
			}
		}
	})
	return found, err
}

// pictureOf is the file that a message shows.
func pictureOf(m slackapi.Message) string {
	body, _ := json.Marshal(m.Blocks)
	_, rest, _ := strings.Cut(string(body), `"slack_file":{"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func (c *Slack) find(ts string) int {
	return slices.IndexFunc(c.Messages, func(m Message) bool { return m.Ts == ts })
}

// Posts and notes are what a reader of the channel sees.
func (c *Slack) Posts() (list []Message) {
	for _, m := range c.Messages {
		if m.thread == "" {
			list = append(list, m)
		}
	}
	return list
}

func (c *Slack) Notes() (ids []string) {
	for _, m := range c.Messages {
		if m.thread != "" {
			ids = append(ids, m.Tag.Note)
		}
	}
	return ids
}

// View is the channel without the number of edits and without timestamps.
func (c *Slack) View() (lines []string) {
	for _, m := range c.Messages {
		lines = append(lines, m.Tag.Key+" "+m.Tag.Note+": "+m.Text+" "+m.digest)
	}
	return lines
}

func Down(string) (error, bool) {
	return &slackapi.Error{Kind: slackapi.Unavailable, Method: "chat.postMessage", Status: 503}, false
}

func RateLimited(string) (error, bool) {
	return &slackapi.Error{Kind: slackapi.RateLimited, Method: "chat.postMessage", Status: 429, RetryAfter: time.Hour}, false
}

func Refused(string) (error, bool) {
	return &slackapi.Error{Kind: slackapi.Auth, Method: "chat.postMessage", Code: "invalid_auth"}, false
}

// CutOff takes the first call of that name and says that it failed.
func CutOff(name string) func(string) (error, bool) {
	done := false
	return func(call string) (error, bool) {
		if call != name || done {
			return nil, false
		}
		done = true
		return &slackapi.Error{Kind: slackapi.Unavailable, Method: "chat.postMessage"}, true
	}
}
