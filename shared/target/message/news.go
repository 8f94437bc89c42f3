// Package message is what targets besides Slack are told: what of the news on Rollcall's
// bus is for whom, and in which form. All of it is pure; package deliver sends.
package message

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// News is one event of Rollcall's bus.
type News struct {
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

// Test is the detail-type of a message by which somebody tries the targets
// ("rollcall doctor --test-message").
const Test = "Rollcall Test Message"

// TestWords are the words of such a message.
func TestWords(account, region string) incident.Words {
	return incident.Words{Headline: fmt.Sprintf("Test message of Rollcall in account %s, %s: incidents are told here.", account, region)}
}

// Pattern is what targets are told of.
const Pattern = `{
  "source": ["rollcall"],
  "detail-type": [
    "Rollcall Incident Opened", "Rollcall Incident Reopened", "Rollcall Incident Changed", "Rollcall Incident Resolved",
    "Rollcall Incident Acknowledged", "Rollcall Remedy Acted", "` + incident.WeekType + `", "` + Test + `"
  ]
}`

// ErrMalformed: an event is none of Rollcall's, and never will be.
var ErrMalformed = errors.New("the event is not one that targets are told of")

// Parse reads an event as EventBridge delivers it.
func Parse(raw []byte) (News, error) {
	var envelope struct {
		Source  string          `json:"source"`
		Type    string          `json:"detail-type"`
		Account string          `json:"account"`
		Region  string          `json:"region"`
		Detail  json.RawMessage `json:"detail"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return News{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	n := News{Raw: raw, Type: envelope.Type}
	if envelope.Source != "rollcall" {
		return News{}, fmt.Errorf("%w: source %q, detail-type %q", ErrMalformed, envelope.Source, envelope.Type)
	}
	if n.Type == Test || n.Type == incident.WeekType {
		var w struct {
			Week
			ID    string         `json:"id"`
			At    time.Time      `json:"at"`
			Words incident.Words `json:"words"`
		}
		if err := json.Unmarshal(envelope.Detail, &w); err != nil {
			return News{}, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		if n.ID, n.At, n.Words = w.ID, w.At, w.Words; w.Words.Headline == "" {
			return News{}, fmt.Errorf("%w: %s says nothing", ErrMalformed, n.Type)
		}
		if n.Type == incident.WeekType {
			if n.Week = &w.Week; w.To.IsZero() {
				return News{}, fmt.Errorf("%w: when the week ended is missing", ErrMalformed)
			}
		}
	} else {
		var e incident.Event
		if err := json.Unmarshal(envelope.Detail, &e); err != nil {
			return News{}, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		if e.Kind.DetailType() != n.Type || e.Cluster == "" || e.Check == "" || e.Resource == "" {
			return News{}, fmt.Errorf("%w: detail-type %q, kind %q", ErrMalformed, n.Type, e.Kind)
		}
		n.ID, n.At, n.Incident, n.Words = e.ID, e.At, &e, wordsOf(e)
	}
	if n.ID == "" || n.At.IsZero() {
		return News{}, fmt.Errorf("%w: id or time is missing", ErrMalformed)
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
func (n News) WithEvent(e incident.Event) (News, error) {
	n.ID, n.At, n.Incident, n.Words = e.ID, e.At, &e, wordsOf(e)
	return n.withDetail(e)
}

// WithWeek returns the news of a week as it was published, or false where the digest is of
// another event.
func (n News) WithWeek(digest string) (News, bool, error) {
	var envelope struct {
		Detail json.RawMessage `json:"detail"`
	}
	if err := json.Unmarshal(n.Raw, &envelope); err != nil {
		return News{}, false, err
	}
	week, of, err := incident.ReadWeek(envelope.Detail)
	if err != nil || of != digest {
		return News{}, false, err
	}
	n, err = n.withDetail(week) // without what else was in the event
	return n, true, err
}

// withDetail returns the news with another detail in its envelope.
func (n News) withDetail(of any) (News, error) {
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(n.Raw, &envelope); err != nil {
		return News{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	detail, err := json.Marshal(of)
	if err != nil {
		return News{}, fmt.Errorf("encode the event %s: %w", n.ID, err)
	}
	envelope["detail"] = detail
	if n.Raw, err = json.Marshal(envelope); err != nil {
		return News{}, fmt.Errorf("encode the event %s: %w", n.ID, err)
	}
	return n, nil
}

// apart is how far clocks may differ.
const apart = 5 * time.Minute

// Future reports whether an event names a time that has not come: it is not Rollcall's, and
// what a target remembers of it would hide everything until then.
func (n News) Future(now time.Time) bool {
	at := []time.Time{n.At}
	if n.Incident != nil {
		at = append(at, n.Incident.Opened, n.Incident.Began, n.Incident.Resolved)
	}
	if n.Week != nil {
		at = append(at, n.Week.To)
	}
	return slices.ContainsFunc(at, func(t time.Time) bool { return t.After(now.Add(apart)) })
}

// About names the incident: in records, in groups of messages, to PagerDuty.
func (n News) About() string {
	if n.Week != nil {
		return "week"
	}
	if n.Incident == nil {
		return "test"
	}
	e := n.Incident
	return e.Account + "/" + e.Region + "/" + e.Cluster + "/" + string(e.Check) + "#" + e.Resource
}
