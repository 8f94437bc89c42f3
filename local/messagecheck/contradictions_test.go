package messagecheck

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// says writes lines as blocks: "Label: text", with times as {15:04}.
func says(t *testing.T, lines ...string) []byte {
	t.Helper()
	var list []map[string]any
	for n, line := range lines {
		label, text, labelled := strings.Cut(line, ": ")
		if n == 0 || !labelled {
			label, text = "", line
		}
		if label == "Picture" {
			list = append(list, map[string]any{"type": "image", "alt_text": text})
			continue
		}
		var elements []map[string]any
		if label != "" {
			elements = append(elements, map[string]any{"type": "text", "text": label + "\u2003", "style": map[string]any{"bold": true}})
		}
		for text != "" {
			before, rest, timed := strings.Cut(text, "{")
			elements = append(elements, map[string]any{"type": "text", "text": before})
			if !timed {
				break
			}
			clock, after, _ := strings.Cut(rest, "}")
			at, err := time.Parse("2006-01-02 15:04", "2026-11-20 "+clock)
			if err != nil {
				t.Fatal(err)
			}
			elements = append(elements, map[string]any{"type": "date", "timestamp": at.Unix(), "format": "{time}"})
			text = after
		}
		list = append(list, map[string]any{"type": "rich_text", "elements": []any{map[string]any{"type": "rich_text_section", "elements": elements}}})
	}
	body, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestContradictions: what was met in messages, and what would be as bad; and beside each
// the message in which it is right.
func TestContradictions(t *testing.T) {
	const top = "🔴 prod / workers · 9 of 12 instances cannot join: subnet-0ab1 has no route to the internet"
	for name, test := range map[string]struct {
		lines []string
		want  string // part of the only contradiction; empty for none
	}{
		"right": {[]string{top, "Impact: 9 of 12 new instances not Ready, since {14:59}. So far 3 joined, 8 are not Ready, 1 ended before joining.", "Critical · checked {15:04}"}, ""},
		"another count in Impact": {
			[]string{top, "Impact: 8 of 12 new instances not Ready, since {14:59}."}, "the first line tells of 9 of 12, Impact of 8 of 12"},
		"standings that make more": {[]string{top, "Since: {14:59}. So far 4 joined, 9 are not Ready."}, "how they stand of 9 of 13"},
		"more than all":            {[]string{"prod · x", "Impact: 6 of 5 desired nodes missing, since {14:59}."}, `"6 of 5" is more than all`},
		"checked before it began":  {[]string{top, "Since: {14:59}.", "Critical · checked {14:50}"}, "last checked 14:50:00, before it began"},
		"two clocks":               {[]string{top, "Why: i-0 waits since 15:06:15 UTC."}, "is not in the reader's zone"},
		"an interval of all":       {[]string{"prod · x", "Why: 1 of 5 joined, 95 % interval 2 % to 100 %."}, "says nothing"},
		"an interval":              {[]string{"prod · x", "Why: 4 of 26 joined, 95 % interval 4 % to 35 %."}, ""},
		"a picture of another look": {
			[]string{"prod · subnet-0ab1 has 3 free addresses", "Picture: Free addresses of subnet-0ab1, now 30 free."}, "subnet-0ab1 has 3 free addresses and 30"},
		"its own picture":          {[]string{"prod · subnet-0ab1 has 3 free addresses", "Picture: Free addresses of subnet-0ab1, now 3 free."}, ""},
		"another subnet's picture": {[]string{"prod · subnet-0ab1 has 3 free addresses", "Picture: Free addresses of subnet-0ab2, now 30 free."}, ""},
		"a span of other times":    {[]string{"✅ prod · joined again after 14 min: x", "When: began {14:59}, cause gone {15:11}, first Ready node {15:20}."}, "the first line says 14 min"},
		"a span of its times":      {[]string{"✅ prod · joined again after 14 min: x", "When: began {14:59}, cause gone {15:11}, first Ready node {15:13}."}, ""},
		"an end before the start":  {[]string{"✅ prod · joined again after 14 min: x", "When: began {14:59}, cause gone {14:11}, first Ready node {15:13}."}, "ends before it began"},
		"affected otherwise":       {[]string{"✅ prod · x", "Was: No route. 12 instances affected: 3 joined, 8 are not Ready."}, "12 affected, and how they stand makes 11"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Contradictions(says(t, test.lines...), false)
			switch {
			case err != nil:
				t.Fatal(err)
			case test.want == "" && len(got) > 0:
				t.Errorf("it finds %q", got)
			case test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)):
				t.Errorf("it finds %q, want one with %q", got, test.want)
			}
		})
	}
	if _, err := Contradictions([]byte("{"), false); err == nil {
		t.Error("what is no message is read")
	}
}
