package chart

import (
	"time"

	"rollcall/shared/node/spot"
)

// What is drawn of a report's time: at least an hour, and all of it if what is to
// be seen takes most of it. A subnet gets its addresses back as nodes end, which
// is followed for as long as recovery; what fitted is shown if it is near.
const (
	shortest = time.Hour
	mostOf   = 0.7
	recovery = 90 * time.Minute
	near     = time.Hour
)

// window is the part of a report's time in which something happened: the bursts
// that asked too much, with the subnet's fall and recovery, and the bursts near
// them. Without such bursts it is that of all bursts, and without any that in
// which somebody looked.
func window(r spot.Report, bursts []spot.Burst, lines []subnetLine) (from, to time.Time) {
	var w stretch
	for _, b := range bursts {
		if tooMuch(b) || !b.HadKnown && b.Failed > 0 {
			w.add(b.Began, recovered(b, lines))
		}
	}
	if !w.from.IsZero() {
		core := w
		for _, b := range bursts {
			if b.Began.After(core.from.Add(-near)) && b.Began.Before(core.to.Add(near)) {
				w.add(b.Began, b.Last)
			}
		}
	} else {
		for _, b := range bursts {
			w.add(b.Began, recovered(b, lines))
		}
	}
	if w.from.IsZero() {
		for _, l := range lines {
			w.add(l.samples[0].At, l.samples[len(l.samples)-1].At)
		}
	}
	return w.within(r)
}

// recovered is when a burst's subnet had half of its addresses again.
func recovered(b spot.Burst, lines []subnetLine) time.Time {
	last := b.Last
	for _, l := range lines {
		if l.subnet != b.Subnet {
			continue
		}
		for _, s := range l.samples {
			if s.At.Before(b.Last) || s.At.Sub(b.Last) > recovery {
				continue
			}
			if last = s.At; 2*s.Free >= b.Had && s.At.Sub(b.Last) > time.Minute {
				return last
			}
		}
	}
	return last
}

// stretch is a part of time in the making.
type stretch struct{ from, to time.Time }

func (w *stretch) add(from, to time.Time) {
	if w.from.IsZero() || from.Before(w.from) {
		w.from = from
	}
	for _, t := range []time.Time{from, to} {
		if t.After(w.to) {
			w.to = t
		}
	}
}

// within gives a stretch room on both sides, and keeps it within a report's
// time: what would lie outside goes to the other side.
func (w stretch) within(r spot.Report) (from, to time.Time) {
	whole, span := r.To.Sub(r.From), w.to.Sub(w.from)
	if w.from.IsZero() || whole <= shortest || w.to.Before(r.From) || w.from.After(r.To) {
		return r.From, r.To
	}
	room := max(span/12, (shortest-span)/2, 5*time.Minute)
	from, to = w.from.Add(-room), w.to.Add(room)
	if float64(to.Sub(from)) >= mostOf*float64(whole) {
		return r.From, r.To
	}
	if over := r.From.Sub(from); over > 0 {
		from, to = r.From, to.Add(over)
	}
	if over := to.Sub(r.To); over > 0 {
		from, to = from.Add(-over), r.To
	}
	return from, to
}

// during says when a window is: "20 Nov, 14:20 to 17:40 UTC".
func during(from, to time.Time) string {
	from, to = from.UTC(), to.UTC()
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		return from.Format("2 Jan, 15:04") + " to " + to.Format("15:04") + " UTC"
	}
	return from.Format("2 Jan 15:04") + " to " + to.Format("2 Jan 15:04") + " UTC"
}
