package report

import (
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

// supersede closes an incident whose unfinished launches are all explained by
// another one: a symptom at once, a cause when it is gone.
func (d *desk) supersede(f *draft) {
	if d.saidBetter(f) {
		f.Settled = d.obs.At
		d.end(f, Superseded)
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
			f.Settled = d.obs.At
			d.end(f, Superseded)
			return
		}
	}
}

// saidBetter tells that what an incident says is now said more exactly by
// another one of the same resource: a status for which EKS gave no issue at
// first, and now does; an empty subnet, and then the burst that emptied it.
func (d *desk) saidBetter(f *draft) bool {
	if f.State != Open || !f.ByItself() && !f.ofAddresses() || !f.Seen.Before(d.obs.At) {
		return false
	}
	return slices.ContainsFunc(d.drafts, func(o *draft) bool {
		return o != f && o.Seen.Equal(d.obs.At) && o.saysBetter(f.Key.Check, f.Key.Resource)
	})
}

// saysBetter tells that an open incident says of a resource what a check finds
// there, and why.
func (f *draft) saysBetter(check checks.ID, resource string) bool {
	return f.State == Open && slices.Contains(f.Covers, resource) &&
		slices.ContainsFunc(f.Cause.Hidden, func(h diagnose.Hidden) bool { return h.Check == check })
}

// ofAddresses tells that an incident is about a subnet's addresses.
func (f *draft) ofAddresses() bool { return f.Key.Check == subnetExhausted }

const subnetExhausted checks.ID = "ip/subnet-exhausted"
