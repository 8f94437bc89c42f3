package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"

	"rollcall/shared/lazyregexp"
)

// Bounds of what is looked at. A ticket may hold a whole log; what says most
// is mostly at its end or its begin.
const (
	maxText     = 64 << 10 // bytes
	maxMessage  = 8 << 10
	maxMessages = 400
	maxDepth    = 24 // of objects in objects
	quotedDepth = 8  // what JSON in a string counts for
	maxObjects  = 64 // of JSON that are looked for in lines
)

// own begins a line that is a message of its own. Texts do not hold it: it is
// taken out of them as every control character is.
const own = "\x00"

// message is one message: its words without the wrapping, and the program that
// a log's prefix names.
type message struct {
	program string
	words   string // quotes and escapes are taken away, one blank between words
}

// decode takes a text apart: the messages in it, and all of it as one.
func decode(text string) (list []message, joined message) {
	if len(text) > maxText {
		// The begin holds what was asked, the end what happened last.
		text = text[:maxText/2] + "\n" + text[len(text)-maxText/2:]
	}
	text = clean(text)
	lines := split(text)
	var all strings.Builder
	for _, line := range lines {
		program, rest, starts := prefix(line)
		words := plain(rest)
		if words == "" {
			continue
		}
		if all.Len() < maxText {
			all.WriteByte(' ')
			all.WriteString(plain(strings.TrimPrefix(line, own)))
		}
		last := len(list) - 1
		switch {
		case last >= 0 && !starts && len(list[last].words)+len(words) < maxMessage:
			// A line without a prefix goes on where the one before it ended.
			list[last].words += " " + words
		case len(list) < maxMessages:
			list = append(list, message{program: program, words: words})
		}
	}
	// Lines that do not begin as a log's do are also messages of their own.
	if len(list) < maxMessages && len(lines) > len(list) {
		for _, line := range lines {
			if _, rest, starts := prefix(line); !starts && len(list) < maxMessages {
				list = append(list, message{words: plain(rest)})
			}
		}
	}
	return list, message{words: strings.TrimSpace(all.String())}
}

// split makes lines of a text. JSON becomes a line for each object that says
// something, however deep it stands and however often it is quoted.
func split(text string) []string {
	trimmed := strings.TrimSpace(text)
	if lines, ok := values(trimmed, 0); ok {
		return lines
	}
	var lines []string
	objects := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		// Quoted in a reply or a box, or an item of a list.
		line = strings.TrimSpace(strings.TrimLeft(line, ">|│ \t"))
		if at := strings.IndexByte(line, '{'); at >= 0 && objects < maxObjects {
			objects++
			if found, rest, ok := object(line[at:]); ok {
				for _, f := range found {
					lines = append(lines, own+line[:at]+" "+strings.TrimPrefix(f, own)+" "+rest)
				}
				continue
			}
		}
		for part := range strings.SplitSeq(unescape(line), "\n") {
			lines = append(lines, strings.TrimSpace(part))
		}
	}
	return lines
}

// values reads a text that is JSON as a whole, or a string of JSON.
func values(text string, depth int) ([]string, bool) {
	if text == "" || !strings.ContainsRune(`{["`, rune(text[0])) || depth > maxDepth {
		return nil, false
	}
	var value any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil || d.More() {
		return nil, false
	}
	if s, ok := value.(string); ok {
		return split(s), true
	}
	return flatten(value, depth), true
}

// object reads an object at the begin of a line; rest is what follows it.
func object(text string) (lines []string, rest string, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value map[string]any
	if d.Decode(&value) != nil || len(value) == 0 {
		return nil, "", false
	}
	return flatten(value, 0), text[d.InputOffset():], true
}

// flatten makes a line of each object: its own fields, and behind it lines of
// the objects in it.
func flatten(value any, depth int) []string {
	if depth > maxDepth {
		return nil
	}
	switch v := value.(type) {
	case []any:
		var lines []string
		for _, item := range v {
			lines = append(lines, flatten(item, depth+1)...)
		}
		return lines
	case map[string]any:
		var fields bytes.Buffer
		var below []string
		for _, name := range fieldNames(v) {
			switch field := v[name].(type) {
			case string:
				inner, ok := values(strings.TrimSpace(field), depth+quotedDepth)
				if ok && len(inner) > 0 {
					below = append(below, inner...)
					field = strings.ReplaceAll(strings.Join(inner, " "), own, "")
				}
				fmt.Fprintf(&fields, "%s: %s, ", name, strings.ReplaceAll(unescape(field), "\n", " "))
			case json.Number, bool:
				fmt.Fprintf(&fields, "%s: %v, ", name, field)
			case []any, map[string]any:
				below = append(below, flatten(field, depth+1)...)
			}
		}
		return append([]string{own + strings.TrimSuffix(fields.String(), ", ")}, below...)
	case string:
		return []string{unescape(v)}
	}
	return nil
}

// fieldNames are the fields of an object, those first that say where it comes from.
// The others follow by name, so that the same text always reads the same.
func fieldNames(v map[string]any) []string {
	first := []string{"level", "logger", "caller", "type", "Type", "status", "Status", "reason", "Reason", "eventSource", "eventName", "errorCode", "ErrorCode",
		"Code", "code", "msg", "message", "Message", "error", "err"}
	list := make([]string, 0, len(v))
	seen := map[string]bool{}
	for _, name := range first {
		if _, ok := v[name]; ok {
			list, seen[name] = append(list, name), true
		}
	}
	rest := len(list)
	for name := range v {
		if !seen[name] && name != "stacktrace" {
			list = append(list, name)
		}
	}
	slices.Sort(list[rest:])
	return list
}

// clean takes away what only draws: colours, boxes, invisible and curly signs.
func clean(text string) string {
	text = ansi.ReplaceAllString(strings.ToValidUTF8(text, ""), "")
	if strings.ContainsRune(text, '&') {
		text = html.UnescapeString(text)
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '“', '”', '„', '″':
			return '"'
		case '‘', '’', '′':
			return '\''
		case '│', '╷', '╵', '║', '\u00a0', '\u2028', '\t', '\ufeff':
			return ' '
		case '–', '—', '−':
			return '-'
		case '\r', '\v', '\f':
			return '\n'
		case '\n':
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}

var ansi = lazyregexp.New(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07)`)

// unescape undoes escapes of strings in strings, three deep at the most.
func unescape(text string) string {
	for range 3 {
		if !strings.ContainsRune(text, '\\') {
			return text
		}
		text = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\n", `\t`, " ", `\"`, `"`, `\'`, `'`, `\/`, `/`,
			`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u0022`, `"`, `\u0027`, "'").Replace(text)
	}
	return text
}

// plain takes quotes and marks of Markdown away, and puts one blank between
// words.
func plain(line string) string {
	line = strings.ReplaceAll(unescape(line), "\n", " ")
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch r {
		case '"', '\'', '`', '\\', '*':
			return -1
		}
		return r
	}, line)), " ")
}

// The forms in which logs begin a line; all are of documented formats:
// klog's header, RFC 3339, RFC 3164 (syslog, journald's short form), the
// kernel's seconds, and levels.
var (
	klogLine    = lazyregexp.New(`^(?:[A-Za-z][\w.-]*: +)?[IWEF]\d{4} \d\d:\d\d:\d\d(?:\.\d+)? +\d+ ([\w./-]+\.go):\d+\] ?`)
	klogTail    = lazyregexp.New(`^([a-z_]+\.go):\d+\] ?`)
	stampLine   = lazyregexp.New(`^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)? ?(?:Z|[+-]\d\d:?\d\d|UTC)?\]?[ -]*`)
	syslogLine  = lazyregexp.New(`^(?:[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d) +(?:(\S+) +)?`)
	kernelLine  = lazyregexp.New(`^\[ *\d+\.\d+\] *`)
	tagged      = lazyregexp.New(`^([A-Za-z][\w.@/-]{1,40})\[\d+\]: *`)
	eventLine   = lazyregexp.New(`^(?:Warning|Normal) +[A-Z][A-Za-z]+ `)
	errorLine   = lazyregexp.New(`^(?:\[?(?:ERROR|Error|error|FATAL|WARN|WARNING|INFO|DEBUG|FAILED|DEPEND)\]?:? )|^(?:\[[✖ℹ!✔▶]\] )|^(?:- |\d+\. |[•] )`)
	logfmtLine  = lazyregexp.New(`^time=\S+ level=\w+ `)
	unitCommand = lazyregexp.New(`^(?:systemd(?:\[1\])?): `)
)

// prefix takes a log's prefix from a line. starts tells that the line is a
// message's first.
func prefix(line string) (program, rest string, starts bool) {
	rest, starts = strings.CutPrefix(line, own)
	for range 4 {
		before := rest
		for _, form := range []*lazyregexp.Regexp{stampLine, syslogLine, kernelLine} {
			if m := form.FindString(rest); m != "" {
				rest, starts = rest[len(m):], true
			}
		}
		if m := tagged.FindStringSubmatch(rest); m != nil {
			program, rest, starts = m[1], rest[len(m[0]):], true
		}
		for _, form := range []*lazyregexp.Regexp{klogLine, klogTail} {
			if m := form.FindStringSubmatch(rest); m != nil {
				if program == "" {
					program = m[1]
				}
				rest, starts = rest[len(m[0]):], true
			}
		}
		if rest == before {
			break
		}
	}
	for _, form := range []*lazyregexp.Regexp{eventLine, errorLine, logfmtLine, unitCommand} {
		starts = starts || form.MatchString(rest)
	}
	return program, strings.TrimSpace(rest), starts
}
