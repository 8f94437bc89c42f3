package diagnose

import (
	"fmt"
	"io"

	"rollcall/shared/node/activity"
	"rollcall/shared/node/console"
	"rollcall/shared/node/text"
)

// told is what a log tells.
type told struct {
	Lines int        `json:"lines"`
	Told  []toldLine `json:"told"`
	// Unread are lines that were not told: the log has too many forms of lines.
	// Cut are lines of which only the begin was read.
	Unread int `json:"unread,omitempty"`
	Cut    int `json:"cut,omitempty"`
}

// toldLine is the first line that tells of a check, and how many do.
type toldLine struct {
	Line  int `json:"line"`
	Count int `json:"count"`
	pointer
}

// explainLog tells what a log says.
func explainLog(in io.Reader, out io.Writer, asJSON bool) error {
	l, err := text.ReadLog(in)
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	t := told{Lines: l.Lines, Told: []toldLine{}, Unread: l.Unread, Cut: l.Cut}
	for _, x := range l.Told {
		p := pointerOf(x.Told)
		p.Text = activity.Clean(console.Redact(x.Text))
		t.Told = append(t.Told, toldLine{Line: x.Number, Count: x.Count, pointer: p})
	}
	if asJSON {
		if err := writeJSON(out, t); err != nil {
			return fmt.Errorf("print the result: %w", err)
		}
	} else {
		t.print(out)
	}
	if len(t.Told) == 0 {
		return exited{unsureStatus}
	}
	return nil
}

func (t told) print(out io.Writer) {
	for _, x := range t.Told {
		fmt.Fprintf(out, "line %d", x.Line)
		if x.Count > 1 {
			fmt.Fprintf(out, ", and %d like it", x.Count-1)
		}
		fmt.Fprint(out, ": ")
		x.pointer.print(out)
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%d lines read", t.Lines)
	if len(t.Told) == 0 {
		fmt.Fprint(out, "; nothing is known of any")
	}
	if t.Unread > 0 {
		fmt.Fprintf(out, "; of %d more nothing can be said, as the log has too many kinds of lines", t.Unread)
	}
	if t.Cut > 0 {
		fmt.Fprintf(out, "; %d were too long, and only their begin was read", t.Cut)
	}
	fmt.Fprintln(out, ".")
}
