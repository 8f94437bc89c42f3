package incident

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/catalog"
	"rollcall/shared/ownership"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/routing"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
)

// Transition is a step in the life of an incident. The zero Transition is none:
// everything stays as it is.
type Transition struct {
	To State
	// Reason is why.
	Reason Reason
	// Resolution is how it ends, of a step to Closed.
	Resolution Resolution
	// ClearedAt is when the cause was found gone, where that is new.
	ClearedAt time.Time
	// Proof is the launch that shows that the cause is gone.
	Proof *report.Launch
	// SettledAt is up to when late observations change nothing any more.
	SettledAt time.Time
	// By is the incident that says it from now on.
	By *report.Key
}

// None reports whether there is no step.
func (t Transition) None() bool { return t.To == "" }

// ends is the step that closes an incident.
func ends(how Resolution) Transition {
	return Transition{To: Closed, Resolution: how, Reason: how.Reason()}
}

// proved is the end by a launch that joined.
func proved(by report.Launch) Transition {
	t := ends(Proved)
	t.Proof, t.SettledAt = &by, by.Ready
	return t
}

// Next is the step that an incident takes by what is known of it: the cause is
// gone, back, proved to be gone, or not proved within proofTime.
// One step may open the way to another: who asks goes on until there is none.
func (inc Incident) Next(now time.Time, proofTime time.Duration) Transition {
	switch inc.State {
	case Open, Cleared, Pending:
	default:
		return Transition{}
	}
	k := inc.tally()
	switch {
	case k.failing > 0 && inc.AllEnded():
		return inc.proofSince(inc.Seen, now, proofTime)
	case k.failing > 0 && inc.State == Cleared:
		return Transition{To: Open, Reason: FailedAgain}
	case k.failing > 0:
		return Transition{}
	case inc.State == Pending: // never said, so there is nothing to take back
		return neverSaid(Withdrawn)
	case k.givenUp > 0:
		return ends(GivenUpOn)
	case k.absent == len(inc.Verdicts):
		return ends(Withdrawn)
	case inc.IsBlind(), inc.ByItself():
		t := ends(Proved)
		t.ClearedAt = k.last
		return t
	case inc.State == Open:
		return Transition{To: Cleared, Reason: CauseGone, ClearedAt: k.last}
	case inc.Replacing() && now.Sub(inc.Cleared) < ReplacementWait:
		return Transition{}
	}
	return inc.proofSince(inc.Cleared, now, proofTime)
}

// proofSince ends an incident by the launch that proves it, or after the time
// that one is waited for.
func (inc *Incident) proofSince(since, now time.Time, proofTime time.Duration) Transition {
	if launch, has := inc.FirstJoin(); has {
		return proved(launch)
	}
	if now.Sub(since) >= proofTime {
		return ends(Unproved)
	}
	return Transition{}
}

// neverSaid ends an incident that was never posted: its end is not posted either.
func neverSaid(how Resolution) Transition {
	return Transition{To: Closed, Resolution: how, Reason: NotYet}
}

// AfterClusterDeleted is the end of an incident whose cluster was found deleted at a
// time. What was observed before, and comes late, does not open it again.
func (inc Incident) AfterClusterDeleted(at time.Time) Transition {
	if inc.State == Closed || at.Before(inc.Seen) {
		return Transition{}
	}
	t := ends(ClusterDeleted)
	if inc.State == Pending {
		t = neverSaid(ClusterDeleted)
	}
	t.SettledAt = at
	return t
}

// AfterUnwatched is the end of an incident whose cluster is not watched any more, since a
// time. It is not called well: it is not watched. What was observed before, and comes late, does
// not open it again.
func (inc Incident) AfterUnwatched(at time.Time) Transition {
	if inc.State == Closed {
		return Transition{}
	}
	t := ends(Unwatched)
	if inc.State == Pending {
		t = neverSaid(Unwatched)
	}
	t.SettledAt = at
	return t
}

// AfterSilence is the end of an incident of which nothing was heard for long. It
// is not called well: its state is unknown.
func (inc Incident) AfterSilence(now time.Time) Transition {
	if inc.State != Open && inc.State != Cleared || now.Sub(inc.Heard()) < MaxUnseen {
		return Transition{}
	}
	return ends(Unseen)
}

// SupersededBy is the end of an incident that another one explains since a look.
func SupersededBy(by report.Key, at time.Time) Transition {
	t := ends(Superseded)
	t.By, t.SettledAt = &by, at
	return t
}

// Apply makes a step.
func (inc *Incident) Apply(t Transition, now time.Time) {
	if t.None() {
		return
	}
	inc.State = t.To
	if !t.ClearedAt.IsZero() {
		inc.Cleared = t.ClearedAt
	}
	if !t.SettledAt.IsZero() {
		inc.Settled = t.SettledAt
	}
	switch t.To {
	case Open:
		inc.Cleared, inc.ClearedBy = time.Time{}, nil
		inc.OutdateOffers("the cause is back", IsReplacement)
	case Cleared:
		inc.OutdateOffers("the cause is gone", func(o Offer) bool { return !IsReplacement(o) })
	case Closed:
		if t.Proof != nil {
			inc.Proof = t.Proof
		}
		if t.By != nil {
			inc.By = t.By
		}
		inc.Resolution, inc.Resolved = t.Resolution, now
		inc.Times, inc.Joins = 0, nil
		inc.OutdateOffers("the incident is over", func(Offer) bool { return true })
	}
}

// tally counts the verdicts on what an incident covers.
type tally struct {
	failing, absent, givenUp int
	last                     time.Time
}

func (inc *Incident) tally() (k tally) {
	for _, v := range inc.Verdicts {
		switch {
		case inc.HasGivenUp(v.Of):
			k.givenUp++
		case v.Found == Failing:
			k.failing++
		case v.Found == Absent:
			k.absent++
		}
		if v.At.After(k.last) {
			k.last = v.At
		}
	}
	return k
}

// Reason is why something is said, or is not. It stands in the logs, in the
// metrics, in the thread's notes and in the finding events.
type Reason string

// The reasons, most telling first: when an observation changes several things
// about an incident, its decision carries the first of them.
const (
	Opened      Reason = "opened"
	Reopened    Reason = "reopened"     // it was closed, and is back
	FailedAgain Reason = "failed-again" // the cause was gone, and is back before the proof came
	// The endings.
	IsProved     Reason = "proved"
	IsUnproved   Reason = "unproved"
	IsSuperseded Reason = "superseded"
	IsWithdrawn  Reason = "withdrawn"
	IsGivenUpOn  Reason = "given-up"

	CauseGone    Reason = "cleared"
	HasMissed    Reason = "missed" // the predicted came true: an instance missed roll call
	IsWorse      Reason = "worse"  // it is critical now, and was not
	MoreAffected Reason = "more-affected"
	BetterKnown  Reason = "better-known" // the cause's words or evidence changed

	// HasJoined is of notes alone: another check's failure belongs to this.
	HasJoined Reason = "joined"

	// What remedies and people do about it: said in the thread.
	IsProposed   Reason = "proposed"
	IsApproved   Reason = "approved"
	IsRefused    Reason = "refused-by" // a person said no to the plan
	RemedyDone   Reason = "remedy-done"
	RemedyFailed Reason = "remedy-failed" // also: refused, partly done, uncertain
	IsVerified   Reason = "verified"      // the check passes since the run
	IsUnhelpful  Reason = "unhelpful"     // and this is when it still fails
	IsDeferred   Reason = "deferred"      // for the limit, or for a look that succeeds
	HasChanges   Reason = "changes"       // what CloudTrail knows
	// Who is to look is called: at first, and again.
	IsTakenOver Reason = "taken-over" // from another who had acknowledged it
	// IsAlertResolved: its alert was resolved in PagerDuty or Jira, which proves nothing.
	IsAlertResolved Reason = "alert-resolved"
	IsCalled        Reason = "called"
	IsReminded      Reason = "reminded"
	IsEscalated     Reason = "escalated" // no acknowledgement after the last reminder
	// These only change the message.
	IsAcknowledged Reason = "acknowledged"
	IsMuted        Reason = "muted"
	IsUnmuted      Reason = "unmuted" // by a person, or because its time is over
	IsSilenced     Reason = "silenced"
	// IsUnsilenced is a line of the channel where the incident is still there.
	IsUnsilenced Reason = "unsilenced"
	IsOutdated   Reason = "outdated"
	IsExpired    Reason = "expired"
	IsAsked      Reason = "check-wanted"
	IsCalmed     Reason = "calmed"  // a call that was not sent yet is taken back
	IsRenewed    Reason = "renewed" // the same plan was made from a fresh look
	HasFeedback  Reason = "feedback"

	// IsDue is said to the bus alone: a remedy that waited is to be tried again.
	IsDue Reason = "remedy-due"

	// The rest is not posted.
	PressRefused   Reason = "press-refused" // the answer tells why
	IsMalformed    Reason = "malformed"     // a plan or run that is not what it says
	NothingNew     Reason = "nothing-new"
	NotYet         Reason = "not-yet"         // seen too few times to be said
	OutOfDate      Reason = "out-of-date"     // newer is known
	AlreadyApplied Reason = "already-applied" // the queue delivered it twice
)

// Decision is what an observation makes of one incident.
type Decision struct {
	Incident Incident
	Reason   Reason
	// Changed reports whether the record is to be saved. What is to be said and
	// told stands in the record itself: Said.Notes and Untold.
	Changed bool
}

// EventKind is what a finding event tells. It is the end of its detail-type:
// "Rollcall Incident Opened".
type EventKind string

// The kinds.
const (
	EventOpened   EventKind = "Opened"
	EventReopened EventKind = "Reopened"
	EventChanged  EventKind = "Changed"
	EventResolved EventKind = "Resolved"
	// EventApproved: a person approved the plan in Offer. Its detail-type is
	// "Rollcall Remedy Approved".
	EventApproved EventKind = "Approved"
	// EventAcknowledged: a person has it, or took it over.
	EventAcknowledged EventKind = "Acknowledged"
	// EventActed: a remedy was done, or was tried and not wholly done. Its detail-type is
	// "Rollcall Remedy Acted".
	EventActed EventKind = "Acted"
	// EventCheckWanted: a check of the cause was requested. Its
	// detail-type is "Rollcall Check Wanted".
	EventCheckWanted EventKind = "Check Wanted"
)

// DetailType is what EventBridge rules know the event by.
func (k EventKind) DetailType() string {
	switch k {
	case EventApproved:
		return "Rollcall Remedy Approved"
	case EventActed:
		return "Rollcall Remedy Acted"
	case EventCheckWanted:
		return "Rollcall Check Wanted"
	}
	return "Rollcall Incident " + string(k)
}

// Event is the bus event of a reason; empty for nothing.
func (r Reason) Event() EventKind {
	switch r {
	case Opened:
		return EventOpened
	case Reopened:
		return EventReopened
	case IsProved, IsUnproved, IsSuperseded, IsWithdrawn, IsGivenUpOn:
		return EventResolved
	case CauseGone, FailedAgain, HasMissed, IsWorse, MoreAffected, BetterKnown, IsVerified, IsUnhelpful, IsDue, IsUnsilenced:
		return EventChanged
	case IsApproved:
		return EventApproved
	case IsAcknowledged, IsTakenOver:
		return EventAcknowledged
	case RemedyDone, RemedyFailed:
		return EventActed
	case IsAsked:
		return EventCheckWanted
	}
	return ""
}

// Noted reports whether a reason is worth a reply in the thread. The others
// only change the message.
func (r Reason) Noted() bool {
	switch r {
	case MoreAffected, BetterKnown, IsAsked, IsDue, IsAcknowledged:
		return false
	case IsProposed, IsRefused, RemedyDone, RemedyFailed, IsDeferred, HasChanges, IsCalled, IsReminded, IsEscalated, IsTakenOver, IsAlertResolved:
		return true
	}
	return r.Event() != ""
}

func (e Resolution) Reason() Reason {
	switch e {
	case Proved:
		return IsProved
	case Unproved:
		return IsUnproved
	case Superseded:
		return IsSuperseded
	case GivenUpOn:
		return IsGivenUpOn
	}
	return IsWithdrawn
}

// Route is who is to hear of an incident as it is now. Where its message is
// posted already, it stays: Said.Channel.
func Route(inc Incident, policy Policy) (channel string, mentions []string) {
	return routing.Recipients(routed(inc), policy.Routes, policy.Channel)
}

// Escalation is who is called last without an acknowledgement.
func Escalation(inc Incident, policy Policy) []string {
	return routing.Escalation(routed(inc), policy.Routes)
}

// routed is an incident as routes are chosen by.
func routed(inc Incident) routing.Subject {
	return routing.Subject{Spoke: inc.Key.Spoke, Cluster: inc.Key.Cluster, Severity: string(inc.Severity()), Tags: inc.Tags}
}

// maxTagged is how many nodegroups' tags an incident keeps: a cause of the whole
// cluster may have 450 nodegroups (EKS quota), and each tag 384 characters.
const maxTagged = 100

// AddTags takes in the tags of nodegroups, as far as routes ask for them.
func (inc *Incident) AddTags(seen map[string]map[string]string, keys []string) {
	known := maps.Clone(inc.Tags)
	for _, nodegroup := range slices.Sorted(maps.Keys(seen)) {
		tags := seen[nodegroup]
		kept := map[string]string{}
		for _, key := range keys {
			if value, has := tags[key]; has {
				kept[key] = value
			}
		}
		if _, was := known[nodegroup]; !was && (len(kept) == 0 || len(known) >= maxTagged) {
			continue
		}
		if !inc.names(nodegroup) {
			continue
		}
		if known == nil {
			known = map[string]map[string]string{}
		}
		known[nodegroup] = kept
	}
	inc.Tags = known
}

// Tagged returns those things with labels and tags that an incident is about.
func (inc *Incident) Tagged(list []report.Tagged) []report.Tagged {
	return slices.DeleteFunc(slices.Clone(list), func(t report.Tagged) bool {
		switch t.Kind {
		case ownership.Nodegroup:
			return !inc.names(t.Name)
		case ownership.NodePool:
			return !inc.names(t.Name) && !slices.Contains(inc.Covers, snapshot.PoolKey(t.Name))
		case ownership.Subnet:
			return !slices.Contains(inc.Covers, t.Name) && !slices.ContainsFunc(inc.Launches, func(l report.Launch) bool { return l.Subnet == t.Name })
		}
		return false // of all that is in the cluster
	})
}

// names reports whether a nodegroup, or an Auto Scaling group without one, is among
// those that the incident is about.
func (inc *Incident) names(group string) bool {
	for _, name := range inc.Cause.Nodegroups {
		if name == group {
			return true
		}
	}
	for _, l := range inc.Launches {
		if l.Nodegroup == group || l.Nodegroup == "" && l.Group == group {
			return true
		}
	}
	return false
}

// Severity is how urgent an incident is now. It goes with the colour of its
// message: red is critical, orange a warning, everything else information.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // nodes do not join, and it is known or certain
	Warning  Severity = "warning"  // nodes may not join, or none is affected yet
	Info     Severity = "info"     // advice, or over
)

// Severity is how urgent a look is. It changes while an
// incident lasts: what was foreseen comes true, the cause goes away.
func (inc Incident) Severity() Severity {
	meaning := catalog.Meaning(inc.Key.Check)
	switch {
	case inc.State == Closed && inc.Resolution == GivenUpOn:
		return Critical // nothing got better, only the looking stopped
	case inc.State == Closed, inc.State == Cleared:
		return Info
	case inc.Key.Check == CannotLook:
		return Warning
	case meaning.Proof == catalog.Impossible:
		return Critical
	case inc.Cause.Confidence == catalog.Advice:
		return Info
	}
	affected := max(inc.Affected, len(inc.Launches))
	joined, waiting, due := 0, 0, false
	for _, l := range inc.Launches {
		switch l.Status {
		case report.Joined:
			joined++
		case report.Waiting:
			waiting++
		default:
			due = true
		}
	}
	certain := inc.Cause.Confidence == catalog.Certain
	switch {
	case affected == 0:
		return inc.unmet(meaning.Breaks)
	case joined >= affected && meaning.Breaks == catalog.Launching:
		return Warning // they came all the same
	case joined >= affected:
		return inc.unmet(meaning.Breaks) // as if it had met none: what it holds back may be pods
	case !due && waiting > 0 && !certain:
		return Warning // not due yet, and they may still join
	}
	return Critical
}

// unmet is the severity of a cause that no launch has met yet.
func (inc Incident) unmet(breaks catalog.Breaks) Severity {
	switch {
	case breaks == catalog.Launching && inc.Cause.Idle:
		return Warning // no pod waits for what cannot be launched
	case breaks == catalog.Launching, breaks == catalog.Addresses && inc.reached(), inc.PodsWait():
		return Critical
	}
	return Warning
}

// PodsWait reports whether an incident is about a zone or a NodePool, and that pods
// cannot start for it: that is no foresight any more.
func (inc Incident) PodsWait() bool {
	return catalog.Meaning(inc.Key.Check).Breaks == catalog.Pods && len(inc.Cause.Pods) > 0
}

// reached reports whether a subnet's trouble has come to launches or nodes. What is
// only foreseen has not, and what lets a leak stay is no effect of it.
func (inc Incident) reached() bool {
	return slices.ContainsFunc(inc.Effects, func(e Effect) bool { return e.Present() && !catalog.Meaning(e.Check).Predictive })
}

// Silenced is what hides an incident now: who asked for it, until when and why.
type Silenced struct {
	ID     string      `json:"id"`
	By     report.User `json:"by"`
	At     time.Time   `json:"at"`
	Until  time.Time   `json:"until"`
	Reason string      `json:"reason,omitempty"`
}

// Subject is the incident as silences are about it.
func (inc Incident) Subject() silence.Subject {
	groups := slices.Clone(inc.Cause.Nodegroups)
	for _, l := range inc.Launches {
		if name := l.Nodegroup; name != "" {
			groups = append(groups, name)
		} else if l.Group != "" {
			groups = append(groups, l.Group)
		}
	}
	slices.Sort(groups)
	return silence.Subject{
		Spoke: inc.Key.Spoke, Cluster: inc.Key.Cluster, Check: inc.Key.Check, Own: inc.IsBlind() || inc.Key.Cluster == report.AllClusters,
		Nodegroups: slices.Compact(groups), Tags: inc.Tags,
	}
}

// Posted reports whether the channel has its message, or may have it.
func (inc *Incident) Posted() bool { return inc.Delivery.TS != "" || !inc.Delivery.Sending.IsZero() }

// hushed reports whether a reply is not made: who muted it asked for that. What was silenced
// before it was told has no thread yet; its replies wait with the message.
func (inc *Incident) hushed(at time.Time) bool {
	return inc.Muted(at) || inc.Silence != nil && inc.Posted()
}

// ForNote is what a note has to remember of the incident.
func (inc *Incident) ForNote() *Then {
	t := &Then{
		State: inc.State, Number: inc.Number,
		Began: inc.Began, Cleared: inc.Cleared, Resolved: inc.Resolved, Resolution: inc.Resolution,
		Affected: inc.Affected, Cause: inc.Cause, ClearedBy: inc.ClearedBy, Proof: inc.Proof,
	}
	t.Cause.Evidence = nil // the note has it, where it is worth showing
	t.Cause.Covers = nil   // and this no note shows
	if len(inc.Launches) > 0 {
		t.ByStatus = map[report.LaunchStatus][]string{}
	}
	for _, l := range inc.Launches {
		t.ByStatus[l.Status] = append(t.ByStatus[l.Status], l.Instance)
	}
	return t
}

// KeepForNotes lets the notes that are still to be sent remember the launches,
// before the incident forgets them.
func (inc *Incident) KeepForNotes() {
	if len(inc.Launches) == 0 {
		return
	}
	inc.Delivery.Notes = slices.Clone(inc.Delivery.Notes)
	for i := range inc.Delivery.Notes {
		n := &inc.Delivery.Notes[i]
		if n.TS != "" || n.Then == nil || len(n.Then.Launches) > 0 {
			continue
		}
		then := *n.Then
		then.Launches = First(inc.Launches, MaxNamed)
		n.Then = &then
	}
}

// AsOf is the incident as it was when a note was made. What is known of each
// launch now is kept, but for what had not happened then.
func (inc Incident) AsOf(n Note) Incident {
	t := n.Then
	if t == nil {
		return inc
	}
	now := inc.Clone()
	inc.State, inc.Number, inc.Changed = t.State, t.Number, n.At
	inc.Began, inc.Cleared, inc.Resolved, inc.Resolution = t.Began, t.Cleared, t.Resolved, t.Resolution
	inc.Affected, inc.Cause, inc.ClearedBy, inc.Proof = t.Affected, t.Cause, t.ClearedBy, t.Proof
	inc.Cause.Evidence, inc.Facts, inc.Blind = n.Evidence, n.Facts, n.Blind
	inc.Launches, inc.More = nil, nil
	for standing, ids := range t.ByStatus {
		for _, id := range ids {
			l := report.Launch{Instance: id}
			i := slices.IndexFunc(t.Launches, func(kept report.Launch) bool { return kept.Instance == id })
			if known, kept := now.KeptLaunch(id); kept {
				l = *known
			} else if i >= 0 {
				l = t.Launches[i]
			}
			l.Status = standing
			if standing != report.Joined {
				l.Ready = time.Time{}
			}
			if standing != report.Gone {
				l.Ended, l.EndedWhy = time.Time{}, ""
			}
			if l.Registered.After(n.At) {
				l.Registered = time.Time{}
			}
			inc.AddAffected(l)
		}
	}
	inc.Affected = t.Affected
	return inc
}

// Sent is the note after Slack took it: its facts are not needed any more.
func (n Note) Sent(ts string) Note {
	return Note{ID: n.ID, At: n.At, Reason: n.Reason, Times: n.Times, TS: ts}
}

// InChannel is a note that Slack took and that the channel shows: it keeps what its line
// needs to be edited. Shown is the line's digest.
func (n Note) InChannel(was Note, shown string) Note {
	n.Line, n.Shown, n.Mention, n.Count, n.Within = true, shown, was.Mention, was.Count, was.Within
	n.Instances = First(was.Instances, mostInLine)
	return n
}

// mostInLine is how many instances a line names.
const mostInLine = 5

// NewestLine is the note whose line is the newest of the incident in the channel; nil where
// its message alone stands there.
func (inc *Incident) NewestLine() *Note {
	for i := range slices.Backward(inc.Delivery.Notes) {
		if n := &inc.Delivery.Notes[i]; n.Shown != "" {
			return n
		}
	}
	return nil
}

// Update is an incident as it may become.
type Update struct {
	Incident
	Reasons []Reason
	// Was is how urgent it was before the observation; empty unless it was open.
	Was Severity
	// Missed are the launches that missed roll call now.
	Missed   []string
	Touched  bool
	Repeated bool
	Late     bool
	// JoinedNotes are notes on what belongs to it from now on.
	JoinedNotes []Note
}

// Apply makes a step, for its reason.
func (u *Update) Apply(t Transition, now time.Time) {
	if t.None() {
		return
	}
	u.Incident.Apply(t, now)
	u.Because(t.Reason)
}

// Because notes why it changes.
func (u *Update) Because(r Reason) {
	u.Touched = true
	if !slices.Contains(u.Reasons, r) {
		u.Reasons = append(u.Reasons, r)
	}
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

// RecordVerdict records a verdict and reports whether it was the newest. Of two at the
// same time the failure counts.
func (inc *Incident) RecordVerdict(of string, found Found, at time.Time) bool {
	i, known := slices.BinarySearchFunc(inc.Verdicts, of, func(v Verdict, of string) int { return strings.Compare(v.Of, of) })
	if !known {
		inc.Verdicts = slices.Insert(inc.Verdicts, i, Verdict{Of: of, Found: found, At: at})
		if i, covered := slices.BinarySearch(inc.Covers, of); !covered {
			inc.Covers = slices.Insert(inc.Covers, i, of)
		}
		return true
	}
	have := inc.Verdicts[i]
	if at.Before(have.At) || at.Equal(have.At) && (found != Failing || have.Found == Failing) {
		return false
	}
	inc.Verdicts[i] = Verdict{Of: of, Found: found, At: at}
	return true
}

func (inc *Incident) VerdictOn(of string) (Verdict, bool) {
	for _, v := range inc.Verdicts {
		if v.Of == of {
			return v, true
		}
	}
	return Verdict{}, false
}

// AllEnded reports whether all that the incident is about has ended: no later look
// can find it well, only another launch can show that it was not the rule.
func (inc *Incident) AllEnded() bool {
	if catalog.Meaning(inc.Key.Check).Proof == catalog.Impossible {
		return true
	}
	if inc.IsSymptom() || inc.IsBlind() {
		return false
	}
	for _, cover := range inc.Covers {
		if l, kept := inc.KeptLaunch(cover); !kept || l.Status != report.Gone {
			return false
		}
	}
	return len(inc.Covers) > 0
}

// LastLook is when it was last looked at, as far as the look could tell of it.
func (inc Incident) LastLook() time.Time {
	last := inc.Seen
	for _, v := range inc.Verdicts {
		last = Later(last, v.At)
	}
	return last
}

// HasGivenUp reports whether a symptom's instance is no longer looked at: it holds no
// incident open, as nothing more will be heard of it.
func (inc *Incident) HasGivenUp(cover string) bool {
	l, kept := inc.KeptLaunch(cover)
	return kept && l.Status == report.GivenUp && inc.IsSymptom()
}

// settleTime is how long after a run a look that still finds the cause proves
// nothing: EC2's answers follow its changes late ("eventual consistency", of
// which its guide speaks in minutes), and the sweep comes every five.
const settleTime = 2 * time.Minute

// VerifyRemedies holds runs against what the check that found the cause says since.
// Only a look that was taken after a run had ended tells of it, and only what
// was seen: what could not be looked at verifies nothing.
func (inc *Incident) VerifyRemedies() (found []Reason) {
	for i := range inc.Offers {
		o := &inc.Offers[i]
		if !o.Unverified() {
			continue
		}
		if at, failing := inc.failedSince(o.Run.Ended.Add(settleTime)); failing {
			o.State, o.Verified = Unhelpful, at
			found = append(found, IsUnhelpful)
		} else if at, well := inc.wellSince(*o); well {
			o.State, o.Verified = Helped, at
			found = append(found, IsVerified)
		}
	}
	return found
}

// failedSince is the first failure from a time on.
func (inc *Incident) failedSince(t time.Time) (at time.Time, failing bool) {
	for _, v := range inc.Verdicts {
		if v.Found == Failing && !v.At.Before(t) && (at.IsZero() || v.At.Before(at)) {
			at, failing = v.At, true
		}
	}
	return at, failing
}

// wellSince reports whether all that the incident covers, and that still exists, was
// seen well after the run. An instance that was replaced shows nothing by the
// check of the cause, which was gone before: there a node must have joined.
func (inc *Incident) wellSince(o Offer) (at time.Time, well bool) {
	ended := o.Run.Ended
	if IsReplacement(o) {
		joined := inc.State == Closed && inc.Resolution == Proved && inc.Proof != nil && inc.Proof.Ready.After(o.Run.Began)
		if !joined {
			return time.Time{}, false
		}
		return inc.Proof.Ready, true
	}
	for _, v := range inc.Verdicts {
		switch {
		case v.Found == Absent:
		case v.Found != Passing || !v.At.After(ended):
			return time.Time{}, false
		case v.At.After(at):
			at = v.At
		}
	}
	return at, !at.IsZero()
}

// FixedBy is the remedy that helped in this opening: what the words of the end
// name, with who approved it. The one that took the cause away comes before the
// one that replaced instances after it.
func (inc Incident) FixedBy() (Offer, bool) {
	var by Offer
	found := false
	for _, o := range inc.Offers {
		if o.State == Helped && (!found || o.Plan.Remedy != optin.ReplaceInstance) {
			by, found = o, true
		}
	}
	return by, found
}

// WeekType is the detail-type of the event of a week.
const WeekType = "Rollcall Weekly Report"

// WeekFormat is the version of Week. Fields may be added without a new one.
const WeekFormat = 1

// Week is the detail of the event of a week in all that is watched, on the Rollcall bus
// (events/schema/rollcall-weekly-report.json).
type Week struct {
	// ID is the same each time this event is sent, and however often the week is sent.
	ID     string         `json:"id"`
	Format int            `json:"format"`
	At     time.Time      `json:"at"`
	From   time.Time      `json:"from"`
	To     time.Time      `json:"to"`
	Result report.Verdict `json:"result"`

	Clusters  int           `json:"clusters"`
	Launches  report.Tally  `json:"launches"`
	Incidents WeekIncidents `json:"incidents"`
	// Open are the worst of those that are open.
	Open []report.PeriodIncident `json:"open,omitempty"`
	// Unseen is what was not looked at, Unread what could not be read of the records: it is
	// not taken for nothing.
	Unseen      []report.Unseen `json:"unseen,omitempty"`
	UnseenCount int             `json:"unseenCount"`
	Unread      []string        `json:"unread,omitempty"`
	UnreadCount int             `json:"unreadCount"`

	Words Words `json:"words"`
}

// WeekIncidents counts the incidents of a week; those that are open are so at its At.
type WeekIncidents struct {
	Seen     int `json:"seen"`
	Opened   int `json:"opened"`
	Resolved int `json:"resolved"`
	Open     int `json:"open"`
	Critical int `json:"critical"`
}

// weekOpen and weekUnseen are the most that the event lists.
const (
	weekOpen   = 25
	weekUnseen = 25
)

// NewWeek is the event of a summary of a week.
func NewWeek(s report.Summary, words Words) Week {
	p := *s.Period
	w := Week{
		ID: s.ID, Format: WeekFormat, At: s.At, From: p.From, To: p.To, Result: p.Verdict(), Clusters: p.Clusters, Launches: p.Launches,
		Incidents: WeekIncidents{Seen: p.Seen, Opened: p.Opened, Resolved: p.Resolved, Open: p.Open, Critical: p.Critical},
		Unseen:    First(p.Unseen, weekUnseen), UnseenCount: len(p.Unseen) + p.MoreUnseen,
		Unread: First(p.Unread, weekUnseen), UnreadCount: len(p.Unread) + p.MoreUnread, Words: words,
	}
	for _, i := range p.Incidents {
		if i.IsOpen() && len(w.Open) < weekOpen {
			w.Open = append(w.Open, i)
		}
	}
	return w
}

// MaxWeek is the most bytes of a week's event: well within an entry of 256 KB ("Calculating
// PutEvents event entry size"), as each target gets it in a message of SQS too.
const MaxWeek = 200 << 10

// ReadWeek reads the event of a week, and returns its digest: the same for what says the same,
// in whichever order of fields.
func ReadWeek(detail []byte) (Week, string, error) {
	var w Week
	if err := json.Unmarshal(detail, &w); err != nil {
		return Week{}, "", fmt.Errorf("read the event of a week: %w", err)
	}
	return w, digest(w), nil
}

// Encode writes the event in at most limit bytes: what it lists is left out before its words.
func (w Week) Encode(limit int) ([]byte, error) {
	for _, shorter := range []func(){
		func() {},
		func() { w.Open = nil },
		func() { w.Unseen, w.Unread = nil, nil },
		func() { w.Words.Lines = First(w.Words.Lines, 10) },
	} {
		shorter()
		body, err := json.Marshal(w)
		if err != nil {
			return nil, fmt.Errorf("encode the event %s: %w", w.ID, err)
		}
		if len(body) <= limit {
			return body, nil
		}
	}
	return nil, nil
}
