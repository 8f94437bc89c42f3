package reconcile

import (
	"slices"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/incident"
	"rollcall/shared/incident/correlate"
	"rollcall/shared/report"
)

// applyVerdicts takes in what an observation says of an incident besides its cause and
// its launches: what passed, what exists no more, who joined.
func (rec *reconciler) applyVerdicts(u *incident.Update) {
	if u.State == incident.Closed {
		rec.applyToClosed(u)
		return
	}
	rec.applyPasses(u)
	rec.MarkRecovered(u)
	u.DropOutdatedJoins()
	for _, l := range rec.Observation.Launches {
		// Where only Karpenter's tag shows the join, Ready was never observed.
		if l.Status == report.Joined && l.Tagged.IsZero() && u.Concerns(l) {
			if l.Ready.IsZero() {
				l.Ready = rec.Observation.At
			}
			u.Touched = u.AddJoin(l) || u.Touched
		}
	}
	rec.dismissLikely(u)
}

// dismissLikely clears a likely cause by a node that joined in spite of it. The check
// still finds what it found, but only as advice now: it was not the reason.
// Advice without such a node says nothing, as long as those that it would
// explain are not overdue.
func (rec *reconciler) dismissLikely(u *incident.Update) {
	if _, joined := u.FirstJoin(); !joined {
		return
	}
	for _, c := range rec.Observation.Diagnosis.Causes {
		if c.Confidence != catalog.Advice || c.Check != u.Key.Check || c.Resource != u.Key.Resource {
			continue
		}
		for _, cover := range c.Covers {
			if slices.Contains(u.Covers, cover) && u.RecordVerdict(cover, incident.Passing, rec.Observation.At) {
				u.Touched = true
			}
		}
	}
}

// applyToClosed is all that a closed incident takes in, as long as it can be reopened:
// what passes still, so that a failure from before, delivered late, does not
// reopen it; and that the streak of a fleeting fault is broken.
func (rec *reconciler) applyToClosed(u *incident.Update) {
	if rec.Now.Sub(u.Resolved) > rec.Policy.ReopenTime {
		return
	}
	rec.applyPasses(u)
	if u.IsBlind() && u.Times > 0 && rec.couldRead(u) {
		u.Times, u.Touched = 0, true
	}
}

// applyPasses takes in what was found well, or gone, of what the incident covers.
func (rec *reconciler) applyPasses(u *incident.Update) {
	found := func(cover string, what incident.Found) {
		if slices.Contains(u.Covers, cover) && u.RecordVerdict(cover, what, rec.Observation.At) {
			u.Touched = true
		}
	}
	for _, p := range rec.Observation.Diagnosis.Passed {
		if p.Check != u.Key.Check {
			continue
		}
		for _, cover := range p.Covers {
			found(cover, incident.Passing)
		}
		if takesEvidence(u) && len(p.Evidence) > 0 && slices.ContainsFunc(p.Covers, func(c string) bool { return slices.Contains(u.Covers, c) }) && !rec.Observation.At.Before(u.Seen) {
			u.ClearedBy = p.Evidence
		}
		// Whoever first saw that the leak is gone may not know what came back.
		late := u.State == incident.Closed && u.Key.Check == checkid.IPLeakedInterfaces && len(u.ClearedBy) == 0 && !rec.Observation.At.Before(u.Cleared)
		if late && len(p.Evidence) > 0 && slices.Contains(p.Covers, u.Key.Resource) {
			u.ClearedBy, u.Touched = p.Evidence, true
		}
	}
	for _, c := range rec.Observation.Diagnosis.Causes {
		if correlate.OnlyAdvises(u, c) {
			found(c.Resource, incident.Passing)
			if u.State != incident.Closed && !rec.Observation.At.Before(u.Seen) {
				u.ClearedBy = []finding.Evidence{{What: incident.Left, Value: c.Title}}
			}
		}
		// The same check fails for it because of another resource now: a
		// subnet was given another route table.
		if c.Check == u.Key.Check && c.Resource != u.Key.Resource {
			for _, cover := range c.Covers {
				found(cover, incident.Passing)
			}
		}
	}
	for _, id := range rec.Observation.Absent {
		found(id, incident.Absent)
	}
	if u.IsSymptom() && catalog.Meaning(u.Key.Check).Breaks != catalog.Pods {
		for _, l := range rec.Observation.Launches {
			switch l.Status {
			case report.Joined:
				found(l.Instance, incident.Passing)
			case report.Gone:
				found(l.Instance, incident.Absent)
			case report.GivenUp:
				releaseGivenUp(u, l.Instance)
			}
		}
	}
	if u.IsBlind() && rec.couldRead(u) {
		found(u.Key.Resource, incident.Passing)
	}
}

// takesEvidence reports whether what passed now is worth more than what is known of how the
// cause went away: what showed it first is what did, and another instance's numbers of
// later looks are not. What a cleanup gave back is counted on.
func takesEvidence(u *incident.Update) bool {
	switch u.State {
	case incident.Closed:
		return false
	case incident.Cleared:
		return len(u.ClearedBy) == 0 || u.Key.Check == checkid.IPLeakedInterfaces
	}
	return true
}

// releaseGivenUp lets go of a launch that was given up and is not kept by name: how
// it stands is not remembered, and it must not hold the incident open for ever.
// It stays counted.
func releaseGivenUp(u *incident.Update, id string) {
	if _, kept := u.KeptLaunch(id); kept || !slices.Contains(u.Covers, id) || !u.Affects(id) {
		return
	}
	u.Verdicts = slices.DeleteFunc(u.Verdicts, func(v incident.Verdict) bool { return v.Of == id })
	u.Covers = slices.DeleteFunc(u.Covers, func(c string) bool { return c == id })
	u.Touched = true
}

// transition takes an incident as far as it goes by what is known of it.
func (rec *reconciler) transition(u *incident.Update) {
	for t := u.Next(rec.Now, rec.Policy.ProofTime); !t.None(); t = u.Next(rec.Now, rec.Policy.ProofTime) {
		if t.To == incident.Cleared {
			u.Blind = rec.Observation.Blind
		}
		u.Apply(t, rec.Now)
	}
}

// verifyRemedies tells what the look says of runs: also of one that ended just before
// the incident did.
func (rec *reconciler) verifyRemedies(u *incident.Update) {
	if u.State == incident.Closed && rec.Now.Sub(u.Resolved) > rec.Policy.ReopenTime {
		return
	}
	for _, r := range u.Incident.VerifyRemedies() {
		u.Because(r)
	}
}
