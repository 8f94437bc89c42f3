// Package explain tells what a text of AWS, Kubernetes or Karpenter points to: a message,
// or a log of any length.
package explain

import (
	"fmt"
	"io"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/console"
	"rollcall/shared/node/text"
)

// Pointer is what a text tells: the check that it points to, and what to look
// at next.
type Pointer struct {
	Check   checkid.ID `json:"check"`
	Meaning string     `json:"meaning"`
	Next    string     `json:"next"`
	// Kind is what kind of text it is, Failed what failed in it.
	Kind   string `json:"kind"`
	Failed string `json:"failed,omitempty"`
	// Symptom tells that the check names how something shows; Look are the
	// checks that may be behind it, in the order in which to look.
	Symptom bool         `json:"symptom,omitempty"`
	Look    []checkid.ID `json:"look,omitempty"`
	// Text is the message itself, where nothing is known of it, without what
	// may be a secret.
	Text string `json:"text,omitempty"`
}

// Point reads a text; known is false where nothing is known of it.
func Point(pasted string) (p Pointer, known bool) {
	t := text.Tell(pasted)
	p = pointerOf(t)
	if t.Check != "" {
		return p, true
	}
	p.Check, p.Text = checkid.LaunchUnclassified, activity.Clean(console.Redact(pasted))
	return p, false
}

func pointerOf(t text.Told) Pointer {
	return Pointer{Check: t.Check, Meaning: t.Meaning, Next: t.Next, Kind: t.Kind, Failed: t.Failed, Symptom: t.Symptom, Look: t.Look}
}

// Print writes the id in the first line, for who reads no more.
func (p Pointer) Print(out io.Writer) {
	fmt.Fprintln(out, p.Check)
	for _, part := range []string{p.Meaning, p.Next, p.read(), p.behind(), p.Text} {
		if part != "" {
			fmt.Fprintln(out, " ", part)
		}
	}
}

func (p Pointer) read() string {
	read := "Read as " + p.Kind
	if p.Failed != "" {
		read += ": " + p.Failed
	}
	return read + "."
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
		return "It is how a fault shows. Look for what is behind it, in this order: " + list + "."
	}
	return "Look also at: " + list + "."
}
