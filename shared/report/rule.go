package report

import (
	"slices"
	"time"

	"rollcall/shared/plan"
)

// rule takes the yes or no to a plan of a person who may say it.
func (inc *Incident) rule(p Press, now time.Time) (Reason, Answer) {
	o := inc.offered(p.Plan)
	if o == nil {
		return PressRefused, Answer{Reason: NoSuchPlan}
	}
	if a, decided := inc.decided(o, p, later(now, p.At)); decided {
		return PressRefused, a
	}
	o.By, o.Decided = p.User, now
	if p.Action == RefusePlan {
		o.State = RefusedByUs
		inc.noteOffer(IsRefused, *o, now)
		return IsRefused, Answer{Reason: AnswerRefused, Remedy: o.Plan.Remedy, State: o.State}
	}
	o.State = Approved
	inc.tellApproved(*o, now)
	inc.noteOffer(IsApproved, *o, now)
	return IsApproved, Answer{Reason: AnswerApproved, Remedy: o.Plan.Remedy, State: o.State}
}

// offered is the newest offer of exactly that plan.
func (inc *Incident) offered(hash string) *Offer {
	if hash == "" {
		return nil
	}
	for i := range slices.Backward(inc.Offers) {
		if inc.Offers[i].Hash == hash {
			return &inc.Offers[i]
		}
	}
	return nil
}

// ranOut is the offer that a press was of, if its time is over and the same plan
// was offered anew since: a press may have been a dead letter meanwhile.
func (inc *Incident) ranOut(p Press) *Offer {
	for i := range slices.Backward(inc.Offers) {
		o := &inc.Offers[i]
		if o.Hash == p.Plan && o.State == Expired && !o.Made.Before(inc.Opened) && !p.At.Before(o.Made.Truncate(time.Second)) {
			return o
		}
	}
	return nil
}

// decided tells why an offer cannot be approved or refused any more.
func (inc *Incident) decided(o *Offer, p Press, now time.Time) (Answer, bool) {
	a := Answer{Remedy: o.Plan.Remedy, State: o.State}
	switch {
	case o.State == Outdated:
		a.Reason, a.Says = PlanChanged, o.Says
	case o.State == Expired, o.State == Offered && !now.Before(o.Expires):
		a.Reason, a.Until = PlanExpired, o.Expires
	case o.State == Deferred:
		a.Reason, a.Until = NotNow, o.After
	case o.State != Offered:
		a.Reason, a.By, a.When = AlreadyDecided, o.By, o.Decided
	case o.Hash != o.Plan.Hash():
		a.Reason = PlanChanged // the record does not hold what the person saw
	case p.At.Before(o.Made.Truncate(time.Second)), o.Made.Before(inc.Opened):
		// The button was of an earlier offer of it, or the offer is of an earlier
		// opening, which remediate does not look at.
		a.Reason = PlanChanged
		if ran := inc.ranOut(p); ran != nil {
			a.Reason, a.State, a.Until = PlanExpired, ran.State, ran.Expires
		}
	case p.Action == ApprovePlan && inc.State == Cleared && o.Plan.Remedy != plan.ReplaceInstance:
		a.Reason = CauseIsGone
	default:
		return Answer{}, false
	}
	return a, true
}

// tellApproved puts the approval into the outbox, with its plan.
func (inc *Incident) tellApproved(o Offer, at time.Time) {
	inc.tell(IsApproved, at)
	inc.Untold[len(inc.Untold)-1].Offer = &o
}

// noteOffer says in the thread what became of an offer.
func (inc *Incident) noteOffer(r Reason, o Offer, at time.Time) {
	if n := inc.addNote(r, at); n != nil {
		n.Offer = &o
	}
}
