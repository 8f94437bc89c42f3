package fakeslack

import (
	"errors"
	"net/http"
	"time"
)

// A response_url can be used five times within half an hour:
// docs.slack.dev/interactivity/handling-user-interaction.
const (
	replyURLUses = 5
	replyURLLife = 30 * time.Minute
)

// replyURL is a response_url that was given out.
type replyURL struct {
	channel, ts, thread, user string
	made                      time.Time
	left                      int
}

// newReplyURL makes a response_url. The lock is held.
func (s *Server) newReplyURL(channel, ts, thread, user string) string {
	id := s.store.id("R")
	s.replies[id] = &replyURL{channel, ts, thread, user, s.cfg.Wall(), replyURLUses}
	return s.url + "/response/" + id
}

// serveResponseURL takes a message for a response_url.
func (s *Server) serveResponseURL(w http.ResponseWriter, r *http.Request) {
	call := Call{Method: "response_url", Wall: s.cfg.Wall(), Stage: s.cfg.Now(), Status: http.StatusOK}
	p, _, err := readCall(r)
	call.Params = p.withoutToken()
	if err == nil {
		call.TS, err = s.respond(r.PathValue("id"), p)
	}
	a := answer{"ok": true}
	var refused *apiError
	switch {
	case errors.As(err, &refused):
		a, call.Error = refused.answer(), refused.code
		if refused.code == "expired_url" || refused.code == "used_url" {
			call.Status = http.StatusNotFound
		}
	case err != nil:
		a, call.Error, call.Status = answer{"ok": false, "error": "invalid_payload"}, "invalid_payload", http.StatusBadRequest
	}
	s.record(call)
	writeJSON(w, call.Status, a)
}

// respond carries out what was sent to a response_url.
func (s *Server) respond(id string, p params) (ts string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.replies[id]
	switch {
	case u == nil || s.cfg.Wall().Sub(u.made) > replyURLLife:
		return "", &apiError{code: "expired_url"}
	case u.left == 0:
		return "", &apiError{code: "used_url"}
	}
	u.left--
	c := s.store.byID(u.channel)
	original := c.findAny(u.ts)
	if p.flag("delete_original") && original != nil {
		c.remove(u.ts)
		s.changed(change{channel: c.ID, ts: u.ts, thread: u.thread})
		return u.ts, nil
	}
	said, err := s.parseContent(p)
	if err != nil {
		return "", err
	}
	if said.empty() {
		return "", &apiError{code: "no_text"}
	}
	if p.flag("replace_original") && original != nil {
		if _, ok := p["metadata"]; !ok {
			said.metadata = original.Metadata
		}
		s.edit(c, original, said)
		return original.TS, nil
	}
	m := &Message{
		User: s.cfg.Bot.UserID, Bot: true, Visible: u.user, ThreadTS: u.thread,
		Text: said.text, Blocks: said.blocks, Attachments: said.attachments, Metadata: said.metadata,
	}
	if p["response_type"] == "in_channel" {
		m.Visible = ""
	}
	s.post(c, m)
	return m.TS, nil
}
