package reconcile

import (
	"rollcall/shared/incident"
	"slices"
)

// precedence is the order in which reasons count when there are several.
func precedence() []incident.Reason {
	return []incident.Reason{
		incident.Opened, incident.Reopened, incident.IsProved, incident.IsUnproved, incident.IsSuperseded, incident.IsWithdrawn, incident.IsGivenUpOn,
		incident.FailedAgain, incident.CauseGone, incident.IsUnhelpful, incident.IsVerified, incident.HasMissed, incident.MoreAffected, incident.BetterKnown, incident.NotYet,
	}
}

// decisionOn makes the decision, and puts what is to be said and told into the
// record's outbox.
func (d *reconciler) decisionOn(f *incident.Update) (decision incident.Decision, touched bool) {
	switch {
	case f.Repeated:
		return incident.Decision{Incident: f.Incident, Reason: incident.AlreadyApplied}, true
	case !f.Touched && f.Late:
		return incident.Decision{Incident: f.Incident, Reason: incident.OutOfDate}, true
	case !f.Touched:
		return incident.Decision{}, false
	}
	f.MarkApplied(d.Observation.ID)
	top := incident.NothingNew
	for _, r := range slices.Backward(precedence()) {
		if slices.Contains(f.Reasons, r) {
			top = r
		}
	}
	if f.State == incident.Closed && f.Number > 0 {
		// Gone and proved at once: the ending says both.
		f.Reasons = slices.DeleteFunc(f.Reasons, func(r incident.Reason) bool { return r == incident.CauseGone })
	}
	if top.Event() != "" {
		f.Changed = d.Now
	}
	for _, r := range f.Reasons {
		if n := unsentMissed(f, d.Now); r == incident.HasMissed && n != nil {
			n.Count += len(f.Missed)
			continue
		}
		if r.Noted() && (r != incident.HasMissed || !f.HasNote(incident.HasMissed)) && !hovers(f, r) {
			d.addNote(f, r)
		}
	}
	if !f.Muted(d.Now) && !slices.Contains(f.Reasons, incident.Opened) && !slices.Contains(f.Reasons, incident.Reopened) { // else the message says it from the start
		f.Delivery.Notes = append(f.Delivery.Notes, f.JoinedNotes...)
	}
	d.addEvents(f, top)
	f.Delivery.Dirty = f.Number > 0
	return incident.Decision{Incident: f.Incident, Reason: top, Changed: true}, true
}

// addEvents tells of the top reason; an incident that opened and ended with one
// observation has two things to tell.
func (d *reconciler) addEvents(f *incident.Update, top incident.Reason) {
	f.AddEvent(top, d.Now)
	if end := f.Resolution.Reason(); f.State == incident.Closed && top != end && slices.Contains(f.Reasons, end) {
		f.AddEvent(end, d.Now)
	}
}

// mostComings is how often the thread is told that a subnet's addresses are
// short again, or well again. The message always says how things stand, and for
// which time.
const mostComings = 3

// hovers tells that an incident of addresses comes and goes, as a subnet does
// that is always nearly full: the thread has been told often enough.
func hovers(f *incident.Update, r incident.Reason) bool {
	return incident.OfAddresses(f.Key.Check) && f.Number > mostComings && (r == incident.Reopened || r == incident.IsProved || r == incident.IsSuperseded)
}

func (d *reconciler) addNote(f *incident.Update, r incident.Reason) {
	n := f.AddNote(r, d.Now)
	if n == nil {
		return
	}
	switch r {
	case incident.Opened, incident.Reopened:
		n.Count = f.Affected
		for _, l := range incident.First(f.Launches, incident.MaxNamed) {
			n.Instances = append(n.Instances, l.Instance)
		}
		n.Evidence, n.Facts, n.Blind = f.Cause.Evidence, f.Facts, f.Blind
	case incident.HasMissed:
		n.Count, n.Instances = len(f.Missed), incident.First(f.Missed, incident.MaxNamed)
		n.Facts, n.Blind = incident.BoundedFacts(d.Observation.Facts), d.Observation.Blind
	case incident.FailedAgain:
		n.Evidence = f.Cause.Evidence
	case incident.CauseGone, incident.IsProved, incident.IsUnproved:
		n.Evidence, n.Launch = f.ClearedBy, f.Proof
	case incident.IsVerified:
		n.Evidence, n.Offer = f.ClearedBy, f.LastOffer(incident.Helped)
	case incident.IsUnhelpful:
		n.Evidence, n.Offer = f.Cause.Evidence, f.LastOffer(incident.Unhelpful)
	}
}
