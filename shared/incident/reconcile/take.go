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
func (d *reconciler) applyCause(cause diagnose.Cause) {
	if len(cause.Covers) == 0 {
		cause.Covers = []string{cause.Resource}
	}
	key := report.Key{Cluster: d.Observation.Cluster, Check: cause.Check, Resource: cause.Resource}
	f := d.find(key)
	if f != nil && f.Repeated {
		return
	}
	if (f == nil || f.State == incident.Closed) && d.Explained(cause) {
		return
	}
	if f == nil {
		f = &incident.Update{Incident: incident.Incident{Key: key}}
		d.Updates = append(d.Updates, f)
		d.open(f, cause)
		return
	}
	if f.State != incident.Closed {
		d.refresh(f, cause)
		return
	}
	switch {
	case !d.isNews(f, cause):
		f.Late = true
	case f.Number == 0 || d.Now.Sub(f.Resolved) > d.Policy.ReopenTime:
		// The record's version goes on, all else is new: it is a new message.
		f.Incident = incident.Incident{Key: key, Version: f.Version, Acts: f.Acts}
		d.open(f, cause)
	default:
		d.reopen(f, cause)
	}
}

// isNews tells whether a failure is later than what a closed incident knows.
func (d *reconciler) isNews(f *incident.Update, cause diagnose.Cause) bool {
	if !d.Observation.At.After(f.Settled) {
		return false
	}
	for _, cover := range cause.Covers {
		v, known := f.VerdictOn(cover)
		switch {
		case !known:
			return true
		case f.AllEnded(), f.HasGivenUp(cover):
			// An instance ends once, and is given up once: that it is seen
			// again is no news.
		case d.Observation.At.After(v.At):
			return true
		}
	}
	return false
}

func (d *reconciler) open(f *incident.Update, cause diagnose.Cause) {
	f.Format = report.Format
	f.Began = d.Observation.At
	d.applyFailure(f, cause)
	f.Times = 1
	if f.IsBlind() && fleeting(f.Blind) {
		f.State = incident.Pending
		f.Because(incident.NotYet)
		return
	}
	d.announce(f, incident.Opened)
}

func (d *reconciler) reopen(f *incident.Update, cause diagnose.Cause) {
	f.Times++
	if f.IsBlind() && fleeting(failuresOf(cause, d.Observation)) && f.Times < LooksBeforeSaid {
		f.Because(incident.NotYet)
		return
	}
	d.forgetEnded(f)
	f.Before = f.Resolved
	f.KeepForNotes()
	f.Launches, f.More, f.Affected = nil, nil, 0
	f.Joins, f.Proof, f.ClearedBy, f.Effects, f.By = nil, nil, nil, nil, nil
	f.Cleared, f.Resolved, f.Resolution = time.Time{}, time.Time{}, ""
	// A mute is of the cause, and holds until its time; who took on the last
	// opening did not take on this one. Since the last call it is calm.
	f.Ack, f.Offers, f.RecentChanges, f.Calls = nil, nil, nil, 0
	f.Began = d.Observation.At
	d.applyFailure(f, cause)
	d.announce(f, incident.Reopened)
}

// forgetEnded lets go of what an incident that comes back covered the last time and
// that has ended since, so that a record that comes back every day stays small.
func (d *reconciler) forgetEnded(f *incident.Update) {
	oneOff := f.AllEnded()
	kept := f.Verdicts[:0]
	for _, v := range f.Verdicts {
		if f.HasGivenUp(v.Of) {
			v.Found = incident.Absent
		}
		if (v.Found != incident.Failing || oneOff) && d.Now.Sub(v.At) > d.Policy.ReopenTime {
			f.Covers = slices.DeleteFunc(f.Covers, func(c string) bool { return c == v.Of })
			continue
		}
		kept = append(kept, v)
	}
	f.Verdicts = kept
}

// announce opens an incident to the world.
func (d *reconciler) announce(f *incident.Update, why incident.Reason) {
	f.State = incident.Open
	f.Number++
	f.Opened = d.Now
	f.Because(why)
}

// refresh brings a failed cause into an incident that is not closed.
func (d *reconciler) refresh(f *incident.Update, cause diagnose.Cause) {
	words, known := f.Cause, f.Seen
	added := d.applyFailure(f, cause)
	switch {
	case f.State == incident.Pending:
		if !d.Observation.At.Equal(known) { // the parts of one look are one
			f.Times++
		}
		f.Because(incident.NotYet)
		if f.Times >= LooksBeforeSaid || !fleeting(f.Blind) {
			f.Began = incident.Earlier(f.Began, d.Observation.At)
			d.announce(f, incident.Opened)
		}
	case added > 0:
		f.Because(incident.MoreAffected)
	case !d.Observation.At.Before(known) && differ(words, f.Cause):
		f.Because(incident.BetterKnown)
	}
}

// applyFailure takes in what a failed cause says, and counts the newly affected
// launches.
func (d *reconciler) applyFailure(f *incident.Update, cause diagnose.Cause) (added int) {
	d.RecordRelations(f, cause)
	for _, cover := range cause.Covers {
		if f.RecordVerdict(cover, incident.Failing, d.Observation.At) {
			f.Touched = true
		}
	}
	for _, id := range cause.Instances {
		l := d.Observation.LaunchOf(id)
		if f.AddAffected(l) {
			added++
			f.Touched = true
		}
		if l.Started.After(f.Before) && l.Started.Before(f.Began) {
			f.Began, f.Touched = l.Started, true
		}
	}
	if d.Observation.At.Before(f.Seen) {
		f.Late = true
		return added
	}
	f.Seen, f.Touched = d.Observation.At, true
	d.locate(f)
	cause.Nodegroups = incident.Union(f.Cause.Nodegroups, cause.Nodegroups)
	cause.Covers, cause.Instances = f.Covers, nil // Launches has them
	f.Cause = cause
	f.AddTags(d.Observation.Tags, d.Policy.TagKeys)
	if len(d.Observation.Facts) > 0 {
		f.Facts = incident.BoundedFacts(d.Observation.Facts)
	}
	f.Blind = d.Observation.Blind
	if f.IsBlind() {
		f.Blind = failuresOf(cause, d.Observation)
	}
	return added
}

// locate takes in where the cause is. A look that was woken by a reminder does
// not know its account: what is known stays, or nothing could be planned for the
// incident until the next sweep.
func (d *reconciler) locate(f *incident.Update) {
	f.Account = cmp.Or(d.Observation.Account, f.Account)
	f.Region = cmp.Or(d.Observation.Region, f.Region)
	f.Partition = cmp.Or(d.Observation.Partition, f.Partition)
}

// differ tells whether the words or the evidence of a cause differ.
func differ(a, b diagnose.Cause) bool {
	return a.Title != b.Title || a.Why != b.Why || a.Confidence != b.Confidence || a.Fix != b.Fix ||
		!slices.Equal(a.Evidence, b.Evidence) || !slices.Equal(a.Resources, b.Resources) ||
		!slices.Equal(a.Contributing, b.Contributing) || !slices.Equal(a.Symptoms, b.Symptoms) ||
		!slices.Equal(a.Hidden, b.Hidden)
}
