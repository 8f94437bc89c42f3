package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/console"
	"rollcall/shared/node/text"
)

// pointer is what a text tells: the check that it points to, and what to look
// at next.
type pointer struct {
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

// point reads a text.
func point(pasted string) (p pointer, known bool) {
	t := text.Tell(pasted)
	p = pointer{Check: t.Check, Meaning: t.Meaning, Next: t.Next, Kind: t.Kind, Failed: t.Failed, Symptom: t.Symptom, Look: t.Look}
	if t.Check != "" {
		return p, true
	}
	p.Check, p.Text = checkid.LaunchUnclassified, activity.Clean(console.Redact(pasted))
	return p, false
}

// message prints what a text points to.
func message(pasted string, asJSON bool, out, errs io.Writer) int {
	if strings.TrimSpace(pasted) == "" {
		fmt.Fprintln(errs, "diagnose:", misuse{errors.New(`-message: the text is empty; -help tells more`)})
		return badStatus
	}
	p, known := point(pasted)
	if asJSON {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(p); err != nil {
			fmt.Fprintln(errs, "diagnose:", err)
			return unsureStatus
		}
	} else {
		p.print(out)
	}
	if !known {
		return unsureStatus
	}
	return healthyStatus
}

// print writes the id in the first line, for who reads no more.
func (p pointer) print(out io.Writer) {
	fmt.Fprintln(out, p.Check)
	for _, part := range []string{p.Meaning, p.Next, p.read(), p.behind(), p.Text} {
		if part != "" {
			fmt.Fprintln(out, " ", part)
		}
	}
}

func (p pointer) read() string {
	read := "Read as " + p.Kind
	if p.Failed != "" {
		read += ": " + p.Failed
	}
	return read + "."
}

func (p pointer) behind() string {
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
