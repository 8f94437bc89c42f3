package trail

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/incident"

	"rollcall/shared/snapshot"
)

const (
	// Kept is how far back CloudTrail can be asked (LookupEvents: 90 days).
	Kept = 90 * 24 * time.Hour
	// Usual is how far back is looked where no good launch is known: who broke a
	// thing longer ago would have been noticed.
	Usual = 14 * 24 * time.Hour
)

// Window is the time between the last good and the first bad launch.
type Window struct {
	// From is zero where no good one is known.
	From, To time.Time
	// LastGood is the launch that joined last.
	LastGood string

	start, oldest time.Time
}

// WindowOf is the time in which what broke an incident's launches was changed.
// Only a launch proves that all was well that needed what is broken: where the
// cause is about subnets, one in them; else one of the same nodegroups; else one
// of the cluster.
func WindowOf(inc incident.Incident, history []snapshot.Past, now time.Time) Window {
	w := Window{To: inc.Began, oldest: now.Add(-Kept)}
	var subnets []string
	for _, id := range inc.Cause.Covers {
		if strings.HasPrefix(id, "subnet-") {
			subnets = append(subnets, id)
		}
	}
	for _, p := range history {
		if p.End != snapshot.Joined || p.Ready.IsZero() || p.Ready.After(w.To) || p.Ready.Before(w.From) {
			continue
		}
		switch {
		case len(subnets) > 0 && !slices.Contains(subnets, p.Subnet):
			continue
		case len(subnets) == 0 && len(inc.Cause.Nodegroups) > 0 && !slices.Contains(inc.Cause.Nodegroups, p.Nodegroup):
			continue
		}
		w.From, w.LastGood = p.Ready, p.ID
	}
	w.start = w.From
	if w.From.IsZero() {
		w.start = w.To.Add(-Usual)
	}
	if w.start.Before(w.oldest) {
		w.start = w.oldest
		if !w.From.IsZero() {
			w.From = w.oldest
		}
	}
	return w
}

// holds tells whether a change can be what broke the launches. Records are of
// whole seconds.
func (w Window) holds(at time.Time) bool {
	return !at.Before(w.start.Truncate(time.Second)) && !at.After(w.To)
}
