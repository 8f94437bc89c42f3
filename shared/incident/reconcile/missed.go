package reconcile

import (
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// updateLaunches takes in how the affected launches stand now. A closed incident
// follows them too: its message counts them.
func (d *reconciler) updateLaunches(f *incident.Update) {
	f.Missed, f.Touched = f.UpdateLaunches(d.Observation.Launches)
	if f.State == incident.Closed || len(f.Missed) == 0 && unsentMissed(f, d.Now) == nil {
		return
	}
	for _, l := range d.Observation.Launches {
		// How those stood that are not kept by name is not remembered: they are
		// counted with the others of their look.
		if _, more := slices.BinarySearch(f.More, l.Instance); more && (l.Status == report.Missed || l.Status == report.GivenUp) {
			f.Missed = append(f.Missed, l.Instance)
		}
	}
	if len(f.Missed) > 0 {
		f.Because(incident.HasMissed)
	}
}

// unsentMissed is the note on those who missed, if it was made now and is
// still to be sent: the parts of one look are one note.
func unsentMissed(f *incident.Update, now time.Time) *incident.Note {
	for i, n := range f.Delivery.Notes {
		if n.Reason == incident.HasMissed && n.TS == "" && n.Sending.IsZero() && n.At.Equal(now) {
			return &f.Delivery.Notes[i]
		}
	}
	return nil
}
