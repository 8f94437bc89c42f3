package faketargets

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Alert is one that PagerDuty has.
type Alert struct {
	Dedup, Severity, Summary, State string
	// Log are the actions that it took, in their order.
	Log []string
}

// PagerDuty is its Events API v2 for one integration.
type PagerDuty struct {
	common
	key    string
	schema *jsonschema.Schema
	// PerMinute is how many events it takes in a minute; 0 is all. PagerDuty names no
	// number: "we dynamically adjust our throttle limits" (the OpenAPI description, "API Limits").
	PerMinute int
	alerts    []Alert
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

// ServeHTTP takes an event.
func (p *PagerDuty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
			p.alerts = append(p.alerts, Alert{Dedup: dedup, Severity: severity, Summary: summary, State: Triggered, Log: []string{action}})
		}
		return
	}
	a := &p.alerts[open]
	a.Log = append(a.Log, action)
	switch action {
	case "acknowledge":
		a.State = Acknowledged
	case "resolve":
		a.State = Resolved
	}
}
