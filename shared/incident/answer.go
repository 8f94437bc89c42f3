package incident

import (
	"time"

	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// Answer is what a person is told of their press, and only they.
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
)

// Why nothing was done.
const (
	NotAllowed       AnswerReason = "not-allowed"
	NotResponder     AnswerReason = "not-responder"      // not among those of the setting responders
	OtherWorkspace   AnswerReason = "other-workspace"    // of another company, or of nobody knows which
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
	AskedJustNow     AnswerReason = "asked-just-now"     // Until
	NotNow           AnswerReason = "not-now"            // the limit is reached, or a look failed: Until
	CauseIsGone      AnswerReason = "cause-is-gone"      // there is nothing to fix any more
	NotPassedOn      AnswerReason = "not-passed-on"      // slack-actions did not pass it on: somebody else made it up
	Incomplete       AnswerReason = "incomplete"         // it names no channel, message or person
	TooLate          AnswerReason = "too-late"           // it was on its way for too long, When it was pressed
	FromFuture       AnswerReason = "from-the-future"    // When it is said to have been pressed
)

// Done tells that the press did what it was to do.
func (a Answer) Done() bool {
	switch a.Reason {
	case AnswerApproved, AnswerRefused, AnswerAcknowledged, AnswerTakenOver, AnswerMuted, AnswerUnmuted, AnswerChecking, AnswerOffering:
		return true
	}
	return false
}

// Proven tells whether a refusal may be told to the person whom the press names:
// what a function made up calls nobody.
func (a Answer) Proven() bool { return a.Reason != NotPassedOn }
