package message

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"rollcall/shared/incident"
)

// Limits of PagerDuty's Events API v2 (developer.pagerduty.com/docs/events-api-v2/trigger-events,
// "Parameters").
const (
	maxSummary = 1024
	maxDedup   = 255
)

// PagerDuty is an event of its Events API v2
// (developer.pagerduty.com/docs/events-api-v2/trigger-events).
type PagerDuty struct {
	RoutingKey string            `json:"routing_key"`
	Action     Action            `json:"event_action"`
	DedupKey   string            `json:"dedup_key"`
	Client     string            `json:"client,omitempty"`
	Payload    *PagerDutyPayload `json:"payload,omitempty"`
	Links      []PagerDutyLink   `json:"links,omitempty"`
}

// PagerDutyPayload is what is known of the alert.
type PagerDutyPayload struct {
	Summary   string            `json:"summary"`
	Source    string            `json:"source"`
	Severity  string            `json:"severity"`
	Timestamp time.Time         `json:"timestamp"`
	Component string            `json:"component,omitempty"`
	Group     string            `json:"group,omitempty"`
	Class     string            `json:"class,omitempty"`
	Details   map[string]string `json:"custom_details,omitempty"`
}

// PagerDutyLink is shown with the alert.
type PagerDutyLink struct {
	Href string `json:"href"`
	Text string `json:"text,omitempty"`
}

// ToPagerDuty is the event that has PagerDuty take an action. The routing key is a secret,
// and is put in by whoever sends.
func ToPagerDuty(n News, a Action) PagerDuty {
	p := PagerDuty{Action: a, DedupKey: dedupKey(n.About())}
	if a != Trigger {
		return p
	}
	p.Client = "Rollcall"
	if n.Incident == nil {
		p.Payload = &PagerDutyPayload{Summary: clip(n.Words.Headline, maxSummary), Source: "rollcall", Severity: "info", Timestamp: n.At}
		return p
	}
	e := *n.Incident
	details := map[string]string{}
	for _, l := range n.Words.Lines {
		details[l.Label] = l.Text
	}
	if n.Words.Command != "" {
		details["Command"] = n.Words.Command
	}
	details["Account"], details["Region"] = e.Account, e.Region
	p.Payload = &PagerDutyPayload{
		Summary: clip(n.Words.Headline, maxSummary), Source: e.Cluster, Severity: pagerDutySeverity(e.Severity), Timestamp: e.At,
		Component: e.Resource, Group: e.Cluster, Class: string(e.Check), Details: details,
	}
	for _, l := range links(n.Words) {
		p.Links = append(p.Links, PagerDutyLink{Href: l.Address, Text: l.Text})
	}
	return p
}

// pagerDutySeverity maps Rollcall's severities to PagerDuty's. "error" is between critical
// and warning there, and is not used: Rollcall has no such degree.
func pagerDutySeverity(s incident.Severity) string {
	switch s {
	case incident.Critical:
		return "critical"
	case incident.Warning:
		return "warning"
	}
	return "info"
}

// dedupKey is an incident's key: what is triggered by it is resolved by it.
func dedupKey(about string) string {
	key := "rollcall/" + about
	if len(key) <= maxDedup {
		return key
	}
	sum := sha256.Sum256([]byte(about))
	return "rollcall/" + hex.EncodeToString(sum[:])
}

// link is an address to go on with.
type link struct{ Text, Address string }

func links(w incident.Words) []link {
	var list []link
	if w.Console != "" {
		list = append(list, link{"Open in console", w.Console})
	}
	if w.Docs != "" {
		list = append(list, link{"About this check", w.Docs})
	}
	return list
}
