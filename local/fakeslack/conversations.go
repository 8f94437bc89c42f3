package fakeslack

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
)

// stampOf writes a time as Slack writes timestamps.
func stampOf(t time.Time) string {
	us := t.UnixMicro()
	return fmt.Sprintf("%d.%06d", us/1e6, us%1e6)
}

// readable finds the channel of a call that reads.
func (s *Server) readable(id string) (*channel, error) {
	c := s.store.byID(id)
	switch {
	case c == nil || c.BotAbsent && c.Private:
		return nil, &apiError{code: "channel_not_found"}
	case c.BotAbsent:
		return nil, &apiError{code: "not_in_channel"}
	}
	scope := "channels:history"
	if c.Private {
		scope = "groups:history"
	}
	return c, checkScope(s.cfg.Scopes, []string{scope})
}

// window keeps the messages between oldest and latest. Timestamps of the same
// length sort as text.
func window(list []*Message, p params) ([]*Message, error) {
	for _, name := range []string{"oldest", "latest"} {
		if v := p[name]; v != "" && v != "0" && strings.Trim(v, "0123456789.") != "" {
			return nil, &apiError{code: "invalid_ts_" + name}
		}
	}
	oldest, latest, inclusive := pad(p["oldest"]), pad(p["latest"]), p.flag("inclusive")
	return slices.DeleteFunc(slices.Clone(list), func(m *Message) bool {
		if inclusive && (m.TS == oldest || m.TS == latest) {
			return false
		}
		return oldest != "" && m.TS <= oldest || latest != "" && m.TS >= latest
	}), nil
}

// pad gives a timestamp six decimals, so that "1700000000" and "1700000000.5"
// compare.
func pad(ts string) string {
	if ts == "" || ts == "0" {
		return ""
	}
	whole, part, _ := strings.Cut(ts, ".")
	return whole + "." + (part + "000000")[:6]
}

const cursorPrefix = "next_ts:"

// page cuts list after limit messages, starting at the cursor.
func page(list []*Message, cursor string, limit int) (part []*Message, next string, err error) {
	start := 0
	if cursor != "" {
		text, err := base64.StdEncoding.DecodeString(cursor)
		ts, ok := strings.CutPrefix(string(text), cursorPrefix)
		if err != nil || !ok {
			return nil, "", &apiError{code: "invalid_cursor"}
		}
		start = slices.IndexFunc(list, func(m *Message) bool { return m.TS == ts })
		if start < 0 {
			return nil, "", &apiError{code: "invalid_cursor"}
		}
	}
	end := min(len(list), start+limit)
	if end < len(list) {
		next = base64.StdEncoding.EncodeToString([]byte(cursorPrefix + list[end].TS))
	}
	return list[start:end], next, nil
}

func (s *Server) conversationsHistory(p params) (answer, error) {
	if err := p.need("channel"); err != nil {
		return nil, err
	}
	c, err := s.readable(p["channel"])
	if err != nil {
		return nil, err
	}
	limit, err := p.limit(100, 999)
	if err != nil {
		return nil, err
	}
	list, err := window(c.history(), p)
	if err != nil {
		return nil, err
	}
	slices.Reverse(list)
	a, err := s.listMessages(c, list, p, limit)
	if err != nil {
		return nil, err
	}
	a["pin_count"] = 0
	return a, nil
}

func (s *Server) conversationsReplies(p params) (answer, error) {
	if err := p.need("channel", "ts"); err != nil {
		return nil, err
	}
	c, err := s.readable(p["channel"])
	if err != nil {
		return nil, err
	}
	limit, err := p.limit(1000, 1000)
	if err != nil {
		return nil, err
	}
	m := c.find(p["ts"])
	if m == nil {
		return nil, &apiError{code: "thread_not_found"}
	}
	if m.ThreadTS != "" {
		if m = c.find(m.ThreadTS); m == nil {
			return nil, &apiError{code: "thread_not_found"}
		}
	}
	list, err := window(c.replies(m.TS), p)
	if err != nil {
		return nil, err
	}
	return s.listMessages(c, append([]*Message{m}, list...), p, limit)
}

func (s *Server) listMessages(c *channel, list []*Message, p params, limit int) (answer, error) {
	list, next, err := page(list, p["cursor"], limit)
	if err != nil {
		return nil, err
	}
	out := make([]answer, len(list))
	for i, m := range list {
		out[i] = s.wire(c, m, p.flag("include_all_metadata"))
	}
	return answer{
		"messages": out, "has_more": next != "",
		"response_metadata": answer{"next_cursor": next},
	}, nil
}

func (s *Server) conversationsInfo(p params) (answer, error) {
	if err := p.need("channel"); err != nil {
		return nil, err
	}
	c := s.store.byID(p["channel"])
	if c == nil || c.BotAbsent && c.Private {
		return nil, &apiError{code: "channel_not_found"}
	}
	a := c.wire()
	if p.flag("include_num_members") {
		a["num_members"] = len(s.cfg.Users) + 1
	}
	return answer{"channel": a}, nil
}

func (s *Server) conversationsList(p params) (answer, error) {
	limit, err := p.limit(100, 1000)
	if err != nil {
		return nil, err
	}
	types := p["types"]
	if types == "" {
		types = "public_channel"
	}
	var list []*channel
	for _, c := range s.store.channels {
		kind := "public_channel"
		if c.Private {
			kind = "private_channel"
		}
		hidden := c.Private && c.BotAbsent || c.Archived && p.flag("exclude_archived")
		if !hidden && slices.Contains(strings.Split(types, ","), kind) {
			list = append(list, c)
		}
	}
	start := 0
	if cursor := p["cursor"]; cursor != "" {
		id, err := base64.StdEncoding.DecodeString(cursor)
		start = slices.IndexFunc(list, func(c *channel) bool { return c.ID == string(id) })
		if err != nil || start < 0 {
			return nil, &apiError{code: "invalid_cursor"}
		}
	}
	end := min(len(list), start+limit)
	next := ""
	if end < len(list) {
		next = base64.StdEncoding.EncodeToString([]byte(list[end].ID))
	}
	out := []answer{}
	for _, c := range list[start:end] {
		out = append(out, c.wire())
	}
	return answer{"channels": out, "response_metadata": answer{"next_cursor": next}}, nil
}
