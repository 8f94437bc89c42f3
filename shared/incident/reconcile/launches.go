package reconcile

import (
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// updateLaunches takes in how the affected launches stand now. A closed incident
// follows them too: its message counts them.
func (rec *reconciler) updateLaunches(u *incident.Update) {
	u.Missed, u.Touched = u.UpdateLaunches(rec.Observation.Launches)
	if u.State == incident.Closed || len(u.Missed) == 0 && unsentMissed(u, rec.Now) == nil {
		return
	}
	for _, l := range rec.Observation.Launches {
		// How those stood that are not kept by name is not remembered: they are
		// counted with the others of their look.
		if _, more := slices.BinarySearch(u.More, l.Instance); more && (l.Status == report.Missed || l.Status == report.GivenUp) {
			u.Missed = append(u.Missed, l.Instance)
		}
	}
	if len(u.Missed) > 0 {
		u.Because(incident.HasMissed)
	}
}

// unsentMissed is the note on those who missed, if it was made now and is
// still to be sent: the parts of one look are one note.
func unsentMissed(u *incident.Update, now time.Time) *incident.Note {
	for i, n := range u.Delivery.Notes {
		if n.Reason == incident.HasMissed && n.TS == "" && n.Sending.IsZero() && n.At.Equal(now) {
			return &u.Delivery.Notes[i]
		}
	}
	return nil
}

// had is how long launches had to become Ready when they were looked at: of several, the
// least; 0 where that is not known.
func (rec *reconciler) had(instances []string) (least time.Duration) {
	for _, id := range instances {
		l := rec.Observation.LaunchOf(id)
		if d := rec.Observation.At.Sub(l.Started); !l.Started.IsZero() && (least == 0 || d < least) {
			least = d
		}
	}
	return max(least, 0)
}
