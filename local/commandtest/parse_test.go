package commandtest

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

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

// ran are the words that the programs of a line got from a real shell.
func ran(t *testing.T, shell, line string) [][]string {
	t.Helper()
	script := ""
	for _, p := range programs {
		script += p + `() { printf '%s\0' ` + p + ` "$@" >&3; printf '\1\0' >&3; cat </dev/null; }; `
	}
	out, err := exec.Command(shell, "-c", "exec 3>&1 1>/dev/null; "+script+"\n"+line).Output()
	if err != nil {
		t.Errorf("%s: %v: %s", shell, err, line)
	}
	var calls [][]string
	var words []string
	for w := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if w == "\x01" {
			calls, words = append(calls, words), nil
			continue
		}
		words = append(words, w)
	}
	return calls
}
