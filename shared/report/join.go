package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

// belongs tells whether a failure of a subnet's addresses belongs to an
// incident that is known, and brings it in there: it has no message of its own.
func (d *desk) belongs(cause diagnose.Cause) bool {
	if !ofAddresses(cause.Check) {
		return false
	}
	for _, o := range d.drafts {
		at, does := o.claims(cause.Check)
		if !does || o.Key.Resource != cause.Resource || o.Key.Check == cause.Check || d.saysOtherwise(cause, o, at) {
			continue
		}
		switch {
		case o.State == Open && !d.isOver(o):
			d.join(o, cause, d.obs.At, d.obs.At)
			return true
		case (o.State == Cleared || o.State == Closed) && !d.obs.At.After(o.Cleared):
			return true // it comes late, from when the other one was there
		}
	}
	return false
}

// saysOtherwise tells that the look of a cause explains an incident with the
// cause, and is newer than what explains the cause with the incident.
func (d *desk) saysOtherwise(cause diagnose.Cause, o *draft, at time.Time) bool {
	if o.Key.Check == leakedInterfaces && cause.Check == runway || !d.obs.At.After(at) {
		return false
	}
	return slices.Contains(cause.Contributing, o.Key.Check) ||
		slices.ContainsFunc(cause.Hidden, func(h diagnose.Hidden) bool { return h.Check == o.Key.Check })
}

// join brings a failure that was seen from one time to another, and the
// launches that it keeps from joining, into an incident.
func (d *desk) join(o *draft, cause diagnose.Cause, since, last time.Time) {
	if o.repeated {
		return
	}
	e, known := o.effect(cause.Check)
	first := !known || e.Last.IsZero() || e.Over.After(e.Last) && last.After(e.Over)
	if first || since.Before(e.Since) {
		e.Since, o.changed = since, true
	}
	if last.After(e.Last) {
		e.Title, e.Last, o.changed = cause.Title, last, true
	}
	o.Cause.Nodegroups = union(o.Cause.Nodegroups, cause.Nodegroups)
	added := false
	for _, id := range cause.Instances {
		added = o.affect(d.obs.launch(id)) || added
	}
	switch {
	case added:
		o.because(MoreAffected)
	case first:
		o.because(BetterKnown)
	}
	if first && o.Number > 0 {
		d.noteJoined(o, cause)
	}
}

// noteJoined tells the thread what belongs to the incident now.
func (d *desk) noteJoined(o *draft, cause diagnose.Cause) {
	n := Note{
		ID: "joined-" + strings.ReplaceAll(string(cause.Check), "/", "-"), Times: o.Number, At: d.now, Reason: HasJoined,
		Says: cause.Title, Evidence: cause.Evidence, Count: len(cause.Instances), Instances: first(cause.Instances, MaxNamed), Then: o.then(),
	}
	if n.Times > 1 {
		n.ID = fmt.Sprintf("%s-%d", n.ID, n.Times)
	}
	if slices.ContainsFunc(slices.Concat(o.Said.Notes, o.joined), func(m Note) bool { return m.ID == n.ID }) {
		return // it went and came again: the message says that it is there
	}
	o.joined = append(o.joined, n)
}

// feed brings nodes that are not Ready into what keeps the addresses of their
// subnet from them (a leak, no free block), and tells whether that explains all
// of them.
func (d *desk) feed(cause diagnose.Cause) bool {
	if !hunger(cause.Check) {
		return false
	}
	ids := cause.Instances
	if len(ids) == 0 {
		ids = cause.Covers
	}
	in := map[*draft][]string{}
	told := 0
	for _, id := range ids {
		l, explained := d.obs.launch(id), false
		for _, o := range d.drafts {
			switch {
			case !o.explainsUnready(cause, l):
			case o.State == Open && !d.isOver(o), o.State == Cleared && !l.Started.IsZero() && l.Started.Before(o.Cleared):
				in[o] = append(in[o], id)
				explained = true
			case o.State == Closed && !d.obs.At.After(o.Cleared):
				explained = true
			}
		}
		if explained {
			told++
		}
	}
	for _, o := range d.drafts {
		if own := in[o]; len(own) > 0 {
			part := cause
			part.Instances = own
			if len(own) < len(ids) {
				part.Title = fmt.Sprintf("%d of %d: %s", len(own), len(ids), cause.Title)
			}
			d.join(o, part, d.obs.At, d.obs.At)
		}
	}
	return len(ids) > 0 && told == len(ids)
}

// gather brings what other incidents of the same subnet say, and what they
// affect, into the one that explains them: they were opened before it.
func (d *desk) gather() {
	for _, o := range d.drafts {
		if o.State != Open || o.repeated {
			continue
		}
		for _, f := range d.drafts {
			if f.State != Open {
				continue
			}
			cause := f.Cause
			switch {
			case o.beats(f):
				cause.Instances = nil
				for _, l := range f.Launches {
					cause.Instances = append(cause.Instances, l.Instance)
				}
			case hunger(f.Key.Check):
				cause.Instances = nil
				for _, l := range f.Launches {
					if l.unfinished() && o.explainsUnready(f.Cause, l) {
						cause.Instances = append(cause.Instances, l.Instance)
					}
				}
				if len(cause.Instances) == 0 {
					continue
				}
			default:
				continue
			}
			for _, id := range cause.Instances {
				if l, kept := f.launch(id); kept && o.affect(*l) {
					o.because(MoreAffected)
				}
			}
			d.join(o, cause, f.Began, f.Seen)
			o.adopt(f.Effects)
		}
	}
}

// adopt takes over what belonged to an incident that now belongs to this one.
func (f *draft) adopt(list []Effect) {
	for _, e := range list {
		if e.Title == "" || e.Check == f.Key.Check {
			continue
		}
		have, known := f.effect(e.Check)
		if have.Since = earlier(have.Since, e.Since); e.Last.After(have.Last) || !known {
			have.Title, have.Last, have.Over, f.changed = e.Title, e.Last, later(have.Over, e.Over), true
		}
	}
}

// inherit gives the launches that still wait to the incident that explains
// them now.
func (d *desk) inherit(o, f *draft) {
	if o.repeated {
		return
	}
	for _, l := range f.Launches {
		if l.unfinished() && o.affect(l) {
			o.because(MoreAffected)
		}
	}
}

// recover takes in that what belongs to an incident passes again.
func (d *desk) recover(f *draft) {
	if !ofAddresses(f.Key.Check) {
		return
	}
	for i := range f.Effects {
		e := &f.Effects[i]
		if slices.ContainsFunc(d.obs.Diagnosis.Passed, func(p diagnose.Passed) bool {
			return p.Check == e.Check && slices.Contains(p.Covers, f.Key.Resource)
		}) && d.obs.At.After(later(later(e.Told, e.Last), e.Over)) {
			e.Over, f.changed = d.obs.At, true
		}
	}
}

// stillShort is the incident of a subnet that has too few addresses even though
// what took them is gone.
func (d *desk) stillShort(f *draft) *draft {
	if f.State != Cleared || f.Key.Check != leakedInterfaces {
		return nil
	}
	for _, o := range d.drafts {
		if o.State == Open && o.Key.Resource == f.Key.Resource && shortage(o.Key.Check) && !o.Seen.Before(f.Cleared) {
			return o
		}
	}
	return nil
}

// starvedBy is what keeps addresses from all the nodes of an incident which the
// network plugin keeps from being Ready.
func (d *desk) starvedBy(f *draft) *draft {
	if f.State != Open || f.Key.Check != cniNotReady {
		return nil
	}
	for _, o := range d.drafts {
		if o.State != Open {
			continue
		}
		some, all := false, true
		for _, l := range f.Launches {
			if l.unfinished() {
				some = true
				all = all && o.explainsUnready(f.Cause, l) && o.affects(l.Instance)
			}
		}
		if some && all {
			return o
		}
	}
	return nil
}

// addressesFirst orders the causes of one look: a leak is taken in before what
// belongs to it.
func addressesFirst(c diagnose.Cause) int {
	switch {
	case c.Check == leakedInterfaces:
		return -1
	case c.Check == runway:
		return 1
	case c.Confidence == checks.Symptom, c.Check == cniNotReady:
		return 2
	}
	return 0
}
