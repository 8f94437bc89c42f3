// Package console reads what an instance wrote to its serial console: how far
// its start came, and which known failures it shows. EC2 keeps the last
// 64 KB (API reference, GetConsoleOutput), so the text may begin in the middle
// of a line and of a start.
package console

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"rollcall/shared/checkid"
	"rollcall/shared/node/messages"
	"rollcall/shared/redact"
)

// Stage is how far a start came.
type Stage int

// The stages, in their order.
const (
	Silent     Stage = iota // nothing was written
	Kernel                  // something was written
	System                  // the operating system starts services
	Bootstrap               // user data, nodeadm, bootstrap.sh or Bottlerocket's settings
	Kubelet                 // the kubelet was started
	Registered              // the kubelet registered its node
)

// String names the stage for a sentence: "it got as far as the kubelet".
func (s Stage) String() string {
	switch s {
	case Silent:
		return "nothing"
	case Kernel:
		return "the kernel"
	case System:
		return "the operating system's services"
	case Bootstrap:
		return "the bootstrap"
	case Kubelet:
		return "the kubelet"
	case Registered:
		return "the registration of the node"
	}
	return "an unknown stage"
}

// Reading is what a console says.
type Reading struct {
	// Stage is how far the last start came.
	Stage Stage
	// Matches are the known failures that last: certain ones first, then in
	// the table's order, the most specific first.
	Matches []Match
}

// Match is a known failure.
type Match struct {
	ID    string     // of the row, e.g. "kubelet-unauthorized"
	Title string     // half a sentence: "the API refuses the node's credentials"
	Means string     // a sentence
	Next  string     // what to do
	Check checkid.ID // the id of the check that looks at the cause, or empty
	// Certain reports whether the line proves that the node cannot join.
	Certain bool
	// Heals reports whether it is tried again and may still succeed.
	Heals bool
	// Late reports whether it can strike a node that has registered.
	Late bool
	// Unanswered reports whether the line says no more than that a service, or a
	// name server, does not answer: the network's fault, whichever it is.
	Unanswered bool
	// Line is the first such line of the last state, clean and without
	// secrets. Later ones differ in their times only, with each look.
	Line  string
	Times int // how often it was written
}

// found is a row's lines so far.
type found struct {
	first string
	at    int // of the last
	times int
}

// Read reads a console. What was over later is not in it: a new start, a
// kubelet that started after all, an API that answers.
func Read(text string) Reading {
	if text == "" {
		return Reading{} // most instances of a burst are not asked for theirs
	}
	rows := known().rows
	seen := make([]found, len(rows))
	var r Reading
	for n, line := range lines(text) {
		low := lowered(line)
		stage := stageOf(low)
		if isBoot(low) {
			r.Stage = Kernel
		}
		r.Stage = max(r.Stage, stage, Kernel)
		for i, row := range rows {
			if seen[i].times > 0 && over(row, low, stage) {
				seen[i] = found{}
			}
		}
		i := known().row(low)
		if i < 0 {
			continue
		}
		seen[i] = found{first: cmp.Or(seen[i].first, line), at: n, times: seen[i].times + 1}
	}
	r.Matches = matches(rows, seen)
	return r
}

// Line is the row that a line fits, however often it must come in a console; false where
// none does.
func Line(text string) (Match, bool) {
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "")
	}
	i := known().row(lowered(text))
	if i < 0 {
		return Match{}, false
	}
	return matchOf(known().rows[i], text, 1, redact.New(redact.Ellipsis)), true
}

func lowered(line string) string { return strings.ToLower(strings.ReplaceAll(line, `\"`, `"`)) }

// index finds the rows that a line may fit: each by the fragments of its first choice.
type index struct {
	rows []messages.Row
	messages.Index
}

var known = sync.OnceValue(func() index {
	x := index{rows: messages.ConsoleRows()}
	var words [][]string
	for _, r := range x.rows {
		words = append(words, r.First())
	}
	x.Index = messages.NewIndex(words)
	return x
})

// row is the place of the first row that a line fits, in lower case; -1 where none does.
func (x index) row(low string) int {
	found := x.Find(low)
	for i, r := range x.rows {
		if found.Any(0, i) {
			if _, ok := r.Match(low, maxLine); ok {
				return i
			}
		}
	}
	return -1
}

// over reports whether a line ends a row's failure.
func over(r messages.Row, line string, stage Stage) bool {
	if stage == Registered {
		// A node that registered can still be struck by what comes late, and
		// that is not cured by having registered.
		return !r.Late
	}
	switch r.Phase {
	case messages.InKernel:
		// A crash is seen in the next start: only services tell that it is over.
		return stage >= System
	case messages.InUserData:
		return isBoot(line) || stage == Kubelet || isConfigured(line)
	case messages.InRuntime:
		return isBoot(line) || isRuntimeUp(line)
	}
	return isBoot(line)
}

// matches are the rows whose lines came often enough and are not over. Of the
// rows about the cluster's API the last one tells how it is now.
func matches(rows []messages.Row, seen []found) []Match {
	last := -1
	for i, f := range seen {
		if rows[i].Phase == messages.InAPI && f.times > 0 && (last < 0 || f.at > seen[last].at) {
			last = i
		}
	}
	var list []Match
	var r *redact.Redactor
	for i, f := range seen {
		if row := rows[i]; f.times > 0 && f.times >= row.Least && (row.Phase != messages.InAPI || i == last) {
			if r == nil {
				r = redact.New(redact.Ellipsis)
			}
			list = append(list, matchOf(row, f.first, f.times, r))
		}
	}
	slices.SortStableFunc(list, func(a, b Match) int { return cmp.Compare(weight(a), weight(b)) })
	return list
}

func matchOf(r messages.Row, line string, times int, secrets *redact.Redactor) Match {
	return Match{
		ID: r.ID, Title: r.Title, Means: r.Meaning, Next: r.Next, Check: r.Check,
		Certain: !r.Guess, Heals: r.Least > 1, Late: r.Late, Unanswered: r.Unanswered, Line: secrets.Line(line), Times: times,
	}
}

func weight(m Match) int {
	if m.Certain {
		return 0
	}
	return 1
}

// Consoles are cut at 64 KB by EC2; a text that is longer did not come from
// there as it is, and its end is what counts.
const maxText = 256 << 10

// maxLine is as much of a line as is looked at: a stack trace in one JSON line
// takes some 2 KB.
const maxLine = 4 << 10

// lines are a console's lines without colours, cursor movements and carriage
// returns. A progress line that overwrote itself is its last version.
func lines(text string) []string {
	if len(text) > maxText {
		text = text[len(text)-maxText:]
	}
	text = strings.ToValidUTF8(text, "")
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		if len(line) > maxLine {
			line = strings.ToValidUTF8(line[:maxLine], "")
		}
		if line = strings.TrimSpace(plain(line)); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// plain takes escape sequences and control characters out of a line: ECMA-48
// control sequences (ESC [ … final byte 0x40 to 0x7E) and operating system
// commands (ESC ] … BEL).
func plain(line string) string {
	if !strings.ContainsFunc(line, unicode.IsControl) {
		return line
	}
	var b strings.Builder
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == '\t':
			b.WriteByte(' ')
		case c == 0x1b && i+1 < len(runes) && (runes[i+1] == '[' || runes[i+1] == ']'):
			osc := runes[i+1] == ']'
			for i += 2; i < len(runes); i++ {
				if osc && runes[i] == 0x07 || !osc && runes[i] >= 0x40 && runes[i] <= 0x7e {
					break
				}
			}
		case unicode.IsControl(c):
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// Redact replaces what may be a secret in lines that were pasted.
func Redact(text string) string { return redact.Redact(lines(text)) }

func containsAny(line string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}

// stageOf is the stage that a line, in lower case, shows; Silent for none.
func stageOf(line string) Stage {
	switch {
	case strings.Contains(line, "successfully registered node"):
		return Registered
	case containsAny(line, "failed to start", "dependency failed"):
		return Silent
	case containsAny(line, "kubelet[", "started kubelet", "started kubernetes kubelet", "starting kubelet", "started kubelet.service"):
		return Kubelet
	case containsAny(line, "nodeadm", "imds://user-data", "bootstrap.sh", "[eks-bootstrap]", "pluto", "sundog", "eksbootstrap", "modules:final"):
		return Bootstrap
	case containsAny(line, "reached target", "cloud-init v.", "systemd[1]: started", "[  ok  ]", "windows is ready to use"):
		return System
	}
	return Silent
}

// isBoot tells a kernel's first line: another start begins.
func isBoot(line string) bool {
	return strings.Contains(line, "linux version ") && !strings.Contains(line, "release notes")
}

// isConfigured reports whether nodeadm or Bottlerocket's settings got through.
func isConfigured(line string) bool {
	return containsAny(line, "finished nodeadm-config", "finished eks nodeadm", "finished nodeadm-run", "finished user-specified setting generators") ||
		strings.Contains(line, "finished") && strings.Contains(line, "eks nodeadm")
}

// isRuntimeUp reports whether containerd runs and its sandbox image is there.
func isRuntimeUp(line string) bool {
	return containsAny(line, "started containerd", "finished pull sandbox image", "started pull sandbox image", "pulled sandbox image") ||
		stageOf(line) == Kubelet && !strings.Contains(line, "kubelet[")
}
