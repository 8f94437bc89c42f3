package text

import (
	"slices"
	"strings"
	"sync"

	"rollcall/shared/checkid"
	"rollcall/shared/node/match"
)

// engine is all that is known of texts, made once: the rows, and the phrases by which they,
// failures, hosts and programs are found in one pass over a record.
type engine struct {
	rows     []row
	failures []said
	hosts    []address
	marks    []mark
	wraps    []mark
	phrases  *match.Phrases
	// Of each of the above the places of its phrases; of a row those of its first choice.
	ofRow, ofFailure, ofHost, ofMark, ofWrap [][]int
}

var known = sync.OnceValue(newEngine)

func newEngine() *engine {
	e := &engine{rows: rows(), failures: failures(), hosts: addresses(), marks: marks(), wraps: wrappings()}
	var phrases []string
	places := map[string]int{}
	place := func(list []string) []int {
		var at []int
		for _, phrase := range list {
			phrase = first(phrase)
			if _, ok := places[phrase]; !ok {
				places[phrase] = len(phrases)
				phrases = append(phrases, phrase)
			}
			at = append(at, places[phrase])
		}
		return at
	}
	for _, r := range e.rows {
		if len(r.all) == 0 {
			e.ofRow = append(e.ofRow, nil)
			continue
		}
		e.ofRow = append(e.ofRow, place(r.all[0]))
	}
	for _, f := range e.failures {
		e.ofFailure = append(e.ofFailure, place(f.words))
	}
	for _, h := range e.hosts {
		e.ofHost = append(e.ofHost, place(h.parts))
	}
	for _, m := range e.marks {
		e.ofMark = append(e.ofMark, place(m.words))
	}
	for _, m := range e.wraps {
		e.ofWrap = append(e.ofWrap, place(m.words))
	}
	e.phrases = match.New(phrases)
	return e
}

// anyOf reports whether one of the phrases was found.
func anyOf(found []bool, places []int) bool {
	return slices.ContainsFunc(places, func(p int) bool { return found[p] })
}

// lower is a record's words as they are looked at: in lower case, without what is said
// of a node that lacks nothing.
func lower(words string) string {
	low := strings.ToLower(words)
	if strings.Contains(low, "pressure") || strings.Contains(low, "sufficient") || strings.Contains(low, "networkunavailable") {
		low = healthy.ReplaceAllString(low, " ")
	}
	return low
}

// one tells what one record means: by its facts, by the console's table, by the
// launches' table. A cause of any of them counts before a symptom. Of a record that says
// itself that it is no fault only those rows count whose program writes so.
func (e *engine) one(r record, v vocabulary) Told {
	isCalm := r.level == calm
	if isCalm && r.form != logged && r.form != event && r.form != transition {
		return Told{} // a field, or a condition that is as it should be
	}
	low := lower(r.words)
	found := e.phrases.Find(low)
	var rows []row
	for i, row := range e.rows {
		if (row.info || !isCalm) && (e.ofRow[i] == nil || anyOf(found, e.ofRow[i])) {
			rows = append(rows, row)
		}
	}
	if isCalm && len(rows) == 0 {
		return Told{}
	}
	f := e.read(r, low, found)
	best := byFacts(f, rows, v)
	if !isCalm {
		for _, next := range []func(facts, vocabulary) Told{byConsole, byLaunch, byNodegroup} {
			if best.weight() == 3 {
				break
			}
			if t := next(f, v); t.weight() > best.weight() {
				best = t
			}
		}
	}
	if f.failed1(denied) && !f.failed1(timedOut, refused, noRoute, unresolved) {
		if best.Look = slices.DeleteFunc(slices.Clone(best.Look), isPath); best.Symptom && len(best.Look) == 0 {
			best.Look = []checkid.ID{checkid.IAMRolePolicies, checkid.EndpointPolicyDenies}
		}
	}
	if best.weight() > 0 {
		best.Kind, best.Failed = f.kind(), f.failed()
	}
	return best
}

// isPath reports whether a check looks at the way to a service: who answers with 403 was
// reached.
func isPath(id checkid.ID) bool {
	switch family, _, _ := strings.Cut(string(id), "/"); family {
	case "route", "nacl", "sg", "dns":
		return true
	case "endpoint":
		return id != checkid.EndpointPolicyDenies
	}
	return false
}

func byFacts(f facts, rows []row, v vocabulary) Told {
	var best Told
	for _, r := range rows {
		if t := r.told(); t.weight() > best.weight() && r.fits(f, v) {
			best = t
		}
		if best.weight() == 3 {
			break
		}
	}
	return best
}

// facts are what a record says.
func (e *engine) facts(r record) facts {
	low := lower(r.words)
	return e.read(r, low, e.phrases.Find(low))
}

func (e *engine) read(r record, low string, found []bool) facts {
	f := facts{form: r.form, words: r.words, low: low}
	f.program, f.wrapped = e.programOf(r.program, found)
	for i, s := range e.failures {
		if anyOf(found, e.ofFailure[i]) && slices.ContainsFunc(s.words, func(words string) bool { return match.Says(low, words, maxGap) }) {
			f.fails = append(f.fails, s.failure)
		}
	}
	for i, a := range e.hosts {
		if anyOf(found, e.ofHost[i]) && a.form.MatchString(low) {
			f.hosts = append(f.hosts, a.host)
		}
	}
	f.node = nodeRole.MatchString(f.words)
	f.readCalls()
	f.readCodes()
	return f
}

func (e *engine) programOf(prefix string, found []bool) (of, wrapped program) {
	for i, m := range e.wraps {
		if anyOf(found, e.ofWrap[i]) {
			wrapped = m.program
			break
		}
	}
	prefix = strings.ToLower(prefix)
	if prefix != "systemd" { // it speaks of the units of others
		for _, m := range e.marks {
			for _, p := range m.prefix {
				if prefix == p || strings.HasSuffix(prefix, "/"+p) || !strings.HasSuffix(p, ".go") && len(p) > 4 && strings.HasPrefix(prefix, p) {
					return m.program, wrapped
				}
			}
		}
	}
	for i, m := range e.marks {
		if anyOf(found, e.ofMark[i]) {
			return m.program, wrapped
		}
	}
	if prefix == "systemd" {
		return systemd, wrapped
	}
	return unknownProgram, wrapped
}
