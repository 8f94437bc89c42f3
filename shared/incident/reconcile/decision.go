package reconcile

import (
	"rollcall/shared/incident"
	"slices"
)

// precedence is the order in which reasons count when there are several.
func precedence() []incident.Reason {
	return []incident.Reason{
		incident.Opened, incident.Reopened, incident.IsProved, incident.IsUnproved, incident.IsSuperseded, incident.IsWithdrawn, incident.IsGivenUpOn,
		incident.FailedAgain, incident.CauseGone, incident.IsUnhelpful, incident.IsVerified, incident.HasMissed, incident.IsWorse, incident.MoreAffected, incident.BetterKnown, incident.NotYet,
	}
}

// decisionOn makes the decision, and puts what is to be said and told into the
// record's outbox.
func (rec *reconciler) decisionOn(u *incident.Update) (decision incident.Decision, touched bool) {
	switch {
	case u.Repeated:
		return incident.Decision{Incident: u.Incident, Reason: incident.AlreadyApplied}, true
	case !u.Touched && u.Late:
		return incident.Decision{Incident: u.Incident, Reason: incident.OutOfDate}, true
	case !u.Touched:
		return incident.Decision{}, false
	}
	u.MarkApplied(rec.Observation.ID)
	top := incident.NothingNew
	for _, r := range slices.Backward(precedence()) {
		if slices.Contains(u.Reasons, r) {
			top = r
		}
	}
	if u.State == incident.Closed && u.Number > 0 {
		// Gone and proved at once: the ending says both.
		u.Reasons = slices.DeleteFunc(u.Reasons, func(r incident.Reason) bool { return r == incident.CauseGone })
	}
	if top.Event() != "" {
		u.Changed = rec.Now
	}
	for _, r := range u.Reasons {
		if r == incident.IsVerified && endsCause(u) {
			continue // the note on that says by what
		}
		if r == incident.IsWorse && slices.Contains(u.Reasons, incident.HasMissed) && !u.HasNote(incident.HasMissed) {
			continue // that note says how
		}
		if n := unsentMissed(u, rec.Now); r == incident.HasMissed && n != nil {
			n.Count += len(u.Missed)
			continue
		}
		if r.Noted() && (r != incident.HasMissed || !u.HasNote(incident.HasMissed)) && !hovers(u, r) {
			rec.addNote(u, r)
		}
	}
	if !u.Muted(rec.Now) && (u.Silence == nil || !u.Told()) && !slices.Contains(u.Reasons, incident.Opened) && !slices.Contains(u.Reasons, incident.Reopened) { // else the message says it from the start
		u.Delivery.Notes = append(u.Delivery.Notes, u.JoinedNotes...)
	}
	rec.addEvents(u, top)
	u.Delivery.Dirty = u.Number > 0
	return incident.Decision{Incident: u.Incident, Reason: top, Changed: true}, true
}

// endsCause tells that the thread is told now that the cause is gone, or that it is over.
func endsCause(u *incident.Update) bool {
	return slices.ContainsFunc(u.Reasons, func(r incident.Reason) bool {
		return (r == incident.CauseGone || r == incident.IsProved || r == incident.IsUnproved) && !hovers(u, r)
	})
}

// addEvents tells of the top reason; an incident that opened and ended with one
// observation has two things to tell.
func (rec *reconciler) addEvents(u *incident.Update, top incident.Reason) {
	u.AddEvent(top, rec.Now)
	if end := u.Resolution.Reason(); u.State == incident.Closed && top != end && slices.Contains(u.Reasons, end) {
		u.AddEvent(end, rec.Now)
	}
}

// mostComings is how often the thread is told that a subnet's addresses are
// short again, or well again. The message always says how things stand, and for
// which time.
const mostComings = 3

// hovers tells that an incident of addresses comes and goes, as a subnet does
// that is always nearly full: the thread has been told often enough.
func hovers(u *incident.Update, r incident.Reason) bool {
	return incident.OfAddresses(u.Key.Check) && u.Number > mostComings && (r == incident.Reopened || r == incident.IsProved || r == incident.IsSuperseded)
}

func (rec *reconciler) addNote(u *incident.Update, r incident.Reason) {
	n := u.AddNote(r, rec.Now)
	if n == nil {
		return
	}
	switch r {
	case incident.Opened, incident.Reopened:
		n.Count = u.Affected
		for _, l := range incident.First(u.Launches, incident.MaxNamed) {
			n.Instances = append(n.Instances, l.Instance)
		}
		n.Evidence, n.Facts, n.Blind = u.Cause.Evidence, u.Facts, u.Blind
	case incident.HasMissed:
		if slices.Contains(u.Reasons, incident.IsWorse) { // it says how
			n.Line, u.Lined = true, rec.Now
		}
		n.Count, n.Instances, n.Within = len(u.Missed), incident.First(u.Missed, incident.MaxNamed), rec.had(u.Missed)
		n.Facts, n.Blind = incident.BoundedFacts(rec.Observation.Facts), rec.Observation.Blind
	case incident.FailedAgain:
		n.Evidence = u.Cause.Evidence
	case incident.CauseGone, incident.IsProved, incident.IsUnproved:
		n.Evidence, n.Launch = u.ClearedBy, u.Proof
		if slices.Contains(u.Reasons, incident.IsVerified) {
			n.Offer = u.LastOffer(incident.Helped)
		}
	case incident.IsVerified:
		n.Evidence, n.Offer = u.ClearedBy, u.LastOffer(incident.Helped)
	case incident.IsUnhelpful:
		n.Evidence, n.Offer = u.Cause.Evidence, u.LastOffer(incident.Unhelpful)
	}
}
