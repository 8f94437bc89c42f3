package correlate

import (
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
)

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

// saysBetter tells that an incident says of a resource what a check finds there,
// and why.
func saysBetter(u *incident.Update, check checks.ID, resource string) bool {
	return slices.Contains(u.Covers, resource) &&
		slices.ContainsFunc(u.Cause.Hidden, func(h diagnose.Hidden) bool { return h.Check == check })
}
