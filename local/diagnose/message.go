package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// pointer is the check that a message of AWS points to.
type pointer struct {
	Check   string `json:"check"`
	Meaning string `json:"meaning"`
	Next    string `json:"next"`
	// Text is the message itself, where nothing is known of it.
	Text string `json:"text,omitempty"`
}

// message prints what a text points to.
func message(text string, asJSON bool, out, errs io.Writer) int {
	text = strings.TrimSpace(text)
	if text == "" {
		fmt.Fprintln(errs, "diagnose:", misuse{errors.New(`-message: the text is empty; -help tells more`)})
		return badStatus
	}
	check, meaning, next, known := point(text)
	p := pointer{Check: string(check), Meaning: meaning, Next: next}
	if !known {
		p.Text = text
	}
	if asJSON {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(p); err != nil {
			fmt.Fprintln(errs, "diagnose:", err)
			return unsureStatus
		}
	} else {
		fmt.Fprintln(out, p.Check)
		for _, part := range []string{p.Meaning, p.Next, p.Text} {
			if part != "" {
				fmt.Fprintln(out, " ", part)
			}
		}
	}
	if !known {
		return unsureStatus
	}
	return healthyStatus
}
