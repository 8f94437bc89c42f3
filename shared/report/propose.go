package report

import (
	"encoding/json"
	"slices"
	"time"

	"rollcall/shared/plan"
)

// usuallyLasts is how long a plan may be approved that does not say so: the
// default of the setting approvalTime; longest is the setting's bound.
const (
	usuallyLasts = time.Hour
	longest      = 24 * time.Hour
)

// Propose takes in a plan that remediate made, or takes one back. A plan that
// is on its way to be done stays until its deed is told.
func Propose(inc Incident, p Proposal, now time.Time) Decision {
	switch {
	case slices.Contains(inc.Applied, p.ID):
		return Decision{Incident: inc, Reason: AlreadyApplied}
	case !p.sound():
		return Decision{Incident: inc, Reason: IsMalformed}
	case inc.Number == 0 || inc.State == Closed || p.At.Before(inc.Opened):
		return Decision{Incident: inc, Reason: OutOfDate}
	case p.Hash != "" && inc.State == Cleared && p.Remedy != plan.ReplaceInstance:
		return Decision{Incident: inc, Reason: OutOfDate} // the cause is gone
	case p.waits() && !inc.mayWait(p):
		return Decision{Incident: inc, Reason: OutOfDate} // or is back
	}
	inc = inc.clone()
	reason := inc.propose(p, now)
	if reason == NothingNew || reason == OutOfDate {
		return Decision{Incident: inc, Reason: reason}
	}
	inc.apply(p.ID)
	inc.Said.Behind = true
	return Decision{Incident: inc, Reason: reason, Changed: true}
}

// sound tells that a proposal is one plan, for the incident that it names.
func (p Proposal) sound() bool {
	if p.Hash == "" {
		return p.Remedy != ""
	}
	return p.Hash == p.Plan.Hash() && p.small() && p.Plan.Format == plan.Format && p.Plan.Remedy == p.Remedy &&
		p.Plan.Cluster == p.Key.Cluster && p.Plan.Check == p.Key.Check && p.Plan.Resource == p.Key.Resource &&
		(p.Policy == plan.Approve || p.Policy == plan.Auto)
}

// maxPlan is how large a plan may be: an incident keeps six of them, some twice
// (in the deed, in a note, in an event), in an item of 400 KB. The largest, of
// 200 interfaces, has 6 KB.
const maxPlan = 16 << 10

func (p Proposal) small() bool {
	body, err := json.Marshal(p.Plan)
	return err == nil && len(body) <= maxPlan
}

func (inc *Incident) propose(p Proposal, now time.Time) Reason {
	last := inc.newest(p.Remedy, func(Offer) bool { return true })
	live := inc.newest(p.Remedy, Offer.live)
	switch {
	case p.waits() && last != nil && p.At.Before(last.Made):
		return OutOfDate
	case p.waits():
		return inc.wait(p, now)
	case last != nil && !p.At.After(last.Made):
		return OutOfDate
	case live != nil && live.State == Approved && (live.Policy == plan.Approve || live.Deed != nil || live.Hash == p.Hash):
		// A person's yes stands until its deed is told; the policy's only as long
		// as it is of what would be done now.
		return NothingNew
	case p.Hash == "" && live != nil && live.State == Deferred:
		inc.unwait(live, p.Says)
		return IsOutdated
	case p.Hash == "" && live != nil:
		live.State, live.Says = Outdated, p.Says
		return IsOutdated
	case p.Hash == "":
		return inc.cannot(p, last)
	case live != nil && live.Hash == p.Hash && live.Policy == p.Policy && now.Before(live.Expires):
		live.Expires = later(live.Expires, p.expires()) // a fresh look gave the same plan
		return IsRenewed
	case inc.spoken(p.Hash):
		return NothingNew
	}
	again := inc.again(p.Remedy)
	known := inc.offered(p.Hash) != nil && (live == nil || live.State != Deferred)
	switch {
	case live == nil:
	case live.State == Deferred:
		inc.forget(live)
	case live.State == Offered && !now.Before(live.Expires):
		live.State = Expired // and nobody looked until now
	default:
		live.State, live.Says = Outdated, "another plan took its place"
	}
	o := Offer{Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: Offered, Made: p.At, Expires: p.expires(), Says: p.Says, Again: again}
	if p.Policy == plan.Auto {
		o.State, o.Decided = Approved, now
	}
	inc.keep(o)
	if o.State == Approved {
		inc.auto(p, o, now)
		return IsApproved
	}
	if !known {
		inc.noteOffer(IsProposed, o, now)
	}
	return IsProposed
}

// cannot keeps why there is no plan for a remedy: a person who waits for its
// button is to know. What became of an earlier plan is worth more.
func (inc *Incident) cannot(p Proposal, last *Offer) Reason {
	switch {
	case p.Says == "":
		return NothingNew
	case last == nil:
		inc.keep(Offer{Plan: plan.Plan{Remedy: p.Remedy}, Policy: p.Policy, State: Outdated, Made: p.At, Says: p.Says})
		return IsOutdated
	case last.State != Outdated || last.Says == p.Says:
		return NothingNew
	}
	last.Says = p.Says
	return IsOutdated
}

// auto records that the policy approved a plan. remediate acts on its own then;
// only eni-cleanup, which deletes interfaces, waits to be told.
func (inc *Incident) auto(p Proposal, o Offer, now time.Time) {
	inc.Acts = append(inc.Acts, ActRecord{
		Format: RecordFormat, ID: p.ID, At: p.At, Decided: now, Key: inc.Key, Number: inc.Number, Opened: inc.Opened,
		Action: ApprovePlan, Plan: p.Hash, Remedy: p.Remedy,
		Answer: Answer{Reason: AnswerApproved, Remedy: p.Remedy, State: Approved},
	})
	if p.Remedy == plan.DeleteLeakedInterfaces {
		inc.tellApproved(o, now)
	}
}

// newest is the last of some offers of a remedy.
func (inc *Incident) newest(r plan.Remedy, of func(Offer) bool) *Offer {
	for i := range slices.Backward(inc.Offers) {
		if inc.Offers[i].Plan.Remedy == r && of(inc.Offers[i]) {
			return &inc.Offers[i]
		}
	}
	return nil
}

// spoken tells that exactly this plan had its answer in this opening: a person
// said no, or it was done. It is not offered again; what AWS or a rule refused
// may be.
func (inc *Incident) spoken(hash string) bool {
	return slices.ContainsFunc(inc.Offers, func(o Offer) bool {
		if o.Hash != hash {
			return false
		}
		failed := o.Deed != nil && (o.Deed.Result == plan.Refused || o.Deed.Result == plan.Failed)
		return o.State == RefusedByUs || o.State == Helped || o.State == Unhelpful || o.State == Acted && !failed
	})
}

func (p Proposal) expires() time.Time {
	lasts := min(p.Lasts, longest)
	if lasts <= 0 {
		lasts = usuallyLasts
	}
	return p.At.Add(lasts)
}

// keep adds an offer, and forgets the oldest that is over when there are too many.
func (inc *Incident) keep(o Offer) {
	inc.Offers = append(inc.Offers, o)
	for over := len(inc.Offers) - MaxOffers; over > 0; over-- {
		i := slices.IndexFunc(inc.Offers, func(o Offer) bool { return o.over() })
		if i < 0 { // what was replaced in parts is verified by the newest part
			i = slices.IndexFunc(inc.Offers, func(x Offer) bool { return x.State == Acted && replaces(x) && replaces(o) })
		}
		if i < 0 || i == len(inc.Offers)-1 {
			return
		}
		inc.Offers = slices.Delete(inc.Offers, i, i+1)
	}
}

// over tells that nothing can come of an offer any more.
func (o Offer) over() bool {
	switch o.State {
	case Offered, Approved, Deferred:
		return false
	case Acted:
		return !o.pending()
	}
	return true
}
