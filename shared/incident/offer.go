package incident

import (
	"slices"
	"time"

	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// Ack is that somebody has taken an incident on.
type Ack struct {
	By report.User `json:"by"`
	At time.Time   `json:"at"`
	// From is who had it before, if somebody took it over.
	From *report.User `json:"from,omitempty"`
}

// Mute is that nobody is to be called for an incident until a time.
type Mute struct {
	By    report.User `json:"by"`
	At    time.Time   `json:"at"`
	Until time.Time   `json:"until"`
}

// Offer is a remedy's plan for an incident, and what became of it.
type Offer struct {
	Plan   remedy.Plan  `json:"plan"`
	Hash   string       `json:"hash"`
	Policy optin.Policy `json:"policy"`
	State  OfferState   `json:"state"`
	// Made is when it was proposed, Expires until when it may be approved.
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires,omitzero"`
	// By is who approved or refused it, and Decided when.
	By      report.User `json:"by,omitzero"`
	Decided time.Time   `json:"decided,omitzero"`
	// Run is what was done.
	Run *remedy.Run `json:"deed,omitempty"`
	// Verified is when the check that found the cause passed after the run, or,
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
	Acted       OfferState = "acted"    // Run tells what came of it
	Helped      OfferState = "helped"   // the check passes since
	Unhelpful   OfferState = "unhelpful"
	// Deferred: it is tried again at After. Its plan is what would be done now; of a
	// look that failed there is none but the remedy's name.
	Deferred OfferState = "deferred"
)

// MaxOffers is how many offers an incident keeps, the newest last.
const MaxOffers = 6

// LastOffer is the newest offer in a state.
func (inc *Incident) LastOffer(s OfferState) *Offer {
	for _, o := range slices.Backward(inc.Offers) {
		if o.State == s {
			return &o
		}
	}
	return nil
}

// Over tells that nothing can come of an offer any more.
func (o Offer) Over() bool {
	switch o.State {
	case Offered, Approved, Deferred:
		return false
	case Acted:
		return !o.Unverified()
	}
	return true
}

// RanOut are the newest offers of each remedy, of those that ran out and on which nobody
// decided: a fresh plan may take their place.
func (inc *Incident) RanOut(now time.Time) (list []Offer) {
	for i, o := range inc.Offers {
		ran := o.State == Expired || o.State == Offered && !o.Expires.IsZero() && !now.Before(o.Expires)
		later := slices.ContainsFunc(inc.Offers[i+1:], func(x Offer) bool { return x.Plan.Remedy == o.Plan.Remedy })
		wanted := inc.State == Open && !IsReplacement(o) || inc.State == Cleared && IsReplacement(o)
		if ran && !later && wanted && !o.Made.Before(inc.Opened) {
			list = append(list, o)
		}
	}
	return list
}

// IsReplacement tells of the one remedy that is for the time after a cause.
func IsReplacement(o Offer) bool { return remedy.Of(o.Plan.Remedy).AfterCause }

// Unverified tells of a run that may have changed something and is not verified.
func (o Offer) Unverified() bool {
	if o.State != Acted || o.Run == nil || o.Run.Ended.IsZero() {
		return false
	}
	return o.Run.Result == action.Done || o.Run.Result == action.Partly || o.Run.Result == action.Uncertain
}

// HasVerdict tells of an offer that was verified.
func (o Offer) HasVerdict() bool { return o.State == Helped || o.State == Unhelpful }

// ReplacementWait is how long an incident whose cause is gone stays for replacements that
// wait for the limit.
const ReplacementWait = 24 * time.Hour

// Live tells that something may come of an offer yet, before it is done.
func (o Offer) Live() bool { return o.State == Offered || o.State == Approved || o.State == Deferred }

// ForgetOffer takes an offer out of the list.
func (inc *Incident) ForgetOffer(o *Offer) {
	for i := range inc.Offers {
		if o == &inc.Offers[i] {
			inc.Offers = slices.Delete(inc.Offers, i, i+1)
			return
		}
	}
}

// EndWait ends a wait for which there is no plan any more. What was done before
// is worth more than why there is no more to do.
func (inc *Incident) EndWait(o *Offer, says string) {
	done := func(x Offer) bool {
		return x.Plan.Remedy == o.Plan.Remedy && x.Run != nil && !x.Made.Before(inc.Opened)
	}
	if slices.ContainsFunc(inc.Offers, done) {
		inc.ForgetOffer(o)
		return
	}
	o.State, o.Says = Outdated, says
}

// OutdateOffers takes back offers on which nobody decided, approvals that were not
// carried out, and waits.
func (inc *Incident) OutdateOffers(says string, of func(Offer) bool) {
	for i := range slices.Backward(inc.Offers) {
		switch o := &inc.Offers[i]; {
		case !o.Live() || !of(*o):
		case o.State == Deferred:
			inc.EndWait(o, says)
		case o.State == Offered || o.Run == nil:
			o.State, o.Says = Outdated, says
		}
	}
}

// Replacing tells that an incident whose cause is gone is not over: instances
// that failed for it wait for the limit, or for a person's yes after it.
func (inc Incident) Replacing() bool {
	return inc.State == Cleared && slices.ContainsFunc(inc.Offers, func(o Offer) bool {
		return o.Again && o.Live() && IsReplacement(o)
	})
}
