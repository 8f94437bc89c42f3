package fakeslack

import (
	"errors"
	"net/http"
	"path"
	"strings"
	"time"
)

// serveAPI answers one call of the Web API.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	call := Call{Method: r.PathValue("method"), Wall: s.cfg.Wall(), Stage: s.cfg.Now()}
	p, token, err := readCall(r)
	call.Params = p.withoutToken()

	s.mu.Lock()
	fault, hit := s.faults.pick(call.Method, call.Stage)
	s.mu.Unlock()
	if hit {
		call.Fault = fault.name()
		s.wait(r, fault.Latency)
	}
	var a answer
	if !fault.fails() || fault.Applied {
		if err == nil {
			a, err = s.do(call.Method, token, p)
		}
		if ts, ok := a["ts"].(string); ok && err == nil {
			call.TS = ts
		}
	}
	if fault.fails() {
		call.Status, call.Error = fault.status(), fault.Error
		s.record(call)
		fault.write(w)
		return
	}
	call.Status = http.StatusOK
	var limited throttled
	var refused *apiError
	switch {
	case errors.As(err, &limited):
		call.Status, call.Error = http.StatusTooManyRequests, limited.Error()
		s.record(call)
		writeThrottled(w, limited.wait)
		return
	case errors.As(err, &refused):
		a, call.Error = refused.answer(), refused.code
	case err != nil:
		a, call.Error = answer{"ok": false, "error": "internal_error"}, "internal_error"
	default:
		a["ok"] = true
	}
	if r.Header.Get("Content-Type") == "application/json" {
		// Slack asks for the charset and takes the call all the same.
		a["warning"] = "missing_charset"
	}
	s.record(call)
	w.Header().Set("X-OAuth-Scopes", strings.Join(s.cfg.Scopes, ","))
	writeJSON(w, call.Status, a)
}

// readCall reads the arguments and the token, which comes in the header or as an
// argument.
func readCall(r *http.Request) (params, string, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, "", err
	}
	p, err := parseParams(r.URL.Query(), r.Header.Get("Content-Type"), body)
	if err != nil {
		return nil, "", err
	}
	return p, bearer(r, p), nil
}

func bearer(r *http.Request, p params) string {
	if t, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return t
	}
	return p["token"]
}

func (p params) withoutToken() map[string]string {
	out := map[string]string{}
	for k, v := range p {
		if k != "token" {
			out[k] = v
		}
	}
	return out
}

// do checks the token, the scope and the pace, then carries out the call.
func (s *Server) do(method, token string, p params) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.method(method)
	switch {
	case method == "api.test":
		return answer{"args": p.withoutToken()}, nil
	case run == nil:
		return nil, &apiError{code: "unknown_method"}
	case token == "":
		return nil, &apiError{code: "not_authed"}
	case token != s.cfg.Token:
		return nil, &apiError{code: "invalid_auth"}
	}
	if err := checkScope(s.cfg.Scopes, scopesOf(method)); err != nil {
		return nil, err
	}
	if err := s.limiter.allow(method, p["channel"], s.cfg.Wall()); err != nil {
		return nil, err
	}
	return run(p)
}

// method finds what carries out a method; nil if the stand-in does not have it.
func (s *Server) method(name string) func(params) (answer, error) {
	switch name {
	case "auth.test":
		return s.authTest
	case "chat.postMessage":
		return s.chatPostMessage
	case "chat.postEphemeral":
		return s.chatPostEphemeral
	case "chat.update":
		return s.chatUpdate
	case "chat.delete":
		return s.chatDelete
	case "chat.getPermalink":
		return s.chatGetPermalink
	case "conversations.history":
		return s.conversationsHistory
	case "conversations.replies":
		return s.conversationsReplies
	case "conversations.info":
		return s.conversationsInfo
	case "conversations.list":
		return s.conversationsList
	case "users.info":
		return s.usersInfo
	case "usergroups.users.list":
		return s.usergroupsUsersList
	case "views.open":
		return s.viewsOpen
	case "views.publish":
		return s.viewsPublish
	case "files.getUploadURLExternal":
		return s.filesGetUploadURLExternal
	case "files.completeUploadExternal":
		return s.filesCompleteUploadExternal
	case "reactions.add":
		return s.reactionsAdd
	}
	return nil
}

func (s *Server) record(c Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
}

// wait delays an answer; it ends early when the client or the server goes.
func (s *Server) wait(r *http.Request, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	case <-s.done:
	}
}

func (f Fault) status() int {
	switch {
	case f.Reset:
		return 0
	case f.Status != 0:
		return f.Status
	case f.RetryAfter != 0:
		return http.StatusTooManyRequests
	}
	return http.StatusOK
}

// write answers as the fault says.
func (f Fault) write(w http.ResponseWriter) {
	switch status := f.status(); {
	case f.Reset:
		// net/http closes the connection with no answer after this panic.
		panic(http.ErrAbortHandler)
	case status == http.StatusTooManyRequests:
		writeThrottled(w, f.RetryAfter)
	case status != http.StatusOK:
		// Slack's servers send HTML with a 5xx.
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<!DOCTYPE html><title>" + http.StatusText(status) + "</title>"))
	default:
		writeJSON(w, http.StatusOK, answer{"ok": false, "error": f.Error})
	}
}

func writeThrottled(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", itoa(retryAfter(wait)))
	writeJSON(w, http.StatusTooManyRequests, answer{"ok": false, "error": "ratelimited"})
}

// serveAsset sends a script or the stylesheet.
func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, web, path.Join("web", r.PathValue("name")))
}
