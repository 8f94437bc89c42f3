package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rollcall/local/simaws/worldfile"
	"rollcall/shared/node/text"
)

// TestPageIsFresh holds that the committed page is made of these rows, says of each
// text what it tells now, and of each world the cause that the world has: make corpus
// holds that it is what Rollcall says first.
func TestPageIsFresh(t *testing.T) {
	rows, err := read("threads.yaml")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../../../docs/threads.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for _, r := range rows {
		name := strings.Join(r.Threads, ", ")
		line := lineOf(page, r.begin())
		if line == "" {
			t.Errorf("%s: the page is stale, run make threads: it lacks %q", name, r.begin())
			continue
		}
		if end := " | " + r.tells() + " | " + r.Unseen + " |"; !strings.HasSuffix(line, end) {
			t.Errorf("%s: the page is stale, run make threads: %q does not end with %q", name, line, end)
		}
		if r.World != "" && !slices.ContainsFunc(causes(t, r.World), func(id string) bool { return strings.HasPrefix(line, r.begin()+"**"+id+"**, ") }) {
			t.Errorf("%s: the page does not name the cause of %s first, run make threads and make corpus RUN=%s: %s", name, r.World, r.World, line)
		}
	}
	if got := strings.Count(page, "\n| ["); got != len(rows) {
		t.Errorf("the page has %d rows, and there are %d: run make threads", got, len(rows))
	}
}

func lineOf(page, begin string) string {
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, begin) {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return ""
}

// causes are the names that the first cause of a world may have.
func causes(t *testing.T, name string) []string {
	t.Helper()
	f, err := worldfile.Load(filepath.Join("../../worlds/corpus", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Expect.Incidents) == 0 {
		return []string{"node/not-registered"} // what is seen, and has no cause there
	}
	return append([]string{f.Expect.Incidents[0].Cause}, f.Expect.Incidents[0].Or...)
}

// TestEachThreadIsAnswered holds that each row has a world, a text or a reason, and
// that each text tells what it is to tell.
func TestEachThreadIsAnswered(t *testing.T) {
	rows, err := read("threads.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 35 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		name := strings.Join(r.Threads, ", ")
		if name == "" || r.Happened == "" || r.World == "" && r.Text == "" && r.Unseen == "" {
			t.Errorf("%q: %q has no world, no text and no reason", name, r.Happened)
		}
		told := text.Tell(r.Text)
		if told.Check != r.Tells {
			t.Errorf("%s: the text tells %q, want %q", name, told.Check, r.Tells)
		}
		if r.Text != "" && r.Tells == "" && r.Unseen == "" {
			t.Errorf("%s: why the text tells nothing is not said", name)
		}
	}
}
