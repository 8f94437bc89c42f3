// Package correlate tells which failures belong together: what a leak, or a
// subnet without a free block, starves; which incident says what another one said;
// which symptoms a cause explains.
package correlate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// Look is one observation on its way through the incidents.
type Look struct {
	Observation report.Observation
	Now         time.Time
	Policy      incident.Policy
	Updates     []*incident.Update
}

// ExplainsUnready reports whether a cause, found in a subnet's addresses, is why
// another one finds a node that stands in a subnet not Ready: its pods get no
// addresses. Only a cause that is certain explains others.
//
// The look that sees the node does not count the interfaces of the whole VPC,
// as the look at the subnets does, and that one sees no nodes.
func ExplainsUnready(cause, unready diagnosis.Cause, nodeSubnet string) bool {
	if !incident.IsStarvationSymptom(unready.Check) || nodeSubnet == "" || cause.Confidence != catalog.Certain {
		return false
	}
	if unready.Behind != nil && !slices.Contains(unready.Behind, cause.Check) {
		return false
	}
	switch cause.Check {
	case checkid.IPLeakedInterfaces:
		return cause.Resource == nodeSubnet
	case checkid.IPFragmented:
		// With custom networking it is the subnet of the pods that has no block;
		// those of the nodes stand among its resources.
		return cause.Resource == nodeSubnet || slices.Contains(cause.Resources, nodeSubnet)
	}
	return false
}

// explainsUnready tells the same of an incident.
func explainsUnready(u *incident.Update, unready diagnosis.Cause, l report.Launch) bool {
	cause := u.Cause
	cause.Check, cause.Resource = u.Key.Check, u.Key.Resource
	return ExplainsUnready(cause, unready, l.Subnet)
}

// RecordRelations takes in what a look says of how its cause belongs together with
// other failures of the same subnet. The newest look counts.
func (look *Look) RecordRelations(u *incident.Update, cause diagnosis.Cause) {
	if !incident.OfAddresses(cause.Check) {
		return
	}
	set := func(check checkid.ID, apart bool) {
		if !incident.OfAddresses(check) && !incident.IsStarvationSymptom(check) || check == cause.Check {
			return
		}
		e, known := u.EffectOf(check)
		if known && !e.Told.Before(look.Observation.At) {
			return
		}
		u.Touched = true
		e.Told, e.Apart = look.Observation.At, apart
	}
	for _, h := range cause.Hidden {
		set(h.Check, false)
	}
	for _, id := range slices.Concat(cause.Contributing, cause.Symptoms) {
		set(id, false)
	}
	for _, other := range look.Observation.Diagnosis.Causes {
		if other.Resource == cause.Resource && incident.OfAddresses(other.Check) {
			set(other.Check, true)
		}
	}
}

// claimsSince tells since when an incident explains what another check finds in the
// same subnet.
func claimsSince(u *incident.Update, check checkid.ID) (at time.Time, does bool) {
	own := u.Key.Check
	e, _ := u.KnownEffect(check)
	switch {
	case own == check || own == checkid.IPRunway:
		return time.Time{}, false
	case check == checkid.IPRunway && (own == checkid.IPLeakedInterfaces || incident.IsShortage(own)):
		return u.Seen, true // what was foreseen is here, or its reason
	case check == checkid.IPScaleOutWillNotFit && own == checkid.IPLeakedInterfaces:
		return u.Seen, true // the leak comes first; what lacks without it too is reported when it is gone
	case e.Apart && !e.Told.Before(u.Seen):
		return time.Time{}, false
	case exhaustsSubnet(u) && incident.IsShortage(check):
		return incident.Later(e.Told, u.Seen), true
	case !e.Apart && !e.Told.IsZero():
		return e.Told, true
	}
	return time.Time{}, false
}

// exhaustsSubnet tells of a leak that is why its subnet has too few addresses: the
// check is certain only of those.
func exhaustsSubnet(u *incident.Update) bool {
	return u.Key.Check == checkid.IPLeakedInterfaces && u.Cause.Confidence == catalog.Certain
}

// claimsIncident reports whether what another incident of the same subnet says belongs to
// this one. Of two that explain each other the newer look counts.
func claimsIncident(u *incident.Update, other *incident.Update) bool {
	if u.Key.Resource != other.Key.Resource || !incident.OfAddresses(u.Key.Check) || !incident.OfAddresses(other.Key.Check) {
		return false
	}
	at, does := claimsSince(u, other.Key.Check)
	back, _ := claimsSince(other, u.Key.Check)
	return does && (at.After(back) || at.Equal(back) && u.Key.Check == checkid.IPLeakedInterfaces)
}

// passesNow reports whether this look finds well what an incident is about.
func (look *Look) passesNow(u *incident.Update) bool {
	v, _ := u.VerdictOn(u.Key.Resource)
	if look.Observation.At.Before(v.At) {
		return false
	}
	return slices.ContainsFunc(look.Observation.Diagnosis.Passed, func(p diagnosis.Passed) bool {
		return p.Check == u.Key.Check && slices.Contains(p.Covers, u.Key.Resource)
	}) || slices.ContainsFunc(look.Observation.Diagnosis.Causes, func(c diagnosis.Cause) bool { return OnlyAdvises(u, c) })
}

// OnlyAdvises reports whether a check still finds what an incident of addresses or of
// launches is about, and so little of it that no one is mentioned: a few leaked
// interfaces that no cleanup takes, refused launches for which no pod waits any more.
func OnlyAdvises(u *incident.Update, c diagnosis.Cause) bool {
	breaks := catalog.Meaning(c.Check).Breaks
	return c.Confidence == catalog.Advice && (breaks == catalog.Addresses || breaks == catalog.Launching) && c.Check == u.Key.Check && c.Resource == u.Key.Resource
}

// attachToKnown reports whether a failure of a subnet's addresses belongs to an
// incident that is known, and brings it in there: it has no message of its own.
func (look *Look) attachToKnown(cause diagnosis.Cause) bool {
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

// saysOtherwise reports whether the look of a cause explains an incident with the
// cause, and is newer than what explains the cause with the incident.
func (look *Look) saysOtherwise(cause diagnosis.Cause, o *incident.Update, at time.Time) bool {
	if o.Key.Check == checkid.IPLeakedInterfaces && cause.Check == checkid.IPRunway || !look.Observation.At.After(at) {
		return false
	}
	return slices.Contains(cause.Contributing, o.Key.Check) ||
		slices.ContainsFunc(cause.Hidden, func(h diagnosis.Hidden) bool { return h.Check == o.Key.Check })
}

// attach brings a failure that was seen from one time to another, and the
// launches that it keeps from joining, into an incident.
func (look *Look) attach(o *incident.Update, cause diagnosis.Cause, since, last time.Time) {
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
	for _, l := range LaunchesOf(look.Observation, cause) {
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
func (look *Look) noteAttached(o *incident.Update, cause diagnosis.Cause) {
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
// subnet from them (a leak, no free block), and reports whether that explains all
// of them.
func (look *Look) attachStarvedNodes(cause diagnosis.Cause) bool {
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
		l, explained := LaunchOf(look.Observation, id), false
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
		if slices.ContainsFunc(look.Observation.Diagnosis.Passed, func(p diagnosis.Passed) bool {
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

// Explained reports whether a symptom's instances are all among the launches of
// incidents that explain it: those that stand, and for a while those that
// ended well, since an instance that came too early may never join by itself.
func (look *Look) Explained(cause diagnosis.Cause) bool {
	if look.attachToKnown(cause) || look.attachStarvedNodes(cause) {
		return true
	}
	if cause.Confidence != catalog.Symptom {
		return false
	}
	ids := cause.Instances
	if len(ids) == 0 {
		ids = cause.Covers
	}
	for _, id := range ids {
		if !slices.ContainsFunc(look.Updates, func(u *incident.Update) bool {
			return (u.Explains() || saysOfInstances(u, cause)) && u.Affects(id) && look.stillExplains(u)
		}) {
			return false
		}
	}
	return len(ids) > 0
}

// saysOfInstances reports whether an incident is a symptom of the instances themselves, and
// the cause what EKS says of their nodegroup: one message is enough.
func saysOfInstances(u *incident.Update, cause diagnosis.Cause) bool {
	return u.IsSymptom() && !u.ByItself() && catalog.Meaning(cause.Check).CoversToo == catalog.Nodegroups
}

func (look *Look) stillExplains(u *incident.Update) bool {
	switch u.State {
	case incident.Open, incident.Cleared:
		return true
	case incident.Closed:
		return u.Resolution == incident.Proved && look.Now.Sub(u.Resolved) < look.Policy.ProofTime
	}
	return false
}

// Supersede closes an incident whose unfinished launches are all explained by
// another one: a symptom at once, a cause when it is gone.
func (look *Look) Supersede(u *incident.Update) {
	if o := look.betterExplanation(u); o != nil {
		u.Apply(incident.SupersededBy(o.Key, look.Observation.At), look.Now)
		return
	}
	if u.IsBlind() || !(u.State == incident.Cleared || u.State == incident.Open && u.IsSymptom()) {
		return
	}
	var waiting []string
	for _, l := range u.Launches {
		if l.Unfinished() {
			waiting = append(waiting, l.Instance)
		}
	}
	if len(waiting) == 0 {
		return
	}
	for _, o := range look.Updates {
		// A symptom that is gone gives way to the next one: registered, not Ready.
		next := u.IsSymptom() && u.State == incident.Cleared && o.IsSymptom()
		if o.State != incident.Open || !o.Explains() && !next {
			continue
		}
		if !slices.ContainsFunc(waiting, func(id string) bool { return !o.Affects(id) }) {
			u.Apply(incident.SupersededBy(o.Key, look.Observation.At), look.Now)
			return
		}
	}
}

// betterExplanation is the incident that now says more exactly what another one says
// of the same resource: a status for which EKS gave no issue at first, and now
// does; an empty subnet, and then the burst that emptied it.
func (look *Look) betterExplanation(u *incident.Update) *incident.Update {
	if o := look.stillShort(u); o != nil {
		look.handOver(o, u)
		return o
	}
	if o := look.starvedBy(u); o != nil {
		return o
	}
	if u.State != incident.Open {
		return nil
	}
	for _, o := range look.Updates {
		newer := u.ByItself() && u.Seen.Before(look.Observation.At) && o.Seen.Equal(look.Observation.At) && saysBetter(o, u.Key.Check, u.Key.Resource)
		if o.State == incident.Open && (newer || claimsIncident(o, u)) {
			return o
		}
	}
	return nil
}

// saysBetter reports whether an incident says of a resource what a check finds there,
// and why.
func saysBetter(u *incident.Update, check checkid.ID, resource string) bool {
	return slices.Contains(u.Covers, resource) &&
		slices.ContainsFunc(u.Cause.Hidden, func(h diagnosis.Hidden) bool { return h.Check == check })
}

// LaunchesOf are the launches that a cause keeps from joining. Ready nodes whose pods wait
// are not among them: that a node joins proves nothing about a cause of pods.
func LaunchesOf(obs report.Observation, cause diagnosis.Cause) []report.Launch {
	list := make([]report.Launch, 0, len(cause.Instances))
	for _, id := range cause.Instances {
		if l := LaunchOf(obs, id); l.Status != report.Joined || !cause.OfPods() {
			list = append(list, l)
		}
	}
	return list
}

// LaunchOf is what the observation says of an instance, even if it is no more
// than that it exists.
func LaunchOf(obs report.Observation, id string) report.Launch {
	for _, l := range obs.Launches {
		if l.Instance == id {
			return l
		}
	}
	return report.Launch{Instance: id, Status: report.Waiting}
}
