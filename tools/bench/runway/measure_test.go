package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/tools/testfull"
)

// A few months of each kind, held to bounds that leave room for how few they are:
// the page has the figures.
func TestBounds(t *testing.T) {
	n := testfull.Of(4, 2)
	r, err := all(context.Background(), n, 7, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if wrong := r.wrong(); wrong > 2*mostWrong {
		t.Errorf("%.2f false alarms in a month of a subnet, want %.1f at most", wrong, 2*mostWrong)
	}
	for _, m := range r.falling {
		switch {
		case m.clean && (m.warned(4*time.Hour) < 1 || m.again > 1):
			t.Errorf("%s: %.2f are told 4 hours before, %d are told again; want all, one at most", m.name, m.warned(4*time.Hour), m.again)
		case m.name == "leak, 4 to 24 hours" && m.warned(time.Hour) < 0.8:
			t.Errorf("%s: %.2f are told an hour before", m.name, m.warned(time.Hour))
		}
	}
}

// An alarm for nothing is counted, and one that comes true is not: the measure
// itself can fail.
func TestMeasureCounts(t *testing.T) {
	leak := kind{falls: true, shape: func(m *maker) {
		m.total = 1019
		m.fall(5*24*perHr, 1.0/40)
	}}
	s := month(leak, 1, 1)
	got, list := play(s)
	if got.wrong != 0 || got.warned != 1 || got.again != 0 || !got.fell || got.lead < 12*time.Hour || got.lead > 30*time.Hour {
		t.Errorf("a leak of 40 hours: %+v, %d warnings", got, len(list))
	}
	// The same until 6 hours before the end, and then for ever still.
	at := s.empty - 6*perHr
	for i := at; i < len(s.free); i++ {
		s.free[i] = s.free[at]
	}
	s.empty = -1
	if got, list = play(s); got.wrong != 1 || got.fell || len(list) != 1 {
		t.Errorf("a leak that stops: %+v, %d warnings", got, len(list))
	}
}

func TestSameSeedSamePage(t *testing.T) {
	var pages [2]string
	for i := range pages {
		r, err := all(context.Background(), 1, 3, &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		pages[i] = page(r, "")
	}
	if pages[0] != pages[1] || !strings.Contains(pages[0], "-subnets 1 -seed 3") {
		t.Errorf("two pages of one seed differ:\n%s\n%s", pages[0], pages[1])
	}
}

func TestExitCodes(t *testing.T) {
	for args, want := range map[string]int{
		"-help": 0, "-subnets=0": exitUsage, "-nothing": exitUsage, "more": exitUsage,
		"-subnets=1 -page=" + filepath.Join(t.TempDir(), "page.md", "\x00"): exitBad,
	} {
		if got := run(context.Background(), strings.Fields(args), &bytes.Buffer{}); got != want {
			t.Errorf("run(%q) = %d, want %d", args, got, want)
		}
	}
	r := results{harmless: []measured{{months: 10, wrong: 1}, {months: 10, wrong: 2}}}
	if _, over := r.over(); !over {
		t.Error("3 false alarms in 20 months are within the bound")
	}
}
