// Package pattern matches events against EventBridge event patterns.
//
// It covers the whole operator table of EventBridge rules and rejects what it
// does not know, because a pattern that is quietly understood as something
// else hides exactly the mistake that the local stage exists to find. The
// semantics follow event-ruler, the matcher behind EventBridge:
//
//   - fields of a pattern are ANDed, the alternatives in a field's array ORed;
//   - an event array matches if one of its elements does;
//   - fields inside arrays of objects must match within the same element;
//   - an operator looks at leaves only; an object is never a value.
package pattern

import (
	"fmt"
	"sort"
)

// Pattern is a compiled event pattern. It is immutable and safe for use by
// several goroutines.
type Pattern struct {
	// branches are the alternatives that the $or operators span: the
	// pattern matches if one of them does.
	branches []branch
}

// branch is one conjunction: every field must match.
type branch []field

// field is a path with its alternatives; path steps are joined with dots, as
// event-ruler does, so {"a":{"b":…}} and {"a.b":…} name the same field.
type field struct {
	path string
	any  []predicate
}

// Error says why a pattern was refused and where.
type Error struct {
	// Path is the place in the pattern, with steps joined by dots.
	Path string
	// Reason is what is wrong there.
	Reason string
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	if e.Path == "" {
		return "event pattern: " + e.Reason
	}
	return fmt.Sprintf("event pattern at %q: %s", e.Path, e.Reason)
}

func refuse(path, format string, args ...any) error {
	return &Error{Path: path, Reason: fmt.Sprintf(format, args...)}
}

// maxBranches is EventBridge's own limit for the combinations that $or
// operators may span in one pattern.
const maxBranches = 1000

// Compile reads an event pattern. What it does not know it refuses with an
// *Error.
func Compile(source []byte) (*Pattern, error) {
	root, err := parseJSON(source)
	if err != nil {
		return nil, refuse("", "%v", err)
	}
	if root.kind != kindObject {
		return nil, refuse("", "must be a JSON object")
	}
	branches, err := compileObject([]branch{{}}, "", root, false)
	if err != nil {
		return nil, err
	}
	for _, b := range branches {
		sort.Slice(b, func(i, j int) bool { return b[i].path < b[j].path })
		for i := 1; i < len(b); i++ {
			if b[i].path == b[i-1].path {
				// event-ruler keeps only the last of the two without a word.
				return nil, refuse(b[i].path, "the same field is constrained twice in one combination")
			}
		}
	}
	return &Pattern{branches: branches}, nil
}

// compileObject extends every branch so far by the object's fields.
func compileObject(branches []branch, path string, object node, insideOr bool) ([]branch, error) {
	if len(object.members) == 0 {
		return nil, refuse(path, "empty objects are not allowed")
	}
	seen := make(map[string]bool, len(object.members))
	for _, m := range object.members {
		if seen[m.name] {
			return nil, refuse(join(path, m.name), "duplicate field")
		}
		seen[m.name] = true
		var err error
		branches, err = compileMember(branches, path, m, insideOr)
		if err != nil {
			return nil, err
		}
	}
	return branches, nil
}

func compileMember(branches []branch, path string, m member, insideOr bool) ([]branch, error) {
	at := join(path, m.name)
	if m.name == "$or" {
		return compileOr(branches, path, m.value)
	}
	if insideOr && reservedInsideOr(m.name) {
		return nil, refuse(at, "%q is a reserved keyword and cannot name a field inside $or", m.name)
	}
	switch m.value.kind {
	case kindObject:
		return compileObject(branches, at, m.value, insideOr)
	case kindArray:
		alternatives, err := compileAlternatives(at, m.value)
		if err != nil {
			return nil, err
		}
		out := make([]branch, len(branches))
		for i, b := range branches {
			out[i] = append(b[:len(b):len(b)], field{path: at, any: alternatives})
		}
		return out, nil
	default:
		return nil, refuse(at, "must be an object or an array")
	}
}

// compileOr multiplies the branches by the objects of a $or.
func compileOr(branches []branch, path string, value node) ([]branch, error) {
	at := join(path, "$or")
	if value.kind != kindArray {
		return nil, refuse(at, "must be an array of objects")
	}
	if len(value.items) < 2 {
		return nil, refuse(at, "needs at least 2 objects")
	}
	var out []branch
	for i, item := range value.items {
		if item.kind != kindObject {
			return nil, refuse(fmt.Sprintf("%s[%d]", at, i), "must be an object")
		}
		// The $or itself is no step of the path.
		more, err := compileObject(branches, path, item, true)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
		if len(out) > maxBranches {
			return nil, refuse(at, "more than %d combinations", maxBranches)
		}
	}
	return out, nil
}

func compileAlternatives(path string, array node) ([]predicate, error) {
	if len(array.items) == 0 {
		return nil, refuse(path, "empty arrays are not allowed")
	}
	out := make([]predicate, 0, len(array.items))
	for i, item := range array.items {
		p, err := compilePredicate(fmt.Sprintf("%s[%d]", path, i), item)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// reservedInsideOr names the fields that event-ruler refuses inside $or, so
// that an operator in the wrong place is not read as a field.
func reservedInsideOr(name string) bool {
	switch name {
	case "exactly", "equals-ignore-case", "prefix", "suffix", "anything-but", "exists", "wildcard", "numeric", "cidr",
		"=", "<", "<=", ">", ">=",
		"regex", "not-wildcard", "not-equals-ignore-case",
		"date-after", "date-on-or-after", "date-before", "date-on-or-before", "in-date-range",
		"ip-address-in-range", "ip-address-not-in-range":
		return true
	}
	return false
}
