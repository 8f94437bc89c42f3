package main

import (
	"cmp"
	"strings"

	"rollcall/shared/activity"
	"rollcall/shared/console"
)

// point tells the check that a text points to, what the text means and what to
// do next: a message of AWS, or a line of a console.
func point(text string) (check, meaning, next string, ok bool) {
	return activity.Point(text, consoleLine)
}

// retried is how often a line must stand in a console before those failures
// count that are retried (package console); who pastes a line has seen them.
const retried = 6

func consoleLine(text string) (check, meaning, next string, ok bool) {
	r := console.Read(strings.Repeat(text+"\n", retried))
	if len(r.Matches) == 0 {
		return "", "", "", false
	}
	m := r.Matches[0]
	return cmp.Or(m.Check, "instance/console-error"), m.Means, m.Next, true
}
