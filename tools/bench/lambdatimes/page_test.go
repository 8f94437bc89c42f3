package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/stage"
	"rollcall/stage/platform/template"
	"rollcall/tools/expect"
)

// TestMemoryIsThatOfThePage: the page from which each function's memory was
// chosen was written with the memory that is deployed.
func TestMemoryIsThatOfThePage(t *testing.T) {
	source, err := os.ReadFile("../../../infra/Rollcall.template.json")
	expect.OK(t, err)
	deployed, err := template.Parse(source, template.Options{AccountID: "111122223333", Region: "us-west-2"})
	expect.OK(t, err)
	want := map[string]int{}
	for _, f := range deployed.Functions {
		want[stage.Folder(f)] = f.Memory
	}
	page, err := os.ReadFile("../../../docs/lambda.md")
	expect.OK(t, err)
	got := map[string]int{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z-]+) \| (\d+) \|`).FindAllStringSubmatch(string(page), -1) {
		if got[row[1]], err = strconv.Atoi(row[2]); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("memory (-deployed +on docs/lambda.md, go run ./tools/bench/lambdatimes):\n%s", diff)
	}
}

// TestInTime: Slack waits for three seconds, and what was slower once is too slow.
func TestInTime(t *testing.T) {
	actions := func(own bool, cold ...time.Duration) []measured {
		return []measured{{function: "report", own: true, cold: []time.Duration{9 * time.Second}}, {function: "slack-actions", own: own, cold: cold}}
	}
	for _, c := range []struct {
		what string
		list []measured
		ok   bool
	}{
		{"in time", actions(true, time.Second, 3*time.Second), true},
		{"late once", actions(true, time.Second, 3*time.Second+1), false},
		{"measured at another size alone", actions(false, time.Second), false},
		{"never measured", nil, false},
	} {
		if err := inTime(c.list); (err == nil) != c.ok {
			t.Errorf("%s: %v, want fine: %t", c.what, err, c.ok)
		}
	}
}
