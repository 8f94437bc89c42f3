package report

import (
	"time"

	"rollcall/shared/plan"
)

// Ack is that somebody has taken an incident on.
type Ack struct {
	By User      `json:"by"`
	At time.Time `json:"at"`
	// From is who had it before, if somebody took it over.
	From *User `json:"from,omitempty"`
}

// Mute is that nobody is to be called for an incident until a time.
type Mute struct {
	By    User      `json:"by"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`
}

// Offer is a remedy's plan for an incident, and what became of it.
type Offer struct {
	Plan   plan.Plan   `json:"plan"`
	Hash   string      `json:"hash"`
	Policy plan.Policy `json:"policy"`
	State  OfferState  `json:"state"`
	// Made is when it was proposed, Expires until when it may be approved.
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires,omitzero"`
	// By is who approved or refused it, and Decided when.
	By      User      `json:"by,omitzero"`
	Decided time.Time `json:"decided,omitzero"`
	// Deed is what was done.
	Deed *plan.Deed `json:"deed,omitempty"`
	// Verified is when the check that found the cause passed after the deed, or,
	// in the state Unhelpful, still failed.
	Verified time.Time `json:"verified,omitzero"`
	// Says is why there is none any more; while it is offered, why a person is
	// asked where the policy would do; while it waits, for what.
	Says string `json:"says,omitempty"`
	// After is when a remedy that waits is tried again, Reason the typed word for
	// what it waits, and Tried how often in a row a look failed. Woken is when
	// remediate was told.
	After  time.Time `json:"after,omitzero"`
	Reason string    `json:"reason,omitempty"`
	Tried  int       `json:"tried,omitempty"`
	Woken  time.Time `json:"woken,omitzero"`
	// Again tells that it waits for the limit, or was made after such a wait.
	Again bool `json:"again,omitempty"`
}

// OfferState is where an offer is.
type OfferState string

// The states of an offer.
const (
	Offered     OfferState = "offered"
	Approved    OfferState = "approved" // a person said yes, or the policy did; not done yet
	RefusedByUs OfferState = "refused"  // a person said no
	Expired     OfferState = "expired"
	Outdated    OfferState = "outdated" // the world changed, or the incident is over
	Acted       OfferState = "acted"    // Deed tells what came of it
	Helped      OfferState = "helped"   // the check passes since
	Unhelpful   OfferState = "unhelpful"
	// Deferred: it is tried again at After. Its plan is what would be done now; of a
	// look that failed there is none but the remedy's name.
	Deferred OfferState = "deferred"
)

// MaxOffers is how many offers an incident keeps, the newest last.
const MaxOffers = 6
