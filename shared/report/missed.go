package report

import (
	"slices"
	"time"
)

// follow takes in how the affected launches stand now. A closed incident
// follows them too: its message counts them.
func (d *reconciler) follow(f *draft) {
	f.missed, f.changed = f.update(d.obs.Launches)
	if f.State == Closed || len(f.missed) == 0 && f.unsentMissed(d.now) == nil {
		return
	}
	for _, l := range d.obs.Launches {
		// How those stood that are not kept by name is not remembered: they are
		// counted with the others of their look.
		if _, more := slices.BinarySearch(f.More, l.Instance); more && (l.Standing == Missed || l.Standing == GivenUp) {
			f.missed = append(f.missed, l.Instance)
		}
	}
	if len(f.missed) > 0 {
		f.because(HasMissed)
	}
}

// unsentMissed is the note on those who missed, if it was made now and is
// still to be sent: the parts of one look are one note.
func (f *draft) unsentMissed(now time.Time) *Note {
	for i, n := range f.Said.Notes {
		if n.Reason == HasMissed && n.TS == "" && n.Sending.IsZero() && n.At.Equal(now) {
			return &f.Said.Notes[i]
		}
	}
	return nil
}
