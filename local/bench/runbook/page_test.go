package main

import (
	"os"
	"strings"
	"testing"

	"rollcall/local/testfull"

	"golang.org/x/sync/errgroup"
)

const (
	corpus   = "../../worlds/corpus"
	pageFile = "../../../docs/runbook.md"
)

// TestPageIsFresh holds that the committed page has a row for each world and
// no other, and that the runbook's half of it is what the model says now.
// Rollcall's half takes the functions' binaries: make runbook writes it. Every sixth
// world shows that the page is one of this model; make test-full looks at all.
func TestPageIsFresh(t *testing.T) {
	text, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	files, err := worldsOf(corpus)
	if err != nil {
		t.Fatal(err)
	}
	var looked []string
	for i := 0; i < len(files); i += testfull.Of(1, 6) {
		looked = append(looked, files[i])
	}
	rows := make([]row, len(looked))
	var g errgroup.Group
	g.SetLimit(4)
	for i, file := range looked {
		g.Go(func() error {
			var err error
			rows[i], err = look(t.Context(), file)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, r := range rows {
		if r.check == "" || r.kind() == untold {
			continue
		}
		want++
		if r.kind() == broken && len(r.own.health)+len(r.own.conditions) > 0 {
			want++
			if !strings.Contains(page, "\n"+r.ownHalf()) {
				t.Errorf("the page is stale, run make runbook: it lacks %q", r.ownHalf())
			}
		}
		if !strings.Contains(page, "\n"+r.half()) {
			t.Errorf("the page is stale, run make runbook: it lacks %q", r.half())
		}
	}
	if got := strings.Count(page, "\n| ["); testfull.Asked() && got != want {
		t.Errorf("the page has %d worlds, the corpus %d: run make runbook", got, want)
	}
}
