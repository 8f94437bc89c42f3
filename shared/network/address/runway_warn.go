package address

import (
	"slices"
	"time"

	"rollcall/shared/snapshot"
)

// held is how long a warning stays that is not due any more.
const held = 6 * time.Hour

// Warn is Warn with the samples added so far; it is to be asked after each.
func (s *Series) Warn(need int, horizon time.Duration, now time.Time) (Runway, bool) {
	r := s.Forecast(need, now)
	switch {
	case r.Falls() && r.Within(horizon, now):
		s.due, s.dueAt = r, now
		return r, true
	case r.Reason == TooFewSamples || r.Reason == Reached:
		return r, false
	case s.dueAt.IsZero() || now.Sub(s.dueAt) > held || s.due.Need != need || !now.Before(s.due.Empty):
		return r, false
	case s.due.Reason == Fast && now.Sub(s.dueAt) > s.dueAt.Sub(s.due.Since):
		return r, false // it stopped, for as long as it had lasted
	case 4*(r.Free-s.due.Free) > s.due.From-s.due.Free:
		return r, false // a quarter came back
	case r.Falls():
		return r, true
	}
	stays := s.due
	stays.At, stays.Free = r.At, r.Free
	return stays, true
}

func replay(samples []snapshot.Sample, need int, horizon time.Duration, now time.Time) (Runway, bool) {
	samples = slices.Clone(samples)
	slices.SortStableFunc(samples, func(a, b snapshot.Sample) int { return a.At.Compare(b.At) })
	s := &Series{}
	for _, x := range samples {
		if x.At.After(now) {
			break
		}
		s.Add(x)
		if now.Sub(x.At) < held {
			s.Warn(need, horizon, x.At)
		}
	}
	return s.Warn(need, horizon, now)
}
