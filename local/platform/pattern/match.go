package pattern

import (
	"errors"
	"fmt"
	"slices"
)

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
