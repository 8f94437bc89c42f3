package correlate

import (
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
)

// Supersede closes an incident whose unfinished launches are all explained by
// another one: a symptom at once, a cause when it is gone.
func (d *Look) Supersede(f *incident.Update) {
	if o := d.betterExplanation(f); o != nil {
		f.Apply(incident.SupersededBy(o.Key, d.Observation.At), d.Now)
		return
	}
	if f.IsBlind() || !(f.State == incident.Cleared || f.State == incident.Open && f.IsSymptom()) {
		return
	}
	var waiting []string
	for _, l := range f.Launches {
		if l.Unfinished() {
			waiting = append(waiting, l.Instance)
		}
	}
	if len(waiting) == 0 {
		return
	}
	for _, o := range d.Updates {
		// A symptom that is gone gives way to the next one: registered, not Ready.
		next := f.IsSymptom() && f.State == incident.Cleared && o.IsSymptom()
		if o == f || o.State != incident.Open || !o.Explains() && !next {
			continue
		}
		if !slices.ContainsFunc(waiting, func(id string) bool { return !o.Affects(id) }) {
			f.Apply(incident.SupersededBy(o.Key, d.Observation.At), d.Now)
			return
		}
	}
}

// betterExplanation is the incident that now says more exactly what another one says
// of the same resource: a status for which EKS gave no issue at first, and now
// does; an empty subnet, and then the burst that emptied it.
func (d *Look) betterExplanation(f *incident.Update) *incident.Update {
	if o := d.stillShort(f); o != nil {
		d.handOver(o, f)
		return o
	}
	if o := d.starvedBy(f); o != nil {
		return o
	}
	if f.State != incident.Open {
		return nil
	}
	for _, o := range d.Updates {
		newer := f.ByItself() && f.Seen.Before(d.Observation.At) && o.Seen.Equal(d.Observation.At) && saysBetter(o, f.Key.Check, f.Key.Resource)
		if o != f && o.State == incident.Open && (newer || claimsIncident(o, f)) {
			return o
		}
	}
	return nil
}

// saysBetter tells that an open incident says of a resource what a check finds
// there, and why.
func saysBetter(f *incident.Update, check checks.ID, resource string) bool {
	return f.State == incident.Open && slices.Contains(f.Covers, resource) &&
		slices.ContainsFunc(f.Cause.Hidden, func(h diagnose.Hidden) bool { return h.Check == check })
}
