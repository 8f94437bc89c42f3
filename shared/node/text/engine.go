package text

import (
	"slices"
	"strings"
	"sync"

	"rollcall/shared/checkid"
	"rollcall/shared/node/messages"
)

// engine is all that is known of texts, made once: the rows, and the index by which they,
// ways to fail, hosts and programs are found in one pass over a record.
type engine struct {
	rows     []messages.Row
	failures []messages.Said
	hosts    []messages.Address
	marks    []messages.Mark
	wraps    []messages.Mark
	index    messages.Index
}

// The groups of the index.
const (
	ofRow = iota
	ofFailure
	ofHost
	ofMark
	ofWrap
)

var known = sync.OnceValue(newEngine)

func newEngine() *engine {
	e := &engine{rows: messages.TextRows(), failures: messages.Failures(), hosts: messages.Addresses(), marks: messages.Marks(), wraps: messages.Wrappings()}
	e.index = messages.NewIndex(lists(e.rows, messages.Row.First), lists(e.failures, func(s messages.Said) []string { return s.Words }),
		lists(e.hosts, func(a messages.Address) []string { return a.Parts }), lists(e.marks, func(m messages.Mark) []string { return m.Words }), lists(e.wraps, func(m messages.Mark) []string { return m.Words }))
	return e
}

func lists[T any](of []T, phrases func(T) []string) [][]string {
	var list [][]string
	for _, one := range of {
		list = append(list, phrases(one))
	}
	return list
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
func (e *engine) one(r record) Result {
	isCalm := r.level == calm && !carriesError(r.words)
	if isCalm && r.form != logged && r.form != event && r.form != transition {
		return Result{} // a field, or a condition that is as it should be
	}
	low := lower(r.words)
	found := e.index.Find(low)
	var rows []messages.Row
	for i, row := range e.rows {
		if (row.Info || !isCalm) && (len(row.All) == 0 || found.Any(ofRow, i)) {
			rows = append(rows, row)
		}
	}
	if isCalm && len(rows) == 0 {
		return Result{}
	}
	f := e.read(r, low, found)
	best := byFacts(f, rows)
	if !isCalm {
		for _, next := range []func(facts) Result{byConsole, byLaunch, byNodegroup} {
			if best.weight() == 3 {
				break
			}
			if t := next(f); t.weight() > best.weight() {
				best = t
			}
		}
	}
	if f.failed1(messages.Denied) && !f.failed1(messages.TimedOut, messages.Refused, messages.NoRoute, messages.Unresolved) {
		if best.Look = slices.DeleteFunc(slices.Clone(best.Look), isPath); best.Symptom && len(best.Look) == 0 {
			best.Look = []checkid.ID{checkid.IAMRolePolicies, checkid.EndpointPolicyDenies}
		}
	}
	if best.weight() > 0 {
		best.Kind, best.Failed = f.kind(), f.failed()
	}
	return best
}

// carriesError reports whether a line of aws-node's that is no error by its level holds one
// (amazon-vpc-cni-k8s v1.23.2, pkg/awsutils and pkg/ipamd: its level is debug by default).
func carriesError(words string) bool {
	for _, begin := range []string{"checkAPIErrorAndBroadcastEvent resulted in ", "containsInsufficientCIDRsOrSubnetIPs encountered ", "containsPrivateIPAddressLimitExceededError encountered ",
		"Recently we had InsufficientCidr error", "Error while retrieving Node", "Still waiting for API server connectivity", "Send AddNetworkReply: Success: false", "Sent pod event: eventType: Warning"} {
		if _, rest, ok := strings.Cut(words, begin); ok {
			return !strings.HasPrefix(rest, "<nil>")
		}
	}
	return false
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

func byFacts(f facts, rows []messages.Row) Result {
	var best Result
	for _, r := range rows {
		if t := fromRow(r); t.weight() > best.weight() {
			if values, ok := f.fits(r); ok {
				t.Values = asWritten(f.words, values)
				best = t
			}
		}
		if best.weight() == 3 {
			break
		}
	}
	return best
}

// asWritten gives values their capitals back: rows are compared in lower case.
func asWritten(words string, values []messages.Value) []messages.Value {
	low := strings.ToLower(words)
	for i, v := range values {
		if at := strings.Index(low, v.Value); at >= 0 && len(low) == len(words) {
			values[i].Value = words[at : at+len(v.Value)]
		}
	}
	return values
}

// facts are what a record says.
func (e *engine) facts(r record) facts {
	low := lower(r.words)
	return e.read(r, low, e.index.Find(low))
}

func (e *engine) read(r record, low string, found messages.Found) facts {
	f := facts{form: r.form, words: r.words, low: low}
	f.program, f.wrapped = e.programOf(r.program, found)
	for i, s := range e.failures {
		if found.Any(ofFailure, i) && slices.ContainsFunc(s.Words, func(words string) bool { return messages.Contains(low, words, maxGap) }) {
			f.fails = append(f.fails, s.Failure)
		}
	}
	if len(f.fails) == 0 && strings.Contains(low, "statuscode: 0,") {
		f.fails = append(f.fails, messages.TimedOut) // AWS SDK for Go, of a request without a response
	}
	for i, a := range e.hosts {
		if found.Any(ofHost, i) && a.Form.MatchString(low) {
			f.hosts = append(f.hosts, a.Host)
		}
	}
	f.node = nodeRole.MatchString(f.words)
	f.readCalls()
	f.readCodes()
	return f
}

func (e *engine) programOf(prefix string, found messages.Found) (of, wrapped messages.Program) {
	for i, m := range e.wraps {
		if found.Any(ofWrap, i) {
			wrapped = m.Program
			break
		}
	}
	prefix = strings.ToLower(prefix)
	if prefix != "systemd" { // it speaks of the units of others
		for _, m := range e.marks {
			for _, p := range m.Prefix {
				if prefix == p || strings.HasSuffix(prefix, "/"+p) || !strings.HasSuffix(p, ".go") && len(p) > 4 && strings.HasPrefix(prefix, p) {
					return m.Program, wrapped
				}
			}
		}
	}
	for i, m := range e.marks {
		if found.Any(ofMark, i) {
			return m.Program, wrapped
		}
	}
	if prefix == "systemd" {
		return messages.Systemd, wrapped
	}
	return messages.UnknownProgram, wrapped
}
