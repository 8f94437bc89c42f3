package response

import (
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/report"
)

// decideOffer takes the yes or no to a plan of a person who may say it.
func decideOffer(inc *incident.Incident, p report.Press, now time.Time) (incident.Reason, incident.Answer) {
	o := offerOf(inc, p.Plan)
	if o == nil {
		return incident.PressRefused, incident.Answer{Reason: incident.NoSuchPlan}
	}
	if a, decided := whyTooLate(inc, o, p, incident.Later(now, p.At)); decided {
		return incident.PressRefused, a
	}
	o.By, o.Decided = p.User, now
	if p.Action == report.RefusePlan {
		o.State = incident.RefusedByUs
		noteOffer(inc, incident.IsRefused, *o, now)
		return incident.IsRefused, incident.Answer{Reason: incident.AnswerRefused, Remedy: o.Plan.Remedy, State: o.State}
	}
	o.State = incident.Approved
	addApproval(inc, *o, now)
	noteOffer(inc, incident.IsApproved, *o, now)
	return incident.IsApproved, incident.Answer{Reason: incident.AnswerApproved, Remedy: o.Plan.Remedy, State: o.State}
}

// offerOf is the newest offer of exactly that plan.
func offerOf(inc *incident.Incident, hash string) *incident.Offer {
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

// ranOutBefore is the offer that a press was of, if its time is over and the same
// plan was offered anew since: a press may have been a dead letter meanwhile.
func ranOutBefore(inc *incident.Incident, p report.Press) *incident.Offer {
	for i := range slices.Backward(inc.Offers) {
		o := &inc.Offers[i]
		if o.Hash == p.Plan && o.State == incident.Expired && !o.Made.Before(inc.Opened) && !p.At.Before(o.Made.Truncate(time.Second)) {
			return o
		}
	}
	return nil
}

// whyTooLate tells why an offer cannot be approved or refused any more.
func whyTooLate(inc *incident.Incident, o *incident.Offer, p report.Press, now time.Time) (incident.Answer, bool) {
	a := incident.Answer{Remedy: o.Plan.Remedy, State: o.State}
	switch {
	case o.State == incident.Outdated:
		a.Reason, a.Says = incident.PlanChanged, o.Says
	case o.State == incident.Expired, o.State == incident.Offered && !now.Before(o.Expires):
		a.Reason, a.Until = incident.PlanExpired, o.Expires
	case o.State == incident.Deferred:
		a.Reason, a.Until = incident.NotNow, o.After
	case o.State != incident.Offered:
		a.Reason, a.By, a.When = incident.AlreadyDecided, o.By, o.Decided
	case o.Hash != o.Plan.Hash():
		a.Reason = incident.PlanChanged // the record does not hold what the person saw
	case p.At.Before(o.Made.Truncate(time.Second)), o.Made.Before(inc.Opened):
		// The button was of an earlier offer of it, or the offer is of an earlier
		// opening, which remediate does not look at.
		a.Reason = incident.PlanChanged
		if ran := ranOutBefore(inc, p); ran != nil {
			a.Reason, a.State, a.Until = incident.PlanExpired, ran.State, ran.Expires
		}
	case p.Action == report.ApprovePlan && inc.State == incident.Cleared && !remedy.Of(o.Plan.Remedy).AfterCause:
		a.Reason = incident.CauseIsGone
	default:
		return incident.Answer{}, false
	}
	return a, true
}

// addApproval puts the approval into the outbox, with its plan.
func addApproval(inc *incident.Incident, o incident.Offer, at time.Time) {
	inc.AddEvent(incident.IsApproved, at)
	inc.PendingEvents[len(inc.PendingEvents)-1].Offer = &o
}

// noteOffer says in the thread what became of an offer.
func noteOffer(inc *incident.Incident, r incident.Reason, o incident.Offer, at time.Time) {
	if n := inc.AddNote(r, at); n != nil {
		n.Offer = &o
	}
}
