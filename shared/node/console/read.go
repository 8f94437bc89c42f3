// Package console reads what an instance wrote to its serial console: how far
// its start came, and which known failures it tells of. EC2 keeps the last
// 64 KB (API reference, GetConsoleOutput), so the text may begin in the middle
// of a line and of a start.
package console

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/checkid"
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
	// Certain tells that the line proves that the node cannot join.
	Certain bool
	// Heals tells that it is tried again and may still succeed.
	Heals bool
	// Late tells that it can strike a node that has registered.
	Late bool
	// Unanswered tells that the line says no more than that a service, or a
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
	rows := table()
	seen := make([]found, len(rows))
	var r Reading
	for n, line := range lines(text) {
		low := strings.ToLower(strings.ReplaceAll(line, `\"`, `"`))
		stage := stageOf(low)
		if isBoot(low) {
			r.Stage = Kernel
		}
		r.Stage = max(r.Stage, stage, Kernel)
		for i, row := range rows {
			if seen[i].times > 0 && row.over(low, stage) {
				seen[i] = found{}
			}
		}
		i := slices.IndexFunc(rows, func(row row) bool { return row.fits(low) })
		if i < 0 {
			continue
		}
		seen[i] = found{first: cmp.Or(seen[i].first, line), at: n, times: seen[i].times + 1}
	}
	r.Matches = matches(rows, seen)
	return r
}

// over tells that a line ends a row's failure.
func (r row) over(line string, stage Stage) bool {
	if stage == Registered {
		// A node that registered can still be struck by what comes late, and
		// that is not cured by having registered.
		return !r.late
	}
	switch r.phase {
	case inKernel:
		// A crash is seen in the next start: only services tell that it is over.
		return stage >= System
	case inUserData:
		return isBoot(line) || stage == Kubelet || isConfigured(line)
	case inRuntime:
		return isBoot(line) || isRuntimeUp(line)
	}
	return isBoot(line)
}

// matches are the rows whose lines came often enough and are not over. Of the
// rows about the cluster's API the last one tells how it is now.
func matches(rows []row, seen []found) []Match {
	last := -1
	for i, f := range seen {
		if rows[i].phase == inAPI && f.times > 0 && (last < 0 || f.at > seen[last].at) {
			last = i
		}
	}
	var list []Match
	var r *redact.Redactor
	for i, f := range seen {
		if row := rows[i]; f.times > 0 && f.times >= row.least && (row.phase != inAPI || i == last) {
			if r == nil {
				r = redact.New(redact.Ellipsis)
			}
			list = append(list, Match{
				ID: row.id, Title: row.title, Means: row.means, Next: row.next, Check: row.check,
				Certain: !row.guess, Heals: row.least > 1, Late: row.late, Unanswered: row.unanswered, Line: r.Line(f.first), Times: f.times,
			})
		}
	}
	slices.SortStableFunc(list, func(a, b Match) int { return cmp.Compare(weight(a), weight(b)) })
	return list
}

func weight(m Match) int {
	if m.Certain {
		return 0
	}
	return 1
}
