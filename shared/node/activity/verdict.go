// Package activity tells from texts and codes why a launch failed: the status
// messages of Auto Scaling, the error codes and state reasons of EC2.
//
// The functions judge no other error by its text: Auto Scaling gives no code
// for a failed launch, only a sentence. What people paste is read by package
// text, which asks this one about launches.
package activity

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"rollcall/shared/access/denial"
	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// Verdict is what a text or a code says.
type Verdict struct {
	// Class is the check that a text points to.
	Class   checkid.ID
	Meaning string // begins in lower case, ends without a full stop
	Next    string // one or two sentences
	// By is the code or the phrase that told it; empty for what ended an
	// instance.
	By string
	// Named are the resources that the text names.
	Named Named
	// Text is the text itself, bounded, without encoded blobs.
	Text string
	// Denial is which policy refused, as far as the text tells; nil for one that tells
	// of no permission.
	Denial *snapshot.Denial
	// NeverRan tells that an instance that ended for this did not get as far
	// as a node could have.
	NeverRan bool
}

// Classify tells why a launch failed. Codes count before sentences. A text
// that nothing fits is Unclassified and is shown as it is.
func Classify(text string) Verdict {
	v := Verdict{Class: checkid.LaunchUnclassified, Text: Clean(text), NeverRan: true}
	if m, by, ok := match(text, table()); ok {
		v.Class, v.Meaning, v.Next, v.By = m.class, m.meaning, m.next, by
	}
	if d, ok := denial.Of(text); ok {
		v.Denial = &d
		if denial.Above(d) {
			v.Class, v.Meaning, v.Next, v.By = checkid.LaunchPolicyDenied, Forbids(d), "", d.Kind
		}
	}
	v.Named = named(text)
	w := words(v.Class)
	if v.Meaning == "" {
		v.Meaning = w.meaning
	}
	v.Next = cmp.Or(v.Next, w.next)
	return v
}

// Forbids says that a policy refuses, with its kind where AWS tells it.
func Forbids(d snapshot.Denial) string {
	switch {
	case d.Kind == "":
		return "a policy denies it explicitly"
	case strings.HasSuffix(d.Kind, "boundary"), strings.HasPrefix(d.Kind, "session"):
		return "the " + d.Kind + " forbids it"
	}
	return "a " + d.Kind + " forbids it"
}

// Bounds of what is looked at and of what is shown. The longest status message
// seen has 700 bytes; a ticket may hold a whole log.
const (
	maxLooked = 64 << 10 // bytes
	maxShown  = 500      // runes
)

// Clean is a text that can be shown: valid, in one line, without the encoded
// blob of an authorization failure, and bounded.
func Clean(text string) string {
	text = strings.ToValidUTF8(bound(text), "")
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' {
			return -1
		}
		return r
	}, text)), " ")
	text = tokenForm.ReplaceAllString(cutBlob(text), "with token …")
	if utf8.RuneCountInString(text) > maxShown {
		text = string([]rune(text)[:maxShown-1]) + "…"
	}
	return text
}

// tokenForm is the token of a lifecycle action: each launch has its own.
var tokenForm = regexp.MustCompile(`with token [0-9a-f]{8}-[0-9a-f-]{27}`)

// cutBlob takes the encoded message out: it is up to 10 KB long, tells nothing
// by itself, and holds the caller's identity.
func cutBlob(text string) string {
	const mark = "Encoded authorization failure message:"
	from := strings.Index(text, mark)
	if from < 0 {
		return text
	}
	rest := strings.TrimLeft(text[from+len(mark):], " ")
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '*' || r == '…')
	})
	if end < 0 {
		end = len(rest)
	}
	return text[:from] + "(encoded message left out)" + rest[end:]
}

func bound(text string) string { return text[:min(len(text), maxLooked)] }
