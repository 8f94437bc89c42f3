package main

import (
	"path"
	"regexp"
	"strings"

	"rollcall/shared/node/text"
)

// class is what is known of a message: row, healthy, nothing with the name of the rule
// that says so, or open, which no list may have.
type class string

// The classes; a rule's name stands behind healthy and nothing.
const (
	classRow     class = "row"
	classHealthy class = "healthy"
	classNothing class = "nothing"
	classOpen    class = "open" // no row and no rule knows it, or a row answers a healthy line
)

// kind returns the class without the rule's name.
func (c class) kind() class {
	name, _, _ := strings.Cut(string(c), ":")
	return class(name)
}

// known reports whether the engine has a row that knows a text.
func known(line string) bool {
	told := text.Classify(line)
	return told.Check != "" || told.Meaning != text.Classify("").Meaning
}

// classifier holds the rules, compiled.
type classifier struct{ lines, rules []decision }

// decision is a rule whose forms are compiled; nil fits everything.
type decision struct {
	class                      class
	line                       string
	program, where, words, not *regexp.Regexp
}

func newClassifier() classifier {
	var c classifier
	for _, p := range printedAs() {
		c.lines = append(c.lines, decision{line: p.line, program: form(p.program), where: form(p.where)})
	}
	for _, r := range rules() {
		c.rules = append(c.rules, decision{class: r.class + ":" + class(r.name), program: form(r.program), where: form(r.where), words: form(r.words), not: form(r.not)})
	}
	return c
}

func form(s string) *regexp.Regexp {
	if s == "" {
		return nil
	}
	return regexp.MustCompile("(?i)" + s)
}

func (d decision) fits(p program, m message) bool {
	fits := func(re *regexp.Regexp, s string) bool { return re == nil || re.MatchString(s) }
	words := string(m.kind) + " " + m.level
	if m.err {
		words += "+err"
	}
	words += " " + m.words
	return fits(d.program, p.name) && fits(d.where, m.file()+" "+m.fn) && fits(d.words, words) && (d.not == nil || !d.not.MatchString(words))
}

// classify returns the class of a message: lines of work that goes well first, of which no
// row knows any, then what a row knows, then the rules.
func (c classifier) classify(p program, m message) class {
	isKnown := known(m.line(p))
	switch {
	case m.healthy() && !m.troubled() && isKnown:
		return classOpen
	case m.healthy() && !m.troubled():
		return classHealthy
	case isKnown:
		return classRow
	}
	for _, d := range c.lines {
		if m.kind == kindError && d.fits(p, m) && known(strings.Replace(d.line, "{words}", strings.ReplaceAll(fill(m.words), `"`, ""), 1)) {
			return classRow
		}
	}
	for _, d := range c.rules {
		if d.fits(p, m) {
			return d.class
		}
	}
	return classOpen
}

// rule decides about messages that no row knows: of programs (all if empty), where
// "package/file.go function" matches, and whose words match.
type rule struct {
	class                            class
	name, program, where, words, not string
	why                              string
}

// healthy reports whether a message is of the kind that a node without a fault prints.
func (m message) healthy() bool {
	switch m.kind {
	case kindLog:
		return m.level == "info" || m.level == "debug" || m.level == "trace"
	case kindEvent:
		return m.level == "Normal"
	case kindCondition:
		bad := inverted.MatchString(m.words)
		return m.level == "True" && !bad || m.level == "False" && bad
	}
	return false
}

// troubled reports whether words tell of a fault, whatever their level.
func (m message) troubled() bool {
	return m.err || m.kind != kindCondition && trouble.MatchString(m.words)
}

var (
	inverted = regexp.MustCompile(`^(\w*Pressure|KubeletHasInsufficient\w*|DisruptionTarget|NetworkUnavailable|Drifted|Expired|Empty|ConsistentStateNotFound|InstanceTerminating|Disrupted|\w*Failed)\b`)
	trouble  = regexp.MustCompile(`(?i)fail|tombstone contained|syncloop \(probe\)$|different number than|hasdiskpressure|error|\berr\b|\berr[:=]|unable|can ?not|can't|could ?n[o']t|could not|not found|not[ -]?ready|not (yet )?(set|exist|available|supported|allowed|able|match|running|valid|synced|initialized|enough)|n't|invalid|` +
		`time[d ]*out|timeout|deadline|exceed|insufficient|missing|denied|refused|reject|unauthor|forbidden|unavailable|unhealthy|unknown|unexpected|retry|retries|giving up|give up|skip|ignor|missed|lost|no longer|stale|leak|exhaust|throttl|interrupt|terminat|evict|kill|taint|drain|abort|discard|dropp|unreach|impaired|conflict|mismatch|degraded|deleted|out of|garbage|incompat|unkown|on delete|not fully bound|not have|none available|different length|back(ing)? ?-?off|message for container|breach|trying next|after status|not present|duplicate|disabled due|in backoff|blackhol|crossed|larger than|different groups|\boom|taskoom|different numbers|ipamd stopped|do not mach|non schedulable|standalone mode|no api server|stop pulling|no matching|not bound|forcibly|still held|\bdeny|background api|unparse|not (completed|support)|discrepan|waiting for api|waiting for (upto|api)|approaching|excluding|no valid|has no|limited|old controller|no [\w/ ]+ (found|available)|unsupported|no (available|free|ip|subnet|instance|eni|security|node|such)|were different|different (number of|memory)|are different$|event message for node|in new state|never updated|over the high|awaiting registration|defaulting to same subnet|sent pod event|SendPodEvent|differs from the number`)
)

// line is a message as its program writes it, the holes filled.
func (m message) line(p program) string {
	if m.kind == kindCode {
		return "An error occurred (" + m.fn + ") when calling the " + m.level + " operation: some words."
	}
	words := fill(m.words)
	switch m.kind {
	case kindEvent:
		return m.level + " " + words
	case kindCondition:
		typed, rest, _ := strings.Cut(words, " ")
		if of, ok := strings.CutSuffix(m.fn, "PressureCondition"); ok { // sets its fields one by one, and the type elsewhere
			typed, rest = of+"Pressure", words
		}
		return typed + " " + m.level + " " + rest
	}
	level, form := m.level, p.line
	if m.kind == kindError {
		level = "error"
	}
	if m.healthy() && !m.err {
		form = errorField.ReplaceAllString(form, "")
	}
	return strings.NewReplacer("{program}", strings.ReplaceAll(p.name, " ", "-"), "{level}", level, "{L}", strings.ToUpper(level[:1]), "{file}", path.Base(m.file()),
		"{words}", strings.ReplaceAll(words, `"`, `\"`)).Replace(form)
}

// errorField is the error in a form's line, which a line of work that goes well has not.
var errorField = regexp.MustCompile(` err(or)?="some error"|,"error":"some error"`)

var hole = regexp.MustCompile(`(\w*)([ ="'(\[]*)%(?:\[\d\])?[-+#]?[\d.]*([a-zA-Z])`)

// fill puts typical values into a format: by the word in front of a hole what it names,
// otherwise an error that says nothing.
func fill(format string) string {
	return hole.ReplaceAllStringFunc(format, func(found string) string {
		parts := hole.FindStringSubmatch(found)
		value, ok := values()[strings.ToLower(parts[1])]
		switch {
		case ok:
		case parts[3] == "d":
			value = "3"
		case parts[3] == "t":
			value = "true"
		case parts[3] == "w" || strings.HasSuffix(parts[2], " ") && parts[1] == "":
			value = "some error"
		default:
			value = "something"
		}
		return parts[1] + parts[2] + value
	})
}

func values() map[string]string {
	return map[string]string{"node": "ip-10-0-1-2.ec2.internal", "nodes": "ip-10-0-1-2.ec2.internal", "instance": "i-0123456789abcdef0", "subnet": "subnet-0123456789abcdef0",
		"eni": "eni-0123456789abcdef0", "interface": "eni-0123456789abcdef0", "pod": "default/app-1", "image": "example.com/app:1", "ip": "10.0.1.2", "url": "https://example.com/",
		"path": "/var/lib/app", "file": "/var/lib/app/file", "sandbox": "0123456789abcdef", "container": "0123456789abcdef", "vpc": "vpc-0123456789abcdef0", "region": "us-east-1"}
}
