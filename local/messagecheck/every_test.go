package messagecheck

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"testing"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
)

// every holds each number of a message against what was answered, and shows that another
// number in its place would be seen.
func (c *tally) every(t *testing.T, f *Facts, i incident.Incident, list []slackgo.Block) []string {
	t.Helper()
	blocks, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	found, held, err := f.Unheld(blocks)
	if err != nil {
		t.Fatal(err)
	}
	c.Every += held
	c.Replies++
	for n := 0; ; n++ {
		other, words, is := changed(t, blocks, n)
		if !is {
			return found
		}
		unheld, _, err := f.Unheld(other)
		if err != nil {
			t.Fatal(err)
		}
		against, err := f.Against(other, f.Affected)
		if err != nil {
			t.Fatal(err)
		}
		itself, err := Contradictions(other, false)
		if err != nil {
			t.Fatal(err)
		}
		c.Changed++
		if len(unheld)+len(against)+len(itself) == 0 {
			c.Missed++
			t.Logf("not seen: %s", words)
		}
	}
}

var digits = regexp.MustCompile(`[0-9]+`)

// changed is a message with another number in place of its nth.
func changed(t *testing.T, blocks []byte, nth int) (other []byte, words string, is bool) {
	t.Helper()
	var tree any
	if err := json.Unmarshal(blocks, &tree); err != nil {
		t.Fatal(err)
	}
	var walk func(part any)
	walk = func(part any) {
		switch part := part.(type) {
		case []any:
			for _, p := range part {
				walk(p)
			}
		case map[string]any:
			switch part["type"] {
			case "rich_text_preformatted":
				return
			case "static_select", "overflow":
				return // for how long to mute: a choice
			case "button":
				walk(part["confirm"])
				return
			}
			for _, key := range slices.Sorted(maps.Keys(part)) {
				text, is := part[key].(string)
				if !is || key != "text" && key != "alt_text" {
					walk(part[key])
					continue
				}
				for _, at := range digits.FindAllStringIndex(text, -1) {
					if nth--; nth == -1 {
						last := text[at[1]-1]
						words = text[:at[1]-1] + string('0'+(last-'0'+1)%10) + text[at[1]:]
						part[key] = words
					}
				}
			}
		}
	}
	walk(tree)
	other, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return other, words, nth < 0
}
