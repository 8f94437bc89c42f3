// Package incident is the model of an incident: one cause in one cluster, from
// the first sight to the proof that it is gone. Next says which step it takes by
// what is known of it, and why; Apply makes the step. Nothing here has a side
// effect. Who belongs to whom is correlate's, what an observation makes of all
// incidents of a cluster is reconcile's, what people and remedies do about one
// is response's.
package incident

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/ownership"
	"rollcall/shared/remedy/optin"
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
	Cause diagnosis.Cause `json:"cause"`
	// Covers are all subnets or instances that it ever covered.
	Covers []string `json:"covers"`
	// Launches are the affected launches. At most MaxLaunches are kept by
	// name; Affected counts all.
	Launches []report.Launch `json:"launches,omitempty"`
	Affected int             `json:"affected"`
	// Capacity is what its groups want and have; nil where the newest look did not tell.
	Capacity *Capacity `json:"capacity,omitempty"`
	// Pods are those that wait for it; nil until a look has read the cluster's pods.
	Pods *PodImpact `json:"podImpact,omitempty"`
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
	ClearedBy []finding.Evidence `json:"clearedBy,omitempty"`
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
	// Owner is who owns what it is about, and Logs where a person reads on.
	Owner ownership.Owner `json:"owner,omitempty"`
	Logs  report.Logs     `json:"logs,omitzero"`
	// Feedback is what people say of it once it is over.
	Feedback []Feedback `json:"feedback,omitempty"`
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
	// event is recognized among those of other senders.
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

// Muted reports whether mentions are muted.
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

// IsShortage tells a check of a subnet that has too few addresses now.
func IsShortage(id checkid.ID) bool { return catalog.Meaning(id).Shortage }

// IsStarvationSymptom tells a check of nodes as they are where their pods get no addresses.
func IsStarvationSymptom(id checkid.ID) bool { return catalog.Meaning(id).Starved }

// OfAddresses reports whether a check is about the addresses of its resource, a
// subnet. Which function sees which of them first is chance: what leaks is
// foreseen to run out, is empty, refuses launches, and keeps nodes from being
// Ready.
func OfAddresses(id checkid.ID) bool {
	c := catalog.Meaning(id)
	return c.Breaks == catalog.Addresses || c.Shortage
}

// Answer is the reply to a press, shown only to the person who pressed.
type Answer struct {
	Reason AnswerReason `json:"reason"`
	// By and When tell who decided before, or who acknowledged or muted, and
	// when; When is also when an incident was resolved or opened again.
	By   report.User `json:"by,omitzero"`
	When time.Time   `json:"when,omitzero"`
	// Until is how long a mute lasts, until when a plan could be approved, or
	// from when a check may be asked for again.
	Until  time.Time    `json:"until,omitzero"`
	Remedy optin.Remedy `json:"remedy,omitempty"`
	// State is where the offer in question is.
	State OfferState `json:"state,omitempty"`
	// Says is more, for people: which user group could not be read and why, why
	// there is no plan any more.
	Says string `json:"says,omitempty"`
}

// AnswerReason is the typed reason of an answer.
type AnswerReason string

// What was done.
const (
	AnswerApproved     AnswerReason = "approved"
	AnswerRefused      AnswerReason = "plan-refused" // the person said no to the plan
	AnswerAcknowledged AnswerReason = "acknowledged"
	AnswerTakenOver    AnswerReason = "taken-over" // By had it since When
	AnswerMuted        AnswerReason = "muted"
	AnswerUnmuted      AnswerReason = "unmuted"
	AnswerChecking     AnswerReason = "checking"
	AnswerOffering     AnswerReason = "offering" // a fresh plan is made
	AnswerFeedback     AnswerReason = "feedback" // the feedback counts
	AnswerNoted        AnswerReason = "noted"    // and so does its text
)

// Why nothing was done.
const (
	NotAllowed       AnswerReason = "not-allowed"
	NotResponder     AnswerReason = "not-responder"      // not among those of the setting responders
	OtherWorkspace   AnswerReason = "other-workspace"    // of another company, or unknown
	IsGuest          AnswerReason = "guest"              // of the own workspace
	GuestNotRead     AnswerReason = "guest-not-read"     // whether they are one could not be looked up
	WorkspaceNotRead AnswerReason = "workspace-not-read" // where they are from could not be looked up
	NobodyAllowed    AnswerReason = "nobody-allowed"     // the setting approvers is empty
	GroupNotRead     AnswerReason = "group-not-read"     // whether they may could not be looked up
	NothingRanOut    AnswerReason = "nothing-ran-out"    // there is no offer to be made again
	NoSuchPlan       AnswerReason = "no-such-plan"       // this incident never had that plan
	PlanChanged      AnswerReason = "plan-changed"       // there is another now, or none any more
	PlanExpired      AnswerReason = "expired"            //
	AlreadyDecided   AnswerReason = "already-decided"    // By (empty: the policy auto), When, State
	IncidentClosed   AnswerReason = "incident-closed"    // When
	IncidentNotFound AnswerReason = "not-found"          //
	EarlierOpening   AnswerReason = "earlier-opening"    // the button was of a time before, When it opened again
	UnknownAction    AnswerReason = "unknown-action"     //
	NoSuchTime       AnswerReason = "no-such-time"       // a mute of no length that is offered
	AlreadyTaken     AnswerReason = "already-taken"      // acknowledged before, By, When
	AlreadyYours     AnswerReason = "already-yours"      // they have it since When
	NotMuted         AnswerReason = "not-muted"          //
	NotOver          AnswerReason = "not-over"           // feedback is for what is closed
	NoFeedback       AnswerReason = "no-feedback"        // a text of a person who gave none
	AskedJustNow     AnswerReason = "asked-just-now"     // Until
	NotNow           AnswerReason = "not-now"            // the limit is reached, or a look failed: Until
	CauseIsGone      AnswerReason = "cause-is-gone"      // there is nothing to fix any more
	NotPassedOn      AnswerReason = "not-passed-on"      // slack-actions did not pass it on: it was forged
	Incomplete       AnswerReason = "incomplete"         // it names no channel, message or person
	TooLate          AnswerReason = "too-late"           // it was on its way for too long, When it was pressed
	FromFuture       AnswerReason = "from-the-future"    // When it is said to have been pressed
)

// Done reports whether the press did what it was to do.
func (a Answer) Done() bool {
	switch a.Reason {
	case AnswerApproved, AnswerRefused, AnswerAcknowledged, AnswerTakenOver, AnswerMuted, AnswerUnmuted, AnswerChecking, AnswerOffering, AnswerFeedback, AnswerNoted:
		return true
	}
	return false
}

// Proven reports whether a refusal may be sent to the person whom the press names:
// what a function made up mentions no one.
func (a Answer) Proven() bool { return a.Reason != NotPassedOn }

// Attach is the file of a note that had to be shortened, on its way into the
// thread.
type Attach struct {
	// Tries counts the attempts that Slack may have taken. It is written before
	// each: a file carries no mark by which it could be found again.
	Tries int `json:"tries,omitempty"`
}

// MostShares is how often a file may be shared while it is unknown whether
// Slack has it: once more than it should be.
const MostShares = 2

// SentShortened is the note after Slack took its words, which left something
// out: what the file needs stays until Slack has that too.
func (n Note) SentShortened(ts string) Note {
	n.TS, n.Attach = ts, &Attach{}
	return n
}

// Owes reports whether a file is still to be shared below the note.
func (n Note) Owes() bool { return n.TS != "" && n.Attach != nil }

// RecordFormat is the version of ActRecord that this code writes and reads.
const RecordFormat = 1

// ActRecord is a press and what came of it: the audit record, and until it is
// written and the person is answered, part of the incident's outbox.
type ActRecord struct {
	Format int `json:"format"`
	// ID is the press's, or, for a plan that the policy approved, the proposal's.
	ID string `json:"id"`
	// At is when it was pressed, Decided when report decided on it.
	At      time.Time `json:"at"`
	Decided time.Time `json:"decided"`

	Key report.Key `json:"key"`
	// Number and Opened tell which opening of the incident it was; zero where
	// there is no such incident.
	Number int       `json:"number,omitempty"`
	Opened time.Time `json:"opened,omitzero"`

	Action report.Action `json:"action"`
	For    time.Duration `json:"for,omitempty"`
	Plan   string        `json:"plan,omitempty"` // the hash that was pressed
	Remedy optin.Remedy  `json:"remedy,omitempty"`
	// User is empty where the policy auto approved a plan.
	User    report.User `json:"user,omitzero"`
	Team    string      `json:"team,omitempty"`
	Home    string      `json:"home,omitempty"` // the person's workspace, as Slack says
	Channel string      `json:"channel,omitempty"`
	TS      string      `json:"ts,omitempty"`
	Thread  string      `json:"thread,omitempty"`

	Answer Answer `json:"answer"`
	// Audited reports whether the audit record is written.
	Audited bool `json:"audited,omitempty"`
}

// Feedback is what one person says of an opening of an incident.
type Feedback struct {
	By     report.User `json:"by"`
	At     time.Time   `json:"at"`
	Number int         `json:"number"`
	// Says is one of the three actions that answer "Was this right?".
	Says report.Action `json:"says"`
	Text string        `json:"text,omitempty"`
}

// maxFeedback bounds the people whose feedback is kept, maxFeedbackText what each can write.
const (
	maxFeedback     = 30
	maxFeedbackText = 300
)

// AddFeedback takes in an answer. Each person's last answer on an opening counts.
func (inc *Incident) AddFeedback(f Feedback) {
	inc.Feedback = slices.DeleteFunc(inc.Feedback, func(x Feedback) bool { return x.By.ID == f.By.ID && x.Number == f.Number })
	inc.Feedback = append(inc.Feedback, f)
	inc.Feedback = inc.Feedback[max(0, len(inc.Feedback)-maxFeedback):]
}

// AddFeedbackText adds a line to a person's answer on this opening; false where they said
// nothing of it.
func (inc *Incident) AddFeedbackText(by report.User, text string) bool {
	i := slices.IndexFunc(inc.Feedback, func(x Feedback) bool { return x.By.ID == by.ID && x.Number == inc.Number })
	if i < 0 {
		return false
	}
	runes := []rune(text)
	inc.Feedback[i].Text = string(runes[:min(len(runes), maxFeedbackText)])
	return true
}

// Capacity is how many nodes the groups of an incident want together, and how many Ready
// ones they have, in one look.
type Capacity struct {
	At      time.Time `json:"at"`
	Desired int       `json:"desired"`
	Ready   int       `json:"ready"`
	// Affected and Joined are how its launches stood then.
	Affected int `json:"affected"`
	Joined   int `json:"joined"`
}

// Same reports whether two looks counted the same.
func (c *Capacity) Same(other *Capacity) bool {
	if c == nil || other == nil {
		return c == other
	}
	return c.Desired == other.Desired && c.Ready == other.Ready
}

// Missing is how many of the wanted nodes there are not.
func (c *Capacity) Missing() int {
	if c == nil {
		return 0
	}
	return max(c.Desired-c.Ready, 0)
}

// LookHolds is how long what one look counted is said where no later one counted:
// three sweeps.
const LookHolds = 15 * time.Minute

// CapacityStands reports whether what was counted is of the moment that the rest of the message
// is of: its launches stand as they did, and it is not long ago.
func (inc Incident) CapacityStands(at time.Time) bool {
	c := inc.Capacity
	return c != nil && c.Affected == inc.Affected && c.Joined == inc.Count(report.Joined) && at.Sub(c.At) <= LookHolds
}

// groupNames are the groups that an incident is about: those of its launches that are no
// nodes, and those that its cause names.
func (inc Incident) groupNames() []string {
	names := slices.Clone(inc.Cause.Nodegroups)
	for _, l := range inc.Launches {
		switch {
		case l.Status == report.Joined:
		case l.Group != "":
			names = append(names, l.Group)
		default:
			names = append(names, l.Nodegroup) // of a NodePool, which wants no number
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// CapacityIn is what an observation says of the groups of an incident; nil where it does
// not tell of each: a sum that leaves one out is of nothing.
func (inc Incident) CapacityIn(obs report.Observation) *Capacity {
	names := inc.groupNames()
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(obs.Capacity, func(c report.Capacity) bool { return c.BelongsTo(name) }) {
			return nil
		}
	}
	sum := Capacity{At: obs.At, Affected: inc.Affected, Joined: inc.Count(report.Joined)}
	for _, c := range obs.Capacity {
		if slices.ContainsFunc(names, c.BelongsTo) {
			sum.Desired += c.Desired
			sum.Ready += c.Ready
		}
	}
	return &sum
}

// PodImpact are the pods that wait for an incident's cause, in one look.
type PodImpact struct {
	At time.Time `json:"at"`
	// Unread is why the pods are not known; nil where they are.
	Unread *snapshot.Failure `json:"unread,omitempty"`
	// OfCluster reports whether it could not be told which of the cluster's pods wait for this
	// cause: Count is all that wait.
	OfCluster bool `json:"ofCluster,omitempty"`
	// Count is how many wait, and Unsure how many more may wait for it.
	Count  int `json:"count"`
	Unsure int `json:"unsure,omitempty"`
	// Workloads are the owners with most pods, Owners how many there are.
	Workloads []diagnosis.Workload `json:"workloads,omitempty"`
	Owners    int                  `json:"owners,omitempty"`
	// Elsewhere is another nodegroup or NodePool that can run Served of the pods and whose
	// nodes come by themselves.
	Elsewhere report.NodeSource `json:"elsewhere,omitzero"`
	Served    int               `json:"served,omitempty"`
}

// ShownWorkloads is how many owners of pods a message names.
const ShownWorkloads = 3

// CountHolds is how long pods that were counted for the cause stand over a later count of
// all that wait in the cluster: two ticks of five minutes, and the time that a look takes.
const CountHolds = 11 * time.Minute

// IsMorePreciseThan reports whether p was counted for the cause and q for the whole cluster.
// A look that could not read the pods always counts: what is not known is not called fine.
func (p PodImpact) IsMorePreciseThan(q PodImpact) bool {
	return p.Unread == nil && !p.OfCluster && q.Unread == nil && q.OfCluster
}

// Same reports whether two looks found the same.
func (p *PodImpact) Same(other *PodImpact) bool {
	if p == nil || other == nil {
		return p == other
	}
	a, b := *p, *other
	a.At = b.At
	return reflect.DeepEqual(a, b)
}

// PodsIn returns the pods that an observation has waiting for an incident's cause; nil
// where it has nothing newer about them:
//
//	its cause names pods                                        these
//	the pods were not read                                      unknown, and why
//	a pod waits on a node of its subnets, or on its instances   counted, if it is about addresses or that instance
//	its nodegroups and NodePools were not all compared          all pods of the cluster that wait
//	a pod waits on a node whose subnet the look did not read    nothing, if it is about addresses
//	their nodes could run a pod that no node took               counted, once a launch or its severity shows that nodes are missing
func (inc Incident) PodsIn(obs report.Observation) *PodImpact {
	if len(inc.Cause.Pods) > 0 {
		if !inc.Seen.Equal(obs.At) || len(inc.Cause.Workloads) == 0 {
			return nil // whoever names them looks again
		}
		p := &PodImpact{At: obs.At}
		p.add(inc.Cause.Workloads)
		return p
	}
	w := obs.Waiting
	switch {
	case w == nil:
		return nil
	case w.Unread != nil:
		f := *w.Unread
		f.Message = "" // which is another each time
		return &PodImpact{At: obs.At, Unread: &f}
	case OfAddresses(inc.Key.Check) && slices.ContainsFunc(w.Workloads, ofUnknownSubnet):
		return nil // the next look at zones knows all nodes
	}
	own, compared := inc.sourcesIn(w.Sources)
	p := &PodImpact{At: obs.At, OfCluster: !compared}
	hurts := inc.Affected > inc.Count(report.Joined) || inc.Severity() == Critical
	served := map[string]int{}
	var list []diagnosis.Workload
	for _, x := range w.Workloads {
		among := func(name string) bool { return slices.Contains(own, name) }
		switch {
		case !compared && len(x.On) == 0, inc.starves(x.On), hurts && slices.ContainsFunc(x.Fits, among):
			list = append(list, x.Workload)
			for _, s := range w.Sources {
				if compared && s.Launches && !among(s.Name) && slices.Contains(x.Fits, s.Name) {
					served[s.Name] += x.Pods
					break
				}
			}
		case slices.ContainsFunc(slices.Concat(x.Fits, x.Unsure), among):
			p.Unsure += x.Pods
		}
	}
	p.add(list)
	for _, s := range w.Sources {
		if n := served[s.Name]; n > p.Served {
			p.Elsewhere, p.Served = s, n
		}
	}
	if p.OfCluster || len(own) > 0 {
		p.Unsure += w.More
	}
	return p
}

// sourcesIn are the names of the nodegroups and NodePools that an incident is about;
// compared reports whether pods were compared with all of them. What is about addresses
// alone is about the pods on its nodes.
func (inc Incident) sourcesIn(list []report.NodeSource) (names []string, compared bool) {
	groups := inc.groupNames()
	for _, c := range inc.Covers {
		if pool, is := strings.CutPrefix(c, snapshot.PoolKey("")); is {
			groups = append(groups, pool)
		}
	}
	for _, g := range groups {
		i := slices.IndexFunc(list, func(s report.NodeSource) bool { return g != "" && (s.Name == g || s.Group == g) })
		if i < 0 {
			return nil, false
		}
		names = append(names, list[i].Name)
	}
	return names, len(names) > 0 || OfAddresses(inc.Key.Check)
}

// ofUnknownSubnet reports whether pods wait on a node that the look knew no subnet of: a roll
// call reads only the instances that it is about.
func ofUnknownSubnet(x report.WaitingWorkload) bool {
	return len(x.On) > 0 && !slices.ContainsFunc(x.On, func(id string) bool { return strings.HasPrefix(id, "subnet-") })
}

// starves reports whether pods that wait on a node wait for an incident's cause: it is about
// the addresses of the node's subnet, or about the node's instance.
func (inc Incident) starves(on []string) bool {
	return slices.ContainsFunc(on, func(id string) bool {
		return slices.Contains(inc.Covers, id) && (OfAddresses(inc.Key.Check) || !strings.HasPrefix(id, "subnet-"))
	})
}

// add counts workloads, each once, and keeps those with most pods.
func (p *PodImpact) add(list []diagnosis.Workload) {
	var sum []diagnosis.Workload
	for _, w := range list {
		p.Count += w.Pods
		i := slices.IndexFunc(sum, func(x diagnosis.Workload) bool { return x.Namespace == w.Namespace && x.Owner == w.Owner })
		if i < 0 {
			sum = append(sum, w)
			continue
		}
		sum[i].Pods += w.Pods
	}
	slices.SortStableFunc(sum, func(a, b diagnosis.Workload) int { return b.Pods - a.Pods })
	p.Owners, p.Workloads = len(sum), First(sum, ShownWorkloads)
}

// Chart is the picture of an incident's subnet: on its way into Slack, and as
// it is there.
type Chart struct {
	// Alt says in words what it shows, At when it was drawn.
	Alt string    `json:"alt,omitempty"`
	At  time.Time `json:"at"`
	// Of is what the message said when it was drawn (see Incident.Moment); empty in records
	// of earlier releases.
	Of string `json:"of,omitempty"`
	// Turn is where the incident was in its life when it was drawn.
	Turn string `json:"turn,omitempty"`
	// Returned is how many addresses it shows as given back by a cleanup.
	Returned int `json:"returned,omitempty"`
	// PNG is there until Slack has it, Next is Slack's id of it until the
	// message shows it, File the one that the message shows.
	PNG  []byte `json:"png,omitempty"`
	Next string `json:"next,omitempty"`
	File string `json:"file,omitempty"`
	// FileAlt and FileOf are Alt and Of of File, while another picture is on its way.
	FileAlt string `json:"fileAlt,omitempty"`
	FileOf  string `json:"fileOf,omitempty"`
	// Refusals counts how often Slack did not take the message with Next.
	Refusals int `json:"refusals,omitempty"`
	// Missing says why there is none, for people.
	Missing string `json:"missing,omitempty"`
}

// Due reports whether a picture waits to be shown.
func (s *Chart) Due() bool { return s != nil && (len(s.PNG) > 0 || s.Next != "") }

// Shown is the chart as the message shows it: with the next picture, once Slack has it.
func (s Chart) Shown() Chart {
	s.File, s.FileAlt, s.FileOf = s.Next, s.Alt, s.Of
	s.Next, s.Refusals, s.Missing = "", 0, ""
	return s
}

// Moment tells the numbers that a message gives apart from those of another look: a
// picture is shown beside its own alone.
func (inc Incident) Moment() string {
	text, err := json.Marshal([]any{inc.Number, inc.State, inc.Resolution, inc.Cause.Title, inc.Cause.Why, inc.ClearedBy})
	if err != nil {
		return "" // as if it were of any
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// without is the sketch less the picture that Slack does not have yet.
func (s *Chart) without() *Chart {
	if s == nil {
		return nil
	}
	less := *s
	less.PNG = nil
	return &less
}

// Phase is where an incident is in its life, for the choice of its picture;
// empty where it needs none. A subnet that falls short shows how.
func (inc Incident) Phase() string {
	switch {
	case inc.Number == 0 || !OfAddresses(inc.Key.Check):
		return ""
	case inc.State == Open && inc.Cause.Confidence == catalog.Certain:
		return fmt.Sprintf("%d %s short", inc.Number, inc.State)
	case inc.State == Open || inc.State == Cleared:
		return fmt.Sprintf("%d %s", inc.Number, inc.State)
	case inc.State == Closed && (inc.Resolution == Proved || inc.Resolution == Unproved):
		return fmt.Sprintf("%d %s", inc.Number, inc.Resolution)
	}
	return ""
}

// Clone is a copy whose lists can be changed. What a decision replaces as a
// whole (evidence, facts) is shared.
func (inc Incident) Clone() Incident {
	inc.Covers = slices.Clone(inc.Covers)
	inc.Launches = slices.Clone(inc.Launches)
	inc.More = slices.Clone(inc.More)
	inc.Verdicts = slices.Clone(inc.Verdicts)
	inc.Joins = slices.Clone(inc.Joins)
	inc.Applied = slices.Clone(inc.Applied)
	inc.Delivery.Notes = slices.Clone(inc.Delivery.Notes)
	inc.PendingEvents = slices.Clone(inc.PendingEvents)
	inc.Effects = slices.Clone(inc.Effects)
	inc.Offers = slices.Clone(inc.Offers)
	inc.Acts = slices.Clone(inc.Acts)
	inc.Feedback = slices.Clone(inc.Feedback)
	if inc.Chart != nil {
		sketch := *inc.Chart
		inc.Chart = &sketch
	}
	if inc.Proof != nil {
		proof := *inc.Proof
		inc.Proof = &proof
	}
	return inc
}

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

// explainedWithin is how long it takes until launches that emptied a subnet are looked at:
// join-check calls the roll of a launch after a minute.
const explainedWithin = time.Minute

// Withheld reports whether an incident is not to be posted yet, or at all. What empties a
// subnet is known when the launches that did it are looked at, and they have a message of
// their own: one that is closed a minute later because another explains it is noise. What a
// launch lacked, or more than that has gone wrong, is posted at once.
func (inc Incident) Withheld(now time.Time) bool {
	if inc.Key.Check != checkid.IPSubnetExhausted || inc.Affected > 0 || inc.Number > 1 || inc.Delivery.TS != "" || !inc.Delivery.Sending.IsZero() {
		return false
	}
	return inc.State == Open && now.Sub(inc.Opened) < explainedWithin || inc.State == Closed && inc.Resolution == Superseded
}

// stampLasts is how long a message may tell of an older look than the last: an edit for
// that alone is made once an hour, and when a look was requested.
const stampLasts = time.Hour

// StampDue reports whether the message is to say anew when it was last looked at.
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
	Evidence []finding.Evidence `json:"evidence,omitempty"`
	// Facts are what a person would look up next.
	Facts []report.Fact `json:"facts,omitempty"`
	// Launch is the launch that proved it.
	Launch *report.Launch `json:"launch,omitempty"`
	// Blind is what could not be read then.
	Blind []snapshot.Failure `json:"blind,omitempty"`
	// Offer is the remedy's plan that it is about, as it was then.
	Offer *Offer `json:"offer,omitempty"`
	// RecentChanges is what was changed before the incident began.
	RecentChanges *report.RecentChanges `json:"trail,omitempty"`
	// Line reports whether it is shown in the channel too: a person must know of it now.
	Line bool `json:"line,omitempty"`
	// Details reports whether it has what the line of the same moment leaves out.
	Details bool `json:"details,omitempty"`
	// Shown is the digest of the line as it stands in the channel; empty for a reply that
	// the thread alone shows.
	Shown string `json:"shown,omitempty"`
	// Mention are whom the note calls: ids of users and user groups, or "here".
	// It is shown in the channel too.
	Mention []string `json:"mention,omitempty"`
	Then    *Then    `json:"then,omitempty"`
	// Ack is who took it over, and from whom; or who resolved its alert, and where.
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
	Launches  []report.Launch    `json:"launches,omitempty"`
	Cause     diagnosis.Cause    `json:"cause"` // without its evidence
	ClearedBy []finding.Evidence `json:"clearedBy,omitempty"`
	Proof     *report.Launch     `json:"proof,omitempty"`
}

// MaxNamed is how many instances a note or an event names; the count is
// always given in full.
const MaxNamed = 100

// Effect is another check's failure that belongs to an incident of a subnet's
// addresses: it has no message of its own.
type Effect struct {
	Check checkid.ID `json:"check"`
	// Told is the last look that told how the two belong together, Apart that it
	// found both and did not explain the one with the other.
	Told  time.Time `json:"told,omitzero"`
	Apart bool      `json:"apart,omitempty"`
	// Title is what that failure said, Since and Last when it was first and last
	// seen by a look that did not say where it belongs; all are empty for one
	// that each look has explained.
	Title string    `json:"title,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Over is when that check passed again.
	Over time.Time `json:"over,omitzero"`
}

// Present reports whether the failure is there now, as far as is known.
func (e Effect) Present() bool {
	return (!e.Apart || !e.Told.After(e.Last)) && !e.Over.After(Later(e.Told, e.Last))
}

// EffectOf is what is known of a check's failure, made if need be.
func (inc *Incident) EffectOf(check checkid.ID) (e *Effect, known bool) {
	i, known := slices.BinarySearchFunc(inc.Effects, check, func(e Effect, id checkid.ID) int { return strings.Compare(string(e.Check), string(id)) })
	if !known {
		inc.Effects = slices.Insert(inc.Effects, i, Effect{Check: check})
	}
	return &inc.Effects[i], known
}

func (inc Incident) KnownEffect(check checkid.ID) (Effect, bool) {
	i := slices.IndexFunc(inc.Effects, func(e Effect) bool { return e.Check == check })
	if i < 0 {
		return Effect{}, false
	}
	return inc.Effects[i], true
}

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

	Partition string     `json:"partition"`
	Account   string     `json:"account"`
	Region    string     `json:"region"`
	Cluster   string     `json:"cluster"`
	Check     checkid.ID `json:"check"`
	Resource  string     `json:"resource"`

	State State `json:"state"`
	// Silenced reports whether a silence hides the incident: it is recorded, and who calls
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

	Confidence catalog.Confidence `json:"confidence"`
	Title      string             `json:"title"`
	Why        string             `json:"why"`
	Evidence   []finding.Evidence `json:"evidence,omitempty"`
	Fix        finding.Fix        `json:"fix,omitzero"`
	Nodegroups []string           `json:"nodegroups,omitempty"`
	Covers     []string           `json:"covers,omitempty"`
	Affected   int                `json:"affected"`
	Instances  []EventInstance    `json:"instances,omitempty"`
	Proof      *EventInstance     `json:"proof,omitempty"`
	Owner      ownership.Owner    `json:"owner,omitempty"`
	// Words are what a person reads of it; nil in events that an earlier release left in
	// the outbox.
	Words *Words `json:"words,omitempty"`
	// Muted reports whether a person has muted the incident.
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
	// Console is the page of what is to be looked at, Docs that of the check, Logs that of the
	// log group, Runbook and Dashboard what its owner has.
	Console   string `json:"console,omitempty"`
	Docs      string `json:"docs,omitempty"`
	Logs      string `json:"logs,omitempty"`
	Runbook   string `json:"runbook,omitempty"`
	Dashboard string `json:"dashboard,omitempty"`
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

// Word gives the events without words the words that hold now. One that tells
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
		ID:     fmt.Sprintf("%s/%s/%s/%s/%d", inc.Key.SpokeCluster(), inc.Key.Check, inc.Key.Resource, inc.Opened.UTC().Format("20060102T150405.000Z"), inc.Events),
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
		Owner:      inc.Owner,
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
