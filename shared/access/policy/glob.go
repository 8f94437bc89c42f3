package policy

import (
	"slices"
	"strings"
)

// arnParts is how many parts an ARN has: arn:partition:service:region:account:resource.
const arnParts = 6

// truth is yes, no, or "cannot be decided from here".
type truth int

const (
	no truth = iota
	maybe
	yes
)

func (t truth) not() truth { return yes - t }

// anyOf is yes when one of the list is.
func anyOf[T any](list []T, is func(T) truth) truth {
	best := no
	for _, v := range list {
		best = max(best, is(v))
	}
	return best
}

// matches tells that a pattern with * and ? matches a text. It takes time in
// proportion to the product of their lengths, whatever the pattern.
func matches(pattern, text string) bool { return covers(pattern, text, false) }

// covers tells that a pattern matches a text; with wild, every text that the
// second pattern matches. That is on the safe side: patterns exist that cover
// another one without this seeing it, such as "?*" over "*?".
func covers(pattern, text string, wild bool) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == text[t] || pattern[p] == '?') && !(wild && text[t] == '*'):
			p++
			t++
		case star >= 0:
			p, mark = star+1, mark+1
			t = mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// overlap tells that some text is matched by both patterns.
func overlap(a, b string) bool {
	// row[j] tells that a[i:] and b[j:] overlap; rows are made from the end.
	row := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		next := row
		row = make([]bool, len(b)+1)
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case i < len(a) && a[i] == '*':
				row[j] = next[j] || j < len(b) && row[j+1]
			case j < len(b) && b[j] == '*':
				row[j] = row[j+1] || i < len(a) && next[j]
			case i < len(a) && j < len(b):
				row[j] = (a[i] == b[j] || a[i] == '?' || b[j] == '?') && next[j+1]
			}
		}
	}
	return row[0]
}

// about tells whether a statement's resource pattern is about a request's
// resource, either of which can stand for many.
func about(pattern, resource string) truth {
	if resource == Unscoped {
		if strings.Trim(pattern, "*") == "" && pattern != "" {
			return yes
		}
		return no
	}
	// A policy variable is what the request makes of it, which is not known.
	open, variable := variables(pattern)
	switch {
	case !variable && covers(pattern, resource, true):
		return yes
	case overlapARN(open, resource):
		return maybe
	}
	return no
}

// overlapARN tells that some ARN is matched by both patterns. The parts of an
// ARN are compared one by one: a * for an id does not stand for "a:subnet/b".
func overlapARN(a, b string) bool {
	p, q := strings.SplitN(a, ":", arnParts), strings.SplitN(b, ":", arnParts)
	if len(p) != arnParts || len(q) != arnParts {
		return overlap(a, b)
	}
	return slices.EqualFunc(p, q, overlap)
}

// variables replaces the policy variables of a text, ${aws:username}, by *.
func variables(text string) (open string, has bool) {
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			return text, has
		}
		end := strings.IndexByte(text[start:], '}')
		if end < 0 {
			return text[:start] + "*", true
		}
		text, has = text[:start]+"*"+text[start+end+1:], true
	}
}
