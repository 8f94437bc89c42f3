package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// logs prints a function's log lines for a person. The stage writes each line
// at once, as time, function and text.
type logs struct{ out io.Writer }

var _ io.Writer = (*logs)(nil)

// Write takes one line of the stage.
func (l *logs) Write(line []byte) (int, error) {
	at, rest, _ := strings.Cut(strings.TrimRight(string(line), "\n"), " ")
	_, text, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if text = plain(strings.TrimLeft(text, " ")); text == "" {
		return len(line), nil
	}
	if _, err := fmt.Fprintf(l.out, "  %s  %s\n", at, text); err != nil {
		return 0, err
	}
	return len(line), nil
}

// plain is a log line as a person reads it; empty if what it says is printed
// elsewhere: by the platform lines around an invocation, the result.
func plain(text string) string {
	for _, platform := range []string{"START RequestId: ", "END RequestId: ", "REPORT RequestId: ", "ERROR RequestId: "} {
		if strings.HasPrefix(text, platform) {
			return ""
		}
	}
	fields, ok := attributes(text)
	if !ok {
		return text
	}
	level, message := "", ""
	var rest []string
	for _, f := range fields {
		switch f.name {
		case "time", "function", "request", "_aws":
		case "level":
			level = f.text()
		case "msg":
			message = f.text()
		case "calls": // counted below the logs
		default:
			rest = append(rest, f.name+"="+f.text())
		}
	}
	if level == "" {
		level = "METRIC"
	}
	words := []string{fmt.Sprintf("%-6s", level)}
	if message != "" {
		words = append(words, message+" ")
	}
	return strings.TrimSpace(strings.Join(append(words, rest...), " "))
}

// attribute is one field of a log line.
type attribute struct {
	name  string
	value json.RawMessage
}

// text is the value without quotes where it can be read without them.
func (a attribute) text() string {
	var s string
	if json.Unmarshal(a.value, &s) != nil {
		return string(a.value)
	}
	if a.name != "msg" && (s == "" || strings.ContainsAny(s, " \"\n=")) {
		return string(a.value)
	}
	return s
}

// attributes are the fields of a JSON object, in its order.
func attributes(text string) ([]attribute, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	var list []attribute
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		a := attribute{name: fmt.Sprint(name)}
		if d.Decode(&a.value) != nil {
			return nil, false
		}
		list = append(list, a)
	}
	end, err := d.Token()
	return list, err == nil && end == json.Delim('}') && !d.More()
}
