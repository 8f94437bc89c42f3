// Package incident is the model of an incident: one cause in one cluster, from
// the first sight to the proof that it is gone. Next says which step it takes by
// what is known of it, and why; Apply makes the step. Nothing here has a side
// effect. Who belongs to whom is correlate's, what an observation makes of all
// incidents of a cluster is reconcile's, what people and remedies do about one
// is response's.
package incident

import (
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// Incident is one cause in one cluster, from the first sight to the proof
// that it is gone. It is also the outbox: what is to be said stands here
// before it is said, and what was said stands here after.
type Incident struct {
	Key report.Key `json:"key"`
	// Version counts the writes of this record.
	Version int `json:"version"`
	// Format is the version of this type.
	Format int `json:"format"`

	Account   string `json:"account"`
	Region    string `json:"region"`
	Partition string `json:"partition"`
	// Whose is the name that people know the account and region by; empty where Rollcall
	// watches one alone.
	Whose string `json:"whose,omitempty"`

	State State `json:"state"`
	// Number is 1 for the first time, 2 when it came back, and so on.
	Number int `json:"number"`
	// Began is the first affected launch, or else the first sight of the cause.
	Began      time.Time  `json:"began"`
	Opened     time.Time  `json:"opened"`
	Changed    time.Time  `json:"changed"`
	Seen       time.Time  `json:"seen"`             // last observation in which the cause failed
	Cleared    time.Time  `json:"cleared,omitzero"` // the cause passed, the proof is awaited
	Resolved   time.Time  `json:"resolved,omitzero"`
	Resolution Resolution `json:"ending,omitempty"`

	// Cause is the newest diagnosis of it.
	Cause diagnose.Cause `json:"cause"`
	// Covers are all subnets or instances that it ever covered.
	Covers []string `json:"covers"`
	// Launches are the affected launches. At most MaxLaunches are kept by
	// name; Affected counts all.
	Launches []report.Launch `json:"launches,omitempty"`
	Affected int             `json:"affected"`
	// Capacity is what its groups want and have; nil where the newest look did not tell.
	Capacity *Capacity `json:"capacity,omitempty"`
	// Proof is the launch that showed that the cause is gone.
	Proof *report.Launch `json:"proof,omitempty"`
	// More are the ids of affected launches beyond MaxLaunches, so that none
	// is counted twice.
	More []string `json:"more,omitempty"`
	// Verdicts is the newest verdict on each of Covers.
	Verdicts []Verdict `json:"verdicts,omitempty"`
	// Joins are launches that may turn out to be the proof: the first that
	// became Ready since the cause was last seen, and the last one.
	Joins []report.Launch `json:"joins,omitempty"`
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
	By *report.Key `json:"by,omitempty"`
	// Chart is the picture in its message.
	Chart *Chart `json:"sketch,omitempty"`
	// ClearedBy is evidence of what changed: the route that is there now.
	ClearedBy []checks.Evidence  `json:"clearedBy,omitempty"`
	Facts     []report.Fact      `json:"facts,omitempty"`
	Blind     []snapshot.Failure `json:"blind,omitempty"`
	// Ack, Mute and Offers are what people and remedies did about it.
	Ack  *Ack  `json:"ack,omitempty"`
	Mute *Mute `json:"mute,omitempty"`
	// Silence is what hides it now; nil for nothing.
	Silence *Silenced `json:"silence,omitempty"`
	// Mutes counts how often it was muted.
	Mutes  int     `json:"mutes,omitempty"`
	Offers []Offer `json:"offers,omitempty"`
	// RecentChanges is what was changed before it began; nil until it was looked at.
	RecentChanges *report.RecentChanges `json:"trail,omitempty"`
	// Tags are those of the affected nodegroups, by nodegroup: settings choose
	// channels by them.
	Tags map[string]map[string]string `json:"tags,omitempty"`
	// Evidence is where what was read of it is kept; nil where nothing is, and in records
	// of earlier releases.
	Evidence *Evidence `json:"evidence,omitempty"`
	// Called is when people were last called for it (mentioned), and Calls how often.
	Called time.Time `json:"called,omitzero"`
	Calls  int       `json:"calls,omitempty"`
	// Lined is when a reply was last shown in the channel, for everybody.
	Lined time.Time `json:"lined,omitzero"`
	// Asked is when a check of it was last asked for.
	Asked time.Time `json:"asked,omitzero"`
	// Acts are presses of which the audit record is still to be written, or the
	// person to be answered.
	Acts []ActRecord `json:"acts,omitempty"`
	// Applied are the ids of the last observations taken in, so that a
	// message that the queue delivers twice changes nothing.
	Applied []string `json:"applied,omitempty"`

	Delivery Delivery `json:"said"`
	// Events counts the finding events that it ever had; Untold are those
	// that the bus has not taken yet, in order.
	Events        int     `json:"events,omitempty"`
	PendingEvents []Event `json:"untold,omitempty"`
	// Published are the digests of the newest events that the bus has taken: by them an
	// event is told from one that somebody else put there.
	Published []string `json:"published,omitempty"`
}

// mostPublished is how many events are known again: those of the days in which they wait
// for a target that is away.
const mostPublished = 50

// Publish takes the pending events off the record, and keeps their digests.
func (inc *Incident) Publish() {
	for _, e := range inc.PendingEvents {
		inc.Published = append(inc.Published[:len(inc.Published):len(inc.Published)], e.Digest())
	}
	inc.Published = inc.Published[max(0, len(inc.Published)-mostPublished):]
	inc.PendingEvents = nil
}

// AddPublished adds the digests that another copy of the record has.
func (inc *Incident) AddPublished(digests []string) {
	for _, d := range digests {
		if !slices.Contains(inc.Published, d) {
			inc.Published = append(inc.Published[:len(inc.Published):len(inc.Published)], d)
		}
	}
	inc.Published = inc.Published[max(0, len(inc.Published)-mostPublished):]
}

// Evidence are the keys under which what was read is kept as a capture: when the
// incident opened, and when its cause was last seen. They may have expired.
type Evidence struct {
	Opened string `json:"opened"`
	Newest string `json:"newest"`
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

// Resolution is how a closed incident ended.
type Resolution string

// The endings.
const (
	Proved     Resolution = "proved"     // a node joined after the cause was gone
	Unproved   Resolution = "unproved"   // the cause is gone, no launch came to prove it
	Superseded Resolution = "superseded" // another cause explains the same launches now
	Withdrawn  Resolution = "withdrawn"  // what it was about no longer exists
	GivenUpOn  Resolution = "given-up"   // still no node, and no longer looked at

	ClusterDeleted Resolution = "cluster-deleted" // EKS has no cluster of this name any more
	Unseen         Resolution = "unseen"          // nothing was heard of it for maxUnseen
	Unwatched      Resolution = "unwatched"       // its cluster, or its account and region, was taken out of the settings
)

// MaxLaunches is how many affected launches an incident keeps by name: an
// item of the table may hold 400 KB (DynamoDB), a launch takes about 400 bytes.
const MaxLaunches = 300

// Muted tells that nobody is to be called.
func (inc *Incident) Muted(now time.Time) bool {
	return inc.Mute != nil && now.Before(inc.Mute.Until)
}

// MarkApplied remembers a message, so that it changes nothing when it comes again.
func (inc *Incident) MarkApplied(id string) {
	inc.Applied = append(inc.Applied, id)
	inc.Applied = inc.Applied[max(0, len(inc.Applied)-MaxApplied):]
}

// MaxApplied is how many observations a record remembers. The queue drops
// repeats for five minutes (SQS FIFO); what it repeats later is among these,
// and would change nothing anyway but the count of a pending incident.
const MaxApplied = 32
