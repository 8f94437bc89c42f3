package action

import (
	"strconv"
	"strings"

	"rollcall/shared/shell"
)

// Words are a plan's words for people: the same plan reads the same in Slack, in
// the audit and in the docs.
type Words struct {
	Title    string   // what is done, at most 70 runes
	Steps    []string // each one call, in order
	Commands []string // that do the same by hand
	// Change says in few words what is changed: "desired 2 → 3".
	Change string
	// Undo takes it back: commands, or a sentence where there is nothing to take back.
	Undo []string
	// Cost says what it costs, in money and otherwise.
	Cost string
}

// AWS is a command of the AWS CLI in the place's region: "ec2 create-route" and
// its options, each word quoted.
func (p Place) AWS(operation string, words ...any) string {
	return shell.Command(append([]any{"aws", strings.Fields(operation), "--region", p.Region}, words...)...)
}

// And joins a list as a sentence does.
func And(list []string) string {
	switch n := len(list); n {
	case 0:
		return ""
	case 1:
		return list[0]
	default:
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
}

// Few names at most five of a list.
func Few(list []string, what string) string {
	if len(list) > 5 {
		return strings.Join(list[:5], ", ") + ", …: " + Count(len(list), what)
	}
	return And(list)
}

// Count is "1 instance" or "3 instances"; an s makes all words here many, but
// for those in -s.
func Count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case what[len(what)-1] == 's':
		return strconv.Itoa(n) + " " + what + "es"
	}
	return strconv.Itoa(n) + " " + what + "s"
}
