package incident

import (
	"slices"
	"time"

	"rollcall/shared/report"
)

// ForNote is what a note has to remember of the incident.
func (inc *Incident) ForNote() *Then {
	t := &Then{
		State: inc.State, Number: inc.Number,
		Began: inc.Began, Cleared: inc.Cleared, Resolved: inc.Resolved, Resolution: inc.Resolution,
		Affected: inc.Affected, Cause: inc.Cause, ClearedBy: inc.ClearedBy, Proof: inc.Proof,
	}
	t.Cause.Evidence = nil // the note has it, where it is worth showing
	t.Cause.Covers = nil   // and this no note shows
	if len(inc.Launches) > 0 {
		t.ByStatus = map[report.LaunchStatus][]string{}
	}
	for _, l := range inc.Launches {
		t.ByStatus[l.Status] = append(t.ByStatus[l.Status], l.Instance)
	}
	return t
}

// KeepForNotes lets the notes that are still to be sent remember the launches,
// before the incident forgets them.
func (inc *Incident) KeepForNotes() {
	if len(inc.Launches) == 0 {
		return
	}
	inc.Delivery.Notes = slices.Clone(inc.Delivery.Notes)
	for i := range inc.Delivery.Notes {
		n := &inc.Delivery.Notes[i]
		if n.TS != "" || n.Then == nil || len(n.Then.Launches) > 0 {
			continue
		}
		then := *n.Then
		then.Launches = First(inc.Launches, MaxNamed)
		n.Then = &then
	}
}

// AsOf is the incident as it was when a note was made. What is known of each
// launch now is kept, but for what had not happened then.
func (inc Incident) AsOf(n Note) Incident {
	t := n.Then
	if t == nil {
		return inc
	}
	now := inc.Clone()
	inc.State, inc.Number, inc.Changed = t.State, t.Number, n.At
	inc.Began, inc.Cleared, inc.Resolved, inc.Resolution = t.Began, t.Cleared, t.Resolved, t.Resolution
	inc.Affected, inc.Cause, inc.ClearedBy, inc.Proof = t.Affected, t.Cause, t.ClearedBy, t.Proof
	inc.Cause.Evidence, inc.Facts, inc.Blind = n.Evidence, n.Facts, n.Blind
	inc.Launches, inc.More = nil, nil
	for standing, ids := range t.ByStatus {
		for _, id := range ids {
			l := report.Launch{Instance: id}
			i := slices.IndexFunc(t.Launches, func(kept report.Launch) bool { return kept.Instance == id })
			if known, kept := now.KeptLaunch(id); kept {
				l = *known
			} else if i >= 0 {
				l = t.Launches[i]
			}
			l.Status = standing
			if standing != report.Joined {
				l.Ready = time.Time{}
			}
			if standing != report.Gone {
				l.Ended, l.EndedWhy = time.Time{}, ""
			}
			if l.Registered.After(n.At) {
				l.Registered = time.Time{}
			}
			inc.AddAffected(l)
		}
	}
	inc.Affected = t.Affected
	return inc
}

// Sent is the note after Slack took it: its facts are not needed any more.
func (n Note) Sent(ts string) Note {
	return Note{ID: n.ID, At: n.At, Reason: n.Reason, Times: n.Times, TS: ts}
}
