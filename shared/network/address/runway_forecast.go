package address

import (
	"math"
	"time"
)

const (
	// short windows tell a fast fall, and shortest have no time of day.
	short    = 3.0 // hours
	shortest = 1.0
	// farthest is how far ahead the usual days are followed.
	farthest = 14 * perDay
	// margin is by how much of itself a subnet must have less than on other days.
	margin = 0.02
	// least is how much of itself a subnet must have lost over days.
	least = 0.08
)

// Forecast is that of the samples added so far.
func (s *Series) Forecast(need int, now time.Time) Runway {
	r := Runway{Reason: NoTrend, At: s.last.At, Free: s.last.Free, Need: need}
	switch {
	case s.count == 0 || now.Sub(s.last.At) > stale:
		r.Reason = TooFewSamples
		return r
	case s.last.Free <= need:
		r.Reason = Reached
		return r
	case s.count < 4:
		r.Reason = TooFewSamples
		return r
	}
	best, waves := math.Inf(1), false
	var worst fall
	consider := func(f fall) bool {
		left, ok, wave := s.judge(f, need)
		waves = waves || wave
		if ok && left < best {
			best, worst = left, f
		}
		return ok
	}
	end := s.five.end()
	lower, before := s.lower(need)
	if s.windows == nil {
		s.windows = windows()
	}
	for i, w := range s.windows {
		switch {
		case w.hourly || s.five.before(end) < w.spans:
			continue
		case !lower:
			waves = true
			continue
		}
		if f, ok := s.over(i, w, end); ok {
			f.before = before
			consider(f)
		}
	}
	for _, f := range s.longFalls() {
		// Of windows of whole days the shortest counts: in a longer one the fall
		// may have begun.
		if consider(f) && f.usual == nil {
			break
		}
	}
	switch {
	case !math.IsInf(best, 1):
		return s.withFall(r, worst, best)
	case waves && s.falling():
		r.Reason = Wave
	case s.rising():
		r.Reason = Rising
	}
	return r
}

// over is the fall over a window. Long windows end with a quarter or half of an
// hour, and are measured once in it.
func (s *Series) over(i int, w window, end int64) (fall, bool) {
	switch {
	case w.hours() > 6:
		end -= end % 6
	case w.hours() > short:
		end -= end % 3
	}
	known := &s.recent[i]
	if known.end != end || w.hours() <= short {
		known.end = end
		known.fall, known.ok = w.measure(&s.five, end, s.seasonBefore(i, w), 0)
	}
	return known.fall, known.ok
}

// longFalls are the falls over windows of whole hours. They change only as an
// hour ends.
func (s *Series) longFalls() []fall {
	end := s.hours.end() - 1
	if s.longAt == end && end > 0 {
		return s.long
	}
	s.long, s.longAt = s.long[:0], end
	for _, w := range s.windows {
		if !w.hourly || s.hours.before(end) < w.spans {
			continue
		}
		var usual *season
		if w.parts == mostParts {
			if usual = usually(&s.hours, end-w.spans); usual == nil {
				continue
			}
		}
		if f, ok := w.measure(&s.hours, end, usual, least/2*float64(s.last.Total)); ok {
			s.long = append(s.long, f)
		}
	}
	return s.long
}

// seasonBefore is the season before a window, which changes as an hour ends.
func (s *Series) seasonBefore(i int, w window) *season {
	if w.hours() < shortest {
		return nil
	}
	known, until := &s.recent[i], s.hours.end()-1-int64(w.hours())
	if known.until != until {
		known.usual, known.until = usually(&s.hours, until), until
	}
	return known.usual
}

// lower tells whether a subnet has less than on any other day at this time, and
// the least that it had in the week before today at any time and came back from.
func (s *Series) lower(need int) (bool, float64) {
	hour := s.hours.end() - 1
	other, known := low(&s.hours, hour, hour-perDay+2)
	if known && float64(s.last.Free) >= other-margin*float64(s.last.Total) {
		return false, 0
	}
	return true, lowest(&s.hours, hour-2, float64(need))
}

// falling and rising compare the last hour with the third before.
func (s *Series) falling() bool { return s.moved() < 0 }
func (s *Series) rising() bool  { return s.moved() > 0 }

func (s *Series) moved() float64 {
	end := s.five.end()
	before := s.five.at(end - 36)
	if before < 0 {
		return 0
	}
	return s.five.at(end-1) - before
}
