package userdata

import (
	"slices"
	"strings"
)

// hole stands in a word for what the shell works out when it runs.
const hole = "\x00"

// command is one simple command of a script, its words without quotes.
type command struct {
	words []string
	// branch reports whether it stands in an if, a loop or a case.
	branch bool
}

// lexer splits a script into commands: quotes, comments, line continuations,
// here-documents, and variables that were set above. It is no shell: what it
// cannot follow becomes a hole.
type lexer struct {
	text string
	at   int
	left *budget
	vars map[string]string

	list  []command
	words []string
	word  strings.Builder
	open  bool // a word has begun, perhaps an empty one: ''
	skip  bool // the next word is the target of a redirection
	depth int
	docs  []string // delimiters of here-documents that begin at the next line
}

// maxWord bounds a word: variables that hold each other twice grow without end.
const maxWord = 64 << 10

func (b *budget) commands(script string) []command {
	l := &lexer{text: script, left: b, vars: map[string]string{}}
	b.spend(Work, len(script))
	for l.at < len(l.text) && b.over == nil {
		l.step()
	}
	l.endCommand()
	return l.list
}

func (l *lexer) step() {
	c := l.text[l.at]
	switch c {
	case '\\':
		l.escape()
	case '\'':
		end := strings.IndexByte(l.text[l.at+1:], '\'')
		if end < 0 {
			end = len(l.text) - l.at - 1
		}
		l.put(l.text[l.at+1 : l.at+1+end])
		l.at = min(l.at+end+2, len(l.text))
	case '"':
		l.at++
		l.open = true
		l.quoted()
	case '$', '`':
		l.put(l.expand())
	case '#':
		if l.open {
			l.put("#")
			l.at++
			return
		}
		l.at = lineEnd(l.text, l.at)
	case ' ', '\t', '\r':
		l.at++
		l.endWord()
	case '\n':
		l.at++
		l.endCommand()
		l.hereDocuments()
	case ';', '&', '|', '(', ')':
		l.at++
		l.endCommand()
	case '<', '>':
		l.redirect()
	default:
		l.put(string(c))
		l.at++
	}
}

func (l *lexer) escape() {
	switch {
	case l.at+1 >= len(l.text):
		l.at++
	case l.text[l.at+1] == '\n':
		l.at += 2 // the line goes on
	case strings.HasPrefix(l.text[l.at+1:], "\r\n"):
		l.at += 3
	default:
		l.put(l.text[l.at+1 : l.at+2])
		l.at += 2
	}
}

func (l *lexer) quoted() {
	for l.at < len(l.text) && l.left.over == nil {
		switch c := l.text[l.at]; c {
		case '"':
			l.at++
			return
		case '\\':
			if l.at+1 < len(l.text) && strings.IndexByte("\"\\$`", l.text[l.at+1]) >= 0 {
				l.put(l.text[l.at+1 : l.at+2])
				l.at += 2
				continue
			}
			if strings.HasPrefix(l.text[l.at:], "\\\n") {
				l.at += 2
				continue
			}
			l.put("\\")
			l.at++
		case '$', '`':
			l.put(l.expand())
		default:
			l.put(string(c))
			l.at++
		}
	}
}

func (l *lexer) put(s string) {
	l.open = true
	if l.word.Len()+len(s) > maxWord {
		s = hole
	}
	if l.word.Len() <= maxWord {
		l.word.WriteString(s)
	}
}

// expand is what a $ or a ` stands for; it moves behind it.
func (l *lexer) expand() string {
	rest := l.text[l.at:]
	switch {
	case rest[0] == '`':
		end := strings.IndexByte(rest[1:], '`')
		if end < 0 {
			end = len(rest) - 2
		}
		l.at += end + 2
		return hole
	case strings.HasPrefix(rest, "$("):
		l.at += closing(rest, '(', ')')
		return hole
	case strings.HasPrefix(rest, "${"):
		n := closing(rest, '{', '}')
		l.at += n
		return l.value(strings.TrimSuffix(rest[2:n], "}"))
	}
	n := 1
	for n < len(rest) && isName(rest[n], n == 1) {
		n++
	}
	if n > 1 {
		l.at += n
		return l.value(rest[1:n])
	}
	if len(rest) > 1 && strings.IndexByte("0123456789@*#?!$-", rest[1]) >= 0 {
		l.at += 2
		return hole
	}
	l.at++
	return "$"
}

func (l *lexer) value(name string) string {
	if v, ok := l.vars[name]; ok && l.left.spend(Work, len(v)) {
		return v
	}
	return hole
}

func isName(c byte, first bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || !first && c >= '0' && c <= '9'
}

// closing is the length of a text up to and with the bracket that closes its
// first one.
func closing(text string, open, end byte) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

func lineEnd(text string, from int) int {
	if i := strings.IndexByte(text[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(text)
}

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
