package report

import (
	"fmt"
	"time"
)

// maxNotes bounds the record of an incident whose cause comes and goes. The
// oldest notes are forgotten once they are said.
const maxNotes = 50

// addNote puts a reply into the thread, with what the incident is now. It gives
// nil for what is not said while the incident is muted.
func (inc *Incident) addNote(r Reason, at time.Time) *Note {
	if inc.muted(at) && r.waits() {
		return nil
	}
	times := 1
	for _, n := range inc.Said.Notes {
		if n.Reason == r {
			times = max(times, n.Times+1)
		}
	}
	n := Note{ID: string(r), Times: times, At: at, Reason: r, Then: inc.then()}
	if times > 1 {
		n.ID = fmt.Sprintf("%s-%d", r, times)
	}
	inc.Said.Notes = append(inc.Said.Notes, n)
	for len(inc.Said.Notes) > maxNotes && inc.Said.Notes[0].TS != "" {
		inc.Said.Notes = inc.Said.Notes[1:]
	}
	return &inc.Said.Notes[len(inc.Said.Notes)-1]
}

// waits tells of what a mute drops. Each reply reaches everybody who ever wrote
// in the thread, which is what was muted; the message itself is edited, and says
// how things stand, so nothing is made up for when the mute ends. The end is
// said, and so is whatever a person or a remedy did: the thread is where the
// command stands that undoes it.
func (r Reason) waits() bool {
	switch r {
	case Opened, Reopened, FailedAgain, CauseGone, HasMissed, HasJoined, HasChanges, IsProposed, IsDeferred, IsCalled, IsReminded:
		return true
	}
	return false
}
