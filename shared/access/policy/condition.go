package policy

import (
	"slices"
	"strconv"
	"strings"
)

// holds tells whether a condition holds for a request.
func (c Condition) holds(facts map[string][]string) truth {
	known, ok := facts[strings.ToLower(c.Key)]
	if !ok {
		return maybe
	}
	operator := strings.ToLower(c.Operator)
	if operator == "null" {
		return c.null(len(known) == 0)
	}
	operator, optional := strings.CutSuffix(operator, "ifexists")
	test, negated, ok := comparison(operator)
	if !ok {
		// Dates, numbers, addresses, and sets (ForAllValues, ForAnyValue).
		return maybe
	}
	switch {
	case len(known) == 0 && (optional || negated):
		return yes
	case len(known) == 0:
		return no
	case len(known) > 1:
		return maybe // several values need a set operator, whose meaning differs
	}
	is := anyOf(c.Values, func(value string) truth {
		open, variable := variables(value)
		switch {
		case variable && matches(open, known[0]):
			return maybe
		case !variable && test(value, known[0]):
			return yes
		}
		return no
	})
	if negated {
		return is.not()
	}
	return is
}

// null decides the operator Null: "true" wants the key to be absent.
func (c Condition) null(absent bool) truth {
	return anyOf(c.Values, func(value string) truth {
		want, err := strconv.ParseBool(value)
		switch {
		case err != nil:
			return maybe
		case want == absent:
			return yes
		}
		return no
	})
}

// comparison is the test behind an operator, and whether it is the opposite
// of that test (IAM user guide, "IAM JSON policy elements: Condition operators").
func comparison(operator string) (test func(value, known string) bool, negated, ok bool) {
	equal := func(value, known string) bool { return value == known }
	switch operator {
	case "stringequals":
		return equal, false, true
	case "stringnotequals":
		return equal, true, true
	case "stringequalsignorecase", "bool":
		return strings.EqualFold, false, true
	case "stringnotequalsignorecase":
		return strings.EqualFold, true, true
	case "stringlike":
		return matches, false, true
	case "stringnotlike":
		return matches, true, true
	case "arnequals", "arnlike":
		return arnLike, false, true
	case "arnnotequals", "arnnotlike":
		return arnLike, true, true
	}
	return nil, false, false
}

// arnLike compares ARNs part by part: a * does not reach past a colon, except
// in the last part.
func arnLike(pattern, arn string) bool {
	p, a := strings.SplitN(pattern, ":", arnParts), strings.SplitN(arn, ":", arnParts)
	return len(p) == len(a) && slices.EqualFunc(p, a, matches)
}
