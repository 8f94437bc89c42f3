// Package pattern matches events against EventBridge event patterns.
//
// It covers the operators that Rollcall's rules use (exact values, prefix,
// anything-but, exists, $or) and rejects all others, because a pattern that is quietly understood as something
// else hides exactly the mistake that the local stage exists to find. The
// semantics follow event-ruler, the matcher behind EventBridge:
//
//   - fields of a pattern are ANDed, the alternatives in a field's array ORed;
//   - an event array matches if one of its elements does;
//   - fields inside arrays of objects must match within the same element;
//   - an operator looks at leaves only; an object is never a value.
package pattern

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
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

type kind int

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// node is a JSON value that keeps the order and the duplicates of members,
// which map[string]any would lose.
type node struct {
	kind    kind
	text    string // the string, the number as written, or "true"/"false"
	items   []node
	members []member
}

type member struct {
	name  string
	value node
}

// maxDepth bounds the recursion. EventBridge takes events of 256 KB; real
// ones nest less than twenty deep.
const maxDepth = 500

// parseJSON reads exactly one JSON value.
func parseJSON(source []byte) (node, error) {
	// The whole first: the token reader below stops at the end of the first
	// value.
	if !json.Valid(source) {
		return node{}, errors.New("not valid JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(source))
	dec.UseNumber()
	n, err := readNode(dec, 0)
	if err != nil {
		return node{}, fmt.Errorf("read JSON: %w", err)
	}
	return n, nil
}

func readNode(dec *json.Decoder, depth int) (node, error) {
	if depth > maxDepth {
		return node{}, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return node{}, err
	}
	switch v := tok.(type) {
	case nil:
		return node{kind: kindNull, text: "null"}, nil
	case bool:
		if v {
			return node{kind: kindBool, text: "true"}, nil
		}
		return node{kind: kindBool, text: "false"}, nil
	case json.Number:
		return node{kind: kindNumber, text: v.String()}, nil
	case string:
		return node{kind: kindString, text: v}, nil
	case json.Delim:
		if v == '[' {
			return readArray(dec, depth)
		}
		return readObject(dec, depth)
	}
	return node{}, fmt.Errorf("unexpected token %v", tok)
}

func readArray(dec *json.Decoder, depth int) (node, error) {
	n := node{kind: kindArray}
	for dec.More() {
		item, err := readNode(dec, depth+1)
		if err != nil {
			return node{}, err
		}
		n.items = append(n.items, item)
	}
	_, err := dec.Token()
	return n, err
}

func readObject(dec *json.Decoder, depth int) (node, error) {
	n := node{kind: kindObject}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return node{}, err
		}
		name, ok := tok.(string)
		if !ok {
			return node{}, fmt.Errorf("unexpected member name %v", tok)
		}
		value, err := readNode(dec, depth+1)
		if err != nil {
			return node{}, err
		}
		n.members = append(n.members, member{name: name, value: value})
	}
	_, err := dec.Token()
	return n, err
}

// leaf is a value of the event with the array elements that it lies in.
type leaf struct {
	value node
	in    membership
}

// membership maps an array of the event to the element the leaf lies in.
// Only elements that are objects or arrays count: for a plain value its
// place in the array says nothing about other fields.
type membership map[int]int

// with returns the union of two memberships, or false if they put one array
// at two different elements.
func (m membership) with(other membership) (membership, bool) {
	for array, index := range other {
		if have, ok := m[array]; ok && have != index {
			return nil, false
		}
	}
	if len(other) == 0 {
		return m, true
	}
	out := make(membership, len(m)+len(other))
	for k, v := range m {
		out[k] = v
	}
	for k, v := range other {
		out[k] = v
	}
	return out, true
}

// Event is an event flattened to its leaves by path.
type Event struct {
	leaves map[string][]leaf
	arrays int
}

// ReadEvent reads an event, to be held against many patterns. The error says that it
// is not a JSON object.
func ReadEvent(source []byte) (*Event, error) {
	root, err := parseJSON(source)
	if err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	if root.kind != kindObject {
		return nil, errors.New("event: must be a JSON object")
	}
	e := &Event{leaves: make(map[string][]leaf)}
	e.flatten("", root, nil)
	return e, nil
}

// Match tells if the event matches.
func (p *Pattern) Match(e *Event) bool {
	return slices.ContainsFunc(p.branches, e.matches)
}

// Matches tells if the event matches. The error says that the event is not a
// JSON object.
func (p *Pattern) Matches(source []byte) (bool, error) {
	e, err := ReadEvent(source)
	return err == nil && p.Match(e), err
}

func (e *Event) flatten(path string, n node, in membership) {
	switch n.kind {
	case kindObject:
		for _, m := range n.members {
			e.flatten(join(path, m.name), m.value, in)
		}
	case kindArray:
		array := e.arrays
		e.arrays++
		for i, item := range n.items {
			inside := in
			if item.kind == kindObject || item.kind == kindArray {
				inside, _ = in.with(membership{array: i})
			}
			e.flatten(path, item, inside)
		}
	default:
		e.leaves[path] = append(e.leaves[path], leaf{value: n, in: in})
	}
}

// matches tells if one leaf can be chosen for each field so that no two of
// them lie in different elements of one array.
func (e *Event) matches(b branch) bool {
	choices := make([][]membership, len(b))
	for i, f := range b {
		choices[i] = e.candidates(f)
		if len(choices[i]) == 0 {
			return false
		}
	}
	return consistent(choices, nil)
}

// candidates lists the distinct memberships with which the field matches.
func (e *Event) candidates(f field) []membership {
	leaves := e.leaves[f.path]
	if len(leaves) == 0 {
		for _, p := range f.any {
			if x, ok := p.(exists); ok && !x.want {
				return []membership{nil}
			}
		}
		return nil
	}
	var out []membership
	for _, l := range leaves {
		for _, p := range f.any {
			if !p.matches(l.value) {
				continue
			}
			if len(l.in) == 0 {
				// Fits with everything: no other choice can do better.
				return []membership{nil}
			}
			out = append(out, l.in)
			break
		}
	}
	return out
}

func consistent(choices [][]membership, so membership) bool {
	if len(choices) == 0 {
		return true
	}
	for _, c := range choices[0] {
		if all, ok := so.with(c); ok && consistent(choices[1:], all) {
			return true
		}
	}
	return false
}

// compilePredicate reads one alternative of a field's array: a plain value or
// an object with one operator.
func compilePredicate(path string, n node) (predicate, error) {
	switch n.kind {
	case kindObject:
		return compileOperator(path, n)
	case kindArray:
		return nil, refuse(path, "a match value must be a string, number, true, false, null or an operator")
	case kindNumber:
		return exactNumber(n.text), nil
	default:
		return exact{kind: n.kind, text: n.text}, nil
	}
}

func compileOperator(path string, n node) (predicate, error) {
	op, arg, err := single(path, n)
	if err != nil {
		return nil, err
	}
	at := join(path, op)
	switch op {
	case "prefix":
		if arg.kind != kindString {
			return nil, refuse(at, "must be a string")
		}
		return prefix{arg.text}, nil
	case "anything-but":
		return compileAnythingBut(at, arg)
	case "exists":
		if arg.kind != kindBool {
			return nil, refuse(at, "must be true or false")
		}
		return exists{want: arg.text == "true"}, nil
	default:
		return nil, refuse(path, "unknown operator %q", op)
	}
}

func single(path string, n node) (string, node, error) {
	if len(n.members) != 1 {
		return "", node{}, refuse(path, "exactly one operator is allowed, found %d", len(n.members))
	}
	return n.members[0].name, n.members[0].value, nil
}

// compileAnythingBut reads a string, a number, or a list of either.
func compileAnythingBut(path string, arg node) (predicate, error) {
	values := arg.items
	if arg.kind != kindArray {
		values = []node{arg}
	}
	if len(values) == 0 {
		return nil, refuse(path, "an empty list is not allowed")
	}
	out := anythingBut{}
	for _, v := range values {
		if v.kind != kindString && v.kind != kindNumber {
			return nil, refuse(path, "must be a string, a number, or a list of one of them")
		}
		if v.kind != values[0].kind {
			return nil, refuse(path, "strings and numbers cannot be mixed in one list")
		}
		if v.kind == kindNumber {
			if _, ok := bounded(v.text); !ok {
				return nil, refuse(path, "number %s is out of range", v.text)
			}
			out.none = append(out.none, exactNumber(v.text))
			continue
		}
		out.none = append(out.none, exact{kind: kindString, text: v.text})
	}
	return out, nil
}

// maxNumber is the documented range of EventBridge's numeric matching:
// -5.0e9 to 5.0e9 inclusive.
const maxNumber = 5.0e9

// bounded returns the value of a JSON number if it is in the range in which
// EventBridge compares numbers by value.
func bounded(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < -maxNumber || f > maxNumber {
		return 0, false
	}
	return f, true
}

func exactNumber(text string) predicate {
	f, ok := bounded(text)
	return number{text: text, value: f, byValue: ok}
}

// predicate judges one leaf of an event.
type predicate interface {
	matches(leaf node) bool
}

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

// prefix is what a string begins with.
type prefix struct{ text string }

func (p prefix) matches(leaf node) bool {
	return leaf.kind == kindString && strings.HasPrefix(leaf.text, p.text)
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

// exists with want false is judged where the event is known as a whole: see
// candidates. As a predicate on a leaf that is there it fails.
type exists struct{ want bool }

func (p exists) matches(node) bool { return p.want }
