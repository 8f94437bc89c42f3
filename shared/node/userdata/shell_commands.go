package userdata

import (
	"slices"
	"strings"
)

func (l *lexer) endWord() {
	if !l.open {
		return
	}
	w := l.word.String()
	l.word.Reset()
	l.open = false
	if l.skip {
		l.skip = false
		return
	}
	if len(l.words) == 0 {
		switch w {
		case "if", "while", "until", "for", "case":
			l.depth++
		case "fi", "done", "esac":
			l.depth = max(0, l.depth-1)
		}
	}
	l.words = append(l.words, w)
}

func (l *lexer) endCommand() {
	l.endWord()
	l.skip = false
	words := l.words
	l.words = nil
	if len(words) == 0 {
		return
	}
	if l.assign(words) {
		return
	}
	l.list = append(l.list, command{words: words, branch: l.depth > 0})
}

// assign takes variables over from a command that only sets some.
func (l *lexer) assign(words []string) bool {
	switch words[0] {
	case "export", "readonly", "local", "declare", "typeset":
		words = words[1:]
	case "read", "eval", "mapfile":
		clear(l.vars) // it may set any
		return false
	case "then", "else", "do":
		if len(words) > 1 && isAssignment(words[1]) {
			return l.assign(words[1:])
		}
		return false
	}
	if !slices.ContainsFunc(words, isAssignment) {
		return false
	}
	for _, w := range words {
		if !isAssignment(w) && !strings.HasPrefix(w, "-") {
			return false
		}
	}
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			continue
		}
		appended := strings.HasSuffix(name, "+")
		name = strings.TrimSuffix(name, "+")
		if l.depth > 0 {
			value = hole // the branch may not be taken
		}
		if appended {
			value = l.value(name) + value
		}
		if len(value) > maxWord {
			value = hole
		}
		l.vars[name] = value
	}
	return true
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	name = strings.TrimSuffix(name, "+")
	for i := range len(name) {
		if !isName(name[i], i == 0) {
			return false
		}
	}
	return ok && name != ""
}

// redirect passes a redirection and its target, and remembers the
// here-documents.
func (l *lexer) redirect() {
	if w := l.word.String(); l.open && len(w) == 1 && w[0] >= '0' && w[0] <= '9' {
		l.word.Reset() // the number of the stream
		l.open = false
	}
	l.endWord()
	rest := l.text[l.at:]
	switch {
	case strings.HasPrefix(rest, "<<<"):
		l.at += 3
	case strings.HasPrefix(rest, "<<"):
		l.at += 2
		end := lineEnd(l.text, l.at)
		l.left.spend(Work, end-l.at) // each on a line looks at all of it
		raw := strings.TrimLeft(l.text[l.at:end], "- \t")
		word := strings.TrimLeft(raw, `'"\`)
		if stop := strings.IndexAny(word, " \t\r;|&<>)'\""); stop >= 0 {
			word = word[:stop]
		}
		if word != "" {
			l.docs = append(l.docs, word)
		}
	default:
		l.at++
		for l.at < len(l.text) && strings.IndexByte(">&|(", l.text[l.at]) >= 0 {
			l.at++
		}
	}
	l.skip = true
}

// hereDocuments passes the here-documents that begin here: they are text, not
// commands.
func (l *lexer) hereDocuments() {
	for _, delimiter := range l.docs {
		for l.at < len(l.text) {
			end := lineEnd(l.text, l.at)
			line := strings.TrimSpace(l.text[l.at:end])
			l.at = min(end+1, len(l.text))
			if line == delimiter {
				break
			}
		}
	}
	l.docs = nil
}
