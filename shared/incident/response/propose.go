package response

import (
	"encoding/json"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// usuallyLasts is how long a plan may be approved that does not say so: the
// default of the setting approvalTime; longest is the setting's bound.
const (
	usuallyLasts    = time.Hour
	LongestApproval = 24 * time.Hour
)

// Propose takes in a plan that remediate made, or takes one back. A plan that
// is on its way to be done stays until its run is told.
func Propose(inc incident.Incident, p report.Proposal, now time.Time) incident.Decision {
	switch {
	case slices.Contains(inc.Applied, p.ID):
		return incident.Decision{Incident: inc, Reason: incident.AlreadyApplied}
	case !proposalIsSound(p):
		return incident.Decision{Incident: inc, Reason: incident.IsMalformed}
	case inc.Number == 0 || inc.State == incident.Closed || p.At.Before(inc.Opened):
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate}
	case p.Hash != "" && inc.State == incident.Cleared && !remedy.Of(p.Remedy).AfterCause:
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate} // the cause is gone
	case isWait(p) && !mayWait(&inc, p):
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate} // or is back
	}
	inc = inc.Clone()
	reason := propose(&inc, p, now)
	if reason == incident.NothingNew || reason == incident.OutOfDate {
		return incident.Decision{Incident: inc, Reason: reason}
	}
	inc.MarkApplied(p.ID)
	inc.Delivery.Dirty = true
	return incident.Decision{Incident: inc, Reason: reason, Changed: true}
}

// proposalIsSound tells that a proposal is one plan, for the incident that it names.
func proposalIsSound(p report.Proposal) bool {
	if p.Hash == "" {
		return p.Remedy != ""
	}
	return p.Hash == p.Plan.Hash() && isSmall(p) && p.Plan.Format == remedy.Format && p.Plan.Remedy == p.Remedy &&
		isOf(p.Plan, p.Key) && p.Plan.Cluster == p.Key.Cluster && p.Plan.Check == p.Key.Check && p.Plan.Resource == p.Key.Resource &&
		(p.Policy == optin.Approve || p.Policy == optin.Auto)
}

// isOf tells that a plan is of the account and region of an incident, where that is a
// spoke's.
func isOf(p remedy.Plan, k report.Key) bool {
	return k.Spoke.Hub() || p.Account == k.Spoke.Account && p.Region == k.Spoke.Region
}

// maxPlan is how large a plan may be: an incident keeps six of them, some twice
// (in the run, in a note, in an event), in an item of 400 KB. The largest, of
// 200 interfaces, has 6 KB.
const maxPlan = 16 << 10

func isSmall(p report.Proposal) bool {
	body, err := json.Marshal(p.Plan)
	return err == nil && len(body) <= maxPlan
}

func propose(inc *incident.Incident, p report.Proposal, now time.Time) incident.Reason {
	last := newestOffer(inc, p.Remedy, func(incident.Offer) bool { return true })
	live := newestOffer(inc, p.Remedy, incident.Offer.Live)
	switch {
	case last != nil && p.At.Before(last.Made):
		return incident.OutOfDate
	case isWait(p):
		return deferOffer(inc, p, now)
	case last != nil && !p.At.After(last.Made):
		return incident.OutOfDate
	case live != nil && live.State == incident.Approved && (live.Policy == optin.Approve || live.Run != nil || live.Hash == p.Hash):
		// A person's yes stands until its run is told; the policy's only as long
		// as it is of what would be done now.
		return incident.NothingNew
	case p.Hash == "" && live != nil && live.State == incident.Deferred:
		inc.EndWait(live, p.Says)
		return incident.IsOutdated
	case p.Hash == "" && live != nil:
		live.State, live.Says = incident.Outdated, p.Says
		return incident.IsOutdated
	case p.Hash == "":
		return keepWhyNone(inc, p, last)
	case live != nil && live.Hash == p.Hash && live.Policy == p.Policy && now.Before(live.Expires):
		live.Expires = incident.Later(live.Expires, expiryOf(p)) // a fresh look gave the same plan
		return incident.IsRenewed
	case answeredBefore(inc, p.Hash):
		return incident.NothingNew
	}
	again := followsWait(inc, p.Remedy)
	known := offerOf(inc, p.Hash) != nil && (live == nil || live.State != incident.Deferred)
	wanted := live != nil && live.State == incident.Offered && now.Before(live.Expires)
	switch {
	case live == nil:
	case live.State == incident.Deferred:
		inc.ForgetOffer(live)
	case live.State == incident.Offered && !now.Before(live.Expires):
		live.State = incident.Expired // and nobody looked until now
	default:
		live.State, live.Says = incident.Outdated, "another plan took its place"
	}
	o := incident.Offer{Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: incident.Offered, Made: p.At, Expires: expiryOf(p), Says: p.Says, Again: again}
	if p.Policy == optin.Auto {
		o.State, o.Decided = incident.Approved, now
	}
	keepOffer(inc, o)
	if o.State == incident.Approved {
		approveByPolicy(inc, p, o, now)
		return incident.IsApproved
	}
	switch {
	case known:
	case wanted: // a decision was wanted already: that it is on another plan now is a reply
		lined := inc.Lined
		if n := inc.AddNote(incident.IsProposed, now); n != nil {
			n.Offer, n.Line = &o, false
		}
		inc.Lined = lined
	default:
		noteOffer(inc, incident.IsProposed, o, now)
	}
	return incident.IsProposed
}

// keepWhyNone keeps why there is no plan for a remedy: a person who waits for its
// button is to know. What became of an earlier plan is worth more.
func keepWhyNone(inc *incident.Incident, p report.Proposal, last *incident.Offer) incident.Reason {
	switch {
	case p.Says == "":
		return incident.NothingNew
	case last == nil:
		keepOffer(inc, incident.Offer{Plan: remedy.Plan{Remedy: p.Remedy}, Policy: p.Policy, State: incident.Outdated, Made: p.At, Says: p.Says})
		return incident.IsOutdated
	case last.State != incident.Outdated || last.Says == p.Says:
		return incident.NothingNew
	}
	last.Says = p.Says
	return incident.IsOutdated
}

// approveByPolicy records that the policy approved a plan. remediate acts on its own then;
// only eni-cleanup, which deletes interfaces, waits to be told.
func approveByPolicy(inc *incident.Incident, p report.Proposal, o incident.Offer, now time.Time) {
	inc.Acts = append(inc.Acts, incident.ActRecord{
		Format: incident.RecordFormat, ID: p.ID, At: p.At, Decided: now, Key: inc.Key, Number: inc.Number, Opened: inc.Opened,
		Action: report.ApprovePlan, Plan: p.Hash, Remedy: p.Remedy,
		Answer: incident.Answer{Reason: incident.AnswerApproved, Remedy: p.Remedy, State: incident.Approved},
	})
	if remedy.Of(p.Remedy).Elsewhere != "" {
		addApproval(inc, o, now)
	}
}

// newestOffer is the last of some offers of a remedy.
func newestOffer(inc *incident.Incident, r optin.Remedy, of func(incident.Offer) bool) *incident.Offer {
	for i := range slices.Backward(inc.Offers) {
		if inc.Offers[i].Plan.Remedy == r && of(inc.Offers[i]) {
			return &inc.Offers[i]
		}
	}
	return nil
}

// answeredBefore tells that exactly this plan had its answer in this opening: a person
// said no, or it was done. It is not offered again; what AWS or a rule refused
// may be.
func answeredBefore(inc *incident.Incident, hash string) bool {
	return slices.ContainsFunc(inc.Offers, func(o incident.Offer) bool {
		if o.Hash != hash {
			return false
		}
		failed := o.Run != nil && (o.Run.Result == action.Refused || o.Run.Result == action.Failed)
		return o.State == incident.RefusedByUs || o.State == incident.Helped || o.State == incident.Unhelpful || o.State == incident.Acted && !failed
	})
}

func expiryOf(p report.Proposal) time.Time {
	lasts := min(p.Lasts, LongestApproval)
	if lasts <= 0 {
		lasts = usuallyLasts
	}
	return p.At.Add(lasts)
}

// keepOffer adds an offer, and forgets the oldest that is over when there are too many.
func keepOffer(inc *incident.Incident, o incident.Offer) {
	inc.Offers = append(inc.Offers, o)
	for over := len(inc.Offers) - incident.MaxOffers; over > 0; over-- {
		i := slices.IndexFunc(inc.Offers, func(o incident.Offer) bool { return o.Over() })
		if i < 0 { // what was replaced in parts is verified by the newest part
			i = slices.IndexFunc(inc.Offers, func(x incident.Offer) bool {
				return x.State == incident.Acted && incident.IsReplacement(x) && incident.IsReplacement(o)
			})
		}
		if i < 0 || i == len(inc.Offers)-1 {
			return
		}
		inc.Offers = slices.Delete(inc.Offers, i, i+1)
	}
}
