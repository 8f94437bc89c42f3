package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
	"rollcall/local/stage"
)

// table counts calls by operation, with the errors that they were answered
// with.
func table(calls []wire.Call) string {
	counts, errors := map[string]int{}, map[string]map[string]int{}
	width := 0
	for _, c := range calls {
		action := c.Action()
		counts[action]++
		width = max(width, len(action))
		code := c.Code
		if code == "" && c.Status == 0 {
			code = "connection reset"
		}
		if code == "" {
			continue
		}
		if errors[action] == nil {
			errors[action] = map[string]int{}
		}
		errors[action][code]++
	}
	var b strings.Builder
	for _, action := range slices.Sorted(maps.Keys(counts)) {
		line := fmt.Sprintf("  %4d  %-*s", counts[action], width, action)
		var said []string
		for _, code := range slices.Sorted(maps.Keys(errors[action])) {
			said = append(said, fmt.Sprintf("%d × %s", errors[action][code], code))
		}
		line += "  " + strings.Join(said, ", ")
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// showQueue prints what is in a queue. What waits for its first delivery is
// only counted: nobody may read it yet.
func showQueue(ctx context.Context, out io.Writer, s *stage.Stage, q template.Queue) error {
	depth, err := s.Queues.Depth(q.ARN)
	if err != nil {
		return fmt.Errorf("queue %s: %w", q.Name, err)
	}
	if depth.Delayed > 0 {
		fmt.Fprintf(out, "\nSent to %s: %d to be delivered later\n", q.Name, depth.Delayed)
	}
	if depth.Visible == 0 {
		return nil
	}
	messages, err := s.Queues.Receive(ctx, q.ARN, depth.Visible, 0)
	if err != nil {
		return fmt.Errorf("receive from %s: %w", q.Name, err)
	}
	for _, m := range messages {
		fmt.Fprintf(out, "\nSent to %s\n%s\n", q.Name, indent(m.Body))
	}
	return nil
}

// indent lays JSON out over lines; other text is left as it is.
func indent(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return "  " + text
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("  ", "  ")
	if e.Encode(v) != nil {
		return "  " + text
	}
	return "  " + strings.TrimSpace(b.String())
}
