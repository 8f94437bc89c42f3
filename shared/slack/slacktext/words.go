package slacktext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Count writes "1 instance", "12 instances", "1,200 instances".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + plural(noun)
}

func plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "ss"):
		return noun + "es"
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay"):
		return strings.TrimSuffix(noun, "y") + "ies"
	}
	return noun + "s"
}

// Number writes thousands with commas.
func Number(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Ordinal writes "2nd", "3rd", "11th".
func Ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// Span writes a duration as a person would say it: "58 s", "14 min", "2 h 5 min".
func Span(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	pair := func(big, small int, bigUnit, smallUnit string) string {
		if small == 0 {
			return fmt.Sprintf("%d %s", big, bigUnit)
		}
		return fmt.Sprintf("%d %s %d %s", big, bigUnit, small, smallUnit)
	}
	seconds := int(d.Round(time.Second) / time.Second)
	minutes := int(d.Round(time.Minute) / time.Minute)
	hours := int(d.Round(time.Hour) / time.Hour)
	switch {
	case seconds < 120:
		return fmt.Sprintf("%d s", seconds)
	case minutes < 120:
		return fmt.Sprintf("%d min", minutes)
	case hours < 48:
		return pair(minutes/60, minutes%60, "h", "min")
	}
	return pair(hours/24, hours%24, "d", "h")
}

// Few writes "a, b and 3 more": at most most of the names, each cut to length.
func Few(names []string, most, length int) string {
	shown := make([]string, 0, most)
	for _, n := range names[:min(len(names), most)] {
		shown = append(shown, Clip(OneLine(n), length))
	}
	left := len(names) - len(shown)
	switch {
	case left > 0:
		return strings.Join(shown, ", ") + fmt.Sprintf(" and %s more", Number(left))
	case len(shown) > 1:
		last := len(shown) - 1
		return strings.Join(shown[:last], ", ") + " and " + shown[last]
	}
	return strings.Join(shown, "")
}

// Distinct sorts names and drops the empty and the repeated.
func Distinct(names ...string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

// Utc writes a time that no client converts, e.g. in preformatted text.
func Utc(t time.Time) string { return t.UTC().Format("15:04:05") + " UTC" }

// Sentence ends s with a full stop unless it has an end.
func Sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}
