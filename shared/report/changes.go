package report

import (
	"slices"
	"strings"
	"time"
)

// maxChanges and maxWord bound what an incident keeps of CloudTrail: 50 calls of
// at most 2 KB each are a quarter of an item of the table. IAM's longest names
// and ARNs fit.
const (
	maxChanges = 50
	maxWord    = 300
)

// TakeChanges takes in what was changed before an incident began. It is said
// in the thread when there is something, and once more when CloudTrail has
// everything and brought more meanwhile: the message promises that all of it is
// there. What comes in between edits the message.
func TakeChanges(inc Incident, c Changes, now time.Time) Decision {
	switch {
	case slices.Contains(inc.Applied, c.ID):
		return Decision{Incident: inc, Reason: AlreadyApplied}
	case inc.Number == 0 || !c.Opened.Equal(inc.Opened):
		return Decision{Incident: inc, Reason: OutOfDate}
	}
	inc = inc.clone()
	trail := c.Trail
	trail.Shown = 0
	if inc.Trail != nil {
		trail = trail.with(*inc.Trail)
	}
	trail = trail.bounded()
	inc.Trail = &trail
	inc.apply(c.ID)
	inc.Said.Behind = true
	reason := NothingNew
	first, late := !inc.noted(HasChanges), len(trail.Changes) > trail.Shown
	if first && (len(trail.Changes) > 0 || !trail.Open) || !first && late && !trail.Open {
		reason = HasChanges
		if n := inc.addNote(HasChanges, now); n != nil {
			trail.Shown = len(trail.Changes)
			n.Trail = &trail
		}
	}
	return Decision{Incident: inc, Reason: reason, Changed: true}
}

// with is a trail and what was known before: a later look that could not see
// everything takes nothing away.
func (t Trail) with(known Trail) Trail {
	t.Changes = slices.Clone(t.Changes)
	for _, c := range known.Changes {
		if !slices.ContainsFunc(t.Changes, func(have Change) bool { return have.ID == c.ID }) {
			t.Changes = append(t.Changes, c)
		}
	}
	if t.More < known.More {
		t.More = known.More
	}
	t.Shown = known.Shown
	return t
}

// bounded is a trail, newest first, as long as a record keeps it.
func (t Trail) bounded() Trail {
	t.Changes = slices.Clone(t.Changes)
	slices.SortStableFunc(t.Changes, func(a, b Change) int { return b.At.Compare(a.At) })
	if over := len(t.Changes) - maxChanges; over > 0 {
		t.Changes, t.More = t.Changes[:maxChanges], t.More+over
	}
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

// noted tells whether the thread has a reply of a reason since the incident
// last opened.
func (inc *Incident) noted(r Reason) bool {
	for _, n := range slices.Backward(inc.Said.Notes) {
		switch n.Reason {
		case r:
			return true
		case Opened, Reopened:
			return false
		}
	}
	return false
}
