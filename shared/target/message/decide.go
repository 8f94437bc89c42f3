package message

import (
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/target"
)

// Told is what is remembered of what a target was told of an incident.
type Told struct {
	// Opened and Sequence are those of the newest event that it was told; of weeks, Opened is
	// when the newest ended.
	Opened   time.Time `json:"opened,omitzero"`
	Sequence int       `json:"sequence,omitempty"`
	// Open tells that it knows of the incident as one that is not over.
	Open bool `json:"open,omitempty"`
	// Acknowledged tells that it knows that somebody has it.
	Acknowledged bool `json:"acknowledged,omitempty"`
}

// Action is what a target is told to do.
type Action string

// The actions, with the words of PagerDuty's event_action where it has one.
const (
	Trigger     Action = "trigger"
	Acknowledge Action = "acknowledge"
	Resolve     Action = "resolve"
	// Post is a message of its own.
	Post Action = "post"
)

// Reason is why a target is told, or is not.
type Reason string

// The reasons.
const (
	ToTell Reason = "told"
	// OlderNews: it knows newer of this incident. EventBridge promises no order.
	OlderNews Reason = "older-news"
	// NotForPeople: nothing that a person must know now.
	NotForPeople Reason = "not-for-people"
	// BelowSeverity: less urgent than what the target is for.
	BelowSeverity Reason = "below-severity"
	// NeverTold: it was never told that the incident began.
	NeverTold Reason = "never-told"
	// IsMuted: a person wants nobody to be called for it now.
	IsMuted Reason = "muted"
	// IsSilenced: a silence hides it. When that ends, an event says what is still there.
	IsSilenced Reason = "silenced"
	// StillFails: nothing got better, only the looking stopped: the alert stays open.
	StillFails Reason = "still-fails"
	// NoAlert: PagerDuty is not told of a week. An event of its Events API is an alert, of which
	// somebody is called, or a change of a system (developer.pagerduty.com/docs/events-api-v2/overview,
	// "Event Types": an alert is "a problem in a machine monitored system", a change "a change
	// in a system that does not represent a problem"): a report is neither, and a change would
	// stand among what may have caused the next incident.
	NoAlert Reason = "no-alert-of-a-week"
	// IncidentsOnly: it is told from a severity on, so that it is for incidents.
	IncidentsOnly Reason = "incidents-only"
)

// Decide is what a target is to be told of an event, in this order, and what it will know
// then. Without actions the reason says why.
func Decide(t target.Target, n News, told Told) ([]Action, Told, Reason) {
	if n.Week != nil {
		return decideWeek(t, *n.Week, told)
	}
	if n.Incident == nil {
		if t.Kind == target.PagerDuty {
			return []Action{Trigger, Resolve}, told, ToTell // the way is tried, and nobody has to close it
		}
		return []Action{Post}, told, ToTell
	}
	e := *n.Incident
	if t.Kind != target.Webhook && older(e, told) {
		return nil, told, OlderNews
	}
	if t.Kind != target.Webhook && e.Muted && e.Reason.DroppedByMute() {
		return nil, told, IsMuted
	}
	if ended := newsOf(e) == ends && told.Open; t.Kind != target.Webhook && e.Silenced && !ended {
		return nil, told, IsSilenced
	}
	if !e.Opened.Equal(told.Opened) {
		told.Acknowledged = false
	}
	next := told
	next.Opened, next.Sequence = e.Opened, e.Sequence
	var actions []Action
	switch news := newsOf(e); news {
	case begins, worse:
		if !atLeast(e.Severity, t.Least) && !told.Open {
			return nil, told, BelowSeverity
		}
		next.Open = true
		actions = []Action{Trigger}
	case taken:
		if !told.Open && !atLeast(e.Severity, t.Least) {
			return nil, told, BelowSeverity
		}
		if t.Kind != target.PagerDuty && t.Kind != target.Webhook {
			return nil, told, NotForPeople
		}
		if t.Kind == target.PagerDuty && told.Acknowledged {
			return nil, told, NotForPeople // from one person to another
		}
		if !told.Open {
			// An acknowledgement of an alert that is not there is dropped
			// (developer.pagerduty.com/docs/events-api-v2/trigger-events, "Alert De-Duplication").
			actions = append(actions, Trigger)
		}
		next.Open, next.Acknowledged = true, true
		actions = append(actions, Acknowledge)
	case ends:
		if !told.Open && t.Least != "" {
			return nil, told, NeverTold
		}
		if t.Kind == target.PagerDuty && e.Resolution == incident.GivenUpOn {
			return nil, told, StillFails
		}
		next.Open, next.Acknowledged = false, false
		actions = []Action{Resolve}
	default:
		if t.Kind != target.Webhook && (news != acted || t.Kind == target.PagerDuty) {
			return nil, told, NotForPeople
		}
		if !told.Open && !atLeast(e.Severity, t.Least) {
			return nil, told, BelowSeverity
		}
	}
	if t.Kind != target.PagerDuty {
		actions = []Action{Post}
	}
	if older(e, told) {
		next = told // a webhook's receiver orders by sequence; the record keeps the newest
	}
	return actions, next, ToTell
}

// decideWeek is Decide for a week: each is told once, and none after a later one.
func decideWeek(t target.Target, w Week, told Told) ([]Action, Told, Reason) {
	switch {
	case t.Kind == target.PagerDuty:
		return nil, told, NoAlert
	case t.Least != "":
		return nil, told, IncidentsOnly
	case !w.To.After(told.Opened):
		return nil, told, OlderNews
	}
	return []Action{Post}, Told{Opened: w.To}, ToTell
}

// older tells that the target knows this event, or a newer one. Sequence orders the events
// of a record; one that was made anew, long after the incident was forgotten, begins again
// at 1 with a later time.
func older(e incident.Event, told Told) bool {
	return e.Opened.Before(told.Opened) || e.Opened.Equal(told.Opened) && e.Sequence <= told.Sequence
}

// newsKind is what an event is for a person.
type newsKind int

const (
	detail newsKind = iota // more is known, nothing is to be done
	begins                 // opened, or came back
	worse                  // it became urgent, or what was thought mended is not
	taken                  // somebody has it
	acted                  // a remedy was done, or not
	ends
)

// newsOf follows what is a line of the channel in Slack (docs/messages.md): what a person
// must know now.
func newsOf(e incident.Event) newsKind {
	switch e.Kind {
	case incident.EventOpened, incident.EventReopened:
		return begins
	case incident.EventResolved:
		return ends
	case incident.EventAcknowledged:
		return taken
	case incident.EventActed:
		return acted
	}
	switch e.Reason {
	case incident.IsUnsilenced:
		return begins // to whom it was not told while it was silenced
	case incident.HasMissed, incident.IsWorse, incident.FailedAgain, incident.IsUnhelpful:
		return worse
	}
	return detail
}

// Wants tells whether a kind of target may ever be told of an event: of others there is
// no message on the queue.
func Wants(t target.Target, n News) bool {
	if n.Week != nil {
		_, _, reason := decideWeek(t, *n.Week, Told{})
		return reason == ToTell
	}
	_, _, reason := Decide(target.Target{Kind: t.Kind}, n, Told{Open: true})
	return reason != NotForPeople
}

// atLeast tells whether a severity is as urgent as the least that is asked for; "" asks for none.
func atLeast(s incident.Severity, least string) bool {
	rank := map[incident.Severity]int{incident.Info: 0, incident.Warning: 1, incident.Critical: 2}
	return rank[s] >= rank[incident.Severity(least)]
}
