package router

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rollcall/local/platform/template"
)

// inputError says that a target's input cannot be made.
type inputError struct{ reason string }

func (e *inputError) Error() string { return "target input: " + e.reason }

// checkInput judges at load what EventBridge judges when a target is put.
func checkInput(t template.Target) error {
	if t.Input != "" && !json.Valid([]byte(t.Input)) {
		return &inputError{"Input is not JSON"}
	}
	if t.InputPath != "" {
		if _, err := parsePath(t.InputPath); err != nil {
			return err
		}
	}
	if t.InputTransformer == nil {
		return nil
	}
	for _, path := range t.InputTransformer.Paths {
		if _, err := parsePath(path); err != nil {
			return err
		}
	}
	_, err := transform(t.InputTransformer.Template, func(name string) (any, bool) {
		if _, ok := t.InputTransformer.Paths[name]; ok || strings.HasPrefix(name, "aws.events.") {
			return "x", true
		}
		return nil, false
	})
	return err
}

// input makes what the target receives.
func input(t template.Target, e Event, ruleARN, ruleName string, now time.Time) ([]byte, error) {
	switch {
	case t.Input != "":
		return []byte(t.Input), nil
	case t.InputPath == "" && t.InputTransformer == nil:
		return e.JSON, nil
	}
	var event any
	if err := json.Unmarshal(e.JSON, &event); err != nil {
		return nil, &inputError{err.Error()}
	}
	if t.InputPath != "" {
		v, ok, err := lookUp(event, t.InputPath)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, &inputError{fmt.Sprintf("the event has nothing at %q", t.InputPath)}
		}
		return json.Marshal(v)
	}
	var failed error
	out, err := transform(t.InputTransformer.Template, func(name string) (any, bool) {
		switch name {
		case "aws.events.rule-arn":
			return ruleARN, true
		case "aws.events.rule-name":
			return ruleName, true
		case "aws.events.event.ingestion-time":
			return now.UTC().Format("2006-01-02T15:04:05Z"), true
		case "aws.events.event", "aws.events.event.json":
			return event, true
		}
		path, known := t.InputTransformer.Paths[name]
		if !known {
			return nil, false
		}
		v, ok, err := lookUp(event, path)
		if err != nil {
			failed = err
		}
		if !ok {
			// AWS documents only that a variable whose path is not in the
			// event "won't appear in the output".
			return "", true
		}
		return v, true
	})
	if failed != nil {
		return nil, failed
	}
	return out, err
}

// transform replaces <name> in a template. Outside of quotes a value is put
// in as JSON, inside of quotes as text. The template is a JSON object or a
// JSON string.
func transform(source string, value func(name string) (any, bool)) ([]byte, error) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(source); i++ {
		c := source[i]
		switch {
		case c == '\\' && quoted && i+1 < len(source):
			b.WriteByte(c)
			i++
			b.WriteByte(source[i])
			continue
		case c == '"':
			quoted = !quoted
		case c == '<':
			end := strings.IndexByte(source[i:], '>')
			if end < 0 {
				break
			}
			v, ok := value(source[i+1 : i+end])
			if !ok {
				return nil, &inputError{fmt.Sprintf("variable <%s> is not in InputPathsMap", source[i+1:i+end])}
			}
			text, err := insert(v, quoted)
			if err != nil {
				return nil, err
			}
			b.WriteString(text)
			i += end
			continue
		}
		b.WriteByte(c)
	}
	if !json.Valid([]byte(b.String())) {
		return nil, &inputError{"the template does not give valid JSON"}
	}
	return []byte(b.String()), nil
}

func insert(v any, quoted bool) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", &inputError{err.Error()}
	}
	if !quoted {
		return string(raw), nil
	}
	if s, ok := v.(string); ok {
		raw, err = json.Marshal(s)
	} else {
		raw, err = json.Marshal(string(raw))
	}
	if err != nil {
		return "", &inputError{err.Error()}
	}
	return string(raw[1 : len(raw)-1]), nil
}

// parsePath reads the JSON paths that EventBridge takes: $, names after dots
// or in ['…'], and indexes in [n]. Filters and wildcards are not among them.
func parsePath(path string) ([]any, error) {
	bad := &inputError{fmt.Sprintf("%q is not a JSON path that EventBridge takes", path)}
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, bad
	}
	var steps []any
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, "['"):
			name, after, ok := strings.Cut(rest[2:], "']")
			if !ok || name == "" {
				return nil, bad
			}
			steps, rest = append(steps, name), after
		case rest[0] == '[':
			index, after, ok := strings.Cut(rest[1:], "]")
			i, err := strconv.Atoi(index)
			if !ok || err != nil || i < 0 {
				return nil, bad
			}
			steps, rest = append(steps, i), after
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			name := rest[1:]
			if end >= 0 {
				name = rest[1 : end+1]
			}
			if name == "" || strings.ContainsAny(name, "*?@()'\"") {
				return nil, bad
			}
			steps, rest = append(steps, name), rest[1+len(name):]
		default:
			return nil, bad
		}
	}
	return steps, nil
}

func lookUp(v any, path string) (any, bool, error) {
	steps, err := parsePath(path)
	if err != nil {
		return nil, false, err
	}
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return nil, false, nil
			}
			if v, ok = m[s]; !ok {
				return nil, false, nil
			}
		case int:
			list, ok := v.([]any)
			if !ok || s >= len(list) {
				return nil, false, nil
			}
			v = list[s]
		}
	}
	return v, true, nil
}
