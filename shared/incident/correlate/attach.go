package correlate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// attachToKnown tells whether a failure of a subnet's addresses belongs to an
// incident that is known, and brings it in there: it has no message of its own.
func (look *Look) attachToKnown(cause diagnose.Cause) bool {
	if !incident.OfAddresses(cause.Check) {
		return false
	}
	for _, o := range look.Updates {
		at, does := claimsSince(o, cause.Check)
		if !does || o.Key.Resource != cause.Resource || look.saysOtherwise(cause, o, at) {
			continue
		}
		switch {
		case o.State == incident.Open && !look.passesNow(o):
			look.attach(o, cause, look.Observation.At, look.Observation.At)
			return true
		case (o.State == incident.Cleared || o.State == incident.Closed) && !look.Observation.At.After(o.Cleared):
			return true // it comes late, from when the other one was there
		}
	}
	return false
}

// saysOtherwise tells that the look of a cause explains an incident with the
// cause, and is newer than what explains the cause with the incident.
func (look *Look) saysOtherwise(cause diagnose.Cause, o *incident.Update, at time.Time) bool {
	if o.Key.Check == checkid.IPLeakedInterfaces && cause.Check == checkid.IPRunway || !look.Observation.At.After(at) {
		return false
	}
	return slices.Contains(cause.Contributing, o.Key.Check) ||
		slices.ContainsFunc(cause.Hidden, func(h diagnose.Hidden) bool { return h.Check == o.Key.Check })
}

// attach brings a failure that was seen from one time to another, and the
// launches that it keeps from joining, into an incident.
func (look *Look) attach(o *incident.Update, cause diagnose.Cause, since, last time.Time) {
	if o.Repeated {
		return
	}
	e, _ := o.EffectOf(cause.Check)
	first := e.Last.IsZero() || e.Over.After(e.Last) && last.After(e.Over)
	if first || since.Before(e.Since) {
		e.Since, o.Touched = since, true
	}
	if last.After(e.Last) {
		e.Title, e.Last, o.Touched = cause.Title, last, true
	}
	o.Cause.Nodegroups = incident.Union(o.Cause.Nodegroups, cause.Nodegroups)
	added := false
	for _, l := range look.Observation.LaunchesOf(cause) {
		added = affect(o, l) || added
	}
	switch {
	case added:
		o.Because(incident.MoreAffected)
	case first:
		o.Because(incident.BetterKnown)
	}
	if first && o.Number > 0 {
		look.noteAttached(o, cause)
	}
}

// affect adds a launch to an incident that it belongs to. One that never was Ready has not
// been since its launch: the incident began with it, or earlier.
func affect(o *incident.Update, l report.Launch) (added bool) {
	if added = o.AddAffected(l); added && l.Unfinished() && l.Ready.IsZero() && l.Started.After(o.Before) && l.Started.Before(o.Began) {
		o.Began, o.Touched = l.Started, true
	}
	return added
}

// noteAttached tells the thread what belongs to the incident now.
func (look *Look) noteAttached(o *incident.Update, cause diagnose.Cause) {
	n := incident.Note{
		ID: "joined-" + strings.ReplaceAll(string(cause.Check), "/", "-"), Times: o.Number, At: look.Now, Reason: incident.HasJoined,
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
func (look *Look) attachStarvedNodes(cause diagnose.Cause) bool {
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
		l, explained := look.Observation.LaunchOf(id), false
		for _, o := range look.Updates {
			switch {
			case !explainsUnready(o, cause, l):
			case o.State == incident.Open && !look.passesNow(o), o.State == incident.Cleared && !l.Started.IsZero() && l.Started.Before(o.Cleared):
				in[o] = append(in[o], id)
				explained = true
			case o.State == incident.Closed && !look.Observation.At.After(o.Cleared):
				explained = true
			}
		}
		if explained {
			told++
		}
	}
	for _, o := range look.Updates {
		if own := in[o]; len(own) > 0 {
			part := cause
			part.Instances = own
			if len(own) < len(ids) {
				part.Title = fmt.Sprintf("%d of %d: %s", len(own), len(ids), cause.Title)
			}
			look.attach(o, part, look.Observation.At, look.Observation.At)
		}
	}
	return len(ids) > 0 && told == len(ids)
}

// AttachExplained brings what other incidents of the same subnet say, and what they
// affect, into the one that explains them: they were opened before it.
func (look *Look) AttachExplained() {
	for _, o := range look.Updates {
		if o.State != incident.Open || o.Repeated {
			continue
		}
		for _, u := range look.Updates {
			if u.State != incident.Open {
				continue
			}
			cause := u.Cause
			switch {
			case claimsIncident(o, u):
				cause.Instances = nil
				for _, l := range u.Launches {
					cause.Instances = append(cause.Instances, l.Instance)
				}
			case incident.IsStarvationSymptom(u.Key.Check):
				cause.Instances = nil
				for _, l := range u.Launches {
					if l.Unfinished() && explainsUnready(o, u.Cause, l) {
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
				if l, kept := u.KeptLaunch(id); kept && affect(o, *l) {
					o.Because(incident.MoreAffected)
				}
			}
			look.attach(o, cause, u.Began, u.Seen)
			adoptEffects(o, u.Effects)
		}
	}
}

// adoptEffects takes over what belonged to an incident that now belongs to this one.
func adoptEffects(u *incident.Update, list []incident.Effect) {
	for _, e := range list {
		if e.Title == "" || e.Check == u.Key.Check {
			continue
		}
		have, known := u.EffectOf(e.Check)
		if have.Since = incident.Earlier(have.Since, e.Since); e.Last.After(have.Last) || !known {
			have.Title, have.Last, have.Over, u.Touched = e.Title, e.Last, incident.Later(have.Over, e.Over), true
		}
	}
}

// handOver gives the launches that still wait to the incident that explains
// them now.
func (look *Look) handOver(o, u *incident.Update) {
	if o.Repeated {
		return
	}
	for _, l := range u.Launches {
		if l.Unfinished() && affect(o, l) {
			o.Because(incident.MoreAffected)
		}
	}
}

// MarkRecovered takes in that what belongs to an incident passes again.
func (look *Look) MarkRecovered(u *incident.Update) {
	if !incident.OfAddresses(u.Key.Check) {
		return
	}
	for i := range u.Effects {
		e := &u.Effects[i]
		if slices.ContainsFunc(look.Observation.Diagnosis.Passed, func(p diagnose.Passed) bool {
			return p.Check == e.Check && slices.Contains(p.Covers, u.Key.Resource)
		}) && look.Observation.At.After(incident.Later(incident.Later(e.Told, e.Last), e.Over)) {
			e.Over, u.Touched = look.Observation.At, true
		}
	}
}

// stillShort is the incident of a subnet that has too few addresses even though
// what took them is gone.
func (look *Look) stillShort(u *incident.Update) *incident.Update {
	if u.State != incident.Cleared || u.Key.Check != checkid.IPLeakedInterfaces {
		return nil
	}
	for _, o := range look.Updates {
		if o.State == incident.Open && o.Key.Resource == u.Key.Resource && incident.IsShortage(o.Key.Check) && !o.Seen.Before(u.Cleared) {
			return o
		}
	}
	return nil
}

// starvedBy is what keeps addresses from all the nodes of an incident which the
// network plugin keeps from being Ready.
func (look *Look) starvedBy(u *incident.Update) *incident.Update {
	if u.State != incident.Open || u.Key.Check != checkid.NodeCNINotReady {
		return nil
	}
	for _, o := range look.Updates {
		if o.State != incident.Open {
			continue
		}
		some, all := false, true
		for _, l := range u.Launches {
			if l.Unfinished() {
				some = true
				all = all && explainsUnready(o, u.Cause, l) && o.Affects(l.Instance)
			}
		}
		if some && all {
			return o
		}
	}
	return nil
}
