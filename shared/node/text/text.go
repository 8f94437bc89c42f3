// Package text finds what a pasted text means: an error of an
// API, a line of a log, a condition, an event, a message of a tool.
//
// It goes by the form of the text and not by a list of sentences. The text is
// unwrapped first, then its facts are found: who wrote
// it, which call it names, with which code it ended, what failed and on
// what. Small tables say what those facts mean. Texts of launches are
// classified by package activity, those of consoles by package console.
//
// It is pure, and quick on any input: what is looked at is bounded.
//
// A text is untrusted. What is reported holds words of this package alone, and of
// the text no more than calls and codes that this package knows.
package text

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"rollcall/shared/checkid"
	"rollcall/shared/lazyregexp"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/messages"
)

// Result is what a text tells.
type Result struct {
	// Kind is what kind of text it is: "a line of the kubelet's log".
	Kind string
	// Failed is what failed, as far as the text says: "ec2:DescribeInstances
	// was refused". It may be empty.
	Failed string
	// Check is the id of the check that looks for what the text tells, or empty
	// where the text does not show enough.
	Check checkid.ID
	// Symptom reports whether Check names how something shows, and Look what may be
	// behind it.
	Symptom bool
	// Meaning is half a sentence, Next one or two sentences.
	Meaning, Next string
	// Look are the checks that may be behind it, in the order in which to look.
	Look []checkid.ID
	// Named are the resources that the record names which tells it.
	Named activity.Named
	// Values are what else it names: at the row's named gaps, and by its form.
	Values []messages.Value
	// Command is what to run next; empty where the record names nothing to look at.
	Command string
}

// weight orders what several messages of one text tell: a cause says more than
// a symptom, and a symptom more than an explanation.
func (t Result) weight() int {
	switch {
	case t.Check == "" && t.Meaning == "":
		return 0
	case t.Check == "":
		return 1
	case t.Symptom:
		return 2
	}
	return 3
}

// Classify tells what a text means: of several faults the one that says most, the earliest
// of those.
func Classify(text string) Result {
	list := findings(text)
	if len(list) == 0 {
		return unknown(known().facts(record{words: plain(clean(text[:min(len(text), maxRecord)]))}))
	}
	return list[0].Result
}

// All returns each fault of a text once: causes in the order in which they came, then
// how they show.
func All(text string) []Result {
	var list []Result
	for _, f := range findings(text) {
		list = append(list, f.Result)
	}
	return list
}

// CauseOfKarpenter is the check that looks for what a line of Karpenter's log tells;
// empty where it tells no cause, or only how something shows.
func CauseOfKarpenter(line string) checkid.ID {
	if told := Classify("karpenter: " + line); !told.Symptom {
		return told.Check
	}
	return ""
}

// finding is what a record tells.
type finding struct {
	Result
	record record
}

// findings reads each record by itself, in their order. What is over later is not in it: a
// condition that became well, a node that registered after all.
func findings(text string) []finding {
	records := part(text)
	e := known()
	var list []finding
	settled := map[string]bool{}
	for _, r := range records {
		if r.form == condition {
			settled[r.subject] = true
		}
	}
	take := func(r record) bool {
		t := e.one(r)
		if t.weight() == 0 {
			return false
		}
		t = t.naming(r)
		list = append(list, finding{t, r})
		return true
	}
	for i := 0; i < len(records); i++ {
		r := records[i]
		list = slices.DeleteFunc(list, func(f finding) bool { return overBy(f, r) })
		if r.form == command || (r.form == transition || r.form == event) && r.subject != "" && settled[r.subject] {
			continue
		}
		if r.form == prose && r.level != calm {
			if n := sentence(records[i:]); n > 1 {
				// Each line alone, else what is wrapped over them.
				found := false
				for _, line := range records[i : i+n] {
					found = take(line) || found
				}
				if !found || list[len(list)-1].weight() < 3 {
					take(joined(records[i : i+n]))
				}
				i += n - 1
				continue
			}
		}
		take(r)
	}
	return ordered(list)
}

// sentence is over how many lines a sentence may be wrapped that begins with the first.
func sentence(records []record) int {
	n := 1
	for n < len(records) && n < maxRun && records[n].form == prose && records[n].level != calm && records[n].paragraph == records[0].paragraph {
		n++
	}
	return n
}

func joined(records []record) record {
	r := records[0]
	r.words = ""
	for _, one := range records {
		r.words = strings.TrimSpace(r.words + " " + one.words)
	}
	return r
}

// ordered are the findings each once, what says most first.
func ordered(list []finding) []finding {
	slices.SortStableFunc(list, func(a, b finding) int { return b.weight() - a.weight() })
	var kept []finding
	for _, f := range list {
		same := func(o finding) bool { return o.Check == f.Check && (f.Check != "" || o.Meaning == f.Meaning) }
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, f)
		}
	}
	return kept
}

// naming takes in what a record names, and what to run for it.
func (t Result) naming(r record) Result {
	if t.Check == "" && t.Values == nil {
		return t
	}
	t.Named = activity.NamedIn(r.words)
	t.Values = append(t.Values, valuesIn(r.words)...)
	t.Command = commandOf(t.Check, t.Named, t.Values)
	return t
}

// overBy reports whether what was found is over with a later record: the same condition
// has become well, or the node has registered or become Ready.
func overBy(f finding, r record) bool {
	if !endsAny(r) || ofOthers(f.record.words, r.words) {
		return false
	}
	if r.subject != "" && r.subject == f.record.subject && r.form != condition {
		return true
	}
	switch {
	case isReady(r):
		return f.Symptom && (f.Check == checkid.NodeNotReady || f.Check == checkid.NodeCNINotReady) || untilRegistered(f)
	case isRegistered(r):
		return untilRegistered(f)
	}
	return false
}

// named are the nodes, instances and objects of Karpenter that a record names.
var named = lazyregexp.New(`\bip-\d+-\d+-\d+-\d+\b|\bi-[0-9a-f]{8,17}\b|\b(?:nodeclaim|nodepool|ec2nodeclass|nodeclass)/[\w.-]+`)

// ofOthers reports whether two records name objects, and none that both name: that one
// node became Ready says nothing about another.
func ofOthers(a, b string) bool {
	const most = 8
	of, others := named.FindAllString(a, most), named.FindAllString(b, most)
	return len(of) > 0 && len(others) > 0 && !slices.ContainsFunc(of, func(name string) bool { return slices.Contains(others, name) })
}

// endsAny reports whether a record may end something that was found.
func endsAny(r record) bool {
	return r.level == calm && r.subject != "" || r.level != fault && (isReady(r) || isRegistered(r))
}

// isReady reports whether a record says that a node became Ready.
func isReady(r record) bool {
	return r.form == event && strings.Contains(r.words, "status is now: NodeReady") || recordedReady.MatchString(r.words) || strings.Contains(r.words, "as it just became ready") ||
		r.form == transition && r.subject == "ready" && strings.Contains(r.words, "KubeletReady")
}

// recordedReady is the kubelet's line of that event (pkg/kubelet/kubelet_node_status.go).
var recordedReady = lazyregexp.New(`Recording event message for node.*event[=:] ?"?NodeReady\b`)

// isRegistered reports whether a record says that a node registered (Kubernetes,
// pkg/kubelet/kubelet_node_status.go; Karpenter, pkg/controllers/nodeclaim/lifecycle).
func isRegistered(r record) bool {
	return strings.Contains(r.words, "Successfully registered node") || strings.Contains(r.words, "message: registered nodeclaim") ||
		strings.Contains(r.words, "msg: registered nodeclaim") || r.form == transition && r.level == calm && r.subject == "registered"
}

// untilRegistered reports whether a finding is over once a node has registered.
func untilRegistered(f finding) bool {
	switch f.Check {
	case checkid.NodeNotRegistered, checkid.IAMAccessMissing, checkid.IAMAccessWrongType, checkid.IAMSTSEndpoint, checkid.InstanceConsoleError,
		checkid.InstanceUserData, checkid.InstanceIMDS, checkid.DNSHostnamesOff, checkid.IAMProfileMissing:
		return true
	}
	return false
}

// launchFailed reports whether a text is the end of a launch that failed, whyever.
func launchFailed(low string) bool {
	return strings.Contains(low, "launching ec2 instance failed") || strings.Contains(low, "could not launch spot instances") || strings.Contains(low, "could not launch on-demand instances")
}

// unknown says what kind of text it is, and what to send next.
func unknown(f facts) Result {
	t := Result{Kind: f.kind(), Failed: f.failed(), Meaning: "the text alone does not tell why a node did not join"}
	switch {
	case f.program == messages.UnknownProgram && launchFailed(f.low):
		t.Check = checkid.LaunchUnclassified
		t.Meaning, t.Next = messages.Words(checkid.LaunchUnclassified)
	case f.by(messages.Kubectl, messages.Terraform, messages.Eksctl):
		t.Next = "Send what it is about: the nodegroup's health issues (aws eks describe-nodegroup), or the scaling activities of its group."
	case f.by(messages.Karpenter):
		t.Next = "Send the NodeClaim's conditions (kubectl describe nodeclaim) and the controller's lines of level ERROR."
	case f.by(messages.Kubelet, messages.Nodeadm, messages.Containerd, messages.CloudInit, messages.Bootstrap, messages.Bottlerocket):
		t.Next = "Send the lines around it: the last error before the program gave up, with the address that it names."
	default:
		t.Next = "Paste the whole message with its code, and the lines before it."
	}
	return t
}

// facts are what a message says, apart from its wording.
type facts struct {
	form  form
	words string // as they were written
	low   string // in lower case
	// program wrote the message, as far as it tells; wrapped is the tool that
	// quotes it.
	program, wrapped messages.Program
	calls            []string // operations of AWS APIs, in lower case
	codes            []string // of APIs, without "Client." and "Server."
	fails            []messages.Failure
	hosts            []messages.Host
	node             bool // an instance's own role made the call
}

// The forms in which SDKs and services name a call and its error: AWS SDKs for
// Go v2, Java and Python, the CLI, IAM's messages, CloudTrail, XML of EC2 and
// S3, and the JSON of what wraps them.
var (
	goError     = lazyregexp.New(`operation error ([A-Za-z0-9 ]{2,40}): ?([A-Za-z0-9]{3,60})`)
	goCode      = lazyregexp.New(`api error ([A-Za-z][A-Za-z0-9._-]{2,70})`)
	pythonError = lazyregexp.New(`An error occurred \(([A-Za-z0-9._]{3,70})\)(?: when calling the ([A-Za-z0-9]{3,60}) operation)?`)
	namedCode   = lazyregexp.New(`(?:[Ee]rror ?[Cc]ode|HandlerErrorCode|\b[Cc]ode|<Code>|aws-error-code)\s*[:=>]?\s*([A-Z][A-Za-z0-9]+(?:\.[A-Za-z0-9]+)*)`)
	slashed     = lazyregexp.New(`\b[a-z][a-z0-9-]{1,30}/([A-Z][a-z]+[A-Z][A-Za-z]{2,60})\b`)
	action      = lazyregexp.New(`\b(ec2|eks|ecr|iam|sts|autoscaling|ssm|kms|eks-auth|s3|pricing|sqs|elasticloadbalancing):([A-Z][A-Za-z]{3,60})\b`)
	eventName   = lazyregexp.New(`\b(?i:eventName|calling|call|operation|operation:|action:?|aws-operation-name[=:])\s*:? ?(?:the )?([A-Z][a-z]+(?:[A-Z][A-Za-z0-9]+)+)`)
	grpcCode    = lazyregexp.New(`rpc error: code = \w+`)
	codeForm    = lazyregexp.New(`\b[A-Z][A-Za-z0-9]+(?:\.[A-Z][A-Za-z0-9]+)*\b`)
	nodeRole    = lazyregexp.New(`assumed-role/[\w+=,.@-]+/i-[0-9a-fx*]{4,}|:node:|/i-[0-9a-f]{8,17}\b`)
)

// healthy is what is said of a node that lacks nothing: conditions and events of
// the kubelet.
var healthy = lazyregexp.New(`node(?:has)?no(?:disk|memory|pid)pressure|nodehassufficient\w+|kubelethas(?:sufficient|no)\w+|has no disk pressure|has sufficient \w+|` +
	`\b(?:disk|memory|pid)pressure:? +false|\bnetworkunavailable:? +false|type: \w+pressure,? status: false[^;]*?(?:message: [^,]*)?`)

func (f *facts) readCalls() {
	call := func(name string) {
		if name = strings.ToLower(name); !slices.Contains(f.calls, name) {
			f.calls = append(f.calls, name)
		}
	}
	for _, form := range []struct {
		of    *lazyregexp.Regexp
		group int
	}{{goError, 2}, {pythonError, 2}, {action, 2}, {slashed, 1}, {eventName, 1}} {
		for _, m := range form.of.FindAllStringSubmatch(f.words, -1) {
			if m[form.group] != "" {
				call(m[form.group])
			}
		}
	}
	for _, name := range messages.KnownCalls() {
		if strings.Contains(f.words, name) {
			call(name)
		}
	}
	if strings.Contains(f.low, "creating fleet") || strings.Contains(f.low, "create fleet") || strings.Contains(f.low, "launchtemplateandoverrides") {
		call("CreateFleet")
	}
}

func (f *facts) readCodes() {
	code := func(name string) {
		for _, side := range []string{"Client.", "Server."} {
			// "Client.InternalError" and "Server.InternalError" are not the same.
			if rest, ok := strings.CutPrefix(name, side); ok && rest != "InternalError" {
				name = rest
			}
		}
		if len(f.codes) < 32 && !slices.Contains(f.codes, name) {
			f.codes = append(f.codes, name)
		}
	}
	words := f.words
	if strings.Contains(words, "rpc error: code = ") {
		words = grpcCode.ReplaceAllString(words, "rpc error:") // gRPC's codes are not AWS's
	}
	for _, form := range []*lazyregexp.Regexp{goCode, pythonError, namedCode} {
		for _, m := range form.FindAllStringSubmatch(words, -1) {
			code(strings.TrimRight(m[1], "."))
		}
	}
	for _, word := range codeForm.FindAllString(words, 400) {
		if capitals(word) > 1 || strings.Contains(word, ".") {
			code(word)
		}
	}
}

func capitals(word string) int {
	n := 0
	for _, r := range word {
		if 'A' <= r && r <= 'Z' {
			n++
		}
	}
	return n
}

func (f facts) by(programs ...messages.Program) bool {
	return slices.Contains(programs, f.program) || f.wrapped != "" && slices.Contains(programs, f.wrapped)
}

func (f facts) failed1(kinds ...messages.Failure) bool {
	return slices.ContainsFunc(kinds, func(k messages.Failure) bool { return slices.Contains(f.fails, k) })
}

// MaxPasted is how long a text may be that Tell reads as a whole, in bytes. A longer
// one is a log.
const MaxPasted = maxText

const (
	// longestLine is how much of a line is read: the longest that a kubelet writes, an
	// error with the object in it, has some 10 KB.
	longestLine = 32 << 10
	// mostForms is how many lines of different form are reported, half a millisecond each.
	// A month of a kubelet's journal has some 2,000.
	mostForms = 10_000
	// mostBlock is how many lines that belong together are read as one.
	mostBlock = 200
)

// Log is what the lines of a log tell.
type Log struct {
	Lines int
	// Findings is one line for each check, those that tell a cause first, then how it
	// shows; of those the one that came first in the log.
	Findings []Line
	// Unread are lines of forms beyond the most that are reported.
	Unread int
	// Cut are lines of which only the begin was read.
	Cut int
}

// Line is the first line of a log that shows what a check finds.
type Line struct {
	Result
	Number int // from 1
	Text   string
	// Count is how many lines tell of the check.
	Count int
}

// ReadLog reads a log line by line, in memory that does not grow with it. Lines that
// differ in numbers and ids alone are reported once. What is over later in the log is
// left out. The error is the reader's.
func ReadLog(r io.Reader) (Log, error) { return readLog(r, mostForms) }

// logReader is how far a log is read.
type logReader struct {
	log  Log
	most int
	// known is what lines of a form come to.
	known map[uint64]*line
	seed  maphash.Seed
	found []*found
	// block are lines that belong together, and begin at line from: tables, objects,
	// sentences.
	block []string
	from  int
}

// line is what lines of one form come to: nothing, a fault, or that some are over.
type line struct {
	record record
	found  *found
}

// found is a fault of a log. It stays where it was first seen, unless it was over in
// between.
type found struct {
	Line
	record record
	over   bool
}

// readLog tells so many forms of lines at most.
func readLog(r io.Reader, most int) (Log, error) {
	in := bufio.NewReaderSize(r, longestLine)
	l := logReader{most: most, known: map[uint64]*line{}, seed: maphash.MakeSeed()}
	for {
		text, cut, err := nextLine(in)
		if len(text) > 0 || cut {
			l.log.Lines++
			if cut {
				l.log.Cut++
			}
			l.take(text)
		} else if err == nil {
			l.log.Lines++ // an empty one
			l.endBlock()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Log{}, fmt.Errorf("read the log: %w", err)
		}
	}
	l.endBlock()
	for _, f := range l.found {
		if !f.over {
			l.log.Findings = append(l.log.Findings, f.Line)
		}
	}
	slices.SortStableFunc(l.log.Findings, func(a, b Line) int { return cmp.Or(b.weight()-a.weight(), a.Number-b.Number) })
	return l.log, nil
}

// nextLine reads a line without its end, of a longer one the begin. What it returns
// is overwritten by the next call.
func nextLine(in *bufio.Reader) (line []byte, cut bool, err error) {
	line, err = in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line = slices.Clone(line)
		for cut = true; errors.Is(err, bufio.ErrBufferFull); {
			_, err = in.ReadSlice('\n')
		}
		return line, cut, err
	}
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	return line, false, err
}

// take reads a line, unless one of its form was read.
func (l *logReader) take(text []byte) {
	if !utf8.Valid(text) && noise(text) {
		return
	}
	f := shape(text, l.seed)
	if known, ok := l.known[f]; ok {
		l.endBlock()
		l.again(known)
		return
	}
	if len(l.known)+len(l.block) >= l.most {
		l.log.Unread++
		return
	}
	one := string(text)
	if !alone(one) {
		if len(l.block) == 0 {
			l.from = l.log.Lines
		}
		if l.block = append(l.block, one); len(l.block) == mostBlock {
			l.endBlock()
		}
		return
	}
	l.endBlock()
	known := &line{}
	for _, r := range part(one) {
		l.ends(r)
		if endsAny(r) {
			known.record = r
		}
		if f := l.find(r, l.log.Lines, one); f != nil {
			known.found = f
		}
	}
	l.known[f] = known
}

// alone reports whether a line is a whole record: a log's line, not a table's or an
// object's.
func alone(line string) bool {
	h := headOf(clean(line))
	return h.starts && h.rest != strings.TrimSpace(line) || strings.HasPrefix(line, "{") && strings.HasSuffix(strings.TrimSpace(line), "}")
}

// endBlock reads the lines that belong together.
func (l *logReader) endBlock() {
	if len(l.block) == 0 {
		return
	}
	block, from := l.block, l.from
	l.block = nil
	for _, one := range block {
		l.known[shape([]byte(one), l.seed)] = nil
	}
	for _, f := range findings(strings.Join(block, "\n")) {
		l.add(f.Result, f.record, from+f.record.line, strings.TrimSpace(block[min(f.record.line, len(block)-1)]))
	}
	for _, r := range part(strings.Join(block, "\n")) {
		l.ends(r)
	}
}

// again counts a line of a form that was read.
func (l *logReader) again(known *line) {
	if known == nil {
		return
	}
	if known.record.words != "" {
		l.ends(known.record)
	}
	if known.found == nil {
		return
	}
	if known.found.over {
		known.found.over, known.found.Number = false, l.log.Lines
	}
	known.found.Count++
}

// ends takes in that a record may end what was found before it.
func (l *logReader) ends(r record) {
	if !endsAny(r) {
		return
	}
	for _, f := range l.found {
		f.over = f.over || overBy(finding{f.Result, f.record}, r)
	}
}

// find reads a record.
func (l *logReader) find(r record, number int, text string) *found {
	if r.form == command {
		return nil
	}
	return l.add(known().one(r).naming(r), r, number, text)
}

// add takes in a fault; nil for what is none.
func (l *logReader) add(t Result, r record, number int, text string) *found {
	if t.Check == "" || t.Check == checkid.LaunchUnclassified {
		return nil
	}
	if i := slices.IndexFunc(l.found, func(o *found) bool { return o.Check == t.Check }); i >= 0 {
		f := l.found[i]
		if f.over {
			*f = found{Line: Line{Result: t, Number: number, Text: strings.ToValidUTF8(text, "�")}, record: r}
		}
		f.Count++
		return f
	}
	f := &found{Line: Line{Result: t, Number: number, Text: strings.ToValidUTF8(text, "�"), Count: 1}, record: r}
	l.found = append(l.found, f)
	return f
}

// noise reports whether a line is not of a text: more than one byte in eight that no text
// has.
func noise(line []byte) bool {
	bad := 0
	for _, b := range line {
		if b < ' ' && b != '\t' && b != '\r' && b != '\x1b' || b == 0x7f {
			bad++
		}
	}
	return bad*8 > len(line)
}

// shape is a line's hash without what differs from one to the next: words with a digit
// in them, which are times, addresses, ids and counts.
func shape(line []byte, seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	begin, digit := 0, false
	word := func(end int) {
		if digit {
			h.WriteByte('#')
		} else {
			h.Write(line[begin:end])
		}
	}
	for i, b := range line {
		switch {
		case b >= '0' && b <= '9':
			digit = true
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= utf8.RuneSelf:
		default:
			word(i)
			h.WriteByte(b)
			begin, digit = i+1, false
		}
	}
	word(len(line))
	return h.Sum64()
}
