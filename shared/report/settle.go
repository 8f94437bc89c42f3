package report

import (
	"slices"
	"time"

	"rollcall/shared/checks"
)

// endedEarly is about instances that are gone: nothing of it can pass later.
const endedEarly checks.ID = "instance/ended-early"

// look takes in what an observation says of an incident besides its cause and
// its launches: what passed, what exists no more, who joined.
func (d *reconciler) look(f *draft) {
	if f.State == Closed {
		d.rest(f)
		return
	}
	d.passes(f)
	d.recover(f)
	f.drop()
	for _, l := range d.obs.Launches {
		if l.Standing == Joined && f.matches(l) {
			if l.Ready.IsZero() {
				l.Ready = d.obs.At
			}
			f.changed = f.join(l) || f.changed
		}
	}
	d.acquit(f)
}

// acquit clears a likely cause by a node that joined in spite of it. The check
// still finds what it found, but only as advice now: it was not the reason.
// Advice without such a node says nothing, as long as those that it would
// explain are not overdue.
func (d *reconciler) acquit(f *draft) {
	if _, joined := f.proof(); !joined {
		return
	}
	for _, c := range d.obs.Diagnosis.Causes {
		if c.Confidence != checks.Advice || c.Check != f.Key.Check || c.Resource != f.Key.Resource {
			continue
		}
		for _, cover := range c.Covers {
			if slices.Contains(f.Covers, cover) && f.find(cover, Passing, d.obs.At) {
				f.changed = true
			}
		}
	}
}

// rest is all that a closed incident takes in, as long as it can be reopened:
// what passes still, so that a failure from before, delivered late, does not
// reopen it; and that the streak of a fleeting fault is broken.
func (d *reconciler) rest(f *draft) {
	if d.now.Sub(f.Resolved) > d.policy.ReopenTime {
		return
	}
	d.passes(f)
	if f.blind() && f.Times > 0 && d.read(f) {
		f.Times, f.changed = 0, true
	}
}

// passes takes in what was found well, or gone, of what the incident covers.
func (d *reconciler) passes(f *draft) {
	found := func(cover string, what Found) {
		if slices.Contains(f.Covers, cover) && f.find(cover, what, d.obs.At) {
			f.changed = true
		}
	}
	for _, p := range d.obs.Diagnosis.Passed {
		if p.Check != f.Key.Check {
			continue
		}
		for _, cover := range p.Covers {
			found(cover, Passing)
		}
		if f.State != Closed && len(p.Evidence) > 0 && slices.ContainsFunc(p.Covers, func(c string) bool { return slices.Contains(f.Covers, c) }) && !d.obs.At.Before(f.Seen) {
			f.ClearedBy = p.Evidence
		}
		// Whoever first saw that the leak is gone may not know what came back.
		late := f.State == Closed && f.Key.Check == leakedInterfaces && len(f.ClearedBy) == 0 && !d.obs.At.Before(f.Cleared)
		if late && len(p.Evidence) > 0 && slices.Contains(p.Covers, f.Key.Resource) {
			f.ClearedBy, f.changed = p.Evidence, true
		}
	}
	for _, c := range d.obs.Diagnosis.Causes {
		if f.onlyAdvises(c) {
			found(c.Resource, Passing)
			if f.State != Closed && !d.obs.At.Before(f.Seen) {
				f.ClearedBy = []checks.Evidence{{What: Left, Value: c.Title}}
			}
		}
		// The same check fails for it because of another resource now: a
		// subnet was given another route table.
		if c.Check == f.Key.Check && c.Resource != f.Key.Resource {
			for _, cover := range c.Covers {
				found(cover, Passing)
			}
		}
	}
	for _, id := range d.obs.Absent {
		found(id, Absent)
	}
	if f.symptom() {
		for _, l := range d.obs.Launches {
			switch l.Standing {
			case Joined:
				found(l.Instance, Passing)
			case Gone:
				found(l.Instance, Absent)
			case GivenUp:
				f.release(l.Instance)
			}
		}
	}
	if f.blind() && d.read(f) {
		found(f.Key.Resource, Passing)
	}
}

// find records a verdict and tells whether it was the newest. Of two at the
// same time the failure counts.
func (inc *Incident) find(of string, found Found, at time.Time) bool {
	i, known := slices.BinarySearchFunc(inc.Verdicts, of, func(v Verdict, of string) int {
		switch {
		case v.Of < of:
			return -1
		case v.Of > of:
			return 1
		}
		return 0
	})
	if !known {
		inc.Verdicts = slices.Insert(inc.Verdicts, i, Verdict{Of: of, Found: found, At: at})
		if i, covered := slices.BinarySearch(inc.Covers, of); !covered {
			inc.Covers = slices.Insert(inc.Covers, i, of)
		}
		return true
	}
	have := inc.Verdicts[i]
	if at.Before(have.At) || at.Equal(have.At) && (found != Failing || have.Found == Failing) {
		return false
	}
	inc.Verdicts[i] = Verdict{Of: of, Found: found, At: at}
	return true
}

func (inc *Incident) verdict(of string) (Verdict, bool) {
	for _, v := range inc.Verdicts {
		if v.Of == of {
			return v, true
		}
	}
	return Verdict{}, false
}

// oneOff tells that all that the incident is about has ended: no later look
// can find it well, only another launch can show that it was not the rule.
func (inc *Incident) oneOff() bool {
	if inc.Key.Check == endedEarly {
		return true
	}
	if inc.symptom() || inc.blind() {
		return false
	}
	for _, cover := range inc.Covers {
		if l, kept := inc.launch(cover); !kept || l.Standing != Gone {
			return false
		}
	}
	return len(inc.Covers) > 0
}

// gaveUp tells that a symptom's instance is no longer looked at: it holds no
// incident open, as nothing more will be heard of it.
func (inc *Incident) gaveUp(cover string) bool {
	l, kept := inc.launch(cover)
	return kept && l.Standing == GivenUp && inc.symptom()
}

// release lets go of a launch that was given up and is not kept by name: how
// it stands is not remembered, and it must not hold the incident open for ever.
// It stays counted.
func (f *draft) release(id string) {
	if _, kept := f.launch(id); kept || !slices.Contains(f.Covers, id) || !f.affects(id) {
		return
	}
	f.Verdicts = slices.DeleteFunc(f.Verdicts, func(v Verdict) bool { return v.Of == id })
	f.Covers = slices.DeleteFunc(f.Covers, func(c string) bool { return c == id })
	f.changed = true
}

// settle takes an incident as far as it goes by what is known of it.
func (d *reconciler) settle(f *draft) {
	for t := f.Next(d.now, d.policy.ProofTime); !t.None(); t = f.Next(d.now, d.policy.ProofTime) {
		if t.To == Cleared {
			f.Blind = d.obs.Blind
		}
		f.take(t, d.now)
	}
}
