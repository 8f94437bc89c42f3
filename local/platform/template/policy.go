package template

import (
	"fmt"
	"strconv"
	"strings"
)

// Allows tells if identity policies allow an action on a resource. The
// context holds the condition keys of the request (keys are compared without
// regard to case, as IAM does). A Deny wins over any Allow.
//
// A condition operator that is not understood is an error, whatever the
// other statements say: a wrong answer here would be a hole in a test.
func Allows(statements []Statement, action, resource string, context map[string][]string) (bool, error) {
	keys := make(map[string][]string, len(context))
	for k, v := range context {
		keys[strings.ToLower(k)] = v
	}
	allowed, denied := false, false
	for _, s := range statements {
		fits, err := s.holds(keys)
		if err != nil {
			return false, fmt.Errorf("statement %q of %s: %w", s.SID, s.Source, err)
		}
		if !fits || !s.names(action, resource, keys) {
			continue
		}
		switch s.Effect {
		case "Allow":
			allowed = true
		case "Deny":
			denied = true
		default:
			return false, fmt.Errorf("statement %q of %s: effect %q", s.SID, s.Source, s.Effect)
		}
	}
	return allowed && !denied, nil
}

// names tells if action and resource fit.
func (s Statement) names(action, resource string, keys map[string][]string) bool {
	fold := func(pattern string) bool { return like(strings.ToLower(pattern), strings.ToLower(action)) }
	switch {
	case len(s.Actions) > 0 && !some(s.Actions, fold):
		return false
	case len(s.Actions) == 0 && (len(s.NotActions) == 0 || some(s.NotActions, fold)):
		return false
	}
	exact := func(pattern string) bool {
		filled, ok := fill(pattern, keys)
		return ok && like(filled, resource)
	}
	if len(s.Resources) > 0 {
		return some(s.Resources, exact)
	}
	return len(s.NotResources) > 0 && !some(s.NotResources, exact)
}

func some(list []string, f func(string) bool) bool {
	for _, s := range list {
		if f(s) {
			return true
		}
	}
	return false
}

// like matches "*" (any characters) and "?" (one character).
func like(pattern, s string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		// The star first: the text may hold a star of its own.
		case i < len(pattern) && pattern[i] == '*':
			star, mark = i, j
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == s[j]):
			i++
			j++
		case star >= 0:
			i = star + 1
			mark++
			j = mark
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}

// fill replaces policy variables like ${aws:PrincipalTag/team}. Without a
// value in the request a variable matches nothing.
func fill(pattern string, keys map[string][]string) (string, bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "${")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", false
		}
		values := keys[strings.ToLower(name)]
		switch {
		case name == "*" || name == "?" || name == "$":
			b.WriteString(name)
		case len(values) == 1:
			b.WriteString(values[0])
		default:
			return "", false
		}
		pattern = after
	}
}

// holds tells if all conditions do.
func (s Statement) holds(keys map[string][]string) (bool, error) {
	all := true
	for _, operator := range sortedKeys(s.Conditions) {
		for _, key := range sortedKeys(s.Conditions[operator]) {
			ok, err := condition(operator, s.Conditions[operator][key], keys[strings.ToLower(key)], keys)
			if err != nil {
				return false, fmt.Errorf("condition on %q: %w", key, err)
			}
			all = all && ok
		}
	}
	return all, nil
}

// condition evaluates one operator on one key. have are the request's values.
func condition(operator string, want, have []string, keys map[string][]string) (bool, error) {
	base, set := operator, ""
	for _, q := range []string{"ForAllValues:", "ForAnyValue:"} {
		if rest, ok := strings.CutPrefix(operator, q); ok {
			base, set = rest, q
		}
	}
	base, ifExists := strings.CutSuffix(base, "IfExists")
	if base == "Null" {
		if set != "" || ifExists || len(want) != 1 {
			return false, fmt.Errorf("operator %q is not understood", operator)
		}
		absent, err := strconv.ParseBool(want[0])
		return absent == (len(have) == 0), err
	}
	compare, negative, err := comparer(base)
	if err != nil {
		return false, fmt.Errorf("operator %q is not understood", operator)
	}
	if len(have) == 0 {
		// A key that is not in the request: positive operators fail, negative
		// ones hold, and so does ForAllValues.
		return ifExists || negative && set != "ForAnyValue:" || set == "ForAllValues:", nil
	}
	one := func(value string) bool {
		hit := some(want, func(pattern string) bool {
			filled, ok := fill(pattern, keys)
			return ok && compare(filled, value)
		})
		return hit != negative
	}
	if set == "ForAnyValue:" {
		return some(have, one), nil
	}
	// Without a set operator a key has one value, and for one value all is
	// that value.
	return !some(have, func(v string) bool { return !one(v) }), nil
}

// comparer returns how an operator compares the policy's value with that of
// the request, and if the operator is a negated one.
func comparer(operator string) (compare func(want, have string) bool, negative bool, err error) {
	base := operator
	if head, tail, ok := strings.Cut(operator, "Not"); ok {
		base, negative = head+tail, true
	}
	switch base {
	case "StringEquals":
		return func(w, h string) bool { return w == h }, negative, nil
	case "StringEqualsIgnoreCase":
		return strings.EqualFold, negative, nil
	case "StringLike":
		return like, negative, nil
	case "ArnEquals", "ArnLike":
		return arnLike, negative, nil
	case "NumericEquals":
		return numeric(func(w, h float64) bool { return h == w }), negative, nil
	}
	if negative {
		return nil, false, fmt.Errorf("operator %q is not understood", operator)
	}
	switch base {
	case "Bool":
		return strings.EqualFold, false, nil
	case "NumericLessThan":
		return numeric(func(w, h float64) bool { return h < w }), false, nil
	case "NumericLessThanEquals":
		return numeric(func(w, h float64) bool { return h <= w }), false, nil
	case "NumericGreaterThan":
		return numeric(func(w, h float64) bool { return h > w }), false, nil
	case "NumericGreaterThanEquals":
		return numeric(func(w, h float64) bool { return h >= w }), false, nil
	}
	return nil, false, fmt.Errorf("operator %q is not understood", operator)
}

func numeric(f func(want, have float64) bool) func(want, have string) bool {
	return func(want, have string) bool {
		w, err1 := strconv.ParseFloat(want, 64)
		h, err2 := strconv.ParseFloat(have, 64)
		return err1 == nil && err2 == nil && f(w, h)
	}
}

// arnLike matches each of the six parts of an ARN by itself: a star does not
// reach over a colon, except in the last part.
func arnLike(want, have string) bool {
	w, h := strings.SplitN(want, ":", 6), strings.SplitN(have, ":", 6)
	if len(w) != 6 || len(h) != 6 {
		return want == "*"
	}
	for i := range w {
		if !like(w[i], h[i]) {
			return false
		}
	}
	return true
}
