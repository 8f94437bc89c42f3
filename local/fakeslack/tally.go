package fakeslack

import (
	"encoding/json"
)

// Tally counts what an app did in a channel, by whom it reaches: a new line marks the
// channel as unread for everybody, a reply reaches who wrote in its thread, an edit nobody.
type Tally struct {
	// Lines are messages of the channel and replies that are shown there too.
	Lines   int
	Replies int
	Edits   int
	// Unseen are the edits after which everything reads the same, and each button does the same.
	Unseen int
}

// TallyOf counts what a channel's messages came by, as Server.Messages gives them.
func TallyOf(list []Message) (t Tally) {
	for _, m := range list {
		if m.Visible != "" {
			continue
		}
		t.Lines++
		if m.ThreadTS != "" {
			continue // it is counted as its parent's reply
		}
		t.edits(m)
		for _, r := range m.Replies {
			if !r.Broadcast {
				t.Replies++
			}
			t.edits(r)
		}
	}
	return t
}

// Add is the tally of several channels, or stages.
func (t Tally) Add(o Tally) Tally {
	return Tally{Lines: t.Lines + o.Lines, Replies: t.Replies + o.Replies, Edits: t.Edits + o.Edits, Unseen: t.Unseen + o.Unseen}
}

func (t *Tally) edits(m Message) {
	for n, v := range m.Versions {
		text, blocks := m.Text, m.Blocks
		if n+1 < len(m.Versions) {
			text, blocks = m.Versions[n+1].Text, m.Versions[n+1].Blocks
		}
		t.Edits++
		if v.Text == text && shownBy(v.Blocks) == shownBy(blocks) {
			t.Unseen++
		}
	}
}

// shownBy are blocks without their ids, which no reader sees: what a press does
// stands in action_id and value.
func shownBy(blocks json.RawMessage) string {
	var tree any
	if json.Unmarshal(blocks, &tree) != nil {
		return string(blocks)
	}
	text, err := json.Marshal(withoutIDs(tree))
	if err != nil {
		return string(blocks)
	}
	return string(text)
}

func withoutIDs(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "block_id")
		for name, of := range v {
			v[name] = withoutIDs(of)
		}
	case []any:
		for i := range v {
			v[i] = withoutIDs(v[i])
		}
	}
	return v
}
