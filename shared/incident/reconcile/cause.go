package reconcile

import (
	"cmp"
	"slices"
	"time"

	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// applyCause brings a failed cause into its incident, and makes one if there is none.
func (rec *reconciler) applyCause(cause diagnose.Cause) {
	if len(cause.Covers) == 0 {
		cause.Covers = []string{cause.Resource}
	}
	key := rec.Observation.Key(cause.Check, cause.Resource)
	u := rec.find(key)
	if u != nil && u.Repeated {
		return
	}
	if (u == nil || u.State == incident.Closed) && rec.Explained(cause) {
		return
	}
	if u == nil {
		u = &incident.Update{Incident: incident.Incident{Key: key}}
		rec.Updates = append(rec.Updates, u)
		rec.open(u, cause)
		return
	}
	if u.State != incident.Closed {
		rec.refresh(u, cause)
		return
	}
	switch {
	case !rec.isNews(u, cause):
		u.Late = true
	case u.Number == 0 || rec.Now.Sub(u.Resolved) > rec.Policy.ReopenTime:
		// The record's version goes on, all else is new: it is a new message.
		u.Incident = incident.Incident{Key: key, Version: u.Version, Acts: u.Acts}
		rec.open(u, cause)
	default:
		rec.reopen(u, cause)
	}
}

// isNews tells whether a failure is later than what a closed incident knows.
func (rec *reconciler) isNews(u *incident.Update, cause diagnose.Cause) bool {
	if !rec.Observation.At.After(u.Settled) {
		return false
	}
	for _, cover := range cause.Covers {
		v, known := u.VerdictOn(cover)
		switch {
		case !known:
			return true
		case u.AllEnded(), u.HasGivenUp(cover):
			// An instance ends once, and is given up once: that it is seen
			// again is no news.
		case rec.Observation.At.After(v.At):
			return true
		}
	}
	return false
}

func (rec *reconciler) open(u *incident.Update, cause diagnose.Cause) {
	u.Format = report.Format
	u.Began = rec.Observation.At
	rec.applyFailure(u, cause)
	u.Times = 1
	if u.IsBlind() && fleeting(u.Blind) {
		u.State = incident.Pending
		u.Because(incident.NotYet)
		return
	}
	rec.announce(u, incident.Opened)
}

func (rec *reconciler) reopen(u *incident.Update, cause diagnose.Cause) {
	u.Times++
	if u.IsBlind() && fleeting(failuresOf(cause, rec.Observation)) && u.Times < LooksBeforeSaid {
		u.Because(incident.NotYet)
		return
	}
	rec.forgetEnded(u)
	u.Before = u.Resolved
	u.KeepForNotes()
	u.Launches, u.More, u.Affected = nil, nil, 0
	u.Joins, u.Proof, u.ClearedBy, u.Effects, u.By = nil, nil, nil, nil, nil
	u.Cleared, u.Resolved, u.Resolution = time.Time{}, time.Time{}, ""
	// A mute is of the cause, and holds until its time; who took on the last
	// opening did not take on this one. Since the last call it is calm.
	u.Ack, u.Offers, u.RecentChanges, u.Calls = nil, nil, nil, 0
	u.Evidence = nil // of the last time
	u.Began = rec.Observation.At
	rec.applyFailure(u, cause)
	rec.announce(u, incident.Reopened)
}

// forgetEnded lets go of what an incident that comes back covered the last time and
// that has ended since, so that a record that comes back every day stays small.
func (rec *reconciler) forgetEnded(u *incident.Update) {
	oneOff := u.AllEnded()
	kept := u.Verdicts[:0]
	for _, v := range u.Verdicts {
		if u.HasGivenUp(v.Of) {
			v.Found = incident.Absent
		}
		if (v.Found != incident.Failing || oneOff) && rec.Now.Sub(v.At) > rec.Policy.ReopenTime {
			u.Covers = slices.DeleteFunc(u.Covers, func(c string) bool { return c == v.Of })
			continue
		}
		kept = append(kept, v)
	}
	u.Verdicts = kept
}

// announce opens an incident to the world.
func (rec *reconciler) announce(u *incident.Update, why incident.Reason) {
	u.State = incident.Open
	u.Number++
	u.Opened = rec.Now
	u.Because(why)
}

// refresh brings a failed cause into an incident that is not closed.
func (rec *reconciler) refresh(u *incident.Update, cause diagnose.Cause) {
	words, known := u.Cause, u.Seen
	added := rec.applyFailure(u, cause)
	switch {
	case u.State == incident.Pending:
		if !rec.Observation.At.Equal(known) { // the parts of one look are one
			u.Times++
		}
		u.Because(incident.NotYet)
		if u.Times >= LooksBeforeSaid || !fleeting(u.Blind) {
			u.Began = incident.Earlier(u.Began, rec.Observation.At)
			rec.announce(u, incident.Opened)
		}
	case added > 0:
		u.Because(incident.MoreAffected)
	case !rec.Observation.At.Before(known) && differ(words, u.Cause):
		u.Because(incident.BetterKnown)
	}
}

// applyFailure takes in what a failed cause says, and counts the newly affected
// launches.
func (rec *reconciler) applyFailure(u *incident.Update, cause diagnose.Cause) (added int) {
	rec.RecordRelations(u, cause)
	for _, cover := range cause.Covers {
		if u.RecordVerdict(cover, incident.Failing, rec.Observation.At) {
			u.Touched = true
		}
	}
	for _, l := range rec.Observation.LaunchesOf(cause) {
		if u.AddAffected(l) {
			added++
			u.Touched = true
		}
		if l.Started.After(u.Before) && l.Started.Before(u.Began) {
			u.Began, u.Touched = l.Started, true
		}
	}
	if !cause.Since.IsZero() && cause.Since.After(u.Before) && cause.Since.Before(u.Began) {
		u.Began, u.Touched = cause.Since, true
	}
	if rec.Observation.At.Before(u.Seen) {
		u.Late = true
		return added
	}
	u.Seen, u.Touched = rec.Observation.At, true
	rec.locate(u)
	cause.Nodegroups = incident.Union(u.Cause.Nodegroups, cause.Nodegroups)
	cause.Covers, cause.Instances = u.Covers, nil // Launches has them
	u.Cause = cause
	u.AddTags(rec.Observation.Tags, rec.Policy.TagKeys)
	if key := rec.Observation.Evidence; key != "" {
		kept := incident.Evidence{Opened: key, Newest: key}
		if u.Evidence != nil {
			kept.Opened = u.Evidence.Opened
		}
		u.Evidence = &kept
	}
	if len(rec.Observation.Facts) > 0 {
		u.Facts = incident.BoundedFacts(rec.Observation.Facts)
	}
	u.Blind = rec.Observation.Blind
	if u.IsBlind() {
		u.Blind = failuresOf(cause, rec.Observation)
	}
	return added
}

// locate takes in where the cause is. A look that was woken by a reminder does
// not know its account: what is known stays, or nothing could be planned for the
// incident until the next sweep.
func (rec *reconciler) locate(u *incident.Update) {
	u.Account = cmp.Or(rec.Observation.Account, u.Account)
	u.Region = cmp.Or(rec.Observation.Region, u.Region)
	u.Partition = cmp.Or(rec.Observation.Partition, u.Partition)
	u.Whose = rec.Observation.Whose
}

// differ tells whether the words or the evidence of a cause differ.
func differ(a, b diagnose.Cause) bool {
	return a.Title != b.Title || a.Why != b.Why || a.Confidence != b.Confidence || a.Fix != b.Fix ||
		!slices.Equal(a.Evidence, b.Evidence) || !slices.Equal(a.Resources, b.Resources) ||
		!slices.Equal(a.Contributing, b.Contributing) || !slices.Equal(a.Symptoms, b.Symptoms) ||
		!slices.Equal(a.Hidden, b.Hidden)
}
