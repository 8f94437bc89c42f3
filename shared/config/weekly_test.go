package config

import (
	"strings"
	"testing"
	"time"
)

func TestWeekly(t *testing.T) {
	for text, want := range map[string]*Weekly{
		"off": nil, "Mon/08:00": {time.Monday, 8}, "fri/15:00": {time.Friday, 15}, "Sun/00:00": {time.Sunday, 0}, "Sat/23:00": {time.Saturday, 23},
	} {
		got, err := parseWeekly(text)
		if err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "on", "Mon", "Mon/8:00", "Mon/08", "Mon/08:30", "Mon/24:00", "Mon/-1:00", "Mon/+8:00", "Monday/08:00", "Mon/08:00/x", "Mon 08:00", "1/08:00"} {
		if got, err := parseWeekly(text); err == nil || !strings.Contains(err.Error(), "is not a day and a full hour in UTC, like Mon/08:00, nor off") {
			t.Errorf("%q: %v, %v; want it refused", text, got, err)
		}
	}
}

func TestWeeklyIsDue(t *testing.T) {
	at := func(text string) time.Time {
		x, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		w              Weekly
		now, due, from string
	}{
		{Weekly{time.Monday, 8}, "2026-11-23 08:00", "2026-11-23 08:00", "2026-11-16 00:00"},
		{Weekly{time.Monday, 8}, "2026-11-23 07:59", "2026-11-16 08:00", "2026-11-09 00:00"},
		{Weekly{time.Monday, 8}, "2026-11-29 23:59", "2026-11-23 08:00", "2026-11-16 00:00"},
		{Weekly{time.Sunday, 0}, "2026-11-23 07:59", "2026-11-22 00:00", "2026-11-15 00:00"},
		{Weekly{time.Saturday, 23}, "2027-01-01 12:00", "2026-12-26 23:00", "2026-12-19 00:00"},
	} {
		due := c.w.Last(at(c.now))
		from, to := c.w.Week(due)
		if !due.Equal(at(c.due)) || !from.Equal(at(c.from)) || to.Sub(from) != 7*24*time.Hour {
			t.Errorf("%+v at %s: due %s, of %s to %s", c.w, c.now, due, from, to)
		}
	}
}

// FuzzWeekly: what is taken is an hour of a week, which was due within the last seven days.
func FuzzWeekly(f *testing.F) {
	for _, text := range []string{"off", "Mon/08:00", "Mon/8:00", "sAT/23:00", "Mon/08:00:00", "/", "Mon/0x:00"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 23, 7, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		w, err := parseWeekly(text)
		if w == nil {
			if err == nil && text != "off" {
				t.Errorf("%q is off", text)
			}
			return
		}
		due := w.Last(now)
		if err != nil || w.Hour < 0 || w.Hour > 23 || due.After(now) || now.Sub(due) >= 7*24*time.Hour || due.Weekday() != w.Day || due.Hour() != w.Hour {
			t.Errorf("%q is %+v (%v), due %s", text, w, err, due)
		}
	})
}
