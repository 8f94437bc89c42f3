package response

import (
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// The bounds of a wait: never a busy loop, and never longer than the limit of an
// hour can take, or a look that fails.
const (
	soonest  = time.Minute
	farthest = 2 * time.Hour
)

// isWait reports whether a proposal asks to be woken later.
func isWait(p report.Proposal) bool { return !p.After.IsZero() }

// nextWait is the wait that a run asks for. What was refused is kept with it; of
// what is left to do there is no plan yet.
func nextWait(d report.RemedyResult) report.Proposal {
	n := d.Run.Next
	if n == nil {
		return report.Proposal{}
	}
	p := report.Proposal{Head: report.Head{At: d.At, Key: d.Key}, Remedy: d.Run.Plan.Remedy, Policy: d.Run.Policy, After: n.At, Reason: n.Reason, Says: n.Says}
	if d.Run.Result == remedy.Refused {
		p.Plan, p.Hash = d.Run.Plan, d.Run.Hash
	}
	return p
}

// mayWait reports whether the incident may still need the remedy.
func mayWait(inc *incident.Incident, p report.Proposal) bool {
	if remedy.ByName(p.Remedy).AfterCause {
		return inc.State == incident.Cleared
	}
	return inc.State == incident.Open
}

// retryAt is when a remedy is tried again.
func retryAt(p report.Proposal) time.Time {
	return p.At.Add(min(max(p.After.Sub(p.At), soonest), farthest))
}

// deferOffer keeps that a remedy is tried again later. A person's yes stands until its
// run is reported, and so does what is being done.
func deferOffer(inc *incident.Incident, p report.Proposal, now time.Time) incident.Reason {
	o := incident.Offer{
		Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: incident.Deferred, Made: p.At,
		After: retryAt(p), Tried: p.Tried, Reason: p.Reason, Says: p.Says,
	}
	o.Plan.Remedy = p.Remedy
	o.Again = p.Reason == report.LimitReached || p.Reason == report.MoreLeft || followsWait(inc, p.Remedy)
	live := newestOffer(inc, p.Remedy, incident.Offer.Live)
	known := false
	switch {
	case live == nil:
	case live.State == incident.Approved && (live.Policy == optin.Approve || live.Run != nil), live.State == incident.Offered:
		return incident.NothingNew
	default:
		known = live.Reason == o.Reason // only what waited has one
		inc.ForgetOffer(live)
	}
	if last := newestOffer(inc, p.Remedy, func(incident.Offer) bool { return true }); last != nil && last.Hash == "" {
		inc.ForgetOffer(last) // why there was no plan
	}
	keepOffer(inc, o)
	if !known && o.Policy == optin.Auto && o.Reason == report.LimitReached {
		noteOffer(inc, incident.IsDeferred, o, now)
	}
	return incident.IsDeferred
}

// followsWait reports whether the newest offer of a remedy in this opening came of a wait:
// what it began is not done yet.
func followsWait(inc *incident.Incident, r optin.Remedy) bool {
	o := newestOffer(inc, r, func(o incident.Offer) bool { return !o.Made.Before(inc.Opened) })
	return o != nil && o.Again
}

// wakeDeferred has remediate try again what waits. It is sent once: remediate answers
// with what it did, with another time, or that there is nothing to do any more.
// Without an answer it ends here.
func wakeDeferred(inc *incident.Incident, now time.Time) incident.Reason {
	if inc.State != incident.Open && inc.State != incident.Cleared {
		return incident.NothingNew
	}
	reason := incident.NothingNew
	for i := range inc.Offers {
		switch o := &inc.Offers[i]; {
		case o.State != incident.Deferred:
		case o.Woken.IsZero() && !now.Before(o.After):
			o.Woken = now
			reason = incident.IsDue
		case !o.Woken.IsZero() && now.Sub(o.Woken) >= unheard:
			o.State, o.Says = incident.Outdated, "it was to be retried, but no result arrived"
			if reason == incident.NothingNew {
				reason = incident.IsOutdated
			}
		}
	}
	if reason == incident.IsDue {
		inc.AddEvent(incident.IsDue, now)
	}
	return reason
}
