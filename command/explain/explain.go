// Package explain tells what a text of AWS, Kubernetes or Karpenter points to: a message,
// or a log of any length.
package explain

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/console"
	"rollcall/shared/node/messages"
	"rollcall/shared/node/text"
)

// Pointer is what a text tells: the check that it points to, and what to look
// at next.
type Pointer struct {
	// Check is empty where the text tells of no fault of a join.
	Check   checkid.ID `json:"check"`
	Meaning string     `json:"meaning"`
	Next    string     `json:"next"`
	// Sure is how sure it is.
	Sure Sure `json:"sure"`
	// Kind is what kind of text it is, Failed what failed in it.
	Kind   string `json:"kind"`
	Failed string `json:"failed,omitempty"`
	// Names are the resources that the text itself names, by what they are.
	Names map[string]string `json:"names,omitempty"`
	// Command is what to run next.
	Command string `json:"command,omitempty"`
	// Symptom reports whether the check is a symptom; Look are the checks that may
	// be its cause, in the order in which to check them.
	Symptom bool         `json:"symptom,omitempty"`
	Look    []checkid.ID `json:"look,omitempty"`
	// Text is the message itself, where nothing is known of it, without what
	// may be a secret.
	Text string `json:"text,omitempty"`
}

// Sure is how sure an answer is.
type Sure string

// How sure an answer is.
const (
	Cause   Sure = "the text names the cause"
	Shows   Sure = "the text names a symptom"
	Meant   Sure = "the text is known, and names no fault of a join"
	Nothing Sure = "nothing is known of the text"
)

// Explained is what a text tells: the fault that says most first, then the others of
// the text, each once.
type Explained struct {
	Pointer
	Also []Pointer `json:"also,omitempty"`
}

// Point reads a text; known is false where no fault of a join is in it.
func Point(pasted string) (e Explained, known bool) {
	all := text.All(pasted)
	if len(all) == 0 {
		e.Pointer = pointerOf(text.Classify(pasted))
		e.Sure = Nothing
	} else {
		e.Pointer = pointerOf(all[0])
		for _, t := range all[1:] {
			if t.Check != "" {
				e.Also = append(e.Also, pointerOf(t))
			}
		}
	}
	if e.Check == "" || e.Check == checkid.LaunchUnclassified {
		e.Text = activity.Clean(console.Redact(pasted))
	}
	return e, e.Check != "" && e.Check != checkid.LaunchUnclassified
}

func pointerOf(t text.Result) Pointer {
	p := Pointer{Check: t.Check, Meaning: t.Meaning, Next: t.Next, Kind: t.Kind, Failed: t.Failed, Command: t.Command, Symptom: t.Symptom, Look: t.Look, Sure: Cause}
	switch {
	case t.Check == "":
		p.Sure = Meant
	case t.Symptom:
		p.Sure = Shows
	}
	n := t.Named
	names := []messages.Value{{Name: "instance", Value: n.Instance}, {Name: "subnet", Value: n.Subnet}, {Name: "AMI", Value: n.AMI}, {Name: "security group", Value: n.SecurityGroup},
		{Name: "launch template", Value: n.Template}, {Name: "key", Value: n.Key}, {Name: "role", Value: n.Role}, {Name: "instance profile", Value: n.Profile},
		{Name: "type", Value: n.Type}, {Name: "zone", Value: n.Zone}, {Name: "snapshot", Value: n.Snapshot}, {Name: "volume", Value: n.Volume},
		{Name: "network interface", Value: n.Interface}, {Name: "limit", Value: n.Limit}}
	for _, v := range append(names, t.Values...) {
		if v.Value == "" {
			continue
		}
		if p.Names == nil {
			p.Names = map[string]string{}
		}
		p.Names[v.Name] = v.Value
	}
	return p
}

// Print writes the id in the first line, for who reads no more.
func (e Explained) Print(out io.Writer) {
	e.Pointer.Print(out)
	for _, p := range e.Also {
		fmt.Fprintf(out, "\nAlso in the text: ")
		p.Print(out)
	}
}

// Print writes the id in the first line; "unknown" where there is none.
func (p Pointer) Print(out io.Writer) {
	fmt.Fprintln(out, cmp.Or(p.Check, "unknown"))
	for _, part := range []string{p.Meaning, p.Next, p.run(), p.named(), p.read(), p.behind(), p.diagnose(), p.Text} {
		if part != "" {
			fmt.Fprintln(out, " ", part)
		}
	}
}

func (p Pointer) run() string {
	if p.Command == "" {
		return ""
	}
	return "Run: " + p.Command
}

func (p Pointer) named() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(p.Names)) {
		parts = append(parts, name+" "+p.Names[name])
	}
	if parts == nil {
		return ""
	}
	return "It names: " + strings.Join(parts, ", ") + "."
}

// read is what the text was recognized as, if as more than a text, and how sure that is.
func (p Pointer) read() string {
	sure := strings.ToUpper(string(p.Sure[:1])) + string(p.Sure[1:]) + "."
	switch {
	case p.Kind == "a text" && p.Failed == "":
		return sure
	case p.Kind == "a text":
		return "Recognized: " + p.Failed + ". " + sure
	case p.Failed == "":
		return "Recognized as " + p.Kind + ". " + sure
	}
	return "Recognized as " + p.Kind + ": " + p.Failed + ". " + sure
}

// diagnose is the command that finds the cause in the account itself.
func (p Pointer) diagnose() string {
	switch {
	case p.Check == "" || p.Check == checkid.LaunchUnclassified:
		return ""
	case p.Symptom:
		return "Next: rollcall diagnose --cluster NAME finds which of them it is."
	}
	return "Next: rollcall diagnose --cluster NAME finds the resource to fix."
}

func (p Pointer) behind() string {
	if len(p.Look) == 0 {
		return ""
	}
	ids := make([]string, len(p.Look))
	for i, id := range p.Look {
		ids[i] = string(id)
	}
	list := strings.Join(ids, ", ")
	if p.Symptom {
		return "Likely causes, in order: " + list + "."
	}
	return "Also check: " + list + "."
}

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
	for _, x := range l.Findings {
		p := pointerOf(x.Result)
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
