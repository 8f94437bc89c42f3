package address

import "math"

// reach is for how long a fall is taken to go on, as a multiple of how long it
// has lasted: one of minutes foretells minutes, one of days a day. Where nobody
// knows the day before, it may be a wave.
func (f fall) reach(known float64) float64 {
	switch {
	case f.hourly && f.usual == nil && f.parts < 6:
		return 0.35
	case f.hourly && f.usual == nil:
		return 0.5
	case f.hourly:
		return 0.65
	case f.hours() < shortest && known < perDay:
		return 0 // whatever happens here every few hours has not been seen yet
	case known < perDay:
		return 0.12
	case f.hours() > shortest && known < 2*perDay+f.hours():
		return 0.3
	case f.hours() < short:
		return 0.7
	}
	return 1.25
}

// familiar is up to how many times as deep as one that went back a fall may go
// back too.
func (f fall) familiar() float64 {
	if f.hours() < short {
		return 2
	}
	return 1.6
}

// steps is of how many equal steps a fall must be made at least: noise and
// deployments that add up are made of few.
func (f fall) steps() float64 {
	n := float64(f.parts - 1)
	switch {
	case f.hourly && f.usual == nil && f.parts < 6:
		return 0.85 * n
	case f.hourly && f.usual == nil:
		return 0.7 * n
	case f.hours() >= short:
		return 0.55 * n
	}
	return max(0.45*n, 1.8)
}

// judge tells in how many hours a fall ends at need, and whether it is to be
// believed.
func (s *Series) judge(f fall, need int) (left float64, ok, wave bool) {
	parts := float64(f.parts - 1)
	if f.even < f.steps() {
		return 0, false, false
	}
	if f.hourly && (f.lost < least*float64(s.last.Total) || !s.stillFalls(f)) {
		return 0, false, false
	}
	if 4*(float64(s.last.Free)-f.usual.at(s.clock())-f.level) > f.lost {
		return 0, false, false // a quarter came back
	}
	if f.usual != nil && (f.lost < f.usual.sways || !f.hourly && f.lost < 3*f.usual.sways) {
		return 0, false, true
	}
	left = s.ends(f, f.perHour, need)
	if left > f.reach(float64(s.hours.before(s.hours.end())))*f.hours() {
		return left, false, false
	}
	if f.hourly {
		return left, true, false
	}
	if left < slot.Hours() {
		return left, false, false // the next look tells
	}
	// It came back from less before, or from as deep a fall.
	free := float64(s.last.Free)
	if free >= f.before && (f.hours() < short || f.even < 0.7*parts || 10*f.stray > f.lost) {
		return left, false, true
	}
	if f.hours() < 2*short {
		span := int64(math.Ceil(f.hours()))
		past := deepest(&s.hours, span+1, s.hours.end()-1-span)
		if f.lost <= f.familiar()*past && (f.hours() < short || free+f.lost-past > float64(need)) {
			return left, false, true
		}
	}
	return left, true, false
}

// stillFalls tells that a fall of days goes on in the last hours, with a quarter
// of its pace at least.
func (s *Series) stillFalls(f fall) bool {
	last := s.hours.end() - 2 // the last whole hour
	hours := max(6, f.spans/8)
	around := func(hour int64) float64 {
		var room [3]float64
		list := room[:0]
		for i := hour - 2; i <= hour; i++ {
			if v := s.hours.at(i); v >= 0 {
				list = append(list, v-f.usual.at(float64(i)+0.5))
			}
		}
		if len(list) == 0 {
			return math.NaN()
		}
		return median(list)
	}
	if f.usual == nil {
		// Whole days are compared with the day before.
		hours = perDay
	}
	lost := around(last-hours) - around(last)
	return math.IsNaN(lost) || 4*lost >= f.perHour*float64(hours)
}
