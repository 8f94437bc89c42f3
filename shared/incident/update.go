package incident

import (
	"slices"
	"time"
)

// Update is an incident as it may become.
type Update struct {
	Incident
	Reasons []Reason
	// Was is how urgent it was before the observation; empty unless it was open.
	Was Severity
	// Missed are the launches that missed roll call now.
	Missed   []string
	Touched  bool
	Repeated bool
	Late     bool
	// JoinedNotes are notes on what belongs to it from now on.
	JoinedNotes []Note
}

// Apply makes a step, for its reason.
func (u *Update) Apply(t Transition, now time.Time) {
	if t.None() {
		return
	}
	u.Incident.Apply(t, now)
	u.Because(t.Reason)
}

// Because notes why it changes.
func (u *Update) Because(r Reason) {
	u.Touched = true
	if !slices.Contains(u.Reasons, r) {
		u.Reasons = append(u.Reasons, r)
	}
}
