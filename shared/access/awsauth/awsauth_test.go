package awsauth

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/tools/expect"
)

const usual = `
- rolearn: arn:aws:iam::123456789012:role/workers
  username: system:node:{{EC2PrivateDNSName}}
  groups:
  - system:bootstrappers
  - system:nodes
`

func TestRoles(t *testing.T) {
	node := Mapping{ARN: "arn:aws:iam::123456789012:role/workers", Username: "system:node:{{EC2PrivateDNSName}}", Groups: []string{"system:bootstrappers", "system:nodes"}, Place: 1}
	tests := []struct {
		name, text string
		want       []Mapping
	}{
		{"usual", usual, []Mapping{node}},
		{"crazy case", "- RoleARN: arn:aws:iam::123456789012:role/workers\n  UserName: 'system:node:{{EC2PrivateDNSName}}'\n  GROUPS: [system:bootstrappers, system:nodes]\n", []Mapping{node}},
		{"JSON", `[{"rolearn":"arn:aws:iam::123456789012:role/workers","username":"system:node:{{EC2PrivateDNSName}}","groups":["system:bootstrappers","system:nodes"]}]`, []Mapping{node}},
		{"an alias", "- groups: &g [system:nodes]\n  rolearn: a\n- groups: *g\n  rolearn: b\n", []Mapping{
			{ARN: "a", Groups: []string{"system:nodes"}, Place: 1}, {ARN: "b", Groups: []string{"system:nodes"}, Place: 2},
		}},
		{"nothing", " \n", nil},
		{"two backticks", "``", nil},
		{"two quotes", "''", nil},
		{"empty list", "[]", nil},
		{"null", "null", nil},
		{"a comment", "# none yet", nil},
		{"an entry of another kind is skipped", "- just a text\n- rolearn: a\n", []Mapping{{Place: 1, Fault: "entry 1 is a single value, not a mapping"}, {ARN: "a", Place: 2}}},
		{"groups as one text", "- rolearn: a\n  groups: system:nodes\n", []Mapping{{ARN: "a", Place: 1, Fault: "entry 1, groups: it is a single value, not a list"}}},
		{"a number for a name", "- rolearn: a\n  username: 12\n", []Mapping{{ARN: "a", Place: 1, Fault: "entry 1, username: it is not a text"}}},
		{"a user's key", "- userarn: a\n", []Mapping{{Stray: "a", Place: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Roles(tt.text)
			expect.OK(t, err)
			expect.Same(t, "Roles", got, tt.want)
		})
	}
}

func TestRolesThatDoNotParse(t *testing.T) {
	for name, text := range map[string]string{
		"a tab":          "- rolearn: a\n\tgroups: []\n",
		"no list":        "rolearn: a\nusername: b\n",
		"a text":         "see the wiki",
		"cut off":        `[{"rolearn": "a"`,
		"wrong indent":   "- rolearn: a\n username: b\n",
		"far too long":   strings.Repeat("#", maxText+1),
		"a strange byte": "\x00",
	} {
		if got, err := Roles(text); err == nil {
			t.Errorf("%s: Roles = %v, want an error", name, got)
		}
	}
}

func TestCanonicalAndOf(t *testing.T) {
	for role, want := range map[string]string{
		"arn:aws:iam::1:role/workers":     "arn:aws:iam::1:role/workers",
		"arn:aws:iam::1:role/a/b/workers": "arn:aws:iam::1:role/workers",
		"arn:aws:iam::1:user/a/b":         "arn:aws:iam::1:user/a/b",
		"":                                "",
	} {
		expect.Equal(t, fmt.Sprintf("Canonical(%q)", role), Canonical(role), want)
	}
	list := []Mapping{{ARN: "arn:aws:iam::1:role/WORKERS", Place: 1}, {ARN: "arn:aws:iam::1:role/a/workers", Place: 2}, {ARN: "arn:aws:iam::1:role/workers", Place: 3}}
	got := ForRole(list, "arn:aws:iam::1:role/a/workers")
	expect.Same(t, "ForRole", got, []Mapping{list[0], list[2]})
}

func TestNode(t *testing.T) {
	const name = "system:node:{{EC2PrivateDNSName}}"
	tests := []struct {
		m    Mapping
		want Means
	}{
		{Mapping{Username: name, Groups: []string{"system:bootstrappers", "system:nodes"}}, Joins},
		{Mapping{Username: "test", Groups: []string{"system:masters"}}, Joins},
		{Mapping{Username: name, Groups: []string{"system:nodes"}}, Hardly},
		{Mapping{Username: "system:node:{{SessionName}}", Groups: []string{"system:bootstrappers", "system:nodes"}}, Renamed},
		{Mapping{Username: "system:node:{{SessionName}}", Groups: []string{"system:masters"}}, Joins},
		{Mapping{Username: name, Groups: []string{"system:bootstrappers"}}, Never},
		{Mapping{Username: "workers", Groups: []string{"system:bootstrappers", "system:nodes"}}, Never},
		{Mapping{}, Never},
	}
	for _, tt := range tests {
		if got, why := tt.m.Node(); got != tt.want || (got == Joins) != (why == "") {
			t.Errorf("Node of %+v = %d, %q, want %d", tt.m, got, why, tt.want)
		}
	}
}

func FuzzRoles(f *testing.F) {
	f.Add(usual)
	f.Add("- groups: &g [a]\n- groups: *g\n- *g\n")
	f.Add("&a [*a]")
	f.Add(`[{"rolearn":"x","groups":null}]`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(string) ([]Mapping, error){Roles, Users} {
			list, err := read(text)
			if err != nil && len(list) > 0 {
				t.Errorf("an error and %d mappings", len(list))
			}
			for i, m := range list {
				if m.Place != i+1 {
					t.Errorf("entry %d says place %d", i+1, m.Place)
				}
				m.Node()
			}
		}
	})
}
