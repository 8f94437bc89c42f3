package fakeslack

import (
	"regexp"
	"slices"
)

var emojiName = regexp.MustCompile(`^[a-z0-9_+\-]+(::skin-tone-[2-6])?$`)

func (s *Server) reactionsAdd(p params) (answer, error) {
	if err := p.need("channel", "name", "timestamp"); err != nil {
		return nil, err
	}
	c, err := s.writable(p["channel"])
	if err != nil {
		return nil, err
	}
	m := c.find(p["timestamp"])
	if m == nil {
		return nil, &apiError{code: "message_not_found"}
	}
	if !emojiName.MatchString(p["name"]) {
		return nil, &apiError{code: "invalid_name"}
	}
	if !m.react(p["name"], s.cfg.Bot.UserID) {
		return nil, &apiError{code: "already_reacted"}
	}
	s.changed(change{channel: c.ID, ts: m.TS, thread: m.ThreadTS})
	return answer{}, nil
}

// react adds a reaction; false if the user already had it.
func (m *Message) react(name, user string) bool {
	for i := range m.Reactions {
		if r := &m.Reactions[i]; r.Name == name {
			if slices.Contains(r.Users, user) {
				return false
			}
			r.Users = append(r.Users, user)
			return true
		}
	}
	m.Reactions = append(m.Reactions, Reaction{Name: name, Users: []string{user}})
	return true
}
