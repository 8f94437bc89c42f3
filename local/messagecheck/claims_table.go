package messagecheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

func form(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// claims are in order: the first that knows a number holds it.
func claims() []claim {
	return slices.Concat(claimsOfCounts(), claimsOfAddresses(), claimsOfRules(), claimsOfNames())
}

// byAgainst: Against, counts or arithmetic hold it, of the whole message.
func byAgainst(said) string { return "" }

// documented: the form itself has what a document says.
func documented(said) string { return "" }

// fields are numbers that these fields of an answer have, one for each group.
func fields(names ...string) func(said) string {
	return func(s said) string {
		for n, name := range names {
			is := strings.ReplaceAll(s.m[n+1], ",", "")
			if is != "" && !regexp.MustCompile(`"`+name+`": ?"?`+regexp.QuoteMeta(is)+`(?:["}\]\s,.]|$)`).MatchString(s.facts.text) {
				return fmt.Sprintf("no %s is %s", name, is)
			}
		}
		return ""
	}
}

// is holds a count that the world, or the message itself, has.
func is(count func(said) (n int, known bool)) func(said) string {
	return func(s said) string {
		n, known := count(s)
		switch {
		case !known:
			return "what it counts is not found"
		case n != amount(s.m[1]):
			return fmt.Sprintf("it is %d", n)
		}
		return ""
	}
}
