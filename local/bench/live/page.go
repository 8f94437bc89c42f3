package main

import (
	"fmt"
	"os"
	"strings"
)

// The lines of a page between which the table stands.
const (
	begin = "<!-- written by make live-times -->\n"
	end   = "<!-- end of make live-times -->\n"
)

// table is what was measured, as Markdown.
func table(rows []measured) string {
	var b strings.Builder
	b.WriteString("| nodes | of which not joined | `diagnose --cluster`, seconds | calls of AWS | of Kubernetes | `capture`, seconds | calls | by the script of before, seconds | calls |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, m := range rows {
		script, calls := "—", "—"
		if m.script.time > 0 {
			script, calls = fmt.Sprintf("%.0f", m.script.time.Seconds()), fmt.Sprint(m.script.aws+m.script.kubernetes)
		}
		fmt.Fprintf(&b, "| %s | %d | %.1f | %d | %d | %.1f | %d | %s | %s |\n", thousands(m.nodes), m.broken, m.diagnose.time.Seconds(), m.diagnose.aws, m.diagnose.kubernetes,
			m.capture.time.Seconds(), m.capture.aws+m.capture.kubernetes, script, calls)
	}
	return b.String()
}

// thousands writes 2000 as 2,000.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// replace writes a table into a page.
func replace(file, table string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines between which the table stands", file)
	}
	if err := os.WriteFile(file, []byte(before+begin+table+end+after), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
