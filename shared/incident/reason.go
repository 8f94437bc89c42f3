package incident

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
	IsCalled    Reason = "called"
	IsReminded  Reason = "reminded"
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

	// IsDue is said to the bus alone: a remedy that waited is to be tried again.
	IsDue Reason = "remedy-due"

	// The rest is said to nobody.
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
	// Changed tells that the record is to be saved. What is to be said and
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
	// EventCheckWanted: somebody wants the cause to be looked at now. Its
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

// Event is what the bus is told for a reason; empty for nothing.
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

// Noted tells whether a reason is worth a reply in the thread. The others
// only change the message.
func (r Reason) Noted() bool {
	switch r {
	case MoreAffected, BetterKnown, IsAsked, IsDue, IsAcknowledged:
		return false
	case IsProposed, IsRefused, RemedyDone, RemedyFailed, IsDeferred, HasChanges, IsCalled, IsReminded, IsTakenOver:
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
