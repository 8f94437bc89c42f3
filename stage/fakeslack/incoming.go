package fakeslack

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
)

// incomingWebhook names calls of incoming webhooks in the record and in faults.
const incomingWebhook = "incoming-webhook"

// Incoming is hooks.slack.com for one incoming webhook, which posts into a channel
// (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks): it takes JSON by POST
// at its one path, answers "ok" and nothing else, so that no message can be edited, and
// refuses with a word and a status
// (api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks).
func (s *Server) Incoming(path, channel string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := Call{Method: incomingWebhook, Wall: s.cfg.Wall(), Stage: s.cfg.Now()}
		s.mu.Lock()
		fault, hit := s.faults.pick(incomingWebhook, call.Stage)
		s.mu.Unlock()
		if hit {
			call.Fault = fault.name()
			s.wait(r, fault.Latency)
		}
		said := ""
		call.Status = http.StatusOK
		if !fault.fails() || fault.Applied {
			call.TS, call.Status, said = s.incoming(r, path, channel)
		}
		if fault.fails() {
			call.Status, call.Error = fault.status(), fault.Error
			s.record(call)
			fault.write(w)
			return
		}
		if call.Status != http.StatusOK {
			call.Error = said
		}
		s.record(call)
		w.Header().Set("Content-Type", "text/html") // as Slack's
		if call.Status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(call.Status)
		// The client may be gone; then there is no reader left.
		_, _ = io.WriteString(w, said)
	})
}

func (s *Server) incoming(r *http.Request, path, channel string) (ts string, status int, said string) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.Method != http.MethodPost:
		return "", http.StatusMethodNotAllowed, "method_not_allowed"
	case r.URL.Path != path:
		return "", http.StatusNotFound, "no_service"
	case err != nil || kind != "application/json":
		return "", http.StatusBadRequest, "invalid_payload"
	}
	body, err := readBody(r)
	var fields map[string]json.RawMessage
	if err != nil || json.Unmarshal(body, &fields) != nil {
		return "", http.StatusBadRequest, "invalid_payload"
	}
	p := params{}
	for name, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		p[name] = text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limiter.allow("chat.postMessage", channel, s.cfg.Wall()) != nil {
		return "", http.StatusTooManyRequests, "rate_limited"
	}
	c := s.store.byID(channel)
	switch {
	case c == nil:
		return "", http.StatusNotFound, "channel_not_found"
	case c.Archived:
		return "", http.StatusGone, "channel_is_archived"
	}
	m, err := s.compose(c, p)
	var refused *apiError
	switch {
	case errors.As(err, &refused):
		return "", http.StatusBadRequest, refused.code
	case err != nil:
		return "", http.StatusInternalServerError, "rollup_error"
	}
	s.post(c, m)
	return m.TS, http.StatusOK, "ok"
}
