package report

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/incident/response"

	"rollcall/shared/slack"
)

// channel is a Slack in memory: what was said, and how it fails.
type channel struct {
	messages []message
	files    []slack.File
	shared   []slack.File // in threads
	answers  []string
	members  map[string][]string // of user groups
	// enterprise is the app's organization, unplaced why its workspace is not known.
	enterprise string
	unplaced   error
	// fail, if set, decides on each call: an error before it is done, or, with
	// cut, after it.
	fail func(call string) (err error, cut bool)
	// calls are all that were made, in order.
	calls []string
}

type message struct {
	channel, ts, thread string
	text                string
	digest              string
	tag                 slack.Tag
	picture             string
	edits               int
	broadcast           bool
}

var (
	_ Slack  = (*channel)(nil)
	_ Files  = (*channel)(nil)
	_ People = (*channel)(nil)
)

func (c *channel) do(call string, act func()) error {
	c.calls = append(c.calls, call)
	if c.fail != nil {
		if err, cut := c.fail(call); err != nil {
			if cut {
				act()
			}
			return err
		}
	}
	act()
	return nil
}

func (c *channel) add(id, thread string, m slack.Message) (ts string) {
	ts = fmt.Sprintf("%d.000100", 1700000000+len(c.messages))
	c.messages = append(c.messages, message{channel: id, ts: ts, thread: thread, text: m.Text, digest: m.Digest(), tag: m.Tag, picture: pictureOf(m)})
	return ts
}

func (c *channel) Post(_ context.Context, id string, m slack.Message) (ts string, err error) {
	err = c.do("post", func() { ts = c.add(id, "", m) })
	if err != nil {
		return "", err
	}
	return ts, nil
}

func (c *channel) Upload(_ context.Context, f slack.File) (id string, err error) {
	err = c.do("upload", func() {
		c.files = append(c.files, f)
		id = fmt.Sprintf("F%09d", len(c.files))
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

func (c *channel) Share(_ context.Context, _, thread string, f slack.File) (id string, err error) {
	err = c.do("share", func() { c.shared = append(c.shared, f) })
	if err != nil {
		return "", err
	}
	return thread + "/" + f.Name, nil
}

func (c *channel) Reply(_ context.Context, id, thread string, m slack.Message) (ts string, err error) {
	if c.find(thread) < 0 {
		return "", &slack.Error{Kind: slack.MessageGone, Method: "chat.postMessage", Code: "thread_not_found"}
	}
	err = c.do("reply "+m.Tag.Note, func() { ts = c.add(id, thread, m) })
	if err != nil {
		return "", err
	}
	return ts, nil
}

func (c *channel) Broadcast(ctx context.Context, id, thread string, m slack.Message) (ts string, err error) {
	if ts, err = c.Reply(ctx, id, thread, m); err == nil {
		c.messages[c.find(ts)].broadcast = true
	}
	return ts, err
}

func (c *channel) Ephemeral(_ context.Context, id, user, thread string, m slack.Message) error {
	return c.do("ephemeral "+user, func() { c.answers = append(c.answers, user+": "+m.Text) })
}

// ours is the workspace of the tests' people.
const ours = "T0STAGE001"

// Workspace is known from before, as the session knows it, unless a test says that
// it is not.
func (c *channel) Workspace(context.Context) (response.Workspace, error) {
	return response.Workspace{ID: ours, Enterprise: c.enterprise}, c.unplaced
}

func (c *channel) GroupMembers(_ context.Context, group string) (users []string, err error) {
	err = c.do("members "+group, func() { users = c.members[group] })
	if err != nil {
		return nil, err
	}
	return users, nil
}

func (c *channel) Update(_ context.Context, _, ts string, m slack.Message) error {
	i := c.find(ts)
	if i < 0 {
		c.calls = append(c.calls, "update")
		return &slack.Error{Kind: slack.MessageGone, Method: "chat.update", Code: "message_not_found"}
	}
	return c.do("update", func() {
		c.messages[i].text, c.messages[i].digest, c.messages[i].picture = m.Text, m.Digest(), pictureOf(m)
		c.messages[i].edits++
	})
}

func (c *channel) Find(_ context.Context, s slack.Search) (found slack.Found, err error) {
	err = c.do("find "+s.Tag.Note, func() {
		for _, m := range c.messages {
			if m.channel == s.Channel && m.thread == s.Thread && m.tag == s.Tag {
				found.TS = m.ts
			}
		}
	})
	return found, err
}

// pictureOf is the file that a message shows.
func pictureOf(m slack.Message) string {
	body, _ := json.Marshal(m.Blocks)
	_, rest, _ := strings.Cut(string(body), `"slack_file":{"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func (c *channel) find(ts string) int {
	return slices.IndexFunc(c.messages, func(m message) bool { return m.ts == ts })
}

// posts and notes are what a reader of the channel sees.
func (c *channel) posts() (list []message) {
	for _, m := range c.messages {
		if m.thread == "" {
			list = append(list, m)
		}
	}
	return list
}

func (c *channel) notes() (ids []string) {
	for _, m := range c.messages {
		if m.thread != "" {
			ids = append(ids, m.tag.Note)
		}
	}
	return ids
}

// view is the channel without the number of edits and without timestamps.
func (c *channel) view() (lines []string) {
	for _, m := range c.messages {
		lines = append(lines, m.tag.Key+" "+m.tag.Note+": "+m.text+" "+m.digest)
	}
	return lines
}

func down(string) (error, bool) {
	return &slack.Error{Kind: slack.Unavailable, Method: "chat.postMessage", Status: 503}, false
}

func limited(string) (error, bool) {
	return &slack.Error{Kind: slack.RateLimited, Method: "chat.postMessage", Status: 429, RetryAfter: time.Hour}, false
}

func refused(string) (error, bool) {
	return &slack.Error{Kind: slack.Auth, Method: "chat.postMessage", Code: "invalid_auth"}, false
}

// cutOff takes the first call of that name and says that it failed.
func cutOff(name string) func(string) (error, bool) {
	done := false
	return func(call string) (error, bool) {
		if call != name || done {
			return nil, false
		}
		done = true
		return &slack.Error{Kind: slack.Unavailable, Method: "chat.postMessage"}, true
	}
}
