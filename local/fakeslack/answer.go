package fakeslack

import (
	"encoding/json"
	"net/http"
	"strings"
)

// answer is a JSON answer of the Web API. Its "ok" is added when it is written.
type answer map[string]any

// apiError is an answer with "ok": false.
type apiError struct {
	code string
	// messages go to response_metadata.messages.
	messages []string
	// needed and provided are the scopes of a missing_scope.
	needed, provided string
}

// Error returns Slack's error code.
func (e *apiError) Error() string {
	if len(e.messages) == 0 {
		return e.code
	}
	return e.code + ": " + strings.Join(e.messages, "; ")
}

func (e *apiError) answer() answer {
	a := answer{"ok": false, "error": e.code}
	if e.needed != "" {
		a["needed"], a["provided"] = e.needed, e.provided
	}
	if len(e.messages) > 0 {
		short := make([]string, len(e.messages))
		for i, m := range e.messages {
			short[i] = strings.TrimPrefix(m, "[ERROR] ")
		}
		a["errors"] = short
		a["response_metadata"] = answer{"messages": e.messages}
	}
	return a
}

// writeJSON writes v. Slack's status is 200 for errors too.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// The client may be gone; there is nobody left to tell.
	_ = enc.Encode(v)
}
