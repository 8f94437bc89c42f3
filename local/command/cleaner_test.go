package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const hostile = "\x1b]0;PWNED\a\x1b[2J\u202egpj\u009b31m\r"

// What somebody wrote in the account does not reach the terminal as something to do, however
// it is cut into writes; the command's own colors do.
func TestCleaned(t *testing.T) {
	for _, x := range []struct {
		text   string
		colors bool
		want   string
	}{
		{"plain\ttext\n", false, "plain\ttext\n"},
		{"prod · läuft – ✅\n", true, "prod · läuft – ✅\n"},
		{hostile, false, "�]0;PWNED��[2J�gpj�31m�"},
		{hostile, true, "�]0;PWNED��[2J�gpj�31m�"},
		{"\033[1;31mFAULT\033[0m prod", true, "\033[1;31mFAULT\033[0m prod"},
		{"\033[1;31mFAULT\033[0m prod", false, "�[1;31mFAULT�[0m prod"},
		{"\033[8mhidden\033[", true, "�[8mhidden�["},
	} {
		if got := cleaned(x.text, x.colors); got != x.want {
			t.Errorf("%q, colors %t: %q, want %q", x.text, x.colors, got, x.want)
		}
	}
	var b bytes.Buffer
	c := &cleaner{to: &b, raw: func() bool { return false }}
	for _, one := range []byte("läuft ✅ \x1b[2J\xff\n") {
		if n, err := c.Write([]byte{one}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := b.String(); got != "läuft ✅ �[2J�\n" {
		t.Errorf("byte by byte: %q", got)
	}
}

// Notes, errors and results are cleaned on their way, JSON is left as it is.
func TestTerminalIsClean(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"sts-get-caller-identity.json": `{"Account":"111122223333"}`, "x\x1b[2J\u202e.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Skip("no such names here: ", err)
		}
	}
	for _, args := range [][]string{{"diagnose", dir}, {"diagnose", dir, "--json"}, {"diagnose", dir + hostile}, {hostile}} {
		var out, errs bytes.Buffer
		root := &cobra.Command{Use: "rollcall"}
		root.AddCommand(Commands()...)
		Run(t.Context(), root, args, &out, &errs)
		if all := out.String() + errs.String(); strings.ContainsAny(all, "\x1b\a\r\u202e\u009b") || errs.Len() == 0 {
			t.Errorf("%q: %q", args, all)
		}
	}
}
