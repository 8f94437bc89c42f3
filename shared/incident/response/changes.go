package response

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// maxChanges and maxWord bound what an incident keeps of CloudTrail: 50 calls of
// at most 2 KB each are a quarter of an item of the table. IAM's longest names
// and ARNs fit.
const (
	MaxChanges = 50
	maxWord    = 300
)

// ApplyChanges takes in what was changed before an incident began. It is said
// in the thread when there is something, and once more when CloudTrail has
// everything and brought more meanwhile: the message promises that all of it is
// there. What comes in between edits the message.
func ApplyChanges(inc incident.Incident, c report.Changes, now time.Time) incident.Decision {
	switch {
	case slices.Contains(inc.Applied, c.ID):
		return incident.Decision{Incident: inc, Reason: incident.AlreadyApplied}
	case inc.Number == 0 || !c.Opened.Equal(inc.Opened):
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate}
	}
	inc = inc.Clone()
	trail := c.Found
	trail.Changes, trail.Shown = slices.Clone(trail.Changes), 0
	if inc.RecentChanges != nil {
		trail = mergeChanges(trail, *inc.RecentChanges)
	}
	trail = boundedChanges(trail)
	inc.RecentChanges = &trail
	inc.MarkApplied(c.ID)
	inc.Delivery.Dirty = true
	reason := incident.NothingNew
	first, late := !inc.HasNote(incident.HasChanges), len(trail.Changes) > trail.Shown
	if first && (len(trail.Changes) > 0 || !trail.Open) || late && !trail.Open {
		reason = incident.HasChanges
		if n := inc.AddNote(incident.HasChanges, now); n != nil {
			trail.Shown = len(trail.Changes)
			n.RecentChanges = &trail
		}
	}
	return incident.Decision{Incident: inc, Reason: reason, Changed: true}
}

// mergeChanges is a trail and what was known before: a later look that could not see
// everything takes nothing away.
func mergeChanges(t report.RecentChanges, known report.RecentChanges) report.RecentChanges {
	for _, c := range known.Changes {
		if !slices.ContainsFunc(t.Changes, func(have report.Change) bool { return have.ID == c.ID }) {
			t.Changes = append(t.Changes, c)
		}
	}
	t.More, t.Shown = max(t.More, known.More), known.Shown
	return t
}

// boundedChanges is a trail, newest first, as long as a record keeps it.
func boundedChanges(t report.RecentChanges) report.RecentChanges {
	slices.SortStableFunc(t.Changes, func(a, b report.Change) int { return b.At.Compare(a.At) })
	kept := min(len(t.Changes), MaxChanges)
	t.Changes, t.More = t.Changes[:kept], t.More+len(t.Changes)-kept
	for i := range t.Changes {
		c := &t.Changes[i]
		for _, word := range []*string{&c.ID, &c.Call, &c.Resource, &c.Actor, &c.Principal, &c.By, &c.Error} {
			*word = short(*word)
		}
	}
	t.LastGood, t.Blind = short(t.LastGood), short(t.Blind)
	return t
}

func short(s string) string {
	if len(s) <= maxWord {
		return s
	}
	return strings.ToValidUTF8(s[:maxWord], "") + "…"
}
