package console

import (
	"strings"
	"unicode"

	"rollcall/shared/redact"
)

// Consoles are cut at 64 KB by EC2; a text that is longer did not come from
// there as it is, and its end is what counts.
const maxText = 256 << 10

// maxLine is as much of a line as is looked at: a stack trace in one JSON line
// takes some 2 KB.
const maxLine = 4 << 10

// lines are a console's lines without colours, cursor movements and carriage
// returns. A progress line that overwrote itself is its last version.
func lines(text string) []string {
	if len(text) > maxText {
		text = text[len(text)-maxText:]
	}
	text = strings.ToValidUTF8(text, "")
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		if len(line) > maxLine {
			line = strings.ToValidUTF8(line[:maxLine], "")
		}
		if line = strings.TrimSpace(plain(line)); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// plain takes escape sequences and control characters out of a line: ECMA-48
// control sequences (ESC [ … final byte 0x40 to 0x7E) and operating system
// commands (ESC ] … BEL).
func plain(line string) string {
	if !strings.ContainsFunc(line, unicode.IsControl) {
		return line
	}
	var b strings.Builder
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == '\t':
			b.WriteByte(' ')
		case c == 0x1b && i+1 < len(runes) && (runes[i+1] == '[' || runes[i+1] == ']'):
			osc := runes[i+1] == ']'
			for i += 2; i < len(runes); i++ {
				if osc && runes[i] == 0x07 || !osc && runes[i] >= 0x40 && runes[i] <= 0x7e {
					break
				}
			}
		case unicode.IsControl(c):
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// Redact replaces what may be a secret in lines that were pasted.
func Redact(text string) string { return redact.Redact(lines(text)) }
