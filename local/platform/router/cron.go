package router

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// cron is an expression with the six fields of EventBridge: minutes, hours,
// day of month, month, day of week, year.
type cron struct {
	where                         *time.Location
	minutes, hours, months, years map[int]bool
	// day tells if the schedule fires on a day.
	day func(time.Time) bool
}

// lastYear is where the year field of EventBridge ends.
const lastYear = 2199

func parseCron(body string, where *time.Location) (expression, error) {
	f := strings.Fields(body)
	if len(f) != 6 {
		return nil, fmt.Errorf("cron(%s): want 6 fields, found %d", body, len(f))
	}
	c := cron{where: where}
	for _, x := range []struct {
		into     *map[int]bool
		text     string
		from, to int
		names    []string
	}{
		{&c.minutes, f[0], 0, 59, nil},
		{&c.hours, f[1], 0, 23, nil},
		{&c.months, f[3], 1, 12, []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
		{&c.years, f[5], 1970, lastYear, nil},
	} {
		set, err := parseSet(x.text, x.from, x.to, x.names)
		if err != nil {
			return nil, fmt.Errorf("cron(%s): %w", body, err)
		}
		*x.into = set
	}
	var err error
	switch {
	case (f[2] == "?") == (f[4] == "?"):
		err = errors.New("one of day of month and day of week must be ?, and only one")
	case f[4] == "?":
		c.day, err = parseDayOfMonth(f[2])
	default:
		c.day, err = parseDayOfWeek(f[4])
	}
	if err != nil {
		return nil, fmt.Errorf("cron(%s): %w", body, err)
	}
	return c, nil
}

// parseSet reads *, a, a-b, a/n, */n, a-b/n and lists of them.
func parseSet(text string, from, to int, names []string) (map[int]bool, error) {
	set := make(map[int]bool)
	for _, part := range strings.Split(text, ",") {
		span, step, stepped := strings.Cut(part, "/")
		n := 1
		if stepped {
			var err error
			if n, err = strconv.Atoi(step); err != nil || n < 1 {
				return nil, fmt.Errorf("%q is not understood", part)
			}
		}
		low, high := from, to
		if span != "*" {
			a, b, ranged := strings.Cut(span, "-")
			var err error
			if low, err = number(a, from, to, names); err != nil {
				return nil, err
			}
			switch {
			case ranged:
				if high, err = number(b, from, to, names); err != nil {
					return nil, err
				}
			case !stepped:
				high = low
			}
		}
		if low > high {
			return nil, fmt.Errorf("%q runs backwards", part)
		}
		for i := low; i <= high; i += n {
			set[i] = true
		}
	}
	return set, nil
}

func number(text string, from, to int, names []string) (int, error) {
	for i, name := range names {
		if strings.EqualFold(name, text) {
			return from + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < from || n > to || text[0] == '+' {
		return 0, fmt.Errorf("%q is not between %d and %d", text, from, to)
	}
	return n, nil
}

func parseDayOfMonth(text string) (func(time.Time) bool, error) {
	if text == "L" {
		return func(t time.Time) bool { return t.AddDate(0, 0, 1).Day() == 1 }, nil
	}
	if day, ok := strings.CutSuffix(text, "W"); ok {
		n, err := number(day, 1, 31, nil)
		if err != nil {
			return nil, err
		}
		return func(t time.Time) bool { return t.Day() == nearestWeekday(t, n) }, nil
	}
	set, err := parseSet(text, 1, 31, nil)
	return func(t time.Time) bool { return set[t.Day()] }, err
}

// nearestWeekday returns the weekday nearest to day n of t's month, without
// leaving the month; 0 if the month has no day n.
func nearestWeekday(t time.Time, n int) int {
	at := time.Date(t.Year(), t.Month(), n, 0, 0, 0, 0, time.UTC)
	if at.Month() != t.Month() {
		return 0
	}
	last := at.AddDate(0, 0, 1).Day() == 1
	switch {
	case at.Weekday() == time.Saturday && n == 1:
		return 3
	case at.Weekday() == time.Saturday:
		return n - 1
	case at.Weekday() == time.Sunday && last:
		return n - 2
	case at.Weekday() == time.Sunday:
		return n + 1
	}
	return n
}

// parseDayOfWeek reads days from 1 (Sunday) to 7, with L (Saturday), 6L (the
// month's last Friday) and 3#2 (its second Tuesday).
func parseDayOfWeek(text string) (func(time.Time) bool, error) {
	names := []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
	if text == "L" {
		text = "7"
	}
	if day, ok := strings.CutSuffix(text, "L"); ok {
		n, err := number(day, 1, 7, names)
		return func(t time.Time) bool { return int(t.Weekday()) == n-1 && t.AddDate(0, 0, 7).Month() != t.Month() }, err
	}
	if day, nth, ok := strings.Cut(text, "#"); ok {
		n, err := number(day, 1, 7, names)
		if err != nil {
			return nil, err
		}
		which, err := number(nth, 1, 5, nil)
		return func(t time.Time) bool { return int(t.Weekday()) == n-1 && (t.Day()-1)/7+1 == which }, err
	}
	set, err := parseSet(text, 1, 7, names)
	return func(t time.Time) bool { return set[int(t.Weekday())+1] }, err
}

func (c cron) next(t, _ time.Time) (time.Time, bool) {
	t = t.In(c.where).Truncate(time.Minute).Add(time.Minute)
	for day := t; day.Year() <= lastYear; {
		if !c.years[day.Year()] {
			day = time.Date(day.Year()+1, 1, 1, 0, 0, 0, 0, c.where)
			continue
		}
		if !c.months[int(day.Month())] {
			day = time.Date(day.Year(), day.Month()+1, 1, 0, 0, 0, 0, c.where)
			continue
		}
		// Noon is on this day in every zone; midnight need not be.
		if c.day(time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, time.UTC)) {
			if at, ok := c.within(day, t); ok {
				return at, true
			}
		}
		day = time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, c.where)
	}
	return time.Time{}, false
}

// within returns the first time on a day that is not before t.
func (c cron) within(day, t time.Time) (time.Time, bool) {
	for h := range 24 {
		if !c.hours[h] {
			continue
		}
		for m := range 60 {
			at := time.Date(day.Year(), day.Month(), day.Day(), h, m, 0, 0, c.where)
			// In spring an hour does not exist; time.Date moves it on.
			if c.minutes[m] && !at.Before(t) && at.Hour() == h {
				return at, true
			}
		}
	}
	return time.Time{}, false
}
