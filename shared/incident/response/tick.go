package response

import (
	"rollcall/shared/incident"
	"time"
)

// unheard is how long after an approval its run should have been told:
// remediate is woken within seconds, its queue tries again for some minutes.
// unended is the same of one that was written ahead: a run of deletes takes up
// to a quarter of an hour (Lambda), and may have to be begun again.
const (
	unheard = 15 * time.Minute
	unended = time.Hour
)

// Tick tells what the passing of time makes of an incident: plans expire, mutes
// end, people are called again. It is given each incident whenever its cluster
// is looked at, every five minutes at the least.
func Tick(inc incident.Incident, now time.Time, policy incident.Policy) incident.Decision {
	if inc.Number == 0 {
		return incident.Decision{Incident: inc, Reason: incident.NothingNew}
	}
	inc = inc.Clone()
	top := incident.NothingNew
	for _, step := range []func(*incident.Incident, time.Time) incident.Reason{expireOffers, wakeDeferred, endMute, withdrawCalls, closeUnheard} {
		if r := step(&inc, now); r != incident.NothingNew {
			top = r
		}
	}
	if r := callPeople(&inc, now, policy); r != incident.NothingNew {
		top = r
	}
	if top == incident.NothingNew {
		return incident.Decision{Incident: inc, Reason: incident.NothingNew}
	}
	inc.Delivery.Dirty = true
	return incident.Decision{Incident: inc, Reason: top, Changed: true}
}

func expireOffers(inc *incident.Incident, now time.Time) incident.Reason {
	reason := incident.NothingNew
	for i := range inc.Offers {
		o := &inc.Offers[i]
		lost := o.State == incident.Approved && (o.Run == nil && now.Sub(o.Decided) >= unheard || o.Run != nil && now.Sub(o.Run.Began) >= unended)
		if now.Before(o.Expires) || o.State != incident.Offered && !lost {
			continue
		}
		if o.State = incident.Expired; lost {
			o.Says = "it was approved, and nothing was heard of it"
		}
		reason = incident.IsExpired
	}
	return reason
}

func endMute(inc *incident.Incident, now time.Time) incident.Reason {
	if inc.Mute == nil || now.Before(inc.Mute.Until) {
		return incident.NothingNew
	}
	inc.Mute = nil
	return incident.IsUnmuted
}

// closeUnheard closes an incident of which nothing was heard for long.
func closeUnheard(inc *incident.Incident, now time.Time) incident.Reason {
	t := inc.AfterSilence(now)
	if t.None() {
		return incident.NothingNew
	}
	inc.Apply(t, now)
	inc.Changed = now
	inc.AddNote(t.Reason, now)
	inc.AddEvent(t.Reason, now)
	return t.Reason
}
