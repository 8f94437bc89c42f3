package standard

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// assignment is which choices are made in one synthesised template, in their order.
type assignment []bool

// literal is a choice that must be made, or must not.
type literal struct {
	name string
	not  bool
}

// merger makes one value of those that a place has under several assignments.
type merger struct {
	names []string
	of    []assignment
	// used are the conditions that stand for several literals, by name.
	used map[string][]literal
}

// values are what a place has, by the number of the assignment; where it has nothing there is
// no entry.
type values map[int]any

func (v values) numbers() []int { return slices.Sorted(maps.Keys(v)) }

// when finds the literals that hold in all of present and in no other of among: those that
// tell it from an assignment which differs from it in that choice alone. Where a place hangs
// on choices in another way (one or the other) there are none, and that is an error.
func (m *merger) when(present, among []int) ([]literal, error) {
	holds := map[int]bool{} // by choice: the value that all of present have
	for i := range m.names {
		value := m.of[present[0]][i]
		if !slices.ContainsFunc(present, func(n int) bool { return m.of[n][i] != value }) {
			holds[i] = value
		}
	}
	var absent []int
	for _, n := range among {
		if !slices.Contains(present, n) {
			absent = append(absent, n)
		}
	}
	broken := func(n int) (list []int) {
		for _, i := range slices.Sorted(maps.Keys(holds)) {
			if m.of[n][i] != holds[i] {
				list = append(list, i)
			}
		}
		return list
	}
	chosen := map[int]bool{}
	for _, n := range absent {
		if list := broken(n); len(list) == 1 {
			chosen[list[0]] = true
		}
	}
	for _, n := range absent {
		if list := broken(n); !slices.ContainsFunc(list, func(i int) bool { return chosen[i] }) {
			return nil, fmt.Errorf("no condition tells the templates %v from %d", present, n)
		}
	}
	var all []literal
	for _, i := range slices.Sorted(maps.Keys(chosen)) {
		all = append(all, literal{m.names[i], !holds[i]})
	}
	return all, nil
}

// condition is the name of the condition that all literals hold; "" for none.
func (m *merger) condition(list []literal) string {
	var parts []string
	for _, l := range list {
		part := l.name
		if l.not {
			part = "Not" + part
		}
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	name := strings.Join(parts, "And")
	if len(list) > 1 || len(list) == 1 && list[0].not {
		m.used[name] = list
	}
	return name
}

// merge makes one value of those of a place.
func (m *merger) merge(of values) (any, error) {
	numbers := of.numbers()
	first := of[numbers[0]]
	if !slices.ContainsFunc(numbers, func(n int) bool { return canonical(of[n]) != canonical(first) }) {
		return first, nil
	}
	if every(of, isObject) {
		return m.objects(of)
	}
	if every(of, isList) {
		return m.lists(of)
	}
	return m.alternatives(of)
}

func (m *merger) objects(of values) (any, error) {
	parts := map[string]values{}
	for n, v := range of {
		for key, value := range v.(map[string]any) {
			if parts[key] == nil {
				parts[key] = values{}
			}
			parts[key][n] = value
		}
	}
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		value, err := m.optional(parts[key], of.numbers())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		out[key] = value
	}
	return out, nil
}

// lists has the elements of all lists in the order of the first that has them. Two are the
// same by what names them.
func (m *merger) lists(of values) (any, error) {
	var order []string
	parts := map[string]values{}
	for _, n := range of.numbers() {
		at := 0
		for _, element := range of[n].([]any) {
			id := identity(element)
			if parts[id] == nil {
				parts[id] = values{}
				order = slices.Insert(order, at, id)
			}
			if _, twice := parts[id][n]; twice {
				return nil, fmt.Errorf("%s stands twice in a list", id)
			}
			parts[id][n] = element
			at = slices.Index(order, id) + 1
		}
	}
	out := []any{}
	for _, id := range order {
		value, err := m.optional(parts[id], of.numbers())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		out = append(out, value)
	}
	return out, nil
}

// optional is a part that only some of the templates have.
func (m *merger) optional(of values, among []int) (any, error) {
	value, err := m.merge(of)
	if err != nil || len(of) == len(among) {
		return value, err
	}
	list, err := m.when(of.numbers(), among)
	if err != nil {
		return nil, err
	}
	return ifElse(m.condition(list), value, noValue()), nil
}

// alternatives are texts, or references, of which each is right under one condition.
func (m *merger) alternatives(of values) (any, error) {
	groups := map[string]values{}
	for n, v := range of {
		text := canonical(v)
		if groups[text] == nil {
			groups[text] = values{}
		}
		groups[text][n] = v
	}
	var failed error
	for _, text := range slices.Sorted(maps.Keys(groups)) {
		group := groups[text]
		list, err := m.when(group.numbers(), of.numbers())
		if err != nil {
			failed = fmt.Errorf("%s: %w", text, err)
			continue
		}
		rest := maps.Clone(of)
		for n := range group {
			delete(rest, n)
		}
		other, err := m.merge(rest)
		if err != nil {
			return nil, err
		}
		return ifElse(m.condition(list), group[group.numbers()[0]], other), nil
	}
	return nil, failed
}

func every(of values, is func(any) bool) bool {
	for _, v := range of {
		if !is(v) {
			return false
		}
	}
	return true
}

func isList(v any) bool { _, ok := v.([]any); return ok }

// isObject reports whether a value is an object, and no call of an intrinsic function.
func isObject(v any) bool {
	object, ok := v.(map[string]any)
	return ok && !isCall(object)
}

func isCall(object map[string]any) bool {
	if len(object) != 1 {
		return false
	}
	for key := range object {
		return key == "Ref" || strings.HasPrefix(key, "Fn::")
	}
	return false
}

// identity names an element of a list.
func identity(element any) string {
	if object, ok := element.(map[string]any); ok {
		for _, key := range []string{sameAs, "Sid", "Id", "Key", "PolicyName"} {
			if name, ok := object[key].(string); ok {
				return key + " " + name
			}
		}
		if object["x"] != nil && object["y"] != nil { // a widget of a dashboard
			return fmt.Sprint(object["x"], " ", object["y"])
		}
	}
	return canonical(element)
}

func canonical(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("standard: what was read as JSON cannot be written as JSON: " + err.Error())
	}
	return string(text)
}

func ref(name string) any                   { return map[string]any{"Ref": name} }
func ifElse(condition string, a, b any) any { return map[string]any{"Fn::If": []any{condition, a, b}} }
func noValue() any                          { return ref("AWS::NoValue") }
func join(parts []any) any                  { return map[string]any{"Fn::Join": []any{"", parts}} }
