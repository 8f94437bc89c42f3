package silence

import "time"

// Window is the same hours of each week, in UTC: clocks that are put forward do not move
// it.
type Window struct {
	Day time.Weekday `json:"day"`
	// From and To are times of the day; To is on the next day where it is not after From.
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
}

const day = 24 * time.Hour

func (w Window) sound() bool {
	in := func(d time.Duration) bool { return d >= 0 && d < day }
	return w.Day >= time.Sunday && w.Day <= time.Saturday && in(w.From) && in(w.To) && w.From != w.To
}

// lasts is how long the window is.
func (w Window) lasts() time.Duration {
	if w.To > w.From {
		return w.To - w.From
	}
	return w.To - w.From + day
}

// last is when the window began last, at or before a time.
func (w Window) last(now time.Time) time.Time {
	now = now.UTC()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	back := (int(now.Weekday()) - int(w.Day) + 7) % 7
	began := midnight.AddDate(0, 0, -back).Add(w.From)
	if began.After(now) {
		began = began.AddDate(0, 0, -7)
	}
	return began
}

// covers tells whether a time is within the window, and when that ends.
func (w Window) covers(now time.Time) (ends time.Time, yes bool) {
	ends = w.last(now).Add(w.lasts())
	return ends, now.Before(ends)
}
