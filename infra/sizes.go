package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/limits"
	"rollcall/shared/config"
)

// spread keeps statements in a role's own policy as long as there is room, and
// puts the others into as many managed policies as they need. What a role may
// do is the same: a statement holds wherever it stands. Those that are needed at
// once stay in the role: Lambda asks for them when the function is made, and
// further policies may not be there yet.
func spread(statements, atOnce []statement) (inline []statement, managed [][]statement) {
	left := limits.InlinePolicies - limits.Document
	for _, s := range atOnce {
		left -= s.size()
	}
	var room []int // of each managed policy
	for _, s := range statements {
		size := s.size()
		if size <= left && len(managed) == 0 {
			inline, left = append(inline, s), left-size
			continue
		}
		i := slices.IndexFunc(room, func(n int) bool { return size <= n })
		if i < 0 {
			// One that is larger than a policy is refused when all is there
			// (package limits).
			i, room, managed = len(room), append(room, limits.ManagedPolicy-limits.Document), append(managed, nil)
		}
		managed[i], room[i] = append(managed[i], s), room[i]-size
	}
	return append(inline, atOnce...), managed
}

func (s statement) size() int {
	effect := "Allow"
	if s.deny {
		effect = "Deny"
	}
	return limits.Statement(effect, s.sid, s.actions, s.resources, s.conditions)
}

// worthPacking is from how many characters on a value is packed: an address or
// a number would only get longer.
const worthPacking = 256

// fit packs the longest values of an environment that Lambda would not take
// otherwise; a smaller one stays as a person can read it.
func fit(values map[string]*string) map[string]*string {
	size := func() int {
		n := len("{}")
		for name, value := range values {
			n += len(name) + len(limits.Untokened(*value)) + len(`"":"",`)
		}
		return n
	}
	byLength := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		if d := len(*values[b]) - len(*values[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range byLength {
		if size() <= limits.Environment || len(*values[name]) < worthPacking {
			break
		}
		if text := config.Pack(*values[name]); len(text) < len(*values[name]) {
			values[name] = jsii.String(text)
		}
	}
	return values
}
