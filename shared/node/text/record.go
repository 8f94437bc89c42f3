package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"rollcall/shared/lazyregexp"
)

// Bounds of what is looked at. A ticket may hold a whole log; what says most
// is mostly at its end or its begin.
const (
	maxText    = 64 << 10 // bytes
	maxRecord  = 8 << 10
	maxRecords = 600
	maxDepth   = 24 // of objects in objects
	quotedDeep = 8  // what JSON in a string counts for
	maxObjects = 64 // of JSON that are looked for in lines
	maxRun     = 12 // lines of prose that one sentence may be wrapped over
)

// level is what a record is by its own account.
type level int

const (
	// unsaid is a record without a level: prose, an error of an API, syslog.
	unsaid level = iota
	// calm is information, a condition that is as it should be, a field of an object.
	calm
	// fault is a warning or an error, or a condition that is not as it should be.
	fault
)

// form is how a record is written.
type form int

const (
	prose      form = iota // a sentence, or what cannot be parted
	logged                 // a line of a log
	event                  // an event of Kubernetes
	condition              // a condition of an object, as it is now
	transition             // a condition of an object that changed
	listed                 // a row of a table of kubectl
	object                 // an object of an API, or its fields
	command                // a command with its prompt
)

// record is one message of a text, apart from what stands around it.
type record struct {
	form    form
	level   level
	program string // as the prefix names it
	words   string // quotes and escapes are taken away, one blank between words
	// subject is the condition that it is about: "ready", "subnetsready"; with the
	// object where the record names it: "ready node/ip-10-0-1-2".
	subject string
	// paragraph counts runs of lines: a sentence may be wrapped within one.
	paragraph int
	raw       string // the line as it stood, for lines that were cut
	line      int    // where it stands, from 0
}

// part parts a text into its records. Records do not mix: what one says is never
// read together with what another says, but where a sentence was wrapped.
func part(text string) []record {
	if len(text) > maxText {
		// The begin holds what was asked, the end what happened last.
		text = text[:maxText/2] + "\n" + text[len(text)-maxText/2:]
	}
	text = uncut(clean(text))
	if list, ok := values(strings.TrimSpace(text), 0); ok {
		return bounded(list)
	}
	p := parser{lines: strings.Split(text, "\n")}
	for p.at < len(p.lines) && len(p.list) < maxRecords {
		begin, before := p.at, len(p.list)
		p.next()
		for i := before; i < len(p.list); i++ {
			p.list[i].line = begin
		}
	}
	p.endGroup()
	return bounded(p.list)
}

// uncut joins lines that a terminal cut at its width: where one is as long as the longest,
// and the next does not begin a record, they were one.
func uncut(text string) string {
	lines := strings.Split(text, "\n")
	longest, times := 0, 0
	for _, line := range lines {
		switch n := utf8.RuneCountInString(line); {
		case n > longest:
			longest, times = n, 1
		case n == longest:
			times++
		}
	}
	if len(lines) < 2 || longest < 60 || times < 3 && longest != 80 && (times < 2 || !slices.Contains([]int{72, 100, 120, 132, 160}, longest)) {
		return text
	}
	var b strings.Builder
	for i, line := range lines {
		b.WriteString(line)
		if i == len(lines)-1 || utf8.RuneCountInString(line) == longest && strings.TrimSpace(lines[i+1]) != "" && !strings.Contains(line, "   ") &&
			!headOf(lines[i+1]).starts {
			continue
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func bounded(list []record) []record {
	list = slices.DeleteFunc(list, func(r record) bool { return r.words == "" })
	for i := range list {
		if len(list[i].words) > maxRecord {
			list[i].words = strings.ToValidUTF8(list[i].words[:maxRecord], "")
		}
	}
	return list[:min(len(list), maxRecords)]
}

// parser goes over the lines of a text.
type parser struct {
	lines     []string
	at        int
	list      []record
	objects   int
	paragraph int
	header    []string // of the table that is being read
	group     []field  // of the object that is being read
	parent    string   // the key above the group
	asked     string   // the command whose output is being read
	described bool     // the text is an object as kubectl describes it
}

type field struct{ name, value string }

// next reads what begins at the line.
func (p *parser) next() {
	raw := p.lines[p.at]
	p.at++
	line := unquoted(raw)
	if line == "" {
		p.endGroup()
		p.header = nil
		if p.at < 2 || !cutMark.MatchString(p.lines[p.at-2]) {
			p.paragraph++
		}
		return
	}
	if p.json(line) || p.inTable(line) || p.grouped(line, indentOf(raw)) {
		return
	}
	p.endGroup()
	if m := typed.FindString(line); m != "" {
		p.asked = plain(line)
		p.list = append(p.list, record{form: command, level: calm, words: p.asked, paragraph: p.paragraph})
		p.paragraph++
		return
	}
	for i, line := range strings.Split(unescape(line), "\n") {
		p.line(strings.TrimSpace(line), raw, i == 0)
	}
}

// line takes a line that is no part of a table or an object.
func (p *parser) line(line, raw string, first bool) {
	if at := embedded.FindStringIndex(line); at != nil && at[0] > 0 && (at[0] < 8 || !headOf(line).starts) {
		if at[0] >= 8 {
			p.line(strings.TrimSpace(line[:at[0]]), raw, first)
			p.paragraph++
		}
		p.line(line[at[0]:], raw, true)
		return
	}
	r := lineRecord(line)
	r.paragraph, r.raw = p.paragraph, raw
	if r.words == "" {
		return
	}
	if strings.HasPrefix(r.words, "No resources found") && p.asked != "" {
		r.words = p.asked + ": " + r.words
	}
	if last := len(p.list) - 1; r.form == prose && last >= 0 && p.list[last].paragraph == p.paragraph && len(p.list[last].words)+len(r.words) < maxRecord {
		before := &p.list[last]
		switch {
		case !first, goesOn(raw) && before.form != command && before.form != listed:
			// An indented line goes on where the one before it ended.
			before.words += " " + r.words
			before.raw = raw
			return
		case cutMark.MatchString(before.raw):
			before.words = strings.TrimSuffix(before.words, "$") + r.words
			before.raw = raw
			return
		case unfinished(before.raw, before.words):
			before.words += " " + r.words
			before.raw = raw
			return
		}
	}
	p.list = append(p.list, r)
}

// cutMark is what less and vi put where a line goes on beyond the screen.
var cutMark = lazyregexp.New(`[a-z]\$\s*$`)

// unfinished reports whether a line cannot be a message's last: it ends with a comma, a
// colon or an open bracket, or with the blank at which a mail program wrapped it.
func unfinished(raw, words string) bool {
	return len(words) > 20 && (strings.HasSuffix(raw, " ") && !strings.HasSuffix(raw, "  ") || strings.HasSuffix(words, ",") || strings.HasSuffix(words, ":") ||
		strings.Count(words, "[") > strings.Count(words, "]"))
}

// goesOn reports whether a line goes on where the one before it ended.
func goesOn(raw string) bool {
	raw = strings.TrimLeft(raw, ">│|")
	return strings.HasPrefix(raw, "  ") || strings.HasPrefix(raw, " ") && !strings.HasPrefix(strings.TrimSpace(raw), "*") || strings.HasPrefix(raw, "caused by:")
}

func indentOf(raw string) int { return len(raw) - len(strings.TrimLeft(raw, " ")) }

// unquoted is a line without the marks of a reply, a box or a fence.
func unquoted(raw string) string {
	line := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(raw), ">|│ "))
	if strings.HasPrefix(line, "```") {
		return strings.TrimSpace(strings.TrimLeft(line, "`abcdefghijklmnopqrstuvwxyz"))
	}
	return line
}

// typed is a command of a shell, with its prompt or without.
var typed = lazyregexp.New(`^(?:\S{0,60}[$#%>] +)?(?:sudo +)?(?:kubectl +(?:get|describe|logs?|apply|top|exec|delete|edit|annotate|label|rollout|version|config|debug|cordon|drain)|` +
	`k +(?:get|describe|logs)|aws +[a-z0-9-]+ +[a-z]+-[a-z-]+|journalctl|systemctl|eksctl +(?:create|get|delete|upgrade|scale|utils)|helm +(?:install|upgrade|list)|` +
	`terraform +(?:apply|plan|init)|ssh|curl|cat|tail|grep|dmesg|nodeadm +init)\b|^\S+@\S+:\S*[$#] +\S|^[\w.-]+:~\S*\$ +\S`)

// lineRecord reads one line: its prefix, its level, what it says.
func lineRecord(line string) record {
	if m := eventRow.FindStringSubmatch(line); m != nil {
		return eventRecord(m[1], m[2], m[3])
	}
	if m := conditionRow.FindStringSubmatch(line); m != nil {
		return conditionRecord(m[1], m[2], m[3], m[4], "")
	}
	h := headOf(line)
	r := record{form: prose, level: h.level, program: h.program, words: plain(h.rest)}
	if h.starts {
		r.form = logged
	}
	switch {
	case r.level == unsaid && r.form == prose && fieldForm.MatchString(line):
		r.level = calm
	case quantity.MatchString(r.words) && !strings.HasPrefix(strings.ToLower(r.words), "status code"):
		r.level = calm
	}
	return r.transitioned()
}

// embedded is the head of a log's line within a line of prose: klog's, or that of syslog
// with its program.
var embedded = lazyregexp.New(`\b[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w./-]+\.go:\d+\]|\b[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d [\w.-]+ [\w.@/-]+(?:\[\d+\])?: `)

// fieldForm is a field as kubectl aligns it: a name, a colon, and blanks before the value.
// Those that carry a message are none.
var fieldForm = lazyregexp.New(`^(?:- )?[A-Za-z][\w./ -]{0,60}: {2,}\S`)

// quantity is a field of an object that holds an amount: "ephemeral-storage: 83873772Ki".
var quantity = lazyregexp.New(`^[a-z][\w./ -]{0,60}: *(?:\d+(?:\.\d+)?(?:m|k|[KMGT]i?)?(?: \(\d+%\))? *)+$`)

// transitioned reads what Karpenter writes of a condition that changed
// (kubernetes-sigs/karpenter and awslabs/operatorpkg, status/controller.go):
// it counts as what it became.
func (r record) transitioned() record {
	m := changed.FindStringSubmatch(r.words)
	if m == nil {
		return r
	}
	r.form, r.level = transition, levelOf(m[1], m[2])
	r.subject = strings.ToLower(m[1])
	return r
}

var changed = lazyregexp.New(`Status condition transitioned, Type: (\w+), Status: \w+ -> (\w+)`)

// levelOf is whether a condition is as it should be: of most the good value is
// true, of pressures and the like it is false.
func levelOf(name, status string) level {
	good := "true"
	if bad.MatchString(name) {
		good = "false"
	}
	switch strings.ToLower(status) {
	case good:
		return calm
	case "true", "false":
		return fault
	}
	return fault // Unknown
}

// bad are conditions that are a fault where they are true: those of nodes (Kubernetes,
// pkg/kubelet/nodestatus; the node monitoring agent's have Ready in their names), and
// those of Karpenter that say what is to be done with a node.
var bad = lazyregexp.New(`(?i)^(?:\w*pressure|outofdisk|networkunavailable|kerneldeadlock|readonlyfilesystem|frequent\w+|corrupt\w+|\w*problem|drifted|empty|expired|` +
	`consolidatable|disrupted|disruptionreason|\w*terminating|deleting|failed|degraded|progressing|unhealthy)$`)

// idle are conditions whose value says nothing of a fault.
var idle = lazyregexp.New(`(?i)^(?:drifted|empty|expired|consolidatable|disrupted|disruptionreason|progressing|deleting|instanceterminating|drained|volumesdetached)$`)

// awaiting is what Karpenter and Kubernetes write before a controller has looked.
var awaiting = lazyregexp.New(`(?i)AwaitingReconciliation|object is awaiting reconciliation`)

// conditionRecord is a condition of an object.
func conditionRecord(name, status, reason, message, of string) record {
	r := record{form: condition, level: levelOf(name, status), subject: strings.TrimSpace(strings.ToLower(name) + " " + of)}
	r.words = plain(fmt.Sprintf("type: %s, status: %s, reason: %s, message: %s", name, status, reason, message))
	if idle.MatchString(name) || strings.EqualFold(status, "unknown") && awaiting.MatchString(reason+" "+message) {
		r.level = calm
	}
	return r
}

// eventRecord is an event of Kubernetes.
func eventRecord(kind, reason, message string) record {
	r := record{form: event, words: plain(kind + " " + reason + " " + message), level: fault}
	if kind == "Normal" {
		r.level = calm
	}
	if m := status.FindStringSubmatch(r.words); m != nil {
		// The kubelet's own: "Node x status is now: NodeReady".
		r.subject = "ready"
		if m[1] == "NodeNotReady" {
			r.level = fault
		}
	}
	if reason == "NodeNotReady" {
		r.level, r.subject = fault, "ready"
	}
	if c := changed.FindStringSubmatch(r.words); c != nil {
		t := r.transitioned()
		return t
	}
	return r
}

var status = lazyregexp.New(`status is now: (NodeReady|NodeNotReady)\b`)

// eventRow is an event as kubectl describe and kubectl get events print it, conditionRow
// a condition as kubectl describe node does.
var (
	eventRow = lazyregexp.New(`^(?:<?[\w.]+>?(?: \(x\d+ over [\w.]+\))? +)?(Normal|Warning) +([A-Z][A-Za-z]+) +(\S.*)$`)
	// The times are of time.RFC1123Z, or were cut out.
	conditionRow = lazyregexp.New(`^([A-Z][A-Za-z]{3,40}) +(True|False|Unknown) +(?:(?:\w{3}, \d\d \w{3} \d{4} [\d:]{8} [+-]\d{4} +){1,2}|(?:\S*\d\S* +){0,2})([A-Z][A-Za-z]+)(?: +(\S.*))?$`)
)

// inTable reads a table of kubectl: a line of names in capitals, then rows.
func (p *parser) inTable(line string) bool {
	if tableHead.MatchString(line) {
		p.header = columns(line)
		return true
	}
	if ruler.MatchString(line) {
		return true
	}
	if p.header == nil {
		return false
	}
	cells := cellsOf(p.header, line)
	r, ok := listedRecord(cells, strings.ToLower(p.asked))
	if !ok {
		p.header = nil
		return false
	}
	r.paragraph = p.paragraph
	p.list = append(p.list, r)
	return true
}

var (
	tableHead = lazyregexp.New(`^(?:NAMESPACE +|NAME +|LAST SEEN +|TYPE +REASON|NAME$)(?:[A-Z][A-Z() -]+)?$|^Type +(?:Status|Reason) +\S.*\bMessage$`)
	ruler     = lazyregexp.New(`^(?:[-=]{2,} *)+$`)
	cellForm  = lazyregexp.New(`\S+(?: \S+)*`)
)

func columns(line string) []string {
	var list []string
	if !strings.Contains(line, "  ") {
		return strings.Fields(strings.ToLower(line))
	}
	for _, name := range cellForm.FindAllString(line, -1) {
		list = append(list, strings.ToLower(name))
	}
	return list
}

// cellsOf parts a row: by blanks, two or more where the row has those, and the last
// column takes what is left.
func cellsOf(header []string, line string) map[string]string {
	parts := cellForm.FindAllString(line, -1)
	if len(parts) < len(header) && len(parts) <= 2 {
		parts = strings.Fields(line)
	}
	cells := map[string]string{}
	for i, c := range header {
		if i >= len(parts) {
			break
		}
		cells[c] = parts[i]
		if i == len(header)-1 {
			cells[c] = strings.Join(parts[i:], " ")
		}
	}
	return cells
}

// listedRecord is a row of a table; false where it is none.
func listedRecord(cells map[string]string, asked string) (record, bool) {
	r := record{form: listed, level: calm}
	name, status, ready := cells["name"], cells["status"], cells["ready"]
	switch {
	case cells["reason"] != "" && cells["type"] != "" && (cells["type"] == "Normal" || cells["type"] == "Warning"):
		return eventRecord(cells["type"], cells["reason"], cells["object"]+" "+cells["message"]), true
	case cells["type"] != "" && cells["status"] != "" && truth(cells["status"]):
		return conditionRecord(cells["type"], cells["status"], cells["reason"], cells["message"], ""), true
	case name == "":
		return record{}, false
	case cells["signername"] != "" || cells["condition"] != "":
		r.words = "certificate signing request " + name + " " + cells["signername"] + " " + cells["requestor"] + " " + cells["condition"]
		if cells["condition"] == "Pending" || strings.Contains(cells["condition"], "Denied") {
			r.level = fault
		}
	case cells["version"] != "" || strings.Contains(status, "Ready"):
		r.words = "node " + name + " status: " + status
		if strings.Contains(status, "NotReady") || strings.Contains(status, "Unknown") {
			r.level = fault
		}
	case strings.Contains(ready, "/"):
		r.words = "pod " + name + " " + ready + " " + status
		if n, of, ok := strings.Cut(ready, "/"); ok && n != of && status != "Completed" && status != "Succeeded" {
			r.level = fault
		}
	case truth(ready):
		what := "object"
		for _, kind := range []string{"ec2nodeclass", "nodeclass", "nodepool", "nodeclaim"} {
			if strings.Contains(asked, kind) {
				what = kind
				break
			}
		}
		if what == "object" {
			what = kindOf(cells)
		}
		r.words = what + " " + name + " type: Ready, status: " + ready
		if ready != "True" {
			r.level = fault
		}
	default:
		for _, c := range cells {
			r.words += c + " "
		}
	}
	return r, true
}

// kindOf tells Karpenter's objects by the columns that kubectl prints of them
// (additionalPrinterColumns of their definitions).
func kindOf(cells map[string]string) string {
	switch {
	case cells["nodeclass"] != "":
		return "nodepool"
	case cells["capacity"] != "" || cells["zone"] != "":
		return "nodeclaim"
	case cells["role"] != "":
		return "nodeclass"
	}
	return "object"
}

func truth(s string) bool { return s == "True" || s == "False" || s == "Unknown" }

// grouped takes a line that is a field of an object, in YAML or as kubectl describes it.
// Fields of one condition or issue are one record.
func (p *parser) grouped(line string, indent int) bool {
	item := strings.HasPrefix(line, "- ")
	body := strings.TrimSpace(strings.TrimPrefix(line, "- "))
	m := keyed.FindStringSubmatch(body)
	if m == nil {
		if listItem.MatchString(line) && len(p.group) == 0 && p.described {
			p.list = append(p.list, record{form: object, level: calm, words: plain(line), paragraph: p.paragraph})
			return true
		}
		return false
	}
	name, value := keyOf(m[1]), strings.TrimSpace(m[2])
	if !partOfObject(name, value, body, p.described) {
		return false
	}
	if value == "" || value == "[]" || value == "{}" {
		if name == "status" || !isCondition(name) {
			p.endGroup()
			p.parent = name
			return true
		}
	}
	if item || slices.ContainsFunc(p.group, func(f field) bool { return f.name == name || f.name == "taints" || name == "taints" }) {
		p.endGroup()
	}
	p.group = append(p.group, field{name, strings.Trim(value, `"',`)})
	return true
}

var (
	keyed    = lazyregexp.New(`^"?([A-Za-z][\w./ -]{0,60}?)"? ?:(?: +(.*))?$`)
	listItem = lazyregexp.New(`^[-*]? ?[\w./-]+$`)
)

func keyOf(name string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(name))
}

// isCondition reports whether a field is one of conditions, taints and issues; a text that
// has them one below the other is such an object.
func isCondition(name string) bool {
	return slices.Contains([]string{"type", "status", "reason", "message", "lasttransitiontime", "lastheartbeattime", "lastprobetime", "observedgeneration",
		"key", "value", "effect", "timeadded", "code", "resourceids", "errorcode", "errormessage", "eventname", "eventsource", "statetransitionreason",
		"statetransitionreasonmessage", "statetransitionmessage"}, name)
}

// isObject reports whether a field is one of the objects that kubectl prints.
func isObject(name string) bool {
	return slices.Contains([]string{"apiversion", "kind", "metadata", "namespace", "labels", "annotations", "spec", "creationtimestamp", "providerid", "nodename", "conditions", "capacity",
		"allocatable", "systeminfo", "machineid", "events", "taints", "unschedulable", "lease", "addresses", "images", "nodeinfo", "limits", "requests", "startuptaints", "tolerations",
		"requirements", "generation", "resourceversion", "uid", "roles", "name", "holderidentity", "acquiretime", "renewtime", "podcidr", "podcidrs", "noncterminatedpods"}, name)
}

// partOfObject reports whether a field is one of an object that was printed, and not a
// sentence that begins with a word and a colon.
func partOfObject(name, value, body string, described bool) bool {
	switch {
	case isCondition(name), isObject(name):
		return true
	case slices.Contains([]string{"error", "err", "warning", "fatal", "statuscode", "requestid"}, name):
		return false
	case described:
		return true
	}
	return fieldForm.MatchString(body) || quantity.MatchString(body)
}

// endGroup makes a record of the fields that were read.
func (p *parser) endGroup() {
	group := p.group
	p.group = nil
	if len(group) == 0 {
		return
	}
	value := func(name string) string {
		for _, f := range group {
			if f.name == name {
				return f.value
			}
		}
		return ""
	}
	var r record
	switch {
	case value("type") != "" && truth(value("status")):
		r = conditionRecord(value("type"), value("status"), value("reason"), value("message"), "")
	case len(group) == 1 && (group[0].name == "taints" || group[0].name == "message" || group[0].name == "reason" || group[0].name == "status"):
		r = record{form: object, words: plain(group[0].name + ": " + group[0].value)}
		if group[0].value == "<none>" {
			r.level = calm
		}
		if group[0].name == "message" {
			r = lineRecord(group[0].value)
		}
	default:
		r = record{form: object, level: calm}
		var b strings.Builder
		for _, f := range group {
			if len(group) < 8 || isCondition(f.name) {
				fmt.Fprintf(&b, "%s: %s, ", f.name, f.value) // of a large object what can say something
			}
			if slices.Contains([]string{"code", "errorcode", "effect", "message", "errormessage", "reason", "eventname", "health", "healthissues",
				"statetransitionreason", "taints"}, f.name) {
				r.level = unsaid
			}
			if slices.Contains([]string{"kind", "apiversion"}, f.name) {
				p.described = true
			}
		}
		if value("operator") != "" || p.parent == "tolerations" || p.parent == "startuptaints" {
			r.level = calm // what is to be, not what is
		}
		r.words = plain(strings.TrimSuffix(b.String(), ", "))
	}
	r.paragraph = p.paragraph
	p.list = append(p.list, r)
}

// json reads an object of JSON that begins in the line, also one that is printed over
// several lines.
func (p *parser) json(line string) bool {
	at := strings.IndexAny(line, "{[")
	if at < 0 || p.objects >= maxObjects {
		return false
	}
	if at > 0 && line[at] == '[' || line[at] == '[' && !strings.HasPrefix(strings.TrimSpace(line[1:]), "{") && strings.TrimSpace(line[1:]) != "" {
		at = strings.IndexByte(line, '{')
		if at < 0 {
			return false
		}
	}
	p.objects++
	p.endGroup()
	rest := line[at:]
	list, tail, ok := decodeAt(rest)
	if !ok && (at == 0 || len(strings.TrimSpace(rest)) == 1) && !strings.HasSuffix(rest, "}") {
		// Printed over several lines, perhaps quoted.
		joined := make([]string, 0, len(p.lines)-p.at+1)
		joined = append(joined, rest)
		for _, more := range p.lines[p.at:] {
			joined = append(joined, unquoted(more))
		}
		whole := strings.Join(joined, "\n")
		if list, tail, ok = decodeAt(whole); ok {
			taken := strings.Count(whole[:len(whole)-len(tail)], "\n")
			p.at += taken
			if tail, _, _ = strings.Cut(tail, "\n"); strings.TrimSpace(tail) != "" {
				p.lines[p.at-1] = tail
				p.at--
			}
			tail = ""
		}
	}
	if !ok {
		return false
	}
	h := headOf(line[:at])
	for i := range list {
		r := &list[i]
		r.paragraph = p.paragraph
		if i == 0 && at > 0 {
			// Karpenter's console form: the words, then an object of what they are about.
			words := strings.TrimSpace(plain(h.rest))
			if words != "" {
				r.words = strings.TrimSpace(words + " " + r.words + " " + plain(tail))
				r.level = h.level // a quoted message's own level is not this one's
			}
			if r.program == "" {
				r.program = h.program
			}
			if h.starts && r.form == object {
				r.form = logged
			}
			*r = r.transitioned()
		}
	}
	p.list = append(p.list, list...)
	return true
}

// decodeAt reads a value at the begin of a text; tail is what follows it.
func decodeAt(text string) (list []record, tail string, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return nil, "", false
	}
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			return nil, "", false
		}
	case []any:
		if len(v) == 0 {
			return nil, "", false
		}
	}
	return flatten(value, 0, ""), text[d.InputOffset():], true
}

// values reads a text that is JSON as a whole, or a string of JSON.
func values(text string, depth int) ([]record, bool) {
	if text == "" || !strings.ContainsRune(`{["`, rune(text[0])) || depth > maxDepth {
		return nil, false
	}
	var value any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil || d.More() {
		return nil, false
	}
	if s, ok := value.(string); ok {
		return part(s), true
	}
	return flatten(value, depth, ""), true
}

// flatten makes a record of each object: of its own fields, and behind it those of
// the objects in it. of is the field that holds it.
func flatten(value any, depth int, of string) []record {
	if depth > maxDepth {
		return nil
	}
	switch v := value.(type) {
	case []any:
		var list []record
		for _, item := range v {
			list = append(list, flatten(item, depth+1, of)...)
		}
		return list
	case map[string]any:
		return objectRecords(v, depth, of)
	case string:
		if inner, ok := values(strings.TrimSpace(v), depth+quotedDeep); ok {
			return inner
		}
		return []record{lineRecord(unescape(v))}
	}
	return nil
}

func objectRecords(v map[string]any, depth int, of string) []record {
	var fields bytes.Buffer
	var below []record
	for _, name := range fieldNames(v) {
		switch value := v[name].(type) {
		case string:
			if inner, ok := values(strings.TrimSpace(value), depth+quotedDeep); ok && len(inner) > 0 {
				below = append(below, inner...)
				value = inner[0].words
			}
			if isLevel(name) {
				continue
			}
			if depth < maxDepth-quotedDeep && strings.Contains(strings.TrimSpace(unescape(value)), "\n") {
				below = append(below, part(unescape(value))...)
				continue
			}
			fmt.Fprintf(&fields, "%s: %s, ", name, strings.ReplaceAll(unescape(value), "\n", " "))
		case json.Number, bool:
			fmt.Fprintf(&fields, "%s: %v, ", name, value)
		case []any, map[string]any:
			if quiet(name) {
				continue
			}
			below = append(below, flatten(value, depth+1, name)...)
		}
	}
	text := func(names ...string) string {
		for _, name := range names {
			if s, ok := v[name].(string); ok {
				return s
			}
		}
		return ""
	}
	r := record{form: object, words: plain(strings.TrimSuffix(fields.String(), ", "))}
	if _, ok := v["matchedStatements"]; ok {
		// What sts:DecodeAuthorizationMessage answers is one message.
		for _, b := range below {
			r.words += ", " + b.words
		}
		below = nil
	}
	lvl := text("level", "lvl", "severity", "Level")
	switch {
	case truth(text("status", "Status")) && text("type", "Type") != "":
		r = conditionRecord(text("type", "Type"), text("status", "Status"), text("reason", "Reason"), text("message", "Message"), "")
	case lvl != "" && text("msg", "message", "Message") != "":
		r.form, r.level = logged, wordLevel(lvl)
		r.program = headOf(text("msg", "message", "Message")).program
		r = r.transitioned()
	case text("type") == "Normal" || text("type") == "Warning":
		if text("reason") != "" {
			r = eventRecord(text("type"), text("reason"), text("message"))
		}
	case of == "tolerations" || of == "startupTaints" || !telling(v):
		r.level = calm
	case strings.HasSuffix(of, "Capacity") || slices.Contains([]string{"capacity", "allocatable", "limits", "requests", "labels", "annotations", "resources"}, of):
		r.level = calm
	}
	return append([]record{r}, below...)
}

// telling reports whether an object has a field that can hold a message.
func telling(v map[string]any) bool {
	for name := range v {
		if messageField.MatchString(name) {
			return true
		}
	}
	return false
}

var messageField = lazyregexp.New(`(?i)message|msg|code|reason|error|err$|cause|status|state$|event|description|issue|effect|detail|output|stderr|text|logs?$|value|allowed|health`)

func isLevel(name string) bool { return name == "level" || name == "lvl" || name == "severity" }

// quiet are fields of objects and logs that hold amounts and marks, and no message.
func quiet(name string) bool {
	return slices.Contains([]string{"capacity", "allocatable", "labels", "annotations", "managedFields", "images", "nodeInfo", "resources", "limits", "requests"}, name)
}

// fieldNames are the fields of an object, those first that say where it comes from.
// The others follow by name, so that the same text always reads the same.
func fieldNames(v map[string]any) []string {
	first := []string{"level", "logger", "caller", "type", "Type", "status", "Status", "reason", "Reason", "eventSource", "eventName", "errorCode", "ErrorCode",
		"Code", "code", "msg", "message", "Message", "error", "err"}
	list := make([]string, 0, len(v))
	seen := map[string]bool{}
	for _, name := range first {
		if _, ok := v[name]; ok {
			list, seen[name] = append(list, name), true
		}
	}
	rest := len(list)
	for name := range v {
		if !seen[name] && name != "stacktrace" {
			list = append(list, name)
		}
	}
	slices.Sort(list[rest:])
	return list
}

// clean takes away what only draws: colours, boxes, invisible and curly signs.
func clean(text string) string {
	text = ansi.ReplaceAllString(strings.ToValidUTF8(text, ""), "")
	if strings.ContainsRune(text, '&') {
		text = html.UnescapeString(text)
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '“', '”', '„', '″':
			return '"'
		case '‘', '’', '′':
			return '\''
		case '│', '╷', '╵', '║', '\u00a0', '\u2028', '\t', '\ufeff':
			return ' '
		case '–', '—', '−':
			return '-'
		case '\r', '\v', '\f':
			return '\n'
		case '\n':
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

var ansi = lazyregexp.New(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07)`)

// unescape undoes escapes of strings in strings, three deep at the most.
func unescape(text string) string {
	for range 3 {
		if !strings.ContainsRune(text, '\\') {
			return text
		}
		text = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\n", `\t`, " ", `\"`, `"`, `\'`, `'`, `\/`, `/`,
			`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u0022`, `"`, `\u0027`, "'").Replace(text)
	}
	return text
}

// plain takes quotes and marks of Markdown away, and puts one blank between
// words.
func plain(line string) string {
	line = strings.ReplaceAll(unescape(line), "\n", " ")
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch r {
		case '"', '\'', '`', '\\', '*':
			return -1
		}
		return r
	}, line)), " ")
}

// The forms in which logs begin a line; all are of documented formats:
// klog's header, RFC 3339, RFC 3164 (syslog, journald's short form), the
// kernel's seconds, and levels.
var (
	klogLine   = lazyregexp.New(`^(?:[A-Za-z][\w.-]*: +)?([IWEF])\d{4} \d\d:\d\d:\d\d(?:\.\d+)? +[\d.]+ \[?([\w./-]+\.go)(?::\S+)?\]? ?`)
	klogTail   = lazyregexp.New(`^([a-z_]+\.go):\d+\] ?`)
	stampLine  = lazyregexp.New(`^(?:SDK )?\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)? ?(?:Z|[+-]\d\d:?\d\d|UTC)?\]?[ -]*`)
	clockLine  = lazyregexp.New(`^\d\d:\d\d:\d\d(?:\.\d+)? +`)
	syslogLine = lazyregexp.New(`^(?:[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d) +(?:(\S+) +)?`)
	kernelLine = lazyregexp.New(`^\[ *\d+\.\d+\] *`)
	tagged     = lazyregexp.New(`^([A-Za-z][\w.@/-]{1,40})\[\d+\]: *`)
	levelTag   = lazyregexp.New(`^([A-Za-z][\w.]{1,40})\[(DEBUG|INFO|WARNING|ERROR|CRITICAL)\]: *`)
	levelWord  = lazyregexp.New(`^(?:\[(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|PANIC|CRITICAL)\]|(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|PANIC|CRITICAL)\b):? *`)
	lowLevel   = lazyregexp.New(`^(debug|info|warn|error|fatal|panic|dpanic) +`)
	signLine   = lazyregexp.New(`^\[([✖ℹ!✔▶])\] +`)
	startLine  = lazyregexp.New(`^(?:\[?(?:Error|error|FAILED|DEPEND| *OK *)\]?:? )|^(?:- |\d+\. |[•] )`)
	logfmtLine = lazyregexp.New(`^(?:time=\S+ )?level=(\w+) `)
	unitLine   = lazyregexp.New(`^(?:systemd(?:\[1\])?): `)
)

// headed is a line that begins as a log's does, with a time.
var headed = lazyregexp.New(`^[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d |^\d{4}-\d\d-\d\d[T ]|^[IWEF]\d{4} |^time="`)

// head is what stands before a line's words.
type head struct {
	program, rest string
	level         level
	starts        bool // the line is a message's first
}

// headOf takes a log's prefix from a line.
func headOf(line string) head {
	h := head{rest: line}
	take := func(n int, l level) {
		h.rest, h.starts = h.rest[n:], true
		if l != unsaid {
			h.level = l
		}
	}
	stamped := false
	for range 6 {
		before := h.rest
		for _, form := range []*lazyregexp.Regexp{stampLine, syslogLine, kernelLine, clockLine} {
			if m := form.FindString(h.rest); m != "" {
				take(len(m), unsaid)
				stamped = true
			}
		}
		if m := tagged.FindStringSubmatch(h.rest); m != nil {
			h.program = m[1]
			take(len(m[0]), unsaid)
			stamped = true
		}
		if m := levelTag.FindStringSubmatch(h.rest); m != nil {
			if h.program == "" {
				h.program = m[1]
			}
			take(len(m[0]), wordLevel(m[2]))
		}
		if m := klogLine.FindStringSubmatch(h.rest); m != nil {
			if h.program == "" {
				h.program = m[2]
			}
			take(len(m[0]), klogLevel(m[1]))
		}
		if m := klogTail.FindStringSubmatch(h.rest); m != nil {
			if h.program == "" {
				h.program = m[1]
			}
			take(len(m[0]), unsaid)
		}
		if m := levelWord.FindStringSubmatch(h.rest); m != nil {
			if strings.HasPrefix(m[0], "[ERROR]:") && h.program == "" {
				h.program = "awssupport" // how AWS's runbooks print their findings
			}
			take(len(m[0]), wordLevel(m[1]+m[2]))
		}
		if m := lowLevel.FindStringSubmatch(h.rest); m != nil && stamped {
			take(len(m[0]), wordLevel(m[1]))
		}
		if m := signLine.FindStringSubmatch(h.rest); m != nil {
			l := fault
			if m[1] == "ℹ" || m[1] == "✔" || m[1] == "▶" {
				l = calm
			}
			take(0, l)
			break
		}
		if h.rest == before {
			break
		}
	}
	if rest, ok := strings.CutPrefix(h.rest, "Error: "); ok && headed.MatchString(rest) {
		inner := headOf(rest) // a log's line that Terraform quotes
		inner.starts = true
		return inner
	}
	if m := logfmtLine.FindStringSubmatch(h.rest); m != nil {
		take(0, wordLevel(m[1]))
	}
	if m := startLine.FindString(h.rest); m != "" {
		h.starts = true
		if strings.Contains(m, "OK") {
			h.level = calm
		}
	}
	h.starts = h.starts || unitLine.MatchString(h.rest)
	h.rest = strings.TrimSpace(h.rest)
	return h
}

func klogLevel(letter string) level {
	if letter == "I" {
		return calm
	}
	return fault
}

func wordLevel(word string) level {
	switch strings.ToLower(strings.Trim(word, "[]:")) {
	case "trace", "debug", "info", "notice", "information", "informational":
		return calm
	case "":
		return unsaid
	}
	return fault
}
