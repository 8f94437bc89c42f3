package command

import (
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"rollcall/local/result"
)

// cleaner writes texts without what would move a terminal's cursor, change its colors or
// turn the direction of its lines: whoever may name a thing in the account, or a file in a
// capture, could write them. The command's own colors pass.
type cleaner struct {
	to io.Writer
	// raw reports whether what is written is no text for a person: JSON, which has its own
	// escapes, and the protocol of rollcall mcp.
	raw func() bool

	mu   sync.Mutex
	rest []byte // the beginning of a character
}

// Write cleans a text. A character that is not complete yet waits for the next one.
func (c *cleaner) Write(p []byte) (int, error) {
	if c.raw() {
		return c.to.Write(p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	text := append(c.rest, p...)
	whole := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-n:]) {
				whole -= n
			}
			break
		}
	}
	c.rest = slices.Clone(text[whole:])
	if _, err := io.WriteString(c.to, cleaned(string(text[:whole]), colored(c.to))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cleaned is a text without what a terminal takes for something to do, but for colors.
func cleaned(text string, colors bool) string {
	if !colors {
		return result.Clean(text)
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "\033[")
		b.WriteString(result.Clean(before))
		if !found {
			return b.String()
		}
		color, rest, ends := strings.Cut(after, "m")
		if ends && slices.Contains([]string{"0", result.Red, result.Green, result.Yellow, result.Blue}, color) {
			b.WriteString("\033[" + color + "m")
			text = rest
			continue
		}
		b.WriteString("�[")
		text = after
	}
}

// terminalOf is the file that a writer writes to in the end: what is drawn on it and taken
// away again is the command's own.
func terminalOf(w io.Writer) (*os.File, bool) {
	f, is := bare(w).(*os.File)
	return f, is
}

// bare is the writer below: what the demo writes is the command's own.
func bare(w io.Writer) io.Writer {
	if c, is := w.(*cleaner); is {
		return c.to
	}
	return w
}

// isJSON reports whether a command line asks for what a program reads.
func isJSON(root *cobra.Command, args []string) func() bool {
	c, _, err := root.Find(args)
	if err != nil {
		return func() bool { return false }
	}
	return func() bool {
		f := c.Flags().Lookup("json")
		return c.Name() == "mcp" || f != nil && f.Value.String() == "true"
	}
}
