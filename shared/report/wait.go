package report

import (
	"slices"
	"time"

	"rollcall/shared/plan"
)

// The bounds of a wait: never a busy loop, and never longer than the limit of an
// hour can take, or a look that fails.
const (
	soonest  = time.Minute
	farthest = 2 * time.Hour
)

// oneDay is how long an incident whose cause is gone stays for replacements that
// wait for the limit.
const oneDay = 24 * time.Hour

// The words of Proposal.Reason for which a remedy is tried again.
const (
	// LimitReached: the remedy acted as often as it may within an hour.
	LimitReached = "limit-reached"
	// MoreLeft: one plan does not do all of it.
	MoreLeft = "more-left"
)

// waits tells that a proposal asks to be woken later.
func (p Proposal) waits() bool { return !p.After.IsZero() }

// next is the wait that a deed asks for. What was refused is kept with it; of
// what is left to do there is no plan yet.
func (d DeedTold) next() Proposal {
	n := d.Deed.Next
	if n == nil {
		return Proposal{}
	}
	p := Proposal{At: d.At, Key: d.Key, Remedy: d.Deed.Plan.Remedy, Policy: d.Deed.Policy, After: n.At, Reason: n.Reason, Says: n.Says}
	if d.Deed.Result == plan.Refused {
		p.Plan, p.Hash = d.Deed.Plan, d.Deed.Hash
	}
	return p
}

// mayWait tells that the incident may still need the remedy.
func (inc *Incident) mayWait(p Proposal) bool {
	if p.Remedy == plan.ReplaceInstance {
		return inc.State == Cleared
	}
	return inc.State == Open
}

// after is when a remedy is tried again.
func (p Proposal) after() time.Time {
	switch wait := p.After.Sub(p.At); {
	case wait < soonest:
		return p.At.Add(soonest)
	case wait > farthest:
		return p.At.Add(farthest)
	}
	return p.After
}

// wait keeps that a remedy is tried again later. A person's yes stands until its
// deed is told, and so does what is being done.
func (inc *Incident) wait(p Proposal, now time.Time) Reason {
	o := Offer{
		Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: Deferred, Made: p.At,
		After: p.after(), Tried: p.Tried, Reason: p.Reason, Says: p.Says,
	}
	o.Plan.Remedy = p.Remedy
	o.Again = p.Reason == LimitReached || p.Reason == MoreLeft || inc.again(p.Remedy)
	live := inc.newest(p.Remedy, Offer.live)
	known := false
	switch {
	case live == nil:
	case live.State == Approved && (live.Policy == plan.Approve || live.Deed != nil), live.State == Offered:
		return NothingNew
	default:
		known = live.State == Deferred && live.Reason == o.Reason
		inc.forget(live)
	}
	if last := inc.newest(p.Remedy, func(Offer) bool { return true }); last != nil && last.State == Outdated && last.Hash == "" {
		inc.forget(last) // why there was no plan
	}
	inc.keep(o)
	if !known && o.Policy == plan.Auto && o.Reason == LimitReached {
		inc.noteOffer(IsDeferred, o, now)
	}
	return IsDeferred
}

// again tells that the newest offer of a remedy in this opening came of a wait:
// what it began is not done yet.
func (inc *Incident) again(r plan.Remedy) bool {
	o := inc.newest(r, func(o Offer) bool { return !o.Made.Before(inc.Opened) })
	return o != nil && o.Again
}

// live tells that something may come of an offer yet, before it is done.
func (o Offer) live() bool { return o.State == Offered || o.State == Approved || o.State == Deferred }

// forget takes an offer out of the list.
func (inc *Incident) forget(o *Offer) {
	for i := range inc.Offers {
		if o == &inc.Offers[i] {
			inc.Offers = slices.Delete(inc.Offers, i, i+1)
			return
		}
	}
}

// unwait ends a wait for which there is no plan any more. What was done before
// is worth more than why there is no more to do.
func (inc *Incident) unwait(o *Offer, says string) {
	done := func(x Offer) bool {
		return x.Plan.Remedy == o.Plan.Remedy && x.Deed != nil && !x.Made.Before(inc.Opened)
	}
	if slices.ContainsFunc(inc.Offers, done) {
		inc.forget(o)
		return
	}
	o.State, o.Says = Outdated, says
}

// outdate takes back offers on which nobody decided, approvals that were not
// carried out, and waits.
func (inc *Incident) outdate(says string, of func(Offer) bool) {
	for i := range slices.Backward(inc.Offers) {
		switch o := &inc.Offers[i]; {
		case !o.live() || !of(*o):
		case o.State == Deferred:
			inc.unwait(o, says)
		case o.State == Offered || o.Deed == nil:
			o.State, o.Says = Outdated, says
		}
	}
}

// wake has remediate try again what waits. It is told once: remediate answers
// with what it did, with another time, or that there is nothing to do any more.
// Without an answer it ends here.
func (inc *Incident) wake(now time.Time) Reason {
	if inc.State != Open && inc.State != Cleared {
		return NothingNew
	}
	reason := NothingNew
	for i := range inc.Offers {
		switch o := &inc.Offers[i]; {
		case o.State != Deferred:
		case o.Woken.IsZero() && !now.Before(o.After):
			o.Woken = now
			reason = IsDue
		case !o.Woken.IsZero() && now.Sub(o.Woken) >= unheard:
			o.State, o.Says = Outdated, "it was to be tried again, and nothing was heard of it"
			if reason == NothingNew {
				reason = IsOutdated
			}
		}
	}
	if reason == IsDue {
		inc.tell(IsDue, now)
	}
	return reason
}

// Replacing tells that an incident whose cause is gone is not over: instances
// that failed for it wait for the limit, or for a person's yes after it.
func (inc Incident) Replacing() bool {
	return inc.State == Cleared && slices.ContainsFunc(inc.Offers, func(o Offer) bool {
		return o.Again && o.live() && replaces(o)
	})
}
