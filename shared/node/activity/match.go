package activity

import (
	"rollcall/shared/checkid"
	"strings"
	"unicode"
	"unicode/utf8"
)

// row is one way in which a cause is told.
type row struct {
	class checkid.ID
	// codes are API error codes, matched as they are written. "InvalidAMIID.*"
	// stands for every code below it.
	codes []string
	// texts are phrases, in lower case and without quotes; "…" is a gap.
	texts []string
	// exact rows count before all codes: their phrase says what a shortage's
	// code leaves out.
	exact bool
	// weak rows count after all others: what they look for also wraps or
	// follows a better reason.
	weak bool
	// meaning and next are more exact than those of the class, if set.
	meaning, next string
	// sample is a text of the field that the row is for, source where it stands.
	sample, source string
}

// match finds the row for a text, and the code or phrase that told it: an exact
// row, else the first with a code, else the first with a phrase, and weak rows
// last. This is the defined order where two would fit.
func match(text string, rows []row) (found row, by string, ok bool) {
	text = strings.ToValidUTF8(bound(text), "")
	plain := normal(text)
	for _, r := range rows {
		if !r.exact {
			continue
		}
		if by, ok := r.hasText(plain); ok {
			return r, by, true
		}
	}
	for _, weak := range []bool{false, true} {
		for _, r := range rows {
			if r.weak != weak {
				continue
			}
			if by, ok := r.hasCode(text); ok {
				return r, by, true
			}
		}
		for _, r := range rows {
			if r.weak != weak {
				continue
			}
			if by, ok := r.hasText(plain); ok {
				return r, by, true
			}
		}
	}
	return row{}, "", false
}

func (r row) hasCode(text string) (string, bool) {
	for _, code := range r.codes {
		if coded(text, code) {
			return code, true
		}
	}
	return "", false
}

func (r row) hasText(plain string) (string, bool) {
	for _, phrase := range r.texts {
		if says(plain, phrase) {
			return phrase, true
		}
	}
	return "", false
}

// coded tells that a code stands in a text, alone or where APIs and SDKs write
// codes: "Code: message", "Code - message", "(Code)". A code that is also an
// English word ("Blocked") counts only there.
func coded(text, code string) bool {
	family := strings.TrimSuffix(code, "*")
	for from := 0; ; {
		at := strings.Index(text[from:], family)
		if at < 0 {
			return false
		}
		at += from
		from = at + len(family)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		rest := text[from:]
		if family != code { // the family's own end is a dot
			rest = strings.TrimLeftFunc(rest, partOfCode)
		}
		after, _ := utf8.DecodeRuneInString(rest)
		// "Client.", "Server." and "Error." stand before some.
		if partOfCode(before) && before != '.' || partOfCode(after) && after != '.' {
			continue
		}
		if after == '.' && len(rest) > 1 && partOfCode(rune(rest[1])) {
			continue // a longer code
		}
		if !isWord(code) || placed(text[:at], rest) {
			return true
		}
	}
}

func partOfCode(r rune) bool {
	return r == '.' || r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) && r != utf8.RuneError
}

// isWord tells that a code could stand in a sentence: one capital, no dot.
func isWord(code string) bool {
	return !strings.ContainsFunc(code[1:], func(r rune) bool { return unicode.IsUpper(r) || r == '.' })
}

// placed tells that what is between before and after stands as a code does.
func placed(before, after string) bool {
	before, after = strings.TrimRight(before, " \"'`"), strings.TrimLeft(after, "\"'`")
	switch {
	case before == "" && strings.TrimSpace(after) == "":
		return true
	case strings.HasPrefix(after, ":"), strings.HasPrefix(after, " - "), strings.HasPrefix(after, " – "):
		return true
	case strings.HasSuffix(before, "("):
		return strings.HasPrefix(after, ")")
	}
	return strings.HasSuffix(before, "Error Code:") || strings.HasSuffix(before, "ode\":") || strings.HasSuffix(before, "ode=")
}

// maxGap bounds what "…" may stand for, so that a phrase is found in one
// sentence and not over a whole log.
const maxGap = 120

// says tells that the parts of a phrase follow each other in a text.
func says(plain, phrase string) bool {
	parts := strings.Split(phrase, "…")
	for from := 0; ; {
		at := strings.Index(plain[from:], parts[0])
		if at < 0 {
			return false
		}
		from += at + 1
		if follow(plain[from-1+len(parts[0]):], parts[1:]) {
			return true
		}
	}
}

func follow(rest string, parts []string) bool {
	for _, part := range parts {
		at := strings.Index(rest[:min(len(rest), maxGap+len(part))], part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return true
}

// normal makes texts that were quoted, wrapped, escaped or drawn in a box
// alike: lower case, no quotes, one blank between words.
func normal(text string) string {
	text = strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, "").Replace(text)
	var b strings.Builder
	b.Grow(len(text))
	blank := true
	for _, r := range text {
		switch r {
		case '"', '\'', '`', '\\', '*', '“', '”', '‘', '’':
			continue
		case '│', '╷', '╵', '|', '>', '\u00a0':
			r = ' '
		case '–', '—':
			r = '-'
		}
		if unicode.IsSpace(r) {
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
			continue
		}
		blank = false
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
