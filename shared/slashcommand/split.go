package slashcommand

import (
	"strings"
	"unicode"
)

// word is a word of a command; quoted ones may hold blanks.
type word struct {
	text string
	// whole tells that all of it was quoted: it is no key and no verb.
	whole bool
}

// closing is the quote that ends what another one begins; 0 for what is none. Beside those
// that people type there are those that keyboards make of them: iOS and macOS turn "…"
// into “…” as one types.
func closing(r rune) rune {
	switch r {
	case '"', '\'':
		return r
	case '“':
		return '”'
	case '„':
		return '“'
	case '«':
		return '»'
	case '‘':
		return '’'
	}
	return 0
}

// split cuts a command at its blanks. A quote begins a word, or follows its "=".
func split(text string) ([]word, error) {
	var words []word
	var b strings.Builder
	var until rune // the quote that ends what is quoted
	open, whole := false, false
	end := func() {
		if open {
			words = append(words, word{b.String(), whole})
		}
		b.Reset()
		open, whole = false, false
	}
	for _, r := range text {
		switch {
		case until != 0 && isEnd(until, r):
			until = 0
		case until != 0:
			b.WriteRune(r)
		case unicode.IsSpace(r):
			end()
		case closing(r) != 0 && (!open || strings.HasSuffix(b.String(), "=")):
			until, whole, open = closing(r), !open, true
		default:
			open = true
			b.WriteRune(r)
		}
	}
	if until != 0 {
		return nil, wrong("A quote is opened and not closed: “reason \"node upgrade\"”.")
	}
	end()
	return words, nil
}

// isEnd tells the end of what is quoted: a keyboard may turn one of the two alone.
func isEnd(until, r rune) bool {
	return r == until || until == '”' && (r == '"' || r == '“') || until == '"' && r == '”'
}
