package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseLogGroups(t *testing.T) {
	for text, want := range map[string]LogGroups{
		"off":                              nil,
		"/aws/vendedlogs/eks/*":            {"/aws/vendedlogs/eks/*"},
		" auto-mode , auto-mode,a.b_c#1/x": {"a.b_c#1/x", "auto-mode"},
	} {
		got, err := parseLogGroups(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
	var many []string
	for i := range 21 {
		many = append(many, fmt.Sprintf("group-%d", i))
	}
	for text, want := range map[string]string{
		"": "no name", "on": "no name", "*": "no name", "/a*b": "no name", "/a,": "no name", "arn:aws:logs:us-west-2:111122223333:log-group:x": "no name",
		strings.Repeat("a", 513): "no name", strings.Join(many, ","): "21 log groups are more than 20",
	} {
		if list, err := parseLogGroups(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v; want an error that says %q", text, list, err, want)
		}
	}
	if list, err := parseLogGroups(strings.Join(many[:20], ",")); err != nil || len(list) != 20 {
		t.Errorf("twenty: %d, %v", len(list), err)
	}
}

func TestLogGroupsName(t *testing.T) {
	l := LogGroups{"/aws/vendedlogs/eks/*", "mine"}
	for group, want := range map[string]bool{"/aws/vendedlogs/eks/prod": true, "/aws/vendedlogs/eks/": true, "mine": true, "mine2": false, "/aws/vendedlogs/vpc": false, "": false} {
		if got := l.Name(group); got != want {
			t.Errorf("%q is named: %v, want %v", group, got, want)
		}
	}
	if (LogGroups)(nil).Name("x") {
		t.Error("off names a group")
	}
}
