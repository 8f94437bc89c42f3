package incident

import (
	"slices"
	"time"
)

// Update is an incident as it may become.
type Update struct {
	Incident
	Reasons []Reason
	// Missed are the launches that missed roll call now.
	Missed   []string
	Touched  bool
	Repeated bool
	Late     bool
	// JoinedNotes are notes on what belongs to it from now on.
	JoinedNotes []Note
}

// Apply makes a step, for its reason.
func (f *Update) Apply(t Transition, now time.Time) {
	if t.None() {
		return
	}
	f.Incident.Apply(t, now)
	f.Because(t.Reason)
}

// Because notes why it changes.
func (f *Update) Because(r Reason) {
	f.Touched = true
	if !slices.Contains(f.Reasons, r) {
		f.Reasons = append(f.Reasons, r)
	}
}
