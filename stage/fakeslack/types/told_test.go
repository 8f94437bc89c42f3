//go:build slacktypes

package types

import (
	"encoding/json"
	"testing"
)

// given is what client.mjs reads.
type given struct {
	URL     string                     `json:"url"`
	Token   string                     `json:"token"`
	Channel string                     `json:"channel"`
	User    string                     `json:"user"`
	Scenes  map[string][]message       `json:"scenes"`
	Wrong   map[string]json.RawMessage `json:"wrong"`
}

// told is what client.mjs got, decoded by Slack's client.
type told struct {
	Auth struct {
		OK       bool   `json:"ok"`
		UserID   string `json:"user_id"`
		BotID    string `json:"bot_id"`
		TeamID   string `json:"team_id"`
		URL      string `json:"url"`
		Metadata struct {
			Scopes []string `json:"scopes"`
		} `json:"response_metadata"`
	} `json:"auth"`
	Posts map[string]struct {
		TS      string   `json:"ts"`
		Replies []string `json:"replies"`
	} `json:"posts"`
	Update struct {
		TS      string `json:"ts"`
		Channel string `json:"channel"`
		Message shown  `json:"message"`
	} `json:"update"`
	History [][]shown `json:"history"`
	Thread  struct {
		Messages []shown `json:"messages"`
	} `json:"thread"`
	Bare struct {
		Messages []shown `json:"messages"`
		HasMore  bool    `json:"has_more"`
	} `json:"bare"`
	Ephemeral struct {
		TS string `json:"message_ts"`
	} `json:"ephemeral"`
	Limited  []limited `json:"limited"`
	Complete struct {
		Files []uploaded `json:"files"`
	} `json:"complete"`
	Home      published          `json:"home"`
	HomeAgain published          `json:"homeAgain"`
	Download  string             `json:"download"`
	Refused   map[string]refused `json:"refused"`
	// Answers keeps everything as it came, for the types.
	Answers map[string]json.RawMessage `json:"-"`
}

// published is a home page that was drawn.
type published struct {
	View struct {
		ID   string `json:"id"`
		Hash string `json:"hash"`
	} `json:"view"`
}

// shown is a message of the channel.
type shown struct {
	Type     string           `json:"type"`
	Text     string           `json:"text"`
	TS       string           `json:"ts"`
	ThreadTS string           `json:"thread_ts"`
	BotID    string           `json:"bot_id"`
	Replies  int              `json:"reply_count"`
	Edited   *struct{}        `json:"edited"`
	Blocks   []map[string]any `json:"blocks"`
	Metadata map[string]any   `json:"metadata"`
}

// limited is a 429 that the client waited for.
type limited struct {
	Seconds int    `json:"seconds"`
	Method  string `json:"method"`
}

// uploaded is a file of files.uploadV2.
type uploaded struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Mimetype string `json:"mimetype"`
	Size     int    `json:"size"`
}

// refused is an error of the client.
type refused struct {
	Code     string   `json:"code"`
	Error    string   `json:"error"`
	Messages []string `json:"messages"`
}

// said is what a message says, for comparing.
type said struct {
	Text     string
	Blocks   []map[string]any
	Metadata map[string]any
}

func (m message) said(t *testing.T) said {
	t.Helper()
	out := said{Text: m.Text}
	if err := json.Unmarshal(m.Blocks, &out.Blocks); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(m.Metadata, &out.Metadata); err != nil {
		t.Fatal(err)
	}
	for _, b := range out.Blocks {
		delete(b, "block_id") // buttons have one of ours
	}
	return out
}

// said leaves out the block ids: Slack gives one to every block without.
func (m shown) said(t *testing.T) said {
	t.Helper()
	for _, b := range m.Blocks {
		if id, _ := b["block_id"].(string); id == "" {
			t.Errorf("%s: a block has no block_id", m.TS)
		}
		delete(b, "block_id")
	}
	return said{m.Text, m.Blocks, m.Metadata}
}
