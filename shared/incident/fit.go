package incident

import (
	"encoding/json"
	"fmt"
	"slices"

	"rollcall/shared/report"
)

// Fit gives the incident with as little left out as makes its record at most
// limit bytes: first the details of what nobody has been told for long, then
// those of the rest. What happened, how often, and to how many always stays.
func (inc Incident) Fit(limit int) Incident {
	if inc.Size() <= limit {
		return inc
	}
	inc = inc.Clone()
	for _, shorten := range []func(*Incident){
		// A picture is drawn again in five minutes.
		func(i *Incident) { i.Chart = i.Chart.without() },
		func(i *Incident) { i.shortenUntold(2) },
		func(i *Incident) { i.shortenNotes(3) },
		func(i *Incident) { i.fewerUntold(50) },
		func(i *Incident) { i.shortenTrail(10) },
		func(i *Incident) { i.fewerOffers() },
		func(i *Incident) { i.shortenUntold(0) },
		func(i *Incident) { i.shortenNotes(0) },
		func(i *Incident) { i.shortenLaunches() },
		func(i *Incident) { i.Cause.Evidence, i.ClearedBy = First(i.Cause.Evidence, 5), First(i.ClearedBy, 5) },
		func(i *Incident) { i.Facts = First(i.Facts, 5) },
		func(i *Incident) { i.fewerNotes(10) },
		func(i *Incident) { i.fewerUntold(10) },
	} {
		shorten(&inc)
		if inc.Size() <= limit {
			return inc
		}
	}
	return inc
}

// Size is of the record. What cannot be encoded has none: writing it tells.
func (inc Incident) Size() int {
	body, err := json.Marshal(inc)
	if err != nil {
		return 0
	}
	return len(body)
}

// shortenUntold leaves out the lists of all but the newest events. An event
// says how many instances there are without naming them.
func (inc *Incident) shortenUntold(whole int) {
	for i := range max(0, len(inc.PendingEvents)-whole) {
		e := &inc.PendingEvents[i]
		e.Evidence, e.Instances, e.Covers, e.Blind = nil, nil, nil, nil
	}
}

// fewerUntold forgets changes, oldest first: who missed one is told by the
// next how things stand. What opened and ended is told.
func (inc *Incident) fewerUntold(most int) {
	inc.PendingEvents = forgetFirst(inc.PendingEvents, most, func(e Event) bool { return e.Kind == EventChanged || e.Kind == EventCheckWanted })
}

// shortenNotes leaves out the lists of all but the newest unsent notes.
func (inc *Incident) shortenNotes(whole int) {
	for _, n := range slices.Backward(inc.Delivery.Notes) {
		if n.TS == "" {
			whole--
		}
		if whole >= 0 || n.TS != "" {
			continue
		}
		i := slices.IndexFunc(inc.Delivery.Notes, func(o Note) bool { return o.ID == n.ID })
		note := &inc.Delivery.Notes[i]
		note.Evidence, note.Facts, note.Blind, note.Instances = nil, nil, nil, First(note.Instances, 5)
		note.RecentChanges, note.Offer = nil, nil // the message has them
		if note.Then != nil {
			then := *note.Then
			then.ByStatus, then.ClearedBy, then.Launches = nil, nil, nil
			note.Then = &then
		}
	}
}

// fewerNotes forgets unsent notes about what comes and goes, oldest first; the
// message itself says how things stand.
func (inc *Incident) fewerNotes(most int) {
	inc.Delivery.Notes = forgetFirst(inc.Delivery.Notes, most, func(n Note) bool {
		return n.TS == "" && (n.Reason == CauseGone || n.Reason == FailedAgain || n.Reason == HasMissed)
	})
}

// forgetFirst drops members that may go, the first first, until at most so
// many are left.
func forgetFirst[T any](list []T, most int, may func(T) bool) []T {
	over := len(list) - most
	return slices.DeleteFunc(list, func(x T) bool {
		if over <= 0 || !may(x) {
			return false
		}
		over--
		return true
	})
}

// shortenLaunches cuts why instances ended, to what a message shows.
func (inc *Incident) shortenLaunches() {
	const longest = 120 // runes
	for i := range inc.Launches {
		if why := []rune(inc.Launches[i].EndedWhy); len(why) > longest {
			inc.Launches[i].EndedWhy = string(why[:longest-1]) + "…"
		}
	}
}

// MaxFacts is how many facts are kept: a thread shows twenty. A cluster may
// have 450 nodegroups, each with its own.
const MaxFacts = 30

// BoundedFacts is at most maxFacts facts, and how many there were.
func BoundedFacts(facts []report.Fact) []report.Fact {
	if len(facts) <= MaxFacts {
		return facts
	}
	return append(First(facts, MaxFacts), report.Fact{What: "More", Value: fmt.Sprintf("%d more were left out", len(facts)-MaxFacts)})
}

// shortenTrail keeps the newest changes; the others are counted.
func (inc *Incident) shortenTrail(most int) {
	if inc.RecentChanges == nil {
		return
	}
	trail := *inc.RecentChanges
	kept := First(trail.Changes, most)
	trail.More += len(trail.Changes) - len(kept)
	trail.Changes = kept
	inc.RecentChanges = &trail
}

// fewerOffers forgets offers of which nothing can come any more, but for the
// last one that was decided and what helped.
func (inc *Incident) fewerOffers() {
	last := len(inc.Offers) - 1
	kept := inc.Offers[:0]
	for i, o := range inc.Offers {
		if i == last || !o.Over() || o.State == Helped {
			kept = append(kept, o)
		}
	}
	inc.Offers = kept
}
