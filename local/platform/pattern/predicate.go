package pattern

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"
)

// predicate judges one leaf of an event.
type predicate interface {
	matches(leaf node) bool
}

var (
	_ predicate = exact{}
	_ predicate = number{}
	_ predicate = equalFold{}
	_ predicate = affix{}
	_ predicate = wildcard{}
	_ predicate = anythingBut{}
	_ predicate = numeric{}
	_ predicate = cidr{}
	_ predicate = exists{}
)

// exact is a string, true, false or null.
type exact struct {
	kind kind
	text string
}

func (p exact) matches(leaf node) bool { return leaf.kind == p.kind && leaf.text == p.text }

// number is a plain number: equal by value inside the range of numeric
// matching, else by its text (an account id, for example).
type number struct {
	text    string
	value   float64
	byValue bool
}

func (p number) matches(leaf node) bool {
	if leaf.kind != kindNumber {
		return false
	}
	if leaf.text == p.text {
		return true
	}
	f, ok := bounded(leaf.text)
	return ok && p.byValue && f == p.value
}

type equalFold struct{ text string }

func (p equalFold) matches(leaf node) bool {
	return leaf.kind == kindString && strings.EqualFold(leaf.text, p.text)
}

// affix is a prefix or a suffix, as written or ignoring case.
type affix struct {
	text   string
	suffix bool
	fold   bool
}

func (p affix) matches(leaf node) bool {
	if leaf.kind != kindString {
		return false
	}
	switch {
	case p.fold && p.suffix:
		return foldSuffix(leaf.text, p.text)
	case p.fold:
		return foldPrefix(leaf.text, p.text)
	case p.suffix:
		return strings.HasSuffix(leaf.text, p.text)
	default:
		return strings.HasPrefix(leaf.text, p.text)
	}
}

// foldPrefix works rune by rune, because two runes that fold together may
// have encodings of different length.
func foldPrefix(s, prefix string) bool {
	for prefix != "" {
		if s == "" {
			return false
		}
		a, n := utf8.DecodeRuneInString(s)
		b, m := utf8.DecodeRuneInString(prefix)
		if !sameFold(a, b) {
			return false
		}
		s, prefix = s[n:], prefix[m:]
	}
	return true
}

func foldSuffix(s, suffix string) bool {
	for suffix != "" {
		if s == "" {
			return false
		}
		a, n := utf8.DecodeLastRuneInString(s)
		b, m := utf8.DecodeLastRuneInString(suffix)
		if !sameFold(a, b) {
			return false
		}
		s, suffix = s[:len(s)-n], suffix[:len(suffix)-m]
	}
	return true
}

func sameFold(a, b rune) bool {
	if a == b {
		return true
	}
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}

// wildcard holds the literal parts between the asterisks.
type wildcard struct{ parts []string }

func (p wildcard) matches(leaf node) bool {
	if leaf.kind != kindString {
		return false
	}
	s, last := leaf.text, len(p.parts)-1
	if last == 0 {
		return s == p.parts[0]
	}
	if !strings.HasPrefix(s, p.parts[0]) {
		return false
	}
	s = s[len(p.parts[0]):]
	// The leftmost place for each middle part leaves most for the rest.
	for _, part := range p.parts[1:last] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, p.parts[last])
}

// anythingBut matches every leaf that none of its predicates matches, of
// whatever kind; the field must be there.
type anythingBut struct{ none []predicate }

func (p anythingBut) matches(leaf node) bool {
	for _, q := range p.none {
		if q.matches(leaf) {
			return false
		}
	}
	return true
}

type comparison struct {
	op    string
	value float64
}

// numeric holds one comparison, or the two of a range.
type numeric []comparison

func (p numeric) matches(leaf node) bool {
	if leaf.kind != kindNumber {
		return false
	}
	f, ok := bounded(leaf.text)
	if !ok {
		return false
	}
	for _, c := range p {
		var holds bool
		switch c.op {
		case "=":
			holds = f == c.value
		case "<":
			holds = f < c.value
		case "<=":
			holds = f <= c.value
		case ">":
			holds = f > c.value
		case ">=":
			holds = f >= c.value
		}
		if !holds {
			return false
		}
	}
	return true
}

type cidr struct{ block netip.Prefix }

func (p cidr) matches(leaf node) bool {
	if leaf.kind != kindString {
		return false
	}
	addr, err := netip.ParseAddr(leaf.text)
	return err == nil && p.block.Contains(addr)
}

// exists with want false is judged where the event is known as a whole: see
// candidates. As a predicate on a leaf that is there it fails.
type exists struct{ want bool }

func (p exists) matches(node) bool { return p.want }
