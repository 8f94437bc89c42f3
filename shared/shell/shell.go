// Package shell writes commands for people to paste into bash or zsh. It takes
// words and quotes every one: names of Auto Scaling groups, of signing requests
// and of tags may hold what a shell would run.
//
// mvdan.cc/sh, whose parser the tests hold this against, can quote too. It is
// not used for that: it leaves "!" open to the history of an interactive bash
// ("a'!b"), and writes \u, which the bash 3.2 of macOS does not know.
package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Command is a command of words: a []string is as many of them as it has, and
// whatever else is one, as fmt prints it. No word begins another command,
// whatever is in it.
func Command(words ...any) string {
	var quoted []string
	for _, w := range words {
		switch w := w.(type) {
		case []string:
			for _, one := range w {
				quoted = append(quoted, Quote(one))
			}
		case output:
			quoted = append(quoted, string(w))
		default:
			quoted = append(quoted, Quote(fmt.Sprint(w)))
		}
	}
	return strings.Join(quoted, " ")
}

// output is a word that the shell fills in.
type output string

// Output is the word that a command prints.
func Output(command string) any { return output(`"$(` + command + `)"`) }

// All runs commands one after the other, as long as they succeed.
func All(commands ...string) string { return strings.Join(commands, " && ") }

// Pipe gives each command the output of the one before.
func Pipe(commands ...string) string { return strings.Join(commands, " | ") }

// Each runs a command once for each of a list, which becomes its last word.
func Each(list []string, words ...any) string {
	return "for id in " + Command(list) + "; do " + Command(append(words, output(`"$id"`))...) + "; done"
}

// Placeholder stands for what a person must fill in. It is quoted like any
// other word: pasted as it is, AWS refuses the name; unquoted, a shell would take
// its brackets for files.
func Placeholder(what string) string { return "<" + what + ">" }

// Quote quotes a word where it needs it. What a terminal would take for keys
// (control characters, of which one ends a bracketed paste) or show in another
// order is written as \x escapes, so that a command is one line of text that
// reads as it runs. A null byte, which no argument of a program can hold, becomes
// U+FFFD.
func Quote(word string) string {
	plain, printable := word != "" && word[0] != '=', true // zsh: "=cmd" is its path
	for _, r := range word {
		plain = plain && isPlain(r)
		printable = printable && r != utf8.RuneError && unicode.IsPrint(r)
	}
	switch {
	case plain:
		return word
	case printable:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for rest := strings.ReplaceAll(word, "\x00", "\uFFFD"); rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == utf8.RuneError || !unicode.IsPrint(r) || r == '!':
			for _, c := range []byte(rest[:size]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteRune(r)
		}
		rest = rest[size:]
	}
	b.WriteString("'")
	return b.String()
}

// isPlain reports whether a character means itself to bash and zsh, wherever in a
// word it stands but for a leading "=".
func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@+%", r)
}
