package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

// take brings a failed cause into its incident, and makes one if there is none.
func (d *reconciler) take(cause diagnose.Cause) {
	if len(cause.Covers) == 0 {
		cause.Covers = []string{cause.Resource}
	}
	key := Key{Cluster: d.obs.Cluster, Check: cause.Check, Resource: cause.Resource}
	f := d.find(key)
	if f != nil && f.repeated {
		return
	}
	if (f == nil || f.State == Closed) && d.explained(cause) {
		return
	}
	if f == nil {
		f = &draft{Incident: Incident{Key: key}}
		d.drafts = append(d.drafts, f)
		d.open(f, cause)
		return
	}
	if f.State != Closed {
		d.refresh(f, cause)
		return
	}
	switch {
	case !d.news(f, cause):
		f.late = true
	case f.Number == 0 || d.now.Sub(f.Resolved) > d.policy.ReopenTime:
		// The record's version goes on, all else is new: it is a new message.
		f.Incident = Incident{Key: key, Version: f.Version, Acts: f.Acts}
		d.open(f, cause)
	default:
		d.reopen(f, cause)
	}
}

// news tells whether a failure is later than what a closed incident knows.
func (d *reconciler) news(f *draft, cause diagnose.Cause) bool {
	if !d.obs.At.After(f.Settled) {
		return false
	}
	for _, cover := range cause.Covers {
		v, known := f.verdict(cover)
		switch {
		case !known:
			return true
		case f.oneOff(), f.gaveUp(cover):
			// An instance ends once, and is given up once: that it is seen
			// again is no news.
		case d.obs.At.After(v.At):
			return true
		}
	}
	return false
}

func (d *reconciler) open(f *draft, cause diagnose.Cause) {
	f.Format = Format
	f.Began = d.obs.At
	d.fail(f, cause)
	f.Times = 1
	if f.blind() && fleeting(f.Blind) {
		f.State = Pending
		f.because(NotYet)
		return
	}
	d.say(f, Opened)
}

func (d *reconciler) reopen(f *draft, cause diagnose.Cause) {
	f.Times++
	if f.blind() && fleeting(failuresOf(cause, d.obs)) && f.Times < blindAfter {
		f.because(NotYet)
		return
	}
	d.forget(f)
	f.Before = f.Resolved
	f.keepThen()
	f.Launches, f.More, f.Affected = nil, nil, 0
	f.Joins, f.Proof, f.ClearedBy, f.Effects, f.By = nil, nil, nil, nil, nil
	f.Cleared, f.Resolved, f.Ending = time.Time{}, time.Time{}, ""
	// A mute is of the cause, and holds until its time; who took on the last
	// opening did not take on this one. Since the last call it is calm.
	f.Ack, f.Offers, f.Trail, f.Calls = nil, nil, nil, 0
	f.Began = d.obs.At
	d.fail(f, cause)
	d.say(f, Reopened)
}

// forget lets go of what an incident that comes back covered the last time and
// that has ended since, so that a record that comes back every day stays small.
func (d *reconciler) forget(f *draft) {
	oneOff := f.oneOff()
	kept := f.Verdicts[:0]
	for _, v := range f.Verdicts {
		if f.gaveUp(v.Of) {
			v.Found = Absent
		}
		if (v.Found != Failing || oneOff) && d.now.Sub(v.At) > d.policy.ReopenTime {
			f.Covers = slices.DeleteFunc(f.Covers, func(c string) bool { return c == v.Of })
			continue
		}
		kept = append(kept, v)
	}
	f.Verdicts = kept
}

// say opens an incident to the world.
func (d *reconciler) say(f *draft, why Reason) {
	f.State = Open
	f.Number++
	f.Opened = d.now
	f.because(why)
}

// refresh brings a failed cause into an incident that is not closed.
func (d *reconciler) refresh(f *draft, cause diagnose.Cause) {
	words, known := f.Cause, f.Seen
	added := d.fail(f, cause)
	switch {
	case f.State == Pending:
		if !d.obs.At.Equal(known) { // the parts of one look are one
			f.Times++
		}
		f.because(NotYet)
		if f.Times >= blindAfter || !fleeting(f.Blind) {
			f.Began = earlier(f.Began, d.obs.At)
			d.say(f, Opened)
		}
	case added > 0:
		f.because(MoreAffected)
	case !d.obs.At.Before(known) && differ(words, f.Cause):
		f.because(BetterKnown)
	}
}

// fail takes in what a failed cause says, and counts the newly affected
// launches.
func (d *reconciler) fail(f *draft, cause diagnose.Cause) (added int) {
	d.relate(f, cause)
	for _, cover := range cause.Covers {
		if f.find(cover, Failing, d.obs.At) {
			f.changed = true
		}
	}
	for _, id := range cause.Instances {
		l := d.obs.launch(id)
		if f.affect(l) {
			added++
			f.changed = true
		}
		if l.Started.After(f.Before) && l.Started.Before(f.Began) {
			f.Began, f.changed = l.Started, true
		}
	}
	if d.obs.At.Before(f.Seen) {
		f.late = true
		return added
	}
	f.Seen, f.changed = d.obs.At, true
	d.locate(f)
	cause.Nodegroups = union(f.Cause.Nodegroups, cause.Nodegroups)
	cause.Covers, cause.Instances = f.Covers, nil // Launches has them
	f.Cause = cause
	f.tag(d.obs.Tags, d.policy.TagKeys)
	if len(d.obs.Facts) > 0 {
		f.Facts = bounded(d.obs.Facts)
	}
	f.Blind = d.obs.Blind
	if f.blind() {
		f.Blind = failuresOf(cause, d.obs)
	}
	return added
}

// locate takes in where the cause is. A look that was woken by a reminder does
// not know its account: what is known stays, or nothing could be planned for the
// incident until the next sweep.
func (d *reconciler) locate(f *draft) {
	f.Account = cmp.Or(d.obs.Account, f.Account)
	f.Region = cmp.Or(d.obs.Region, f.Region)
	f.Partition = cmp.Or(d.obs.Partition, f.Partition)
}

// explained tells whether a symptom's instances are all among the launches of
// incidents that explain it: those that stand, and for a while those that
// ended well, since an instance that came too early may never join by itself.
func (d *desk) explained(cause diagnose.Cause) bool {
	if d.belongs(cause) || d.feed(cause) {
		return true
	}
	if cause.Confidence != checks.Symptom {
		return false
	}
	ids := cause.Instances
	if len(ids) == 0 {
		ids = cause.Covers
	}
	for _, id := range ids {
		if !slices.ContainsFunc(d.drafts, func(f *draft) bool {
			return (f.explains() || f.nearer(cause)) && f.affects(id) && d.holds(f)
		}) {
			return false
		}
	}
	return len(ids) > 0
}

// nearer tells that an incident is a symptom of the instances themselves, and
// the cause what EKS says of their nodegroup: one message is enough.
func (f *draft) nearer(cause diagnose.Cause) bool {
	return f.symptom() && !f.ByItself() && strings.HasPrefix(string(cause.Check), "nodegroup/")
}

func (d *desk) holds(f *draft) bool {
	switch f.State {
	case Open, Cleared:
		return true
	case Closed:
		return f.Ending == Proved && d.now.Sub(f.Resolved) < d.policy.ProofTime
	}
	return false
}

// differ tells whether the words or the evidence of a cause differ.
func differ(a, b diagnose.Cause) bool {
	return a.Title != b.Title || a.Why != b.Why || a.Confidence != b.Confidence || a.Fix != b.Fix ||
		!slices.Equal(a.Evidence, b.Evidence) || !slices.Equal(a.Resources, b.Resources) ||
		!slices.Equal(a.Contributing, b.Contributing) || !slices.Equal(a.Symptoms, b.Symptoms) ||
		!slices.Equal(a.Hidden, b.Hidden)
}

// union is both lists, sorted, each member once.
func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}
