// Package report owns incidents. It decides, without any side effect, what an
// observation changes: which incident opens, changes, waits for proof, is
// resolved or comes back, and why that is said or not said.
package report

import (
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/snapshot"
)

// Incident is one cause in one cluster, from the first sight to the proof
// that it is gone. It is also the outbox: what is to be said stands here
// before it is said, and what was said stands here after.
type Incident struct {
	Key Key `json:"key"`
	// Version counts the writes of this record.
	Version int `json:"version"`
	// Format is the version of this type.
	Format int `json:"format"`

	Account   string `json:"account"`
	Region    string `json:"region"`
	Partition string `json:"partition"`

	State State `json:"state"`
	// Number is 1 for the first time, 2 when it came back, and so on.
	Number int `json:"number"`
	// Began is the first affected launch, or else the first sight of the cause.
	Began    time.Time `json:"began"`
	Opened   time.Time `json:"opened"`
	Changed  time.Time `json:"changed"`
	Seen     time.Time `json:"seen"`             // last observation in which the cause failed
	Cleared  time.Time `json:"cleared,omitzero"` // the cause passed, the proof is awaited
	Resolved time.Time `json:"resolved,omitzero"`
	Ending   Ending    `json:"ending,omitempty"`

	// Cause is the newest diagnosis of it.
	Cause diagnose.Cause `json:"cause"`
	// Covers are all subnets or instances that it ever covered.
	Covers []string `json:"covers"`
	// Launches are the affected launches. At most MaxLaunches are kept by
	// name; Affected counts all.
	Launches []Launch `json:"launches,omitempty"`
	Affected int      `json:"affected"`
	// Proof is the launch that showed that the cause is gone.
	Proof *Launch `json:"proof,omitempty"`
	// More are the ids of affected launches beyond MaxLaunches, so that none
	// is counted twice.
	More []string `json:"more,omitempty"`
	// Verdicts is the newest verdict on each of Covers.
	Verdicts []Verdict `json:"verdicts,omitempty"`
	// Joins are launches that may turn out to be the proof: the first that
	// became Ready since the cause was last seen, and the last one.
	Joins []Launch `json:"joins,omitempty"`
	// Settled is the time up to which a closed incident is settled: an
	// observation from before, however late it comes, does not reopen it.
	Settled time.Time `json:"settled,omitzero"`
	// Before is the end of the time before, for one that came back: launches
	// from then do not tell when it began again.
	Before time.Time `json:"before,omitzero"`
	// Times counts the observations in which a pending incident was seen.
	Times int `json:"times,omitempty"`
	// Effects are failures of other checks that belong to this one: a subnet that
	// leaks addresses runs out of them, refuses launches, starves nodes.
	Effects []Effect `json:"effects,omitempty"`
	// By is the incident that a superseded one gave way to.
	By *Key `json:"by,omitempty"`
	// Sketch is the picture in its message.
	Sketch *Sketch `json:"sketch,omitempty"`
	// ClearedBy is evidence of what changed: the route that is there now.
	ClearedBy []checks.Evidence  `json:"clearedBy,omitempty"`
	Facts     []Fact             `json:"facts,omitempty"`
	Blind     []snapshot.Failure `json:"blind,omitempty"`
	// Ack, Mute and Offers are what people and remedies did about it.
	Ack    *Ack    `json:"ack,omitempty"`
	Mute   *Mute   `json:"mute,omitempty"`
	Offers []Offer `json:"offers,omitempty"`
	// Trail is what was changed before it began; nil until it was looked at.
	Trail *Trail `json:"trail,omitempty"`
	// Tags are those of the affected nodegroups, by nodegroup: settings choose
	// channels by them.
	Tags map[string]map[string]string `json:"tags,omitempty"`
	// Called is when people were last called for it (mentioned), and Calls how often.
	Called time.Time `json:"called,omitzero"`
	Calls  int       `json:"calls,omitempty"`
	// Asked is when a check of it was last asked for.
	Asked time.Time `json:"asked,omitzero"`
	// Acts are presses of which the audit record is still to be written, or the
	// person to be answered.
	Acts []ActRecord `json:"acts,omitempty"`
	// Applied are the ids of the last observations taken in, so that a
	// message that the queue delivers twice changes nothing.
	Applied []string `json:"applied,omitempty"`

	Said Said `json:"said"`
	// Events counts the finding events that it ever had; Untold are those
	// that the bus has not taken yet, in order.
	Events int     `json:"events,omitempty"`
	Untold []Event `json:"untold,omitempty"`
}

// Verdict is the newest that is known of one subnet or instance.
type Verdict struct {
	Of    string    `json:"of"`
	Found Found     `json:"found"`
	At    time.Time `json:"at"`
}

// Found is what an observation found.
type Found string

// What can be found. Absent is a pass of a kind: it is there no more.
const (
	Failing Found = "failing"
	Passing Found = "passing"
	Absent  Found = "absent"
)

// Key names an incident: never by text, so that better words do not make a
// new incident.
type Key struct {
	Cluster  string    `json:"cluster"`
	Check    checks.ID `json:"check"`
	Resource string    `json:"resource"`
}

// State is where an incident is in its life.
type State string

// The states.
const (
	// Pending is not said yet: a fault that may pass by itself, seen too few times.
	Pending State = "pending"
	Open    State = "open"
	Cleared State = "cleared" // the cause is gone; a node has yet to prove it
	Closed  State = "closed"
)

// Ending is how a closed incident ended.
type Ending string

// The endings.
const (
	Proved     Ending = "proved"     // a node joined after the cause was gone
	Unproved   Ending = "unproved"   // the cause is gone, no launch came to prove it
	Superseded Ending = "superseded" // another cause explains the same launches now
	Withdrawn  Ending = "withdrawn"  // what it was about no longer exists
	GivenUpOn  Ending = "given-up"   // still no node, and no longer looked at

	ClusterDeleted Ending = "cluster-deleted" // EKS has no cluster of this name any more
	Unseen         Ending = "unseen"          // nothing was heard of it for maxUnseen
)

// MaxLaunches is how many affected launches an incident keeps by name: an
// item of the table may hold 400 KB (DynamoDB), a launch takes about 400 bytes.
const MaxLaunches = 300

// Said is what Slack has been told.
type Said struct {
	Channel string `json:"channel,omitempty"`
	// TS is the message's timestamp, its id in Slack.
	TS string `json:"ts,omitempty"`
	// Digest is of the message as it was last sent.
	Digest string `json:"digest,omitempty"`
	// Behind is set when the record changed since: the message may have to be
	// edited. Better words in a new version of Rollcall alone edit nothing.
	Behind bool `json:"behind,omitempty"`
	// Sending is when a new message was about to be sent: if TS is empty and
	// Sending is set, an earlier attempt may have been cut off after Slack
	// took it, so the channel's history is asked before posting again.
	Sending time.Time `json:"sending,omitzero"`
	// Unshared is why Slack does not take files, so that it is logged once.
	Unshared string `json:"unshared,omitempty"`
	// Notes are the thread's replies, in order.
	Notes []Note `json:"notes,omitempty"`
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
	// Evidence is what showed it: the route that is there now.
	Evidence []checks.Evidence `json:"evidence,omitempty"`
	// Facts are what a person would look up next.
	Facts []Fact `json:"facts,omitempty"`
	// Launch is the launch that proved it.
	Launch *Launch `json:"launch,omitempty"`
	// Blind is what could not be looked at then.
	Blind []snapshot.Failure `json:"blind,omitempty"`
	// Offer is the remedy's plan that it is about, as it was then.
	Offer *Offer `json:"offer,omitempty"`
	// Trail is what was changed before the incident began.
	Trail *Trail `json:"trail,omitempty"`
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
	State    State                 `json:"state"`
	Number   int                   `json:"number"`
	Began    time.Time             `json:"began"`
	Cleared  time.Time             `json:"cleared,omitzero"`
	Resolved time.Time             `json:"resolved,omitzero"`
	Ending   Ending                `json:"ending,omitempty"`
	Affected int                   `json:"affected"`
	Stood    map[Standing][]string `json:"stood,omitempty"` // instances by standing
	// Launches are those of then, where the incident knows others by now: it
	// came back before the note was sent. The first MaxNamed.
	Launches  []Launch          `json:"launches,omitempty"`
	Cause     diagnose.Cause    `json:"cause"` // without its evidence
	ClearedBy []checks.Evidence `json:"clearedBy,omitempty"`
	Proof     *Launch           `json:"proof,omitempty"`
}

// MaxNamed is how many instances a note or an event names; the count is
// always given in full.
const MaxNamed = 100
