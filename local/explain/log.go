package explain

import (
	"fmt"
	"io"

	"rollcall/shared/node/activity"
	"rollcall/shared/node/console"
	"rollcall/shared/node/text"
)

// Log is what a log tells.
type Log struct {
	Lines int    `json:"lines"`
	Told  []Line `json:"told"`
	// Unread are lines that were not told: the log has too many forms of lines.
	// Cut are lines of which only the begin was read.
	Unread int `json:"unread,omitempty"`
	Cut    int `json:"cut,omitempty"`
}

// Line is the first line that tells of a check, and how many do.
type Line struct {
	Line  int `json:"line"`
	Count int `json:"count"`
	Pointer
}

// ReadLog tells what a log says.
func ReadLog(in io.Reader) (Log, error) {
	l, err := text.ReadLog(in)
	if err != nil {
		return Log{}, err
	}
	t := Log{Lines: l.Lines, Told: []Line{}, Unread: l.Unread, Cut: l.Cut}
	for _, x := range l.Told {
		p := pointerOf(x.Told)
		p.Text = activity.Clean(console.Redact(x.Text))
		t.Told = append(t.Told, Line{Line: x.Number, Count: x.Count, Pointer: p})
	}
	return t, nil
}

// Print writes each line that tells of something, and what was left out.
func (t Log) Print(out io.Writer) {
	for _, x := range t.Told {
		fmt.Fprintf(out, "line %d", x.Line)
		if x.Count > 1 {
			fmt.Fprintf(out, ", and %d like it", x.Count-1)
		}
		fmt.Fprint(out, ": ")
		x.Pointer.Print(out)
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
