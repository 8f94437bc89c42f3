// Package message is what targets besides Slack get: what of the events on Rollcall's
// bus is for whom, and in which form. All of it is pure; package deliver sends.
package message

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/target"
)

// Event is one event of Rollcall's bus.
type Event struct {
	// Raw is the event as it came: what a webhook gets.
	Raw json.RawMessage
	// Type is its detail-type.
	Type string
	// ID is the same each time the event comes.
	ID string
	At time.Time
	// Incident is what it says of an incident, Week what of a week; both nil for a test message.
	Incident *incident.Event
	Week     *Week
	// Words are what people read.
	Words incident.Words
}

// Week is what is asked of the report of a week: how it was, and when the week ended.
type Week struct {
	Result report.Verdict `json:"result"`
	To     time.Time      `json:"to"`
}

// Test is the detail-type of a message by which an operator tries the targets
// ("rollcall doctor --test-message").
const Test = "Rollcall Test Message"

// TestWords are the words of such a message.
func TestWords(account, region string) incident.Words {
	return incident.Words{Headline: fmt.Sprintf("Test message of Rollcall in account %s, %s: incidents will be posted here.", account, region)}
}

// Pattern matches the events that are for targets.
const Pattern = `{
  "source": ["rollcall"],
  "detail-type": [
    "Rollcall Incident Opened", "Rollcall Incident Reopened", "Rollcall Incident Changed", "Rollcall Incident Resolved",
    "Rollcall Incident Acknowledged", "Rollcall Remedy Acted", "` + incident.WeekType + `", "` + Test + `"
  ]
}`

// ErrMalformed: an event is none of Rollcall's, and never will be.
var ErrMalformed = errors.New("targets receive no events of this kind")

// Parse reads an event as EventBridge delivers it.
func Parse(raw []byte) (Event, error) {
	var envelope struct {
		Source  string          `json:"source"`
		Type    string          `json:"detail-type"`
		Account string          `json:"account"`
		Region  string          `json:"region"`
		Detail  json.RawMessage `json:"detail"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	n := Event{Raw: raw, Type: envelope.Type}
	if envelope.Source != "rollcall" {
		return Event{}, fmt.Errorf("%w: source %q, detail-type %q", ErrMalformed, envelope.Source, envelope.Type)
	}
	if n.Type == Test || n.Type == incident.WeekType {
		var w struct {
			Week
			ID    string         `json:"id"`
			At    time.Time      `json:"at"`
			Words incident.Words `json:"words"`
		}
		if err := json.Unmarshal(envelope.Detail, &w); err != nil {
			return Event{}, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		if n.ID, n.At, n.Words = w.ID, w.At, w.Words; w.Words.Headline == "" {
			return Event{}, fmt.Errorf("%w: %s is empty", ErrMalformed, n.Type)
		}
		if n.Type == incident.WeekType {
			if n.Week = &w.Week; w.To.IsZero() {
				return Event{}, fmt.Errorf("%w: when the week ended is missing", ErrMalformed)
			}
		}
	} else {
		var e incident.Event
		if err := json.Unmarshal(envelope.Detail, &e); err != nil {
			return Event{}, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		if e.Kind.DetailType() != n.Type || e.Cluster == "" || e.Check == "" || e.Resource == "" {
			return Event{}, fmt.Errorf("%w: detail-type %q, kind %q", ErrMalformed, n.Type, e.Kind)
		}
		n.ID, n.At, n.Incident, n.Words = e.ID, e.At, &e, wordsOf(e)
	}
	if n.ID == "" || n.At.IsZero() {
		return Event{}, fmt.Errorf("%w: id or time is missing", ErrMalformed)
	}
	if n.Type == Test { // anyone in the account may send one, so nothing that it says is published
		n.Words = TestWords(envelope.Account, envelope.Region)
		return n.withDetail(map[string]any{"id": n.ID, "at": n.At, "words": n.Words})
	}
	return n, nil
}

// wordsOf are the event's own words; where it has none, those that it is made of: an
// event of an earlier release, or one whose moment was over before it was recorded.
func wordsOf(e incident.Event) incident.Words {
	if e.Words != nil {
		return *e.Words
	}
	what := map[incident.EventKind]string{
		incident.EventReopened: "again: ", incident.EventResolved: "closed: ", incident.EventAcknowledged: "acknowledged: ", incident.EventActed: "a remedy was tried: ",
	}[e.Kind]
	w := incident.Words{Headline: e.Cluster + " · " + what + cmp.Or(e.Title, string(e.Check)+" "+e.Resource), Command: e.Fix.Command, Console: e.Fix.Console}
	if e.Why != "" {
		w.Lines = append(w.Lines, incident.Line{Label: "Why", Text: e.Why})
	}
	if e.Fix.Text != "" {
		w.Lines = append(w.Lines, incident.Line{Label: "Do", Text: e.Fix.Text})
	}
	return w
}

// WithEvent returns the news with what the incident's record says in place of what the
// event said: nothing else is published, nor signed.
func (n Event) WithEvent(e incident.Event) (Event, error) {
	n.ID, n.At, n.Incident, n.Words = e.ID, e.At, &e, wordsOf(e)
	return n.withDetail(e)
}

// WithWeek returns the news of a week as it was published, or false where the digest is of
// another event.
func (n Event) WithWeek(digest string) (Event, bool, error) {
	var envelope struct {
		Detail json.RawMessage `json:"detail"`
	}
	if err := json.Unmarshal(n.Raw, &envelope); err != nil {
		return Event{}, false, err
	}
	week, of, err := incident.ReadWeek(envelope.Detail)
	if err != nil || of != digest {
		return Event{}, false, err
	}
	n, err = n.withDetail(week) // without what else was in the event
	return n, true, err
}

// withDetail returns the news with another detail in its envelope.
func (n Event) withDetail(of any) (Event, error) {
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(n.Raw, &envelope); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	detail, err := json.Marshal(of)
	if err != nil {
		return Event{}, fmt.Errorf("encode the event %s: %w", n.ID, err)
	}
	envelope["detail"] = detail
	if n.Raw, err = json.Marshal(envelope); err != nil {
		return Event{}, fmt.Errorf("encode the event %s: %w", n.ID, err)
	}
	return n, nil
}

// apart is how far clocks may differ.
const apart = 5 * time.Minute

// Future reports whether an event names a time that has not come: it is not Rollcall's, and
// what a target remembers of it would hide everything until then.
func (n Event) Future(now time.Time) bool {
	at := []time.Time{n.At}
	if n.Incident != nil {
		at = append(at, n.Incident.Opened, n.Incident.Began, n.Incident.Resolved)
	}
	if n.Week != nil {
		at = append(at, n.Week.To)
	}
	return slices.ContainsFunc(at, func(t time.Time) bool { return t.After(now.Add(apart)) })
}

// Subject names the incident: in records, in groups of messages, to PagerDuty.
func (n Event) Subject() string {
	if n.Week != nil {
		return "week"
	}
	if n.Incident == nil {
		return "test"
	}
	e := n.Incident
	return e.Account + "/" + e.Region + "/" + e.Cluster + "/" + string(e.Check) + "#" + e.Resource
}

// Named is the incident that About names; false for what is about none.
func Named(about string) (incident.Event, bool) {
	place, resource, ok := strings.Cut(about, "#")
	part := strings.SplitN(place, "/", 4)
	if !ok || len(part) < 4 {
		return incident.Event{}, false
	}
	return incident.Event{Account: part[0], Region: part[1], Cluster: part[2], Check: checkid.ID(part[3]), Resource: resource}, true
}

// Told is what is remembered of what a target was told of an incident.
type Told struct {
	// Opened and Sequence are those of the newest event that it was told; of weeks, Opened is
	// when the newest ended.
	Opened   time.Time `json:"opened,omitzero"`
	Sequence int       `json:"sequence,omitempty"`
	// Open is set where it knows of the incident as one that is not over.
	Open bool `json:"open,omitempty"`
	// Acknowledged is set where it knows that a responder has it.
	Acknowledged bool `json:"acknowledged,omitempty"`
	// Resolved is set where a responder resolved its alert there, so that nothing is open.
	Resolved bool `json:"resolved,omitempty"`
	// Unread is why alerts could not be read back, of the record that is about all of them.
	Unread string `json:"unread,omitempty"`
}

// Alert is the alert of an incident as its target returns it.
type Alert struct {
	State report.AlertState
	// Created and Changed are when it was made and when it got its state; Changed is zero
	// where the target does not return it. By is who did that, as far as it is known.
	Created, Changed time.Time
	By               string
}

// Awaits reports whether a responder may have done something with the alert that is not
// known yet.
func (t Told) Awaits() bool { return t.Open && !t.Acknowledged && !t.Resolved }

// Respond decides which of an incident's alerts is news, and what is known of the target
// then. One alert at most is open with a key in a service; the others are of earlier times.
func Respond(told Told, alerts []Alert, now time.Time) (Alert, Told, Reason) {
	if !told.Awaits() {
		return Alert{}, told, OlderNews
	}
	reason := NoneThere
	var newest Alert
	for _, a := range alerts {
		if a.State == report.AlertTriggered {
			reason = StillTriggered
			continue
		}
		if a.Changed.IsZero() {
			a.Changed = a.Created // the earliest that it can be
		}
		switch {
		// Services return times in seconds.
		case a.State != report.AlertAcknowledged && a.State != report.AlertResolved, a.Changed.Before(told.Opened.Truncate(time.Second)), a.Changed.After(now.Add(apart)):
			if reason == NoneThere {
				reason = EarlierAlert
			}
		case newest.State != report.AlertAcknowledged && (a.State == report.AlertAcknowledged || a.Changed.After(newest.Changed)):
			newest = a
		}
	}
	switch {
	case newest.State == report.AlertAcknowledged:
		told.Acknowledged = true
	case newest.State == report.AlertResolved && reason != StillTriggered:
		told.Resolved = true
	default:
		return Alert{}, told, reason
	}
	return newest, told, ToTell
}

// Responder is a name that a person chose elsewhere, fit for messages and logs:
// one line, short, without what turns text around or means something in a chat.
func Responder(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsGraphic(r) || strings.ContainsRune("<>&|`", r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	return clip(strings.Join(strings.Fields(name), " "), 60)
}

// Action is what a target has to do.
type Action string

// The actions, with the words of PagerDuty's event_action where it has one.
const (
	Trigger     Action = "trigger"
	Acknowledge Action = "acknowledge"
	Resolve     Action = "resolve"
	// Post is a message of its own.
	Post Action = "post"
)

// Reason is why an event goes to a target, or does not.
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
	// IsMuted: a person muted it for now.
	IsMuted Reason = "muted"
	// IsSilenced: a silence hides it. When that ends, an event says what is still there.
	IsSilenced Reason = "silenced"
	// NoneThere: the target has no alert of the incident, or does not return a closed one.
	NoneThere Reason = "no-alert"
	// StillTriggered: it is not acknowledged there.
	StillTriggered Reason = "still-triggered"
	// EarlierAlert: what was done is from before the incident opened, or of no known time.
	EarlierAlert Reason = "earlier-alert"
	// StillFails: nothing got better, only the looking stopped: the alert stays open.
	StillFails Reason = "still-fails"
	// NoAlert: PagerDuty and Jira Service Management get no week. An event of PagerDuty's Events
	// API is an alert, for which a responder is called, or a change of a system (developer.pagerduty.com/docs/events-api-v2/overview,
	// "Event Types": an alert is "a problem in a machine monitored system", a change "a change
	// in a system that does not represent a problem"): a report is neither, and a change would
	// stand among what may have caused the next incident.
	NoAlert Reason = "no-alert-of-a-week"
	// IncidentsOnly: the target has a least severity, so that it is for incidents.
	IncidentsOnly Reason = "incidents-only"
)

// Decide is what a target is to be told of an event, in this order, and what it will know
// then. Without actions the reason says why.
func Decide(t target.Target, n Event, told Told) ([]Action, Told, Reason) {
	if n.Week != nil {
		return decideWeek(t, *n.Week, told)
	}
	if n.Incident == nil {
		if t.Kind.HasAlerts() {
			return []Action{Trigger, Resolve}, told, ToTell // the way is tried, and nothing stays open
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
		told.Acknowledged, told.Resolved = false, false
	}
	next := told
	next.Opened, next.Sequence = e.Opened, e.Sequence
	var actions []Action
	switch news := newsOf(e); news {
	case begins, worse:
		if !atLeast(e.Severity, t.Least) && !told.Open {
			return nil, told, BelowSeverity
		}
		next.Open, next.Resolved = true, false
		actions = []Action{Trigger}
	case taken:
		if !told.Open && !atLeast(e.Severity, t.Least) {
			return nil, told, BelowSeverity
		}
		if !t.Kind.HasAlerts() && t.Kind != target.Webhook {
			return nil, told, NotForPeople
		}
		if t.Kind.HasAlerts() && told.Acknowledged {
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
		if t.Kind.HasAlerts() && e.Resolution == incident.GivenUpOn {
			return nil, told, StillFails
		}
		next.Open, next.Acknowledged = false, false
		actions = []Action{Resolve}
	default:
		if t.Kind != target.Webhook && (news != acted || t.Kind.HasAlerts() || t.Kind == target.SlackWebhook) {
			return nil, told, NotForPeople
		}
		if !told.Open && !atLeast(e.Severity, t.Least) {
			return nil, told, BelowSeverity
		}
	}
	if !t.Kind.HasAlerts() {
		actions = []Action{Post}
	}
	if older(e, told) {
		next = told // a webhook's receiver orders by sequence; the record keeps the newest
	}
	return actions, next, ToTell
}

// decideWeek is Decide for a week: each is sent once, and none after a later one.
func decideWeek(t target.Target, w Week, told Told) ([]Action, Told, Reason) {
	switch {
	case t.Kind.HasAlerts():
		return nil, told, NoAlert
	case t.Least != "":
		return nil, told, IncidentsOnly
	case !w.To.After(told.Opened):
		return nil, told, OlderNews
	}
	return []Action{Post}, Told{Opened: w.To}, ToTell
}

// older reports whether the target knows this event, or a newer one. Sequence orders the events
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
	taken                  // a responder has it
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

// Wants reports whether a kind of target may ever get an event: of others there is
// no message on the queue.
func Wants(t target.Target, n Event) bool {
	if n.Week != nil {
		_, _, reason := decideWeek(t, *n.Week, Told{})
		return reason == ToTell
	}
	_, _, reason := Decide(target.Target{Kind: t.Kind}, n, Told{Open: true})
	return reason != NotForPeople
}

// atLeast reports whether a severity is as urgent as the least that is asked for; "" asks for none.
func atLeast(s incident.Severity, least string) bool {
	rank := map[incident.Severity]int{incident.Info: 0, incident.Warning: 1, incident.Critical: 2}
	return rank[s] >= rank[incident.Severity(least)]
}

// Mail is a message of SNS, as people get it by mail.
type Mail struct {
	Subject, Body string
	// Attributes are what a subscription's filter policy may choose by.
	Attributes map[string]string
}

// maxSubject is one less than SNS's limit: "less than 100 characters long", without line
// breaks and control characters (SNS API reference, Publish, Subject). It is written in
// ASCII, as mail programs show that everywhere.
const maxSubject = 99

// ToMail is the message. It stays far below SNS's 256 KB, as its words are clipped.
func ToMail(n Event) Mail {
	m := Mail{Subject: subject(Urgency(n) + ": " + n.Words.Headline), Attributes: map[string]string{"type": n.Type}}
	var b strings.Builder
	b.WriteString(Urgency(n) + ": " + n.Words.Headline + "\n")
	for _, l := range n.Words.Lines {
		switch {
		case l.Label == "": // of the list that a line without text began
			b.WriteString("- " + l.Text + "\n")
		case l.Text == "":
			b.WriteString("\n" + l.Label + ":\n")
		default:
			b.WriteString("\n" + l.Label + ": " + l.Text + "\n")
		}
	}
	if n.Words.Command != "" {
		b.WriteString("\n    " + strings.ReplaceAll(n.Words.Command, "\n", "\n    ") + "\n")
	}
	for _, l := range links(n.Words) {
		b.WriteString("\n" + l.Text + ": " + l.Address + "\n")
	}
	if e := n.Incident; e != nil {
		b.WriteString("\n" + footer(n) + "\n")
		for name, value := range map[string]string{"severity": string(e.Severity), "cluster": e.Cluster, "check": string(e.Check), "account": e.Account, "region": e.Region} {
			if value != "" { // "Name, type, and value must not be empty" (Publish, MessageAttributes)
				m.Attributes[name] = value
			}
		}
	}
	m.Body = b.String()
	return m
}

// subject writes a line in printable ASCII of at most maxSubject characters.
func subject(s string) string {
	s = strings.NewReplacer("·", "-", "→", "->", "…", "...", "–", "-", "’", "'").Replace(s)
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case r < ' ', r == 0x7f:
			return -1
		case r > '~':
			return '?'
		}
		return r
	}, s)
	if len(s) > maxSubject {
		s = s[:maxSubject-3] + "..."
	}
	return s
}

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
func ToPagerDuty(n Event, a Action) PagerDuty {
	p := PagerDuty{Action: a, DedupKey: Key(n.Subject())}
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

// Key is an incident's key: what is triggered by it is resolved by it.
func Key(about string) string {
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
	for _, l := range []link{{"Logs", w.Logs}, {"Runbook", w.Runbook}, {"Dashboard", w.Dashboard}} {
		if l.Address != "" {
			list = append(list, l)
		}
	}
	return list
}

// Limits of an alert of Jira Service Management: those of Opsgenie, whose API it is
// (docs.opsgenie.com/docs/alert-api, "Create Alert", "Alert Fields").
const (
	maxMessage     = 130
	maxAlias       = 512
	maxDescription = 15_000
)

// JSM is a request to the integration events API of the Operations of Jira Service
// Management (developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events).
type JSM struct {
	// Path is behind the API's address.
	Path string
	Body any
}

// JSMAlert is the body of "Create alert". One of the same alias as an alert that is open
// counts as one more of it ("Alert De-Duplication").
type JSMAlert struct {
	Message     string            `json:"message"`
	Alias       string            `json:"alias"`
	Description string            `json:"description,omitempty"`
	Source      string            `json:"source"`
	Entity      string            `json:"entity,omitempty"`
	Priority    string            `json:"priority"`
	Tags        []string          `json:"tags,omitempty"`
	Details     map[string]string `json:"details,omitempty"`
}

// ToJSM is the request by which Jira Service Management takes an action.
func ToJSM(n Event, a Action) JSM {
	const alerts = "/jsm/ops/integration/v2/alerts"
	alias := Key(n.Subject())
	verb := map[Action]string{Acknowledge: "acknowledge", Resolve: "close"}[a]
	if verb != "" {
		path := alerts + "/" + url.PathEscape(alias) + "/" + verb + "?identifierType=alias"
		return JSM{path, map[string]string{"source": "Rollcall", "note": clip(n.Words.Headline, maxMessage)}}
	}
	alert := JSMAlert{Message: clip(n.Words.Headline, maxMessage), Alias: alias, Source: "Rollcall", Priority: "P5"}
	if e := n.Incident; e != nil {
		alert.Entity = clip(e.Resource, maxAlias)
		alert.Priority = map[incident.Severity]string{incident.Critical: "P1", incident.Warning: "P3", incident.Info: "P5"}[e.Severity]
		alert.Tags = []string{"rollcall", string(e.Check)}
		alert.Details = map[string]string{"cluster": e.Cluster, "account": e.Account, "region": e.Region, "check": string(e.Check)}
		alert.Description = clip(ToMail(n).Body, maxDescription)
	}
	return JSM{alerts, alert}
}

// AmazonQ is a custom notification of Amazon Q Developer in chat applications (its
// administrator guide, "Custom notifications"; AWS Chatbot before). Messages with one
// threadId are one thread.
type AmazonQ struct {
	Version  string          `json:"version"`
	Source   string          `json:"source"`
	ID       string          `json:"id"`
	Content  AmazonQContent  `json:"content"`
	Metadata AmazonQMetadata `json:"metadata"`
}

// AmazonQContent is what is shown.
type AmazonQContent struct {
	TextType    string   `json:"textType"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	NextSteps   []string `json:"nextSteps,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
}

// AmazonQMetadata groups messages and describes them.
type AmazonQMetadata struct {
	ThreadID          string            `json:"threadId"`
	Summary           string            `json:"summary"`
	EventType         string            `json:"eventType"`
	RelatedResources  []string          `json:"relatedResources,omitempty"`
	AdditionalContext map[string]string `json:"additionalContext,omitempty"`
}

// maxTitle bounds titles and summaries: they are one line of a chat.
const maxTitle = 250

// escaped keeps what comes from AWS from being a mention or a link: client-markdown is the
// chat's own (docs.slack.dev/messaging/formatting-message-text, "Escaping text").
func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// ToAmazonQ is the notification as JSON. An incident is one thread from its opening to its end.
func ToAmazonQ(n Event) ([]byte, error) {
	q := AmazonQ{Version: "1.0", Source: "custom", ID: Delivery("amazonq", n.ID)}
	q.Content.TextType, q.Content.Title = "client-markdown", escaped(clip(Urgency(n)+": "+n.Words.Headline, maxTitle))
	q.Metadata.Summary, q.Metadata.EventType = q.Content.Title, n.Type
	thread := n.Subject()
	if e := n.Incident; e != nil {
		thread += "/" + e.Opened.UTC().Format(time.RFC3339)
		q.Content.Keywords = []string{escaped(e.Cluster), string(e.Check), string(e.Severity)}
		q.Metadata.RelatedResources = []string{e.Resource}
		q.Metadata.AdditionalContext = map[string]string{"account": e.Account, "region": e.Region, "cluster": e.Cluster, "severity": string(e.Severity)}
	}
	q.Metadata.ThreadID = Delivery("amazonq", thread)
	var lines []string
	for _, l := range n.Words.Lines {
		switch {
		case l.Label == "Do":
			q.Content.NextSteps = append(q.Content.NextSteps, escaped(l.Text))
		case l.Label == "": // of the list that a line without text began
			lines = append(lines, "• "+escaped(l.Text))
		default:
			lines = append(lines, strings.TrimSpace("*"+escaped(l.Label)+"* "+escaped(l.Text)))
		}
	}
	if n.Words.Command != "" {
		q.Content.NextSteps = append(q.Content.NextSteps, "```"+escaped(n.Words.Command)+"```")
	}
	for _, l := range links(n.Words) {
		q.Content.NextSteps = append(q.Content.NextSteps, "<"+l.Address+"|"+l.Text+">")
	}
	q.Content.Description = cmp.Or(strings.Join(lines, "\n"), q.Content.Title) // "description" is required
	body, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("write the notification of %s: %w", n.ID, err)
	}
	return body, nil
}

// SlackMessage is what an incoming webhook of Slack takes
// (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). Its blocks are
// rich_text alone: text in them is never parsed, so that nothing that comes from AWS is a
// mention or a link.
type SlackMessage struct {
	// Text is for notifications, where it is parsed.
	Text        string       `json:"text"`
	Blocks      []SlackBlock `json:"blocks"`
	UnfurlLinks bool         `json:"unfurl_links"`
}

// SlackBlock is a rich_text block.
type SlackBlock struct {
	Type     string         `json:"type"`
	Elements []SlackSection `json:"elements"`
}

// SlackSection is a paragraph, or a command to copy.
type SlackSection struct {
	Type     string     `json:"type"`
	Elements []SlackRun `json:"elements"`
}

// SlackRun is a run of text, or a link.
type SlackRun struct {
	Type  string      `json:"type"`
	Text  string      `json:"text"`
	URL   string      `json:"url,omitempty"`
	Style *SlackStyle `json:"style,omitempty"`
}

// SlackStyle is how a run looks.
type SlackStyle struct {
	Bold   bool `json:"bold,omitempty"`
	Italic bool `json:"italic,omitempty"`
}

// maxSlack is how many characters of lines a message has: Slack refuses blocks that are
// larger than it shows, of which it names no number; what people read is far below.
const maxSlack = 6000

// slackLimits is what an opening says of a message by an incoming webhook: the page is the
// same that has no such limits.
const slackLimits = "Incoming webhook: no buttons, threads or edits; what changes is a new message. The Slack app has all of it (docs/install.md)."

// ToSlack is the message as JSON.
func ToSlack(n Event) ([]byte, error) {
	top := map[string]string{"Critical": "🔴", "Warning": "🟠", "Cause gone": "🟠", "Resolved": "✅", "Closed": "⚪"}[Urgency(n)]
	m := SlackMessage{Text: escaped(clip(Urgency(n)+": "+n.Words.Headline, maxTitle))}
	var list []SlackSection
	add := func(kind string, runs ...SlackRun) {
		for i := range runs {
			if runs[i].Type = "text"; runs[i].URL != "" {
				runs[i].Type = "link"
			}
		}
		list = append(list, SlackSection{kind, runs})
	}
	end := func() {
		if len(list) > 0 {
			m.Blocks, list = append(m.Blocks, SlackBlock{"rich_text", list}), nil
		}
	}
	const paragraph = "rich_text_section"
	bold := &SlackStyle{Bold: true}
	add(paragraph, SlackRun{Text: strings.TrimSpace(top+" "+Urgency(n)) + " · " + clip(n.Words.Headline, maxHeadline), Style: bold})
	end()
	left := maxSlack
	for i, l := range n.Words.Lines {
		text := clip(l.Text, maxHeadline)
		if left -= len(l.Label) + len(text); left < 0 {
			many := "lines have"
			if i == len(n.Words.Lines)-1 {
				many = "line has"
			}
			add(paragraph, SlackRun{Text: fmt.Sprintf("%d more %s no room here.", len(n.Words.Lines)-i, many)})
			break
		}
		switch {
		case l.Label == "": // of the list that a line without text began
			add(paragraph, SlackRun{Text: "• " + text})
		case text == "":
			add(paragraph, SlackRun{Text: l.Label, Style: bold})
		default:
			add(paragraph, SlackRun{Text: l.Label, Style: bold}, SlackRun{Text: "\u2003" + text})
		}
	}
	if n.Words.Command != "" {
		add("rich_text_preformatted", SlackRun{Text: clip(n.Words.Command, 3*maxHeadline)})
	}
	end()
	var runs []SlackRun
	if footer := footer(n); footer != "" {
		runs = append(runs, SlackRun{Text: footer})
	}
	for _, l := range links(n.Words) {
		if len(runs) > 0 {
			runs = append(runs, SlackRun{Text: " · "})
		}
		runs = append(runs, SlackRun{Text: l.Text, URL: l.Address})
	}
	if len(runs) > 0 {
		add(paragraph, runs...)
	}
	if e := n.Incident; n.Week == nil && (e == nil || newsOf(*e) == begins) {
		add(paragraph, SlackRun{Text: slackLimits, Style: &SlackStyle{Italic: true}})
	}
	end()
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write the message of %s: %w", n.ID, err)
	}
	return body, nil
}

// maxTeams is below what Teams takes: "the message size limit is approximately 28 KB", with
// all that Teams makes of it (learn.microsoft.com/connectors/teams, "Known issues and
// limitations with actions"); a client has measured 21 KB of its own (msteams_hermes,
// MSTEAMS_MESSAGE_SIZE_LIMIT). A workflow answers 202 before it posts: what it cannot post
// is in its own history alone, which is not read here.
const maxTeams = 20_000

// Teams is what a workflow "When a Teams webhook request is received" takes: a message with
// an Adaptive Card (learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using).
// Workflows take no message cards of the connectors, which Microsoft has retired.
type Teams struct {
	Type        string            `json:"type"`
	Attachments []TeamsAttachment `json:"attachments"`
}

// TeamsAttachment is a card.
type TeamsAttachment struct {
	ContentType string `json:"contentType"`
	Content     Card   `json:"content"`
}

// Card is an Adaptive Card, of version 1.2 as Teams shows it everywhere.
type Card struct {
	Schema  string       `json:"$schema"`
	Type    string       `json:"type"`
	Version string       `json:"version"`
	Body    []CardText   `json:"body"`
	Actions []CardAction `json:"actions,omitempty"`
	Teams   CardWidth    `json:"msteams"`
}

// CardWidth has Teams use the whole width.
type CardWidth struct {
	Width string `json:"width"`
}

// CardText is a RichTextBlock. Its runs take no Markdown
// (learn.microsoft.com/adaptive-cards/schema-explorer/text-run), so that nothing that
// comes from AWS can be a link or break the card; a TextBlock would.
type CardText struct {
	Type    string    `json:"type"`
	Inlines []CardRun `json:"inlines"`
	Spacing string    `json:"spacing,omitempty"`
}

// CardRun is a run of text.
type CardRun struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Weight string `json:"weight,omitempty"`
	Size   string `json:"size,omitempty"`
	Color  string `json:"color,omitempty"`
	Font   string `json:"fontType,omitempty"`
	Subtle bool   `json:"isSubtle,omitempty"`
}

// CardAction opens a page.
type CardAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

// ToTeams is the message as JSON. Where it would be too large it goes without its command,
// and then without its lines: the headline always arrives.
func ToTeams(n Event) ([]byte, error) {
	if n.Week != nil {
		return weekToTeams(n)
	}
	w := n.Words
	for _, shorter := range []func(){
		func() {},
		func() { w.Command = "" },
		func() { w.Lines = w.Lines[:min(1, len(w.Lines))] },
		func() { w.Lines, w.Headline = nil, clip(w.Headline, maxHeadline) },
	} {
		shorter()
		body, err := teams(n, w)
		if err != nil || len(body) <= maxTeams {
			return body, err
		}
	}
	return nil, fmt.Errorf("the card of %s exceeds the %d bytes that Teams accepts", n.ID, maxTeams)
}

// weekToTeams is the card of a week: the first of its lines, which matter most, and how many
// more there are.
func weekToTeams(n Event) ([]byte, error) {
	w := n.Words
	w.Headline = clip(w.Headline, maxHeadline)
	for left := 0; ; left++ {
		w.Lines = slices.Clone(n.Words.Lines[:len(n.Words.Lines)-left])
		if left > 0 {
			w.Lines = append(w.Lines, incident.Line{Label: "More", Text: fmt.Sprintf("%d more lines in Slack", left)})
		}
		body, err := teams(n, w)
		if err != nil || len(body) <= maxTeams || left == len(n.Words.Lines) {
			return body, err
		}
	}
}

// teams is the card as JSON.
func teams(n Event, w incident.Words) ([]byte, error) {
	body, err := json.Marshal(Teams{"message", []TeamsAttachment{{"application/vnd.microsoft.card.adaptive", card(n, w)}}})
	if err != nil {
		return nil, fmt.Errorf("write the card of %s: %w", n.ID, err)
	}
	return body, nil
}

// maxHeadline is more than any screen holds.
const maxHeadline = 1000

// clip cuts s to at most so many characters, the last of which is then "…".
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func card(n Event, w incident.Words) Card {
	c := Card{Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.2", Teams: CardWidth{"Full"}}
	add := func(spacing string, runs ...CardRun) {
		for i := range runs {
			runs[i].Type = "TextRun"
		}
		c.Body = append(c.Body, CardText{"RichTextBlock", runs, spacing})
	}
	add("", CardRun{Text: Urgency(n) + " · ", Weight: "Bolder", Size: "Medium", Color: color(n)}, CardRun{Text: w.Headline, Weight: "Bolder", Size: "Medium"})
	for _, l := range w.Lines {
		switch {
		case l.Label == "": // of the list that a line without text began
			add("None", CardRun{Text: "•  " + l.Text})
		case l.Text == "":
			add("Small", CardRun{Text: l.Label, Weight: "Bolder"})
		default:
			add("Small", CardRun{Text: l.Label + "  ", Weight: "Bolder"}, CardRun{Text: l.Text})
		}
	}
	if w.Command != "" {
		add("Small", CardRun{Text: w.Command, Font: "Monospace"})
	}
	if footer := footer(n); footer != "" {
		add("Small", CardRun{Text: footer, Subtle: true, Size: "Small"})
	}
	for _, l := range links(w) {
		c.Actions = append(c.Actions, CardAction{"Action.OpenUrl", l.Text, l.Address})
	}
	return c
}

// Urgency is the state as a word, beside its color.
func Urgency(n Event) string {
	switch e := n.Incident; {
	case n.Week != nil:
		return "Rollcall"
	case e == nil:
		return "Test"
	case e.Kind == incident.EventAcknowledged:
		return "Acknowledged"
	case e.Kind == incident.EventActed && e.Reason == incident.RemedyDone:
		return "Remedy done"
	case e.Kind == incident.EventActed:
		return "Remedy not done"
	case e.State == incident.Closed && (e.Resolution == incident.Proved || e.Resolution == incident.Unproved):
		return "Resolved"
	case e.State == incident.Closed && e.Resolution != incident.GivenUpOn:
		return "Closed"
	case e.State == incident.Cleared:
		return "Cause gone"
	case e.Severity == incident.Critical:
		return "Critical"
	case e.Severity == incident.Warning:
		return "Warning"
	}
	return "Info"
}

// color is one of Adaptive Cards' own.
func color(n Event) string {
	if n.Week != nil {
		return map[report.Verdict]string{report.WeekCritical: "Attention", report.WeekWrong: "Warning", report.WeekWell: "Good"}[n.Week.Result]
	}
	switch Urgency(n) {
	case "Critical":
		return "Attention"
	case "Warning", "Cause gone", "Remedy not done":
		return "Warning"
	case "Resolved", "Remedy done":
		return "Good"
	}
	return "Accent"
}

// footer has the spoke, and the check.
func footer(n Event) string {
	if n.Incident == nil {
		return ""
	}
	return fmt.Sprintf("%s · account %s · %s", n.Incident.Check, n.Incident.Account, n.Incident.Region)
}

// The headers of a signed request.
const (
	HeaderTimestamp = "Rollcall-Timestamp"
	HeaderSignature = "Rollcall-Signature"
	// HeaderDelivery is the same each time an event is sent to a webhook.
	HeaderDelivery = "Rollcall-Delivery"
)

// Headers sign a body: the signature is of "v1:<timestamp>:<body>", so that a request
// cannot be sent again later with a fresh time.
func Headers(key, target, event string, body []byte, now time.Time) map[string]string {
	timestamp := strconv.FormatInt(now.Unix(), 10)
	return map[string]string{
		HeaderTimestamp: timestamp,
		HeaderSignature: "v1=" + Sign(key, timestamp, body),
		HeaderDelivery:  Delivery(target, event),
	}
}

// Sign is HMAC-SHA256, in hexadecimal.
func Sign(key, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("v1:" + timestamp + ":"))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// Delivery names one event for one target, and is the same when it is sent again.
func Delivery(target, event string) string {
	sum := sha256.Sum256([]byte(target + "\n" + event))
	return hex.EncodeToString(sum[:16])
}
