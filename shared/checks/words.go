package checks

import (
	"fmt"
	"strings"
	"time"
)

// and joins names for a sentence: "a, b and c".
func and(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// some joins at most limit names, and says how many more there are.
func some(names []string, limit int) string {
	if len(names) <= limit {
		return and(names)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

// subject is the one id, or how many there are: "subnet-0ab1", "3 subnets".
func subject(ids []string, noun string) string {
	if len(ids) == 1 {
		return ids[0]
	}
	return fmt.Sprintf("%d %ss", len(ids), noun)
}

// verb agrees with how many there are.
func verb(ids []string, one, many string) string {
	if len(ids) == 1 {
		return one
	}
	return many
}

// minutes writes a span as people say it: "5 min", "90 s".
func minutes(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
}

// precisely writes a span in minutes and seconds: "50 s", "1 min 20 s", "2 min".
func precisely(d time.Duration) string {
	d = d.Round(time.Second)
	whole, rest := d/time.Minute, d%time.Minute/time.Second
	switch {
	case whole == 0:
		return fmt.Sprintf("%d s", rest)
	case rest == 0:
		return fmt.Sprintf("%d min", whole)
	}
	return fmt.Sprintf("%d min %d s", whole, rest)
}

// title cuts a title to the 70 runes that a message's first line has room for.
func title(format string, args ...any) string {
	const limit = 70
	text := []rune(fmt.Sprintf(format, args...))
	if len(text) > limit {
		text = append(text[:limit-1], '…')
	}
	return string(text)
}

// clip cuts a text that somebody else wrote.
func clip(text string) string {
	const limit = 500
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}
