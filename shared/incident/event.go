package incident

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// EventFormat is the version of Event. Fields may be added without a new one.
const EventFormat = 1

// Event is the detail of a finding event on the Rollcall bus, for anyone's
// rule. events/schema/ documents it.
type Event struct {
	// ID is the same each time this event is sent, so that who gets it twice can tell.
	ID     string `json:"id"`
	Format int    `json:"format"`
	// Kind is the end of the detail-type.
	Kind EventKind `json:"kind"`
	// Reason is what made it be sent.
	Reason Reason    `json:"reason"`
	At     time.Time `json:"at"`

	Partition string    `json:"partition"`
	Account   string    `json:"account"`
	Region    string    `json:"region"`
	Cluster   string    `json:"cluster"`
	Check     checks.ID `json:"check"`
	Resource  string    `json:"resource"`

	State State `json:"state"`
	// Silenced tells that somebody asked that nobody be told: it is recorded, and who calls
	// people for it does not.
	Silenced bool `json:"silenced,omitempty"`
	// Severity is what people are called by.
	Severity Severity `json:"severity,omitempty"`
	// Number counts how often this incident was opened.
	Number int `json:"number"`
	// Sequence orders the events of one incident record.
	Sequence   int        `json:"sequence"`
	Began      time.Time  `json:"began"`
	Opened     time.Time  `json:"opened"`
	Cleared    time.Time  `json:"cleared,omitzero"`
	Resolved   time.Time  `json:"resolved,omitzero"`
	Resolution Resolution `json:"ending,omitempty"`
	// LastedSeconds is from Began to Resolved.
	LastedSeconds int `json:"lastedSeconds,omitempty"`

	Confidence checks.Confidence `json:"confidence"`
	Title      string            `json:"title"`
	Why        string            `json:"why"`
	Evidence   []checks.Evidence `json:"evidence,omitempty"`
	Fix        checks.Fix        `json:"fix,omitzero"`
	Nodegroups []string          `json:"nodegroups,omitempty"`
	Covers     []string          `json:"covers,omitempty"`
	Affected   int               `json:"affected"`
	Instances  []EventInstance   `json:"instances,omitempty"`
	Proof      *EventInstance    `json:"proof,omitempty"`
	// Words are what a person reads of it; nil in events that an earlier release left in
	// the outbox.
	Words *Words `json:"words,omitempty"`
	// Muted tells that a person wants nobody to be called now.
	Muted bool `json:"muted,omitempty"`
	// Ack is who has it.
	Ack *Ack `json:"ack,omitempty"`
	// Offer is the approved plan, of an event Approved, the one that was carried out, of an
	// event Acted, or the one that helped, of an event Resolved.
	Offer *Offer             `json:"offer,omitempty"`
	Blind []snapshot.Failure `json:"blind,omitempty"`
}

// Words are what a person reads of an incident, as its message in Slack says it, in plain
// text: no markup, no mentions, times in UTC.
type Words struct {
	// Headline is place and verdict: "prod / workers · 12 instances cannot join: …".
	Headline string `json:"headline"`
	// Lines are what hurts, why, and what to do, in that order.
	Lines []Line `json:"lines,omitempty"`
	// Command can be pasted into a shell.
	Command string `json:"command,omitempty"`
	// Console is the page of what is to be looked at, Docs that of the check.
	Console string `json:"console,omitempty"`
	Docs    string `json:"docs,omitempty"`
}

// Line is a sentence or few, and what they are about: "Impact", "Why", "Do".
type Line struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// EventInstance is an affected instance in an event.
type EventInstance struct {
	Instance  string              `json:"instance"`
	Nodegroup string              `json:"nodegroup,omitempty"`
	Subnet    string              `json:"subnet,omitempty"`
	Started   time.Time           `json:"started,omitzero"`
	Status    report.LaunchStatus `json:"standing"`
	Ready     time.Time           `json:"ready,omitzero"`
}

// AddEvent puts the event for a reason into the outbox. An untold "Changed" is
// replaced by a newer one: while the bus is down, the outbox stays small.
func (inc *Incident) AddEvent(reason Reason, at time.Time) {
	kind := reason.Event()
	if kind == "" {
		return
	}
	if n := len(inc.PendingEvents); n > 0 && kind == EventChanged && inc.PendingEvents[n-1].Kind == EventChanged {
		inc.PendingEvents = inc.PendingEvents[:n-1]
	}
	inc.Events++
	inc.PendingEvents = append(inc.PendingEvents, inc.makeEvent(kind, reason, at))
}

// AddActed puts the event of what a remedy did into the outbox.
func (inc *Incident) AddActed(reason Reason, o Offer, at time.Time) {
	inc.AddEvent(reason, at)
	if n := len(inc.PendingEvents); n > 0 && inc.PendingEvents[n-1].Kind == EventActed {
		inc.PendingEvents[n-1].Offer = &o
	}
}

// Word gives the events that nobody has worded yet the words that hold now. One that tells
// of another state than that of now has none: words of a later moment would contradict it.
func (inc *Incident) Word(words Words) {
	for i := range inc.PendingEvents {
		if e := &inc.PendingEvents[i]; e.Words == nil && e.State == inc.State && e.Number == inc.Number {
			e.Words = &words
		}
	}
}

// Digest names the event with all that it says.
func (e Event) Digest() string { return digest(e) }

func digest(event any) string {
	text, err := json.Marshal(event)
	if err != nil { // texts, numbers and times
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// WasPublished reports whether the record knows the event as one that the bus took from
// it, or is about to take.
func (inc *Incident) WasPublished(e Event) bool {
	digest := e.Digest()
	return slices.Contains(inc.Published, digest) || slices.ContainsFunc(inc.PendingEvents, func(p Event) bool { return p.Digest() == digest })
}

// FromRecord returns what the record itself says where an event claims to be of it, or
// false where the record says otherwise.
func (inc Incident) FromRecord(e Event) (Event, bool) {
	if !e.Opened.Equal(inc.Opened) || e.Sequence > inc.Events || e.Sequence < 1 {
		return Event{}, false
	}
	closed := inc.State == Closed
	switch e.Kind {
	case EventResolved:
		if !closed {
			return Event{}, false
		}
	case EventAcknowledged:
		if inc.Ack == nil || closed {
			return Event{}, false
		}
	case EventOpened, EventReopened, EventChanged:
		if closed {
			return Event{}, false
		}
	default:
		return Event{}, false
	}
	inc.Events = e.Sequence
	return inc.makeEvent(e.Kind, BetterKnown, inc.Changed), true
}

func (inc *Incident) makeEvent(kind EventKind, reason Reason, at time.Time) Event {
	e := Event{
		ID:     fmt.Sprintf("%s/%s/%s/%s/%d", inc.Key.Of(), inc.Key.Check, inc.Key.Resource, inc.Opened.UTC().Format("20060102T150405.000Z"), inc.Events),
		Format: EventFormat,
		Kind:   kind,
		Reason: reason,
		At:     at,

		Partition: inc.Partition,
		Account:   inc.Account,
		Region:    inc.Region,
		Cluster:   inc.Key.Cluster,
		Check:     inc.Key.Check,
		Resource:  inc.Key.Resource,

		State:      inc.State,
		Silenced:   inc.Silence != nil,
		Severity:   inc.Severity(),
		Number:     inc.Number,
		Sequence:   inc.Events,
		Began:      inc.Began,
		Opened:     inc.Opened,
		Cleared:    inc.Cleared,
		Resolved:   inc.Resolved,
		Resolution: inc.Resolution,

		Confidence: inc.Cause.Confidence,
		Title:      inc.Cause.Title,
		Why:        inc.Cause.Why,
		Evidence:   First(inc.Cause.Evidence, MaxNamed),
		Fix:        inc.Cause.Fix,
		Nodegroups: First(inc.Cause.Nodegroups, MaxNamed),
		Covers:     First(inc.Covers, MaxNamed),
		Affected:   inc.Affected,
		Blind:      inc.Blind,
		Muted:      inc.Muted(at),
		Ack:        inc.Ack,
	}
	if inc.State == Closed {
		e.LastedSeconds = int(inc.Resolved.Sub(inc.Began) / time.Second)
	}
	if by, helped := inc.FixedBy(); helped && kind == EventResolved {
		e.Offer = &by
	}
	for _, l := range First(inc.Launches, MaxNamed) {
		e.Instances = append(e.Instances, inEvent(l))
	}
	if inc.Proof != nil {
		proof := inEvent(*inc.Proof)
		e.Proof = &proof
	}
	return e
}

func inEvent(l report.Launch) EventInstance {
	return EventInstance{Instance: l.Instance, Nodegroup: l.Nodegroup, Subnet: l.Subnet, Started: l.Started, Status: l.Status, Ready: l.Ready}
}

// First is at most n of a list, never sharing memory with it.
func First[T any](list []T, n int) []T {
	return append([]T(nil), list[:min(n, len(list))]...)
}
