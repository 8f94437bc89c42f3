package incident

import (
	"fmt"
	"slices"
	"time"
)

// MaxNotes bounds the record of an incident whose cause comes and goes. The
// oldest notes are forgotten once they are said.
const MaxNotes = 50

// AddNote puts a reply into the thread, with what the incident is now. It gives
// nil for what is not said while the incident is muted or silenced.
func (inc *Incident) AddNote(r Reason, at time.Time) *Note {
	if inc.hushed(at) && r.DroppedByMute() {
		return nil
	}
	times := 1
	for _, n := range inc.Delivery.Notes {
		if n.Reason == r {
			times = max(times, n.Times+1)
		}
	}
	n := Note{ID: string(r), Times: times, At: at, Reason: r, Then: inc.ForNote(), Line: inc.wantsLine(r, at)}
	if n.Line {
		inc.Lined = at
	}
	if times > 1 {
		n.ID = fmt.Sprintf("%s-%d", r, times)
	}
	inc.Delivery.Notes = append(inc.Delivery.Notes, n)
	for len(inc.Delivery.Notes) > MaxNotes && inc.Delivery.Notes[0].TS != "" {
		inc.Delivery.Notes = inc.Delivery.Notes[1:]
	}
	return &inc.Delivery.Notes[len(inc.Delivery.Notes)-1]
}

// DroppedByMute tells of what a mute drops. Each reply reaches everybody who ever wrote
// in the thread, which is what was muted; the message itself is edited, and says
// how things stand, so nothing is made up for when the mute ends. The end is
// said, and so is whatever a person or a remedy did: the thread is where the
// command stands that undoes it.
func (r Reason) DroppedByMute() bool {
	switch r {
	case Opened, Reopened, FailedAgain, CauseGone, HasMissed, IsWorse, HasJoined, HasChanges, IsProposed, IsDeferred, IsCalled, IsReminded:
		return true
	}
	return false
}

// HasNote tells whether the thread has a reply of a reason since the incident
// last opened.
func (inc *Incident) HasNote(r Reason) bool {
	for _, n := range slices.Backward(inc.Delivery.Notes) {
		switch n.Reason {
		case r:
			return true
		case Opened, Reopened:
			return false
		}
	}
	return false
}
