package address

import (
	"math"
	"slices"
)

// season is what a subnet usually has at a time of the day, or of the week, by
// the days before a window. A nil season is 0 at any time.
type season struct {
	hours  *grid
	until  int64 // index of the hour from which on nothing counts
	period int64 // 24 or 168 hours
	// days are the means of the days before the window, the last first: what was
	// there days ago is taken as if it had been just before the window.
	days []float64
	// sways is how much one day differs from the day before at the same time: half
	// as much again as two of three hours differ by at most.
	sways float64
	known [168]float64
	done  [168]bool
}

const (
	perDay  = 24
	perWeek = 7 * 24
	// longest is how many days before a window count.
	longest = 7
)

// usually is the season before an hour: that of the week where a week is known,
// else that of the day. It is nil where not even a day is known, and as much
// more as tells whether that fell itself.
func usually(hours *grid, until int64) *season {
	known := hours.before(until)
	if known < perDay+6 {
		return nil
	}
	s := &season{hours: hours, until: until, period: perDay}
	var room [perWeek]float64
	usual := share(differ(hours, until, perDay, nothing, room[:0]), 4, 5)
	s.days = means(hours, until)
	// Of a day or two it could be the fall itself that makes them differ.
	if known >= 3*perDay {
		s.sways = 1.5 * share(differ(hours, until, perDay, s.trend, room[:0]), 2, 3)
	}
	if known > perWeek+2*perDay && !s.wasFalling() && 2*share(differ(hours, until, perWeek, nothing, room[:0]), 4, 5) < usual {
		s.period, s.days = perWeek, nil
	}
	return s
}

// wasFalling tells that the days before the window had less from one to the next, most
// of them: what is a week old then says little of today.
func (s *season) wasFalling() bool {
	falls := 0
	for i := 1; i < len(s.days); i++ {
		if s.days[i-1] < s.days[i] {
			falls++
		}
	}
	return 5*falls >= 3*(len(s.days)-1)
}

func nothing(int64) float64 { return 0 }

// differ is how much the hours of the week before an hour differ from those a
// period before, both without the trend; of what there is.
func differ(hours *grid, until, period int64, trend func(int64) float64, list []float64) []float64 {
	for i := until - 1; i >= until-perWeek && i-period >= hours.first; i-- {
		if now, before := hours.at(i), hours.at(i-period); now >= 0 && before >= 0 {
			list = append(list, now-trend(i)-before+trend(i-period))
		}
	}
	// A steady fall makes them no less alike.
	if len(list) > 0 {
		middle := median(list)
		for i := range list {
			list[i] = math.Abs(list[i] - middle)
		}
		slices.Sort(list)
	}
	return list
}

// share is what some of so many are below, of a sorted list.
func share(list []float64, some, of int) float64 {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)*some/of]
}

// means are those of the days before an hour, the last first, as far as there are
// samples of each.
func means(hours *grid, until int64) []float64 {
	var list []float64
	for day := int64(1); day <= longest+1; day++ {
		sum, n := 0.0, 0
		for i := max(until-day*perDay, hours.first); i < until-(day-1)*perDay; i++ {
			if v := hours.at(i); v >= 0 {
				sum, n = sum+v, n+1
			}
		}
		if n < perDay/2 {
			break
		}
		list = append(list, sum/float64(n))
	}
	return list
}

// trend is how much more there was at an hour than just before the window, by the
// line through the means of days.
func (s *season) trend(hour int64) float64 {
	if len(s.days) < 2 {
		return 0
	}
	line := func(x float64) float64 { // in days back
		i := min(max(int(x-0.5), 0), len(s.days)-2)
		part := x - 0.5 - float64(i)
		return s.days[i]*(1-part) + s.days[i+1]*part
	}
	return line((float64(s.until-hour)-0.5)/perDay) - line(0)
}

// at is what the subnet usually has at an hour, between the middles of hours on
// a straight line.
func (s *season) at(hour float64) float64 {
	if s == nil {
		return 0
	}
	i := math.Floor(hour - 0.5)
	part := hour - 0.5 - i
	return s.of(int64(i))*(1-part) + s.of(int64(i)+1)*part
}

func (s *season) of(hour int64) float64 {
	k := hour % s.period
	if !s.done[k] {
		s.known[k], s.done[k] = s.look(hour), true
	}
	return s.known[k]
}

// look is the median of the same hours before: of the last two weeks those
// beside them too, or of the last days.
func (s *season) look(hour int64) float64 {
	back := (hour-s.until)/s.period + 1
	if hour < s.until {
		back = 0
	}
	var list [longest]float64
	n := 0
	for i := hour - back*s.period; n < len(list) && i >= s.hours.first-1; i -= s.period {
		beside := int64(0)
		if s.period == perWeek {
			beside = 1
		}
		for k := i - beside; k <= i+beside && n < len(list); k++ {
			if v := s.hours.at(k); v >= 0 && k < s.until {
				list[n] = v - s.trend(k)
				n++
			}
		}
	}
	if n == 0 {
		return s.hours.at(s.hours.first)
	}
	return median(list[:n])
}

// low is the least that the subnet had at a time of the day, one hour more or
// less, in the days before a window; false where none is known.
func low(hours *grid, hour, until int64) (float64, bool) {
	least, known := math.Inf(1), false
	for day, i := 0, hour-perDay; day < longest+1 && i >= hours.first-1; i -= perDay {
		if i+1 >= until {
			continue
		}
		day++
		for k := i - 1; k <= i+1; k++ {
			if v := hours.at(k); v >= 0 {
				least, known = min(least, v), true
			}
		}
	}
	return least, known
}

// deepest is how much the subnet lost at most within some hours, in the week
// before an hour, of what it had back since.
func deepest(hours *grid, within, until int64) float64 {
	most := 0.0
	for i := max(hours.first, until-perWeek); i < until; i++ {
		v := hours.at(i)
		if v < 0 {
			continue
		}
		top := v
		for k := max(i-within, hours.first); k < i; k++ {
			top = max(top, hours.at(k))
		}
		most = max(most, top-v)
	}
	return most
}

// lowest is the least that the subnet had in the week before an hour, but for
// days on which it had no more than need: that is what is to be foretold.
func lowest(hours *grid, until int64, need float64) float64 {
	least := math.Inf(1)
	for day := until - perWeek; day < until; day += perDay {
		low := math.Inf(1)
		for i := max(day, hours.first); i < min(day+perDay, until); i++ {
			if v := hours.at(i); v >= 0 {
				low = min(low, v)
			}
		}
		if low > need {
			least = min(least, low)
		}
	}
	return least
}
