package messagecheck

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const outcomes = "cannot join|will not be able to join|did not join|never joined|has not joined|have not joined|is not Ready|are not Ready"

// The forms in which a message says quantities.
var (
	ofBoth     = regexp.MustCompile(`\b([\d,]+) of (?:its |the )?([\d,]+)\b`)
	standsOut  = regexp.MustCompile(`(?:· |^)([\d,]+)(?: of ([\d,]+))? instances? (?:` + outcomes + `)`)
	notReady   = regexp.MustCompile(`([\d,]+)(?: of ([\d,]+))? new instances? not Ready`)
	missing    = regexp.MustCompile(`([\d,]+) of ([\d,]+) desired nodes? missing`)
	standing   = regexp.MustCompile(`([\d,]+) (joined|(?:is|are) not Ready and no longer checked|(?:is|are) not Ready|(?:is|are) not due yet|ended before joining|(?:is|are) not listed by name)`)
	wasAll     = regexp.MustCompile(`([\d,]+) instances? affected`)
	nowFree    = regexp.MustCompile(`\b(subnet-[0-9a-f]+)\b[^.;]{0,60}? has ([\d,]+) free address|\b(subnet-[0-9a-f]+)\b[^.;]{0,80}?, (?:now )?([\d,]+) free(?: addresses)?\b`)
	interval   = regexp.MustCompile(`([\d.]+) % to ([\d.]+) %`)
	plainClock = regexp.MustCompile(`\b\d{2}:\d{2}(?::\d{2})? (?:UTC|GMT|[+-]\d{4})|\b\d{1,2}:\d{2} ?[ap]m\b`)
	stamp      = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}`)
	outageSpan = regexp.MustCompile(`^✅.* after ((?:\d+ (?:s|min|h|d) ?)+)`)
)

// vague is an interval that says nothing: nearly all that there is.
const vague = 85.0

// Contradictions are what a message says against itself. Reply tells that it stands in a
// thread, where lists of evidence keep the times that AWS wrote.
func Contradictions(blocks []byte, reply bool) ([]string, error) {
	lines, err := Read(blocks)
	if err != nil {
		return nil, err
	}
	var found []string
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, l := range lines {
		for _, m := range ofBoth.FindAllStringSubmatch(l.Text, -1) {
			if !l.Copied && amount(m[1]) > amount(m[2]) {
				say("%q is more than all", m[0])
			}
		}
		for _, m := range interval.FindAllStringSubmatch(l.Text, -1) {
			low, high := fraction(m[1]), fraction(m[2])
			if low > high || high-low >= vague {
				say("the interval %q says nothing", m[0])
			}
		}
		if !l.Copied && l.Label != "Picture" && l.Label != Asked {
			// 00:00 UTC is where a day of a summary begins, and no moment.
			if clock := plainClock.FindString(strings.ReplaceAll(l.Text, " 00:00 UTC", "")); clock != "" {
				say("%q is not in the reader's zone, as all other times are", clock)
			}
			if at := stamp.FindString(l.Text); at != "" {
				say("%q is a time for machines", at)
			}
		}
	}
	if reply {
		return found, nil
	}
	found = append(found, counts(lines)...)
	found = append(found, times(lines)...)
	found = append(found, free(lines)...)
	found = append(found, asked(lines)...)
	found = append(found, arithmetic(lines)...)
	return found, nil
}

// counts holds how many instances the first line, Impact and the standings tell of.
func counts(lines []Line) (found []string) {
	if len(lines) == 0 {
		return nil
	}
	type count struct{ out, all int }
	told := map[string]count{}
	note := func(where string, m []string) {
		c := count{out: amount(m[1]), all: amount(m[1])}
		if m[2] != "" {
			c.all = amount(m[2])
		}
		told[where] = c
	}
	if m := standsOut.FindStringSubmatch(lines[0].Text); m != nil {
		note("the first line", m)
	}
	for _, l := range lines[1:] {
		if m := notReady.FindStringSubmatch(l.Text); m != nil && l.Label == "Impact" {
			note("Impact", m)
		}
		if standings := standing.FindAllStringSubmatch(l.Text, -1); len(standings) > 1 && (l.Label == "Impact" || l.Label == "Since" || l.Label == "Was") {
			var c count
			for _, s := range standings {
				c.all += amount(s[1])
				if s[2] != "joined" {
					c.out += amount(s[1])
				}
			}
			if m := wasAll.FindStringSubmatch(l.Text); m != nil && amount(m[1]) != c.all {
				found = append(found, fmt.Sprintf("%s affected, and how they stand makes %d", m[1], c.all))
			}
			told["how they stand"] = c
		}
	}
	places := []string{"the first line", "Impact", "how they stand"}
	for n, a := range places {
		for _, b := range places[n+1:] {
			x, known := told[a]
			y, both := told[b]
			if known && both && x != y {
				found = append(found, fmt.Sprintf("%s tells of %d of %d, %s of %d of %d", a, x.out, x.all, b, y.out, y.all))
			}
		}
	}
	return found
}

// times holds the order in which things can be, and the span that the first line tells.
func times(lines []Line) (found []string) {
	var began, checked time.Time
	for _, l := range lines {
		switch {
		case (l.Label == "Impact" || l.Label == "Since") && len(l.Times) > 0:
			began = l.Times[0]
		case (l.Label == "When" || l.Label == "Was") && len(l.Times) > 0:
			if !slices.IsSortedFunc(l.Times, time.Time.Compare) {
				found = append(found, fmt.Sprintf("%q: one thing ends before it began", l.Text))
			}
			if span := outageSpan.FindStringSubmatch(lines[0].Text); span != nil && l.Label == "When" {
				began, ended := l.Times[0], l.Times[len(l.Times)-1]
				if took := spanOf(span[1]); (ended.Sub(began) - took).Abs() > rounded(took) {
					found = append(found, fmt.Sprintf("the first line says %s, and %q is %s long", span[1], l.Text, ended.Sub(began)))
				}
			}
		case strings.Contains(l.Text, "checked ") && len(l.Times) > 0 && l.Label == "":
			checked = l.Times[len(l.Times)-1]
		}
	}
	if !began.IsZero() && !checked.IsZero() && checked.Before(began.Truncate(time.Minute)) {
		found = append(found, fmt.Sprintf("last checked %s, before it began %s", checked.Format(time.TimeOnly), began.Format(time.TimeOnly)))
	}
	return found
}

// rounded is how far a span may be from the two times that it lies between: half of its
// smallest unit, and the seconds to which each of them is cut.
func rounded(span time.Duration) time.Duration {
	switch {
	case span < 2*time.Minute:
		return 2 * time.Second
	case span < 48*time.Hour:
		return 32 * time.Second
	}
	return 31 * time.Minute
}

// free holds that a subnet has one number of free addresses, wherever it is told.
func free(lines []Line) (found []string) {
	told := map[string]string{}
	for _, l := range lines {
		if l.Copied {
			continue
		}
		for _, m := range nowFree.FindAllStringSubmatch(l.Text, -1) {
			subnet, n := m[1]+m[3], m[2]+m[4]
			if before, known := told[subnet]; known && before != n {
				found = append(found, fmt.Sprintf("%s has %s free addresses and %s", subnet, before, n))
			}
			told[subnet] = n
		}
	}
	return found
}

func amount(s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		return -1
	}
	return n
}

func fraction(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return -1
	}
	return f
}

// spanOf reads "3 h 14 min".
func spanOf(s string) (d time.Duration) {
	words := strings.Fields(s)
	for n := 0; n+1 < len(words); n += 2 {
		unit := map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[words[n+1]]
		d += time.Duration(amount(words[n])) * unit
	}
	return d
}
