package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Print writes findings for a person: what is wrong first, with what to do, then what
// could not be looked at; of what is well a line for each kind.
func Print(w io.Writer, list []Finding) error {
	var b strings.Builder
	for _, s := range []State{Wrong, Unknown} {
		for _, f := range list {
			if f.State != s {
				continue
			}
			fmt.Fprintf(&b, "%s %s %s %s\n", mark(s), f.Part, f.Name, strings.TrimSpace(f.Says))
			if f.Do != "" {
				fmt.Fprintf(&b, "    %s\n", f.Do)
			}
			if f.Command != "" {
				fmt.Fprintf(&b, "    %s\n", f.Command)
			}
		}
	}
	var parts []string
	count := map[string]int{}
	for _, f := range list {
		if f.State != Well {
			continue
		}
		if count[f.Part]++; count[f.Part] == 1 {
			parts = append(parts, f.Part)
		}
	}
	for _, part := range parts {
		for _, f := range list {
			if f.State != Well || f.Part != part {
				continue
			}
			if n := count[part]; n > 1 {
				fmt.Fprintf(&b, "%s %s: %d are well\n", mark(Well), part, n)
			} else {
				fmt.Fprintf(&b, "%s %s %s %s\n", mark(Well), part, f.Name, f.Says)
			}
			break
		}
	}
	for _, f := range list {
		if f.State == Off {
			fmt.Fprintf(&b, "%s %s %s %s\n", mark(Off), f.Part, f.Name, f.Says)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	return printClusters(w, list)
}

// mark is what a line begins with: not everybody sees colours.
func mark(s State) string {
	switch s {
	case Well:
		return "✓"
	case Wrong:
		return "✗"
	case Off:
		return "-"
	}
	return "?"
}

// PrintJSON writes them for a program.
func PrintJSON(w io.Writer, list []Finding) error {
	healthy, whole := Healthy(list)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(struct {
		Healthy  bool      `json:"healthy"`
		Whole    bool      `json:"whole"`
		Findings []Finding `json:"findings"`
	}{healthy, whole, list}); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	return nil
}
