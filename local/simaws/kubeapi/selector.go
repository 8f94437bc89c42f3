package kubeapi

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// operator is how a requirement compares a label.
type operator int

const (
	opIn operator = iota
	opNotIn
	opExists
	opNotExists
	opGreater
	opLess
)

// requirement is one term of a label selector.
type requirement struct {
	key    string
	op     operator
	values []string
}

// matches follows the API's rules: a label that is not there satisfies != and
// notin, and > and < compare whole numbers.
func (r requirement) matches(labels map[string]string) bool {
	v, ok := labels[r.key]
	switch r.op {
	case opIn:
		return ok && slices.Contains(r.values, v)
	case opNotIn:
		return !ok || !slices.Contains(r.values, v)
	case opExists:
		return ok
	case opGreater, opLess:
		have, err := strconv.ParseInt(v, 10, 64)
		// parseTerm has made sure of the number.
		bound, _ := strconv.ParseInt(r.values[0], 10, 64)
		return ok && err == nil && (r.op == opGreater && have > bound || r.op == opLess && have < bound)
	}
	return !ok
}

var (
	labelKey   = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
	setTerm    = regexp.MustCompile(`^(\S+)\s+(in|notin)\s*\((.*)\)$`)
)

// parseSelector reads a label selector: terms separated by commas, each
// key=value, key==value, key!=value, key in (a,b), key notin (a,b), key, !key,
// key>1, key<1.
func parseSelector(text string) ([]requirement, error) {
	var out []requirement
	for _, term := range splitTerms(text) {
		if strings.TrimSpace(term) == "" {
			if strings.TrimSpace(text) == "" {
				return nil, nil
			}
			return nil, fmt.Errorf("unable to parse requirement: found an empty term in %q", text)
		}
		r, err := parseTerm(strings.TrimSpace(term))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// splitTerms splits at the commas outside parentheses.
func splitTerms(text string) []string {
	var out []string
	depth, start := 0, 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, text[start:i])
				start = i + 1
			}
		}
	}
	return append(out, text[start:])
}

func parseTerm(term string) (requirement, error) {
	var r requirement
	if m := setTerm.FindStringSubmatch(term); m != nil {
		r.key, r.op = m[1], opIn
		if m[2] == "notin" {
			r.op = opNotIn
		}
		for v := range strings.SplitSeq(m[3], ",") {
			r.values = append(r.values, strings.TrimSpace(v))
		}
	} else if key, value, ok := strings.Cut(term, "!="); ok {
		r = requirement{key, opNotIn, []string{value}}
	} else if key, value, ok := strings.Cut(term, "="); ok {
		r = requirement{key, opIn, []string{strings.TrimPrefix(value, "=")}}
	} else if key, ok := strings.CutPrefix(term, "!"); ok {
		r = requirement{key: key, op: opNotExists}
	} else if key, value, ok := strings.Cut(term, ">"); ok {
		r = requirement{key, opGreater, []string{value}}
	} else if key, value, ok := strings.Cut(term, "<"); ok {
		r = requirement{key, opLess, []string{value}}
	} else {
		r = requirement{key: term, op: opExists}
	}
	r.key = strings.TrimSpace(r.key)
	if !labelKey.MatchString(r.key) {
		return r, fmt.Errorf("unable to parse requirement: invalid label key %q", r.key)
	}
	for i := range r.values {
		r.values[i] = strings.TrimSpace(r.values[i])
		if !labelValue.MatchString(r.values[i]) {
			return r, fmt.Errorf("unable to parse requirement: invalid label value %q", r.values[i])
		}
		if _, err := strconv.ParseInt(r.values[i], 10, 64); err != nil && (r.op == opGreater || r.op == opLess) {
			return r, fmt.Errorf("unable to parse requirement: %q is not a whole number", r.values[i])
		}
	}
	return r, nil
}

// parseFields reads a field selector for the fields that the API server
// indexes. Nodes have no index for spec.providerID, and neither have we.
func parseFields(k Kind, text string) ([]requirement, error) {
	known := []string{"metadata.name"}
	if k.Namespaced {
		known = append(known, "metadata.namespace")
	}
	switch k.Plural {
	case "nodes":
		known = append(known, "spec.unschedulable")
	case "pods":
		known = append(known, "spec.nodeName", "status.phase")
	case "events":
		known = append(known, "involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
			"involvedObject.uid", "involvedObject.apiVersion", "involvedObject.fieldPath", "reason", "type")
	}
	var out []requirement
	for term := range strings.SplitSeq(text, ",") {
		if term == "" {
			continue
		}
		r := requirement{op: opIn}
		key, value, ok := strings.Cut(term, "!=")
		if ok {
			r.op = opNotIn
		} else if key, value, ok = strings.Cut(term, "="); !ok {
			return nil, fmt.Errorf("invalid field selector: %q; can't understand %q", text, term)
		}
		r.key, r.values = key, []string{strings.TrimPrefix(value, "=")}
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("field label not supported: %s", key)
		}
		out = append(out, r)
	}
	return out, nil
}
