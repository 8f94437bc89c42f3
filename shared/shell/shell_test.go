package shell

import (
	"os/exec"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// words are what bash makes of a line, by a parser that is not ours.
func words(t *testing.T, line string) []string {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if len(file.Stmts) != 1 || !ok || len(call.Assigns) > 0 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Background {
		t.Fatalf("%q is more than one command", line)
	}
	list, err := expand.Fields(nil, call.Args...)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return list
}

var odd = []string{
	"", " ", "a b", "'", `"`, `\`, "a'b", "a'!b", "!!", "$HOME", "$(touch x)", "`id`", "a;b", "a|b", "a&b", "a>b", "<node role>", "*", "?", "[status,health]", "a{b,c}", "~", "~root", "=ls", "a=b", "A=B",
	"#", "^", "%1", "--all", "a\nb", "\r", "\t", "\x1b[201~\n", "\u202e", "é", "日本", "\xff\xfe", "\x7f", "\x01f", "\u2028", "if", "done", "\\x41", "'\n'!", "csr-x;curl evil|sh", "-z",
}

func TestQuote(t *testing.T) {
	for _, w := range odd {
		line := Command("aws", w, "end")
		got := words(t, line)
		if len(got) != 3 || got[1] != w {
			t.Errorf("%q is written %s and read %q", w, line, got)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' || r == '\uFFFD' }) {
			t.Errorf("%q: %q holds what a terminal acts upon", w, line)
		}
	}
	if got := words(t, Command("aws", "a\x00b")); got[1] != "a\uFFFDb" {
		t.Errorf("a null byte: %q", got)
	}
	for _, plain := range []string{"vpc-0a", "Name=vpc-id,Values=vpc-0a", "arn:aws:iam::111122223333:role/a/b.c@d_e+f", "10.0.0.0/16", "--region"} {
		if got := Quote(plain); got != plain {
			t.Errorf("%s is written %s: nothing in it needs a quote", plain, got)
		}
	}
}

// What real shells do with it: bash, and zsh where it is installed.
func TestQuoteInShells(t *testing.T) {
	for _, program := range []string{"bash", "zsh"} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Logf("%s is not installed: not run", program)
			continue
		}
		out, err := exec.Command(path, "-c", Command("printf", `%s\0`, odd)).Output()
		if want := strings.Join(odd, "\x00") + "\x00"; err != nil || string(out) != want {
			t.Errorf("%s: %v\n got %q\nwant %q", program, err, out, want)
		}
		// As a person pastes it: an interactive bash takes "!" for its history.
		if program == "bash" {
			c := exec.Command(path, "--norc", "-i")
			c.Stdin = strings.NewReader("set -H\n" + Command("printf", `%s\n`, "a'!b", "!!", "'\x01'!") + "\n")
			if out, _ := c.Output(); string(out) != "a'!b\n!!\n'\x01'!\n" {
				t.Errorf("interactive: %q", out)
			}
		}
	}
}

func TestComposed(t *testing.T) {
	for _, test := range []struct{ name, got, want string }{
		{"all", All(Command("aws", "a b"), Command("kubectl", "c")), "aws 'a b' && kubectl c"},
		{"pipe", Pipe(Command("aws", "a"), "base64 -d"), "aws a | base64 -d"},
		{"each", Each([]string{"x", "y;z"}, "aws", "--id"), `for id in x 'y;z'; do aws --id "$id"; done`},
		{"output", Command("aws", "--id", Output(Command("aws", "a b"))), `aws --id "$(aws 'a b')"`},
		{"placeholder", Command("aws", "--role-name", Placeholder("node role")), "aws --role-name '<node role>'"},
		{"numbers and lists", Command("aws", 443, []string{"a", "b c"}, true), "aws 443 a 'b c' true"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %s, want %s", test.name, test.got, test.want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, w := range odd {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, w string) {
		w = strings.ReplaceAll(w, "\x00", "")
		if got := words(t, Command("aws", w)); len(got) != 2 || got[1] != w {
			t.Errorf("%q is read %q", w, got)
		}
	})
}
