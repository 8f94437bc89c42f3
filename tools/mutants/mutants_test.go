package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rollcall/tools/testfile"

	"github.com/google/go-cmp/cmp"
)

const sample = "tools/mutants/testdata/sample"

func options95() options {
	return options{Least: 95, Workers: 2, Excused: "tools/mutants/testdata/excused.yaml"}
}

// Of the sample, it is known which changes its tests notice, and by what.
func TestSample(t *testing.T) {
	var said strings.Builder
	err := mutants(t.Context(), options95(), []string{sample}, &said)
	if !errors.Is(err, errScore) {
		t.Fatalf("%v, want that the score is too low:\n%s", err, said.String())
	}
	var lived []string
	for line := range strings.Lines(said.String()) {
		if _, rest, ok := strings.Cut(line, "LIVED "+sample+"/sample.go:"); ok {
			_, rest, _ = strings.Cut(rest, ": ")
			lived = append(lived, strings.TrimSuffix(rest, "\n"))
		}
	}
	want := []string{
		`names: element: "b" → without it (6 tests pass with it)`,
		"both: dropped: a && → nothing (it makes no difference in any test)",
		"sum: boundary: n < 0 → n <= 0 (it makes no difference in any test)",
		`kind: removed: case "two" → nothing (it makes no difference in any test)`,
		"kind: removed: out = 2 → nothing (it makes no difference in any test)",
		"kind: number: 2 → 3 (it makes no difference in any test)",
		"kind: number: 2 → 1 (it makes no difference in any test)",
		"nobody: zero: return 2 * n → its zero value (it makes no difference in any test)",
		"nobody: arithmetic: 2 * n → 2 / n (it makes no difference in any test)",
		"nobody: number: 2 → 3 (it makes no difference in any test)",
		"nobody: number: 2 → 1 (it makes no difference in any test)",
		"room: number: 7 → 8 (one test passes with it)",
		"room: number: 7 → 6 (one test passes with it)",
	}
	if diff := cmp.Diff(want, lived); diff != "" {
		t.Errorf("not noticed (-want +got):\n%s", diff)
	}
	if want := "29 of 42 noticed, 1 of them by a time limit; 1 excused"; !strings.Contains(said.String(), want) {
		t.Errorf("not said: %s\n%s", want, said.String())
	}
}

// The text of an instrumented file: each place is written once, and what the
// compiler computes, and what is logged, stays as it is.
func TestMutate(t *testing.T) {
	got := written(t, `package p

import (
	"log/slog"
	"time"
)

const most = 5

func f(a, b int, c bool, m map[string]int) (time.Duration, bool) {
	slog.Info("seen", "n", 3)
	for i := range b {
		if a < i && !c || a == b { // the reason
			continue
		}
		m["x"]++
	}
	list := make([]int, 0, 9)
	_ = list
	switch {
	case c:
		m["y"] = a*2 + most
	default:
		delete(m, "z")
	}
	return 2 * time.Minute, c
}
`)
	want := `package p

import (
	"log/slog"
	"time"
)

const most = 5

func f(a, b int, c bool, m map[string]int) (time.Duration, bool) {
	slog.Info("seen", "n", 3)
	for i := range b {
		if mutantOr(1, 2, mutantAnd(3, 4, mutantLess(5, a, i), func() bool { return !c }), func() bool { return a == b }) { // the reason
			if mutantOn(6) { break } else { continue }
		}
		if mutantOn(7) { m["x"]-- } else { m["x"]++ }
	}
	list := make([]int, 0, 9)
	_ = list
	switch {
	case mutantNegate(8, c):
		if !mutantOn(9) { m["y"] = mutantAdd(10, mutantMultiply(11, a, mutantPick[int](13, mutantPick[int](12, 2, 3), 1)), most) }
	default:
		if mutantOn(14) { break }
if !mutantOn(15) { delete(m, "z") }
	}
	return mutantPick[time.Duration](19, mutantPick[time.Duration](18, mutantZero[time.Duration](16, 2 * time.Minute), 3 * time.Minute), 1 * time.Minute), mutantNegate(17, c)
}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// written is a file with its mutants.
func written(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module " + module + "\n\ngo 1.26\n", "p/p.go": source} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, path, []byte(text))
	}
	pkg, err := load(t.Context(), dir, "p")
	if err != nil {
		t.Fatal(err)
	}
	changed, err := mutate(pkg, dir, "p")
	if err != nil {
		t.Fatal(err)
	}
	return string(changed.Files[filepath.Join(dir, "p", "p.go")])
}

const module = "example.org/m"

func TestExcusesAreHeldToTheCode(t *testing.T) {
	there := mutant{Package: "p", Function: "f", Operator: boundary, Before: "a < b", After: "a <= b"}
	entry := func(change func(*exemption)) []*exemption {
		e := &exemption{Package: "p", Function: "f", Operator: boundary, Before: "a < b", After: "a <= b", Reason: "why"}
		change(e)
		return []*exemption{e}
	}
	for _, test := range []struct {
		name string
		list []*exemption
		fate fate
		want string // refused with
	}{
		{"as it is", entry(func(*exemption) {}), lived, ""},
		{"of a package that is not tried", entry(func(e *exemption) { e.Package, e.Function = "q", "none" }), lived, ""},
		{"noticed by a test", entry(func(*exemption) {}), killed, "excused, but a test notices it"},
		{"noticed by a time limit", entry(func(*exemption) {}), timedOut, "excused, but a test notices it"},
		{"another function", entry(func(e *exemption) { e.Function = "g" }), lived, "excused, but no mutant"},
		{"another operator", entry(func(e *exemption) { e.Operator = negate }), lived, "excused, but no mutant"},
		{"another text", entry(func(e *exemption) { e.Before = "a < c" }), lived, "excused, but no mutant"},
		{"another change", entry(func(e *exemption) { e.After = "a > b" }), lived, "excused, but no mutant"},
		{"one more of the same", entry(func(e *exemption) { e.Again = 1 }), lived, "excused, but no mutant"},
	} {
		results := []result{{mutant: there, Fate: test.fate}}
		err := applyExemptions(results, []mutant{there}, test.list, "p")
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if own := test.list[0].matches(there); (results[0].Reason == "why") != own {
			t.Errorf("%s: the reason is %q", test.name, results[0].Reason)
		}
	}
}

func TestAnExcuseHasAReason(t *testing.T) {
	path := filepath.Join(t.TempDir(), "excused.yaml")
	for text, want := range map[string]string{
		"- {package: p, function: f, operator: negate, before: a, after: '!a', reason: ' '}": "has no reason",
		"- {package: p, because: it is}": "field because not found",
	} {
		testfile.Write(t, path, []byte(text))
		if _, err := readExemptions(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A package whose tests fail by themselves has no score.
func TestFailingTestsAreSaid(t *testing.T) {
	dir := t.TempDir()
	fails := filepath.Join(dir, "test")
	if err := os.WriteFile(fails, []byte("#!/bin/sh\n[ \"$1\" = -test.list ] && echo TestX && exit 0\necho broken; exit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := record(context.Background(), []binary{{Package: "p", Path: fails, Dir: dir}}, dir, 1)
	if err == nil || !regexp.MustCompile(`TestX of p fails without a mutant:\nbroken`).MatchString(err.Error()) {
		t.Errorf("%v", err)
	}
}

func TestScore(t *testing.T) {
	var s score
	for fate, n := range map[fate]int{killed: 18, timedOut: 1, lived: 1} {
		for range n {
			s.add(result{Fate: fate})
		}
	}
	s.add(result{Fate: lived, Reason: "why"})
	if s.Of100() != 95 || s.Excused != 1 || s.tried() != 20 {
		t.Errorf("%+v: %v", s, s.Of100())
	}
}
