package main

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/console"
	"rollcall/shared/nodegroup"
)

// point tells the check that a text points to, what the text means and what to
// do next: a message of AWS, or a line of a console.
func point(text string) (check checkid.ID, meaning, next string, ok bool) {
	check, meaning, next, ok = activity.Point(text, consoleLine, nodegroupCode)
	if check == checkid.NodegroupHealth {
		// The words that the finding itself has.
		if c, m, n, known := nodegroupCode(text); known {
			return c, m, n, true
		}
	}
	return check, meaning, next, ok
}

// retried is how often a line must stand in a console before those failures
// count that are retried (package console); who pastes a line has seen them.
const retried = 6

func consoleLine(text string) (check checkid.ID, meaning, next string, ok bool) {
	r := console.Read(strings.Repeat(text+"\n", retried))
	if len(r.Matches) == 0 {
		return "", "", "", false
	}
	m := r.Matches[0]
	return cmp.Or(m.Check, checkid.InstanceConsoleError), m.Means, m.Next, true
}

// nodegroupCode knows EKS's own codes, as its console, its API, CloudFormation
// and Terraform quote them: of a nodegroup's health issue, or of why an update
// failed.
func nodegroupCode(text string) (check checkid.ID, meaning, next string, ok bool) {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		quoted := i > 0 && slices.Contains([]string{"code", "errorcode"}, strings.ToLower(words[i-1]))
		if len(words) > 1 && !quoted && common(word) {
			continue
		}
		if c := nodegroup.OfIssue(word); c.Known {
			return checkid.NodegroupHealth, c.Meaning, c.Next, true
		}
		if c := nodegroup.OfUpdate(word); c.Known {
			return checkid.NodegroupUpdateFailed, c.Meaning, c.Next, true
		}
	}
	return "", "", "", false
}

// common are codes that other services use too, and words that any text may
// hold: in a longer text they count only where it calls them a code.
func common(code string) bool {
	return slices.Contains([]string{"AccessDenied", "LimitExceeded", "InternalFailure", "OperationNotPermitted", "Unknown"}, code)
}
