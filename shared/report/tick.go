package report

import "time"

// unheard is how long after an approval its deed should have been told:
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
func Tick(inc Incident, now time.Time, policy Policy) Decision {
	if inc.Number == 0 {
		return Decision{Incident: inc, Reason: NothingNew}
	}
	inc = inc.clone()
	top := NothingNew
	for _, step := range []func(*Incident, time.Time) Reason{(*Incident).expire, (*Incident).wake, (*Incident).unmute, (*Incident).uncall, (*Incident).giveUpUnheard} {
		if r := step(&inc, now); r != NothingNew {
			top = r
		}
	}
	if r := inc.call(now, policy); r != NothingNew {
		top = r
	}
	if top == NothingNew {
		return Decision{Incident: inc, Reason: NothingNew}
	}
	inc.Said.Behind = true
	return Decision{Incident: inc, Reason: top, Changed: true}
}

func (inc *Incident) expire(now time.Time) Reason {
	reason := NothingNew
	for i := range inc.Offers {
		o := &inc.Offers[i]
		lost := o.State == Approved && (o.Deed == nil && now.Sub(o.Decided) >= unheard || o.Deed != nil && now.Sub(o.Deed.Began) >= unended)
		if now.Before(o.Expires) || o.State != Offered && !lost {
			continue
		}
		if o.State = Expired; lost {
			o.Says = "it was approved, and nothing was heard of it"
		}
		reason = IsExpired
	}
	return reason
}

func (inc *Incident) unmute(now time.Time) Reason {
	if inc.Mute == nil || now.Before(inc.Mute.Until) {
		return NothingNew
	}
	inc.Mute = nil
	return IsUnmuted
}

// giveUpUnheard closes an incident of which nothing was heard for long.
func (inc *Incident) giveUpUnheard(now time.Time) Reason {
	t := inc.AfterSilence(now)
	if t.None() {
		return NothingNew
	}
	inc.Apply(t, now)
	inc.Changed = now
	inc.addNote(t.Reason, now)
	inc.tell(t.Reason, now)
	return t.Reason
}
