package fakeslack

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTally holds what is a line, a reply, an edit, and an edit that nobody can see.
func TestTally(t *testing.T) {
	blocks := func(id, word, value string) json.RawMessage {
		return json.RawMessage(`[{"type":"actions","block_id":"` + id + `","elements":[{"type":"button","text":{"text":"` + word + `"},"value":"` + value + `"}]}]`)
	}
	version := func(text string, b json.RawMessage) Version { return Version{Text: text, Blocks: b} }
	got := TallyOf([]Message{
		{TS: "1", Text: "b", Blocks: blocks("2", "Press", "x"), Versions: []Version{
			version("a", blocks("1", "Press", "x")),  // then the text changed
			version("b", blocks("1", "Press", "x")),  // then the id of a block
			version("b", blocks("2", "Press", "x")),  // then the word on the button
			version("b", blocks("2", "Push", "x")),   // then what the button does
			version("b", blocks("2", "Push", "old")), // then both
		}, Replies: []Message{{TS: "2", ThreadTS: "1"}, {TS: "3", ThreadTS: "1", Broadcast: true}}},
		{TS: "3", ThreadTS: "1", Broadcast: true},
		{TS: "4", Visible: "U0ONCALL01"},
	})
	want := Tally{Lines: 2, Replies: 1, Edits: 5, Unseen: 1}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("tally (-got +want):\n%s", diff)
	}
}
