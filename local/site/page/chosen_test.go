package page

import (
	"slices"
	"strings"
	"testing"

	"rollcall/infra/specs"
	"rollcall/shared/spec"
)

// TestEveryChoiceIsShown: whatever setting a role hangs on is among those of the page, and
// each of them adds something to it.
func TestEveryChoiceIsShown(t *testing.T) {
	shown := map[string]bool{}
	for _, c := range choices() {
		for name := range c.on {
			shown[string(name)] = true
		}
	}
	adds := map[string]bool{}
	for _, s := range specs.All() {
		if s.Chosen == nil {
			continue
		}
		if _, err := s.Chosen(func(name string) string {
			if !shown[name] && strings.HasPrefix(name, "ROLLCALL_") && !strings.HasPrefix(name, "ROLLCALL_STAGE_") {
				t.Errorf("what %s may hangs on %s, which is none of the page's choices", s.Name, name)
			}
			return ""
		}); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		list, err := chosenGrants(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			for _, name := range c.settings {
				adds[name] = true
			}
		}
	}
	for _, c := range choices() {
		if !adds[c.setting] {
			t.Errorf("%s adds nothing to any role", c.setting)
		}
	}
}

// TestConditionsInWords: each operator that a grant has is told in words of its own.
func TestConditionsInWords(t *testing.T) {
	for op, want := range map[string]string{
		"Null": "is there", "StringEquals": "is `false`", "StringLike": "is like `false`", "ForAllValues:StringEquals": "is always `false`", "DateLessThan": "is (DateLessThan) `false`",
	} {
		if got := condition(op, []string{"false"}); got != want {
			t.Errorf("%s: %q, want %q", op, got, want)
		}
	}
	for _, s := range specs.All() {
		chosen, err := chosenGrants(s)
		if err != nil {
			t.Fatal(err)
		}
		grants := slices.Clone(s.Grants)
		for _, c := range chosen {
			grants = append(grants, c.grant)
		}
		for _, g := range grants {
			if row := grantRow(g); strings.Contains(row, " is (") && !strings.Contains(row, "is (or is not there)") {
				t.Errorf("%s, %s: an operator without words: %s", s.Name, g.Sid, row)
			}
		}
	}
	if got := condition("Null", []string{"true"}); got != "is not there" {
		t.Error(got)
	}
	if row := grantRow(spec.Grant{Sid: "S", Actions: []string{"a:B"}, Resources: []spec.Resource{"r"}, Why: "x | y"}); row != "| `S` | `a:B` | `r` | x \\| y |" {
		t.Error(row)
	}
}
