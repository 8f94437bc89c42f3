package commandtest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/testfull"
	"rollcall/shared/checks"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// found are the commands of all that the checks find in a snapshot, by check and
// resource.
func found(s *snapshot.Snapshot) map[[2]string]checks.Fix {
	all := map[[2]string]checks.Fix{}
	for _, r := range checks.Eval(checks.All(), s) {
		if r.Outcome == checks.Fail && r.Fix.Command != "" {
			all[[2]string{string(r.Check), r.Resource}] = r.Fix
		}
	}
	return all
}

// tally is what a test has looked at: a test that looks at nothing holds nothing.
type tally struct {
	checks          map[string]bool
	tried           map[string]int // commands of each check
	worlds          int
	commands        int
	poisoned, whole int
	verbs           map[string]int // calls that change something, by verb
	// hostile are the poisoned commands, for the shells.
	hostile map[string]bool
}

// TestCommandsOfFindings takes every world of the corpus, and poisons what
// commands name, one text after the other, wherever it stands in the snapshot; and
// then every text at once. No command may come to hold anything but words: a text
// that was a word, or a part of one, is the same word with the poison in it.
//
// And no command does what the world has done already (see already).
//
// Text by text is for make test-full in every world; in make test it is for the
// first two commands of each check, so that no check is left out. All texts at once
// is for every world.
func TestCommandsOfFindings(t *testing.T) {
	spared := spoken(t)
	seen := tally{checks: map[string]bool{}, tried: map[string]int{}, verbs: map[string]int{}, hostile: map[string]bool{}}
	worlds := corpus(t)
	for n, name := range slices.Sorted(maps.Keys(worlds)) {
		if n%testfull.Of(1, 2) != 0 { // a check has several worlds
			continue
		}
		t.Run(name, func(t *testing.T) {
			seen.worlds++
			for _, s := range snapshots(t, worlds[name]) {
				seen.world(t, name, s, spared)
				seen.advises(t, name, s)
			}
		})
	}
	t.Logf("%d worlds, commands of %d checks, %d commands; poisoned text by text %d, all at once %d", len(worlds), len(seen.checks), seen.commands, seen.poisoned, seen.whole)
	whole := seen.worlds >= len(worlds)/testfull.Of(1, 2)
	if whole && (len(seen.checks) < testfull.Of(55, 50) || seen.poisoned < testfull.Of(300, 90) || seen.whole < 100) {
		t.Error("that is fewer than there are: the test holds little")
	}
	for verb := range already() {
		if testfull.Asked() && seen.verbs[verb] == 0 {
			t.Errorf("no world's command is %q: its row in already holds nothing", verb)
		}
	}
	t.Logf("%d poisoned commands are given to the shells", len(seen.hostile))
	tried(t, slices.Sorted(maps.Keys(seen.hostile)))
}

func (seen *tally) world(t *testing.T, name string, s *snapshot.Snapshot, spared map[string]bool) {
	t.Helper()
	sound := found(s)
	words := map[[2]string][][]string{}
	named := map[string]bool{}
	known := texts(s)
	for key, fix := range sound {
		calls, err := parsed(fix.Command)
		if err != nil {
			t.Errorf("%s, %s: %v: %s", name, key[0], err, fix.Command)
			continue
		}
		again := seen.tried[key[0]] >= 2
		seen.checks[key[0]] = true
		seen.tried[key[0]]++
		seen.commands++
		words[key] = calls
		for _, w := range slices.Concat(calls...) {
			seen.placeholder(t, key[0], w, fix)
			for text := range known {
				if (!again || testfull.Asked()) && len(text) > 2 && !spared[text] && strings.Contains(w, text) {
					named[text] = true
				}
			}
		}
	}
	for text := range named {
		change := at(text)
		for key, fix := range found(shadowOf(s, change)) {
			if !strings.Contains(fix.Command, "pwned") {
				continue
			}
			calls, err := parsed(fix.Command)
			if err != nil {
				t.Errorf("%s, %s, %q poisoned: %v: %s", name, key[0], text, err, fix.Command)
				continue
			}
			seen.poisoned++
			seen.hostile[fix.Command] = true
			if !seen.intact(t, name, key[0], calls, fix.Command) {
				continue
			}
			before, there := words[[2]string{key[0], strings.TrimSuffix(key[1], poison)}]
			if diff := cmp.Diff(before, clean(calls)); there && diff != "" {
				t.Errorf("%s, %s, %q poisoned (-words +words without the poison):\n%s", name, key[0], text, diff)
			}
		}
	}
	for key, fix := range found(shadowOf(s, everything(spared))) {
		calls, err := parsed(fix.Command)
		if err != nil {
			t.Errorf("%s, %s, all poisoned: %v: %s", name, key[0], err, fix.Command)
			continue
		}
		if strings.Contains(fix.Command, "pwned") {
			seen.whole++
			seen.hostile[fix.Command] = true
			seen.intact(t, name, key[0], calls, fix.Command)
		}
	}
}

// held is the poison as a word holds it: what is not a byte of a text stays.
func held(w string) string { return strings.ReplaceAll(w, poison, "") }

// intact holds that each poison in a command is whole, within its word.
func (seen *tally) intact(t *testing.T, name, check string, calls [][]string, command string) bool {
	t.Helper()
	for _, w := range slices.Concat(calls...) {
		if strings.Contains(held(w), "pwned") {
			t.Errorf("%s, %s: the poison is not whole in %q: %s", name, check, w, command)
			return false
		}
	}
	return true
}

func clean(calls [][]string) [][]string {
	var out [][]string
	for _, words := range calls {
		var list []string
		for _, w := range words {
			list = append(list, held(w))
		}
		out = append(out, list)
	}
	return out
}

// placeholder holds that what a person must fill in is named in the text.
func (seen *tally) placeholder(t *testing.T, check, word string, fix checks.Fix) {
	t.Helper()
	if _, rest, ok := strings.Cut(word, "<"); ok {
		what, _, closed := strings.Cut(rest, ">")
		if !closed || !strings.Contains(fix.Text, shell.Placeholder(what)) {
			t.Errorf("%s: %q is to be filled in, and the text does not say so: %s", check, word, fix.Text)
		}
	}
}
