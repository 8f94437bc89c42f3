package reconcile

import (
	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/incident/correlate"
	"rollcall/shared/report"
	"slices"
)

// applyVerdicts takes in what an observation says of an incident besides its cause and
// its launches: what passed, what exists no more, who joined.
func (d *reconciler) applyVerdicts(f *incident.Update) {
	if f.State == incident.Closed {
		d.applyToClosed(f)
		return
	}
	d.applyPasses(f)
	d.MarkRecovered(f)
	f.DropOutdatedJoins()
	for _, l := range d.Observation.Launches {
		if l.Status == report.Joined && f.Concerns(l) {
			if l.Ready.IsZero() {
				l.Ready = d.Observation.At
			}
			f.Touched = f.AddJoin(l) || f.Touched
		}
	}
	d.dismissLikely(f)
}

// dismissLikely clears a likely cause by a node that joined in spite of it. The check
// still finds what it found, but only as advice now: it was not the reason.
// Advice without such a node says nothing, as long as those that it would
// explain are not overdue.
func (d *reconciler) dismissLikely(f *incident.Update) {
	if _, joined := f.FirstJoin(); !joined {
		return
	}
	for _, c := range d.Observation.Diagnosis.Causes {
		if c.Confidence != checks.Advice || c.Check != f.Key.Check || c.Resource != f.Key.Resource {
			continue
		}
		for _, cover := range c.Covers {
			if slices.Contains(f.Covers, cover) && f.RecordVerdict(cover, incident.Passing, d.Observation.At) {
				f.Touched = true
			}
		}
	}
}

// applyToClosed is all that a closed incident takes in, as long as it can be reopened:
// what passes still, so that a failure from before, delivered late, does not
// reopen it; and that the streak of a fleeting fault is broken.
func (d *reconciler) applyToClosed(f *incident.Update) {
	if d.Now.Sub(f.Resolved) > d.Policy.ReopenTime {
		return
	}
	d.applyPasses(f)
	if f.IsBlind() && f.Times > 0 && d.couldRead(f) {
		f.Times, f.Touched = 0, true
	}
}

// applyPasses takes in what was found well, or gone, of what the incident covers.
func (d *reconciler) applyPasses(f *incident.Update) {
	found := func(cover string, what incident.Found) {
		if slices.Contains(f.Covers, cover) && f.RecordVerdict(cover, what, d.Observation.At) {
			f.Touched = true
		}
	}
	for _, p := range d.Observation.Diagnosis.Passed {
		if p.Check != f.Key.Check {
			continue
		}
		for _, cover := range p.Covers {
			found(cover, incident.Passing)
		}
		if f.State != incident.Closed && len(p.Evidence) > 0 && slices.ContainsFunc(p.Covers, func(c string) bool { return slices.Contains(f.Covers, c) }) && !d.Observation.At.Before(f.Seen) {
			f.ClearedBy = p.Evidence
		}
		// Whoever first saw that the leak is gone may not know what came back.
		late := f.State == incident.Closed && f.Key.Check == incident.LeakedInterfaces && len(f.ClearedBy) == 0 && !d.Observation.At.Before(f.Cleared)
		if late && len(p.Evidence) > 0 && slices.Contains(p.Covers, f.Key.Resource) {
			f.ClearedBy, f.Touched = p.Evidence, true
		}
	}
	for _, c := range d.Observation.Diagnosis.Causes {
		if correlate.OnlyAdvises(f, c) {
			found(c.Resource, incident.Passing)
			if f.State != incident.Closed && !d.Observation.At.Before(f.Seen) {
				f.ClearedBy = []checks.Evidence{{What: incident.Left, Value: c.Title}}
			}
		}
		// The same check fails for it because of another resource now: a
		// subnet was given another route table.
		if c.Check == f.Key.Check && c.Resource != f.Key.Resource {
			for _, cover := range c.Covers {
				found(cover, incident.Passing)
			}
		}
	}
	for _, id := range d.Observation.Absent {
		found(id, incident.Absent)
	}
	if f.IsSymptom() {
		for _, l := range d.Observation.Launches {
			switch l.Status {
			case report.Joined:
				found(l.Instance, incident.Passing)
			case report.Gone:
				found(l.Instance, incident.Absent)
			case report.GivenUp:
				releaseGivenUp(f, l.Instance)
			}
		}
	}
	if f.IsBlind() && d.couldRead(f) {
		found(f.Key.Resource, incident.Passing)
	}
}

// releaseGivenUp lets go of a launch that was given up and is not kept by name: how
// it stands is not remembered, and it must not hold the incident open for ever.
// It stays counted.
func releaseGivenUp(f *incident.Update, id string) {
	if _, kept := f.KeptLaunch(id); kept || !slices.Contains(f.Covers, id) || !f.Affects(id) {
		return
	}
	f.Verdicts = slices.DeleteFunc(f.Verdicts, func(v incident.Verdict) bool { return v.Of == id })
	f.Covers = slices.DeleteFunc(f.Covers, func(c string) bool { return c == id })
	f.Touched = true
}

// transition takes an incident as far as it goes by what is known of it.
func (d *reconciler) transition(f *incident.Update) {
	for t := f.Next(d.Now, d.Policy.ProofTime); !t.None(); t = f.Next(d.Now, d.Policy.ProofTime) {
		if t.To == incident.Cleared {
			f.Blind = d.Observation.Blind
		}
		f.Apply(t, d.Now)
	}
}

// verifyRemedies tells what the look says of deeds: also of one that ended just before
// the incident did.
func (d *reconciler) verifyRemedies(f *incident.Update) {
	if f.State == incident.Closed && d.Now.Sub(f.Resolved) > d.Policy.ReopenTime {
		return
	}
	for _, r := range f.Incident.VerifyRemedies() {
		f.Because(r)
	}
}
