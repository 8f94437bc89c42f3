package response

import (
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/report"
)

// ApplyRemedyResult takes in what a remedy did. It did it whatever the record says: a
// run of a plan that nobody knows here any more is kept too.
func ApplyRemedyResult(inc incident.Incident, d report.RemedyResult, now time.Time) incident.Decision {
	switch {
	case slices.Contains(inc.Applied, d.ID):
		return incident.Decision{Incident: inc, Reason: incident.AlreadyApplied}
	case !runIsSound(d):
		return incident.Decision{Incident: inc, Reason: incident.IsMalformed}
	case inc.Number == 0:
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate}
	}
	inc = inc.Clone()
	o := offerOfRun(&inc, d.Run)
	if o.Run != nil && !follows(d.Run, *o.Run) {
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate}
	}
	run := d.Run
	o.Run = &run
	inc.MarkApplied(d.ID)
	inc.Delivery.Dirty = true
	if run.Result == "" { // written ahead, not done yet
		return incident.Decision{Incident: inc, Reason: incident.NothingNew, Changed: true}
	}
	if !o.HasVerdict() {
		o.State = incident.Acted
	}
	reason := incident.RemedyFailed
	if run.Result == action.Done {
		reason = incident.RemedyDone
	}
	noteOffer(&inc, reason, *o, now)
	inc.AddActed(reason, *o, now)
	if inc.VerifyRemedies(); o.HasVerdict() {
		noteOffer(&inc, map[incident.OfferState]incident.Reason{incident.Helped: incident.IsVerified, incident.Unhelpful: incident.IsUnhelpful}[o.State], *o, now)
	}
	if p := nextWait(d); isWait(p) && mayWait(&inc, p) {
		deferOffer(&inc, p, now)
	}
	return incident.Decision{Incident: inc, Reason: reason, Changed: true}
}

// runIsSound tells that a run is of the plan that it says, for the incident that it
// names.
func runIsSound(d report.RemedyResult) bool {
	p := d.Run.Plan
	return d.Run.ID != "" && d.Run.Hash == p.Hash() && isOf(p, d.Key) && p.Cluster == d.Key.Cluster && p.Check == d.Key.Check && p.Resource == d.Key.Resource
}

// offerOfRun is the offer that a run is of, made if need be.
func offerOfRun(inc *incident.Incident, d remedy.Run) *incident.Offer {
	for i := range inc.Offers {
		if o := &inc.Offers[i]; o.Run != nil && o.Run.ID == d.ID {
			return o
		}
	}
	if o := offerOf(inc, d.Hash); o != nil && o.Run == nil {
		return o
	}
	keepOffer(inc, incident.Offer{Plan: d.Plan, Hash: d.Hash, Policy: d.Policy, State: incident.Acted, Made: d.Began, Decided: d.Approved, By: report.User{ID: d.ApprovedBy}})
	return &inc.Offers[len(inc.Offers)-1]
}

// follows tells that a run says more than what is known of it: what was
// uncertain may be known later, and what was refused, by the limit of an hour,
// may be done by the next run. What was done, or failed, does not change.
func follows(d, known remedy.Run) bool {
	open := known.Result == "" || known.Result == action.Uncertain || known.Result == action.Refused
	return open && d.Result != "" && d.Result != known.Result
}
