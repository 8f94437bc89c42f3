package message

import (
	"strings"
)

// Mail is a message of SNS, as people get it by mail.
type Mail struct {
	Subject, Body string
	// Attributes are what a subscription's filter policy may choose by.
	Attributes map[string]string
}

// maxSubject is one less than SNS's limit: "less than 100 characters long", without line
// breaks and control characters (SNS API reference, Publish, Subject). It is written in
// ASCII, as mail programs show that everywhere.
const maxSubject = 99

// ToMail is the message. It stays far below SNS's 256 KB, as its words are clipped.
func ToMail(n News) Mail {
	m := Mail{Subject: subject(Urgency(n) + ": " + n.Words.Headline), Attributes: map[string]string{"type": n.Type}}
	var b strings.Builder
	b.WriteString(Urgency(n) + ": " + n.Words.Headline + "\n")
	for _, l := range n.Words.Lines {
		switch {
		case l.Label == "": // of the list that a line without text began
			b.WriteString("- " + l.Text + "\n")
		case l.Text == "":
			b.WriteString("\n" + l.Label + ":\n")
		default:
			b.WriteString("\n" + l.Label + ": " + l.Text + "\n")
		}
	}
	if n.Words.Command != "" {
		b.WriteString("\n    " + strings.ReplaceAll(n.Words.Command, "\n", "\n    ") + "\n")
	}
	for _, l := range links(n.Words) {
		b.WriteString("\n" + l.Text + ": " + l.Address + "\n")
	}
	if e := n.Incident; e != nil {
		b.WriteString("\n" + footer(n) + "\n")
		for name, value := range map[string]string{"severity": string(e.Severity), "cluster": e.Cluster, "check": string(e.Check), "account": e.Account, "region": e.Region} {
			if value != "" { // "Name, type, and value must not be empty" (Publish, MessageAttributes)
				m.Attributes[name] = value
			}
		}
	}
	m.Body = b.String()
	return m
}

// subject writes a line in printable ASCII of at most maxSubject characters.
func subject(s string) string {
	s = strings.NewReplacer("·", "-", "→", "->", "…", "...", "–", "-", "’", "'").Replace(s)
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case r < ' ', r == 0x7f:
			return -1
		case r > '~':
			return '?'
		}
		return r
	}, s)
	if len(s) > maxSubject {
		s = s[:maxSubject-3] + "..."
	}
	return s
}
