package incident

import (
	"time"

	"rollcall/shared/remedy/optin"
)

// settleTime is how long after a run a look that still finds the cause proves
// nothing: EC2's answers follow its changes late ("eventual consistency", of
// which its guide speaks in minutes), and the sweep comes every five.
const settleTime = 2 * time.Minute

// VerifyRemedies holds runs against what the check that found the cause says since.
// Only a look that was taken after a run had ended tells of it, and only what
// was seen: what could not be looked at verifies nothing.
func (inc *Incident) VerifyRemedies() (found []Reason) {
	for i := range inc.Offers {
		o := &inc.Offers[i]
		if !o.Unverified() {
			continue
		}
		if at, failing := inc.failedSince(o.Run.Ended.Add(settleTime)); failing {
			o.State, o.Verified = Unhelpful, at
			found = append(found, IsUnhelpful)
		} else if at, well := inc.wellSince(*o); well {
			o.State, o.Verified = Helped, at
			found = append(found, IsVerified)
		}
	}
	return found
}

// failedSince is the first failure from a time on.
func (inc *Incident) failedSince(t time.Time) (at time.Time, failing bool) {
	for _, v := range inc.Verdicts {
		if v.Found == Failing && !v.At.Before(t) && (at.IsZero() || v.At.Before(at)) {
			at, failing = v.At, true
		}
	}
	return at, failing
}

// wellSince tells that all that the incident covers, and that still exists, was
// seen well after the run. An instance that was replaced shows nothing by the
// check of the cause, which was gone before: there a node must have joined.
func (inc *Incident) wellSince(o Offer) (at time.Time, well bool) {
	ended := o.Run.Ended
	if IsReplacement(o) {
		joined := inc.State == Closed && inc.Resolution == Proved && inc.Proof != nil && inc.Proof.Ready.After(o.Run.Began)
		if !joined {
			return time.Time{}, false
		}
		return inc.Proof.Ready, true
	}
	for _, v := range inc.Verdicts {
		switch {
		case v.Found == Absent:
		case v.Found != Passing || !v.At.After(ended):
			return time.Time{}, false
		case v.At.After(at):
			at = v.At
		}
	}
	return at, !at.IsZero()
}

// FixedBy is the remedy that helped in this opening: what the words of the end
// name, with who approved it. The one that took the cause away comes before the
// one that replaced instances after it.
func (inc Incident) FixedBy() (Offer, bool) {
	var by Offer
	found := false
	for _, o := range inc.Offers {
		if o.State == Helped && (!found || o.Plan.Remedy != optin.ReplaceInstance) {
			by, found = o, true
		}
	}
	return by, found
}
