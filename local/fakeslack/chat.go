package fakeslack

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

const (
	// maxText is where chat.postMessage cuts the text, in characters.
	maxText = 40000
	// maxUpdateText is what chat.update takes, in bytes.
	maxUpdateText = 4000
	// maxAttachments is the most attachments of a message.
	maxAttachments = 100
)

var timestamp = regexp.MustCompile(`^\d{10}\.\d{6}$`)

func itoa(n int) string { return strconv.Itoa(n) }

// writable finds the channel of a call that writes.
func (s *Server) writable(name string) (*channel, error) {
	c := s.store.byName(name)
	switch {
	case c == nil:
		return nil, &apiError{code: "channel_not_found"}
	case c.BotAbsent && c.Private:
		// A private channel does not exist for those outside.
		return nil, &apiError{code: "channel_not_found"}
	case c.BotAbsent:
		return nil, &apiError{code: "not_in_channel"}
	case c.Archived:
		return nil, &apiError{code: "is_archived"}
	}
	return c, nil
}

// parseContent reads and checks what a message says.
func (s *Server) parseContent(p params) (content, error) {
	c := content{text: p["text"]}
	if text := p["blocks"]; text != "" {
		blocks, err := checkBlocks(json.RawMessage(text), func() string { return s.store.id("b") })
		if err != nil {
			return c, err
		}
		if err := s.checkPictures(blocks); err != nil {
			return c, err
		}
		c.blocks = blocks
	}
	if text := p["attachments"]; text != "" {
		attachments, err := checkAttachments(json.RawMessage(text))
		if err != nil {
			return c, err
		}
		c.attachments = attachments
	}
	metadata, err := checkMetadata(p["metadata"])
	c.metadata = metadata
	return c, err
}

func checkAttachments(raw json.RawMessage) (json.RawMessage, error) {
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, &apiError{code: "invalid_attachments"}
	}
	if len(list) > maxAttachments {
		return nil, &apiError{code: "too_many_attachments"}
	}
	for _, a := range list {
		if blocks := a["blocks"]; len(blocks) > 0 {
			if _, err := checkBlocks(blocks, func() string { return "" }); err != nil {
				return nil, err
			}
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	return raw, nil
}

// checkMetadata takes {event_type, event_payload}; an empty object means none.
func checkMetadata(text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	var m struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return nil, &apiError{code: "invalid_metadata_format"}
	}
	if m.Type == "" && m.Payload == nil {
		return nil, nil
	}
	if m.Type == "" || m.Payload == nil {
		return nil, &apiError{code: "invalid_metadata_schema"}
	}
	return json.RawMessage(text), nil
}

// cut shortens text to n characters.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n])
	}
	return text
}

func (c content) empty() bool {
	return strings.TrimSpace(c.text) == "" && len(c.blocks) == 0 && len(c.attachments) == 0
}

// compose checks the arguments of a new message and builds it.
func (s *Server) compose(c *channel, p params) (*Message, error) {
	said, err := s.parseContent(p)
	if err != nil {
		return nil, err
	}
	if said.empty() {
		return nil, &apiError{code: "no_text"}
	}
	thread, err := c.parent(p["thread_ts"])
	if err != nil {
		return nil, err
	}
	return &Message{
		User: s.cfg.Bot.UserID, Bot: true, ThreadTS: thread, Broadcast: thread != "" && p.flag("reply_broadcast"),
		Text: cut(said.text, maxText), Blocks: said.blocks, Attachments: said.attachments, Metadata: said.metadata,
	}, nil
}

// parent checks the timestamp of a thread. A reply to a deleted message becomes
// a message of the channel, as in Slack.
func (c *channel) parent(ts string) (string, error) {
	if ts == "" {
		return "", nil
	}
	if !timestamp.MatchString(ts) {
		return "", &apiError{code: "invalid_thread_ts", messages: []string{"[ERROR] " + ts + " is not a valid thread_ts"}}
	}
	if c.deleted[ts] {
		return "", nil
	}
	m := c.find(ts)
	switch {
	case m == nil:
		return "", &apiError{code: "thread_not_found"}
	case m.ThreadTS != "":
		return "", &apiError{code: "cannot_reply_to_message"}
	}
	return ts, nil
}

func (s *Server) chatPostMessage(p params) (answer, error) {
	if err := p.need("channel"); err != nil {
		return nil, err
	}
	c, err := s.writable(p["channel"])
	if err != nil {
		return nil, err
	}
	m, err := s.compose(c, p)
	if err != nil {
		return nil, err
	}
	s.post(c, m)
	return answer{"channel": c.ID, "ts": m.TS, "message": s.wire(c, m, true)}, nil
}

func (s *Server) chatPostEphemeral(p params) (answer, error) {
	if err := p.need("channel", "user"); err != nil {
		return nil, err
	}
	c, err := s.writable(p["channel"])
	if err != nil {
		return nil, err
	}
	if s.user(p["user"]) == nil {
		return nil, &apiError{code: "user_not_in_channel"}
	}
	m, err := s.compose(c, p)
	if err != nil {
		return nil, err
	}
	m.Visible, m.Broadcast = p["user"], false
	s.post(c, m)
	return answer{"message_ts": m.TS}, nil
}

func (s *Server) chatUpdate(p params) (answer, error) {
	if err := p.need("channel", "ts"); err != nil {
		return nil, err
	}
	c, m, err := s.own(p["channel"], p["ts"], "cant_update_message")
	if err != nil {
		return nil, err
	}
	if len(p["text"]) > maxUpdateText {
		return nil, &apiError{code: "msg_too_long"}
	}
	to, err := s.parseContent(p)
	if err != nil {
		return nil, err
	}
	_, hasText := p["text"]
	hasText = hasText && p["text"] != ""
	_, hasBlocks := p["blocks"]
	_, hasAttachments := p["attachments"]
	_, hasMetadata := p["metadata"]
	// What is left out stays, except that new text alone takes the blocks away.
	if !hasBlocks && !hasText {
		to.blocks = m.Blocks
	}
	if !hasText {
		to.text = m.Text
	}
	if !hasAttachments {
		to.attachments = m.Attachments
	}
	if !hasMetadata {
		to.metadata = m.Metadata
	}
	if !hasText && !hasBlocks && !hasAttachments && !hasMetadata || to.empty() {
		return nil, &apiError{code: "no_text"}
	}
	s.edit(c, m, to)
	return answer{"channel": c.ID, "ts": m.TS, "text": m.Text, "message": s.wireContent(m, true)}, nil
}

// edit changes m and tells the pages. The lock is held.
func (s *Server) edit(c *channel, m *Message, to content) {
	now := s.cfg.Now()
	m.edit(to, s.cfg.Bot.UserID, stampOf(now), now)
	s.changed(change{channel: c.ID, ts: m.TS, thread: m.ThreadTS})
}

// own finds a message that the app wrote itself.
func (s *Server) own(channelID, ts, denied string) (*channel, *Message, error) {
	c := s.store.byID(channelID)
	if c == nil {
		return nil, nil, &apiError{code: "channel_not_found"}
	}
	m := c.find(ts)
	switch {
	case m == nil:
		return nil, nil, &apiError{code: "message_not_found"}
	case !m.Bot:
		return nil, nil, &apiError{code: denied}
	}
	return c, m, nil
}

func (s *Server) chatDelete(p params) (answer, error) {
	if err := p.need("channel", "ts"); err != nil {
		return nil, err
	}
	c, m, err := s.own(p["channel"], p["ts"], "cant_delete_message")
	if err != nil {
		return nil, err
	}
	c.remove(m.TS)
	s.changed(change{channel: c.ID, ts: m.TS, thread: m.ThreadTS})
	return answer{"channel": c.ID, "ts": m.TS}, nil
}

func (s *Server) chatGetPermalink(p params) (answer, error) {
	if err := p.need("channel", "message_ts"); err != nil {
		return nil, err
	}
	c := s.store.byID(p["channel"])
	if c == nil {
		return nil, &apiError{code: "channel_not_found"}
	}
	m := c.find(p["message_ts"])
	if m == nil {
		return nil, &apiError{code: "message_not_found"}
	}
	link := s.url + "/archives/" + c.ID + "/p" + strings.Replace(m.TS, ".", "", 1)
	if m.ThreadTS != "" {
		link += "?thread_ts=" + m.ThreadTS + "&cid=" + c.ID
	}
	return answer{"channel": c.ID, "permalink": link}, nil
}
