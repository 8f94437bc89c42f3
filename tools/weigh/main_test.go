package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"rollcall/tools/expect"
)

// TestBounds: the code does not grow. Who makes it smaller lowers the bound; who must raise one
// says why beside it: 2,300 lines came for who owns an incident and where to read on, whether it
// was right, acknowledgements in PagerDuty and Jira, and Slack's incoming webhooks; 10,000 that
// anybody can install it: a template with parameters, rollcall deploy and the CloudFormation that
// judges it, a settings file, Terraform, releases for package managers.
func TestBounds(t *testing.T) {
	if _, err := os.Stat("../../.git"); err != nil {
		t.Skip("this is no clone: what is tracked cannot be listed")
	}
	w, err := weigh("../..")
	expect.OK(t, err)
	for _, bound := range []struct {
		what    string
		is, may int
	}{
		{"lines of Go", w.all.lines, 215_300},
		{"lines of tests", w.all.tests, 140_900},
		{"tracked files", w.tracked, 2_110},
		{"packages", len(w.all.packages), 320},
		{"bytes in testdata", w.testdata, 1_650_000},
		{"bytes of the largest file", w.largest, 1_000_000}, // a program that was built is none of ours
	} {
		if bound.is > bound.may {
			t.Errorf("%s: %d, at most %d (make weigh)", bound.what, bound.is, bound.may)
		}
	}
}

// TestReach: what has no need of the checks does not link them. Who cuts more lowers the bound.
func TestReach(t *testing.T) {
	for _, bound := range []struct {
		program string
		may     int
	}{
		{"functions/notify-targets", 18_760},
		{"functions/slack-actions", 15_800},
	} {
		n, err := reached("../..", "./"+bound.program)
		if err != nil {
			t.Fatal(err)
		}
		if n > bound.may {
			t.Errorf("%s links %d lines of ours, at most %d (go list -deps ./%[1]s)", bound.program, n, bound.may)
		}
	}
}

// Every file counts once, in the first area that has its folder.
func TestAreas(t *testing.T) {
	table := table{areas: make([]weight, len(areas())), others: map[string]int{}}
	for file, lines := range map[string]int{
		"shared/checks/route/api.go": 3, "shared/config/config.go": 5, "tools/weigh/main.go": 7, "files.go": 2,
		"shared/kube/kube_test.go": 11, "shared/slack/testdata/a.txt": 13, "stage/worlds/a.yaml": 17,
	} {
		table.add(file, []byte(strings.Repeat("\n", lines)))
	}
	at := func(name string) weight {
		return table.areas[slices.IndexFunc(areas(), func(a area) bool { return a.name == name })]
	}
	if n := at("checks").lines; n != 3 {
		t.Errorf("checks: %d lines", n)
	}
	if n := at("rest of shared").lines; n != 5 {
		t.Errorf("rest of shared: %d lines", n)
	}
	if n := at("tools").lines; n != 9 {
		t.Errorf("tools: %d lines", n)
	}
	if n := at("gather, kube, snapshot").tests; n != 11 {
		t.Errorf("tests of kube: %d lines", n)
	}
	if table.all.lines != 17 || table.all.tests != 11 || table.tracked != 7 || table.testdata != 13 || table.others[".yaml"] != 17 || table.others[".txt"] != 13 {
		t.Errorf("all of it: %+v", table)
	}
}
