package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// 300 histories of 90 days, looked at every hour: with a bound of 1 % at most 3
// of them are expected to accuse a healthy pool, and the bound is not reached
// by far.
func TestHealthyPoolsAreNotAccused(t *testing.T) {
	scenarios := wellScenarios()
	accused, histories := 0, 0
	for i, s := range scenarios {
		n := 300 / len(scenarios)
		if i < 300%len(scenarios) {
			n++
		}
		m, err := measure(context.Background(), s, n, 7, func() {})
		if err != nil {
			t.Fatal(err)
		}
		accused, histories = accused+m.accused, histories+m.histories
	}
	if histories != 300 || accused > 3 {
		t.Errorf("a healthy pool was accused in %d of %d histories, want at most 3 of 300", accused, histories)
	}
}

func TestFaultyPoolsAreNamed(t *testing.T) {
	for _, s := range faultyScenarios() {
		most := map[float64]int{0: 40, 0.25: 60, 0.5: 120}[s.joins]
		if most == 0 {
			continue
		}
		m, err := measure(context.Background(), s, 20, 7, func() {})
		if err != nil {
			t.Fatal(err)
		}
		if m.named != 20 || m.accused > 0 || m.waits[10] > most {
			t.Errorf("%s: named in %d of 20, median %s launches, want %d at most; healthy accused in %d", s.name, m.named, m.until(0.5), most, m.accused)
		}
	}
}

// A test that accuses at the first failure would be found out: the measure
// itself can fail.
func TestAccusedIsCounted(t *testing.T) {
	s := wellScenarios()[0]
	s.faulty, s.joins = true, 0
	h := newHistory(s, instanceIDs(), 1, 1)
	got := play(h)
	if !got.named || got.accused || got.until == 0 {
		t.Fatalf("a pool in which nothing joins: %+v", got)
	}
	h = newHistory(s, instanceIDs(), 1, 1)
	h.blamed = "another type"
	if got := play(h); !got.accused || got.named {
		t.Errorf("the same pool, taken for healthy: %+v", got)
	}
}

func TestSameSeedSamePage(t *testing.T) {
	var pages [2]string
	for i := range pages {
		r, err := all(context.Background(), 2, 3, &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		pages[i] = page(r)
	}
	if pages[0] != pages[1] || !strings.Contains(pages[0], "-histories 2 -seed 3") {
		t.Errorf("two pages of one seed differ:\n%s\n%s", pages[0], pages[1])
	}
}

func TestExitCodes(t *testing.T) {
	for args, want := range map[string]int{
		"-help": 0, "-histories=0": exitUsage, "-nothing": exitUsage, "more": exitUsage,
		"-histories=1 -out=" + filepath.Join(t.TempDir(), "no", "page.md"): exitBad,
	} {
		if got := run(context.Background(), strings.Fields(args), &bytes.Buffer{}); got != want {
			t.Errorf("run(%q) = %d, want %d", args, got, want)
		}
	}
	r := results{well: []measured{{histories: 100, accused: 1}, {scenario: scenario{name: "bad"}, histories: 100, accused: 2}}}
	if name, over := r.over(); !over || name != "bad" {
		t.Errorf("over() = %q, %v", name, over)
	}
}
