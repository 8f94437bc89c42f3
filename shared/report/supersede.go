package report

import (
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

// supersede closes an incident whose unfinished launches are all explained by
// another one: a symptom at once, a cause when it is gone.
func (d *desk) supersede(f *draft) {
	if o := d.saidBetter(f); o != nil {
		f.take(SupersededBy(o.Key, d.obs.At), d.now)
		return
	}
	if f.blind() || !(f.State == Cleared || f.State == Open && f.symptom()) {
		return
	}
	var waiting []string
	for _, l := range f.Launches {
		if l.unfinished() {
			waiting = append(waiting, l.Instance)
		}
	}
	if len(waiting) == 0 {
		return
	}
	for _, o := range d.drafts {
		// A symptom that is gone gives way to the next one: registered, not Ready.
		next := f.symptom() && f.State == Cleared && o.symptom()
		if o == f || o.State != Open || !o.explains() && !next {
			continue
		}
		if !slices.ContainsFunc(waiting, func(id string) bool { return !o.affects(id) }) {
			f.take(SupersededBy(o.Key, d.obs.At), d.now)
			return
		}
	}
}

// saidBetter is the incident that now says more exactly what another one says
// of the same resource: a status for which EKS gave no issue at first, and now
// does; an empty subnet, and then the burst that emptied it.
func (d *desk) saidBetter(f *draft) *draft {
	if o := d.stillShort(f); o != nil {
		d.inherit(o, f)
		return o
	}
	if o := d.starvedBy(f); o != nil {
		return o
	}
	if f.State != Open {
		return nil
	}
	for _, o := range d.drafts {
		newer := f.ByItself() && f.Seen.Before(d.obs.At) && o.Seen.Equal(d.obs.At) && o.saysBetter(f.Key.Check, f.Key.Resource)
		if o != f && o.State == Open && (newer || o.beats(f)) {
			return o
		}
	}
	return nil
}

// saysBetter tells that an open incident says of a resource what a check finds
// there, and why.
func (f *draft) saysBetter(check checks.ID, resource string) bool {
	return f.State == Open && slices.Contains(f.Covers, resource) &&
		slices.ContainsFunc(f.Cause.Hidden, func(h diagnose.Hidden) bool { return h.Check == check })
}
