package report

import (
	"slices"
	"time"

	"rollcall/shared/plan"
)

// TakeDeed takes in what a remedy did. It did it whatever the record says: a
// deed of a plan that nobody knows here any more is kept too.
func TakeDeed(inc Incident, d DeedTold, now time.Time) Decision {
	switch {
	case slices.Contains(inc.Applied, d.ID):
		return Decision{Incident: inc, Reason: AlreadyApplied}
	case !d.sound():
		return Decision{Incident: inc, Reason: IsMalformed}
	case inc.Number == 0:
		return Decision{Incident: inc, Reason: OutOfDate}
	}
	inc = inc.clone()
	o := inc.done(d.Deed)
	if o.Deed != nil && !follows(d.Deed, *o.Deed) {
		return Decision{Incident: inc, Reason: OutOfDate}
	}
	deed := d.Deed
	o.Deed = &deed
	inc.apply(d.ID)
	inc.Said.Behind = true
	if deed.Result == "" { // written ahead, not done yet
		return Decision{Incident: inc, Reason: NothingNew, Changed: true}
	}
	if !o.verdict() {
		o.State = Acted
	}
	reason := DeedFailed
	if deed.Result == plan.Done {
		reason = DeedDone
	}
	inc.noteOffer(reason, *o, now)
	if inc.verify(); o.verdict() {
		inc.noteOffer(map[OfferState]Reason{Helped: IsVerified, Unhelpful: IsUnhelpful}[o.State], *o, now)
	}
	if p := d.next(); p.waits() && inc.mayWait(p) {
		inc.wait(p, now)
	}
	return Decision{Incident: inc, Reason: reason, Changed: true}
}

// sound tells that a deed is of the plan that it says, for the incident that it
// names.
func (d DeedTold) sound() bool {
	p := d.Deed.Plan
	return d.Deed.ID != "" && d.Deed.Hash == p.Hash() && p.Cluster == d.Key.Cluster && p.Check == d.Key.Check && p.Resource == d.Key.Resource
}

// done is the offer that a deed is of, made if need be.
func (inc *Incident) done(d plan.Deed) *Offer {
	for i := range inc.Offers {
		if o := &inc.Offers[i]; o.Deed != nil && o.Deed.ID == d.ID {
			return o
		}
	}
	if o := inc.offered(d.Hash); o != nil && o.Deed == nil {
		return o
	}
	inc.keep(Offer{Plan: d.Plan, Hash: d.Hash, Policy: d.Policy, State: Acted, Made: d.Began, Decided: d.Approved, By: User{ID: d.ApprovedBy}})
	return &inc.Offers[len(inc.Offers)-1]
}

// follows tells that a deed says more than what is known of it: what was
// uncertain may be known later, and what was refused, by the limit of an hour,
// may be done by the next run. What was done, or failed, does not change.
func follows(d, known plan.Deed) bool {
	open := known.Result == "" || known.Result == plan.Uncertain || known.Result == plan.Refused
	return open && d.Result != "" && d.Result != known.Result
}
