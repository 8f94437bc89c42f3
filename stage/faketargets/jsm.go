package faketargets

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// JSM is the integration events API of the Operations of Jira Service Management for one
// API integration (developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events).
type JSM struct {
	common
	key string
	// Cloud, Email and Token are what alerts are read with; no token is none.
	Cloud, Email, Token string
	alerts              []Alert
}

// NewJSM makes a stand-in that knows one key.
func NewJSM(key string, now func() time.Time) *JSM { return &JSM{common: common{now: now}, key: key} }

// Alerts are what it has, in the order in which they were made.
func (j *JSM) Alerts() []Alert {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.alerts)
}

// Respond has a responder acknowledge or close the open alert with an alias.
func (j *JSM) Respond(alias, state, by string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	respond(j.alerts, alias, state, by, j.now())
}

// byAlias answers "Get alert by alias"
// (developer.atlassian.com/cloud/jira/service-desk-ops/rest/v2/api-group-alerts): open ones alone.
func (j *JSM) byAlias(w http.ResponseWriter, r *http.Request) {
	if !j.allowed(w) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	email, token, _ := r.BasicAuth()
	if j.Token == "" || email != j.Email || token != j.Token || !strings.HasPrefix(r.URL.Path, "/jsm/ops/api/"+j.Cloud+"/") {
		answer(w, http.StatusUnauthorized, map[string]any{"code": 401, "message": "Unauthorized; scope does not match"})
		return
	}
	alias := r.URL.Query().Get("alias")
	i := slices.IndexFunc(j.alerts, func(a Alert) bool { return a.Dedup == alias && a.State != Resolved })
	if i < 0 {
		answer(w, http.StatusNotFound, map[string]any{"message": "Alert does not exist"})
		return
	}
	a := j.alerts[i]
	answer(w, http.StatusOK, map[string]any{
		"id": "9b251e07", "alias": a.Dedup, "message": a.Summary, "status": "open", "acknowledged": a.State == Acknowledged, "createdAt": a.Created.UTC().Format(time.RFC3339),
		"owner": a.By, "report": map[string]string{"acknowledgedBy": "712020:9f3b"},
	})
}

// jsmLimits are those of fields in characters (docs.opsgenie.com/docs/alert-api, "Create
// Alert"): more than these of a message, an alias or a description is refused here, though
// the service may cut it.
var jsmLimits = map[string]int{"message": 130, "alias": 512, "description": 15000, "entity": 512, "source": 100, "note": 25000}

// ServeHTTP takes "Create alert", "Acknowledge alert" and "Close alert". The service answers
// 202 before it works, also for an alias that it does not know.
func (j *JSM) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(w http.ResponseWriter, status int, why string) {
		answer(w, status, map[string]any{"message": why, "took": 0.001, "requestId": "0"})
	}
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/v1/alerts/alias") {
		j.byAlias(w, r)
		return
	}
	body, ok := j.begin(w, r, 512<<10, func(w http.ResponseWriter) { refuse(w, http.StatusRequestEntityTooLarge, "Request body is too large") })
	if !ok {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	rest, known := strings.CutPrefix(r.URL.EscapedPath(), "/jsm/ops/integration/v2/alerts")
	alias, verb, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	alias, err := url.PathUnescape(alias)
	var fields map[string]any
	switch {
	case r.Header.Get("Authorization") != "GenieKey "+j.key:
		refuse(w, http.StatusUnauthorized, "Could not authenticate")
		return
	case !known, err != nil, rest != "" && verb != "acknowledge" && verb != "close":
		refuse(w, http.StatusNotFound, "Not found")
		return
	case rest != "" && r.URL.Query().Get("identifierType") != "alias":
		refuse(w, http.StatusUnprocessableEntity, "Id value should be a UUID")
		return
	case json.Unmarshal(body, &fields) != nil:
		refuse(w, http.StatusUnprocessableEntity, "Request body is not processable")
		return
	}
	for name, value := range fields {
		text, _ := value.(string)
		if most, bounded := jsmLimits[name]; bounded && utf8.RuneCountInString(text) > most {
			refuse(w, http.StatusUnprocessableEntity, name+" is too long")
			return
		}
	}
	message, _ := fields["message"].(string)
	priority, _ := fields["priority"].(string)
	if rest == "" {
		if alias, _ = fields["alias"].(string); message == "" || !slices.Contains([]string{"P1", "P2", "P3", "P4", "P5"}, priority) {
			refuse(w, http.StatusUnprocessableEntity, "Message can not be empty, priority is one of P1 to P5")
			return
		}
	}
	j.take(verb, alias, message, priority)
	answer(w, http.StatusAccepted, map[string]any{"result": "Request will be processed", "took": 0.107, "requestId": "43a29c5c"})
}

// take is what becomes of alerts: one that is open and has the alias counts up ("Alert
// De-Duplication").
func (j *JSM) take(verb, alias, message, priority string) {
	open := slices.IndexFunc(j.alerts, func(a Alert) bool { return a.Dedup == alias && a.State != Resolved })
	state, action := Triggered, "create"
	switch verb {
	case "acknowledge":
		state, action = Acknowledged, verb
	case "close":
		state, action = Resolved, verb
	}
	switch {
	case open < 0 && verb == "":
		j.alerts = append(j.alerts, Alert{Dedup: alias, Severity: priority, Summary: message, State: state, Log: []string{action}, At: j.now(), Created: j.now()})
	case open >= 0:
		if verb != "" {
			j.alerts[open].State, j.alerts[open].At = state, j.now()
		}
		j.alerts[open].Log = append(j.alerts[open].Log, action)
	}
}
