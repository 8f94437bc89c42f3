package console

import (
	"rollcall/shared/checkid"
	"slices"
	"strings"
)

// row is a known failure: what it looks like, what it means, what to do.
type row struct {
	id string
	// sample is such a line. The comment above the row says where it is public;
	// "in the form of" is a line put together as that program writes it.
	sample string
	// all must each have one of their fragments in the line; the fragments
	// are in lower case, without backslashes before quotes.
	all [][]string
	// none may not be in the line: what looks alike on healthy nodes.
	none []string
	// least is how often the line must come: 0 and 1 are once. What is tried
	// again and again, and may still succeed, needs more.
	least int
	phase phase
	// guess tells that the line alone does not prove it.
	guess bool
	// unanswered tells that the line says no more than that a service, or a name
	// server, does not answer: a symptom of the network.
	unanswered bool
	// late tells that it can strike a node that has registered.
	late bool

	title string
	means string
	next  string
	check checkid.ID
}

// phase is how far the start is when a row's line is written. What comes
// later tells that it is over.
type phase int

const (
	// inKernel is over when the operating system starts services.
	inKernel phase = iota
	// inUserData is over when the kubelet starts, or nodeadm got through.
	inUserData
	// inRuntime is over when the kubelet starts.
	inRuntime
	// inKubelet is over when the kubelet registers its node.
	inKubelet
	// inAPI is over when the kubelet registers its node, and when a later
	// line of another row of this phase tells how it goes now.
	inAPI
)

// table is every known failure. A line is the first row's that fits: the
// more specific rows come first, and the units that fail as a result last.
func table() []row {
	var rows []row
	for _, part := range [][]row{bootRows(), userDataRows(), nodeadmRows(), runtimeRows(), kubeletRows(), apiRows(), windowsRows(), unitRows()} {
		rows = append(rows, part...)
	}
	return rows
}

// fits tells that a line, in lower case, is the row's.
func (r row) fits(line string) bool {
	for _, part := range r.none {
		if strings.Contains(line, part) {
			return false
		}
	}
	for _, choice := range r.all {
		if !containsAny(line, choice...) {
			return false
		}
	}
	return len(r.all) > 0
}

func containsAny(line string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}

// Advice is what the rows advise, each once.
func Advice() []string {
	var list []string
	for _, r := range table() {
		if !slices.Contains(list, r.next) {
			list = append(list, r.next)
		}
	}
	return list
}
