package report

import "slices"

// precedence is the order in which reasons count when there are several.
func precedence() []Reason {
	return []Reason{
		Opened, Reopened, IsProved, IsUnproved, IsSuperseded, IsWithdrawn, IsGivenUpOn,
		FailedAgain, CauseGone, IsUnhelpful, IsVerified, HasMissed, MoreAffected, BetterKnown, NotYet,
	}
}

// conclude makes the decision, and puts what is to be said and told into the
// record's outbox.
func (d *reconciler) conclude(f *draft) (decision Decision, touched bool) {
	switch {
	case f.repeated:
		return Decision{Incident: f.Incident, Reason: AlreadyApplied}, true
	case !f.changed && f.late:
		return Decision{Incident: f.Incident, Reason: OutOfDate}, true
	case !f.changed:
		return Decision{}, false
	}
	f.apply(d.obs.ID)
	top := NothingNew
	for _, r := range slices.Backward(precedence()) {
		if slices.Contains(f.reasons, r) {
			top = r
		}
	}
	if f.State == Closed && f.Number > 0 {
		// Gone and proved at once: the ending says both.
		f.reasons = slices.DeleteFunc(f.reasons, func(r Reason) bool { return r == CauseGone })
	}
	if top.event() != "" {
		f.Changed = d.now
	}
	for _, r := range f.reasons {
		if n := f.unsentMissed(d.now); r == HasMissed && n != nil {
			n.Count += len(f.missed)
			continue
		}
		if r.noted() && (r != HasMissed || !f.noted(HasMissed)) && !f.hovers(r) {
			d.note(f, r)
		}
	}
	if !f.muted(d.now) && !slices.Contains(f.reasons, Opened) && !slices.Contains(f.reasons, Reopened) { // else the message says it from the start
		f.Said.Notes = append(f.Said.Notes, f.joined...)
	}
	d.tellBus(f, top)
	f.Said.Behind = f.Number > 0
	return Decision{Incident: f.Incident, Reason: top, Changed: true}, true
}

// tellBus tells of the top reason; an incident that opened and ended with one
// observation has two things to tell.
func (d *reconciler) tellBus(f *draft, top Reason) {
	f.tell(top, d.now)
	if end := f.Ending.reason(); f.State == Closed && top != end && slices.Contains(f.reasons, end) {
		f.tell(end, d.now)
	}
}

// mostComings is how often the thread is told that a subnet's addresses are
// short again, or well again. The message always says how things stand, and for
// which time.
const mostComings = 3

// hovers tells that an incident of addresses comes and goes, as a subnet does
// that is always nearly full: the thread has been told often enough.
func (f *draft) hovers(r Reason) bool {
	return ofAddresses(f.Key.Check) && f.Number > mostComings && (r == Reopened || r == IsProved || r == IsSuperseded)
}

func (d *reconciler) note(f *draft, r Reason) {
	n := f.addNote(r, d.now)
	if n == nil {
		return
	}
	switch r {
	case Opened, Reopened:
		n.Count = f.Affected
		for _, l := range first(f.Launches, MaxNamed) {
			n.Instances = append(n.Instances, l.Instance)
		}
		n.Evidence, n.Facts, n.Blind = f.Cause.Evidence, f.Facts, f.Blind
	case HasMissed:
		n.Count, n.Instances = len(f.missed), first(f.missed, MaxNamed)
		n.Facts, n.Blind = bounded(d.obs.Facts), d.obs.Blind
	case FailedAgain:
		n.Evidence = f.Cause.Evidence
	case CauseGone, IsProved, IsUnproved:
		n.Evidence, n.Launch = f.ClearedBy, f.Proof
	case IsVerified:
		n.Evidence, n.Offer = f.ClearedBy, f.last(Helped)
	case IsUnhelpful:
		n.Evidence, n.Offer = f.Cause.Evidence, f.last(Unhelpful)
	}
}

// last is the newest offer in a state.
func (inc *Incident) last(s OfferState) *Offer {
	for _, o := range slices.Backward(inc.Offers) {
		if o.State == s {
			return &o
		}
	}
	return nil
}
