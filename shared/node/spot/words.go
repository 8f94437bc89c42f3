package spot

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// count is a number with its noun: "1 launch", "3 launches".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return figure(n) + " " + many
}

// figure writes thousands with commas, as the message does.
func figure(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// span writes a duration as people say it: "70 s", "7 min", "2 min 20 s".
func span(d time.Duration) string {
	seconds := int(d.Round(time.Second) / time.Second)
	switch {
	case seconds < 120:
		return fmt.Sprintf("%d s", seconds)
	case seconds%60 == 0:
		return fmt.Sprintf("%d min", seconds/60)
	}
	return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
}

// upper begins a sentence.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// and joins names for a sentence: "a, b and c".
func and(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}
