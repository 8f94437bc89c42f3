package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Weekly is an hour of each week, in UTC.
type Weekly struct {
	Day  time.Weekday
	Hour int
}

// weekdays are the days as the settings and silences spell them, from Sunday on.
func weekdays() []string { return []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"} }

// parseWeekly reads "off", or a day and an hour: "Mon/08:00".
func parseWeekly(text string) (*Weekly, error) {
	if text == "off" {
		return nil, nil
	}
	day, clock, _ := strings.Cut(text, "/")
	i := slices.IndexFunc(weekdays(), func(d string) bool { return strings.EqualFold(d, day) })
	digits, whole := strings.CutSuffix(clock, ":00")
	hour, err := strconv.ParseUint(digits, 10, 8) // takes no sign
	if i < 0 || !whole || len(digits) != 2 || err != nil || hour > 23 {
		return nil, fmt.Errorf("%q is not a day and a full hour in UTC, like Mon/08:00, nor off", text)
	}
	return &Weekly{Day: time.Weekday(i), Hour: int(hour)}, nil
}

// Last is when it was due last, at or before a time.
func (w Weekly) Last(now time.Time) time.Time {
	now = now.UTC()
	back := (int(now.Weekday()) - int(w.Day) + 7) % 7
	due := time.Date(now.Year(), now.Month(), now.Day()-back, w.Hour, 0, 0, 0, time.UTC)
	if due.After(now) {
		due = due.AddDate(0, 0, -7)
	}
	return due
}

// Week is the time that the message which is due then tells of: the seven UTC days before
// its own.
func (w Weekly) Week(due time.Time) (from, to time.Time) {
	to = due.UTC().Truncate(24 * time.Hour)
	return to.AddDate(0, 0, -7), to
}
