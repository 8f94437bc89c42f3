package incident

import (
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"time"
)

// Delivery is what Slack has been told.
type Delivery struct {
	Channel string `json:"channel,omitempty"`
	// TS is the message's timestamp, its id in Slack.
	TS string `json:"ts,omitempty"`
	// Digest is of the message as it was last sent.
	Digest string `json:"digest,omitempty"`
	// Looked is the last look that the message tells of.
	Looked time.Time `json:"looked,omitzero"`
	// Dirty is set when the record changed since: the message may have to be
	// edited. Better words in a new version of Rollcall alone edit nothing.
	Dirty bool `json:"behind,omitempty"`
	// Sending is when a new message was about to be sent: if TS is empty and
	// Sending is set, an earlier attempt may have been cut off after Slack
	// took it, so the channel's history is asked before posting again.
	Sending time.Time `json:"sending,omitzero"`
	// Unshared is why Slack does not take files, so that it is logged once.
	Unshared string `json:"unshared,omitempty"`
	// Notes are the thread's replies, in order.
	Notes []Note `json:"notes,omitempty"`
}

// stampLasts is how long a message may tell of an older look than the last: an edit for
// that alone is made once an hour, and when somebody asked for a look.
const stampLasts = time.Hour

// StampDue tells that the message is to say anew when it was last looked at.
func (inc Incident) StampDue() bool {
	look, told := inc.LastLook(), inc.Delivery.Looked
	switch {
	case inc.State == Closed || look.IsZero():
		return false
	case look.After(inc.Asked) && inc.Asked.After(told):
		return true
	}
	return !told.IsZero() && look.Sub(told) >= stampLasts
}

// Note is one reply in the thread. Until it is sent it keeps the facts of its
// moment (see AsOf), so that it reads the same when it is sent an hour later.
type Note struct {
	// ID is unique in the incident: the reason, and a number from the second
	// time on: "cleared", "cleared-2".
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Reason  Reason    `json:"reason"`
	Times   int       `json:"times"` // how often there was a note for this reason
	TS      string    `json:"ts,omitempty"`
	Sending time.Time `json:"sending,omitzero"`

	// Says is what a failure that belongs to the incident says.
	Says string `json:"says,omitempty"`
	// Instances are those that the note is about, at most MaxNamed of the Count.
	Instances []string `json:"instances,omitempty"`
	Count     int      `json:"count,omitempty"`
	// Within is how long those that missed roll call had when they were looked at: of
	// several, the least. Records of earlier releases lack it.
	Within time.Duration `json:"within,omitempty"`
	// Evidence is what showed it: the route that is there now.
	Evidence []checks.Evidence `json:"evidence,omitempty"`
	// Facts are what a person would look up next.
	Facts []report.Fact `json:"facts,omitempty"`
	// Launch is the launch that proved it.
	Launch *report.Launch `json:"launch,omitempty"`
	// Blind is what could not be looked at then.
	Blind []snapshot.Failure `json:"blind,omitempty"`
	// Offer is the remedy's plan that it is about, as it was then.
	Offer *Offer `json:"offer,omitempty"`
	// RecentChanges is what was changed before the incident began.
	RecentChanges *report.RecentChanges `json:"trail,omitempty"`
	// Line tells that it is shown in the channel too: a person must know of it now.
	Line bool `json:"line,omitempty"`
	// Mention are whom the note calls: ids of users and user groups, or "here".
	// It is shown in the channel too.
	Mention []string `json:"mention,omitempty"`
	Then    *Then    `json:"then,omitempty"`
	// Ack is who took it over, and from whom.
	Ack *Ack `json:"ack,omitempty"`
	// Attach is the file with all of it that is still to be shared.
	Attach *Attach `json:"attach,omitempty"`
}

// Then is what an incident was when a note was made, as far as a note can
// show it.
type Then struct {
	State      State                            `json:"state"`
	Number     int                              `json:"number"`
	Began      time.Time                        `json:"began"`
	Cleared    time.Time                        `json:"cleared,omitzero"`
	Resolved   time.Time                        `json:"resolved,omitzero"`
	Resolution Resolution                       `json:"ending,omitempty"`
	Affected   int                              `json:"affected"`
	ByStatus   map[report.LaunchStatus][]string `json:"stood,omitempty"` // instances by standing
	// Launches are those of then, where the incident knows others by now: it
	// came back before the note was sent. The first MaxNamed.
	Launches  []report.Launch   `json:"launches,omitempty"`
	Cause     diagnose.Cause    `json:"cause"` // without its evidence
	ClearedBy []checks.Evidence `json:"clearedBy,omitempty"`
	Proof     *report.Launch    `json:"proof,omitempty"`
}

// MaxNamed is how many instances a note or an event names; the count is
// always given in full.
const MaxNamed = 100
