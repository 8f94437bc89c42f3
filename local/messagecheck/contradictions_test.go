package messagecheck

import (
	"encoding/json"
	"errors"
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
		if question, is := strings.CutPrefix(line, "? "); is {
			list = append(list, map[string]any{"type": "actions", "elements": []any{
				map[string]any{"type": "button", "confirm": map[string]any{"text": map[string]any{"type": "plain_text", "text": question}}}}})
			continue
		}
		if command, is := strings.CutPrefix(line, "$ "); is {
			list = append(list, map[string]any{"type": "rich_text", "elements": []any{
				map[string]any{"type": "rich_text_preformatted", "elements": []any{map[string]any{"type": "text", "text": command}}}}})
			continue
		}
		if cells, is := strings.CutPrefix(line, "| "); is {
			var row []any
			for _, cell := range strings.Split(cells, " | ") {
				row = append(row, map[string]any{"type": "raw_text", "text": cell})
			}
			list = append(list, map[string]any{"type": "table", "rows": []any{row}})
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
		"a span to another time": {
			[]string{"✅ prod · add-on vpc-cni is well again after 12 min: ACTIVE", "When: began {14:59}, cause gone {15:11}, closed {16:11}."}, "the first line says 12 min"},
		"fewer commands than offered": {
			[]string{"prod · x", "Fix: Rollcall can delete 6 interfaces left behind.", "$ aws ec2 delete-network-interface --network-interface-id eni-1"}, "there are commands for 1"},
		"a dialog of more": {
			[]string{"prod · x", "Fix: Rollcall can delete 6 interfaces left behind in subnet-0ab1.", "? Delete 9 interfaces in subnet-0ab1?"}, `asks of "9 interface`},
		"a dialog of another step": {
			[]string{"prod · x", "Fix: Rollcall can raise workers from 2 to 3 nodes.", "? Raise workers from 1 to 3 nodes?"}, `a change "from 1 to 3"`},
		"a dialog of another subnet": {
			[]string{"prod · x", "Fix: Rollcall can delete 6 interfaces in subnet-0ab1.", "? Delete 6 interfaces in subnet-0ab2?"}, "of which the message tells nothing"},
		"its own dialog": {
			[]string{"prod · x", "Fix: Rollcall can delete 6 interfaces in subnet-0ab1.", "? Delete 6 interfaces in subnet-0ab1?"}, ""},
		"a product that is wrong": {
			[]string{"prod · x", "Why: 8 nodes × 2 interfaces × 30 addresses + 28 nodes × 2 interfaces × 10 addresses = 1,048; subnet-0ab1 had 251."}, "and it is 1040"},
		"a product": {
			[]string{"prod · x", "Why: 8 nodes × 2 interfaces × 30 addresses + 28 nodes × 2 interfaces × 10 addresses = 1,040; subnet-0ab1 had 251."}, ""},
		"nodes of two types": {
			[]string{"prod · x", "Why: 2 groups may launch 14 more nodes here: 9 m5.4xlarge x 60 + 5 m5.large x 20 = 650 addresses."}, "and it is 640"},
		"a burst of another size": {
			[]string{"prod · 12 launches needed 730 addresses, subnet-0ab1 had 251", "Why: 12 nodes × 2 interfaces × 30 addresses = 720; subnet-0ab1 had 251."}, "the first line says 730"},
		"a burst of another subnet's room": {
			[]string{"prod · 12 launches needed 720 addresses, subnet-0ab1 had 251", "Why: 12 nodes × 2 interfaces × 30 addresses = 720; subnet-0ab1 had 25."}, "the first line says 251"},
		"fewer deleted than there are": {
			[]string{"prod · 3 dead nodes hold 90 addresses of subnet-0ab1", "Why: 9 interfaces of 3 dead nodes are still there. 0 are free: nothing can be launched there. Deleting all 6 frees 90; one more m5.large takes 10."}, "and there are 9"},
		"more freed than they hold": {
			[]string{"prod · 3 dead nodes hold 90 addresses of subnet-0ab1", "Why: 9 interfaces of 3 dead nodes are still there. Deleting all 9 frees 99; one more m5.large takes 10."}, "that they hold 90"},
		"as many as they hold": {
			[]string{"prod · 3 dead nodes hold 90 addresses of subnet-0ab1", "Why: 9 interfaces of 3 dead nodes are still there. Deleting all 9 frees 90; one more m5.large takes 10."}, ""},
		"other dead nodes": {
			[]string{"prod · 3 dead nodes hold 90 addresses of subnet-0ab1", "Why: 9 interfaces of 4 dead nodes are still there."}, "the first line says 3 nodes"},
		"a room that does not follow": {
			[]string{"prod · 3 dead nodes hold 90 addresses of subnet-0ab1", "Why: 9 interfaces of 3 dead nodes are still there. 3 are free, and one more node takes 10; deleting them makes it 90."}, "3 and 90 are 93"},
		"a row of more than all":  {[]string{"prod · x", "| m5.large | 6 of 5"}, `"6 of 5" is more than all`},
		"an end before the start": {[]string{"✅ prod · joined again after 14 min: x", "When: began {14:59}, cause gone {14:11}, first Ready node {15:13}."}, "ends before it began"},
		"affected otherwise":      {[]string{"✅ prod · x", "Was: No route. 12 instances affected: 3 joined, 8 are not Ready."}, "12 affected, and how they stand makes 11"},
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
	if _, err := Contradictions([]byte(`[{"type":"video"}]`), false); !errors.Is(err, ErrUnread) {
		t.Errorf("a block whose numbers nobody holds: %v", err)
	}
	if _, err := Contradictions([]byte("{"), false); err == nil {
		t.Error("what is no message is read")
	}
}

// TestElsewhere: another number in a mail than in the message is found.
func TestElsewhere(t *testing.T) {
	blocks := says(t, "prod · 9 of 12 instances cannot join: rtb-0cd2", "Impact: 9 of 12 new instances not Ready, since {14:59}.")
	for text, want := range map[string]int{
		"Critical: prod · 9 of 12 instances cannot join: rtb-0cd2\n\nImpact: 9 of 12 new instances not Ready, since 14:59 UTC.": 0,
		"9 of 12, since 2026-11-20 14:59:03 UTC (rtb-0cd2).":                                                                    0,
		"8 of 12 instances": 1,
		"since 15:04 UTC":   1,
		"rtb-0cd3":          1,
	} {
		if got, held, err := Elsewhere(blocks, text); err != nil || len(got) != want || held == 0 {
			t.Errorf("%q: %q of %d, %v; want %d", text, got, held, err, want)
		}
	}
}
