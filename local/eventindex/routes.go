// Package eventindex routes samples of events through the patterns of the
// synthesised template, and writes the README of events from that.
package eventindex

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rollcall/local/platform/pattern"
	"rollcall/local/platform/template"
)

// Route tells what an event on a bus (its name, "default") wakes: the function behind each
// rule that matches it, with the queue in between. Schedules are known by
// their target, as their events match no pattern.
func Route(t *template.Template, bus string, event []byte) ([]string, error) {
	var e struct {
		DetailType string `json:"detail-type"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, err
	}
	var woken []string
	for _, rule := range t.Rules {
		if rule.Bus != bus {
			continue
		}
		hit := rule.Schedule != "" && e.DetailType == "Scheduled Event"
		if len(rule.Pattern) > 0 {
			p, err := pattern.Compile(rule.Pattern)
			if err != nil {
				return nil, fmt.Errorf("rule %s: %w", rule.LogicalID, err)
			}
			if hit, err = p.Matches(event); err != nil {
				return nil, fmt.Errorf("rule %s: %w", rule.LogicalID, err)
			}
		}
		if !hit || !rule.Enabled {
			continue
		}
		for _, target := range rule.Targets {
			woken = append(woken, behind(t, target.ARN))
		}
	}
	slices.Sort(woken)
	return slices.Compact(woken), nil
}

// Own is the name of the stack's bus, on which Rollcall tells what it found.
func Own(t *template.Template) string {
	if len(t.Buses) != 1 {
		return ""
	}
	return t.Buses[0].Name
}

// behind names the function that a target reaches.
func behind(t *template.Template, arn string) string {
	for _, f := range t.Functions {
		if f.ARN == arn {
			return name(f.Name)
		}
	}
	for _, m := range t.Mappings {
		if m.QueueARN != arn {
			continue
		}
		for _, q := range t.Queues {
			if q.ARN != arn {
				continue
			}
			text := name(m.FunctionName)
			if q.Delay > 0 {
				text += fmt.Sprintf(" (after %s)", strings.TrimSuffix(q.Delay.String(), "0s"))
			}
			return text
		}
	}
	return arn
}

// name is a function's name as its folder has it.
func name(deployed string) string {
	_, short, ok := strings.Cut(deployed, "-")
	if !ok {
		return deployed
	}
	return short
}
