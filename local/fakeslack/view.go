package fakeslack

import (
	"encoding/json"
	"hash/fnv"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/local/fakeslack/draw"
)

// messageView is a message as the template wants it.
type messageView struct {
	TS, Channel, Author, AuthorID, Initial string
	Bot, Thread, Ephemeral, Edited         bool
	Color, Versions, Replies               int
	Clock, Body, LastReply                 template.HTML
	Attachments                            []attachmentView
	Files                                  []fileView
	Reactions                              []reactionView
	Repliers                               []replier
	Link, HistoryLink                      string
	BroadcastLink                          string
}

type attachmentView struct {
	Color       string
	Pretext     template.HTML
	Title, Body template.HTML
	Footer      string
}

type fileView struct {
	File
	Image bool
	Kind  string
	// Snippet is the beginning of a text, More how many lines follow.
	Snippet string
	More    int
}

type reactionView struct {
	Emoji template.HTML
	Count int
}

type replier struct {
	Color   int
	Initial string
	Bot     bool
}

// color picks an avatar's colour.
func color(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % 8)
}

func initial(name string) string {
	for _, r := range name {
		return strings.ToUpper(string(r))
	}
	return "?"
}

// timeOf reads a message's timestamp; they are all written by stamp.
func timeOf(ts string) time.Time {
	whole, part, _ := strings.Cut(ts, ".")
	sec, _ := strconv.ParseInt(whole, 10, 64)
	micro, _ := strconv.ParseInt(part, 10, 64)
	return time.Unix(sec, micro*1000).UTC()
}

func (s *Server) view(c *channel, m *Message, thread bool) messageView {
	v := messageView{
		TS: m.TS, Channel: c.ID, AuthorID: m.User, Bot: m.Bot, Thread: thread, Ephemeral: m.Visible != "",
		Edited: m.Edited != nil, Color: color(m.User), Versions: len(m.Versions),
		Clock: template.HTML(draw.Clock(timeOf(m.TS), "{time}")), Body: s.body(m.content()),
		Link: pageLink(c.ID, "thread", m.TS), HistoryLink: pageLink(c.ID, "history", m.TS),
	}
	v.Author, _ = s.userName(m.User)
	v.Initial = initial(v.Author)
	v.Attachments = s.attachments(m.Attachments)
	for _, f := range m.Files {
		kind, _, _ := strings.Cut(f.Mimetype, ";")
		shown := fileView{File: f, Image: strings.HasPrefix(f.Mimetype, "image/"), Kind: kind}
		if u := s.uploads[f.ID]; u != nil && kind == "text/plain" {
			shown.Snippet, shown.More = snippet(u.data)
		}
		v.Files = append(v.Files, shown)
	}
	for _, r := range m.Reactions {
		v.Reactions = append(v.Reactions, reactionView{template.HTML(draw.WithEmoji(":" + r.Name + ":")), len(r.Users)})
	}
	if m.Broadcast && !thread {
		v.BroadcastLink = pageLink(c.ID, "thread", m.ThreadTS)
	}
	if thread || m.ThreadTS != "" {
		return v
	}
	replies := c.replies(m.TS)
	var users []string
	for _, r := range replies {
		if slices.Contains(users, r.User) || len(users) == 5 {
			continue
		}
		users = append(users, r.User)
		name, _ := s.userName(r.User)
		v.Repliers = append(v.Repliers, replier{color(r.User), initial(name), r.Bot})
	}
	if v.Replies = len(replies); v.Replies > 0 {
		v.LastReply = template.HTML(draw.Clock(timeOf(replies[v.Replies-1].TS), "{ago}"))
	}
	return v
}

// snippet is the first lines of a text, as Slack shows a text file.
func snippet(data []byte) (head string, more int) {
	const most = 12
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(data), "�"), "\n"), "\n")
	if len(lines) > most {
		lines, more = lines[:most], len(lines)-most
	}
	return strings.Join(lines, "\n"), more
}

// body draws the blocks, or the text where there are none.
func (s *Server) body(c content) template.HTML {
	if len(c.blocks) > 0 {
		return draw.Blocks(c.blocks, names{s})
	}
	if c.text == "" {
		return ""
	}
	return `<div class="b-text">` + draw.Mrkdwn(c.text, names{s}) + `</div>`
}

func (s *Server) attachments(raw json.RawMessage) []attachmentView {
	var list []struct {
		Color, Pretext, Title, Text, Fallback, Footer string
		TitleLink                                     string `json:"title_link"`
		Blocks                                        json.RawMessage
		Fields                                        []struct{ Title, Value string }
	}
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []attachmentView
	for _, a := range list {
		v := attachmentView{Color: a.Color, Footer: a.Footer}
		if a.Pretext != "" {
			v.Pretext = draw.Mrkdwn(a.Pretext, names{s})
		}
		if a.Title != "" {
			v.Title = template.HTML(draw.WithEmoji(draw.Unescape(a.Title)))
			if draw.WebURL.MatchString(a.TitleLink) {
				v.Title = template.HTML(draw.Anchor(a.TitleLink, string(v.Title)))
			}
		}
		switch {
		case len(a.Blocks) > 0:
			v.Body = draw.Blocks(a.Blocks, names{s})
		case a.Text != "":
			v.Body = `<div class="b-text">` + draw.Mrkdwn(a.Text, names{s}) + `</div>`
		}
		if len(a.Fields) > 0 {
			v.Body += `<div class="b-fields">`
			for _, f := range a.Fields {
				v.Body += template.HTML(`<div><b>`+draw.WithEmoji(draw.Unescape(f.Title))+`</b><br>`) + draw.Mrkdwn(f.Value, names{s}) + `</div>`
			}
			v.Body += `</div>`
		}
		out = append(out, v)
	}
	return out
}

func (s *Server) userName(id string) (string, bool) {
	if id == s.cfg.Bot.UserID {
		return s.cfg.Bot.Name, true
	}
	if u := s.user(id); u != nil {
		return u.Name, true
	}
	return id, false
}

func (s *Server) channelName(id string) (string, bool) {
	if c := s.store.byID(id); c != nil {
		return c.Name, true
	}
	return id, false
}

func (s *Server) groupName(id string) (string, bool) {
	for _, g := range s.cfg.Groups {
		if g.ID == id {
			return g.Handle, true
		}
	}
	return id, false
}

// names gives the drawing the names of people, channels and groups. The lock is
// held.
type names struct{ s *Server }

func (n names) UserName(id string) (string, bool)    { return n.s.userName(id) }
func (n names) ChannelName(id string) (string, bool) { return n.s.channelName(id) }
func (n names) GroupName(id string) (string, bool)   { return n.s.groupName(id) }
