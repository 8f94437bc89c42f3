// Package faketargets stands in for the targets that hear of incidents besides Slack:
// PagerDuty, Microsoft Teams, and whoever has a webhook. Each holds what it is sent against
// a schema written after what is published of the real one, and refuses as that does.
package faketargets

import (
	"crypto/hmac"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed schema/*.json
var schemas embed.FS

// Schema compiles one of the schemas, with formats asserted.
func Schema(name string) (*jsonschema.Schema, error) {
	file, err := schemas.Open("schema/" + name)
	if err != nil {
		return nil, fmt.Errorf("open the schema %s: %w", name, err)
	}
	defer file.Close()
	doc, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		return nil, fmt.Errorf("read the schema %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("add the schema %s: %w", name, err)
	}
	return c.Compile(name)
}

// Trouble has a stand-in answer a status in place of what it would, and ask to wait so
// long; a status of 0 is none, Gone no answer at all.
type Trouble func(at time.Time) (status int, wait time.Duration)

// Gone is no answer: the connection is cut.
const Gone = -1

// common is what the stand-ins share.
type common struct {
	mu      sync.Mutex
	now     func() time.Time
	trouble Trouble
	// requests are the times of all that came.
	requests []time.Time
}

// Trouble sets what goes wrong from now on; nil is nothing.
func (c *common) Trouble(t Trouble) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trouble = t
}

// Requests are how often it was asked.
func (c *common) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.requests)
}

// allowed counts a request; false where it is answered already.
func (c *common) allowed(w http.ResponseWriter) bool {
	c.mu.Lock()
	at := c.now()
	c.requests = append(c.requests, at)
	trouble := c.trouble
	c.mu.Unlock()
	if trouble != nil {
		switch status, wait := trouble(at); status {
		case 0:
		case Gone:
			panic(http.ErrAbortHandler)
		default:
			if wait > 0 {
				w.Header().Set("Retry-After", fmt.Sprint(int(wait/time.Second)))
			}
			w.WriteHeader(status)
			return false
		}
	}
	return true
}

// begin counts a request and reads it; false where it is answered already.
func (c *common) begin(w http.ResponseWriter, r *http.Request, most int64, large func(http.ResponseWriter)) ([]byte, bool) {
	if !c.allowed(w) {
		return nil, false
	}
	if r.Method != http.MethodPost || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return nil, false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return nil, false
	}
	if int64(len(body)) > most {
		large(w)
		return nil, false
	}
	return body, true
}

// within counts the requests of a span that ends now, this one among them.
func (c *common) within(span time.Duration) int {
	n, now := 0, c.now()
	for _, at := range c.requests {
		if now.Sub(at) < span {
			n++
		}
	}
	return n
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Who no longer listens needs no answer.
	_ = json.NewEncoder(w).Encode(body)
}

// violations are what a document has wrong, each with its field.
func violations(s *jsonschema.Schema, body []byte) []string {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(body)))
	if err != nil {
		return []string{"JSON parse error"}
	}
	err = s.Validate(doc)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil
	}
	var list []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			list = append(list, "'"+strings.Join(e.InstanceLocation, ".")+"': "+strings.Join(e.ErrorKind.KeywordPath(), "."))
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(invalid)
	return list
}

// Alert is one that PagerDuty has.
type Alert struct {
	Dedup, Severity, Summary, State string
	// Log are the actions that it took, in their order.
	Log []string
	// By is the responder who acknowledged or resolved it there, At when it got its state,
	// Created when it was made. Merged puts it into an incident of another key.
	By          string
	At, Created time.Time
	Merged      bool
}

// PagerDuty is its Events API v2 for one integration.
type PagerDuty struct {
	common
	key    string
	schema *jsonschema.Schema
	// PerMinute is how many events it takes in a minute; 0 is all. PagerDuty names no
	// number: "we dynamically adjust our throttle limits" (the OpenAPI description, "API Limits").
	PerMinute int
	// Token is the REST API key that it knows; empty for none.
	Token  string
	alerts []Alert
}

// The states of an alert.
const (
	Triggered    = "triggered"
	Acknowledged = "acknowledged"
	Resolved     = "resolved"
)

// maxEvent is the largest event (developer.pagerduty.com/docs/events-api-v2/overview, "Size
// Limits": 512 KB).
const maxEvent = 512 << 10

// NewPagerDuty makes a stand-in that knows one routing key.
func NewPagerDuty(key string, now func() time.Time) (*PagerDuty, error) {
	s, err := Schema("pagerduty-events-v2.json")
	if err != nil {
		return nil, err
	}
	return &PagerDuty{common: common{now: now}, key: key, schema: s}, nil
}

// Alerts are what it has, in the order in which they were triggered.
func (p *PagerDuty) Alerts() []Alert {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := slices.Clone(p.alerts)
	for i := range list {
		list[i].Log = slices.Clone(list[i].Log)
	}
	return list
}

// refuse is the answer 400 in PagerDuty's form (v2.developer.pagerduty.com/docs/send-an-event-events-api-v2).
func refuse(w http.ResponseWriter, errors ...string) {
	answer(w, http.StatusBadRequest, map[string]any{"status": "invalid event", "message": "Event object is invalid", "errors": errors})
}

// Respond has a responder acknowledge or resolve the open alert with a key.
func (p *PagerDuty) Respond(dedup, state, by string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	respond(p.alerts, dedup, state, by, p.now())
}

// Merge puts the alerts with a key into incidents of others.
func (p *PagerDuty) Merge(dedup string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.alerts {
		p.alerts[i].Merged = p.alerts[i].Merged || p.alerts[i].Dedup == dedup
	}
}

func respond(alerts []Alert, dedup, state, by string, now time.Time) {
	for i := range alerts {
		if a := &alerts[i]; a.Dedup == dedup && a.State != Resolved {
			a.State, a.By, a.At = state, by, now
		}
	}
}

// list answers "List incidents" and "List alerts for an incident" of the REST API
// (api.pagerduty.com, the OpenAPI description of v2). The id of an incident is its index.
func (p *PagerDuty) list(w http.ResponseWriter, r *http.Request) {
	if !p.allowed(w) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Token == "" || r.Header.Get("Authorization") != "Token token="+p.Token {
		w.WriteHeader(http.StatusUnauthorized) // with an empty body
		return
	}
	if id, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/incidents/"), "/alerts"); ok {
		i, err := strconv.Atoi(id)
		if err != nil || i < 0 || i >= len(p.alerts) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		answer(w, http.StatusOK, map[string]any{"alerts": []map[string]string{{"alert_key": "of-another"}, {"alert_key": p.alerts[i].Dedup}}})
		return
	}
	query := r.URL.Query()
	list := []map[string]any{}
	for i := range slices.Backward(p.alerts) { // created_at:desc
		a := p.alerts[i]
		if a.Dedup != query.Get("incident_key") || !slices.Contains(query["statuses[]"], a.State) {
			continue
		}
		in := map[string]any{
			"id": strconv.Itoa(i), "status": a.State, "incident_key": a.Dedup, "created_at": a.Created.UTC().Format(time.RFC3339),
			"last_status_change_at": a.At.UTC().Format(time.RFC3339), "last_status_change_by": map[string]string{"summary": a.By}, "acknowledgements": []any{},
		}
		if a.State == Acknowledged {
			in["acknowledgements"] = []any{map[string]any{"at": a.At.UTC().Format(time.RFC3339), "acknowledger": map[string]string{"summary": a.By}}}
		}
		if a.Merged {
			in["incident_key"] = nil
		}
		list = append(list, in)
	}
	answer(w, http.StatusOK, map[string]any{"incidents": list, "limit": 5, "offset": 0, "more": false})
}

// ServeHTTP takes an event, or lists incidents.
func (p *PagerDuty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/incidents") {
		p.list(w, r)
		return
	}
	if r.URL.Path != "/v2/enqueue" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	body, ok := p.begin(w, r, maxEvent, func(w http.ResponseWriter) { refuse(w, "Event is larger than 512 KB") })
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.PerMinute > 0 && p.within(time.Minute) > p.PerMinute {
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	var e struct {
		Key     string `json:"routing_key"`
		Action  string `json:"event_action"`
		Dedup   string `json:"dedup_key"`
		Payload struct{ Summary, Severity string }
	}
	switch err := json.Unmarshal(body, &e); {
	case err != nil:
		answer(w, http.StatusBadRequest, map[string]any{"status": "Unrecognized object", "message": "Event object format is unrecognized", "errors": []string{"JSON parse error"}})
		return
	case len(e.Key) != 32:
		refuse(w, "Length of 'routing_key' is incorrect (should be 32 characters)")
		return
	case e.Key != p.key:
		refuse(w, "Invalid routing key")
		return
	}
	if wrong := violations(p.schema, body); len(wrong) > 0 {
		refuse(w, wrong...)
		return
	}
	p.take(e.Action, e.Dedup, e.Payload.Summary, e.Payload.Severity)
	answer(w, http.StatusAccepted, map[string]string{"status": "success", "message": "Event processed", "dedup_key": e.Dedup})
}

// take is what becomes of alerts: "Once the alert is resolved, any further events with the
// same dedup_key will create a new alert (for trigger events) or be dropped (for
// acknowledge and resolve events)" (trigger-events, "Alert De-Duplication").
func (p *PagerDuty) take(action, dedup, summary, severity string) {
	open := slices.IndexFunc(p.alerts, func(a Alert) bool { return a.Dedup == dedup && a.State != Resolved })
	if open < 0 {
		if action == "trigger" {
			p.alerts = append(p.alerts, Alert{Dedup: dedup, Severity: severity, Summary: summary, State: Triggered, Log: []string{action}, At: p.now(), Created: p.now()})
		}
		return
	}
	a := &p.alerts[open]
	a.Log = append(a.Log, action)
	if action != "trigger" {
		a.At = p.now()
	}
	switch action {
	case "acknowledge":
		a.State = Acknowledged
	case "resolve":
		a.State = Resolved
	}
}

// Teams is a workflow "When a Teams webhook request is received".
type Teams struct {
	common
	signature string
	schema    *jsonschema.Schema
	cards     []Card
}

// Card is what the channel shows: each line of the card, and where its buttons lead.
type Card struct {
	Lines   []string
	Buttons map[string]string
	At      time.Time
}

// maxMessage is the size of a message, and perSecond how many a channel takes
// (learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook,
// "28 KB", of which clients have measured 21 KB as their own part; …/connectors-using, "Rate
// limiting": 4 in a second). The real one takes what is larger, and does not post it.
const (
	maxMessage = 21_000
	perSecond  = 4
)

// NewTeams makes a stand-in whose address has this signature in its query.
func NewTeams(signature string, now func() time.Time) (*Teams, error) {
	s, err := Schema("teams-message.json")
	if err != nil {
		return nil, err
	}
	return &Teams{common: common{now: now}, signature: signature, schema: s}, nil
}

// Cards are what it took, in order.
func (t *Teams) Cards() []Card {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.cards)
}

// ServeHTTP takes a message. Errors are in the form of Azure Logic Apps, which workflows
// run on (learn.microsoft.com/azure/logic-apps/logic-apps-http-endpoint,
// TriggerInputSchemaMismatch).
func (t *Teams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fail := func(status int, code, text string) {
		answer(w, status, map[string]any{"error": map[string]string{"code": code, "message": text}})
	}
	body, ok := t.begin(w, r, maxMessage, func(http.ResponseWriter) {
		fail(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "The message is larger than Teams posts")
	})
	if !ok {
		return
	}
	if r.URL.Query().Get("sig") != t.signature {
		fail(http.StatusUnauthorized, "DirectApiAuthorizationRequired", "The request's signature is not valid")
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.within(time.Second) > perSecond {
		w.Header().Set("Retry-After", "1")
		fail(http.StatusTooManyRequests, "WorkflowRunActionLimitExceeded", "Rate limit is exceeded. Try again in 1 seconds.")
		return
	}
	if wrong := violations(t.schema, body); len(wrong) > 0 {
		fail(http.StatusBadRequest, "TriggerInputSchemaMismatch", "The input body did not match its schema definition. Error details: "+strings.Join(wrong, "; "))
		return
	}
	var m struct {
		Attachments []struct {
			Content struct {
				Body    []struct{ Inlines []struct{ Text string } }
				Actions []struct{ Title, URL string }
			}
		}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		fail(http.StatusBadRequest, "InvalidRequestContent", err.Error())
		return
	}
	for _, a := range m.Attachments {
		c := Card{Buttons: map[string]string{}, At: t.now()}
		for _, block := range a.Content.Body {
			line := ""
			for _, run := range block.Inlines {
				line += run.Text
			}
			c.Lines = append(c.Lines, line)
		}
		for _, b := range a.Content.Actions {
			c.Buttons[b.Title] = b.URL
		}
		t.cards = append(t.cards, c)
	}
	w.WriteHeader(http.StatusAccepted)
}

// Webhook is an operator's own receiver. It verifies as docs/targets.md says.
type Webhook struct {
	common
	key        string
	deliveries []Delivery
}

// Delivery is a request that was signed.
type Delivery struct {
	ID   string
	Body string
	At   time.Time
}

// NewWebhook makes a receiver with the key that it shares with Rollcall.
func NewWebhook(key string, now func() time.Time) *Webhook {
	return &Webhook{common: common{now: now}, key: key}
}

// Deliveries are what it took, repeats among them.
func (h *Webhook) Deliveries() []Delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.deliveries)
}

// ServeHTTP takes a request.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := h.begin(w, r, 1<<20, func(w http.ResponseWriter) { w.WriteHeader(http.StatusRequestEntityTooLarge) })
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !Verify(h.key, r.Header.Get("Rollcall-Timestamp"), r.Header.Get("Rollcall-Signature"), body, h.now()) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	h.deliveries = append(h.deliveries, Delivery{r.Header.Get("Rollcall-Delivery"), string(body), h.now()})
	w.WriteHeader(http.StatusNoContent)
}

// Verify reports whether Rollcall signed a body within the last five minutes. It is the
// example of docs/targets.md, which a test holds equal.
func Verify(key, timestamp, signature string, body []byte, now time.Time) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if age := now.Sub(time.Unix(seconds, 0)); err != nil || age < -5*time.Minute || age > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("v1:" + timestamp + ":"))
	mac.Write(body)
	sent, err := hex.DecodeString(strings.TrimPrefix(signature, "v1="))
	return err == nil && hmac.Equal(sent, mac.Sum(nil))
}
