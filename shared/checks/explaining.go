package checks

import (
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
)

// Explaining are the checks that explain one, by id: kinds of causes as the checks
// that are of that kind.
func Explaining(list []check.Check, of check.Check) []checkid.ID {
	var ids []checkid.ID
	add := func(id checkid.ID) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range of.After {
		kind := false
		for _, c := range list {
			if slices.Contains(c.Explains, id) {
				kind = true
				if c.ID != of.ID {
					add(c.ID)
				}
			}
		}
		if !kind {
			add(id)
		}
	}
	return ids
}
