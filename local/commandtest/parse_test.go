package commandtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// programs are what the commands run.
var programs = []string{"aws", "kubectl", "eksctl", "base64"}

// parsed are the words of each simple command of a line, in order, as bash takes
// them apart. It is an error where a shell would do anything but run one of the
// programs with these words: a redirection, another command, a variable, a glob.
func parsed(line string) ([][]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, fmt.Errorf("no shell takes it: %w", err)
	}
	var calls [][]string
	var wrong error
	bad := func(format string, values ...any) {
		if wrong == nil {
			wrong = fmt.Errorf(format, values...)
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if n.Background || n.Negated || n.Coprocess || len(n.Redirs) > 0 {
				bad("a statement with a redirection or in the background")
			}
		case *syntax.CallExpr:
			words, err := expand.Fields(&expand.Config{
				Env:      expand.ListEnviron("id=$id", "HOME=/home"),
				CmdSubst: func(w io.Writer, _ *syntax.CmdSubst) error { _, err := io.WriteString(w, "$()"); return err },
			}, n.Args...)
			switch {
			case err != nil:
				bad("%v", err)
			case len(n.Assigns) > 0 || len(words) == 0 || !slices.Contains(programs, words[0]):
				bad("it runs %q", words)
			default:
				calls = append(calls, words)
			}
		case *syntax.WordIter:
			words, err := expand.Fields(nil, n.Items...)
			if err != nil {
				bad("%v", err)
			}
			calls = append(calls, words)
		case *syntax.Lit:
			if strings.ContainsAny(n.Value, "*?[]{}~!^#\\<>|&;()\n") {
				bad("unquoted: %q", n.Value)
			}
		case *syntax.DblQuoted:
			// The two words that the shell is to fill in: "$id" and "$(…)".
			if len(n.Parts) != 1 {
				bad("a word in double quotes: %d parts", len(n.Parts))
			}
		case *syntax.ParamExp:
			if n.Param == nil || n.Param.Value != "id" {
				bad("a variable")
			}
		case nil, *syntax.File, *syntax.BinaryCmd, *syntax.ForClause, *syntax.CmdSubst, *syntax.SglQuoted, *syntax.Word:
		default:
			bad("a %T", n)
		}
		return true
	})
	return calls, wrong
}

// shells are those that people paste into: bash on Linux, zsh on macOS.
func shells(t *testing.T) (list [][]string) {
	t.Helper()
	for _, shell := range [][]string{{"bash", "--norc", "--noprofile"}, {"zsh", "-f"}} { // nobody's settings
		if _, err := exec.LookPath(shell[0]); err != nil {
			t.Logf("%s IS NOT INSTALLED: the commands were not tried in it (.ci/run installs it)", shell[0])
			continue
		}
		list = append(list, shell)
	}
	return list
}

// ran are the words that the programs of each line got from a real shell, which runs
// nothing else.
func ran(t *testing.T, shell []string, lines []string) [][][]string {
	t.Helper()
	dir := t.TempDir()
	script := "exec 3>&1 1>/dev/null\n"
	for _, p := range programs {
		// The second of a pipe waits for the first, and says after it what it got.
		script += p + `() { [ ` + p + ` = base64 ] && cat >/dev/null; printf '%s\0' ` + p + ` "$@" $'\1' >&3; }` + "\n"
	}
	for _, line := range lines {
		script += line + "\nprintf '\\2\\0' >&3\n"
	}
	path := filepath.Join(dir, "script")
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(shell[0], append(shell[1:], path)...)
	run.Dir = dir
	out, err := run.Output()
	if err != nil {
		t.Errorf("%s: %v", shell[0], err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%s made files of a command: %v, %v", shell[0], left, err)
	}
	var calls [][]string
	var got [][][]string
	var words []string
	for w := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		switch w {
		case "\x01":
			calls, words = append(calls, words), nil
		case "\x02":
			got, calls = append(got, calls), nil
		default:
			words = append(words, w)
		}
	}
	if len(got) != len(lines) {
		t.Fatalf("%s ran %d of %d commands", shell[0], len(got), len(lines))
	}
	return got
}

// tried runs lines in each shell. What a shell fills in the parser does not: of such
// a line all shells must make the same.
func tried(t *testing.T, lines []string) {
	t.Helper()
	var first [][][]string
	for _, shell := range shells(t) {
		got := ran(t, shell, lines)
		for i, line := range lines {
			want, err := parsed(line)
			if err != nil {
				t.Errorf("%v: %s", err, line)
				continue
			}
			if strings.Contains(line, "for id in ") || strings.Contains(line, `"$(`) {
				if want = got[i]; first != nil {
					want = first[i]
				}
				if len(want) == 0 {
					t.Errorf("%s runs nothing: %s", shell[0], line)
				}
			}
			if diff := cmp.Diff(want, got[i]); diff != "" {
				t.Errorf("%s (-words +got):\n%s\n%s", shell[0], diff, line)
			}
		}
		if first == nil {
			first = got
		}
	}
}
