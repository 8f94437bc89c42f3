package slack

import (
	"regexp"
	"strings"
	"time"
)

// clocks are the times that checks write, which have no reader: "15:06:15 UTC",
// "2026-11-20 14:20 UTC".
var clocks = regexp.MustCompile(`(?:(\d{4}-\d{2}-\d{2}) )?\b(\d{2}:\d{2})(?::\d{2})? UTC\b`)

// withClocks appends text with its times as all others of the message are shown: in the
// reader's own zone. Two clocks in one message are a riddle at three in the morning.
func (l *line) withClocks(s string, bold bool) {
	if !strings.Contains(s, " UTC") { // most text has no time
		l.withIDs(s, bold)
		return
	}
	from := 0
	for _, m := range clocks.FindAllStringSubmatchIndex(s, -1) {
		day := ""
		if m[2] >= 0 {
			day = s[m[2]:m[3]]
		}
		at, known := l.page.clockTime(day, s[m[4]:m[5]])
		if !known {
			continue
		}
		l.withIDs(s[from:m[0]], bold)
		if day == "" {
			l.clock(at)
		} else {
			l.dated(at)
		}
		from = m[1]
	}
	l.withIDs(s[from:], bold)
}

// clockTime is the time of a day; without the day, that which is nearest to what the
// message is about.
func (p *page) clockTime(day, clock string) (time.Time, bool) {
	if day != "" {
		at, err := time.Parse("2006-01-02 15:04", day+" "+clock)
		return at, err == nil
	}
	at, err := time.Parse("15:04", clock)
	if err != nil || p.asOf.IsZero() {
		return time.Time{}, false
	}
	y, m, d := p.asOf.UTC().Date()
	at = time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, time.UTC)
	switch away := at.Sub(p.asOf); {
	case away > 12*time.Hour:
		at = at.AddDate(0, 0, -1)
	case away < -12*time.Hour:
		at = at.AddDate(0, 0, 1)
	}
	return at, true
}
