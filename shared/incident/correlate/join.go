package correlate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
)

// attachToKnown tells whether a failure of a subnet's addresses belongs to an
// incident that is known, and brings it in there: it has no message of its own.
func (d *Look) attachToKnown(cause diagnose.Cause) bool {
	if !incident.OfAddresses(cause.Check) {
		return false
	}
	for _, o := range d.Updates {
		at, does := claimsSince(o, cause.Check)
		if !does || o.Key.Resource != cause.Resource || o.Key.Check == cause.Check || d.saysOtherwise(cause, o, at) {
			continue
		}
		switch {
		case o.State == incident.Open && !d.passesNow(o):
			d.attach(o, cause, d.Observation.At, d.Observation.At)
			return true
		case (o.State == incident.Cleared || o.State == incident.Closed) && !d.Observation.At.After(o.Cleared):
			return true // it comes late, from when the other one was there
		}
	}
	return false
}

// saysOtherwise tells that the look of a cause explains an incident with the
// cause, and is newer than what explains the cause with the incident.
func (d *Look) saysOtherwise(cause diagnose.Cause, o *incident.Update, at time.Time) bool {
	if o.Key.Check == incident.LeakedInterfaces && cause.Check == incident.Runway || !d.Observation.At.After(at) {
		return false
	}
	return slices.Contains(cause.Contributing, o.Key.Check) ||
		slices.ContainsFunc(cause.Hidden, func(h diagnose.Hidden) bool { return h.Check == o.Key.Check })
}

// attach brings a failure that was seen from one time to another, and the
// launches that it keeps from joining, into an incident.
func (d *Look) attach(o *incident.Update, cause diagnose.Cause, since, last time.Time) {
	if o.Repeated {
		return
	}
	e, known := o.EffectOf(cause.Check)
	first := !known || e.Last.IsZero() || e.Over.After(e.Last) && last.After(e.Over)
	if first || since.Before(e.Since) {
		e.Since, o.Touched = since, true
	}
	if last.After(e.Last) {
		e.Title, e.Last, o.Touched = cause.Title, last, true
	}
	o.Cause.Nodegroups = incident.Union(o.Cause.Nodegroups, cause.Nodegroups)
	added := false
	for _, id := range cause.Instances {
		added = o.AddAffected(d.Observation.LaunchOf(id)) || added
	}
	switch {
	case added:
		o.Because(incident.MoreAffected)
	case first:
		o.Because(incident.BetterKnown)
	}
	if first && o.Number > 0 {
		d.noteAttached(o, cause)
	}
}

// noteAttached tells the thread what belongs to the incident now.
func (d *Look) noteAttached(o *incident.Update, cause diagnose.Cause) {
	n := incident.Note{
		ID: "joined-" + strings.ReplaceAll(string(cause.Check), "/", "-"), Times: o.Number, At: d.Now, Reason: incident.HasJoined,
		Says: cause.Title, Evidence: cause.Evidence, Count: len(cause.Instances), Instances: incident.First(cause.Instances, incident.MaxNamed), Then: o.ForNote(),
	}
	if n.Times > 1 {
		n.ID = fmt.Sprintf("%s-%d", n.ID, n.Times)
	}
	if slices.ContainsFunc(slices.Concat(o.Delivery.Notes, o.JoinedNotes), func(m incident.Note) bool { return m.ID == n.ID }) {
		return // it went and came again: the message says that it is there
	}
	o.JoinedNotes = append(o.JoinedNotes, n)
}

// attachStarvedNodes brings nodes that are not Ready into what keeps the addresses of their
// subnet from them (a leak, no free block), and tells whether that explains all
// of them.
func (d *Look) attachStarvedNodes(cause diagnose.Cause) bool {
	if !incident.IsStarvationSymptom(cause.Check) {
		return false
	}
	ids := cause.Instances
	if len(ids) == 0 {
		ids = cause.Covers
	}
	in := map[*incident.Update][]string{}
	told := 0
	for _, id := range ids {
		l, explained := d.Observation.LaunchOf(id), false
		for _, o := range d.Updates {
			switch {
			case !explainsUnready(o, cause, l):
			case o.State == incident.Open && !d.passesNow(o), o.State == incident.Cleared && !l.Started.IsZero() && l.Started.Before(o.Cleared):
				in[o] = append(in[o], id)
				explained = true
			case o.State == incident.Closed && !d.Observation.At.After(o.Cleared):
				explained = true
			}
		}
		if explained {
			told++
		}
	}
	for _, o := range d.Updates {
		if own := in[o]; len(own) > 0 {
			part := cause
			part.Instances = own
			if len(own) < len(ids) {
				part.Title = fmt.Sprintf("%d of %d: %s", len(own), len(ids), cause.Title)
			}
			d.attach(o, part, d.Observation.At, d.Observation.At)
		}
	}
	return len(ids) > 0 && told == len(ids)
}

// AttachExplained brings what other incidents of the same subnet say, and what they
// affect, into the one that explains them: they were opened before it.
func (d *Look) AttachExplained() {
	for _, o := range d.Updates {
		if o.State != incident.Open || o.Repeated {
			continue
		}
		for _, f := range d.Updates {
			if f.State != incident.Open {
				continue
			}
			cause := f.Cause
			switch {
			case claimsIncident(o, f):
				cause.Instances = nil
				for _, l := range f.Launches {
					cause.Instances = append(cause.Instances, l.Instance)
				}
			case incident.IsStarvationSymptom(f.Key.Check):
				cause.Instances = nil
				for _, l := range f.Launches {
					if l.Unfinished() && explainsUnready(o, f.Cause, l) {
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
				if l, kept := f.KeptLaunch(id); kept && o.AddAffected(*l) {
					o.Because(incident.MoreAffected)
				}
			}
			d.attach(o, cause, f.Began, f.Seen)
			adoptEffects(o, f.Effects)
		}
	}
}

// adoptEffects takes over what belonged to an incident that now belongs to this one.
func adoptEffects(f *incident.Update, list []incident.Effect) {
	for _, e := range list {
		if e.Title == "" || e.Check == f.Key.Check {
			continue
		}
		have, known := f.EffectOf(e.Check)
		if have.Since = incident.Earlier(have.Since, e.Since); e.Last.After(have.Last) || !known {
			have.Title, have.Last, have.Over, f.Touched = e.Title, e.Last, incident.Later(have.Over, e.Over), true
		}
	}
}

// handOver gives the launches that still wait to the incident that explains
// them now.
func (d *Look) handOver(o, f *incident.Update) {
	if o.Repeated {
		return
	}
	for _, l := range f.Launches {
		if l.Unfinished() && o.AddAffected(l) {
			o.Because(incident.MoreAffected)
		}
	}
}

// MarkRecovered takes in that what belongs to an incident passes again.
func (d *Look) MarkRecovered(f *incident.Update) {
	if !incident.OfAddresses(f.Key.Check) {
		return
	}
	for i := range f.Effects {
		e := &f.Effects[i]
		if slices.ContainsFunc(d.Observation.Diagnosis.Passed, func(p diagnose.Passed) bool {
			return p.Check == e.Check && slices.Contains(p.Covers, f.Key.Resource)
		}) && d.Observation.At.After(incident.Later(incident.Later(e.Told, e.Last), e.Over)) {
			e.Over, f.Touched = d.Observation.At, true
		}
	}
}

// stillShort is the incident of a subnet that has too few addresses even though
// what took them is gone.
func (d *Look) stillShort(f *incident.Update) *incident.Update {
	if f.State != incident.Cleared || f.Key.Check != incident.LeakedInterfaces {
		return nil
	}
	for _, o := range d.Updates {
		if o.State == incident.Open && o.Key.Resource == f.Key.Resource && incident.IsShortage(o.Key.Check) && !o.Seen.Before(f.Cleared) {
			return o
		}
	}
	return nil
}

// starvedBy is what keeps addresses from all the nodes of an incident which the
// network plugin keeps from being Ready.
func (d *Look) starvedBy(f *incident.Update) *incident.Update {
	if f.State != incident.Open || f.Key.Check != incident.CniNotReady {
		return nil
	}
	for _, o := range d.Updates {
		if o.State != incident.Open {
			continue
		}
		some, all := false, true
		for _, l := range f.Launches {
			if l.Unfinished() {
				some = true
				all = all && explainsUnready(o, f.Cause, l) && o.Affects(l.Instance)
			}
		}
		if some && all {
			return o
		}
	}
	return nil
}
