package response

import (
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/silence"
)

// Silence tells what the silences of a cluster make of an incident of it: nothing is said
// of it, nobody is called and nothing is offered while one hides it. What is there when
// that ends is told then; what came and went meanwhile is on record alone.
func Silence(inc incident.Incident, list []silence.Silence, now time.Time) incident.Decision {
	nothing := incident.Decision{Incident: inc, Reason: incident.NothingNew}
	if inc.Number == 0 || inc.State == incident.Closed && inc.Silence == nil {
		return nothing
	}
	by, hidden := silence.Of(list, inc.Subject(), now)
	if hidden && inc.State != incident.Closed {
		return hide(inc, by, now)
	}
	if inc.Silence == nil {
		return nothing
	}
	inc = inc.Clone()
	inc.Silence = nil
	inc.Changed = now
	if inc.State == incident.Closed && !inc.Told() {
		inc.Delivery.Notes, inc.Delivery.Dirty, inc.Chart = nil, false, nil // nobody ever heard of it
		return incident.Decision{Incident: inc, Reason: incident.IsUnsilenced, Changed: true}
	}
	inc.Delivery.Dirty = true
	if inc.State != incident.Closed {
		inc.AddEvent(incident.IsUnsilenced, now)
		if inc.Told() {
			inc.AddNote(incident.IsUnsilenced, now)
		}
	}
	return incident.Decision{Incident: inc, Reason: incident.IsUnsilenced, Changed: true}
}

// hide writes down which silence hides an incident.
func hide(inc incident.Incident, by silence.Silence, now time.Time) incident.Decision {
	is := incident.Silenced{ID: by.ID, By: report.User(by.By), At: by.At, Until: by.Ends(now), Reason: by.Reason}
	if inc.Silence != nil && *inc.Silence == is {
		return incident.Decision{Incident: inc, Reason: incident.NothingNew}
	}
	inc = inc.Clone()
	inc.Silence = &is
	inc.Delivery.Dirty = true
	for i := range inc.PendingEvents {
		if e := &inc.PendingEvents[i]; !e.At.Before(now) {
			e.Silenced = true // of this very moment: it opened, and is hidden from the start
		}
	}
	return incident.Decision{Incident: inc, Reason: incident.IsSilenced, Changed: true}
}
